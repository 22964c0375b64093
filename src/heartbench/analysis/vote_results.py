"""What ranking a table of votes returns: the fields of ``heartbench.rank/1`` and what goes deeper.

Shares and gaps are 0 to 1; ratings are Elo with mean 1500.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """One system's rating.

    Attributes:
        system: Its name.
        elo: 400 (theta - mean theta) / ln 10 + 1500, every vote counted once.
        low: Lower end of the interval; None where its votes do not determine one.
        high: Upper end; None likewise.
        theta: Log-strength; the field sums to 0.
        se: Standard error of theta; None where there is no interval.
        win_rate: (wins + half the ties) / `n_comparisons`.
        n_comparisons: Votes it is part of.
        rank_low: Best rank its differences from the others leave open.
        rank_high: Worst one.
        elo_weighted: The same as `elo`, decided votes weighted by strength; None without strengths.
        low_weighted: Its interval.
        high_weighted: Its interval.
    """

    system: str
    elo: float
    low: float | None
    high: float | None
    theta: float
    se: float | None
    win_rate: float
    n_comparisons: int
    rank_low: int
    rank_high: int
    elo_weighted: float | None = None
    low_weighted: float | None = None
    high_weighted: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankFit:
    """How the fit went and whether one strength per system explains the votes.

    Attributes:
        converged: True; a fit that does not converge is an error.
        n_votes: Votes used.
        n_ties: Ties among the votes that were read, dropped or not.
        n_dropped: Votes left out, by reason.
        rms_gap: Root mean square over pairs of observed minus predicted wins, weighted by count.
        max_gap: Largest absolute gap over pairs.
        system_rms_gap: The same over systems; 0 at the plain fit of its own votes.
        system_max_gap: Largest over systems.
        components: Groups of systems that votes connect: all in one, or there is no ranking.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSettings:
    """How a ranking was made.

    Attributes:
        interval: The interval asked for; the default where none was.
        interval_used: The interval really used.
        df: Degrees of freedom of t; None for the normal distribution and for percentiles.
        level: Nominal coverage.
        ties: How ties count.
        prior: Half-won comparisons added to every pair of systems.
        resamples: Bootstrap replicates asked for.
        seed: Seed of the bootstrap.
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
class Difference:
    """How far one system is above another.

    Attributes:
        system: One system.
        other: The other.
        elo: Difference in Elo; above 0 where `system` is better.
        low: Lower end of its interval; None where the votes do not determine one.
        high: Upper end; None likewise.
        p: Two-sided p-value of no difference.
        q: The same adjusted over all differences (Benjamini and Hochberg 1995).
    """

    system: str
    other: str
    elo: float
    low: float | None
    high: float | None
    p: float
    q: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairGap:
    """Observed and predicted share of wins of one system over another, ties half."""

    system: str
    other: str
    n: int
    observed: float
    predicted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRanking:
    """A ranking of the systems that a table of votes compares.

    Attributes:
        systems: Systems, best first.
        fit: How the fit went.
        settings: How it was made.
        warnings: What a reader must know beside the numbers.
        differences: Every two systems, in the order of `systems`.
        pairs: The fit check of every two systems that were compared.
    """

    systems: tuple[RankedSystem, ...]
    fit: RankFit
    settings: RankSettings
    warnings: tuple[str, ...]
    differences: tuple[Difference, ...]
    pairs: tuple[PairGap, ...]
