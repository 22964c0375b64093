"""A whole study's records -> `StudyResults`. Pure: the shell reads the store and passes them in."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from heartbench.analysis.audit_results import BiasAudit, JudgePanel
from heartbench.analysis.bias_audit import ShownTexts, audit_bias
from heartbench.analysis.coverage import BASELINE_FAMILY, cover_judges, cover_ratings, cover_systems
from heartbench.analysis.judge_audit import AuditRecords, collect_audits
from heartbench.analysis.judge_audit_results import JudgeAudits
from heartbench.analysis.judge_majorities import count_judges_together
from heartbench.analysis.judge_panel import compare_judges
from heartbench.analysis.judgment_columns import JudgmentColumns, join_rows, select_rows
from heartbench.analysis.leaderboard_results import Leaderboard
from heartbench.analysis.rank_stability import rank_stability
from heartbench.analysis.ranking import people_among, rank_systems
from heartbench.analysis.rating import analyze_ratings
from heartbench.analysis.rating_scores import RatingRecords
from heartbench.analysis.results import (
    Coverage,
    FunnelStep,
    Provenance,
    StressResult,
    StudyResults,
)
from heartbench.analysis.stress import consistency_results, stress_results
from heartbench.analysis.win_rates import win_rates
from heartbench.domain import (
    Assignment,
    Attempt,
    Completion,
    Item,
    Pair,
    Rater,
    System,
)
from heartbench.errors import NotIdentifiedError
from heartbench.protocol import CUE_NOTICE

MANY_FLIPS = 0.2
RATED = "the judges of this study rate each completion by itself, so nothing is compared"
JUDGED_BY_CUES = f"{CUE_NOTICE} Use these numbers to test the pipeline, not to compare systems."


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAudit:
    """What ``heart judges audit`` has stored beyond the study's own stress set.

    Attributes:
        systems: Stress systems.
        pairs: Pairs of their texts.
        assignments: Planned assignments.
        attempts: Failed calls.
        columns: Judgments.
    """

    systems: Sequence[System]
    pairs: Sequence[Pair]
    assignments: Sequence[Assignment]
    attempts: Sequence[Attempt]
    columns: JudgmentColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRecords:
    """What one version of a study holds.

    Attributes:
        items: Its items.
        systems: Its systems, those of the stress set among them.
        raters: Its raters.
        completions: Completions of its items by its systems.
        attempts: Failed calls.
        pairs: Planned pairs.
        assignments: Planned assignments.
        columns: Judgments.
        audit: The audit of its judges; None where there was none.
        exclude_own_family: Whether judges are kept from their own family's completions.
        ratings: Ratings; None unless the study's protocol is ``rating``.
        n_identical: Pairs not planned because both texts are the same.
        funnel: How the items were selected.
        provenance: How all this was made.
    """

    items: Sequence[Item]
    systems: Sequence[System]
    raters: Sequence[Rater]
    completions: Sequence[Completion]
    attempts: Sequence[Attempt]
    pairs: Sequence[Pair]
    assignments: Sequence[Assignment]
    columns: JudgmentColumns
    audit: StoredAudit | None
    exclude_own_family: bool
    ratings: RatingRecords | None = None
    n_identical: int
    funnel: Sequence[FunnelStep]
    provenance: Provenance


def analyze_study(records: StudyRecords, *, level: float = 0.95) -> StudyResults:
    """Compute everything the report shows.

    Repeats are for the audit of the judges and never enter a ranking. A ranking that the judgments
    do not determine is reported as such, with its reason; it does not
    stop the rest. Where judges rate, scores stand in place of a ranking.
    """
    ranked = [system for system in records.systems if system.kind != "stress"]
    own = _of_members(records.columns, records.systems, records)
    n_foreign = len(records.columns) - len(own)
    ranked_ids = {system.id for system in ranked}
    is_ranked = [first in ranked_ids for first in own.first_system_id]
    asked_once = [repeat == 0 for repeat in own.repeat]
    columns = select_rows(own, [a and b for a, b in zip(is_ranked, asked_once, strict=True)])
    is_cue_judged = any(rater.family == BASELINE_FAMILY for rater in records.raters)
    leaderboard, problem = _rank(columns, ranked, records.raters, level=level)
    bias_audit, judge_panel = _audit(columns, leaderboard, records, level=level)
    coverage = _coverage(records, ranked, columns)
    judge_audits = collect_audits(_audit_records(own, records), level=level)
    results = StudyResults(
        provenance=records.provenance,
        coverage=coverage,
        funnel=tuple(records.funnel),
        leaderboard=leaderboard,
        leaderboard_problem=problem,
        win_rates=win_rates(columns, ranked),
        stress=_stress(select_rows(own, [not flag for flag in is_ranked]), records, level=level),
        consistency=consistency_results(
            select_rows(own, is_ranked),
            raters={rater.id: rater.name for rater in records.raters},
            level=level,
        ),
        bias_audit=bias_audit,
        judge_panel=judge_panel,
        majorities=count_judges_together(columns, ranked, records.raters),
        rank_stability=rank_stability(select_rows(own, is_ranked), ranked, level=level),
        judge_audits=judge_audits,
        ratings=None,
        judge_notice=JUDGED_BY_CUES if is_cue_judged else None,
        warnings=_warnings(coverage, judge_audits, 0 if records.ratings else n_foreign),
    )
    if records.ratings is None:
        return results
    return _with_ratings(results, records.ratings, records, level=level)


def _with_ratings(
    results: StudyResults, of: RatingRecords, records: StudyRecords, *, level: float
) -> StudyResults:
    """Return the results of a study whose judges rate: its scores, and no ranking."""
    ratings, stress = analyze_ratings(
        of, records.completions, records.systems, records.raters, level=level
    )
    ranked = {system.id for system in records.systems if system.kind != "stress"}
    of_ranked = {c.id for c in records.completions if c.system_id in ranked}
    wanted = [t for t in of.targets if t.completion_id in of_ranked and t.repeat == 0]
    judges = cover_ratings(records.raters, wanted, of.ratings, records.attempts)
    n_foreign = len({rating.target for rating in of.ratings} - set(of.targets))
    unused = []
    if n_foreign:
        unused.append(
            f"{n_foreign} stored ratings are by judges or of completions that the study file no"
            " longer names; they are kept and not used."
        )
    if len(records.columns):
        unused.append(
            f"{len(records.columns)} stored judgments of pairs are kept and not used: the study's"
            " protocol is rating."
        )
    return replace(
        results,
        coverage=replace(results.coverage, judges=judges, n_pairs=0),
        leaderboard=None,
        leaderboard_problem=RATED,
        stress=stress,
        ratings=ratings,
        warnings=(*results.warnings, *unused),
    )


def _of_members(
    columns: JudgmentColumns, of: Sequence[System], records: StudyRecords
) -> JudgmentColumns:
    """Keep the judgments of these systems whose item and rater are in this version of the study."""
    items = {item.id for item in records.items}
    systems = {system.id for system in of}
    raters = {rater.id for rater in records.raters}
    keep = [
        columns.item_id[row] in items
        and columns.first_system_id[row] in systems
        and columns.second_system_id[row] in systems
        and columns.rater_id[row] in raters
        for row in range(len(columns))
    ]
    return select_rows(columns, keep)


def _rank(
    columns: JudgmentColumns, systems: Sequence[System], raters: Sequence[Rater], *, level: float
) -> tuple[Leaderboard | None, str | None]:
    if not len(columns):
        return None, "there is no judgment yet; see what is missing, then run `heart judge`"
    try:
        return rank_systems(columns, systems, raters, level=level), None
    except NotIdentifiedError as error:
        return None, str(error)


def _audit(
    columns: JudgmentColumns,
    leaderboard: Leaderboard | None,
    records: StudyRecords,
    *,
    level: float,
) -> tuple[BiasAudit | None, JudgePanel | None]:
    """Audit the ranking of the systems that have one."""
    if leaderboard is None:
        return None, None
    names = {row.system for row in leaderboard.rows}
    systems = [system for system in records.systems if system.name in names]
    shown = ShownTexts(
        completions=records.completions, pairs=records.pairs, assignments=records.assignments
    )
    people = people_among(records.raters)
    return (
        audit_bias(columns, systems, shown, people=people, level=level),
        compare_judges(columns, systems, records.raters, level=level),
    )


def _coverage(
    records: StudyRecords, ranked: Sequence[System], columns: JudgmentColumns
) -> Coverage:
    ranked_ids = {system.id for system in ranked}
    item_ids = {item.id for item in records.items}
    rater_ids = {rater.id for rater in records.raters}
    system_of = {c.id: c.system_id for c in records.completions if c.item_id in item_ids}
    pairs = {
        pair.id: pair
        for pair in records.pairs
        if all(system_of.get(completion) in ranked_ids for completion in pair.completion_ids)
    }
    compared = {
        frozenset(pair)
        for pair in zip(columns.first_system_id, columns.second_system_id, strict=True)
    }
    return Coverage(
        n_items=dict(sorted(Counter(item.subset for item in records.items).items(), reverse=True)),
        systems=cover_systems(ranked, records.items, records.completions, records.attempts),
        judges=cover_judges(
            records.raters,
            [
                assignment
                for assignment in records.assignments
                if assignment.pair_id in pairs
                and assignment.rater_id in rater_ids
                and assignment.repeat == 0
            ],
            records.attempts,
            columns,
        ),
        n_pairs=len(pairs),
        n_identical=records.n_identical,
        n_system_pairs=len(compared),
        n_system_pairs_possible=len(list(combinations(ranked, 2))),
    )


def _stress(
    columns: JudgmentColumns, records: StudyRecords, *, level: float
) -> tuple[StressResult, ...]:
    kinds = {
        system.id: str(system.settings["stress"])
        for system in records.systems
        if system.kind == "stress"
    }
    references = [system_id for system_id, kind in kinds.items() if kind == "reference"]
    if not references:
        return ()
    return stress_results(
        columns,
        kinds=kinds,
        reference_id=references[0],
        raters={rater.id: rater.name for rater in records.raters},
        level=level,
    )


def _audit_records(own: JudgmentColumns, records: StudyRecords) -> AuditRecords:
    """Return what the store holds of the judges' audit: the study's stress set, and the rest."""
    audit = records.audit
    stress = {system.id for system in records.systems if system.kind == "stress"}
    texts = {c.id for c in records.completions if c.system_id in stress}
    pairs = [pair for pair in records.pairs if texts.issuperset(pair.completion_ids)]
    if audit is None:
        systems, columns = records.systems, own
        assignments, attempts = records.assignments, records.attempts
    else:
        pairs += audit.pairs
        by_id = {system.id: system for system in (*records.systems, *audit.systems)}
        systems = list(by_id.values())
        columns = join_rows(own, _of_members(audit.columns, audit.systems, records))
        assignments = [*records.assignments, *audit.assignments]
        attempts = [*records.attempts, *audit.attempts]
    items = {item.id for item in records.items}
    wanted = {pair.id for pair in pairs if pair.item_id in items}
    return AuditRecords(
        systems=systems,
        raters=[rater for rater in records.raters if rater.kind == "llm"],
        columns=columns,
        assignments=[a for a in assignments if a.pair_id in wanted],
        attempts=attempts,
        exclude_own_family=records.exclude_own_family,
    )


def _warnings(coverage: Coverage, audits: JudgeAudits | None, n_foreign: int) -> tuple[str, ...]:
    warnings = [
        f"{row.system} has no completion for {row.n_items - row.n_completions} of {row.n_items} "
        "items; its figures stand on the others."
        for row in coverage.systems
        if 0 < row.n_completions < row.n_items
    ]
    warnings += [
        f"{judge.rater} chose otherwise in {100 * judge.n_flips / judge.n_both_orders:.0f} % of "
        "the pairs when they were shown the other way round."
        for judge in coverage.judges
        if judge.n_flips > MANY_FLIPS * judge.n_both_orders
    ]
    warnings += [
        f"Tests find fault with {audit.judge}: it {'; it '.join(audit.faults)}."
        for audit in (audits.judges if audits else ())
        if audit.faults
    ]
    if n_foreign:
        warnings.append(
            f"{n_foreign} stored judgments are about items, systems or judges that the study file "
            "no longer names; they are kept and not used."
        )
    return tuple(warnings)
