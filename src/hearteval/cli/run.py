"""``heart run``: all steps, from items to the report; run again, it finishes what is missing."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hearteval.cli.console import Terminal, emit_json, end_with, working_on
from hearteval.cli.options import (
    json_option,
    open_option,
    study_argument,
    verbose_option,
    yes_option,
)

if TYPE_CHECKING:
    from hearteval.config import StudySettings


@click.command("run")
@study_argument
@click.option("--dry-run", is_flag=True, help="Show the plan and the cost ceiling, then stop.")
@yes_option
@open_option
@verbose_option
@json_option
def command(
    study_file: Path, *, dry_run: bool, yes: bool, is_opened: bool, is_verbose: bool, as_json: bool
) -> None:
    """Run a study: items, completions, judgments, ranking, report.

    Every step can be stopped at any time; run again, it finishes what is missing.
    """
    from hearteval.cli.results import open_page, shorter, show_end, show_results
    from hearteval.config import load_study
    from hearteval.study.cost import spent_words
    from hearteval.study.pipeline import run_study

    settings = load_study(study_file)
    if dry_run:
        _show_plan(settings, as_json=as_json)
        return
    with working_on(settings, "run", yes=yes, is_verbose=is_verbose) as (session, study):
        body, results = run_study(session, study)
    if as_json:
        emit_json("run", body)
    else:
        written = {"report": shorter(body["report"])}
        if body["spent_usd"]:
            written = {"cost": spent_words(settings, body["spent_usd"]), **written}
        show_results(results, is_verbose=is_verbose)
        show_end(results, study_file, written)
    if is_opened:
        open_page(body["report"])
    end_with(results.failures, settings)


def _show_plan(settings: "StudySettings", *, as_json: bool) -> None:
    from hearteval.study.cost import estimate_spending
    from hearteval.study.grow import gather
    from hearteval.study.pipeline import ceiling, plan_words
    from hearteval.study.session import utc_now

    items = gather(settings, Terminal()).items
    spending = estimate_spending(settings, items, when=utc_now())
    if as_json:
        most = ceiling(settings, items, spending)
        emit_json("run", {"study": settings.name, "dry_run": True, "ceiling": most})
    else:
        click.echo(plan_words(settings, items, spending))
