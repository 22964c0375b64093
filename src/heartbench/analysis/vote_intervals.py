"""Which interval a ranking of votes gets, and that interval (SPEC section 6).

The default is two-way with items and at least five raters, else item-sandwich. What cannot be had
falls back by name and with a warning; what was asked for and lacks its columns is an error.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from heartbench.analysis.rank_policy import IntervalName, RankPolicy
from heartbench.errors import SettingsError
from heartbench.stats.bootstrap import bootstrap_items
from heartbench.stats.clustered_variance import (
    ClusteredVariance,
    vary_over_items,
    vary_over_items_and_raters,
)
from heartbench.stats.comparisons import FloatArray, count_comparisons
from heartbench.stats.contrasts import MIN_SE
from heartbench.stats.intervals import Intervals, clustered, published
from heartbench.stats.tied_fit import TiedFit

MIN_RATERS: Final = 5
"""With 3 raters a two-way interval is +-108 Elo wide (SPEC section 6)."""
MAX_NOT_IDENTIFIED: Final = 0.01

NO_CLUSTER = (
    "Every vote counts as an item of its own, because no cluster column was named. If votes share"
    " items (prompts, dialogues), these intervals are too narrow: name the column."
)
UNUSED_RATERS = (
    "The raters are not used: an interval over raters is over items too, so name a cluster column."
)
GIVEN_RATERS = "Intervals are conditional on these raters: other raters may rank otherwise."
TOO_NARROW = (
    "The published interval, SE = sqrt(1/n), is too narrow: even for independent votes its width is"
    " S/(2 (S - 1)) of what it should be with S equal systems, and less with others; it is kept to"
    " compare with the paper's table."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalChoice:
    """The interval to compute, and what must be said of it."""

    used: IntervalName
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uncertainty:
    """Intervals of every strength and variances of every difference.

    Attributes:
        intervals: One per system.
        of_differences: Variance of theta_i - theta_j, (systems, systems).
        df: Degrees of freedom for differences.
        used: The interval really used.
        n_not_identified: Bootstrap replicates left out; None without a bootstrap.
        warnings: What must be said of it.
    """

    intervals: Intervals
    of_differences: FloatArray
    df: float
    used: IntervalName
    n_not_identified: int | None
    warnings: tuple[str, ...]


def choose_interval(
    asked: IntervalName | None, *, n_items: int | None, n_raters: int | None
) -> IntervalChoice:
    """Choose by what the votes that are used name.

    Args:
        asked: The interval wanted; None for the default.
        n_items: Items; None where votes name none.
        n_raters: Raters; None likewise.

    Raises:
        SettingsError: The interval asked for needs a column that was not named.
    """
    if asked == "published":
        return IntervalChoice(used="published", warnings=(TOO_NARROW,))
    if asked is not None and n_items is None:
        raise SettingsError(f"the interval {asked} needs items: name a cluster column")
    if asked == "two-way" and n_raters is None:
        raise SettingsError("the interval two-way needs raters: name a rater column")
    if asked in ("item-bootstrap", "item-sandwich"):
        return IntervalChoice(used=asked, warnings=(GIVEN_RATERS,))
    if n_items is None:
        unused = () if n_raters is None else (UNUSED_RATERS,)
        return IntervalChoice(used="item-sandwich", warnings=(NO_CLUSTER, *unused))
    if n_raters is None:
        return IntervalChoice(used="item-sandwich", warnings=(GIVEN_RATERS,))
    if n_raters < MIN_RATERS:
        few = (
            f"There are {n_raters} raters, and a two-way interval needs {MIN_RATERS}:"
            " item-sandwich is used."
        )
        return IntervalChoice(used="item-sandwich", warnings=(few, GIVEN_RATERS))
    return IntervalChoice(used="two-way")


def find_uncertainty(
    fit: TiedFit, choice: IntervalChoice, policy: RankPolicy, *, has_items: bool
) -> Uncertainty:
    """Compute the chosen interval; a bootstrap that loses too many replicates gives way.

    Raises:
        NotIdentifiedError: Under two items, raters or votes, whichever are resampled.
    """
    if choice.used == "published":
        return _published(fit, choice, policy.level)
    if choice.used == "item-bootstrap":
        return _bootstrapped(fit, choice, policy)
    variance = _variance(fit, choice.used, has_items=has_items)
    return _clustered(fit, choice, variance, policy.level)


def _variance(fit: TiedFit, used: IntervalName, *, has_items: bool) -> ClusteredVariance:
    comparisons = fit.comparisons
    if used == "two-way":
        return vary_over_items_and_raters(fit.influence_of, comparisons.item, comparisons.rater)
    if has_items:
        return vary_over_items(fit.influence_of, comparisons.item)
    return fit.vary_over_votes()


def _clustered(
    fit: TiedFit, choice: IntervalChoice, variance: ClusteredVariance, level: float
) -> Uncertainty:
    return Uncertainty(
        intervals=clustered(fit.theta, variance, level=level),
        of_differences=variance.of_differences(),
        df=variance.df,
        used=choice.used,
        n_not_identified=None,
        warnings=choice.warnings,
    )


def _published(fit: TiedFit, choice: IntervalChoice, level: float) -> Uncertainty:
    n = count_comparisons(fit.comparisons)
    intervals = published(fit.theta, n, level=level)
    variance = intervals.se**2
    return Uncertainty(
        intervals=intervals,
        of_differences=variance[:, None] + variance[None, :],
        df=intervals.df,
        used="published",
        n_not_identified=None,
        warnings=choice.warnings,
    )


def _bootstrapped(fit: TiedFit, choice: IntervalChoice, policy: RankPolicy) -> Uncertainty:
    level, n_resamples = policy.level, policy.n_resamples
    over_items = vary_over_items(fit.influence_of, fit.comparisons.item)
    drawn = bootstrap_items(
        fit.comparisons,
        fit.fit,
        n_resamples=n_resamples,
        rng=np.random.default_rng(policy.seed),
        prior=policy.prior,
    )
    lost = drawn.n_not_identified
    said = f"{lost} of {n_resamples} bootstrap replicates do not determine the strengths"
    if lost > MAX_NOT_IDENTIFIED * n_resamples:
        fallback = IntervalChoice(
            used="item-sandwich",
            warnings=(f"{said}, more than 1 %: item-sandwich is used.", *choice.warnings),
        )
        uncertainty = _clustered(fit, fallback, over_items, level)
        return replace(uncertainty, n_not_identified=lost)
    low, high = np.quantile(drawn.theta, [(1 - level) / 2, (1 + level) / 2], axis=0)
    variance = replace(over_items, item=np.cov(drawn.theta, rowvar=False))
    # Replicates are float32: what does not vary over items differs among them by rounding.
    varies, differs = (
        v > MIN_SE**2 for v in (over_items.of_parameters(), over_items.of_differences())
    )
    se = np.sqrt(np.where(varies, variance.of_parameters(), 0.0))
    return Uncertainty(
        intervals=Intervals(low=low, high=high, se=se, df=np.inf),
        of_differences=np.where(differs, variance.of_differences(), 0.0),
        df=over_items.df,
        used="item-bootstrap",
        n_not_identified=lost,
        warnings=(*((f"{said} and are left out.",) if lost else ()), *choice.warnings),
    )
