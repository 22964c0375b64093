"""The steps of a study as the verbs call them: each says what it did, for people and for JSON."""

import platform
from dataclasses import asdict
from typing import Any

import click

from heartbench import __version__
from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.analysis.results import FunnelStep, Provenance, StudyResults
from heartbench.analysis.study import StudyRecords, analyze_study
from heartbench.cli.asking import ask_for_completions, ask_for_judgments
from heartbench.cli.console import emit_json, note, progress_bar, utc_now, warn, write_whole
from heartbench.cli.session import Session, output_path
from heartbench.completions.run import complete_items
from heartbench.domain import (
    Assignment,
    Attempt,
    Completion,
    Item,
    Pair,
    Rater,
    Study,
    System,
)
from heartbench.judgments.pairing import enumerate_pairs
from heartbench.judgments.run import judge_assignments, plan_judgments
from heartbench.report.leaderboard import leaderboard_csv, leaderboard_lines
from heartbench.report.page import render_page
from heartbench.store.base import JUDGMENT_COLUMNS

RESULTS_SCHEMA = "heartbench.analyze/1"


def complete_step(session: Session, study: Study) -> dict[str, Any]:
    """Have the systems answer; return the counts."""
    with progress_bar("completions") as progress:
        counts = complete_items(session.store, study, now=utc_now, progress=progress)
    asked = ask_for_completions(session, study)
    total = {
        "n_wanted": counts.n_wanted + asked.n_wanted,
        "n_before": counts.n_before + asked.n_before,
        "n_added": counts.n_added + asked.n_added,
        "n_missing": counts.n_missing + sum(asked.missing.values()),
    }
    note(
        f"completions: {total['n_before'] + total['n_added']} of {total['n_wanted']} "
        f"({total['n_added']} new, {total['n_missing']} missing)"
    )
    for reason, n in asked.missing.items():
        warn(f"{n} completions of models are missing: {reason}")
    return {**total, "missing": dict(asked.missing)}


def judge_step(session: Session, study: Study) -> dict[str, Any]:
    """Plan and have the judges judge; return the counts."""
    policy = session.settings.judging.plan
    plan = plan_judgments(session.store, study, policy, now=utc_now)
    note(
        f"plan: {plan.n_pairs} pairs, {plan.n_stress_pairs} of the stress set, "
        f"{plan.n_repeats} asked again, "
        f"{plan.n_assignments} assignments ({plan.n_new} new); "
        f"left out for identical texts: {plan.n_identical}"
    )
    if policy.comparisons is not None and 0 < plan.n_pairs < policy.comparisons:
        warn(f"{plan.n_pairs} pairs instead of {policy.comparisons}: there are no more")
    if plan.n_uncompared:
        warn(
            f"{plan.n_uncompared} pairs of systems are not compared at all: judging.comparisons = "
            f"{policy.comparisons} is too few; raise it"
        )
    with progress_bar("judgments") as progress:
        counts = judge_assignments(session.store, study, now=utc_now, progress=progress)
    asked = ask_for_judgments(session, study)
    total = {
        "n_wanted": counts.n_wanted + asked.n_wanted,
        "n_before": counts.n_before + asked.n_before,
        "n_added": counts.n_added + asked.n_added,
    }
    note(
        f"judgments: {total['n_before'] + total['n_added']} of {total['n_wanted']} "
        f"({total['n_added']} new)"
    )
    for reason, n in asked.missing.items():
        warn(f"{n} judgments are missing: {reason}")
    return {"plan": asdict(plan), "judgments": {**total, "missing": dict(asked.missing)}}


