"""A study's ratings -> `RatingResults`: scores with intervals, and what is known of the judges."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hearteval.analysis.data import StudyData
from hearteval.analysis.estimates import count_people, interval_name
from hearteval.analysis.judges import StressResult
from hearteval.analysis.ranking.comparisons import people_among
from hearteval.analysis.ranking.intervals import OVER_RATERS
from hearteval.analysis.ranking.warnings import given_writers, warn_of_writers
from hearteval.analysis.scores.beside_pairs import BesidePairs
from hearteval.analysis.scores.checks import (
    Repeatability,
    StressScore,
    flat_axes,
    rating_warnings,
    repeatability_of,
    scores_of_stress,
    stress_preferences,
    stress_scores,
    stress_warnings,
)
from hearteval.analysis.scores.columns import RatingColumns, sample_people, to_rating_columns
from hearteval.analysis.scores.scores import (
    RatedSystem,
    adjust_cells,
    field_means,
    moments_of,
    normalised,
    score_systems,
    wanted_rows,
)
from hearteval.domain import EQUAL_WEIGHTS, Axis, Rater
from hearteval.notices import Kind, Notice

INTERVAL = "item-sandwich"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingResults:
    """The scores of a study and how they were made."""

    systems: tuple[RatedSystem, ...]
    """Systems with ratings, highest overall z-score first, then highest mean."""
    unrated: tuple[str, ...]
    """Names of the systems without any."""
    field: Mapping[Axis, float]
    """Mean of the systems' mean raw scores, by axis: what a system is seen against."""
    weights: Mapping[Axis, float]
    """Weight of each axis in the overall score."""
    no_z: Mapping[str, tuple[Axis, ...]]
    """Axes on which a judge gave one score to everything, so that it has no z-score there, by the
    judge's name."""
    stress: tuple[StressScore, ...]
    repeatability: tuple[Repeatability, ...]
    interval_used: str
    """``two-way`` over items and people with five people or more, any judges given; else
    ``item-sandwich``: t over items, raters given. With five writers or more ``three-way`` and
    ``item-writer``: over these too, as far as people wrote."""
    level: float
    rated_by: str
    """Who rated: ``people``, ``judges`` or ``both``."""
    n_ratings: int
    """First ratings of ranked systems."""
    n_completions: int
    n_items: int
    n_raters: int
    n_writers: int = 0
    """People whose completions were rated."""
    warnings: tuple[Notice, ...]
    pairs: BesidePairs | None = None
    """The order beside that by stored judgments of pairs; None without these. Exploratory."""


def score_study(
    data: StudyData, *, level: float, weights: Mapping[Axis, float] = EQUAL_WEIGHTS
) -> tuple[RatingResults, tuple[StressResult, ...], RatingColumns | None]:
    """Compute the scores of a study, and how often each judge saw what is plainly worse.

    Also return what it was computed from; None where nothing is rated.
    """
    ranked, raters = data.ranked, data.raters
    ranked_ids = {system.id for system in ranked}
    rows = wanted_rows(data, weights=weights)
    of_ranked = [row for row in rows if row.system_id in ranked_ids]
    first = [row for row in of_ranked if row.repeat == 0]
    moments = moments_of(first)
    with_z = normalised(first, moments, weights=weights)
    scored = score_systems(with_z, ranked, raters, weights=weights, level=level)
    columns = to_rating_columns(with_z, data, weights) if with_z else None
    writer = columns.writer if columns else None
    interval_used = interval_name(columns.sampled_rater, writer) if columns else INTERVAL
    if columns and interval_used != INTERVAL:
        scored = sample_people(scored, columns, level=level)
    scored = adjust_cells(scored, level=level)
    rated = {row.system for row in scored}
    unrated = tuple(sorted(system.name for system in ranked if system.name not in rated))
    no_z = flat_axes(moments, data.judges)
    n_flat = len(flat_axes(moments, [rater for rater in raters if rater.kind == "human"]))
    who = {row.rater_id for row in first}
    of_stress = scores_of_stress(rows, data)
    stress = stress_preferences(of_stress, level=level)
    results = RatingResults(
        systems=scored,
        unrated=unrated,
        field=field_means(scored),
        weights=weights,
        no_z=no_z,
        stress=stress_scores(of_stress, level=level),
        repeatability=repeatability_of(of_ranked, data.judges, level=level),
        interval_used=interval_used,
        level=level,
        rated_by=_rated_by([rater for rater in raters if rater.id in who]),
        n_ratings=len(first),
        n_completions=len({row.completion_id for row in first}),
        n_items=len({row.item_id for row in first}),
        n_raters=len(who),
        n_writers=count_people(writer),
        warnings=(
            *([warn_of_writers(n)] if given_writers(n := count_people(writer)) else []),
            *stress_warnings(stress, level=level),
            *(_given_raters(interval_used, raters, who) if first else ()),
            *(rating_warnings(scored, unrated, no_z) if first else ()),
            *([_flat_people(n_flat)] if n_flat else ()),
        ),
    )
    return results, stress, columns


def _given_raters(
    interval_used: str, raters: Sequence[Rater], who: Collection[str]
) -> tuple[Notice, ...]:
    """Say what the intervals take as given: nothing where all who rated are people, sampled."""
    text = "The intervals say how the scores would move with other items, not with other judges or"
    if interval_used not in OVER_RATERS:
        return (Notice(Kind.GIVEN_RATERS, f"{text} people."),)
    if all(rater.kind == "human" for rater in raters if rater.id in who):
        return ()
    text = "The intervals say how the scores would move with other items and other people, not with"
    return (Notice(Kind.GIVEN_RATERS, f"{text} other judges."),)


def _flat_people(n: int) -> Notice:
    who = "1 person" if n == 1 else f"{n} people"
    text = f"{who} gave every reply the same score on an axis, and no z-score there."
    return Notice(Kind.AXIS, text.replace("and no", "and has no" if n == 1 else "and have no"))


def _rated_by(raters: Sequence[Rater]) -> str:
    people = people_among(raters)
    if not people:
        return "judges"
    return "people" if len(people) == len(raters) else "both"
