"""How far axis marks follow the overall verdict because they are given beside it: the halo.

Of pairs that a judge has judged, its marks on an axis are compared with its first overall verdict:
those of the same reply, those of another reply that marks all axes in the opposite order, and those
of a reply about that axis alone. A halo makes an axis that is asked with others follow the verdict
more than the same axis asked alone (Thorndike 1920). Both of these are other replies than the one
that gave the verdict, so what a judge says otherwise when it is asked again falls out.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hearteval.analysis.coverage.missing import count_missing, last_attempts
from hearteval.analysis.data import StudyData
from hearteval.analysis.judges import means_by_id
from hearteval.analysis.judgments import JudgmentRow
from hearteval.domain import Axis, Choice, Rater, in_order
from hearteval.stats.means import mean_interval, mean_p_value

ALL_AXES = "all"


class PairMarks(NamedTuple):
    """What a judge said of one pair, asked in three ways; sides are as shown, always the same."""

    item_id: str
    overall: Choice
    """Its first verdict."""
    together: Mapping[Axis, Choice]
    """Its marks beside that verdict."""
    reversed: Mapping[Axis, Choice]
    """Its marks in the opposite order, in another reply."""
    alone: Mapping[Axis, Choice]
    """Its marks on each axis alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisHalo:
    """How often the marks on an axis are what the first verdict was; shares of pairs, over items.

    Attributes:
        axis: Its letter, or ``all``: the mean over the axes of a pair.
        together: Of the marks beside the verdict.
        reversed: Of the marks of the reply that marks all axes in the opposite order.
        alone: Of the marks of the reply about this axis alone.
        halo: `reversed` - `alone`, with its t interval over items and two-sided p.
    """

    axis: str
    together: float
    reversed: float
    alone: float
    halo: float
    low: float
    high: float
    p_value: float
    n_pairs: int
    n_items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeHalo:
    """What the ablation says of one judge.

    Attributes:
        overall: Over all axes; None where no pair has every mark.
        axes: By axis, in the rubric's order.
        n_asked: Questions put to it, six a pair with five axes.
        missing: Of these, how many were not answered, by reason.
    """

    judge: str
    overall: AxisHalo | None
    axes: tuple[AxisHalo, ...]
    n_asked: int
    missing: Mapping[str, int] = field(default_factory=dict)


def halo_of_judges(data: StudyData, *, level: float) -> tuple[JudgeHalo, ...]:
    """Return what the ablation that is stored beside a study says of each judge, by name.

    Empty where there is none. First verdicts are the study's own, of the same pair shown in the
    same order.
    """
    if data.halo is None:
        return ()
    asked = {rater.id: (rater.name, asked_axis(rater)) for rater in data.halo.raters}
    asked_again = [*data.halo.judgments, *data.halo.unjudged]
    shown = {(a.pair_id, a.first_completion_id) for a in asked_again}
    names = {rater.id: rater.name for rater in data.judges}
    stored = data.judgments.first_ones.by(names)
    stored = stored.select(stored.pair.is_in({pair for pair, _ in shown}))
    first = {
        (names[row.rater_id], row.pair_id, row.first_completion_id): row
        for row in stored
        if (row.pair_id, row.first_completion_id) in shown
    }
    again: dict[tuple[str, str, str], dict[Axis | None, JudgmentRow]] = defaultdict(dict)
    for row in data.halo.judgments:
        judge, axis = asked[row.rater_id]
        again[judge, row.pair_id, row.first_completion_id][axis] = row
    last = last_attempts(data.halo.attempts, lambda attempt: attempt.assignment_id)
    found = []
    for judge in sorted({name for name, _ in asked.values()}):
        absent = [a.id for a in data.halo.unjudged if asked[a.rater_id][0] == judge]
        n_asked = sum(asked[a.rater_id][0] == judge for a in asked_again)
        pairs = [
            PairMarks(
                item_id=row.item_id,
                overall=row.choice,
                together=_choices(row),
                reversed=_choices(again[key].get(None)),
                alone={axis: one.choice for axis, one in again[key].items() if axis is not None},
            )
            for key, row in sorted(first.items())
            if key[0] == judge
        ]
        axes = in_order({axis or "" for who, axis in asked.values() if who == judge})
        overall, each = measure_halo(pairs, axes, level=level)
        missing = count_missing(absent, last)
        found.append(
            JudgeHalo(judge=judge, overall=overall, axes=each, n_asked=n_asked, missing=missing)
        )
    return tuple(found)


def asked_axis(rater: Rater) -> Axis | None:
    """Return the axis that a rater of an ablation is asked about alone; None if about all."""
    axes: Sequence[Axis] = rater.settings.get("axes", ())
    return axes[0] if rater.settings.get("is_alone") else None


def _choices(row: JudgmentRow | None) -> Mapping[Axis, Choice]:
    return {axis: mark.choice for axis, mark in row.axes.items()} if row else {}


def measure_halo(
    pairs: Sequence[PairMarks], axes: Sequence[Axis], *, level: float
) -> tuple[AxisHalo | None, tuple[AxisHalo, ...]]:
    """Return the halo over all axes, and on each; an axis without a whole pair is left out."""
    of_axis = {axis: [pair for pair in pairs if _is_whole(pair, axis)] for axis in axes}
    whole = [pair for pair in pairs if all(_is_whole(pair, axis) for axis in axes)]
    found = tuple(_halo(axis, [axis], of_axis[axis], level) for axis in axes if of_axis[axis])
    return (_halo(ALL_AXES, axes, whole, level) if whole else None), found


def _is_whole(pair: PairMarks, axis: Axis) -> bool:
    return all(axis in marks for marks in (pair.together, pair.reversed, pair.alone))


def _halo(name: str, axes: Sequence[Axis], pairs: Sequence[PairMarks], level: float) -> AxisHalo:
    def over_items(way: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        values = [
            (pair.item_id, float(np.mean([getattr(pair, way)[a] == pair.overall for a in axes])))
            for pair in pairs
        ]
        return np.array(list(means_by_id(values).values()))

    together, turned, alone = map(over_items, ("together", "reversed", "alone"))
    # From 0 to 1, so that the interval of a mean of shares stands for that of a difference.
    shares = (1 + turned - alone) / 2
    low, high = mean_interval(shares, level=level)
    return AxisHalo(
        axis=name,
        together=float(together.mean()),
        reversed=float(turned.mean()),
        alone=float(alone.mean()),
        halo=2 * float(shares.mean()) - 1,
        low=2 * low - 1,
        high=2 * high - 1,
        p_value=mean_p_value(shares, null=0.5),
        n_pairs=len(pairs),
        n_items=len(shares),
    )
