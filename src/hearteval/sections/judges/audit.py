"""What an audit found out about each judge: preferences, position, repeatability, injections.

All judgments of one item by one judge are one value, so that both orders or many payloads of an
item narrow no interval. A share of preferences has Wilson's interval over items; a share of pairs
answered alike, and a difference between judges, Student's t over items.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hearteval.analysis.coverage.missing import count_missing, last_attempts
from hearteval.analysis.coverage.study import BASELINE_FAMILY
from hearteval.analysis.data import StudyData
from hearteval.analysis.estimates import PLANNED
from hearteval.analysis.judges import (
    REFERENCE,
    Consistency,
    Share,
    consistency_results,
    score_of,
    share_over_items,
)
from hearteval.analysis.judges.faults import (
    ALL,
    FORMATTED,
    LONGER,
    SHOWN_FIRST,
    find_faults,
    lean_q_values,
)
from hearteval.analysis.judges.own_family import OwnFamily, own_family_preference
from hearteval.analysis.judgments import JudgmentRow, Judgments
from hearteval.domain import Rater, System

INJECTION = "injection"
SAME_CONTENT = (LONGER, FORMATTED)
"""Kinds that hold the reference itself: what they win by is length or formatting."""
PROBES = ("asking", "formal", "non-native")
"""Kinds that say what the reference says in another form, which may be better or worse: what they
win by is a leaning, and no fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionAudit:
    """What payloads did to one judge: how often the reply with one beat the same reply without."""

    overall: Share
    """Over both sides; above one half, payloads sway the judge."""
    sides: Mapping[str, Share]
    """By the side that the payload was shown on and spoke for."""
    kinds: Mapping[str, Share]
    n_payloads: int
    """Payloads judged on both sides."""
    won_both_sides: tuple[str, ...]
    """Those that won on both sides, so that being shown first is no reason; a judge that cannot
    tell the two apart has as many as lost on both."""
    n_lost_both_sides: int
    n_missing: int
    """Judgments of replies with payloads that the judge did not give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAudit:
    """Everything an audit says of one judge; what it has not judged is None or left out."""

    judge: str
    family: str
    is_baseline: bool
    """True for the offline cue judge, which measures nothing about empathy."""
    n_assigned: int
    n_judged: int
    missing: Mapping[str, int]
    stress: Mapping[str, Share]
    """By kind of text that must lose: how often the reference reply won."""
    longer: Share | None
    """How often the reply padded with empty sentences beat the same reply."""
    formatted: Share | None
    """How often the reply with formatting beat the same reply."""
    shown_first: Share | None
    """How often what was shown first won, of pairs judged in both orders."""
    same_in_both_orders: Consistency | None
    """How often a pair has the same winner in both orders."""
    same_again: Consistency | None
    injection: InjectionAudit | None
    own_family: OwnFamily
    faults: tuple[str, ...]
    """What it does that a judge must not, in words that follow its name, as far as it stands up to
    the number of checks (`find_faults`)."""
    fault_checks: tuple[str, ...] = ()
    """The checks that found it, as `Faults` names them."""
    probes: Mapping[str, Share] = field(default_factory=dict)
    """By probe: how often the reply with a question more, in a formal register or with the marks of
    a second language beat the same reply without."""
    lean_q: Mapping[str, float] = field(default_factory=dict)
    """By check or probe where one half is no preference (`LONGER`, `FORMATTED`, `SHOWN_FIRST` and
    the probes): two-sided q over these (Benjamini and Hochberg 1995)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAudits:
    """What the store's judgments say of each judge, whoever asked for them; never of a ranking."""

    judges: tuple[JudgeAudit, ...]
    not_audited: tuple[str, ...]
    """Judges that ``heart judges audit`` has not asked; of these the stress set that every study
    has is all there is."""
    level: float
    status: str

    @property
    def untested(self) -> tuple[str, ...]:
        """Judges that were asked about no text whose right answer is known."""
        return tuple(audit.judge for audit in self.judges if not audit.n_assigned)

    @property
    def half_tested(self) -> tuple[str, ...]:
        """Judges of the study's stress set only."""
        return tuple(name for name in self.not_audited if name not in self.untested)


def audit_judges(data: StudyData, *, level: float) -> tuple[JudgeAudit, ...]:
    """Return what the audit says of each judge, by name.

    What is unjudged is of the audit, and so is every judgment of stress texts.
    """
    stress = {system.id: system for system in data.stress}
    rows = data.judgments.among(stress)
    return tuple(_audit_judge(rater, rows, stress, data, level=level) for rater in data.judges)


def collect_audits(data: StudyData, *, level: float) -> JudgeAudits | None:
    """Return what is known of every judge, for a report; None where none has judged anything."""
    data = data.with_audit()
    if not data.judgments:
        return None
    audits = audit_judges(data, level=level)
    return JudgeAudits(
        judges=audits,
        not_audited=tuple(audit.judge for audit in audits if audit.injection is None),
        level=level,
        status=PLANNED,
    )


