"""Is what one strength per system leaves unexplained more than chance? Items are the clusters.

A pair's residual is what its lower system won less what the fit expects, in points. Fitting makes
residuals smaller than chance alone would, and votes on one item depend on each other; both are in
the influence of each item on the residuals: its own residuals less the part that the strengths take
up. If the fit is true these influences are independent with mean 0, whatever the votes within an
item do to each other, and their sum is the residuals.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, stdtr

from hearteval.stats import one_blas_thread
from hearteval.stats.bradley_terry.fit import fix_gauge
from hearteval.stats.bradley_terry.ties import (
    DavidsonFit,
    TiedFit,
    davidson_scores,
    pair_probabilities,
)
from hearteval.stats.comparisons import (
    Comparisons,
    FloatArray,
    IntArray,
    number_labels,
    order_pairs,
    sum_scores,
)
from hearteval.stats.means import false_discovery_q
from hearteval.stats.tally import MAX_CELLS

MAX_GROUPS = 512
"""Above this number of items, items are taken together in so many groups."""
MAX_PAIRS = 2_000
"""Pairs of systems up to which residuals are tested (63 systems if all met)."""

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
    influence: FloatArray
    """Influence of items on the residuals, (items or groups of them, pairs); above `MAX_PAIRS`
    without rows. A row of m equal votes is the influence of one times the root of m."""
    n_alike: FloatArray
    """How many equal votes a row stands for; 1 for an item."""


def find_residuals(tied: TiedFit, *, has_items: bool = True) -> PairResiduals:
    """Return the residuals of a fit without a prior; without items every vote is one.

    An item's influence is r - V A I^+ A' r, r its own residuals, A the pairs' contrasts of the
    parameters, V A how expected points move with them and I the information: how residuals move
    with the item in a refit, to first order.
    """
    comparisons, n = tied.comparisons, tied.comparisons.n_systems
    low, high, score = order_pairs(comparisons)
    pair, n_pairs = number_labels(low * n + high)
    left, right = np.divmod(np.flatnonzero(np.bincount(low * n + high)), n)
    weight = comparisons.total_weight
    points = weight * (score - tied.expected_points[low, high])
    total = sum_scores(pair, weight, n_pairs)
    spread, with_ties = _slopes(tied, left, right)
    influence, n_alike = np.zeros((0, n_pairs)), np.zeros(0)
    if n_pairs <= MAX_PAIRS:
        group, n_alike = _group(comparisons, pair, has_items=has_items)
        n_groups = len(n_alike)
        own = sum_scores(group * n_pairs + pair, points, n_groups * n_pairs)
        moved = _influence(tied, group)
        taken = spread * (moved[:, left] - moved[:, right])
        if with_ties is not None:
            taken += with_ties * moved[:, [n]]
        influence = own.reshape(n_groups, n_pairs) - total * taken
        influence /= np.sqrt(n_alike)[:, None]
    return PairResiduals(
        left=left,
        right=right,
        n_systems=n,
        n=total,
        n_items=_count_items(comparisons, pair, n_pairs, has_items=has_items),
        residual=sum_scores(pair, points, n_pairs),
        spread=total * spread,
        influence=influence,
        n_alike=n_alike,
    )


def _slopes(tied: TiedFit, left: IntArray, right: IntArray) -> tuple[FloatArray, FloatArray | None]:
    """Return the derivatives of expected points by theta_left - theta_right and by log nu."""
    fit = tied.fit
    expected = tied.expected_points[left, right]
    if not isinstance(fit, DavidsonFit):
        return expected * (1 - expected), None
    win, tie = pair_probabilities(fit.theta[left] - fit.theta[right], fit.tie)
    return win + tie / 4 - expected**2, tie / 2 - expected * tie


def _influence(tied: TiedFit, group: IntArray) -> FloatArray:
    """Return the influence of groups of rows on the parameters, log nu last."""
    fit = tied.fit
    if not isinstance(fit, DavidsonFit):
        return tied.influence_of(group)
    information = fix_gauge(fit.information, slice(0, len(fit.theta)))
    if fit.tie == 0:
        information[-1, -1] = 1.0
    return davidson_scores(tied.comparisons, fit, group) @ np.linalg.inv(information)


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
    """Test each pair of systems."""
    variance = (residuals.influence**2).sum(axis=0)
    has_test = (variance > 0) & (residuals.n_items > 1)
    z = np.where(has_test, residuals.residual / np.sqrt(np.where(has_test, variance, 1)), np.nan)
    p = np.where(has_test, 2 * stdtr(np.maximum(residuals.n_items - 1, 1), -np.abs(z)), np.nan)
    q = np.full(len(p), np.nan)
    if has_test.any():
        q[has_test] = false_discovery_q(p[has_test])
    return PairTests(z=z, p=p, q=q)


class GapsByChance(NamedTuple):
    """Gaps between observed and expected shares that are expected if the fit is true."""

    root_mean_square: float
    """Over pairs, by their comparisons."""
    largest: float


def expect_gaps(residuals: PairResiduals, rng: np.random.Generator) -> GapsByChance:
    """Return the gaps that items alone make: those of residuals whose items have random signs."""
    influence, n = residuals.influence, residuals.n
    variance = (influence**2).sum(axis=0)
    half = rng.binomial(residuals.n_alike.astype(np.int64), 0.5, (N_FLIPS, len(influence)))
    signs = (2 * half - residuals.n_alike) / np.sqrt(residuals.n_alike)
    with one_blas_thread():
        gaps = np.abs(signs @ influence) / n
    return GapsByChance(
        root_mean_square=float(np.sqrt((variance / n).sum() / n.sum())),
        largest=float(gaps.max(axis=1).mean()),
    )


class LackOfFitTest(NamedTuple):
    """A test of all pairs at once; large where they depart from the fit by more than chance."""

    statistic: float
    df: float
    """Of chi-square; effective, so in general not whole."""
    p: float


def find_lack_of_fit(residuals: PairResiduals) -> LackOfFitTest:
    """Compare Q, the sum over pairs of residual^2 / spread, with its values if signs were random.

    Under the fit the influence of every item is as likely as its negative, to first order, so Q is
    compared with the Q of influences with random signs (Hemerik, Goeman and Finos 2020), whatever
    the votes on an item do to each other and however many pairs there are. Of that distribution the
    first three moments are known without a draw; it is taken as chi-square, scaled and shifted to
    have them (Pearson's type III, as Kazi-Aoual and others 1995 do for permutations). Of
    independent votes it is Pearson's test (Bradley 1954).
    """
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
    df = min(MAX_DF, 8 * variance**3 / max(third, 1e-300) ** 2)
    statistic = max(0.0, df + above * np.sqrt(2 * df / variance))
    return LackOfFitTest(statistic=float(statistic), df=float(df), p=float(chdtrc(df, statistic)))
