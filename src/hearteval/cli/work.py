"""``heart work``: answer what is open of a study, beside any number of others."""

from dataclasses import asdict
from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, end_with, labelled, run_log, say
from hearteval.cli.options import json_option, study_argument, yes_option
from hearteval.study import quoted


@click.command("work")
@study_argument
@click.option(
    "--max-questions",
    "most",
    type=click.IntRange(min=1),
    help="Ask so many, then end; default all.",
)
@click.option(
    "--wait",
    "wait_seconds",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="SECONDS",
    help="Wait so long for what another run stores and plans, also before it begins.",
)
@yes_option
@json_option
def command(
    study_file: Path, *, most: int | None, wait_seconds: float, yes: bool, as_json: bool
) -> None:
    """Answer what is open of a study that `heart run` or `heart judge` has planned.

    A worker claims questions, asks and stores; it plans and analyses nothing, so any number of them
    can work on one store, each on a machine of its own. Each question is asked once, and the budget
    is one.
    """
    from hearteval.config import load_study
    from hearteval.study.session import open_to_work

    settings = load_study(study_file, is_of_items=True)
    opened = open_to_work(settings, Terminal(yes=yes), wait_seconds=wait_seconds)
    with run_log(settings, "work"), opened as (session, study):
        from hearteval.study.working import work  # not before it begins

        counts, failures = work(session, study, most=most, wait_seconds=wait_seconds)
    stopped = counts.pop("stopped")
    if as_json:
        body = {"study": study.name, "version": study.version, "answers": counts}
        named = [asdict(failure) for failure in failures]
        emit_json("work", {**body, "stopped": stopped, "failures": named})
    else:
        for name, one in counts.items():
            missing = f", {one['n_missing']:,} missing" if one["n_missing"] else ""
            say(f"{name}: {one['n_added']:,} new{missing}")
        if not counts:
            say("nothing is open that a model is asked")
        say(labelled("next", f"heart run {quoted(study_file)}"))
    end_with(failures, settings, stopped=stopped)
