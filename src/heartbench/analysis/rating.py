"""A study's ratings -> `RatingResults`: scores with intervals, and what is known of the judges."""

from collections.abc import Mapping, Sequence

from heartbench.analysis.ranking import people_among
from heartbench.analysis.rating_checks import (
    flat_axes,
    rating_warnings,
    repeatability_of,
    stress_preferences,
    stress_scores,
    stress_warnings,
)
from heartbench.analysis.rating_results import RatingResults
from heartbench.analysis.rating_scores import (
    EQUAL_WEIGHTS,
    RatingRecords,
    field_means,
    moments_of,
    normalised,
    score_systems,
    wanted_rows,
)
from heartbench.analysis.results import StressResult
from heartbench.domain import Axis, Completion, Rater, System

INTERVAL = "item-sandwich"


def analyze_ratings(
    records: RatingRecords,
    completions: Sequence[Completion],
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    level: float,
    weights: Mapping[Axis, float] = EQUAL_WEIGHTS,
) -> tuple[RatingResults, tuple[StressResult, ...]]:
    """Compute the scores of a study, and how often each judge saw what is plainly worse.

    Args:
        records: Its ratings, and which of them are wanted.
        completions: Its completions, those of the stress set among them.
        systems: Its systems, likewise.
        raters: Its raters.
        level: Nominal coverage.
        weights: Weight of each axis in the overall score.
    """
    bearers = [system for system in systems if system.kind == "stress"]
    ranked = [system for system in systems if system.kind != "stress"]
    ranked_ids = {system.id for system in ranked}
    rows = wanted_rows(records, completions, weights=weights)
    of_ranked = [row for row in rows if row.system_id in ranked_ids]
    of_stress = [row for row in rows if row.system_id not in ranked_ids]
    first = [row for row in of_ranked if row.repeat == 0]
    moments = moments_of(first)
    scored = score_systems(
        normalised(first, moments, weights=weights), ranked, raters, weights=weights, level=level
    )
    rated = {row.system for row in scored}
    unrated = tuple(sorted(system.name for system in ranked if system.name not in rated))
    no_z = flat_axes(moments, raters)
    who = {row.rater_id for row in first}
    stress = stress_preferences(of_stress, bearers, raters, level=level)
    results = RatingResults(
        systems=scored,
        unrated=unrated,
        field=field_means(scored),
        weights=weights,
        no_z=no_z,
        stress=stress_scores(of_stress, bearers, raters, level=level),
        repeatability=repeatability_of(of_ranked, raters, level=level),
        interval_used=INTERVAL,
        level=level,
        rated_by=_rated_by([rater for rater in raters if rater.id in who]),
        n_ratings=len(first),
        n_completions=len({row.completion_id for row in first}),
        n_items=len({row.item_id for row in first}),
        n_raters=len(who),
        warnings=(
            *stress_warnings(stress, level=level),
            *(rating_warnings(scored, unrated, no_z) if first else ()),
        ),
    )
    return results, stress


def _rated_by(raters: Sequence[Rater]) -> str:
    people = people_among(raters)
    if not people:
        return "judges"
    return "people" if len(people) == len(raters) else "both"
