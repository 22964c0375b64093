"""What an analysis returns: frozen records that hold estimate, interval, counts, policy, warnings.

`report` formats these and computes nothing; ``heart analyze`` writes them as JSON. Shares and rates
are 0 to 1; ratings are Elo with mean 1500; ``low`` and ``high`` are interval ends at `level`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

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
    """

    elo: float
    low: float
    high: float
    published_low: float
    published_high: float
    theta: float
    se: float
    rank: int


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
class WinRate:
    """How often one system won, which needs no ranking to be known.

    Attributes:
        system: Its name.
        n_comparisons: Judgments it is part of.
        win_rate: (wins + half the ties) / comparisons; None without any comparison.
        axes: The same by axis, only where it has marks.
    """

    system: str
    n_comparisons: int
    win_rate: float | None
    axes: Mapping[Axis, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFit:
    """How often one system won over another, and how often the unweighted fit says it does.

    Attributes:
        left: One system.
        right: The other.
        n: Comparisons of the two.
        observed: Share won by `left`, ties half.
        predicted: The same from the fit.
    """

    left: str
    right: str
    n: int
    observed: float
    predicted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFit:
    """Observed and predicted overall win rate of one system (unweighted fit)."""

    system: str
    n: int
    observed: float
    predicted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FitCheck:
    """Compare what one strength per system predicts with what was observed (SPEC section 6).

    Attributes:
        rms_gap: Root mean square of observed minus predicted over pairs, weighted by count.
        max_gap: Largest absolute gap over pairs.
        system_rms_gap: The same over systems; 0 at the fit of its own comparisons.
        system_max_gap: Largest over systems.
        pairs: Every pair of systems that was compared.
        systems: Every system.
    """

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
        fit: The fit check.
        axis_problems: Why an axis has no Elo, by axis, naming the components.
        interval_used: Name of the interval really used, e.g. ``item-sandwich``.
        level: Nominal coverage, e.g. 0.95.
        df: Degrees of freedom of t.
        ties: How ties count, e.g. ``half``.
        judged_by: Who voted: ``people``, ``judges`` or ``both``.
        n_judgments: Judgments behind the ranking.
        n_ties: Ties among them.
        n_items: Items they stand on.
        n_raters: Raters who gave them.
        warnings: What a reader must know beside the numbers.
    """

    rows: tuple[LeaderboardRow, ...]
    fit: FitCheck
    axis_problems: Mapping[Axis, str]
    interval_used: str
    level: float
    df: int
    ties: str
    judged_by: str
    n_judgments: int
    n_ties: int
    n_items: int
    n_raters: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCoverage:
    """How many of the study's items one system answered, and why not the others."""

    system: str
    n_items: int
    n_completions: int
    missing: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCoverage:
    """What one rater was asked and gave, the stress set apart.

    Attributes:
        rater: Its name.
        kind: ``human`` or ``llm``.
        family: Its family.
        is_baseline: True for the offline cue judge, which measures nothing about empathy.
        n_assigned: Assignments planned.
        n_judged: Judgments given.
        missing: Missing ones by reason.
        n_undecided: Judgments its cues did not decide (cue judge only).
        n_both_orders: Pairs it judged in both orders.
        n_flips: Of these, pairs whose choice changed with the order.
    """

    rater: str
    kind: str
    family: str
    is_baseline: bool
    n_assigned: int
    n_judged: int
    missing: Mapping[str, int]
    n_undecided: int
    n_both_orders: int
    n_flips: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What stands behind the ranking, and what is missing.

    Attributes:
        n_items: Items by subset.
        systems: By system.
        judges: By rater.
        n_pairs: Pairs planned for the ranking.
        n_identical: Pairs not planned because both texts are the same.
        n_system_pairs: Pairs of systems compared, of `n_system_pairs_possible`.
        n_system_pairs_possible: Pairs of systems there are.
    """

    n_items: Mapping[str, int]
    systems: tuple[SystemCoverage, ...]
    judges: tuple[JudgeCoverage, ...]
    n_pairs: int
    n_identical: int
    n_system_pairs: int
    n_system_pairs_possible: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StressResult:
    """How often one judge put the reference reply above one kind of stress text.

    Attributes:
        rater: The judge.
        kind: Kind of stress text, e.g. ``hostile``.
        n_items: Items judged; both orders of an item are one value (1, 1/2 or 0).
        reference_rate: Mean of these values.
        low: Wilson interval over items.
        high: Wilson interval over items.
    """

    rater: str
    kind: str
    n_items: int
    reference_rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """How often one judge gives the same answer twice.

    Attributes:
        rater: The judge.
        check: ``order``: the same pair shown the other way round. ``repeat``: asked again.
        n_pairs: Pairs answered twice.
        n_items: Items these pairs are of; the interval is over items.
        rate: Mean over items of the share of pairs with the same winner both times.
        low: t interval over items; Wilson's where all items say the same.
        high: Likewise.
    """

    rater: str
    check: str
    n_pairs: int
    n_items: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelStep:
    """One rule of the item funnel: how many candidates came in and how many went on."""

    rule: str
    n_in: int
    n_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a result was made.

    Attributes:
        study: Name of the study.
        study_id: Its id.
        version: Its version.
        seed: Its seed.
        items_hash: SHA-256 over the items.
        settings_hash: SHA-256 over the settings.
        item_source: Where the items come from, in words.
        licences: Licences of the items.
        consent_bases: Who wrote the items and why they may be used; references and what is borrowed
            from them included.
        design: Design and settings, in words.
        protocols: Protocol by kind of rater.
        protocol_version: Version of the protocol texts.
        software: Name and version of the software and of what it computes with.
        created_at: ISO 8601, UTC.
    """

    study: str
    study_id: str
    version: int
    seed: int
    items_hash: str
    settings_hash: str
    item_source: str
    licences: tuple[str, ...]
    consent_bases: tuple[str, ...]
    design: str
    protocols: Mapping[str, str]
    protocol_version: str
    software: Mapping[str, str]
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResults:
    """Everything ``heart analyze`` computes.

    Attributes:
        provenance: How it was made.
        coverage: What stands behind it.
        funnel: How the items were selected; empty for items that came selected.
        leaderboard: The ranking; None where it could not be computed.
        leaderboard_problem: Why there is no ranking, else None.
        win_rates: Of every system, ranked or not, by name.
        stress: How each judge did on the stress set.
        consistency: How often each judge gives the same answer twice.
        judge_notice: What a judge is that must not be taken for more, on every output; else None.
        warnings: What a reader must know first.
    """

    provenance: Provenance
    coverage: Coverage
    funnel: tuple[FunnelStep, ...]
    leaderboard: Leaderboard | None
    leaderboard_problem: str | None
    win_rates: tuple[WinRate, ...]
    stress: tuple[StressResult, ...]
    consistency: tuple[Consistency, ...]
    judge_notice: str | None
    warnings: tuple[str, ...]
