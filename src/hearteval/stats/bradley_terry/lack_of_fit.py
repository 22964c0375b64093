"""Is what one strength per system leaves unexplained more than chance? Items are the clusters.

A pair's residual is what its lower system won less what the fit expects, in points. Fitting makes
residuals smaller than chance alone would, and votes on one item depend on each other; both are in
the influence of each item on the residuals: its own residuals less the part that the strengths take
up. If the fit is true these influences are independent with mean 0, whatever the votes within an
item do to each other, and their sum is the residuals.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hearteval.stats import one_blas_thread
from hearteval.stats.bradley_terry.fit import centred_inverse
from hearteval.stats.bradley_terry.ties import (
    DavidsonFit,
    TiedFit,
    davidson_scores,
    invert_information,
    pair_probabilities,
)
from hearteval.stats.comparisons import (
    TIE_SCORE,
    Comparisons,
    FloatArray,
    IntArray,
    number_labels,
    order_pairs,
    sum_scores,
)
from hearteval.stats.means import false_discovery_q
from hearteval.stats.special import chdtrc, stdtr
from hearteval.stats.tally import MAX_CELLS

MAX_GROUPS = 512
"""Above this number of items, items are taken together in so many groups."""
MAX_PAIRS = 2_000
"""Pairs of systems up to which residuals are tested (63 systems if all met)."""

N_TERMS = 8
"""Of the series that undoes an item's pull on the strengths; it stops short of items alone on
something, where the whole series has no limit."""
MIN_FREE = 1e-9
"""Share below which the strengths meet a pair exactly, whatever was observed."""
MIN_GAP_SE = 1e-13
"""Standard error of a share below which it is rounding: items then say the same."""
N_FLIPS = 400
"""Draws of signs for the largest gap; its mean is then known to about 1 % of itself."""
MAX_DF = 1e9
"""Degrees of freedom beyond which chi-square is normal."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairResiduals:
    """What the fit leaves of each pair of systems that met, and how items move it."""

    left: IntArray
    """Lower system of each pair, in the order of their indices."""
    right: IntArray
    n_systems: int
    n: FloatArray
    """Comparisons, by weight."""
    n_items: IntArray
    """Items, or votes where each is one."""
    residual: FloatArray
    """Points of `left` less those expected."""
    spread: FloatArray
    """Variance of the residual if votes were independent and the fit true."""
    free: FloatArray
    """Share of the spread that the strengths do not take up."""
    influence: FloatArray
    """Influence of items on the residuals, (items or groups of them, pairs); above `MAX_PAIRS`
    without rows. A row of m equal votes is the influence of one times the root of m."""
    n_alike: FloatArray
    """How many equal votes a row stands for; 1 for an item."""

    @property
    def vary(self) -> bool:
        """Whether items move any residual by more than rounding."""
        squares = (self.influence**2).sum(axis=0)
        return bool((squares > (MIN_GAP_SE * self.n) ** 2).any())


def find_residuals(tied: TiedFit, *, has_items: bool = True) -> PairResiduals:
    """Return the residuals of a fit without a prior; without items every vote is one.

    An item's influence is (1 - H) (1 - H_g)^(-1/2) r, r its own residuals, H = V A I^+ A' what the
    strengths take up of residuals and H_g what they take up of its own, with A the pairs' contrasts
    of strengths, V spreads and I the information. The root undoes that an item pulls the strengths
    towards itself (Bell and McCaffrey 2002).
    """
    comparisons, n = tied.comparisons, tied.comparisons.n_systems
    low, high, score = order_pairs(comparisons)
    pair, n_pairs = number_labels(low * n + high)
    left, right = np.divmod(np.flatnonzero(np.bincount(low * n + high)), n)
    weight = comparisons.total_weight
    points = weight * (score - tied.expected_points[low, high])
    total = sum_scores(pair, weight, n_pairs)
    slope, slope_of_ties = _slopes(tied, left, right)
    found = PairResiduals(
        left=left,
        right=right,
        n_systems=n,
        n=total,
        n_items=_count_items(comparisons, pair, n_pairs, has_items=has_items),
        residual=sum_scores(pair, points, n_pairs),
        spread=total * slope,
        free=np.ones(n_pairs),
        influence=np.zeros((0, n_pairs)),
        n_alike=np.zeros(0),
    )
    if n_pairs > MAX_PAIRS:
        return found
    group, n_alike = _group(comparisons, pair, has_items=has_items)
    cells, shape = group * n_pairs + pair, (len(n_alike), n_pairs)
    own, held = (
        sum_scores(cells, values, math.prod(shape)).reshape(shape) for values in (points, weight)
    )
    with one_blas_thread():
        contrasts = np.eye(n)[left] - np.eye(n)[right]
        moving = contrasts @ centred_inverse(tied.fit.information[:n, :n])
        own = _undo_pull(own, held * slope / n_alike[:, None], contrasts, moving)
        taken = own @ contrasts @ moving.T * slope
        if isinstance(tied.fit, DavidsonFit):
            scores = davidson_scores(comparisons, tied.fit, group)
            scores[:, :n] = own @ contrasts
            moved = scores @ invert_information(tied.fit)
            taken = moved[:, :n] @ contrasts.T * slope + moved[:, [n]] * slope_of_ties
    return replace(
        found,
        free=1 - found.spread * np.einsum("ks,ks->k", moving, contrasts),
        influence=(own - total * taken) / np.sqrt(n_alike)[:, None],
        n_alike=n_alike,
    )


