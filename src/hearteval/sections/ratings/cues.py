"""Ratings where seekers say what they feel, and where it must be read from what they tell.

Items are labelled with their cue, explicit or implicit (`Item.cue`); others are left out. Kinds of
systems are means over their systems. Intervals are those of `estimates`, each over the items it
rests on, with Welch's degrees of freedom for a difference; q-values are over the axes of one kind
or system (Benjamini and Hochberg 1995). Exploratory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hearteval.analysis.estimates import (
    Estimate,
    clustered_estimates,
    contrast_of,
    interval_name,
)
from hearteval.analysis.scores.columns import RatingColumns, group_means
from hearteval.analysis.scores.scores import OVERALL
from hearteval.domain import Axis, Item
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.means import q_where_tested

MIN_ITEMS = 5
"""Of either kind; with fewer there is no figure."""
PEOPLE, MODELS, GAP = "people", "models", "people - models"
IMPLICIT, EXPLICIT = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CueContrast:
    """Mean raw scores on items of either kind, on one axis.

    Attributes:
        who: ``people`` or ``models``, ``people - models``, or the name of a system.
        is_system: Whether it is a system.
        axis: Its letter, or ``overall``.
        difference: `implicit` - `explicit`.
        p_value: Two-sided, of no difference; None where nothing varies. `q_value` likewise.
    """

    who: str
    is_system: bool
    axis: str
    implicit: Estimate
    explicit: Estimate
    difference: Estimate
    p_value: float | None
    q_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CueResults:
    """Scores by cue of the item; `problem` says why there are none."""

    problem: str | None
    contrasts: tuple[CueContrast, ...]
    n_implicit: int
    """Rated items of that cue."""
    n_explicit: int
    interval_used: str
    level: float


def compare_cues(
    columns: RatingColumns, items: Sequence[Item], *, level: float
) -> CueResults | None:
    """Compare scores on items of either cue; None where no rated item is labelled."""
    cues = {item.id: item.cue for item in items}
    cue_of = np.array(
        [
            {"implicit": IMPLICIT, "explicit": EXPLICIT}.get(cues.get(i) or "", -1)
            for i in columns.items
        ]
    )
    n_implicit, n_explicit = (int((cue_of == cue).sum()) for cue in (IMPLICIT, EXPLICIT))
    if not n_implicit + n_explicit:
        return None
    problem: str | None = None
    rows: tuple[CueContrast, ...] = ()
    if min(n_implicit, n_explicit) < MIN_ITEMS:
        problem = f"too few items: {n_implicit} implicit and {n_explicit} explicit are rated"
    else:
        rows = tuple(
            row
            for axis in (None, *columns.axes)
            for row in _on_axis(columns, cue_of[columns.item], axis, level=level)
        )
    return CueResults(
        problem=problem,
        contrasts=_adjusted(rows),
        n_implicit=n_implicit,
        n_explicit=n_explicit,
        interval_used=interval_name(columns.sampled_rater),
        level=level,
    )


def _on_axis(
    columns: RatingColumns, cue: IntArray, axis: Axis | None, *, level: float
) -> list[CueContrast]:
    n = len(columns.systems)
    group = np.where(cue >= 0, 2 * columns.system + cue, -1)
    values = columns.column(axis, is_z=False)
    means, _, influence = group_means(values, group, columns.item, 2 * n)
    known = np.asarray((~np.isnan(means)).reshape(n, 2).all(axis=1))
    moved_own = influence.sum(axis=1)  # a row moves the mean of its own group alone
    found = []
    for who, of_system in _weights(columns, known).items():
        counts = of_system[columns.system]
        rows = (group >= 0) & ~np.isnan(values) & (counts != 0)
        moved, item, rater = (
            one[rows] for one in (counts * moved_own, columns.item, columns.sampled_rater)
        )
        at = of_system @ np.nan_to_num(means).reshape(n, 2)
        side = cue[rows]
        # Items of the other cue, and unlabelled ones, say nothing of how far a mean may be off.
        implicit, explicit = (
            clustered_estimates(
                at[k : k + 1],
                moved[side == k, None],
                item[side == k],
                rater[side == k],
                level=level,
            )[0]
            for k in (IMPLICIT, EXPLICIT)
        )
        sign = np.where(side == IMPLICIT, 1.0, -1.0)
        gap = contrast_of(float(at[0] - at[1]), sign * moved, item, rater, part=side, level=level)
        found.append(
            CueContrast(
                who=who,
                is_system=who not in (PEOPLE, MODELS, GAP),
                axis=axis or OVERALL,
                implicit=implicit,
                explicit=explicit,
                difference=Estimate(value=gap.value, low=gap.low, high=gap.high),
                p_value=gap.p,
                q_value=None,
            )
        )
    return found


def _weights(columns: RatingColumns, known: BoolArray) -> Mapping[str, FloatArray]:
    """Return what each system counts for people, for models, for their gap, and for itself."""
    kind = np.array([system.kind for system in columns.systems])
    found: dict[str, FloatArray] = {}
    for who, one in ((PEOPLE, "human"), (MODELS, "model")):
        is_in = (kind == one) & known
        if is_in.any():
            found[who] = is_in / is_in.sum()
    if len(found) == 2:
        found[GAP] = found[PEOPLE] - found[MODELS]
    alone = np.eye(len(kind))
    return found | {columns.systems[k].name: alone[k] for k in np.flatnonzero(known)}


def _adjusted(rows: Sequence[CueContrast]) -> tuple[CueContrast, ...]:
    """Adjust p over the axes of each; rows stand by whom they are of."""
    found = []
    for who in dict.fromkeys(row.who for row in rows):
        own = [row for row in rows if row.who == who]
        adjusted = q_where_tested([row.p_value for row in own])
        found += [replace(row, q_value=q) for row, q in zip(own, adjusted, strict=True)]
    return tuple(found)
