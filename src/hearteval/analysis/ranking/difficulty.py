"""On which items do systems differ most and least, and which agree with the ranking?

What a system won on an item is compared with what the ranking expects of it against those it met
there. An item has few judgments, so what departs is shrunk by how much of it lasts from opponent to
opponent: with d the effect of a system on an item and e that of one pair of it, r = d_i - d_j + e.
Products of a system's departures on one item give var d, squares give the rest (moments; Searle,
Casella and McCulloch 1992), and the mean of n departures counts
var d / (var d + (var d + var e) / n) of what it is: the best linear prediction.

Comparisons tell where systems differ, never how hard an item is for all of them. Exploratory.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from hearteval.analysis.ranking.cells import Cells
from hearteval.analysis.ranking.strata import EXPLORATORY
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.fit import (
    BradleyTerryFit,
    centred_inverse,
    fit_win_matrix,
    win_probabilities,
)
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.means import ROUNDING

MIN_ITEMS: Final = 5
MIN_SYSTEMS: Final = 3
"""On an item: two always agree with the ranking or contradict it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSpread:
    """One item, and how far apart the systems are on it.

    Attributes:
        n_pairs: Pairs of systems compared on it.
        spread: Standard deviation over its systems of the share each would win against all others,
            shrunken.
        discrimination: Correlation of what its systems won with their strengths by all other items;
            not shrunken, so that it is low by chance where judgments are few. None under three
            systems, and where all won the same.
        best: The system with the largest shrunken share.
    """

    item_id: str
    subset: str
    emotion: str
    problem: str
    n_systems: int
    n_pairs: int
    n_judgments: int
    spread: float
    discrimination: float | None
    best: str
    worst: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDifficulty:
    """The most and the least demanding items.

    Attributes:
        items: By spread, largest first.
        sd_of_items: Standard deviation of what an item adds to the share a system wins: 0 where
            systems win as much on every item, but for chance.
        shrinkage: Mean share of a departure that is kept, 0 to 1.
        expected_spread: Spread of an item on which every system does as the ranking expects.
        mean_discrimination: Over the items that have one; None without.
    """

    items: tuple[ItemSpread, ...]
    sd_of_items: float
    shrinkage: float
    expected_spread: float
    mean_discrimination: float | None
    status: str = EXPLORATORY


def measure_difficulty(cells: Cells) -> ItemDifficulty | None:
    """Return how far apart systems are on every item; None under five items, or three systems.

    Args:
        cells: The judgments among the systems of the ranking, which they determine.
    """
    judged = np.flatnonzero(cells.n_met.any(axis=1))
    if len(judged) < MIN_ITEMS or len(cells.systems) < MIN_SYSTEMS:
        return None
    try:
        fit = fit_win_matrix(cells.points())
    except NotIdentifiedError:  # pragma: no cover - the ranking that was made says otherwise
        return None
    theta = fit.theta
    expected = win_probabilities(theta)
    share = (expected.sum(axis=1) - 0.5) / (len(theta) - 1)
    item, low, high, departs = _departures(cells, expected)
    ends = np.concatenate((item, item)) * len(theta) + np.concatenate((low, high))
    size = len(cells.items) * len(theta)
    met = np.bincount(ends, minlength=size)
    signed = np.concatenate((departs, -departs))
    total: FloatArray = np.bincount(ends, weights=signed, minlength=size).astype(np.float64)
    of_items, of_pairs = _components(departs, met, total)
    n = np.maximum(met, 1)
    kept = of_items / np.maximum(of_items + (of_items + of_pairs) / n, ROUNDING)
    by_item = (len(cells.items), len(theta))
    shrunken = share + (kept * total / n).reshape(by_item)
    raw = share + (total / n).reshape(by_item)
    met, elsewhere = met.reshape(by_item), _elsewhere(cells, fit)
    n_judgments = np.bincount(cells.item, weights=cells.n, minlength=len(cells.items))
    rows = [
        _row(cells, k, met[k], round(n_judgments[k]), (shrunken[k], raw[k], elsewhere[k]))
        for k in judged.tolist()
    ]
    known = [row.discrimination for row in rows if row.discrimination is not None]
    return ItemDifficulty(
        items=tuple(sorted(rows, key=lambda row: (-row.spread, row.item_id))),
        sd_of_items=math.sqrt(of_items),
        shrinkage=float(kept.reshape(by_item)[met > 0].mean()),
        expected_spread=float(share.std(ddof=1)),
        mean_discrimination=float(np.mean(known)) if known else None,
    )


def _departures(
    cells: Cells, expected: FloatArray
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Return item and systems of each pair, and by how much the share won departs."""
    m = len(expected)
    keys = (cells.item * m + cells.low) * m + cells.high
    found, row = np.unique(keys, return_inverse=True)
    won, weight = (np.bincount(row, weights=each) for each in (cells.won, cells.weight))
    low, high = found // m % m, found % m
    return found // (m * m), low, high, won / weight - expected[low, high]


def _components(departs: FloatArray, met: IntArray, total: FloatArray) -> tuple[float, float]:
    """Return the variance of what a system's text on an item adds, and that of one pair."""
    squares = float((departs**2).sum())
    products = float((total**2).sum()) - 2 * squares
    n_products = float((met * (met - 1)).sum())
    of_items = max(products / n_products, 0.0) if n_products else 0.0
    return of_items, max(squares / len(departs) - 2 * of_items, 0.0)


def _elsewhere(cells: Cells, fit: BradleyTerryFit) -> FloatArray:
    """Return the strengths without each item, to the first order, (items, systems)."""
    scores, item, _ = cells.scores(fit.theta)
    influence = np.zeros((len(cells.items), len(fit.theta)))
    np.add.at(influence, item, scores @ centred_inverse(fit.information))
    return np.asarray(fit.theta - influence)


def _row(
    cells: Cells,
    item: int,
    met: IntArray,
    n_judgments: int,
    values: tuple[FloatArray, FloatArray, FloatArray],
) -> ItemSpread:
    """Return a row from shrunken shares, raw shares and strengths by all other items."""
    places = np.flatnonzero(met)
    own, raw, elsewhere = (one[places] for one in values)
    about = cells.items[item]
    return ItemSpread(
        item_id=about.id,
        subset=about.subset,
        emotion=about.emotion,
        problem=about.problem,
        n_systems=len(places),
        n_pairs=int(met.sum()) // 2,
        n_judgments=n_judgments,
        spread=float(own.std(ddof=1)),
        discrimination=_correlation(raw, elsewhere),
        best=cells.systems[places[own.argmax()]],
        worst=cells.systems[places[own.argmin()]],
    )


def _correlation(one: FloatArray, other: FloatArray) -> float | None:
    if len(one) < MIN_SYSTEMS or min(np.ptp(one), np.ptp(other)) <= ROUNDING:
        return None
    return float(np.corrcoef(one, other)[0, 1])
