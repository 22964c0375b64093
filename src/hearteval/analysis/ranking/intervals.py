"""How to rank, which interval a ranking gets, and that interval (SPEC section 6).

The default is two-way with items and at least five raters, else item-sandwich; where people's
completions are by at least five writers it is over these as well. What cannot be had falls back by
name and with a warning; what was asked for and lacks its columns is an error.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, get_args

import numpy as np

from hearteval.analysis.ranking.warnings import (
    MIN_RATERS,
    MIN_WRITERS,
    Wording,
    warn_of_writers,
)
from hearteval.errors import SettingsError
from hearteval.notices import Kind, Notice
from hearteval.stats.bradley_terry.bootstrap import bootstrap_items
from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    InfluenceOf,
    add_writers,
    vary_over_items,
    vary_over_items_and_raters,
)
from hearteval.stats.bradley_terry.differences import MIN_SE
from hearteval.stats.bradley_terry.intervals import Intervals, clustered, own_df, published
from hearteval.stats.bradley_terry.ties import TiedFit
from hearteval.stats.comparisons import Comparisons, FloatArray, count_comparisons

MAX_NOT_IDENTIFIED: Final = 0.01

NO_CLUSTER = Notice(
    Kind.FEW_ITEMS,
    "Every vote counts as an item of its own, because no cluster column was named. If votes share"
    " items (prompts, dialogues), these intervals are too narrow: name the column.",
)
UNUSED_RATERS = Notice(
    Kind.OTHER_INTERVAL,
    "The raters are not used: an interval over raters is over items too, so name a cluster column.",
)
TOO_NARROW = Notice(
    Kind.FEW_ITEMS,
    "The published interval, SE = sqrt(1/n), is too narrow: even for independent votes its width is"
    " S/(2 (S - 1)) of what it should be with S equal systems, and less with others; it is kept to"
    " compare with the paper's table.",
)

Ties = Literal["half", "davidson", "drop"]
IntervalName = Literal["two-way", "item-sandwich", "item-bootstrap", "published"]
"""What can be asked for."""
UsedInterval = IntervalName | Literal["three-way", "item-writer"]
OVER_RATERS: Final = frozenset({"two-way", "three-way"})
"""Intervals over items and sampled raters, the others taking raters as given."""
OVER_WRITERS: Final = frozenset({"three-way", "item-writer"})

DEFAULT_RESAMPLES = 1_000
MIN_RESAMPLES = 100
MAX_LEVEL = 0.999999
MAX_PRIOR = 1e6
"""Half-won comparisons of every pair; far more than votes, so that all systems are about equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPolicy:
    """How to rank."""

    ties: Ties = "half"
    """Half a win to each side, a parameter of their own (Davidson 1970), or dropped."""
    prior: float = 0.0
    """Half-won comparisons added to every pair of systems."""
    interval: IntervalName | None = None
    """The interval wanted; None for the default."""
    n_resamples: int = DEFAULT_RESAMPLES
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.ties not in get_args(Ties):
            raise ValueError(f"ties are one of {get_args(Ties)}, not {self.ties!r}")
        if self.interval is not None and self.interval not in get_args(IntervalName):
            raise ValueError(
                f"an interval is one of {get_args(IntervalName)}, not {self.interval!r}"
            )
        if not 0 <= self.prior <= MAX_PRIOR:
            raise ValueError(f"a prior is a weight of 0 to {MAX_PRIOR:,.0f}, not {self.prior}")
        if self.n_resamples < MIN_RESAMPLES:
            raise ValueError(
                f"percentiles need at least {MIN_RESAMPLES} resamples, not {self.n_resamples}"
            )
        if self.seed < 0:
            raise ValueError(f"a seed is 0 or more, not {self.seed}")
        if not 0 < self.level <= MAX_LEVEL:
            raise ValueError(f"a level is above 0 and at most {MAX_LEVEL}, not {self.level}")


class Uncertainty(NamedTuple):
    """Intervals of every strength and variances of every difference."""

    intervals: Intervals
    of_differences: FloatArray
    """Variance of theta_i - theta_j, (systems, systems)."""
    joint: FloatArray
    """Covariance of all strengths, from which differences have their correlations."""
    df: float | FloatArray
    """Degrees of freedom for differences, of all or of each; those of the strengths are in
    `intervals`."""
    used: UsedInterval
    n_not_identified: int | None = None
    """Bootstrap replicates left out; None without a bootstrap."""
    warnings: tuple[Notice, ...] = ()
    """What must be said of it beyond the choice."""


