"""The audit of judges as words: a table a judge for the terminal, side by side for the page."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hearteval.analysis.judges import Consistency, Share
from hearteval.analysis.judges.audit import InjectionAudit, JudgeAudit, JudgeAudits
from hearteval.analysis.judges.faults import FEW_ITEMS, STRESS_NAMES, is_undecided
from hearteval.analysis.judges.own_family import OwnFamily
from hearteval.report.table import Column, tabulate
from hearteval.report.text import (
    NO_VALUE,
    bare_percent,
    count,
    interval,
    level_percent,
    listed,
    percent,
    plural,
    points,
    reasons,
    shortened,
    wrapped,
)

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
CHECK_NAMES = {"order": "shown the other way round", "repeat": "asked again"}
MAX_PAYLOADS = 8
MAX_NAME = 60


class AuditRow(NamedTuple):
    """One thing an audit found of one judge."""

    group: str
    """Key of `GROUPS`; empty for a part of the row above it, which the page leaves out."""
    name: str
    value: str
    """The share, or a difference in points."""
    ends: str
    n_items: int | None
    """Items behind it; None for a difference."""
    verdict: str = ""
    """What the interval says; empty where it needs no word."""
    is_fault: bool = False
    """True where the verdict says that something is wrong, or cannot be told."""
    rightness: float | None = None
    """Share that is 1 where the judge does right; None where no end of it is right, or its interval
    holds one half."""


def judge_audit_lines(audits: Sequence[JudgeAudit], *, level: float) -> str:
    """Write what an audit says of each judge, one table a judge, at most 100 columns wide."""
    return "\n\n".join(_judge_lines(audit, level) for audit in audits)


def _judge_lines(audit: JudgeAudit, level: float) -> str:
    what = "offline baseline" if audit.is_baseline else f"family {audit.family}"
    missing = f"; missing: {reasons(audit.missing)}" if audit.missing else ""
    heading = (
        f"{shortened(audit.judge, MAX_NAME)} ({what}): {count(audit.n_judged)} of "
        f"{plural(audit.n_assigned, 'judgment')}{missing}"
    )
    table = tabulate(
        audit_rows(audit),
        [
            (Column("", "text"), lambda row: f"  {row.name}"),
            ("share", lambda row: row.value),
            (level_percent(level), lambda row: row.ends),
            ("items", lambda row: "" if row.n_items is None else count(row.n_items)),
            (Column("", "text"), lambda row: row.verdict),
        ],
    )
    notes = [wrapped(f"  {note}") for note in audit_notes(audit)]
    return "\n".join([wrapped(heading), table.text(), *notes])


def audit_groups(
    audits: JudgeAudits, ranked: Sequence[Consistency]
) -> Mapping[str, Mapping[str, tuple[AuditRow | None, ...]]]:
    """Set the judges side by side, by title of a group and by name of a row.

    None stands where a judge was not asked. Groups of which nothing is known are left out.
    `ranked` says how often each gives the same answer twice to ranked pairs.
    """
    of_judge = [
        {row.name: row for row in (*audit_rows(audit), *_ranked_rows(audit.judge, ranked))}
        for audit in audits.judges
    ]
    known = {row.name: row.group for rows in of_judge for row in rows.values()}
    return {
        title: {
            name: tuple(rows.get(name) for rows in of_judge)
            for name, group in known.items()
            if group == key
        }
        for key, title in GROUPS.items()
        if key in known.values()
    }


def audit_rows(audit: JudgeAudit) -> tuple[AuditRow, ...]:
    """Return what an audit says of one judge, in the order of `GROUPS`."""
    return (
        *(_stress_row(kind, share) for kind, share in audit.stress.items()),
        *_form_rows(audit),
        *(_injection_rows(audit.injection) if audit.injection else ()),
        *_consistency_rows(audit),
        *_own_family_rows(audit.own_family),
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
    verdict, is_fault = "prefers that text", True
    if share.low > 0.5:
        verdict, is_fault = "told apart", False
    elif is_undecided(share):
        is_fault = share.n_items >= FEW_ITEMS
        verdict = "not told apart" if is_fault else "too few items to tell"
    name = f"reference above {STRESS_NAMES.get(kind, kind)}"
    return _row("worse", name, share, (verdict, is_fault), rightness=share.rate)


def _form_rows(audit: JudgeAudit) -> list[AuditRow]:
    return [
        _row("form", f"{one} above the same reply", share, _lean(share, one, other))
        for share, one, other in (
            (audit.longer, "longer", "shorter"),
            (audit.formatted, "formatted", "plain"),
        )
        if share is not None
    ]


def _injection_rows(injection: InjectionAudit) -> list[AuditRow]:
    overall = injection.overall
    verdict = "no sway shown"
    if not is_undecided(overall):
        verdict = "swayed" if overall.low > 0.5 else "not swayed"
    name = "with a payload above the same reply"
    is_fault = overall.low > 0.5
    return [
        _row("payload", name, overall, (verdict, is_fault), rightness=1 - overall.rate),
        *(
            _row("", f"  shown {side}, and speaking for it", share)
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
        is_fault = not is_undecided(audit.shown_first)
        rows.append(_row("form", "what is shown first wins", audit.shown_first, (words, is_fault)))
    if again is not None:
        rows.append(_row("twice", "same winner when asked again", again, rightness=again.rate))
    return rows


def _ranked_rows(judge: str, ranked: Sequence[Consistency]) -> list[AuditRow]:
    return [
        _row("twice", RANKED_NAMES[result.check], result, rightness=result.rate)
        for result in ranked
        if result.rater == judge
    ]


def _lean(share: Share, one: str, other: str) -> tuple[str, bool]:
    """Read a preference of which only the first is a fault."""
    if is_undecided(share):
        return "no preference shown", False
    return (f"prefers {one}", True) if share.low > 0.5 else (f"prefers {other}", False)


def _own_family_rows(own: OwnFamily) -> list[AuditRow]:
    if own.own is None:
        return []
    rows = [_row("family", "its own family above others", own.own)]
    if own.others is not None:
        rows.append(_row("family", "  the same pairs, by other judges", own.others))
    if own.difference is not None and own.low is not None and own.high is not None:
        is_fault = own.low > 0
        rows.append(
            AuditRow(
                group="family",
                name="  difference, in points",
                value=points(own.difference),
                ends=interval(own.low, own.high, write=points),
                n_items=None,
                verdict="prefers its family" if is_fault else "no preference shown",
                is_fault=is_fault,
            )
        )
    return rows


def _row(
    group: str,
    name: str,
    share: Share | Consistency,
    verdict: tuple[str, bool] = ("", False),
    *,
    rightness: float | None = None,
) -> AuditRow:
    return AuditRow(
        group=group,
        name=name,
        value=percent(share.rate),
        ends=interval(share.low, share.high, write=bare_percent),
        n_items=share.n_items,
        verdict=verdict[0],
        is_fault=verdict[1],
        # On which side of one half it lies is left open: no colour says otherwise.
        rightness=None if share.low <= 0.5 <= share.high else rightness,
    )
