"""A table of votes -> ratings, intervals, ranks and the fit check.

The headline counts every vote once; with strengths the weighted ratings stand beside it. Nothing
here knows files or studies: `heartbench.exchange` reads the first, `heartbench.analysis.ranking`
ranks the second.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heartbench.analysis.elo import list_differences, list_groups, name_components
from heartbench.analysis.rank_policy import RankPolicy
from heartbench.analysis.support import FEW_ITEMS, FEW_ITEMS_OF_A_BOOTSTRAP, Support, find_support
from heartbench.analysis.vote_intervals import (
    IntervalChoice,
    Uncertainty,
    choose_interval,
    find_uncertainty,
)
from heartbench.analysis.vote_results import (
    PairGap,
    RankedSystem,
    RankFit,
    RankSettings,
    VoteRanking,
)
from heartbench.analysis.votes import Votes
from heartbench.errors import InvalidVotesError, NotIdentifiedError
from heartbench.stats.bradley_terry import ELO_PER_THETA, elo_from_theta, strong_components
from heartbench.stats.comparisons import (
    TIE_SCORE,
    BoolArray,
    Comparisons,
    FloatArray,
    IntArray,
    count_comparisons,
    select_comparisons,
)
from heartbench.stats.contrasts import MIN_SE, pairwise_differences, rank_bounds
from heartbench.stats.fit_check import check_pairs, check_systems
from heartbench.stats.tied_fit import TiedFit, fit_ties

MAX_STRENGTH_RATIO = 1e9
"""Beyond it, what the weaker votes add is lost in the rounding of the stronger."""
REMEDY = "Add votes across them, or declare a prior."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Estimate:
    """One fit with its uncertainty.

    Attributes:
        support: What the interval of each system rests on.
    """

    fit: TiedFit
    uncertainty: Uncertainty
    support: Support

    @property
    def has_width(self) -> BoolArray:
        """Whether standard errors are more than rounding."""
        return self.uncertainty.intervals.se > MIN_SE

    @property
    def groups(self) -> list[list[int]]:
        """Systems that the votes alone compare both ways, a declared prior apart."""
        return strong_components(self.fit.points)

    @property
    def has_interval(self) -> BoolArray:
        """Whether the votes of a system determine its interval."""
        is_determined = len(self.groups) == 1
        return np.asarray(self.support.is_enough & self.has_width & is_determined)

    def elo(self, theta: FloatArray) -> FloatArray:
        """Scale values of theta, e.g. interval ends, on the fit's own mean."""
        return elo_from_theta(self.fit.theta) + ELO_PER_THETA * (theta - self.fit.theta)


def rank_votes(votes: Votes, policy: RankPolicy, *, columns: dict[str, str]) -> VoteRanking:
    """Rank systems by votes; the order of votes changes nothing to the last digit.

    Args:
        votes: The votes.
        policy: How to rank.
        columns: Column by role, to be shown.

    Raises:
        NotIdentifiedError: The votes do not determine the strengths or the interval; it names the
            groups of systems.
        SettingsError: The interval asked for needs a column that was not named.
    """
    _check_strengths(votes)
    comparisons, n_dropped = _drop_ties(votes, policy)
    n_items, n_raters = _count_used(votes, comparisons)
    choice = choose_interval(policy.interval, n_items=n_items, n_raters=n_raters)
    once = replace(comparisons, weight=np.ones(len(comparisons)))
    estimate = _estimate(votes, once, policy, choice)
    weighted = _estimate(votes, comparisons, policy, choice) if votes.has_strength else None
    order = np.lexsort((np.arange(len(votes.systems)), -estimate.fit.theta.round(10)))
    uncertainty = estimate.uncertainty
    df = uncertainty.intervals.df
    return VoteRanking(
        systems=tuple(_systems(votes.systems, estimate, weighted, order, policy.level)),
        fit=_fit(votes, estimate, n_dropped),
        settings=RankSettings(
            interval=policy.interval or choice.used,
            interval_used=uncertainty.used,
            df=float(df) if np.isfinite(df) else None,
            level=policy.level,
            ties=policy.ties,
            prior=policy.prior,
            resamples=policy.n_resamples,
            seed=policy.seed,
            columns=columns,
            n_items=n_items,
            n_raters=n_raters,
        ),
        warnings=(
            *votes.warnings,
            *uncertainty.warnings,
            *_support_warnings(estimate),
            *_prior_warnings(votes.systems, estimate),
            *_weighted_warnings(estimate, weighted),
        ),
        differences=list_differences(
            pairwise_differences(
                estimate.fit.theta,
                _known_variance(estimate),
                uncertainty.df,
                level=policy.level,
            ),
            votes.systems,
            order,
        ),
        pairs=tuple(_pairs(votes.systems, estimate.fit)),
    )


def _drop_ties(votes: Votes, policy: RankPolicy) -> tuple[Comparisons, dict[str, int]]:
    n_dropped = dict(votes.n_dropped)
    if policy.ties != "drop":
        return votes.comparisons, n_dropped
    is_decided = votes.comparisons.score != TIE_SCORE
    if not is_decided.any():
        raise NotIdentifiedError(
            f"all {votes.n_votes:,} votes are ties: nothing is left when ties are dropped"
        )
    if votes.n_ties:
        n_dropped["tie"] = votes.n_ties
    return select_comparisons(votes.comparisons, is_decided), n_dropped