def choose_interval(
    comparisons: Comparisons,
    asked: IntervalName | None = None,
    *,
    has_items: bool = True,
    wording: Wording,
) -> tuple[UsedInterval, tuple[Notice, ...]]:
    """Choose by what the comparisons name; also return what must be said of it.

    Args:
        comparisons: Comparisons; raters below 0 are a fixed panel, or not named, and writers below
            0 wrote nothing.
        asked: The interval wanted; None for the default.
        has_items: Whether items are named.
        wording: The words for it.

    Raises:
        SettingsError: The interval asked for needs a column that was not named.
    """
    used, said = _choose_raters(comparisons, asked, has_items=has_items, wording=wording)
    if comparisons.writer is None or asked is not None:
        return used, said
    n_writers = len(np.unique(comparisons.writer[comparisons.writer >= 0]))
    if n_writers >= MIN_WRITERS:
        return ("three-way" if used == "two-way" else "item-writer"), said
    return used, (*said, *([warn_of_writers(n_writers)] if n_writers else []))


def _choose_raters(
    comparisons: Comparisons,
    asked: IntervalName | None,
    *,
    has_items: bool,
    wording: Wording,
) -> tuple[IntervalName, tuple[Notice, ...]]:
    """Choose whether raters are sampled, whatever writers there are."""
    n_raters = len(np.unique(comparisons.rater[comparisons.rater >= 0]))
    given_raters = Notice(Kind.GIVEN_RATERS, wording.given_raters)
    if asked == "published":
        return "published", (TOO_NARROW,)
    if asked is not None and not has_items:
        raise SettingsError(f"the interval {asked} needs items: name a cluster column")
    if asked == "two-way" and not n_raters:
        raise SettingsError("the interval two-way needs raters: name a rater column")
    if asked in ("item-bootstrap", "item-sandwich"):
        return asked, (given_raters,)
    if not has_items:
        unused = (UNUSED_RATERS,) if n_raters else ()
        return "item-sandwich", (NO_CLUSTER, *unused)
    if not n_raters:
        return "item-sandwich", (given_raters,)
    if n_raters < MIN_RATERS:
        return "item-sandwich", (
            Notice(Kind.FEW_RATERS, wording.of_few_raters(n_raters)),
            given_raters,
        )
    return "two-way", ()


def find_uncertainty(
    fit: TiedFit, used: UsedInterval, policy: RankPolicy, *, has_items: bool
) -> Uncertainty:
    """Compute the chosen interval; a bootstrap that loses too many replicates gives way.

    Raises:
        NotIdentifiedError: Under two items, raters or votes, whichever are resampled.
    """
    if used == "published":
        return _published(fit, policy.level)
    if used == "item-bootstrap":
        return _bootstrapped(fit, policy)
    if has_items:
        variance = vary(fit.influence_of, fit.comparisons, used)
        own = own_df(
            fit.comparisons,
            variance.df,
            over_raters=used in OVER_RATERS,
            over_writers=variance.writer is not None,
        )
    else:
        variance = fit.vary_over_votes()
        own = np.clip(count_comparisons(fit.comparisons) - 1.0, 1, variance.df)
    return _clustered(fit, used, variance, policy.level, own=own)


def vary(
    influence_of: InfluenceOf, comparisons: Comparisons, used: UsedInterval
) -> ClusteredVariance:
    """Return the variance over items and, as the interval has it, sampled raters and writers.

    Raises:
        NotIdentifiedError: Under two items or, for ``two-way``, two raters.
    """
    if used in OVER_RATERS:
        over = vary_over_items_and_raters(influence_of, comparisons.item, comparisons.rater)
    else:
        over = vary_over_items(influence_of, comparisons.item)
    if comparisons.writer is None or used not in OVER_WRITERS:
        return over
    return add_writers(over, influence_of, comparisons.item, comparisons.rater, comparisons.writer)


def _clustered(
    fit: TiedFit,
    used: UsedInterval,
    variance: ClusteredVariance,
    level: float,
    *,
    own: FloatArray,
) -> Uncertainty:
    return Uncertainty(
        intervals=clustered(fit.theta, variance, level=level, df=own),
        of_differences=variance.of_differences(),
        joint=variance.joint(),
        df=np.minimum.outer(own, own),
        used=used,
    )


def _published(fit: TiedFit, level: float) -> Uncertainty:
    n = count_comparisons(fit.comparisons)
    intervals = published(fit.theta, n, level=level)
    variance = intervals.se**2
    return Uncertainty(
        intervals=intervals,
        of_differences=variance[:, None] + variance[None, :],
        joint=np.diag(variance),
        df=intervals.df,
        used="published",
    )


def _bootstrapped(fit: TiedFit, policy: RankPolicy) -> Uncertainty:
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
    own = own_df(fit.comparisons, over_items.df, over_raters=False)
    if lost > MAX_NOT_IDENTIFIED * n_resamples:
        return _clustered(fit, "item-sandwich", over_items, level, own=own)._replace(
            n_not_identified=lost,
            warnings=(
                Notice(Kind.OTHER_INTERVAL, f"{said}, more than 1 %: item-sandwich is used."),
            ),
        )
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
        joint=variance.joint(),
        df=np.minimum.outer(own, own),
        used="item-bootstrap",
        n_not_identified=lost,
        warnings=(Notice(Kind.OTHER_INTERVAL, f"{said} and are left out."),) if lost else (),
    )
