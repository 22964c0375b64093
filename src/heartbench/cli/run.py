"""``heart run``: all steps, from items to the report; run again, it finishes what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heartbench.cli.options import json_option, study_argument, yes_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from heartbench.config import StudySettings
    from heartbench.domain import Item
    from heartbench.models.prices import Estimate


@click.command("run")
@study_argument
@click.option("--dry-run", is_flag=True, help="Show the plan and the cost ceiling, then stop.")
@yes_option
@json_option
def command(study_file: Path, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Run a study: items, completions, judgments, ranking, report.

    Every step can be stopped at any time; run again, it finishes what is missing.
    """
    from heartbench.cli.console import emit_json
    from heartbench.cli.money import estimate_spending
    from heartbench.cli.run_log import run_log
    from heartbench.cli.session import gather
    from heartbench.config import load_study

    settings = load_study(study_file)
    if not dry_run:
        with run_log(settings, "run"):
            _run(settings, as_json=as_json, yes=yes)
        return
    items = gather(settings).items
    ceiling = _ceiling(items, settings, estimate_spending(settings, items))
    if as_json:
        emit_json("run", {"study": settings.name, "dry_run": True, "ceiling": ceiling})
    else:
        click.echo(_ceiling_line(ceiling, settings))


def _run(settings: StudySettings, *, as_json: bool, yes: bool) -> None:
    from heartbench.cli import steps
    from heartbench.cli.console import emit_json, note
    from heartbench.cli.money import confirm_spending, estimate_spending, spent_words
    from heartbench.cli.open_work import plan_what_is_done, require_keys
    from heartbench.cli.rating_step import rating_rows
    from heartbench.cli.session import gather, open_session, register
    from heartbench.report.leaderboard import all_warnings

    gathered = gather(settings)
    with open_session(settings) as session:
        study = register(session, gathered)
        without_models = steps.complete_without_models(session, study)
        done = plan_what_is_done(session, study)
        estimate = estimate_spending(settings, gathered.items, done)
        ceiling = _ceiling(gathered.items, settings, estimate)
        note(_ceiling_line(ceiling, settings))
        require_keys(settings, session.store, study, done)
        confirm_spending(settings, estimate, yes=yes)
        completions = steps.complete_step(session, study, without_models)
        judgments = steps.judge_step(session, study)
        results = steps.analyze_step(session, study)
        paths = {
            "results": steps.write_results(session, results),
            **steps.write_report(session, results),
        }
        spent_usd = session.store.spent_usd()
    if not as_json:
        steps.print_leaderboard(results)
        if spent_usd:
            click.echo(f"\n{spent_words(settings, spent_usd)}")
        click.echo(f"\nreport: {paths['report']}")
        return
    body = {
        "study": study.name,
        "study_id": study.id,
        "version": study.version,
        "dry_run": False,
        "ceiling": ceiling,
        "spent_usd": spent_usd,
        "n_items": len(study.item_ids),
        "completions": completions,
        **judgments,
        "judge_notice": results.judge_notice,
        "warnings": list(all_warnings(results)),
        "consent_bases": list(results.provenance.consent_bases),
        "leaderboard": steps.leaderboard_rows(results),
        "rated": rating_rows(results.ratings),
        **paths,
    }
    emit_json("run", body)


def _ceiling(items: Sequence[Item], settings: StudySettings, estimate: Estimate) -> dict[str, Any]:
    """Return what a first run does at most, and what is still to be paid for."""
    from heartbench.cli.money import estimate_object, n_judgments

    n_systems = len(settings.systems)
    return {
        "n_items": len(items),
        "n_systems": n_systems,
        "n_judges": len(settings.judging.judges),
        "max_completions": len(items) * n_systems,
        "max_judgments": sum(n_judgments(settings, len(items)).values()),
        "max_usd": estimate.usd_high,
        "limit_usd": settings.max_usd,
        "estimate": estimate_object(estimate),
    }


def _ceiling_line(ceiling: dict[str, Any], settings: StudySettings) -> str:
    from heartbench.cli.money import estimate_words, limit_words
    from heartbench.models.prices import Estimate

    estimate = Estimate(**ceiling["estimate"])
    return (
        f"plan: {ceiling['n_items']} items, {ceiling['n_systems']} systems, at most "
        f"{ceiling['max_completions']} completions and {ceiling['max_judgments']} "
        f"{'ratings' if settings.judging.protocol == 'rating' else 'judgments'} by "
        f"{ceiling['n_judges']} judge(s), the stress set and repeats included; "
        f"{estimate_words(estimate)}{limit_words(settings, estimate)}"
    )