def analyze_step(session: Session, study: Study) -> StudyResults:
    """Compute the results from what is stored."""
    store = session.store
    completions = list(store.iter(Completion, study))
    systems = list(store.iter(System, study))
    stress = {system.id for system in systems if system.kind == "stress"}
    ranked = [c for c in completions if c.system_id not in stress]
    return analyze_study(
        StudyRecords(
            items=list(store.iter(Item, study)),
            systems=systems,
            raters=list(store.iter(Rater, study)),
            completions=completions,
            attempts=list(store.iter(Attempt, study)),
            pairs=list(store.iter(Pair, study)),
            assignments=list(store.iter(Assignment, study)),
            columns=_columns(session, study),
            n_identical=enumerate_pairs(ranked).n_identical,
            funnel=[FunnelStep(**step) for step in study.design["items"]["funnel"]],
            provenance=_provenance(session, study),
        )
    )


def write_results(session: Session, results: StudyResults) -> str:
    """Write the results as JSON beside the study file; return the path."""
    import json

    path = output_path(session.settings, "results.json")
    document = {"schema": RESULTS_SCHEMA, **asdict(results)}
    write_whole(path, json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    return str(path)


def write_report(session: Session, results: StudyResults) -> dict[str, str]:
    """Write the report page and its leaderboard as CSV beside the study file; return both paths."""
    page = output_path(session.settings, "report.html")
    table = output_path(session.settings, "leaderboard.csv")
    write_whole(table, leaderboard_csv(results))
    write_whole(page, render_page(results))
    return {"report": str(page), "leaderboard_csv": str(table)}


def emit_results(results: StudyResults) -> None:
    """Print the results as the JSON object of ``heart analyze``."""
    emit_json("analyze", asdict(results))


def leaderboard_rows(results: StudyResults) -> list[dict[str, Any]]:
    """Return the leaderboard's headline columns for JSON; empty where there is no ranking."""
    if results.leaderboard is None:
        return []
    return [
        {
            "system": row.system,
            "elo_weighted": row.weighted.elo,
            "low_weighted": row.weighted.low,
            "high_weighted": row.weighted.high,
            "elo": row.unweighted.elo,
            "low": row.unweighted.low,
            "high": row.unweighted.high,
            "rank_low_weighted": row.weighted.rank_low,
            "rank_high_weighted": row.weighted.rank_high,
            "rank_low": row.unweighted.rank_low,
            "rank_high": row.unweighted.rank_high,
            "win_rate": row.win_rate,
            "n_comparisons": row.n_comparisons,
        }
        for row in results.leaderboard.rows
    ]


def print_leaderboard(results: StudyResults) -> None:
    """Print the leaderboard as text, with the warnings above it."""
    click.echo(leaderboard_lines(results), nl=False)


def _columns(session: Session, study: Study) -> JudgmentColumns:
    columns: dict[str, list[Any]] = {name: [] for name in JUDGMENT_COLUMNS}
    for batch in session.store.judgment_table(study):
        for name, values in batch.items():
            columns[name].extend(values)
    return JudgmentColumns(**{name: tuple(values) for name, values in columns.items()})


def _provenance(session: Session, study: Study) -> Provenance:
    import numpy as np
    import scipy
    import sqlalchemy

    items = list(session.store.iter(Item, study))
    design = study.design
    pairs = (
        "every pair" if design["design"] == "full" else f"{design['comparisons']} balanced pairs"
    )
    orders = "both orders" if design["both_orders"] else "one order each"
    own = "left out" if design["exclude_own_family"] else "allowed"
    return Provenance(
        study=study.name,
        study_id=study.id,
        version=study.version,
        seed=study.seed,
        items_hash=study.items_hash,
        settings_hash=study.settings_hash,
        item_source=design["items"]["source"],
        licences=tuple(sorted({item.licence for item in items})),
        consent_bases=tuple(sorted({item.consent_basis for item in items})),
        design=f"{pairs}, {orders}, judges of a system's own family {own}",
        protocols=dict(study.protocols),
        protocol_version=study.protocol_version,
        software={
            "heartbench": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "sqlalchemy": sqlalchemy.__version__,
        },
        created_at=utc_now().isoformat(timespec="seconds"),
    )
