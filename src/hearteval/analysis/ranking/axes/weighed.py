"""Systems by the mean of their axes, each fitted alone, under any weights of the axes.

The same votes mark all axes, so that their strengths err together: a mean of five axes is hardly
surer than one of them. How they do is taken from the influence of items, and of people where they
are sampled, on all axes at once. A page that weighs them anew needs the arrays of `WeighedAxes`
alone, and does what `at` does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hearteval.analysis.ranking.axes.tables import AxisTable
from hearteval.analysis.ranking.intervals import OVER_RATERS, OVER_WRITERS, UsedInterval, vary
from hearteval.analysis.ranking.rank import ELO_DECIMALS_OF_RANK, Ranked
from hearteval.domain import Axis
from hearteval.stats.bradley_terry.differences import MIN_SE
from hearteval.stats.bradley_terry.fit import ELO_MEAN, ELO_PER_THETA
from hearteval.stats.comparisons import Comparisons, FloatArray, IntArray
from hearteval.stats.special import stdtrit

N_WEIGHTINGS = 10_000
"""Drawn evenly from all weightings of the axes; a share of them is off by half a point."""
MIN_SYSTEMS = 3
"""Of two systems nothing can be ranked anew: one is preferred or the other."""


class WeighedSystem(NamedTuple):
    """One system under some weights; all but the name is None where an axis says nothing of it."""

    system: str
    elo: float | None
    low: float | None
    high: float | None
    place: int | None
    """1 is best; equal strengths share the better place."""
    place_low: int | None
    """Best place that its differences from the others leave open."""
    place_high: int | None


class Reach(NamedTuple):
    """How far a system's place depends on what the axes weigh."""

    best: int
    worst: int
    leads: float
    """Share of the weightings drawn in which it leads."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeighedAxes:
    """What every weighting of the axes is computed from.

    Attributes:
        axes: Those with an Elo.
        systems: By name.
        theta: Strength of each system on each axis, (axes, systems); NaN where it has none.
        ways: Covariances of these in one row, axis by axis; a contrast has the largest variance
            that any of them gives it. An axis by itself has the standard errors of its ranking.
        quantile: Of t for the interval of one system, (axes, systems); NaN where an axis has none.
        quantile_of_all: The same for every two systems at once.
        interval_used: Over what the intervals are.
        level: Of an interval, and of all places together.
    """

    axes: tuple[Axis, ...]
    systems: tuple[str, ...]
    theta: FloatArray
    ways: tuple[FloatArray, ...]
    quantile: FloatArray
    quantile_of_all: FloatArray
    interval_used: UsedInterval
    level: float

    def at(self, weights: Mapping[Axis, float]) -> tuple[WeighedSystem, ...]:
        """Return the systems by the mean of their axes, the best first.

        A mean is sum_a w_a theta_a, the weights summing to 1, and its variance w' V w. Its t has
        the fewest degrees of freedom of its axes. Places are open as far as differences are, all
        pairs at once: a difference is called at the t quantile of level^(1/pairs), which is on the
        safe side whatever their correlations (Sidak 1967).

        Raises:
            ValueError: No axis has a weight above 0, or one has a weight below.
        """
        given = np.array([weights.get(axis, 0.0) for axis in self.axes], dtype=np.float64)
        if not (given >= 0).all() or not given.sum() > 0:
            raise ValueError(f"weights are 0 or more, and one of them more; not {dict(weights)}")
        w = given / given.sum()
        n, used = len(self.systems), w > 0
        theta = (w[used, None] * self.theta[used]).sum(axis=0)
        squares = [
            np.einsum("a,b,aibj->ij", w, w, way.reshape(2 * (len(w), n))) for way in self.ways
        ]
        own = np.max([np.diag(one) for one in squares], axis=0)
        se = np.sqrt(np.maximum(own, 0.0))
        half = np.where(se > MIN_SE, self.quantile[used].max(axis=0) * se, np.nan)
        of_all = self.quantile_of_all[used].max(axis=0)
        is_above = _surely_above(theta, squares, np.maximum.outer(of_all, of_all))
        elo = ELO_MEAN + ELO_PER_THETA * theta
        rounded = elo.round(ELO_DECIMALS_OF_RANK)
        n_ranked = int(np.isfinite(theta).sum())
        found = []
        for i, name in enumerate(self.systems):
            if not np.isfinite(theta[i]):
                found.append(WeighedSystem(name, *(None,) * 6))
                continue
            ends = elo[i] + ELO_PER_THETA * half[i] * np.array([-1, 1])
            low, high = ends.tolist() if np.isfinite(half[i]) else (None, None)
            found.append(
                WeighedSystem(
                    system=name,
                    elo=float(elo[i]),
                    low=low,
                    high=high,
                    place=1 + int((rounded > rounded[i]).sum()),
                    place_low=1 + int(is_above[:, i].sum()),
                    place_high=n_ranked - int(is_above[i].sum()),
                )
            )
        return tuple(sorted(found, key=lambda one: (one.place or n + 1, one.system)))

    def reaches(self, *, seed: int) -> dict[str, Reach]:
        """Return the places of every system over weightings drawn evenly, and each axis alone.

        Systems that an axis says nothing of are left out.
        """
        is_there, n_axes = np.all(np.isfinite(self.theta), axis=0), len(self.axes)
        drawn = np.random.default_rng(seed).dirichlet(np.ones(n_axes), N_WEIGHTINGS)
        weights = np.concatenate((drawn, np.eye(n_axes)))
        elo = (ELO_PER_THETA * weights @ self.theta[:, is_there]).round(ELO_DECIMALS_OF_RANK)
        places = np.array([1 + (elo > one[:, None]).sum(axis=1) for one in elo.T]).T
        names = [self.systems[k] for k in np.flatnonzero(is_there)]
        return {
            name: Reach(int(at.min()), int(at.max()), float((at[:N_WEIGHTINGS] == 1).mean()))
            for name, at in zip(names, places.T, strict=True)
        }


def _surely_above(
    theta: FloatArray, squares: Sequence[FloatArray], quantile: FloatArray
) -> FloatArray:
    """Say of which systems it is certain that they are above which, (systems, systems)."""
    spread = [np.diag(one)[:, None] + np.diag(one)[None, :] - one - one.T for one in squares]
    se = np.sqrt(np.maximum(np.max(spread, axis=0), 0.0))
    with np.errstate(invalid="ignore"):
        is_sure = theta[:, None] - theta[None, :] > quantile * se
    return np.asarray(is_sure & (se > MIN_SE))


def weigh_axes(tables: Sequence[AxisTable], *, level: float) -> WeighedAxes | None:
    """Return what any weighting of some axes is computed from; None where there is no choice.

    Axes without an Elo are left out.
    """
    ranked = {table.axis: table.ranked for table in tables if table.ranked}
    systems = tuple(sorted({name for one in ranked.values() for name in one.names}))
    if len(ranked) < 2 or len(systems) < MIN_SYSTEMS:
        return None
    places = [np.searchsorted(systems, one.names) for one in ranked.values()]
    shape = len(ranked), len(systems)
    theta, se, df = (np.full(shape, np.nan) for _ in range(3))
    for a, (one, at) in enumerate(zip(ranked.values(), places, strict=True)):
        theta[a, at] = one.fit.theta
        se[a, at] = [each.se or np.nan for each in one.estimates]
        df[a, at] = [one.df_by_name[name] for name in one.names]
    df[np.isnan(se)] = np.nan
    used = _shared_interval([one.interval_used for one in ranked.values()])
    ways = _joint(list(ranked.values()), places, len(systems), used)
    n_pairs = len(systems) * (len(systems) - 1) / 2
    return WeighedAxes(
        axes=tuple(ranked),
        systems=systems,
        theta=theta,
        ways=_scaled(ways, np.nan_to_num(se.ravel())),
        quantile=np.asarray(stdtrit(df, (1 + level) / 2)),
        quantile_of_all=np.asarray(stdtrit(df, (1 + level ** (1 / n_pairs)) / 2)),
        interval_used=used,
        level=level,
    )


def _shared_interval(used: Sequence[UsedInterval]) -> UsedInterval:
    """Return the interval that all axes can have."""
    over_raters = all(one in OVER_RATERS for one in used)
    if all(one in OVER_WRITERS for one in used):
        return "three-way" if over_raters else "item-writer"
    return "two-way" if over_raters else "item-sandwich"


def _joint(
    ranked: Sequence[Ranked], places: Sequence[IntArray], n_systems: int, used: UsedInterval
) -> list[FloatArray]:
    """Return the covariances of all axes' strengths together, (axes x systems) squared."""
    parts = [one.fit.comparisons for one in ranked]
    ends = np.cumsum([0, *map(len, parts)])

    def influence_of(label: IntArray) -> FloatArray:
        moved = np.zeros((int(label.max()) + 1, len(ranked) * n_systems))
        for a, (one, at) in enumerate(zip(ranked, places, strict=True)):
            own = label[ends[a] : ends[a + 1]]
            moved[np.ix_(np.unique(own), a * n_systems + at)] = one.fit.influence_of(own)
        return moved

    return vary(influence_of, _stacked(parts), used).ways()


def _stacked(parts: Sequence[Comparisons]) -> Comparisons:
    """Return the comparisons of all axes, of items, raters and writers with the same numbers."""
    names = ("left", "right", "score", "weight", "count", "item", "rater")
    columns = {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}
    writers = [one.writer for one in parts if one.writer is not None]
    writer = np.concatenate(writers) if len(writers) == len(parts) else None
    n_systems = max(one.n_systems for one in parts)
    return replace(parts[0], **columns, writer=writer, n_systems=n_systems)


def _scaled(ways: Sequence[FloatArray], se: FloatArray) -> tuple[FloatArray, ...]:
    """Return covariances under which each parameter has the standard error of its own axis.

    An axis that fewer items or people marked has its own corrections for few of them.
    """
    joint = np.sqrt(np.maximum(np.max([np.diag(way) for way in ways], axis=0), 0.0))
    scale = np.divide(se, joint, out=np.zeros_like(se), where=joint > MIN_SE)
    return tuple(way * np.outer(scale, scale) for way in ways)