def _undo_pull(
    own: FloatArray, held: FloatArray, contrasts: FloatArray, moving: FloatArray
) -> FloatArray:
    """Multiply each item's residuals by (1 - H_g)^(-1/2) = 1 + H_g / 2 + 3 H_g^2 / 8 + ..."""
    term, total, factor = own, own.copy(), 1.0
    for k in range(1, N_TERMS):
        term = held * (term @ contrasts @ moving.T)
        factor *= (2 * k - 1) / (2 * k)
        total += factor * term
    return total


def _slopes(tied: TiedFit, left: IntArray, right: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the derivatives of expected points by theta_left - theta_right and by log nu."""
    fit = tied.fit
    # As products of chances, so that those near 1 lose nothing to rounding.
    if not isinstance(fit, DavidsonFit):
        expected = tied.expected_points
        return expected[left, right] * expected[right, left], np.zeros(len(left))
    difference = fit.theta[left] - fit.theta[right]
    win, tie = pair_probabilities(difference, fit.tie)
    loss, _ = pair_probabilities(-difference, fit.tie)
    return win * loss + tie * (1 - tie) / 4, tie * (loss - win) / 2


def _group(
    comparisons: Comparisons, pair: IntArray, *, has_items: bool
) -> tuple[IntArray, FloatArray]:
    """Number the items of the rows, or the kinds of equal votes; also say how many are alike."""
    if has_items:
        item, n_items = number_labels(comparisons.item)
        n_groups = min(n_items, MAX_GROUPS)
        return item % n_groups, np.ones(n_groups)
    _, _, score = order_pairs(comparisons)
    weights, weight = np.unique(comparisons.weight, return_inverse=True)
    points = (2 * score).astype(np.int64)
    kind, n_kinds = number_labels((pair * 3 + points) * len(weights) + weight)
    n_alike = np.bincount(kind, weights=comparisons.count, minlength=n_kinds)
    return kind, n_alike.astype(np.float64)


def _count_items(
    comparisons: Comparisons, pair: IntArray, n_pairs: int, *, has_items: bool
) -> IntArray:
    if not has_items:
        return np.bincount(pair, weights=comparisons.count, minlength=n_pairs).astype(np.int64)
    item, n_items = number_labels(comparisons.item)
    cells = pair * n_items + item
    is_small = n_pairs * n_items <= MAX_CELLS
    met = np.flatnonzero(np.bincount(cells)) if is_small else np.unique(cells)
    return np.bincount(met // n_items, minlength=n_pairs)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairTests:
    """How far each pair departs from what the fit expects, against chance."""

    z: FloatArray
    """Residual over its standard error; NaN where it has none."""
    p: FloatArray
    """Two-sided p-value of t with the pair's items - 1 degrees of freedom; NaN likewise."""
    q: FloatArray
    """The same, adjusted over the pairs that have one (Benjamini and Hochberg 1995)."""


def assess_pairs(residuals: PairResiduals) -> PairTests:
    """Test each pair of systems.

    The variance is that over the pair's items, yet no less than if its votes depended on each other
    as those of all pairs do on average (Rao and Scott 1981): where nearly all votes agree, the rare
    others may be missing, and the pair's own variance then says nothing.
    """
    own = (residuals.influence**2).sum(axis=0)
    if_independent = residuals.spread * residuals.free
    is_free = (residuals.spread > 0) & (residuals.free > MIN_FREE)
    has_test = is_free & (residuals.n_items > 1) & residuals.vary
    z, p, q = (np.full(len(own), np.nan) for _ in range(3))
    if has_test.any():
        design_effect = own[has_test].sum() / if_independent[has_test].sum()
        variance = np.maximum(own, design_effect * if_independent)[has_test]
        z[has_test] = residuals.residual[has_test] / np.sqrt(variance)
        p[has_test] = 2 * stdtr(residuals.n_items[has_test] - 1, -np.abs(z[has_test]))
        q[has_test] = false_discovery_q(p[has_test])
    return PairTests(z=z, p=p, q=q)


class GapsByChance(NamedTuple):
    """Gaps between observed and expected shares that are expected if the fit is true."""

    root_mean_square: float
    """Over pairs, by their comparisons."""
    largest: float


def expect_gaps(residuals: PairResiduals, rng: np.random.Generator) -> GapsByChance:
    """Return the gaps that items alone make, on average: those of influences with random signs."""
    influence, n, alike = residuals.influence, residuals.n, residuals.n_alike
    n_up = rng.binomial(alike.astype(np.int64), 0.5, (N_FLIPS, len(alike)))
    with one_blas_thread():
        gaps = np.abs(((2 * n_up - alike) / np.sqrt(alike)) @ influence) / n
    return GapsByChance(
        root_mean_square=float(np.sqrt(gaps**2 @ n / n.sum()).mean()),
        largest=float(gaps.max(axis=1).mean()),
    )


class LackOfFitTest(NamedTuple):
    """A test of all pairs at once; large where they depart from the fit by more than chance."""

    statistic: float
    df: float
    """Of chi-square; effective, so in general not whole."""
    p: float


def find_lack_of_fit(residuals: PairResiduals) -> LackOfFitTest | None:
    """Compare Q, the sum over pairs of residual^2 / spread, with its values if signs were random.

    Under the fit the influence of every item is as likely as its negative, to first order, so Q is
    compared with the Q of influences with random signs (Hemerik, Goeman and Finos 2020), whatever
    the votes on an item do to each other and however many pairs there are. Of that distribution the
    first three moments are known without a draw; it is taken as chi-square, scaled and shifted to
    have them (Pearson's type III, as Kazi-Aoual and others 1995 do for permutations). Of
    independent votes it is Pearson's test (Bradley 1954). None where items say the same.
    """
    if not residuals.vary:
        return None
    is_free = residuals.spread > 0
    scaled = residuals.influence[:, is_free] / np.sqrt(residuals.spread[is_free])
    alike = residuals.n_alike
    with one_blas_thread():
        if len(scaled) < scaled.shape[1]:
            product = scaled @ scaled.T
            square = product @ product
            on_square = np.diag(square)
        else:
            product = scaled.T @ scaled
            square = product @ product
            on_square = np.einsum("gk,gk->g", scaled @ product, scaled)
    own = (scaled**2).sum(axis=1)
    # An item meets itself with sign +1 always, so only the products of different ones vary.
    variance = 2 * ((product**2).sum() - (own**2 / alike).sum())
    third = (square * product).sum() - 3 * (own * on_square / alike).sum()
    third = 8 * (third + 2 * (own**3 / alike**2).sum())
    above = (residuals.residual[is_free] ** 2 / residuals.spread[is_free]).sum() - own.sum()
    if variance <= 0:
        return None
    cube = 8 * variance**3
    df = cube / max(max(third, 0.0) ** 2, cube / MAX_DF)
    statistic = max(0.0, df + above * math.sqrt(2 * df / variance))
    return LackOfFitTest(statistic=float(statistic), df=float(df), p=float(chdtrc(df, statistic)))


def find_imbalance(comparisons: Comparisons, i: int, j: int, *, has_items: bool) -> float:
    """Return the two-sided p-value that systems i and j won equally often of each other.

    The t test of the sums of score - 1/2 by item, their variance about 0, as in `assess_pairs`.
    """
    low, high, score = order_pairs(comparisons)
    is_met = (low == min(i, j)) & (high == max(i, j))
    weight, count = comparisons.weight[is_met], comparisons.count[is_met]
    points = weight * (score[is_met] - TIE_SCORE)
    if has_items:
        item, n = number_labels(comparisons.item[is_met])
        points = sum_scores(item, points * count, n)
        squares = float((np.sort(points) ** 2).sum())
    else:
        n, squares = int(count.sum()), float(np.sort(count * points**2).sum())
        points = points * count
    if n < 2 or squares == 0:
        return 1.0
    total = float(sum_scores(np.zeros(len(points), np.int64), points, 1)[0])
    return float(2 * stdtr(n - 1, -abs(total) / math.sqrt(squares)))
