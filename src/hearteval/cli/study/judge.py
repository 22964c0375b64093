"""``heart judge``: plan the pairs and have the judges compare them."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hearteval.cli.console import emit_json, end_with, labelled, say, working_on
from hearteval.cli.options import engine_options, json_option, study_argument, yes_option
from hearteval.study import quoted

if TYPE_CHECKING:
    from hearteval.analysis.coverage.missing import Failure
    from hearteval.config import StudySettings


@click.command("judge")
@study_argument
@click.option("--again", is_flag=True, help="Ask everything that was asked once more.")
@yes_option
@engine_options(asks=True)
@json_option
def command(
    study_file: Path, *, settings: "StudySettings", again: bool, yes: bool, as_json: bool
) -> None:
    """Plan a study's pairs, or ratings, and have its judges answer what they have not yet.

    With --again the judges are asked about every ranked pair once more, as the first time. The
    answers are no part of the ranking: they show how far it stands when the same is asked again.
    """
    with working_on(settings, "judge", yes=yes) as (session, study):
        from hearteval.study.asking.verbs import find_stop, judge_study  # not before it begins

        counts = judge_study(session, study, again=again)
        made = counts["ratings"] or counts["judgments"]
        failures: tuple[Failure, ...] = ()
        if made["missing"]:
            from hearteval.study.pipeline import failed_judges

            failures = failed_judges(session, study)
    if as_json:
        body = {"study": study.name, "version": study.version, **counts}
        emit_json("judge", {**body, "failures": [asdict(failure) for failure in failures]})
    else:
        rated = counts["ratings"]
        word = "judgments" if rated is None else "ratings"
        if not (counts["plan"]["n_pairs"] or made["n_wanted"]):
            what = "pair to judge" if rated is None else "reply to rate"
            say(f"no {what} yet; first: heart complete {quoted(study_file)}")
            return
        if not made["n_wanted"]:
            say(f"nobody to ask: the {word} of this study's judges are there already")
            say(labelled("next", f"heart report {quoted(study_file)}"))
            return
        n_stored = made["n_before"] + made["n_added"]
        say(f"{n_stored:,} of {made['n_wanted']:,} {word} stored, {made['n_added']:,} new")
        say(labelled("next", f"heart report {quoted(study_file)}"))
    end_with(failures, settings, stopped=find_stop(*counts.values()))
