"""What an analysis returns: frozen records that hold estimate, interval, counts, policy, warnings.

`report` formats these and computes nothing; ``heart analyze`` writes them as JSON. Shares and rates
are 0 to 1; ratings are Elo with mean 1500; ``low`` and ``high`` are interval ends at `level`. The
leaderboard's own records are in `leaderboard_results`, those of its audits in `audit_results`, of
the judges in `judge_majorities` and `judge_audit_results`; of a study of ratings in
`rating_results`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from heartbench.analysis.audit_results import BiasAudit, JudgePanel
from heartbench.analysis.judge_audit_results import Consistency, JudgeAudits
from heartbench.analysis.judge_majorities import JudgeMajorities
from heartbench.analysis.leaderboard_results import Leaderboard
from heartbench.analysis.rank_stability import RankStability
from heartbench.analysis.rating_results import RatingResults
from heartbench.domain import Axis


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
        n_assigned: Assignments planned; under the rating protocol, completions to rate.
        n_judged: Judgments given; ratings likewise.
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
        bias_audit: Whether length, formatting or position explain the ranking; None without one.
        judge_panel: How the judges differ; None without a ranking, or with fewer than two judges.
        majorities: What the judges say together; None without a judgment by one.
        rank_stability: Rankings by whole repeats beside the first; empty where there are none.
        judge_audits: What the audits say of each judge; None where none has judged.
        ratings: Scores by system; None unless the study's protocol is ``rating``.
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
    bias_audit: BiasAudit | None
    judge_panel: JudgePanel | None
    majorities: JudgeMajorities | None
    rank_stability: tuple[RankStability, ...]
    judge_audits: JudgeAudits | None
    ratings: RatingResults | None
    judge_notice: str | None
    warnings: tuple[str, ...]
