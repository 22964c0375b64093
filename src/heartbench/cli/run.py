"""``heart run``: all steps, from items to the report; run again, it finishes what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heartbench.cli.options import json_option, study_argument

if TYPE_CHECKING:
    from pathlib import Path

    from heartbench.config import StudySettings


@click.command("run")
@study_argument
@click.option("--dry-run", is_flag=True, help="Show the plan and the cost ceiling, then stop.")
@click.option("--yes", is_flag=True, help="Spend money without asking; a free run never asks.")
@json_option
def command(study_file: Path, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Run a study: items, completions, judgments, ranking, report.

    Every step can be stopped at any time; run again, it finishes what is missing.
    """
    from heartbench.cli.console import emit_json
    from heartbench.cli.run_log import run_log
    from heartbench.cli.session import gather
    from heartbench.config import load_study

    settings = load_study(study_file)
    if not dry_run:
        with run_log(settings, "run"):
            _run(settings, as_json=as_json)
        return
    ceiling = _ceiling(len(gather(settings).items), settings)
    if as_json:
        emit_json("run", {"study": settings.name, "dry_run": True, "ceiling": ceiling})
    else:
        click.echo(_ceiling_line(ceiling))


def _run(settings: StudySettings, *, as_json: bool) -> None:
    from heartbench.cli import steps
    from heartbench.cli.console import emit_json, note
    from heartbench.cli.session import gather, open_session, register
    from heartbench.report.leaderboard import all_warnings

    gathered = gather(settings)
    ceiling = _ceiling(len(gathered.items), settings)
    note(_ceiling_line(ceiling))
    with open_session(settings) as session:
        study = register(session, gathered)
        completions = steps.complete_step(session, study)
        judgments = steps.judge_step(session, study)
        results = steps.analyze_step(session, study)
        paths = {
            "results": steps.write_results(session, results),
            **steps.write_report(session, results),
        }
    if not as_json:
        steps.print_leaderboard(results)
        click.echo(f"\nreport: {paths['report']}")
        return
    body = {
        "study": study.name,
        "study_id": study.id,
        "version": study.version,
        "dry_run": False,
        "ceiling": ceiling,
        "n_items": len(study.item_ids),
        "completions": completions,
        **judgments,
        "judge_notice": results.judge_notice,
        "warnings": list(all_warnings(results)),
        "consent_bases": list(results.provenance.consent_bases),
        "leaderboard": steps.leaderboard_rows(results),
        **paths,
    }
    emit_json("run", body)


def _ceiling(n_items: int, settings: StudySettings) -> dict[str, Any]:
    """Return what a first run does at most, before any completion is known."""
    from heartbench.judgments.stress import STRESS_KINDS

    n_systems = len(settings.systems)
    n_pairs = n_items * n_systems * (n_systems - 1) // 2
    if settings.judging.plan.comparisons is not None:
        n_pairs = min(n_pairs, settings.judging.plan.comparisons)
    n_orders = 2 if settings.judging.plan.both_orders else 1
    n_stress = min(n_items, settings.judging.plan.stress_items) * (len(STRESS_KINDS) - 1)
    n_repeats = min(n_pairs, settings.judging.plan.repeat_pairs)
    n_judges = len(settings.judging.judges)
    return {
        "n_items": n_items,
        "n_systems": n_systems,
        "n_judges": n_judges,
        "max_completions": n_items * n_systems,
        "max_judgments": ((n_pairs + n_stress) * n_orders + n_repeats) * n_judges,
        "max_usd": 0.0,
    }


def _ceiling_line(ceiling: dict[str, Any]) -> str:
    return (
        f"plan: {ceiling['n_items']} items, {ceiling['n_systems']} systems, at most "
        f"{ceiling['max_completions']} completions and {ceiling['max_judgments']} judgments by "
        f"{ceiling['n_judges']} judge(s), the judges' audit included; "
        f"cost at most ${ceiling['max_usd']:.2f} (nothing here needs a key)"
    )
