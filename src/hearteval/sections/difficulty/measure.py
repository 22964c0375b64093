"""On which items do systems differ most and least, and which agree with the ranking?

What a system won on an item is compared with what the ranking expects of it against those it met
there: r = d_i - d_j + e for each pair, d the effect of a system's reply to an item and e that of
one pair of them. Products of a system's departures on one item give var d, squares give the rest
(moments; Searle, Casella and McCulloch 1992). With them the shares that systems win on an item are
put on one footing, the variance that e alone makes is taken off the variance of these shares, and
what is left is shrunken towards the mean item, by how uncertain it is beside how much items differ
(empirical Bayes; Morris 1983): an item has few judgments.

Comparisons tell where systems differ, never how hard an item is for all of them. Exploratory.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from hearteval.analysis.estimates import EXPLORATORY
from hearteval.analysis.ranking.cells import Cells
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.fit import (
    BradleyTerryFit,
    centred_inverse,
    fit_win_matrix,
    win_probabilities,
)
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
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
        best: The system most likely to win most on it: its share there, shrunken towards what the
            ranking expects.
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
        shrinkage: Mean share that is kept of what sets the variance on an item apart, 0 to 1.
        expected_spread: Spread of an item on which every system does as the ranking expects.
        mean_discrimination: Over the items that have one; None without.
    """

    items: tuple[ItemSpread, ...]
    sd_of_items: float
    shrinkage: float
    expected_spread: float
    mean_discrimination: float | None
    status: str = EXPLORATORY

    @property
    def tells_items_apart(self) -> bool:
        """Whether items differ in spread by more than chance; else their order means nothing."""
        return self.shrinkage > 0


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
    by_item = (len(cells.items), len(theta))
    met, n = met.reshape(by_item), n.reshape(by_item)
    mean = total.reshape(by_item) / n
    kept = of_items / np.maximum(of_items + (of_items + of_pairs) / n, ROUNDING)
    likely, raw, elsewhere = share + kept * mean, share + mean, _elsewhere(cells, fit)
    # What an error of a pair gives to one of its systems it takes from the other.
    of_both = np.bincount(item, 1 / (n[item, low] * n[item, high])).astype(np.float64)
    spread, shrinkage = _spreads(raw[judged], met[judged], of_both[judged], (of_items, of_pairs))
    n_judgments = np.bincount(cells.item, weights=cells.n, minlength=len(cells.items))
    rows = [
        _row(cells, k, met[k], (likely[k], raw[k], elsewhere[k]), float(own), round(n_judgments[k]))
        for k, own in zip(judged.tolist(), spread, strict=True)
    ]
    known = [row.discrimination for row in rows if row.discrimination is not None]
    return ItemDifficulty(
        items=tuple(sorted(rows, key=lambda row: (-row.spread, row.item_id))),
        sd_of_items=math.sqrt(of_items),
        shrinkage=shrinkage,
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


def _spreads(
    raw: FloatArray, met: IntArray, of_both: FloatArray, variances: tuple[float, float]
) -> tuple[FloatArray, float]:
    """Return the spread of each item, and the mean share of what sets it apart that is kept.

    Args:
        raw: Share won, (items, systems).
        met: Pairs of each system on each item.
        of_both: Sum over the pairs of an item of 1 / (n_i n_j), n the pairs of either system.
        variances: Of what a system's text adds, and of one pair.
    """
    (of_items, of_pairs), stands = variances, met > 0
    n_systems = stands.sum(axis=1)
    counts = np.maximum(met, 1)
    # Where not all were met, which ones were met is chance too.
    missed = 1 - counts / np.maximum(n_systems - 1, 1)[:, None]
    noise = _mean((of_pairs + of_items * np.maximum(missed, 0)) / counts, stands)
    noise += of_pairs * 2 * of_both / np.maximum(n_systems * (n_systems - 1), 1)
    found = _mean((raw - _mean(raw, stands)[:, None]) ** 2, stands)
    found *= n_systems / np.maximum(n_systems - 1, 1)
    variance = found - noise
    average = max(float(variance.mean()), 0.0)
    uncertain = (4 * average * noise + 2 * noise**2) / np.maximum(n_systems - 1, 1)
    differs = max(float(variance.var(ddof=1) - uncertain.mean()), 0.0)
    kept = differs / np.maximum(differs + uncertain, ROUNDING)
    shrunken = average + kept * (variance - average)
    return np.sqrt(np.maximum(shrunken, 0.0)), float(kept.mean())


def _mean(values: FloatArray, stands: BoolArray) -> FloatArray:
    """Return the mean of each row over the systems that stand in it."""
    return np.asarray(np.where(stands, values, 0.0).sum(axis=1) / stands.sum(axis=1))


def _row(
    cells: Cells,
    item: int,
    met: IntArray,
    values: tuple[FloatArray, FloatArray, FloatArray],
    spread: float,
    n_judgments: int,
) -> ItemSpread:
    """Return a row from likely shares, raw shares and strengths by all other items."""
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
        spread=spread,
        discrimination=_correlation(raw, elsewhere),
        best=cells.systems[places[own.argmax()]],
        worst=cells.systems[places[own.argmin()]],
    )


def _correlation(one: FloatArray, other: FloatArray) -> float | None:
    if len(one) < MIN_SYSTEMS or min(np.ptp(one), np.ptp(other)) <= ROUNDING:
        return None
    return float(np.corrcoef(one, other)[0, 1])
