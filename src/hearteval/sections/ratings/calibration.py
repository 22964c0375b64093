"""The calibration round: how far each rater scores from keyed examples. It enters no score.

The keys are the project's own reading of its rubric, so a rater that is far from them is strict,
mild or reads the axes otherwise; it is not thereby wrong.
"""

from collections import defaultdict
from dataclasses import dataclass

from hearteval.analysis.data import StudyData
from hearteval.analysis.scores.scores import OVERALL, mean
from hearteval.domain import in_order


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterCalibration:
    """One rater on one axis of the keyed examples.

    Attributes:
        rater: Name of a judge; ``people`` for all people together.
        axis: Its letter, or ``overall``: every score of every axis.
        error: Mean absolute difference of score and key.
        bias: Mean of score less key: above 0 the rater is mild.
        same: Share of scores that are the key.
        within_one: Share within one point of it.
    """

    rater: str
    is_person: bool
    axis: str
    n_scores: int
    error: float
    bias: float
    same: float
    within_one: float


def measure_calibration(data: StudyData | None) -> tuple[RaterCalibration, ...]:
    """Return every rater overall and by axis, judges by name and then people; first scores only."""
    if data is None:
        return ()
    raters = {rater.id: rater for rater in data.raters}
    gaps: dict[tuple[bool, str, str], list[int]] = defaultdict(list)
    for rating in data.ratings:
        rater, key = raters.get(rating.rater_id), data.keys.get(rating.completion_id)
        if rater is None or key is None or rating.repeat:
            continue
        is_person = rater.kind == "human"
        name = "people" if is_person else rater.name
        for axis, score in rating.axes.items():
            if axis in key:
                gaps[is_person, name, axis].append(score - key[axis])
                gaps[is_person, name, OVERALL].append(score - key[axis])
    return tuple(
        RaterCalibration(
            rater=name,
            is_person=is_person,
            axis=axis,
            n_scores=len(gaps[is_person, name, axis]),
            error=mean([abs(gap) for gap in gaps[is_person, name, axis]]),
            bias=mean(gaps[is_person, name, axis]),
            same=mean([float(gap == 0) for gap in gaps[is_person, name, axis]]),
            within_one=mean([float(abs(gap) <= 1) for gap in gaps[is_person, name, axis]]),
        )
        for is_person, name in sorted({key[:2] for key in gaps})
        for axis in (OVERALL, *in_order({axis for *_, axis in gaps}))
        if (is_person, name, axis) in gaps
    )
