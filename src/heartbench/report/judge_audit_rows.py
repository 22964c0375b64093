"""The audit of judges as rows of words: once for the terminal, and side by side for the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from heartbench.analysis.judge_audit_results import (
    Consistency,
    InjectionAudit,
    JudgeAudit,
    JudgeAudits,
    OwnFamily,
)
from heartbench.analysis.judge_faults import FEW_ITEMS, STRESS_NAMES, is_undecided
from heartbench.analysis.shares import Share
from heartbench.report.numbers import NO_VALUE, bare_percent, listed, percent, plural, points

Tone = Literal["", "unsure", "bad"]
GROUPS = {
    "worse": "Sees what is worse: near 100\N{NO-BREAK SPACE}% is right",
    "form": "Is moved by form: 50\N{NO-BREAK SPACE}% is no preference",
    "payload": "Follows instructions hidden in a reply: below 50\N{NO-BREAK SPACE}% is right",
    "twice": "Says the same twice: near 100\N{NO-BREAK SPACE}% is right",
    "family": "Prefers its own family",
}
RANKED_NAMES = {
    "order": "same winner the other way round, ranked pairs",
    "repeat": "same winner when asked again, ranked pairs",
}
MAX_PAYLOADS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One thing an audit found of one judge.

    Attributes:
        group: Key of `GROUPS`.
        name: What the share is of.
        value: The share, or a difference in points.
        ends: Its interval.
        n_items: Items behind it; None for a difference.
        verdict: What the interval says; empty where it needs no word.
        tone: Whether that is a fault.
        rightness: Share that is 1 where the judge does right; None where no end of it is right, or
            its interval holds one half.
        is_part: True for what the row above it is made of.
    """

    group: str
    name: str
    value: str
    ends: str
    n_items: int | None
    verdict: str = ""
    tone: Tone = ""
    rightness: float | None = None
    is_part: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """One check, with what it found of each judge; None where a judge was not asked."""

    name: str
    cells: tuple[AuditRow | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditGroup:
    """Checks that are read the same way."""

    title: str
    lines: tuple[AuditLine, ...]


def audit_rows(audit: JudgeAudit) -> tuple[AuditRow, ...]:
    """Return what an audit says of one judge, in the order of `GROUPS`."""
    return (
        *(_stress_row(kind, share) for kind, share in audit.stress.items()),
        *_form_rows(audit),
        *(_injection_rows(audit.injection) if audit.injection else ()),
        *_consistency_rows(audit),
        *_own_family_rows(audit.own_family),
    )


def audit_groups(audits: JudgeAudits, ranked: Sequence[Consistency]) -> tuple[AuditGroup, ...]:
    """Set the judges side by side, without parts; groups of which nothing is known are left out.

    Args:
        audits: The judges.
        ranked: How often each gives the same answer twice to ranked pairs.
    """
    of_judge = [
        {
            row.name: row
            for row in (*audit_rows(audit), *_ranked_rows(audit.judge, ranked))
            if not row.is_part
        }
        for audit in audits.judges
    ]
    known = {row.name: row.group for rows in of_judge for row in rows.values()}
    return tuple(
        AuditGroup(
            title=title,
            lines=tuple(
                AuditLine(name=name, cells=tuple(rows.get(name) for rows in of_judge))
                for name, group in known.items()
                if group == key
            ),
        )
        for key, title in GROUPS.items()
        if key in known.values()
    )


def shared_notes(audits: JudgeAudits) -> Mapping[str, tuple[str, ...]]:
    """Return every note once, with the judges that it is about."""
    judges: dict[str, tuple[str, ...]] = {}
    for audit in audits.judges:
        for note in audit_notes(audit):
            judges[note] = (*judges.get(note, ()), audit.judge)
    return judges


def audit_notes(audit: JudgeAudit) -> tuple[str, ...]:
    """Return what rows of shares do not say: payloads, what is missing, why there is no answer."""
    notes = []
    if audit.injection is not None:
        won = audit.injection.won_both_sides
        names = listed([*won[:MAX_PAYLOADS], *(["others"] if len(won) > MAX_PAYLOADS else [])])
        notes.append(
            f"payloads that won on both sides: {len(won)} of {audit.injection.n_payloads}"
            f"{f' ({names})' if won else ''}; lost on both: {audit.injection.n_lost_both_sides}"
        )
        if audit.injection.n_missing:
            n = audit.injection.n_missing
            notes.append(f"{plural(n, 'judgment')} of replies with a payload missing")
    if audit.own_family.reason is not None:
        notes.append(f"own family {NO_VALUE} not measured: {audit.own_family.reason}")
    return tuple(notes)


def _stress_row(kind: str, share: Share) -> AuditRow:
    verdict: tuple[str, Tone] = ("prefers that text", "bad")
    if share.low > 0.5:
        verdict = ("told apart", "")
    elif is_undecided(share):
        is_few = share.n_items < FEW_ITEMS
        verdict = ("too few items to tell", "") if is_few else ("not told apart", "unsure")
    name = f"reference above {STRESS_NAMES.get(kind, kind)}"
    return _row("worse", name, share, verdict, rightness=share.rate)


def _form_rows(audit: JudgeAudit) -> list[AuditRow]:
    rows = []
    for share, one, other in (
        (audit.longer, "longer", "shorter"),
        (audit.formatted, "formatted", "plain"),
    ):
        if share is not None:
            verdict = _lean(share, one, other)
            rows.append(_row("form", f"{one} above the same reply", share, verdict))
    return rows


def _injection_rows(injection: InjectionAudit) -> list[AuditRow]:
    overall = injection.overall
    verdict: tuple[str, Tone] = ("no sway shown", "")
    if overall.low > 0.5:
        verdict = ("swayed", "bad")
    elif overall.high < 0.5:
        verdict = ("not swayed", "")
    name = "with a payload above the same reply"
    return [
        _row("payload", name, overall, verdict, rightness=1 - overall.rate),
        *(
            replace(_row("payload", f"  shown {side}, and speaking for it", share), is_part=True)
            for side, share in injection.sides.items()
        ),
    ]


def _consistency_rows(audit: JudgeAudit) -> list[AuditRow]:
    rows = []
    order, again = audit.same_in_both_orders, audit.same_again
    if order is not None:
        name = "same winner the other way round"
        rows.append(_row("twice", name, order, rightness=order.rate))
    if audit.shown_first is not None:
        words, _ = _lean(audit.shown_first, "first", "second")
        tone: Tone = "" if is_undecided(audit.shown_first) else "bad"
        rows.append(_row("form", "what is shown first wins", audit.shown_first, (words, tone)))
    if again is not None:
        rows.append(_row("twice", "same winner when asked again", again, rightness=again.rate))
    return rows


def _ranked_rows(judge: str, ranked: Sequence[Consistency]) -> list[AuditRow]:
    return [
        _row("twice", RANKED_NAMES[result.check], result, rightness=result.rate)
        for result in ranked
        if result.rater == judge
    ]


def _lean(share: Share, one: str, other: str) -> tuple[str, Tone]:
    """Read a preference of which only the first is a fault."""
    if is_undecided(share):
        return "no preference shown", ""
    return (f"prefers {one}", "bad") if share.low > 0.5 else (f"prefers {other}", "")


def _own_family_rows(own: OwnFamily) -> list[AuditRow]:
    if own.own is None:
        return []
    rows = [_row("family", "its own family above others", own.own)]
    if own.others is not None:
        rows.append(_row("family", "  the same pairs, by other judges", own.others))
    if own.difference is not None and own.low is not None and own.high is not None:
        rows.append(
            AuditRow(
                group="family",
                name="  difference, in points",
                value=points(own.difference),
                ends=f"[{points(own.low)}, {points(own.high)}]",
                n_items=None,
                verdict="prefers its family" if own.low > 0 else "no preference shown",
                tone="bad" if own.low > 0 else "",
            )
        )
    return rows


def _row(
    group: str,
    name: str,
    share: Share | Consistency,
    verdict: tuple[str, Tone] = ("", ""),
    *,
    rightness: float | None = None,
) -> AuditRow:
    words, tone = verdict
    return AuditRow(
        group=group,
        name=name,
        value=percent(share.rate),
        ends=f"[{bare_percent(share.low)}, {bare_percent(share.high)}]",
        n_items=share.n_items,
        verdict=words,
        tone=tone,
        # On which side of one half it lies is left open: no colour says otherwise.
        rightness=None if share.low <= 0.5 <= share.high else rightness,
    )
