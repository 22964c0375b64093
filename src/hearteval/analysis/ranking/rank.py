"""Comparisons, names and a policy -> one ranking, the same for vote files and for studies.

`heart rank` (`votes`), a study's leaderboard, its axes and its rankings by one judge are views of
what is made here: strengths with intervals, their differences, and what they predict. No interval
is given where the comparisons determine none, and what it rests on is said where it is little.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from hearteval.analysis.ranking.head_to_head import (
    HeadToHead,
    LackOfFit,
    compare_directly,
    warn_of_leaders,
    warn_of_misfit,
)
from hearteval.analysis.ranking.intervals import (
    OVER_RATERS,
    RankPolicy,
    Uncertainty,
    UsedInterval,
    choose_interval,
    find_uncertainty,
)
from hearteval.analysis.ranking.warnings import (
    FEW_ITEMS,
    FEW_ITEMS_OF_A_BOOTSTRAP,
    JUDGMENTS,
    Wording,
    find_support,
)
from hearteval.errors import NotIdentifiedError, first_few
from hearteval.notices import Notice
from hearteval.stats.bradley_terry.differences import MIN_SE, pairwise_differences, rank_bounds
from hearteval.stats.bradley_terry.fit import ELO_PER_THETA, elo_from_theta, strong_components
from hearteval.stats.bradley_terry.fit_check import check_pairs, check_systems
from hearteval.stats.bradley_terry.intervals import published
from hearteval.stats.bradley_terry.lack_of_fit import GapsByChance
from hearteval.stats.bradley_terry.simultaneous import family_p as find_family_p
from hearteval.stats.bradley_terry.ties import TiedFit, fit_ties
from hearteval.stats.comparisons import (
    BoolArray,
    Comparisons,
    FloatArray,
    IntArray,
    count_comparisons,
)

SHOWN_NAMES, SHOWN_GROUPS = 8, 6
ELO_DECIMALS_OF_RANK = 6
"""Strengths equal to this many decimals of Elo share a rank; the fit is good to about 1e-8 Elo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EloEstimate:
    """One system's strength in one ranking.

    Attributes:
        elo: 400 (theta - mean theta) / ln 10 + 1500.
        low: Lower end of the interval that the ranking names; None where the comparisons of the
            system do not determine one.
        published_low: Lower end of the paper's interval, SE = sqrt(1/n) (HEART 9.8); too narrow.
        theta: Log-strength; the field sums to 0.
        se: Standard error of theta, in theta's units; None where there is no interval.
        rank: 1 is best; equal strengths share the better rank.
        rank_low: Best rank its differences from the others leave open: 1 + the systems above it
            for certain, by `Difference.p_family`.
    """

    elo: float
    low: float | None
    high: float | None
    published_low: float
    published_high: float
    theta: float
    se: float | None
    rank: int
    rank_low: int
    rank_high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far one system is above another.

    Attributes:
        elo: Difference in Elo; above 0 where `system` is better.
        low: Lower end of its interval; None where the comparisons do not determine one.
        p: Two-sided p-value of no difference.
        q: The same adjusted over all differences (Benjamini and Hochberg 1995): the share of none
            among those called one.
        p_family: The same adjusted so that any of them is called one wrongly no more often. What is
            open, and who is tied, is said by it alone.
    """

    system: str
    other: str
    elo: float
    low: float | None
    high: float | None
    p: float
    q: float
    p_family: float

    def is_open(self, level: float) -> bool:
        """Return whether it is open which of the two is better."""
        return self.p_family > 1 - level


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFit:
    """Observed and predicted share won by `left` over `right`, ties half."""

    left: str
    right: str
    n: int
    observed: float
    predicted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFit:
    """Observed and predicted overall win rate of one system, weighted as in `FitCheck`."""

    system: str
    n: int
    observed: float
    predicted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FitCheck:
    """Compare what one strength per system predicts with what was observed (SPEC section 6).

    Attributes:
        ratings: Whose prediction: ``unweighted``, or ``weighted`` by strength. What was observed is
            the share of wins that the unweighted ranking is of in both: every comparison counts
            once, but where people and judges judged a pair, each kind counts half.
        rms_gap: Root mean square of observed minus predicted over pairs, weighted by count.
        system_rms_gap: The same over systems; 0 where plain strengths meet their own comparisons.
        pairs: Every pair of systems that was compared.
        expected_rms_gap: What `rms_gap` would be by chance if one strength per system explained all
            wins, at this design; None where that is not known.
        expected_max_gap: What `max_gap` would be likewise, on average.
        lack_of_fit: The test of it; None where the strengths are not those of these wins.
    """

    ratings: str
    rms_gap: float
    max_gap: float
    system_rms_gap: float
    system_max_gap: float
    pairs: tuple[PairFit, ...]
    systems: tuple[SystemFit, ...]
    expected_rms_gap: float | None = None
    expected_max_gap: float | None = None
    lack_of_fit: LackOfFit | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranked:
    """A ranking from one set of comparisons.

    Attributes:
        fit: The fit; it holds the comparisons.
        interval_chosen: The interval asked for or, by default, chosen by what is named.
        estimates: One per system, by index.
        has_interval: Whether the comparisons of a system determine its interval.
        p_family: Of every difference, (systems, systems); see `Difference`.
        groups: Indices of the systems that the comparisons alone, a declared prior apart, compare
            both ways.
        has_items: Whether items are named; else every comparison is one.
    """

    names: tuple[str, ...]
    fit: TiedFit
    interval_chosen: UsedInterval
    uncertainty: Uncertainty
    estimates: tuple[EloEstimate, ...]
    has_interval: BoolArray
    p_family: FloatArray
    groups: list[list[int]]
    interval_warnings: tuple[Notice, ...]
    support_warnings: tuple[Notice, ...]
    policy: RankPolicy
    has_items: bool

    @property
    def by_name(self) -> dict[str, EloEstimate]:
        """Estimate by system."""
        return dict(zip(self.names, self.estimates, strict=True))

    @property
    def interval_used(self) -> UsedInterval:
        """Name of the interval really used."""
        return self.uncertainty.used

    @property
    def df(self) -> float:
        """Degrees of freedom of t, infinite for the normal distribution and for percentiles."""
        return self.uncertainty.intervals.df

    @property
    def df_by_name(self) -> dict[str, float]:
        """Those of each system, its own items, people and writers less one at most."""
        df = self.uncertainty.df
        own = np.diagonal(df).tolist() if np.ndim(df) else [self.df] * len(self.names)
        return dict(zip(self.names, own, strict=True))

    @property
    def order(self) -> IntArray:
        """Indices, best first; equal strengths in the order of their names."""
        return np.argsort([each.rank for each in self.estimates], kind="stable")

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Every two systems once, best first; made when first looked at: there may be millions."""
        found = pairwise_differences(
            self.fit.theta,
            _known_variance(self.uncertainty, self.has_interval),
            self.uncertainty.df,
            level=self.policy.level,
        )

        names, order = [self.names[i] for i in self.order], self.order
        best, rest = np.triu_indices(len(order), 1)
        pairs = order[best], order[rest]
        # Lists of plain numbers, as systems may be thousands and their pairs millions.
        elo, low, high = (
            (ELO_PER_THETA * each[pairs]).tolist()
            for each in (found.difference, found.low, found.high)
        )
        p, q = found.p[pairs].tolist(), found.q[pairs].tolist()
        of_all = self.p_family[pairs].tolist()
        is_known = np.isfinite(found.low[pairs]).tolist()
        return tuple(
            Difference(
                system=names[i],
                other=names[j],
                elo=elo[k],
                low=low[k] if is_known[k] else None,
                high=high[k] if is_known[k] else None,
                p=p[k],
                q=q[k],
                p_family=of_all[k],
            )
            for k, (i, j) in enumerate(zip(best.tolist(), rest.tolist(), strict=True))
        )

    @cached_property
    def direct(self) -> tuple[tuple[HeadToHead, ...], LackOfFit, GapsByChance | None]:
        """What every two systems won of each other beside what the strengths expect."""
        return compare_directly(
            self.fit,
            self.names,
            prior=self.policy.prior,
            seed=self.policy.seed,
            has_items=self.has_items,
        )

    def warn_of_pairs(self, leaders: Collection[str]) -> list[Notice]:
        """Say where direct comparisons depart from the strengths, or those ranked first lose.

        The leaders may be those of another ranking of the same.
        """
        matrix, lack_of_fit, _ = self.direct
        lost = warn_of_leaders(self.fit, self.names, leaders, matrix, has_items=self.has_items)
        return [*warn_of_misfit(matrix, lack_of_fit, has_prior=self.policy.prior > 0), *lost]

    def check_fit(self, once: "Ranked | None" = None) -> FitCheck:
        """Compare what the strengths predict with the wins that they are of, and test it.

        Those of a ranking weighted by strength are compared with the wins of the ranking of the
        same judgments in which each counts `once`, without a test.
        """
        wins = (once or self).fit.points
        lack_of_fit, chance = (None, None) if once else self.direct[1:]
        expected = self.fit.expected_points
        left, right, pairs = check_pairs(wins, expected)
        systems = check_systems(wins, expected)
        return FitCheck(
            ratings="weighted" if once else "unweighted",
            rms_gap=pairs.root_mean_square,
            max_gap=pairs.largest,
            system_rms_gap=systems.root_mean_square,
            system_max_gap=systems.largest,
            pairs=tuple(
                PairFit(
                    left=self.names[i],
                    right=self.names[j],
                    n=round(n),
                    observed=observed,
                    predicted=predicted,
                )
                for i, j, n, observed, predicted in zip(
                    left.tolist(),
                    right.tolist(),
                    pairs.n.tolist(),
                    pairs.observed.tolist(),
                    pairs.predicted.tolist(),
                    strict=True,
                )
            ),
            systems=tuple(
                SystemFit(
                    system=name,
                    n=round(systems.n[i]),
                    observed=float(systems.observed[i]),
                    predicted=float(systems.predicted[i]),
                )
                for i, name in enumerate(self.names)
            ),
            expected_rms_gap=chance.root_mean_square if chance else None,
            expected_max_gap=chance.largest if chance else None,
            lack_of_fit=lack_of_fit,
        )


