"""A table of votes -> Elo, intervals, ranks and the fit check: what ``heart rank`` shows.

The headline counts every vote once; with strengths the weighted Elo stands beside it. Both are
rankings of `rank_comparisons`. Nothing here knows files: `hearteval.exchange` reads them.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np

from hearteval.analysis.ranking.head_to_head import HeadToHead, LackOfFit
from hearteval.analysis.ranking.intervals import RankPolicy
from hearteval.analysis.ranking.rank import (
    Difference,
    EloEstimate,
    PairFit,
    Ranked,
    list_groups,
    rank_comparisons,
)
from hearteval.analysis.ranking.warnings import VOTES
from hearteval.domain import flat_fields
from hearteval.domain.systems import SIMULATED
from hearteval.errors import InvalidVotesError, NotIdentifiedError
from hearteval.notices import Kind, Notice, simulated_line
from hearteval.stats.bradley_terry.fit_check import check_pairs, check_systems
from hearteval.stats.comparisons import (
    TIE_SCORE,
    Comparisons,
    FloatArray,
    count_comparisons,
    select_comparisons,
    with_columns,
)
from hearteval.stats.tally import count_equal

MAX_STRENGTH_RATIO = 1e9
"""Beyond it, what the weaker votes add is lost in the rounding of the stronger."""
MAX_STRENGTH = 1e12
SYSTEM_KEYS = ["system", "elo", "low", "high", "theta", "se", "win_rate", "n_comparisons"]
SYSTEM_KEYS += ["rank_low", "rank_high"]
WEIGHTED_KEYS = ["elo_weighted", "low_weighted", "high_weighted"]
"""Of heart.rank/1, in its order."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Votes:
    """Votes as comparisons, whatever file or frame they came from.

    Attributes:
        systems: Names, sorted; positions are the indices in `comparisons`.
        comparisons: Distinct votes, sorted, left and right as given. The weight is the strength (1
            without one, and for ties); items and raters are numbered in the order of their names,
            all 0 where there are none.
        covariates: One row for each row of `comparisons`, one column for each covariate.
        n_items: Items named; None where votes name none.
        n_item_groups: Groups that items were hashed into, to fit in memory; None for none.
        raters: Raters, sorted; None where votes name none.
        n_dropped: Votes left out, by reason.
        items: Items, or their groups, sorted; none where votes name none.
    """

    systems: tuple[str, ...]
    comparisons: Comparisons
    covariates: FloatArray
    has_strength: bool
    n_items: int | None
    n_item_groups: int | None
    raters: tuple[str, ...] | None
    n_votes: int
    n_ties: int
    n_dropped: Mapping[str, int]
    warnings: tuple[Notice, ...]
    items: tuple[str, ...] = ()

    @property
    def n_raters(self) -> int | None:
        """Raters named; None where votes name none."""
        return None if self.raters is None else len(self.raters)

    @property
    def sampled(self) -> Comparisons:
        """The comparisons, raters below 0 where votes name none."""
        if self.raters is not None:
            return self.comparisons
        return replace(self.comparisons, rater=np.full(len(self.comparisons), -1))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem(EloEstimate):
    """One system's strength, every vote counted once, and with strengths the weighted Elo.

    Attributes:
        win_rate: (wins + half the ties) / `n_comparisons`.
        elo_weighted: Elo, decided votes weighted by strength; None without strengths.
        low_weighted: Its interval; None also where its votes do not determine one.
    """

    system: str
    win_rate: float
    n_comparisons: int
    elo_weighted: float | None = None
    low_weighted: float | None = None
    high_weighted: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankFit:
    """How the fit went and whether one strength per system explains the votes, as `FitCheck` says.

    Attributes:
        converged: True; a fit that does not converge is an error.
        n_ties: Ties among the votes that were read, dropped or not.
        n_dropped: Votes left out, by reason.
        components: Groups of systems that the votes alone connect; more than one only with a prior.
        n_replicates_not_identified: Bootstrap replicates left out because they determine no
            strengths; None without a bootstrap.
    """

    converged: bool
    n_votes: int
    n_ties: int
    n_dropped: Mapping[str, int]
    rms_gap: float
    max_gap: float
    system_rms_gap: float
    system_max_gap: float
    components: tuple[tuple[str, ...], ...]
    n_replicates_not_identified: int | None
    expected_rms_gap: float | None = None
    expected_max_gap: float | None = None
    lack_of_fit: LackOfFit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSettings:
    """How a ranking was made.

    Attributes:
        interval: The interval asked for; the default where none was.
        df: Degrees of freedom of t; None for the normal distribution and for percentiles.
        prior: Half-won comparisons added to every pair of systems.
        columns: Column by role.
        n_items: Items; None where votes name none and each is its own.
        n_raters: Raters; None where votes name none.
    """

    interval: str
    interval_used: str
    df: float | None
    level: float
    ties: str
    prior: float
    resamples: int
    seed: int
    columns: Mapping[str, str]
    n_items: int | None
    n_raters: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRanking:
    """A ranking of the systems that a table of votes compares.

    Attributes:
        systems: Systems, best first.
        matrix: Every two systems that were compared, by name: what was observed and what the
            strengths expect.
        ranked: What the rest is made of.
    """

    systems: tuple[RankedSystem, ...]
    fit: RankFit
    settings: RankSettings
    warnings: tuple[Notice, ...]
    matrix: tuple[HeadToHead, ...]
    ranked: Ranked = field(repr=False, compare=False)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Every two systems, in the order of `systems`."""
        return self.ranked.differences

    @property
    def pairs(self) -> tuple[PairFit, ...]:
        """The fit check of every two systems that were compared."""
        return self.ranked.check_fit().pairs

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``heart rank --json`` prints."""
        is_weighted = self.systems[0].elo_weighted is not None
        keys = SYSTEM_KEYS + WEIGHTED_KEYS * is_weighted
        # Of a row its fields: pairs may be many.
        columns = [each.name for each in fields(HeadToHead)]
        return {
            "schema": "heart.rank/1",
            **({SIMULATED: True} if simulated_line(self.warnings) else {}),
            "systems": [{key: getattr(row, key) for key in keys} for row in self.systems],
            "fit": asdict(self.fit),
            "settings": asdict(self.settings),
            "warnings": list(self.warnings),
            "matrix": [{name: getattr(row, name) for name in columns} for row in self.matrix],
        }


