"""How often systems are preferred, with intervals: each of all others, every two, two on each axis.

A share needs no model of strengths, so that it answers "is B preferred to A" also where a ranking
cannot be had. Every comparison counts once, ties half; where people and judges judged one pair each
kind counts half of it, as in the ranking. Intervals are those of `analysis.estimates`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.estimates import (
    Estimate,
    Summed,
    clustered_errors,
    count_people,
    interval_name,
    ratio_estimates,
    two_sided_p,
)
from hearteval.analysis.ranking.cells import Cells, headline_cells
from hearteval.analysis.ranking.warnings import MIN_RATERS, MIN_WRITERS
from hearteval.domain import Axis
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.means import ROUNDING, q_where_tested, share_p_value
from hearteval.stats.special import stdtrit

HALF: Final = 0.5
SETTLED: Final = 0.05
"""The difference from one half that a study of two systems is asked to settle: 55 against 45 %."""
POWER: Final = 0.8
ONE_ITEM = "one dialogue gives no interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(Estimate):
    """How often one system was preferred; `low` and `high` are None under two items."""

    system: str
    other: str | None
    """The system that it was compared with; None for all others."""
    axis: Axis | None
    """None overall."""
    n_comparisons: int
    n_items: int
    p: float | None
    """Two-sided, that it is one half."""
    q: float | None = None
    """The same, adjusted over all systems, all pairs or all axes (Benjamini and Hochberg 1995)."""
    reason: str | None
    """Why there is no interval."""

    def of_other(self) -> "Share":
        """Return the same pair from the other's side.

        Raises:
            ValueError: It is of all others.
        """
        if self.other is None:
            raise ValueError(f"the share of {self.system} is of all others")
        return replace(
            self,
            system=self.other,
            other=self.system,
            value=1 - self.value,
            low=None if self.high is None else 1 - self.high,
            high=None if self.low is None else 1 - self.low,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """What would settle a difference of two systems of five points, two-sided at 1 - level.

    From the variance that these judgments show, as if more items came with as many judgments each.
    """

    n_items: int | None
    """Items in all, for a power of .8; None where no number of them is enough."""
    limited_by: Literal["people", "writers"] | None
    """Who would have to be more where items alone are not enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The shares of a study, sorted by name; of a pair, that of the one preferred more often."""

    systems: tuple[Share, ...]
    pairs: tuple[Share, ...]
    axes: tuple[Share, ...]
    """Of a study of two systems alone."""
    settling: Settling | None
    """Of a study of two systems alone; None too where nothing varies."""
    interval_used: str
    level: float


def measure_shares(votes: JudgmentColumns, *, level: float) -> Shares | None:
    """Measure the shares of judgments that a ranking is by; None without any."""
    if not len(votes):
        return None
    met = np.unique(np.concatenate((votes.first, votes.second)))
    cells = headline_cells(votes, {votes.names.systems[k].name for k in met})
    pairs = tuple(_of_pairs(cells, level=level))
    two = pairs[0] if len(cells.systems) == 2 else None
    own = cells.select(cells.low == 0)
    return Shares(
        systems=_with_q(_of_systems(cells, level=level)),
        pairs=_with_q(pairs),
        axes=_with_q(_of_axes(votes, two, level=level)) if two else (),
        settling=_settle(_summed(own, cells.systems[0]), level) if two else None,
        interval_used=interval_name(cells.rater, cells.writer),
        level=level,
    )


def _of_systems(cells: Cells, *, level: float) -> Iterator[Share]:
    low, high = cells.low, cells.high
    for k, name in enumerate(cells.systems):
        own = cells.select((low == k) | (high == k))
        yield _share(_summed(own, name), int(own.n.sum()), name, level=level)


def _of_pairs(cells: Cells, *, level: float) -> Iterator[Share]:
    m = len(cells.systems)
    keys = cells.low * m + cells.high
    for key in np.unique(keys).tolist():
        own, name = cells.select(keys == key), cells.systems[key // m]
        summed, n = _summed(own, name), int(own.n.sum())
        yield _led(_share(summed, n, name, cells.systems[key % m], level=level))


def _of_axes(votes: JudgmentColumns, led: Share, *, level: float) -> Iterator[Share]:
    """Yield the share of the system that leads overall on each axis; each mark counts once."""
    assert led.other is not None, "a pair has another system"
    is_first = np.array([one.name == led.system for one in votes.names.systems])[votes.first]
    for axis, marks in votes.marks.items():
        rows = ~np.isnan(marks)
        if not rows.any():  # only those marked it whose votes are not counted
            continue
        won = np.where(is_first, marks, 1 - marks)[rows]
        summed = Summed(
            item=votes.item[rows],
            rater=votes.sampled_rater[rows],
            writer=votes.writer[rows],
            weight=np.ones(len(won)),
            sums=won[:, None],
        )
        yield _share(summed, len(won), led.system, led.other, axis, level=level)


def _summed(cells: Cells, name: str) -> Summed:
    """Return what a system, which is in all of these rows, won; every comparison counts once."""
    is_low = cells.low == cells.systems.index(name)
    once, won = cells.once, cells.once_won
    return Summed(
        item=cells.item,
        rater=cells.rater,
        writer=cells.writer,
        weight=once,
        sums=np.where(is_low, won, once - won)[:, None],
    )


def _share(
    summed: Summed,
    n: int,
    system: str,
    other: str | None = None,
    axis: Axis | None = None,
    *,
    level: float,
) -> Share:
    found = ratio_estimates(summed, level=level)[0]
    n_items = len(np.unique(summed.item))
    p = _p_of(summed, found.value, n_items)
    if _is_unanimous(summed) and n_items > 1:
        found, p = _of_unanimous(found.value, n_items, level)
    return Share(
        value=found.value,
        low=found.low,
        high=found.high,
        system=system,
        other=other,
        axis=axis,
        n_comparisons=n,
        n_items=n_items,
        p=p,
        reason=ONE_ITEM if found.low is None else None,
    )


def _is_unanimous(summed: Summed) -> bool:
    lost = summed.weight - summed.sums[:, 0]
    return bool((summed.sums <= ROUNDING).all() or (lost <= ROUNDING).all())


def _of_unanimous(value: float, n_items: int, level: float) -> tuple[Estimate, float]:
    """Return the exact interval (Clopper and Pearson 1934) and p where all items say the same.

    The score's p is below .05 with four of them, which chance gives in one study of eight.
    """
    end = ((1 - level) / 2) ** (1 / n_items)
    low, high = (end, 1.0) if value > HALF else (0.0, 1 - end)
    return Estimate(value=float(value > HALF), low=low, high=high), 2 * HALF**n_items


def _p_of(summed: Summed, value: float, n_items: int) -> float | None:
    """Test a share against one half, as its interval does: by t, or the score where all agree."""
    se, df = clustered_errors(_influence(summed), summed.item, summed.rater, summed.writer)
    if not df:
        return None
    if float(se[0]) <= ROUNDING:
        return share_p_value(min(max(value, 0.0), 1.0), n_items, null=HALF)
    return two_sided_p(value, float(se[0]), df, null=HALF)


def _influence(summed: Summed) -> FloatArray:
    total = summed.weight.sum()
    mean = summed.sums.sum(axis=0) / total
    return np.asarray((summed.sums - np.outer(summed.weight, mean)) / total)


def _settle(summed: Summed, level: float) -> Settling | None:
    """Say how many items would settle five points.

    What items add to the variance falls with their number; what the same people add does not.
    """
    influence = _influence(summed)
    nobody = np.full_like(summed.rater, -1)
    of_items = float(clustered_errors(influence, summed.item, nobody)[0][0]) ** 2
    of_raters = float(clustered_errors(influence, summed.item, summed.rater)[0][0]) ** 2
    of_all = clustered_errors(influence, summed.item, summed.rater, summed.writer)[0][0] ** 2
    if of_items <= ROUNDING:
        return None
    rest = max(0.0, float(of_all) - of_items)
    df = _df_of_sampled(summed)
    reach = float(stdtrit(df, (1 + level) / 2) + stdtrit(df, POWER))
    room = (SETTLED / reach) ** 2 - rest
    if room <= 0:
        is_raters = of_raters - of_items >= rest / 2
        return Settling(n_items=None, limited_by="people" if is_raters else "writers")
    n = len(np.unique(summed.item))
    return Settling(n_items=math.ceil(n * of_items / room), limited_by=None)


def _df_of_sampled(summed: Summed) -> float:
    """Return the degrees of freedom of t with ever more items: those of people who are sampled."""
    people = (count_people(summed.rater), MIN_RATERS), (count_people(summed.writer), MIN_WRITERS)
    return min((n - 1 for n, fewest in people if n >= fewest), default=math.inf)


def _led(share: Share) -> Share:
    return share if share.value >= HALF else share.of_other()


def _with_q(shares: Iterator[Share] | Sequence[Share]) -> tuple[Share, ...]:
    every = tuple(shares)
    q = q_where_tested([one.p for one in every])
    return tuple(replace(one, q=at) for one, at in zip(every, q, strict=True))
