"""How much of what the others see one rater's answers carry, net of how hard each pair is.

What the others say of a pair predicts what one rater says of it: with p the predicted score of one
side, y the rater's, the slope of y on p is 1 for whoever sees what the others see, 0 for whoever
tosses coins, whatever answers they like and however clear the pairs are, and below 0 for whoever
says the opposite. p is the share of the others' votes, drawn towards what the strengths of both
systems by the others' votes predict (Bradley and Terry 1952) as far as that foretells votes best.

The reference is robust: a rater's own votes never enter it, slopes are told as shares of the median
slope of the others, and whoever is found to carry little leaves the reference, the worst first,
before all are measured again.

Infit is the other side of it: squared departures from p over those that p leads to (Wright and
Masters 1982; Linacre 2002), as a share of the median of the others.
"""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from hearteval.stats.bradley_terry.fit import add_prior, fit_win_matrix, win_probabilities
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.means import ROUNDING, false_discovery_q
from hearteval.stats.special import ndtr, ndtri

PRIOR: Final = 1.0
"""Half-won comparisons of every two systems, so that few votes give strengths too."""
HELD: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, math.inf)
"""Votes that a prediction from the strengths may be worth; the best for all is taken."""
MEDIAN_SE: Final = 1.2533
"""Standard error of a median of normal values, in those of their mean."""
FEWEST_RATERS: Final = 4
"""Of a reference, so that its median is not one rater's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedBounds:
    """From when a rater's answers carry little."""

    least: float = 0.5
    """Share of the median of the others."""
    q: float = 0.05
    """Of the test that it is not below that, over all raters (Benjamini and Hochberg 1995)."""
    fewest_pairs: int = 20
    """Of a rater, that others judged too; with fewer nothing is said of them."""
    fewest_items: int = 10
    """That these pairs are of."""


DEFAULT_BOUNDS: Final = CarriedBounds()


class Relative(NamedTuple):
    """A figure of one rater as a share of the median of the others, with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What one rater's answers carry."""

    rater: int
    n_pairs: int
    """That others judged too."""
    n_items: int
    share: Relative
    """Slope: 1 as most others, 0 as coins, below 0 the opposite."""
    p: float
    """One-sided, that it is no less than the least."""
    q: float
    infit: Relative
    """1 as most others; more, the less the answers follow what the others lead to expect."""
    is_little: bool


def measure_carried(
    score: FloatArray,
    item: IntArray,
    systems: IntArray,
    *,
    level: float,
    bounds: CarriedBounds = DEFAULT_BOUNDS,
) -> list[Carried]:
    """Measure each rater against the others; empty where too few of them have enough pairs.

    Args:
        score: Of one side of each pair by each rater: 1, 0.5 for a tie, 0, or NaN for no vote;
            (pairs, raters).
        item: Item of each pair; intervals and tests are over items.
        systems: Of both sides of each pair, (pairs, 2).
        level: Nominal coverage of intervals.
        bounds: From when a rater's answers carry little, and of whom nothing is said.
    """
    votes = _Votes.of(score, item, systems)
    is_kept: BoolArray = np.asarray(votes.is_there.any(axis=0))
    while True:
        found = _measure(votes, is_kept, bounds, level=level)
        worst = [one for one in found if one.is_little and is_kept[one.rater]]
        if not worst or is_kept.sum() <= FEWEST_RATERS + 1:
            return found
        is_kept[min(worst, key=lambda one: one.share.value).rater] = False


class _Votes(NamedTuple):
    score: FloatArray
    """0 where there is none."""
    is_there: BoolArray
    item: IntArray
    systems: IntArray
    wins: FloatArray
    """Of each rater, (raters, systems, systems)."""

    @classmethod
    def of(cls, score: FloatArray, item: IntArray, systems: IntArray) -> "_Votes":
        is_there = ~np.isnan(score)
        given = np.where(is_there, score, 0.0)
        _, place = np.unique(systems, return_inverse=True)
        place = place.reshape(systems.shape)
        n = int(place.max(initial=0)) + 1
        wins = np.zeros((score.shape[1], n, n))
        pair, rater = np.nonzero(is_there)
        one, other = place[pair, 0], place[pair, 1]
        np.add.at(wins, (rater, one, other), given[pair, rater])
        np.add.at(wins, (rater, other, one), 1 - given[pair, rater])
        return cls(given, is_there, item, place, wins)


class _Own(NamedTuple):
    """One rater's votes on pairs that others in the reference judged, beside these."""

    rater: int
    y: FloatArray
    item: IntArray
    expected: FloatArray
    """By the strengths of the systems."""
    others: FloatArray
    """Sum of the scores that others give."""
    n_others: FloatArray

    def predicted(self, held: float) -> FloatArray:
        if math.isinf(held):
            return self.expected
        return np.asarray((held * self.expected + self.others) / (held + self.n_others))


