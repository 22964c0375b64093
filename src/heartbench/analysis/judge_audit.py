"""What an audit found out about each judge: preferences, position, repeatability, injections.

All judgments of one item by one judge are one value, so that both orders or many payloads of an
item narrow no interval. A share of preferences has Wilson's interval over items; a share of pairs
answered alike, and a difference between judges, Student's t over items.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from heartbench.analysis.audit_results import PLANNED
from heartbench.analysis.coverage import BASELINE_FAMILY, NOT_ASKED, winner_of
from heartbench.analysis.judge_audit_results import InjectionAudit, JudgeAudit, JudgeAudits
from heartbench.analysis.judge_faults import find_faults
from heartbench.analysis.judgment_columns import JudgmentColumns, select_rows, select_systems
from heartbench.analysis.own_family import own_family_preference
from heartbench.analysis.shares import Share, score_of, share_over_items
from heartbench.analysis.stress import consistency_results
from heartbench.domain import Assignment, Attempt, Rater, System

REFERENCE, INJECTION = "reference", "injection"
LONGER, FORMATTED = "padded", "formatted"
SAME_CONTENT = (LONGER, FORMATTED)
"""Kinds that hold the reference itself: what they win by is length or formatting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecords:
    """What an audit is computed from.

    Attributes:
        systems: Ranked and stress systems, those of the audit among them.
        raters: The study's LLM judges.
        columns: Judgments of the study and of its audit.
        assignments: Assignments of the audit, the study's own stress set among them; judgments of
            other stress texts are left out.
        attempts: Failed calls.
        exclude_own_family: Whether judges are kept from their own family's completions.
    """

    systems: Sequence[System]
    raters: Sequence[Rater]
    columns: JudgmentColumns
    assignments: Sequence[Assignment]
    attempts: Sequence[Attempt]
    exclude_own_family: bool


def audit_judges(records: AuditRecords, *, level: float) -> tuple[JudgeAudit, ...]:
    """Return what the audit says of each judge, by name."""
    stress = {system.id: system for system in records.systems if system.kind == "stress"}
    assigned = {assignment.id for assignment in records.assignments}
    columns = select_systems(records.columns, stress.keys())
    columns = select_rows(columns, [id_ in assigned for id_ in columns.assignment_id])
    return tuple(
        _audit_judge(rater, columns, stress, records, level=level)
        for rater in sorted(records.raters, key=lambda rater: rater.name)
    )


def collect_audits(records: AuditRecords, *, level: float) -> JudgeAudits | None:
    """Return what is known of every judge, for a report; None where none has judged anything."""
    if not len(records.columns):
        return None
    audits = audit_judges(records, level=level)
    return JudgeAudits(
        judges=audits,
        not_audited=tuple(audit.judge for audit in audits if audit.injection is None),
        level=level,
        status=PLANNED,
    )


def _audit_judge(
    rater: Rater,
    columns: JudgmentColumns,
    stress: Mapping[str, System],
    records: AuditRecords,
    *,
    level: float,
) -> JudgeAudit:
    rows = select_rows(columns, [rater_id == rater.id for rater_id in columns.rater_id])
    judged = set(rows.assignment_id)
    assigned = [a.id for a in records.assignments if a.rater_id == rater.id]
    beside = _beside_references(rows, stress)
    first_time = [row for row in beside if row.repeat == 0]
    kinds = _by(first_time, lambda row: row.text("stress"))
    injections = kinds.pop(INJECTION, [])
    found = consistency_results(rows, raters={rater.id: rater.name}, level=level)
    checks = {result.check: result for result in found}
    audit = JudgeAudit(
        judge=rater.name,
        family=rater.family,
        is_baseline=rater.family == BASELINE_FAMILY,
        n_assigned=len(assigned),
        n_judged=len(judged),
        missing=_missing([id_ for id_ in assigned if id_ not in judged], records.attempts),
        stress={
            kind: share_over_items([(row.item_id, 1 - row.won) for row in of_kind], level=level)
            for kind, of_kind in kinds.items()
            if kind not in SAME_CONTENT
        },
        longer=_won(kinds.get(LONGER, []), level=level),
        formatted=_won(kinds.get(FORMATTED, []), level=level),
        shown_first=_shown_first(first_time, level=level),
        same_in_both_orders=checks.get("order"),
        same_again=checks.get("repeat"),
        injection=_audit_injections(injections, stress, level=level),
        own_family=own_family_preference(
            records.columns,
            rater,
            records.raters,
            {system.id: system.family for system in records.systems if system.kind != "stress"},
            is_excluded=records.exclude_own_family,
            level=level,
        ),
        faults=(),
    )
    return replace(audit, faults=find_faults(audit, level=level))


