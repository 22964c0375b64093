"""Would another method rank otherwise? Ties, rankers and weights of the axes (SPEC section 6).

Everything here is of the comparisons that the headline is of, and exploratory. Where a method can,
it weighs them as the headline does. Plackett-Luce is left out: of two at a time it is the same
model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.estimates import EXPLORATORY
from hearteval.analysis.ranking.cells import Cells
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.domain import AXES, Axis
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.fit import ELO_MEAN, ELO_PER_THETA, fit_win_matrix
from hearteval.stats.bradley_terry.ties import fit_davidson
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.rankers import (
    draw_orders,
    elo_in_sequence,
    kendall_tau,
    rank_centrality,
    spearman_rho,
)

N_WEIGHTINGS: Final = 10_000
"""Uniform over all weightings; a share of them is off by half a point."""
DECIMALS_OF_PLACE: Final = 6
"""Values equal to this many decimals share a place, as in the ranking."""

NONE_DECIDED: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRanking:
    """The systems as another method ranks them.

    Attributes:
        is_weighted: Whether judgments count with their strength, as in the headline.
        problem: Why there is no ranking; else None, and the rest is known.
        values: Of each system in the order of `AblatedRanking.systems`: Elo, or a share won.
        places: 1 is best; equal values share the better place.
        spearman: Rank correlation with the headline; None where either is all ties.
        most_moved: The system whose place changes most; None where none changes.
        leaders: In place 1.
    """

    method: str
    is_weighted: bool
    unit: str
    problem: str | None
    values: tuple[float, ...] = ()
    places: tuple[int, ...] = ()
    spearman: float | None = None
    kendall: float | None = None
    largest_change: int | None = None
    most_moved: str | None = None
    leaders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedPlaces:
    """Where one system stands as the axes are weighed otherwise.

    Attributes:
        even: Its place where all axes weigh the same.
        best: Its best place over all weightings drawn and each axis alone.
        leads: Share of the weightings in which it leads; leads that are shared count to each.
    """

    system: str
    even: int
    best: int
    worst: int
    leads: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisWeights:
    """How the order of systems depends on what the axes weigh.

    Attributes:
        measure: What is weighed: ``elo`` of each axis, or ``win_rate`` where an axis has none.
        n_weightings: Drawn evenly from all weightings of the axes (Dirichlet, all parameters 1).
        systems: By the place at even weights.
    """

    measure: str
    axes: tuple[Axis, ...]
    n_weightings: int
    systems: tuple[WeightedPlaces, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AblatedRanking:
    """The headline beside other methods.

    Attributes:
        systems: In the order of the headline.
        axis_weights: None with fewer than two axes that mark all systems.
    """

    systems: tuple[str, ...]
    headline: tuple[float, ...]
    others: tuple[OtherRanking, ...]
    axis_weights: AxisWeights | None
    status: str = EXPLORATORY


class _Method(NamedTuple):
    name: str
    unit: str
    rank: Callable[[], FloatArray]
    is_weighted: bool = True


def ablate_ranking(
    cells: Cells, columns: JudgmentColumns, board: Leaderboard, *, seed: int
) -> AblatedRanking:
    """Rank by other methods and say how far the order moves.

    Args:
        cells: The judgments among the systems of the ranking, as the headline weighs them.
        columns: The same, one by one; judgments of other systems are left out.
        board: The ranking.
        seed: Of orders and weightings.
    """
    points, counts = cells.points(), cells.counts()
    decided = points - _halves(cells)
    decided[decided < NONE_DECIDED * points] = 0.0  # all ties, but for rounding
    n_ties = float(cells.tied.sum())
    of_ties = [
        _Method("ties dropped", "elo", lambda: _elo(fit_win_matrix(decided).theta)),
        _Method("ties modelled", "elo", lambda: _elo(fit_davidson(points, n_ties).theta)),
    ]
    methods = [
        *(of_ties if n_ties else []),  # without ties both are the headline
        _Method("rank centrality", "elo", lambda: _elo(rank_centrality(points))),
        _Method(
            "every judgment once",
            "elo",
            lambda: _elo(fit_win_matrix(counts).theta),
            is_weighted=False,
        ),
        _Method("share won", "share", lambda: _share_won(counts), is_weighted=False),
        _Method(
            "elo in sequence", "elo", lambda: _sequence(cells, columns, seed), is_weighted=False
        ),
    ]
    place = {name: k for k, name in enumerate(cells.systems)}
    order = np.array([place[row.system] for row in board.rows])
    names = tuple(row.system for row in board.rows)
    headline = np.array([row.weighted.elo for row in board.rows])
    return AblatedRanking(
        systems=names,
        headline=tuple(headline.tolist()),
        others=tuple(_compare(method, names, headline, order) for method in methods),
        axis_weights=_weigh_axes(board, seed=seed),
    )


def _halves(cells: Cells) -> FloatArray:
    """Return half the weight of the ties of each pair of systems."""
    m = len(cells.systems)
    sums = np.bincount(cells.low * m + cells.high, weights=cells.tied / 2, minlength=m * m)
    return np.asarray(sums.reshape(m, m) + sums.reshape(m, m).T)


def _elo(theta: FloatArray) -> FloatArray:
    return ELO_MEAN + ELO_PER_THETA * theta


def _share_won(counts: FloatArray) -> FloatArray:
    return np.asarray(counts.sum(axis=1) / (counts + counts.T).sum(axis=1))


def _sequence(cells: Cells, columns: JudgmentColumns, seed: int) -> FloatArray:
    place = {name: k for k, name in enumerate(cells.systems)}
    known = np.array([place.get(one.name, -1) for one in columns.names.systems], dtype=np.int64)
    left, right = known[columns.first], known[columns.second]
    among = (left >= 0) & (right >= 0)
    orders = draw_orders(int(among.sum()), seed=seed)
    found = elo_in_sequence(
        left[among], right[among], columns.score[among], n_systems=len(place), orders=orders
    )
    return np.asarray(found.mean(axis=0))


def _compare(
    method: _Method, names: Sequence[str], headline: FloatArray, order: IntArray
) -> OtherRanking:
    try:
        values = method.rank()[order]
    except NotIdentifiedError:
        problem = "it determines no ranking: some systems won or lost everything"
        return OtherRanking(
            method=method.name, is_weighted=method.is_weighted, unit=method.unit, problem=problem
        )
    places, before = _places(values), _places(headline)
    change = np.abs(places - before)
    largest = int(change.max())
    rounded = headline.round(DECIMALS_OF_PLACE), values.round(DECIMALS_OF_PLACE)
    return OtherRanking(
        method=method.name,
        is_weighted=method.is_weighted,
        unit=method.unit,
        problem=None,
        values=tuple(values.tolist()),
        places=tuple(places.tolist()),
        spearman=spearman_rho(*rounded),
        kendall=kendall_tau(*rounded),
        largest_change=largest,
        most_moved=names[int(change.argmax())] if largest else None,
        leaders=tuple(name for name, at in zip(names, places, strict=True) if at == 1),
    )


def _places(values: FloatArray) -> IntArray:
    """Return places along the last axis, 1 the largest; equal values share the better one."""
    falling = -values.round(DECIMALS_OF_PLACE)
    order = np.argsort(falling, axis=-1, kind="stable")
    ordered = np.take_along_axis(falling, order, axis=-1)
    is_new = np.diff(ordered, axis=-1, prepend=-np.inf) > 0
    first = np.maximum.accumulate(np.where(is_new, np.arange(1, values.shape[-1] + 1), 1), axis=-1)
    places = np.empty_like(first)
    np.put_along_axis(places, order, first, axis=-1)
    return places


def _weigh_axes(board: Leaderboard, *, seed: int) -> AxisWeights | None:
    axes = tuple(axis for axis in AXES if all(axis in row.axes for row in board.rows))
    if len(axes) < 2:
        return None
    standings = [[row.axes[axis] for axis in axes] for row in board.rows]
    has_elo = all(one.elo is not None for row in standings for one in row)
    values: Mapping[str, list[list[float]]] = {
        "elo": [[one.elo or 0.0 for one in row] for row in standings],
        "win_rate": [[one.win_rate for one in row] for row in standings],
    }
    measure = "elo" if has_elo else "win_rate"
    table = np.array(values[measure])
    rng = np.random.default_rng(seed)
    drawn = rng.dirichlet(np.ones(len(axes)), N_WEIGHTINGS)
    places = _places(drawn @ table.T)
    alone = _places(table.T)
    even = _places(table.mean(axis=1))
    reached = np.concatenate((places, alone, even[None, :]))
    rows = [
        WeightedPlaces(
            system=row.system,
            even=int(even[k]),
            best=int(reached[:, k].min()),
            worst=int(reached[:, k].max()),
            leads=float((places[:, k] == 1).mean()),
        )
        for k, row in enumerate(board.rows)
    ]
    return AxisWeights(
        measure=measure,
        axes=axes,
        n_weightings=N_WEIGHTINGS,
        systems=tuple(sorted(rows, key=lambda row: (row.even, row.system))),
    )
