"""``heart complete``: have the systems answer the items."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hearteval.cli.console import emit_json, end_with, labelled, say, working_on
from hearteval.cli.options import engine_options, json_option, study_argument, yes_option
from hearteval.study import quoted

if TYPE_CHECKING:
    from hearteval.config import StudySettings


@click.command("complete")
@study_argument
@yes_option
@engine_options(asks=True)
@json_option
def command(study_file: Path, *, settings: "StudySettings", yes: bool, as_json: bool) -> None:
    """Have every system of a study answer every item it has not answered yet."""
    with working_on(settings, "complete", yes=yes) as (session, study):
        from hearteval.study.asking.verbs import complete_study  # not before it begins

        counts, failures = complete_study(session, study)
    if as_json:
        body = {"study": study.name, "version": study.version, "completions": counts}
        emit_json("complete", {**body, "failures": [asdict(failure) for failure in failures]})
    else:
        n_stored = counts["n_before"] + counts["n_added"]
        n_wanted, n_added = counts["n_wanted"], counts["n_added"]
        say(f"{n_stored:,} of {n_wanted:,} replies stored, {n_added:,} new")
        say(labelled("next", f"heart judge {quoted(study_file)}"))
    end_with(failures, settings, stopped=counts["stopped"])