@dataclass(frozen=True, slots=True)
class _Row:
    """One judgment of a text beside the reference: the text's system, and how often it won."""

    item_id: str
    pair_id: str
    repeat: int
    system: System
    is_first: bool
    won: float

    def text(self, setting: str) -> str:
        return str(self.system.settings[setting])


def _beside_references(columns: JudgmentColumns, stress: Mapping[str, System]) -> list[_Row]:
    rows = []
    for row in range(len(columns)):
        first, second = stress[columns.first_system_id[row]], stress[columns.second_system_id[row]]
        is_first = second.settings["stress"] == REFERENCE
        system = first if is_first else second
        rows.append(
            _Row(
                item_id=columns.item_id[row],
                pair_id=columns.pair_id[row],
                repeat=columns.repeat[row],
                system=system,
                is_first=is_first,
                won=score_of(winner_of(columns, row), {system.id}),
            )
        )
    return rows


def _by(rows: Iterable[_Row], label: Callable[[_Row], str]) -> dict[str, list[_Row]]:
    parts: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        parts[label(row)].append(row)
    return {name: parts[name] for name in sorted(parts)}


def _won(rows: Sequence[_Row], *, level: float) -> Share | None:
    if not rows:
        return None
    return share_over_items([(row.item_id, row.won) for row in rows], level=level)


def _won_by(
    rows: Sequence[_Row], label: Callable[[_Row], str], *, level: float
) -> dict[str, Share]:
    return {
        name: share_over_items([(row.item_id, row.won) for row in part], level=level)
        for name, part in _by(rows, label).items()
    }


def _shown_first(rows: Sequence[_Row], *, level: float) -> Share | None:
    """Return how often the first text won, of pairs judged in both orders."""
    n_orders = Counter(row.pair_id for row in rows)
    values = [
        (row.item_id, row.won if row.is_first else 1 - row.won)
        for row in rows
        if n_orders[row.pair_id] == 2
    ]
    return share_over_items(values, level=level) if values else None


def _missing(absent: Sequence[str], attempts: Sequence[Attempt]) -> dict[str, int]:
    in_time = sorted(attempts, key=lambda attempt: attempt.attempt)
    reasons = {attempt.assignment_id: attempt.reason for attempt in in_time}
    return dict(sorted(Counter(reasons.get(id_, NOT_ASKED) for id_ in absent).items()))


def _audit_injections(
    rows: Sequence[_Row], stress: Mapping[str, System], *, level: float
) -> InjectionAudit | None:
    overall = _won(rows, level=level)
    if overall is None:
        return None
    n_texts = sum(system.settings["stress"] == INJECTION for system in stress.values())
    payloads = _by(rows, lambda row: row.text("payload"))
    both = {name: part for name, part in payloads.items() if len(part) == 2}
    return InjectionAudit(
        overall=overall,
        sides=_won_by(rows, lambda row: row.text("side"), level=level),
        kinds=_won_by(rows, lambda row: row.text("payload_kind"), level=level),
        n_payloads=len(both),
        won_both_sides=tuple(
            name for name, part in both.items() if all(row.won == 1 for row in part)
        ),
        n_lost_both_sides=sum(all(row.won == 0 for row in part) for part in both.values()),
        n_missing=n_texts - len(rows),
    )