V = TypeVar("V", bound=VoteRanking)


def rank_votes(
    votes: Votes, policy: RankPolicy, *, columns: dict[str, str], make: Callable[..., V]
) -> V:
    """Rank systems by votes; the order of votes changes nothing to the last digit.

    Args:
        votes: The votes.
        policy: How to rank.
        columns: Column by role, to be shown.
        make: `VoteRanking`, or what makes one that can be looked at.

    Raises:
        InvalidVotesError: Strengths are too far apart to be weighed against each other.
        NotIdentifiedError: The votes do not determine the strengths or the interval; it names the
            groups of systems.
        SettingsError: The interval asked for needs a column that was not named.
    """
    _check_strengths(votes)
    comparisons, n_dropped = _drop_ties(votes, policy)
    once = with_columns(comparisons, weight=np.ones(len(comparisons)))
    if votes.has_strength:
        once = count_equal(once)
    ranked = _rank(votes, once, policy)
    weighted = _rank(votes, comparisons, policy) if votes.has_strength else None
    n_items, n_raters = _count_used(votes, comparisons)
    (matrix, lack_of_fit, chance), df = ranked.direct, ranked.df
    wins, expected = ranked.fit.points, ranked.fit.expected_points
    pairs, systems = check_pairs(wins, expected)[2], check_systems(wins, expected)
    leaders = [name for name, each in ranked.by_name.items() if each.rank == 1]
    return make(
        systems=tuple(_systems(ranked, weighted)),
        fit=RankFit(
            converged=True,
            n_votes=int(comparisons.count.sum()),
            n_ties=votes.n_ties,
            n_dropped=n_dropped,
            rms_gap=pairs.root_mean_square,
            max_gap=pairs.largest,
            system_rms_gap=systems.root_mean_square,
            system_max_gap=systems.largest,
            components=tuple(tuple(votes.systems[i] for i in group) for group in ranked.groups),
            n_replicates_not_identified=ranked.uncertainty.n_not_identified,
            expected_rms_gap=chance.root_mean_square if chance else None,
            expected_max_gap=chance.largest if chance else None,
            lack_of_fit=lack_of_fit,
        ),
        settings=RankSettings(
            interval=policy.interval or ranked.interval_chosen,
            interval_used=ranked.interval_used,
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
            *ranked.warn_of_pairs(leaders),
            *votes.warnings,
            *ranked.interval_warnings,
            *ranked.support_warnings,
            *_prior_warnings(ranked),
            *_weighted_warnings(ranked, weighted),
        ),
        matrix=matrix,
        ranked=ranked,
    )


def _drop_ties(votes: Votes, policy: RankPolicy) -> tuple[Comparisons, dict[str, int]]:
    n_dropped = dict(votes.n_dropped)
    if policy.ties != "drop":
        return votes.sampled, n_dropped
    is_decided = votes.comparisons.score != TIE_SCORE
    if not is_decided.any():
        raise NotIdentifiedError(
            f"all {votes.n_votes:,} votes are ties: nothing is left when ties are dropped"
        )
    if votes.n_ties:
        n_dropped["tie"] = votes.n_ties
    return select_comparisons(votes.sampled, is_decided), n_dropped


def _check_strengths(votes: Votes) -> None:
    weights = votes.comparisons.weight
    if votes.has_strength and len(weights) and weights.max() > MAX_STRENGTH:
        raise InvalidVotesError(
            f"strengths of up to {weights.max():g} are too large; scale them to numbers such as 1"
            " to 5"
        )
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


def _rank(votes: Votes, comparisons: Comparisons, policy: RankPolicy) -> Ranked:
    return rank_comparisons(
        comparisons, votes.systems, policy, has_items=votes.n_items is not None, wording=VOTES
    )


def _systems(ranked: Ranked, weighted: Ranked | None) -> list[RankedSystem]:
    n = count_comparisons(ranked.fit.comparisons)
    rates = ranked.fit.points.sum(axis=1) / n
    beside = weighted.estimates if weighted else None
    return [
        RankedSystem(
            **flat_fields(ranked.estimates[i]),
            system=ranked.names[i],
            win_rate=float(rates[i]),
            n_comparisons=int(n[i]),
            elo_weighted=beside[i].elo if beside else None,
            low_weighted=beside[i].low if beside else None,
            high_weighted=beside[i].high if beside else None,
        )
        for i in ranked.order
    ]


def _prior_warnings(ranked: Ranked) -> list[Notice]:
    if len(ranked.groups) == 1:
        return []
    listed = list_groups([[ranked.names[i] for i in group] for group in ranked.groups])
    text = (
        "The votes alone determine no ranking between these groups, the prior does; so there are no"
        f" intervals: {listed}."
    )
    return [Notice(Kind.PRIOR, text)]


def _weighted_warnings(ranked: Ranked, weighted: Ranked | None) -> list[Notice]:
    if weighted is None or weighted.interval_used == ranked.interval_used:
        return []
    text = f"The weighted Elo has another interval: {weighted.interval_used}."
    return [Notice(Kind.OTHER_INTERVAL, text)]
