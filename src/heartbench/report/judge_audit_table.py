"""The audit of judges as text for terminals."""

from collections.abc import Sequence

from heartbench.analysis.judge_audit import InjectionAudit, JudgeAudit
from heartbench.analysis.own_family import OwnFamily
from heartbench.analysis.results import Consistency
from heartbench.analysis.shares import Share
from heartbench.report.numbers import (
    NO_VALUE,
    bare_percent,
    count,
    level_percent,
    listed,
    percent,
    plural,
    points,
    reasons,
)
from heartbench.report.text import aligned, printable, shortened, wrapped

STRESS_NAMES = {
    "other-reply": "another item's reply",
    "own-words": "its own words reordered",
    "hostile": "a hostile reply",
    "keyword-stuffed": "a pile of keywords",
    "generic-warmth": "kind words that fit anything",
}
FEW_ITEMS = 10
MAX_NAME = 60
MAX_PAYLOADS = 8


def judge_audit_lines(audits: Sequence[JudgeAudit], *, level: float) -> str:
    """Write what an audit says of each judge, one table a judge, at most 100 columns wide."""
    return "\n\n".join(_judge_lines(audit, level) for audit in audits)


def _judge_lines(audit: JudgeAudit, level: float) -> str:
    rows = [["", "share", level_percent(level), "items", ""]]
    rows += [_stress_row(kind, share) for kind, share in audit.stress.items()]
    rows += _preference_rows(audit)
    if audit.injection is not None:
        rows += _injection_rows(audit.injection)
    rows += _consistency_rows(audit)
    rows += _own_family_rows(audit.own_family)
    what = "offline baseline" if audit.is_baseline else f"family {audit.family}"
    missing = f"; missing: {reasons(audit.missing)}" if audit.missing else ""
    heading = (
        f"{shortened(audit.judge, MAX_NAME)} ({what}): {count(audit.n_judged)} of "
        f"{plural(audit.n_assigned, 'judgment')}{missing}"
    )
    parts = [wrapped(heading), _printable_lines(aligned(rows, left=(0, 4)))]
    return "\n".join([*parts, *(wrapped(note) for note in _notes(audit))])


def _printable_lines(text: str) -> str:
    """Make each line fit for a terminal."""
    return "\n".join(printable(line) for line in text.splitlines())


def _stress_row(kind: str, share: Share) -> list[str]:
    if share.low > 0.5:
        verdict = "told apart"
    elif share.high < 0.5:
        verdict = "prefers that text"
    else:
        verdict = "too few items to tell" if share.n_items < FEW_ITEMS else "not told apart"
    return _row(f"reference above {STRESS_NAMES.get(kind, kind)}", share, verdict)


def _preference_rows(audit: JudgeAudit) -> list[list[str]]:
    rows = []
    if audit.longer is not None:
        verdict = _lean(audit.longer, "longer", "shorter")
        rows.append(_row("longer above the same reply", audit.longer, verdict))
    if audit.formatted is not None:
        verdict = _lean(audit.formatted, "formatted", "plain")
        rows.append(_row("formatted above the same reply", audit.formatted, verdict))
    return rows


def _injection_rows(injection: InjectionAudit) -> list[list[str]]:
    overall = injection.overall
    verdict = "not swayed" if overall.high < 0.5 else "no sway shown"
    if overall.low > 0.5:
        verdict = "swayed"
    return [
        _row("with a payload above the same reply", overall, verdict),
        *(
            _row(f"  shown {side}, and speaking for it", share, "")
            for side, share in injection.sides.items()
        ),
    ]


def _consistency_rows(audit: JudgeAudit) -> list[list[str]]:
    rows = []
    if audit.same_in_both_orders is not None:
        rows.append(_row("same winner the other way round", audit.same_in_both_orders, ""))
    if audit.shown_first is not None:
        lean = _lean(audit.shown_first, "first", "second")
        rows.append(_row("what is shown first wins", audit.shown_first, lean))
    if audit.same_again is not None:
        rows.append(_row("same winner when asked again", audit.same_again, ""))
    return rows


def _lean(share: Share, one: str, other: str) -> str:
    if share.low > 0.5:
        return f"prefers {one}"
    return f"prefers {other}" if share.high < 0.5 else "no preference shown"


def _own_family_rows(own: OwnFamily) -> list[list[str]]:
    if own.own is None:
        return []
    rows = [_row("its own family above others", own.own, "")]
    if own.others is not None:
        rows.append(_row("  the same pairs, by other judges", own.others, ""))
    if own.difference is not None and own.low is not None and own.high is not None:
        ends = f"[{points(own.low)}, {points(own.high)}]"
        verdict = "prefers its family" if own.low > 0 else "no preference shown"
        rows.append(["  difference, in points", points(own.difference), ends, "", verdict])
    return rows


def _row(name: str, share: Share | Consistency, verdict: str) -> list[str]:
    ends = f"[{bare_percent(share.low)}, {bare_percent(share.high)}]"
    return [f"  {name}", percent(share.rate), ends, count(share.n_items), verdict]


def _notes(audit: JudgeAudit) -> list[str]:
    notes = []
    if audit.injection is not None:
        won = audit.injection.won_both_sides
        names = listed([*won[:MAX_PAYLOADS], *(["others"] if len(won) > MAX_PAYLOADS else [])])
        notes.append(
            f"  payloads that won on both sides: {len(won)} of {audit.injection.n_payloads}"
            f"{f' ({names})' if won else ''}; lost on both: {audit.injection.n_lost_both_sides}"
        )
        if audit.injection.n_missing:
            n = audit.injection.n_missing
            notes.append(f"  {plural(n, 'judgment')} of replies with a payload missing")
    if audit.own_family.reason is not None:
        notes.append(f"  own family {NO_VALUE} not measured: {audit.own_family.reason}")
    return notes
