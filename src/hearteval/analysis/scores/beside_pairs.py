"""Do ratings and pairs order the systems alike? Where a study holds both.

A study whose protocol has become ``rating`` keeps its judgments of pairs: no ranking of it reads
them any more, but here they say whether the other way of asking gives the same order. The interval
resamples items. Samples are not fitted anew: a mean and a strength move by the influence of each
item, times how often it is drawn less one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.estimates import Estimate
from hearteval.analysis.ranking.cells import headline_cells
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.scores.columns import RatingColumns, z_influence
from hearteval.stats.bradley_terry.fit import centred_inverse, fit_win_matrix
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.rankers import kendall_tau, spearman_rho

MIN_SYSTEMS, MIN_ITEMS, N_RESAMPLES = 3, 5, 1000
DECIMALS = 6
"""Means and strengths equal to this many decimals are one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoPlaces:
    """The place of one system among those that are both rated and compared."""

    system: str
    by_ratings: int
    by_pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BesidePairs:
    """How alike the orders are; 1 the same, -1 opposite.

    Attributes:
        problem: Why there are no figures; None where there are.
        kendall: Kendall's tau-b of mean z-scores over all axes and headline strengths, with the
            percentiles of samples of items; `spearman` likewise.
        places: By ratings, best first.
    """

    problem: str | None
    n_judgments: int
    n_items: int
    """Items with a rating or a judgment."""
    spearman: Estimate | None = None
    kendall: Estimate | None = None
    places: tuple[TwoPlaces, ...] = ()
    level: float


def compare_with_pairs(
    ratings: RatingColumns,
    pairs: JudgmentColumns,
    board: Leaderboard | None,
    *,
    level: float,
    seed: int,
) -> BesidePairs | None:
    """Compare the order by ratings with that by stored judgments of pairs; None without these."""
    if not len(pairs):
        return None
    found = align_systems(ratings, pairs, board)
    items = {pairs.names.items[k].id for k in np.unique(pairs.item)} | set(ratings.items)
    bare: dict[str, Any] = {"n_judgments": len(pairs), "n_items": len(items), "level": level}
    if found is None or len(items) < MIN_ITEMS:
        what = f"{MIN_SYSTEMS} systems that are both rated and ranked by pairs"
        return BesidePairs(problem=f"it needs {what}, on {MIN_ITEMS} items", **bare)
    names, values, moves = found
    rounded = [value.round(DECIMALS) for value in values]
    spearman, kendall = spearman_rho(*rounded), kendall_tau(*rounded)
    if spearman is None or kendall is None:
        return BesidePairs(problem="by ratings or by pairs all systems stand alike", **bare)
    rng = np.random.default_rng(seed)
    n = len(moves[0])
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES) - 1.0
    samples = [value + drawn @ moved for value, moved in zip(values, moves, strict=True)]
    places = [1 + np.argsort(np.argsort(-value, kind="stable")) for value in values]
    order = np.argsort(places[0])
    return BesidePairs(
        problem=None,
        spearman=_estimate(spearman, _spearman, samples, level),
        kendall=_estimate(kendall, _kendall, samples, level),
        places=tuple(
            TwoPlaces(system=names[k], by_ratings=int(places[0][k]), by_pairs=int(places[1][k]))
            for k in order
        ),
        **bare,
    )


Aligned = tuple[list[str], tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def align_systems(
    ratings: RatingColumns, pairs: JudgmentColumns, board: Leaderboard | None
) -> Aligned | None:
    """Return the systems in both, their means and strengths, and what each item moves these by."""
    if board is None:
        return None
    means, influence = z_influence(ratings)
    rated = {s.name: k for k, s in enumerate(ratings.systems) if not np.isnan(means[k])}
    cells = headline_cells(pairs, {row.system for row in board.rows})
    fit = fit_win_matrix(cells.points())
    names = [name for name in cells.systems if name in rated]
    if len(names) < MIN_SYSTEMS:
        return None
    one = [rated[name] for name in names]
    other = [cells.systems.index(name) for name in names]
    scores, item, _ = cells.scores(fit.theta)
    place = {item.id: k for k, item in enumerate(pairs.names.items)}
    n_items = len(place)
    of_ratings = np.zeros((n_items, len(names)))
    of_pairs = np.zeros((n_items, len(names)))
    here = np.array([place[id_] for id_ in ratings.items])[ratings.item]
    np.add.at(of_ratings, here, influence[:, one])
    np.add.at(of_pairs, item, (scores @ centred_inverse(fit.information))[:, other])
    is_used = np.isin(np.arange(n_items), np.concatenate([here, item]))
    return names, (means[one], fit.theta[other]), (of_ratings[is_used], of_pairs[is_used])


def _estimate(
    value: float,
    figure: Callable[[FloatArray, FloatArray], FloatArray],
    samples: Sequence[FloatArray],
    level: float,
) -> Estimate:
    found = figure(samples[0], samples[1])
    low, high = np.quantile(found, ((1 - level) / 2, (1 + level) / 2))
    return Estimate(value=value, low=float(low), high=float(high))


def _kendall(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return tau-b by row; 0 where all values of a row are one."""
    left, right = np.triu_indices(x.shape[1], 1)
    a, b = np.sign(x[:, left] - x[:, right]), np.sign(y[:, left] - y[:, right])
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return np.asarray((a * b).sum(axis=1) / np.maximum(scale, 1))


def _spearman(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the correlation of ranks by row, as of samples without ties."""
    a, b = (np.argsort(np.argsort(z, axis=1), axis=1) for z in (x, y))
    n = x.shape[1]
    return np.asarray(1 - 6 * ((a - b) ** 2).sum(axis=1) / (n * (n**2 - 1)))
