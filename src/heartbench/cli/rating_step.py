"""The rating protocol as the verbs call it: judges score every completion by itself."""

from dataclasses import asdict
from typing import Any

from heartbench.analysis.rating_results import RatingResults
from heartbench.analysis.rating_scores import RatingRecords
from heartbench.cli.asking import ask_for_ratings
from heartbench.cli.console import note, utc_now, warn
from heartbench.cli.session import Session, is_rated, stored_plan
from heartbench.domain import Rating, Study
from heartbench.judgments.run_ratings import plan_ratings, store_stress_set


def rate_step(session: Session, study: Study) -> dict[str, Any]:
    """Plan and have the judges rate; return the counts."""
    policy = session.settings.judging.plan
    store_stress_set(session.store, study, policy, now=utc_now)
    plan = plan_ratings(session.store, study, policy)
    note(
        f"plan: {plan.n_completions} completions, {plan.n_stress} texts of the stress set, "
        f"{len(plan.targets)} ratings ({plan.n_repeats} of them a second time); left out for a "
        f"judge's own family: {plan.n_own_family}"
    )
    asked = ask_for_ratings(session, study, plan.targets)
    note(f"ratings: {asked.n_before + asked.n_added} of {asked.n_wanted} ({asked.n_added} new)")
    for reason, n in asked.missing.items():
        warn(f"{n} ratings are missing: {reason}")
    return {
        "n_completions": plan.n_completions,
        "n_stress": plan.n_stress,
        "n_own_family": plan.n_own_family,
        "n_repeats": plan.n_repeats,
        **asdict(asked),
    }


def read_ratings(session: Session, study: Study) -> RatingRecords | None:
    """Read the ratings of a study; None for a version whose judges compare."""
    if not is_rated(study):
        return None
    return RatingRecords(
        targets=plan_ratings(session.store, study, stored_plan(study)).targets,
        ratings=list(session.store.iter(Rating, study)),
    )


def rating_rows(ratings: RatingResults | None) -> list[dict[str, Any]]:
    """Return the headline columns of a table of ratings for JSON; empty where there is none."""
    if ratings is None:
        return []
    return [
        {
            "system": row.system,
            "mean": row.overall.mean,
            "low": row.overall.low,
            "high": row.overall.high,
            "z": row.overall.z,
            "axes": {axis: at.mean for axis, at in row.axes.items()},
            "n_ratings": row.overall.n_ratings,
        }
        for row in ratings.systems
    ]