class _Measured(NamedTuple):
    """A slope and an infit, with their standard errors over items."""

    own: _Own
    n_items: int
    slope: float
    slope_se: float
    infit: float
    infit_se: float


def _measure(
    votes: _Votes, is_kept: BoolArray, bounds: CarriedBounds, *, level: float
) -> list[Carried]:
    who = np.flatnonzero(votes.is_there.any(axis=0)).tolist()
    every = [_own(votes, rater, is_kept) for rater in who]
    known = [
        one
        for one in every
        if len(one.y) >= bounds.fewest_pairs and len(np.unique(one.item)) >= bounds.fewest_items
    ]
    trusted = [one for one in known if is_kept[one.rater]]
    if len(trusted) <= FEWEST_RATERS:
        return []
    held = min(HELD, key=lambda h: sum(float(((o.y - o.predicted(h)) ** 2).sum()) for o in trusted))
    measured = [_measured(one, one.predicted(held)) for one in known]
    return _beside_others(measured, is_kept, bounds, level=level)


def _own(votes: _Votes, rater: int, is_kept: BoolArray) -> _Own:
    in_reference = is_kept.copy()
    in_reference[rater] = False
    counted = votes.is_there & in_reference
    n_others = counted.sum(axis=1)
    rows = votes.is_there[:, rater] & (n_others > 0)
    wins = add_prior(votes.wins[in_reference].sum(axis=0), PRIOR)
    if len(wins) > 1:
        chance = win_probabilities(fit_win_matrix(wins).theta)
        expected = chance[votes.systems[rows, 0], votes.systems[rows, 1]]
    else:
        expected = np.full(int(rows.sum()), 0.5)
    return _Own(
        rater=rater,
        y=votes.score[rows, rater],
        item=votes.item[rows],
        expected=expected,
        others=np.where(counted[rows], votes.score[rows], 0.0).sum(axis=1),
        n_others=n_others[rows].astype(np.float64),
    )


def _measured(own: _Own, predicted: FloatArray) -> _Measured:
    x, y = predicted - predicted.mean(), own.y - own.y.mean()
    squares = max(float(x @ x), ROUNDING)
    slope = float(x @ y) / squares
    infit, expected = (own.y - predicted) ** 2, predicted * (1 - predicted)
    mean_square = float(infit.sum() / expected.sum())
    of_slope = x * (y - slope * x) / squares
    of_infit = (infit - mean_square * expected) / float(expected.sum())
    return _Measured(
        own,
        len(np.unique(own.item)),
        slope,
        _over_items(of_slope, own.item),
        mean_square,
        _over_items(of_infit, own.item),
    )


def _over_items(influence: FloatArray, item: IntArray) -> float:
    """Return the standard error over items, G / (G - 1) sum d^2 (Liang and Zeger 1986)."""
    _, place = np.unique(item, return_inverse=True)
    sums = np.bincount(place, influence)
    return math.sqrt(len(sums) / (len(sums) - 1) * float((sums**2).sum()))


def _beside_others(
    measured: list[_Measured], is_kept: BoolArray, bounds: CarriedBounds, *, level: float
) -> list[Carried]:
    is_in = np.array([bool(is_kept[one.own.rater]) for one in measured])
    slopes, infits = (np.array([getattr(one, of) for one in measured]) for of in ("slope", "infit"))
    rows, p_values = [], []
    for k, one in enumerate(measured):
        others = is_in & (np.arange(len(measured)) != k)
        share, p = _relative(one.slope, one.slope_se, slopes[others], bounds.least, level=level)
        infit, _ = _relative(one.infit, one.infit_se, infits[others], 1.0, level=level)
        rows.append((one, share, infit))
        p_values.append(p)
    q_values = false_discovery_q(p_values).tolist()
    return [
        Carried(
            rater=one.own.rater,
            n_pairs=len(one.own.y),
            n_items=one.n_items,
            share=share,
            p=p,
            q=q,
            infit=infit,
            is_little=q <= bounds.q,
        )
        for (one, share, infit), p, q in zip(rows, p_values, q_values, strict=True)
    ]


def _relative(
    value: float, se: float, others: FloatArray, least: float, *, level: float
) -> tuple[Relative, float]:
    """Return a value as a share of the others' median, and the p that it is not below a share.

    Where the median is not above 0 the others agree with nobody: nothing is below that.
    """
    middle = float(np.median(others))
    if middle <= ROUNDING:
        return Relative(math.nan, math.nan, math.nan), 1.0
    of_middle = MEDIAN_SE * float(others.std(ddof=1)) / math.sqrt(len(others))
    share = value / middle
    error = math.hypot(se, share * of_middle) / middle
    margin = float(ndtri((1 + level) / 2)) * error
    test = math.hypot(se, least * of_middle)
    p = float(ndtr((value - least * middle) / test)) if test > ROUNDING else 1.0
    return Relative(share, share - margin, share + margin), p