def _check_strengths(votes: Votes) -> None:
    weights = votes.comparisons.weight
    if votes.has_strength and len(weights) and weights.max() > MAX_STRENGTH_RATIO * weights.min():
        raise InvalidVotesError(
            f"strengths from {weights.min():g} to {weights.max():g} (a tie counts 1) are too far"
            " apart to be weighed against each other; scale them to numbers such as 1 to 5"
        )


def _count_used(votes: Votes, comparisons: Comparisons) -> tuple[int | None, int | None]:
    """Count the items and raters of the votes that are used; None where votes name none."""
    is_folded = votes.n_item_groups is not None
    n_items = votes.n_items if is_folded else len(np.unique(comparisons.item))
    return (
        None if votes.n_items is None else n_items,
        None if votes.raters is None else len(np.unique(comparisons.rater)),
    )


def _estimate(
    votes: Votes, comparisons: Comparisons, policy: RankPolicy, choice: IntervalChoice
) -> _Estimate:
    has_items = votes.n_items is not None
    try:
        fit = fit_ties(
            comparisons,
            ties="davidson" if policy.ties == "davidson" else "half",
            prior=policy.prior,
        )
        uncertainty = find_uncertainty(fit, choice, policy, has_items=has_items)
    except NotIdentifiedError as error:
        raise name_components(error, votes.systems, remedy=REMEDY) from error
    over_raters = uncertainty.used == "two-way"
    support = find_support(comparisons, votes.systems, has_items=has_items, over_raters=over_raters)
    return _Estimate(fit=fit, uncertainty=uncertainty, support=support)


def _systems(
    names: Sequence[str],
    estimate: _Estimate,
    weighted: _Estimate | None,
    order: IntArray,
    level: float,
) -> list[RankedSystem]:
    fit, uncertainty = estimate.fit, estimate.uncertainty
    variance = _known_variance(estimate)
    bounds = rank_bounds(fit.theta, variance, uncertainty.df, level=level)
    elo, low, high = _with_ends(estimate)
    n = count_comparisons(fit.comparisons)
    rates = fit.points.sum(axis=1) / n
    strong = _with_ends(weighted) if weighted else None
    return [
        RankedSystem(
            system=names[i],
            elo=float(elo[i]),
            low=low[i],
            high=high[i],
            theta=float(fit.theta[i]),
            se=float(uncertainty.intervals.se[i]) if estimate.has_interval[i] else None,
            win_rate=float(rates[i]),
            n_comparisons=int(n[i]),
            rank_low=int(bounds.low[i]),
            rank_high=int(bounds.high[i]),
            elo_weighted=float(strong[0][i]) if strong else None,
            low_weighted=strong[1][i] if strong else None,
            high_weighted=strong[2][i] if strong else None,
        )
        for i in order
    ]


def _with_ends(
    estimate: _Estimate,
) -> tuple[FloatArray, list[float | None], list[float | None]]:
    """Return Elo and its interval ends, None where there is no interval."""

    def ends(theta: FloatArray) -> list[float | None]:
        known = zip(estimate.elo(theta), estimate.has_interval, strict=True)
        return [float(end) if is_known else None for end, is_known in known]

    intervals = estimate.uncertainty.intervals
    return estimate.elo(estimate.fit.theta), ends(intervals.low), ends(intervals.high)


def _known_variance(estimate: _Estimate) -> FloatArray:
    """Return variances of differences, infinite where a system has no interval."""
    is_known = estimate.has_interval[:, None] & estimate.has_interval[None, :]
    return np.where(is_known, estimate.uncertainty.of_differences, np.inf)


def _fit(votes: Votes, estimate: _Estimate, n_dropped: dict[str, int]) -> RankFit:
    fit = estimate.fit
    _, _, pairs = check_pairs(fit.points, fit.expected_points)
    systems = check_systems(fit.points, fit.expected_points)
    return RankFit(
        converged=True,
        n_votes=int(fit.comparisons.count.sum()),
        n_ties=votes.n_ties,
        n_dropped=n_dropped,
        rms_gap=pairs.root_mean_square,
        max_gap=pairs.largest,
        system_rms_gap=systems.root_mean_square,
        system_max_gap=systems.largest,
        components=tuple(tuple(votes.systems[i] for i in group) for group in estimate.groups),
        n_replicates_not_identified=estimate.uncertainty.n_not_identified,
    )


def _pairs(names: Sequence[str], fit: TiedFit) -> list[PairGap]:
    left, right, gaps = check_pairs(fit.points, fit.expected_points)
    return [
        PairGap(
            system=names[left[k]],
            other=names[right[k]],
            n=round(gaps.n[k]),
            observed=float(gaps.observed[k]),
            predicted=float(gaps.predicted[k]),
        )
        for k in range(len(left))
    ]


def _support_warnings(estimate: _Estimate) -> list[str]:
    is_bootstrap = estimate.uncertainty.used == "item-bootstrap"
    return estimate.support.warnings(
        has_width=estimate.has_width,
        few_items=FEW_ITEMS_OF_A_BOOTSTRAP if is_bootstrap else FEW_ITEMS,
    )


def _prior_warnings(names: Sequence[str], estimate: _Estimate) -> list[str]:
    groups = estimate.groups
    if len(groups) == 1:
        return []
    listed = list_groups([[names[i] for i in group] for group in groups])
    return [
        "The votes alone determine no ranking between these groups, the prior does; so there are no"
        f" intervals: {listed}."
    ]


def _weighted_warnings(estimate: _Estimate, weighted: _Estimate | None) -> list[str]:
    if weighted is None or weighted.uncertainty.used == estimate.uncertainty.used:
        return []
    return [f"The weighted ratings have another interval: {weighted.uncertainty.used}."]