def _audit_judge(
    rater: Rater,
    judgments: Judgments,
    stress: Mapping[str, System],
    data: StudyData,
    *,
    level: float,
) -> JudgeAudit:
    rows = judgments.by({rater.id})
    last = last_attempts(data.attempts, lambda attempt: attempt.assignment_id)
    absent = [a.id for a in data.unjudged if a.rater_id == rater.id]
    beside = _beside_references(rows, stress)
    first_time = [row for row in beside if row.judgment.repeat == 0]
    kinds = _by(first_time, "stress")
    injections = kinds.pop(INJECTION, [])
    found = consistency_results(rows, raters={rater.id: rater.name}, level=level)
    checks = {result.check: result for result in found}
    stress_shares = {
        kind: _won([row._replace(won=1 - row.won) for row in of_kind], level=level)
        for kind, of_kind in kinds.items()
        if kind not in (*SAME_CONTENT, *PROBES)
    }
    leans = {check: _won(kinds[check], level=level) for check in SAME_CONTENT if check in kinds}
    shown_first = _shown_first(first_time, level=level)
    injection = _audit_injections(injections, stress, level=level)
    own_family = own_family_preference(data, rater, level=level)
    probes = {kind: _won(kinds[kind], level=level) for kind in PROBES if kind in kinds}
    first = {} if shown_first is None else {SHOWN_FIRST: shown_first}
    faults = find_faults(
        stress_shares,
        {ALL: injection.overall, **injection.kinds} if injection else {},
        leans,
        shown_first,
        own_family,
        level=level,
    )
    return JudgeAudit(
        judge=rater.name,
        family=rater.family,
        is_baseline=rater.family == BASELINE_FAMILY,
        n_assigned=len(rows) + len(absent),
        n_judged=len(rows),
        missing=count_missing(absent, last),
        stress=stress_shares,
        longer=leans.get(LONGER),
        formatted=leans.get(FORMATTED),
        probes=probes,
        lean_q=lean_q_values({**leans, **first, **probes}),
        shown_first=shown_first,
        same_in_both_orders=checks.get("order"),
        same_again=checks.get("repeat"),
        injection=injection,
        own_family=own_family,
        faults=faults.words,
        fault_checks=faults.checks,
    )


class _Row(NamedTuple):
    """One judgment of a text beside the reference."""

    judgment: JudgmentRow
    settings: Mapping[str, Any]
    """Of the system that bears the text."""
    is_first: bool
    won: float
    """1 where the text was preferred to the reference, 1/2 for a tie, else 0."""


def _beside_references(
    judgments: Iterable[JudgmentRow], stress: Mapping[str, System]
) -> list[_Row]:
    rows = []
    for judgment in judgments:
        first, second = stress[judgment.first_system_id], stress[judgment.second_system_id]
        is_first = second.settings["stress"] == REFERENCE
        system = first if is_first else second
        won = score_of(judgment.winner, {system.id})
        rows.append(_Row(judgment, system.settings, is_first, won))
    return rows


def _by(rows: Iterable[_Row], setting: str) -> dict[str, list[_Row]]:
    parts: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        parts[str(row.settings[setting])].append(row)
    return {name: parts[name] for name in sorted(parts)}


def _won(rows: Sequence[_Row], *, level: float) -> Share:
    return share_over_items([(row.judgment.item_id, row.won) for row in rows], level=level)


def _shown_first(rows: Sequence[_Row], *, level: float) -> Share | None:
    """Return how often the first text won, of pairs judged in both orders."""
    n_orders = Counter(row.judgment.pair_id for row in rows)
    values = [
        (row.judgment.item_id, row.won if row.is_first else 1 - row.won)
        for row in rows
        if n_orders[row.judgment.pair_id] == 2
    ]
    return share_over_items(values, level=level) if values else None


def _audit_injections(
    rows: Sequence[_Row], stress: Mapping[str, System], *, level: float
) -> InjectionAudit | None:
    if not rows:
        return None
    n_texts = sum(system.settings["stress"] == INJECTION for system in stress.values())
    both = {name: part for name, part in _by(rows, "payload").items() if len(part) == 2}
    return InjectionAudit(
        overall=_won(rows, level=level),
        sides={side: _won(part, level=level) for side, part in _by(rows, "side").items()},
        kinds={kind: _won(part, level=level) for kind, part in _by(rows, "payload_kind").items()},
        n_payloads=len(both),
        won_both_sides=tuple(
            name for name, part in both.items() if all(row.won == 1 for row in part)
        ),
        n_lost_both_sides=sum(all(row.won == 0 for row in part) for part in both.values()),
        n_missing=n_texts - len(rows),
    )
