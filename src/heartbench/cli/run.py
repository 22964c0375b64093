"""``heart run``: all steps, from items to the report; run again, it finishes what is missing."""

from pathlib import Path
from typing import Any

import click

from heartbench.cli.options import json_option, study_argument


@click.command("run")
@study_argument
@click.option("--dry-run", is_flag=True, help="Show the plan and the cost ceiling, then stop.")
@click.option(
    "--yes", is_flag=True, help="Do not ask before spending money (a free run never asks)."
)
@json_option
def command(study_file: Path, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Run a study: items, completions, judgments, ranking, report.

    Every step can be stopped at any time; run again, it finishes what is missing.
    """
    from heartbench.cli import steps
    from heartbench.cli.console import emit_json, note
    from heartbench.cli.session import gather, open_session, register
    from heartbench.config import load_study

    settings = load_study(study_file)
    gathered = gather(settings)
    ceiling = _ceiling(len(gathered.items), settings)
    if dry_run:
        click.echo(_ceiling_line(ceiling), err=True)
        if as_json:
            emit_json("run", {"study": settings.name, "dry_run": True, "ceiling": ceiling})
        return
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
    if as_json:
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
            "leaderboard": steps.leaderboard_rows(results),
            **paths,
        }
        emit_json("run", body)
    else:
        steps.print_leaderboard(results)
        click.echo(f"\nreport: {paths['report']}")


def _ceiling(n_items: int, settings: Any) -> dict[str, Any]:
    """Return what a run does at most, before any completion is known."""
    n_systems = len(settings.systems)
    n_pairs = n_items * n_systems * (n_systems - 1) // 2
    if settings.judging.comparisons is not None:
        n_pairs = min(n_pairs, settings.judging.comparisons)
    n_orders = 2 if settings.judging.both_orders else 1
    return {
        "n_items": n_items,
        "n_systems": n_systems,
        "n_judges": len(settings.judging.judges),
        "max_completions": n_items * n_systems,
        "max_judgments": n_pairs * n_orders * len(settings.judging.judges),
        "max_usd": 0.0,
    }


def _ceiling_line(ceiling: dict[str, Any]) -> str:
    return (
        f"plan: {ceiling['n_items']} items, {ceiling['n_systems']} systems, at most "
        f"{ceiling['max_completions']} completions and {ceiling['max_judgments']} judgments by "
        f"{ceiling['n_judges']} judge(s), the stress set apart; cost at most "
        f"${ceiling['max_usd']:.2f} (nothing here needs a key)"
    )
