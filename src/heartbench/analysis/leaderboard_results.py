"""What ranking a study returns: ratings with intervals, standings by axis, the fit checks.

Shares and rates are 0 to 1; ratings are Elo with mean 1500; ``low`` and ``high`` are interval ends
at the level of the leaderboard.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from heartbench.analysis.vote_results import Difference
from heartbench.domain import Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class EloEstimate:
    """One system's Bradley-Terry rating from one set of judgments.

    Attributes:
        elo: 400 (theta - mean theta) / ln 10 + 1500.
        low: Lower end of the interval named by the table's `interval_used`.
        high: Upper end.
        published_low: Lower end of the paper's interval, SE = sqrt(1/n) (HEART 9.8); too narrow.
        published_high: Upper end of it.
        theta: Log-strength; the field sums to 0.
        se: Standard error of theta, in theta's units.
        rank: 1 is best; equal ratings share the better rank.
        rank_low: Best rank its differences from the others leave open.
        rank_high: Worst one.
    """

    elo: float
    low: float
    high: float
    published_low: float
    published_high: float
    theta: float
    se: float
    rank: int
    rank_low: int
    rank_high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisStanding:
    """One system on one axis.

    Attributes:
        win_rate: (wins + half the ties) / comparisons on this axis.
        percentile: Share of the other systems with a lower win rate, ties half, times 100.
        elo: Unweighted axis Elo; None where the axis is not identified.
        low: Interval end; None likewise.
        high: Interval end; None likewise.
        n_comparisons: Comparisons with a mark on this axis.
        n_items: Items these are of; an axis Elo needs two, and its t counts the axis's items.
    """

    win_rate: float
    percentile: float
    elo: float | None
    low: float | None
    high: float | None
    n_comparisons: int
    n_items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisInterval:
    """The interval an axis got, which may be another than the overall one.

    Attributes:
        interval_used: ``two-way`` or ``item-sandwich``.
        df: Degrees of freedom of t.
    """

    interval_used: str
    df: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardRow:
    """One system in the ranking.

    Attributes:
        system: Its name.
        kind: Its kind (model, human, original, baseline).
        family: Its family.
        weighted: The headline: judgments weighted by strength, as in the paper (HEART 9.8).
        unweighted: Every judgment counts once.
        rank_differs: Whether the two ranks differ; such systems are marked.
        win_rate: (wins + half the ties) / comparisons, unweighted.
        n_comparisons: Judgments this system is part of.
        n_wins: Judgments it won.
        n_ties: Judgments it tied.
        axes: Standing by axis; only axes with marks.
    """

    system: str
    kind: str
    family: str
    weighted: EloEstimate
    unweighted: EloEstimate
    rank_differs: bool
    win_rate: float
    n_comparisons: int
    n_wins: int
    n_ties: int
    axes: Mapping[Axis, AxisStanding]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFit:
    """How often one system won over another, and how often ratings say it does.

    Attributes:
        left: One system.
        right: The other.
        n: Comparisons of the two.
        observed: Share won by `left`, ties half.
        predicted: The same from the ratings.
    """

    left: str
    right: str
    n: int
    observed: float
    predicted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFit:
    """Observed and predicted overall win rate of one system, every judgment counting once."""

    system: str
    n: int
    observed: float
    predicted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FitCheck:
    """Compare what one strength per system predicts with what was observed (SPEC section 6).

    Attributes:
        ratings: Whose prediction: ``unweighted``, or ``weighted`` by strength. What was observed is
            the unweighted share of wins in both.
        rms_gap: Root mean square of observed minus predicted over pairs, weighted by count.
        max_gap: Largest absolute gap over pairs.
        system_rms_gap: The same over systems; 0 for the unweighted ratings, which meet their own
            comparisons.
        system_max_gap: Largest over systems.
        pairs: Every pair of systems that was compared.
        systems: Every system.
    """

    ratings: str
    rms_gap: float
    max_gap: float
    system_rms_gap: float
    system_max_gap: float
    pairs: tuple[PairFit, ...]
    systems: tuple[SystemFit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """The ranking of a study and how it was made.

    Attributes:
        rows: Systems, best headline rating first.
        differences: Every two systems by the headline, in the order of `rows`.
        fit: The fit check of the unweighted ratings.
        fit_weighted: That of the headline: what judgments weighted by strength predict for
            judgments that count once.
        axis_problems: Why an axis has no Elo, by axis, naming the components.
        axis_intervals: Interval really used and its degrees of freedom, by axis with an Elo.
        interval_used: Name of the interval really used by both overall ratings, ``two-way`` or
            ``item-sandwich``.
        level: Nominal coverage, e.g. 0.95.
        df: Degrees of freedom of t.
        ties: How ties count, e.g. ``half``.
        judged_by: Who voted: ``people``, ``judges`` or ``both``.
        n_judgments: Judgments behind the ranking.
        n_ties: Ties among them.
        n_items: Items they stand on.
        n_raters: Raters who gave them.
        n_people: People among these; two-way intervals need five.
        warnings: What a reader must know beside the numbers.
    """

    rows: tuple[LeaderboardRow, ...]
    differences: tuple[Difference, ...]
    fit: FitCheck
    fit_weighted: FitCheck
    axis_problems: Mapping[Axis, str]
    axis_intervals: Mapping[Axis, AxisInterval]
    interval_used: str
    level: float
    df: int
    ties: str
    judged_by: str
    n_judgments: int
    n_ties: int
    n_items: int
    n_raters: int
    n_people: int
    warnings: tuple[str, ...]
