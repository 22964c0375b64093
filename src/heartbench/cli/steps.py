"""The steps of a study as the verbs call them: each says what it did, for people and for JSON."""

import platform
from collections import Counter
from dataclasses import asdict, fields
from typing import Any

import click

from heartbench import __version__
from heartbench.analysis.results import FunnelStep, Provenance, StudyResults
from heartbench.analysis.study import StudyRecords, analyze_study
from heartbench.cli.asking import ask_for_completions, ask_for_judgments
from heartbench.cli.console import emit_json, note, progress_bar, utc_now, warn, write_whole
from heartbench.cli.dropped_settings import warn_of_dropped_by_judges, warn_of_dropped_by_systems
from heartbench.cli.imported_systems import count_study_imports, missing_imports
from heartbench.cli.judge_audit import read_columns, stored_audit
from heartbench.cli.rating_step import rate_step, read_ratings
from heartbench.cli.session import Session, is_rated, output_path, system_models
from heartbench.completions.run import CompletionCounts, complete_items
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
from heartbench.judgments.run import PlanCounts, judge_assignments, plan_judgments
from heartbench.report.leaderboard import leaderboard_csv, leaderboard_lines
from heartbench.report.page import render_page
from heartbench.report.rating_table import rating_csv, rating_lines

RESULTS_SCHEMA = "heartbench.analyze/1"
NO_JUDGMENTS = {
    "plan": dict.fromkeys((field.name for field in fields(PlanCounts)), 0),
    "judgments": {"n_wanted": 0, "n_before": 0, "n_added": 0, "missing": {}},
}
"""What the judges of a study that rates have compared."""


def complete_without_models(session: Session, study: Study) -> CompletionCounts:
    """Have the systems answer that ask no model: that is free, and what to judge rests on it."""
    with progress_bar("completions") as progress:
        return complete_items(session.store, study, now=utc_now, progress=progress)


def complete_step(session: Session, study: Study, counts: CompletionCounts) -> dict[str, Any]:
    """Have the models answer; return the counts, those of `complete_without_models` included."""
    asked = ask_for_completions(session, study)
    imported = count_study_imports(session.store, study, session.settings)
    missing = sum(map(Counter, imported.missing.values()), Counter(asked.missing))
    total = {
        "n_wanted": counts.n_wanted + asked.n_wanted + imported.n_wanted,
        "n_before": counts.n_before + asked.n_before + imported.n_before,
        "n_added": counts.n_added + asked.n_added,
        "n_missing": counts.n_missing + missing.total(),
    }
    note(
        f"completions: {total['n_before'] + total['n_added']} of {total['n_wanted']} "
        f"({total['n_added']} new, {total['n_missing']} missing)"
    )
    for reason, n in asked.missing.items():
        warn(f"{n} completions of models are missing: {reason}")
    for name in _silent_systems(session, study):
        warn(f"system {name} has given no completion at all, and will not be ranked")
    for words in missing_imports(session.settings, imported):
        warn(words)
    if asked.n_added:
        warn_of_dropped_by_systems(session, study)
    return {**total, "missing": dict(missing)}


def _silent_systems(session: Session, study: Study) -> list[str]:
    """Return the names of the models that were asked and have never answered."""
    answered = {completion.system_id for completion in session.store.iter(Completion, study)}
    silent = system_models(session.settings).keys() - answered
    return sorted(s.name for s in session.store.iter(System, study) if s.id in silent)


def judge_step(session: Session, study: Study) -> dict[str, Any]:
    """Plan and have the judges judge, or rate; return the counts."""
    if session.settings.judging.protocol == "rating":
        ratings = rate_step(session, study)
        if ratings["n_added"]:
            warn_of_dropped_by_judges(session, study)
        return {**NO_JUDGMENTS, "ratings": ratings}
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
    if asked.n_added:
        warn_of_dropped_by_judges(session, study)
    return {
        "plan": asdict(plan),
        "judgments": {**total, "missing": dict(asked.missing)},
        "ratings": None,
    }


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
            columns=read_columns(session, study),
            audit=stored_audit(session, study),
            exclude_own_family=study.design["exclude_own_family"],
            ratings=read_ratings(session, study),
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
    paths = {"report": str(page), "leaderboard_csv": str(table)}
    write_whole(table, leaderboard_csv(results))
    if results.ratings is not None:
        scores = output_path(session.settings, "ratings.csv")
        write_whole(scores, rating_csv(results.ratings))
        paths["ratings_csv"] = str(scores)
    write_whole(page, render_page(results))
    return paths


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
    """Print the leaderboard, or the scores, as text with its warnings."""
    text = leaderboard_lines(results) if results.ratings is None else rating_lines(results)
    click.echo(text, nl=False)


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
    shown = "every completion by itself" if is_rated(study) else f"{pairs}, {orders}"
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
        design=f"{shown}, judges of a system's own family {own}",
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
