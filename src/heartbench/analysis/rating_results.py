"""What the analysis of a study of ratings returns: scores by system, raw and normalised.

Scores are 1 to 5. A z-score is a score minus its rater's mean on that axis, in that rater's
standard deviations, both over all its first ratings of ranked systems. ``low`` and ``high`` are
interval ends at the level of the results.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from heartbench.domain import Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEstimate:
    """One system's mean score, on one axis or over all, an item being one value.

    Attributes:
        mean: Mean over items of each item's mean raw score.
        low: t interval over items, within 1 and 5; where all items say the same, the score interval
            of as many. None under two items.
        high: Likewise.
        z: The same mean of z-scores; None where no rater has any.
        z_low: t interval over items, the raters' own means and standard deviations moving with
            them; None under two items and where no item departs from the others.
        z_high: Likewise.
        n_ratings: Ratings behind the raw mean.
        n_items: Items these are of.
    """

    mean: float
    low: float | None
    high: float | None
    z: float | None
    z_low: float | None
    z_high: float | None
    n_ratings: int
    n_items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScore:
    """What one rater gave one system over all axes.

    Attributes:
        mean: Mean over items of its raw scores.
        z: Mean over items of its z-scores; None where it has none.
        n_ratings: Ratings.
    """

    mean: float
    z: float | None
    n_ratings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSystem:
    """One system's scores.

    Attributes:
        system: Its name.
        kind: Its kind (model, human, original, baseline).
        family: Its family.
        overall: Weighted mean over the axes.
        axes: By axis; only axes with scores.
        judges: What each rater gave it, by name; only raters that rated it.
    """

    system: str
    kind: str
    family: str
    overall: ScoreEstimate
    axes: Mapping[Axis, ScoreEstimate]
    judges: Mapping[str, JudgeScore]


@dataclass(frozen=True, slots=True, kw_only=True)
class StressScore:
    """What one judge gave one kind of text of the stress set; never part of a system's scores.

    Attributes:
        rater: The judge.
        kind: Kind of stress text; ``reference`` is the reply that the others are made from.
        n_items: Items rated.
        mean: Mean raw score over all axes.
        low: t interval over items, as in `ScoreEstimate`.
        high: Likewise.
    """

    rater: str
    kind: str
    n_items: int
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatability:
    """How far one judge gives the same scores when it rates a completion again.

    Attributes:
        rater: The judge.
        n_completions: Completions rated twice.
        n_items: Items these are of; the interval is over items.
        same: Mean over items of the share of axes with the same score both times.
        low: t interval over items; Wilson's where all items say the same.
        high: Likewise.
        difference: Mean over items of the absolute difference of the two scores of an axis.
    """

    rater: str
    n_completions: int
    n_items: int
    same: float
    low: float
    high: float
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingResults:
    """The scores of a study and how they were made.

    Attributes:
        systems: Systems with ratings, highest overall z-score first, then highest mean.
        unrated: Names of the systems without any.
        field: Mean of the systems' mean raw scores, by axis: what a system is seen against.
        weights: Weight of each axis in the overall score.
        no_z: Axes on which a rater gave one score to everything, so that it has no z-score there,
            by the rater's name.
        stress: What each judge gave the texts of the stress set.
        repeatability: How far each judge repeats itself.
        interval_used: Name of the interval, always ``item-sandwich``: t over items, raters given.
        level: Nominal coverage, e.g. 0.95.
        rated_by: Who rated: ``people``, ``judges`` or ``both``.
        n_ratings: First ratings of ranked systems.
        n_completions: Completions these are of.
        n_items: Items these are of.
        n_raters: Raters who gave them.
        warnings: What a reader must know beside the numbers.
    """

    systems: tuple[RatedSystem, ...]
    unrated: tuple[str, ...]
    field: Mapping[Axis, float]
    weights: Mapping[Axis, float]
    no_z: Mapping[str, tuple[Axis, ...]]
    stress: tuple[StressScore, ...]
    repeatability: tuple[Repeatability, ...]
    interval_used: str
    level: float
    rated_by: str
    n_ratings: int
    n_completions: int
    n_items: int
    n_raters: int
    warnings: tuple[str, ...]
