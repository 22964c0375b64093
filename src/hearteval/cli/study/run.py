"""``heart run``: all steps, from items to the report; run again, it finishes what is missing."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hearteval.cli.console import (
    Terminal,
    emit_json,
    end_with,
    open_page,
    run_log,
    say,
    shorter,
    terminal_width,
)
from hearteval.cli.options import (
    engine_options,
    json_option,
    open_option,
    study_argument,
    verbose_option,
    yes_option,
)

if TYPE_CHECKING:
    from hearteval.config import StudySettings

logger = logging.getLogger(__name__)


def _is_said_again(
    *,
    settings: "StudySettings",
    study_file: Path,
    only: str | None,
    is_opened: bool,
    is_verbose: bool,
    as_json: bool,
    **_: Any,
) -> bool:
    """Say what the last run said, where nothing has changed since; return whether that is so."""
    if only or is_verbose:
        return False
    from hearteval.study.kept import find_last_run

    last = find_last_run(settings, _how_shown(study_file))
    if last is None or not (as_json or last.text):
        return False
    terminal = Terminal()
    if settings.is_simulated:
        terminal.say_simulated()
    with run_log(settings, "run"):
        logger.info("nothing has changed since the last run")
        for words in last.warnings:
            terminal.warn(words)
    if as_json:
        emit_json("run", last.body)
    else:
        click.echo(last.text)
    if is_opened:
        open_page(last.body["report"])
    return True


@click.command("run")
@study_argument
@click.option(
    "--dry-run", "only", flag_value="plan", help="Show the plan and what it costs, then stop."
)
@click.option(
    "--probe-cost",
    "only",
    flag_value="probe",
    help="Ask each model its first ten questions, keep the answers, show the plan, then stop.",
)
@yes_option
@open_option
@verbose_option
@engine_options(asks=True, ends_early=_is_said_again)
@json_option
def command(
    study_file: Path,
    *,
    settings: "StudySettings",
    only: str | None,
    yes: bool,
    is_opened: bool,
    is_verbose: bool,
    as_json: bool,
) -> None:
    """Run a study: items, completions, judgments, ranking, report.

    Every step can be stopped at any time; run again, it finishes what is missing.
    """
    if only == "plan":
        _show_plan(settings, as_json=as_json)
    elif only == "probe":
        _probe_cost(settings, Terminal(yes=yes, is_verbose=is_verbose), as_json=as_json)
    else:
        terminal = Terminal(yes=yes, is_verbose=is_verbose)
        _run(settings, study_file, terminal, is_opened=is_opened, as_json=as_json)


def _run(
    settings: "StudySettings",
    study_file: Path,
    terminal: Terminal,
    *,
    is_opened: bool,
    as_json: bool,
) -> None:
    from hearteval.study.grow import open_grown
    from hearteval.study.kept import keep_run, run_key

    begun = run_key(settings)
    with run_log(settings, "run") as log, open_grown(settings, terminal) as (session, study):
        # Statistics and clients load once the items are there, so that the run begins at once.
        from hearteval.cli.study.results import show_results
        from hearteval.study.asking.words import spent_words
        from hearteval.study.pipeline import run_study

        body, results = run_study(session, study)
    stored, text = body.pop("stored"), None
    if as_json:
        emit_json("run", body)
    else:
        spent, in_flight = body["spent_usd"], body["in_flight"]
        has_cost = spent or (in_flight and in_flight["usd"])
        written = {"cost": spent_words(settings, spent, in_flight)} if has_cost else {}
        written["report"] = shorter(body["report"])
        text = show_results(results, study_file, written, is_verbose=terminal.is_verbose)
    if stored is not None and not log.has_trouble:
        keep_run(
            begun,
            body,
            stored=stored,
            text=None if terminal.is_verbose else text,
            warnings=terminal.warnings,
            shown=_how_shown(study_file),
        )
    if is_opened:
        open_page(body["report"])
    end_with(results.failures, settings, stopped=body["stopped"])


def _how_shown(study_file: Path) -> list[str | int]:
    """Return what makes the same results look another way."""
    return [str(study_file), terminal_width()]


def _show_plan(settings: "StudySettings", *, as_json: bool) -> None:
    from hearteval.study.pipeline import show_plan

    body, words = show_plan(settings, Terminal())
    if as_json:
        emit_json("run", {"study": settings.name, "dry_run": True, **body})
    else:
        say(words)


def _probe_cost(settings: "StudySettings", terminal: Terminal, *, as_json: bool) -> None:
    from hearteval.study.grow import open_grown

    with run_log(settings, "run"), open_grown(settings, terminal) as (session, study):
        from hearteval.study.pipeline import probe_cost

        body, words = probe_cost(session, study)
    if as_json:
        emit_json("run", {"study": settings.name, "dry_run": False, **body})
    else:
        say(words)
