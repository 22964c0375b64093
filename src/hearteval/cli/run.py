"""``heart run``: all steps, from items to the report; run again, it finishes what is missing."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hearteval.cli.again import how_shown, listening
from hearteval.cli.console import Terminal, emit_json, end_with, run_log, working_on
from hearteval.cli.options import (
    json_option,
    open_option,
    study_argument,
    verbose_option,
    yes_option,
)

if TYPE_CHECKING:
    from hearteval.analysis.study import StudyResults
    from hearteval.config import StudySettings

logger = logging.getLogger(__name__)


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
    from hearteval.config import load_study
    from hearteval.study.unchanged import find_last_run, keep_run

    settings = load_study(study_file)
    if dry_run:
        _show_plan(settings, as_json=as_json)
        return
    shown = how_shown(str(study_file))
    last = None if is_verbose else find_last_run(settings, shown)
    if last is not None and (as_json or last.text is not None):
        with run_log(settings, "run"):
            logger.info("nothing has changed since the last run")
        if as_json:
            emit_json("run", last.body)
        else:
            click.echo(last.text, nl=False)
        if is_opened:
            _open(last.body["report"])
        return
    with listening() as heard:
        body, results = _run(settings, study_file, yes=yes, is_verbose=is_verbose, as_json=as_json)
    stored, text = body.pop("stored"), None if as_json or is_verbose else heard.text
    if not heard.has_warned:
        keep_run(settings, body, stored=stored, text=text, shown=shown)
    if is_opened:
        _open(body["report"])
    end_with(results.failures, settings)


def _open(page: str) -> None:
    from hearteval.cli.results import open_page  # what it imports, a run with nothing to do spares

    open_page(page)


def _run(
    settings: "StudySettings", study_file: Path, *, yes: bool, is_verbose: bool, as_json: bool
) -> "tuple[dict[str, Any], StudyResults]":
    """Run a study and print what it found; return what it did and found."""
    from hearteval.cli.results import shorter, show_end, show_results
    from hearteval.study.cost import spent_words
    from hearteval.study.pipeline import run_study

    with working_on(settings, "run", yes=yes, is_verbose=is_verbose) as (session, study):
        body, results = run_study(session, study)
    if as_json:
        emit_json("run", {key: value for key, value in body.items() if key != "stored"})
    else:
        written = {"report": shorter(body["report"])}
        if body["spent_usd"]:
            written = {"cost": spent_words(settings, body["spent_usd"]), **written}
        show_results(results, is_verbose=is_verbose)
        show_end(results, study_file, written)
    return body, results


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