def rank_comparisons(
    comparisons: Comparisons,
    names: Sequence[str],
    policy: RankPolicy,
    *,
    has_items: bool = True,
    wording: Wording = JUDGMENTS,
) -> Ranked:
    """Rank systems by Bradley-Terry; the order of rows changes nothing to the last digit.

    Args:
        comparisons: Comparisons, each counting with its weight; every system is in at least one. A
            rater below 0 stands for a judge of a fixed panel, or for raters that are not named.
        names: Names by index.
        policy: How to rank. Ties that it drops are left out already.
        has_items: Whether items are named; else every comparison is one.
        wording: The words of warnings and errors.

    Raises:
        NotIdentifiedError: The strengths or their intervals are not determined; it names systems.
        SettingsError: The interval asked for needs a column that was not named.
    """
    used, warnings = choose_interval(
        comparisons, policy.interval, has_items=has_items, wording=wording
    )
    try:
        fit = fit_ties(
            comparisons,
            ties="davidson" if policy.ties == "davidson" else "half",
            prior=policy.prior,
        )
        uncertainty = find_uncertainty(fit, used, policy, has_items=has_items)
    except NotIdentifiedError as error:
        raise name_components(error, names, remedy=wording.remedy) from error
    support = find_support(
        comparisons,
        names,
        wording=wording,
        has_items=has_items,
        over_raters=uncertainty.used in OVER_RATERS,
    )
    groups = strong_components(fit.points)
    has_width = uncertainty.intervals.se > MIN_SE
    has_interval = np.asarray(support.is_enough & has_width & (len(groups) == 1))
    is_bootstrap = uncertainty.used == "item-bootstrap"
    of_all = find_family_p(
        fit.theta, _known_variance(uncertainty, has_interval), uncertainty.df, uncertainty.joint
    )
    few_items = FEW_ITEMS_OF_A_BOOTSTRAP if is_bootstrap else FEW_ITEMS
    return Ranked(
        names=tuple(names),
        fit=fit,
        interval_chosen=used,
        uncertainty=uncertainty,
        estimates=_estimates(fit, uncertainty, has_interval, of_all, policy.level),
        has_interval=has_interval,
        p_family=of_all,
        groups=groups,
        interval_warnings=(*uncertainty.warnings, *warnings),
        # Where the prior alone ties groups together there is no interval to warn of.
        support_warnings=tuple(support.warnings(has_width=has_width, few_items=few_items))
        if len(groups) == 1
        else (),
        policy=policy,
        has_items=has_items,
    )


def _estimates(
    fit: TiedFit,
    uncertainty: Uncertainty,
    has_interval: BoolArray,
    p_family: FloatArray,
    level: float,
) -> tuple[EloEstimate, ...]:
    elo = elo_from_theta(fit.theta)
    rounded = elo.round(ELO_DECIMALS_OF_RANK)
    rank = 1 + np.searchsorted(np.sort(-rounded), -rounded)
    bounds = rank_bounds(fit.theta, p_family, level=level)
    found = uncertainty.intervals
    narrow = published(fit.theta, count_comparisons(fit.comparisons), level=level)

    def end(theta: FloatArray, i: int) -> float:
        return float(elo[i] + ELO_PER_THETA * (theta[i] - fit.theta[i]))

    return tuple(
        EloEstimate(
            elo=float(elo[i]),
            low=end(found.low, i) if has_interval[i] else None,
            high=end(found.high, i) if has_interval[i] else None,
            published_low=end(narrow.low, i),
            published_high=end(narrow.high, i),
            theta=float(fit.theta[i]),
            se=float(found.se[i]) if has_interval[i] else None,
            rank=int(rank[i]),
            rank_low=int(bounds.low[i]),
            rank_high=int(bounds.high[i]),
        )
        for i in range(len(elo))
    )


def _known_variance(uncertainty: Uncertainty, has_interval: BoolArray) -> FloatArray:
    """Return variances of differences, infinite where a system has no interval."""
    is_known = has_interval[:, None] & has_interval[None, :]
    return np.where(is_known, uncertainty.of_differences, np.inf)


def name_components(
    error: NotIdentifiedError, names: Sequence[str], *, remedy: str
) -> NotIdentifiedError:
    """Return the error with names for indices, saying what would help."""
    components = [[names[cast("int", i)] for i in group] for group in error.components]
    message = str(error)
    if len(components) > 1:
        groups = list_groups(components)
        message = (
            "the comparisons do not determine one ranking: between these groups all of them go"
            f" one way, or there are none: {groups}. {remedy}"
        )
    return NotIdentifiedError(
        message, components=components, ids=[name for group in components for name in group]
    )


def list_groups(groups: Sequence[Sequence[str]]) -> str:
    """List groups of systems in a message; of many, the first few."""
    shown = [first_few(group, SHOWN_NAMES) for group in groups[:SHOWN_GROUPS]]
    more = len(groups) - SHOWN_GROUPS
    return " | ".join(shown) + (f" | and {more} more groups" if more > 0 else "")
