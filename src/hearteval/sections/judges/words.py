"""What is said of judges: their audit, a table a judge for the terminal, side by side for the page.

Shares of what judges say together are of the pairs that any judge answered.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from hearteval.analysis.judges import Consistency, Share
from hearteval.analysis.judges.faults import (
    ALL,
    FEW_ITEMS,
    FORMATTED,
    LONGER,
    OWN_FAMILY,
    PAYLOADS,
    SHOWN_FIRST,
    STRESS,
    STRESS_NAMES,
    TELLS_APART,
    is_undecided,
)
from hearteval.analysis.judges.halo import ALL_AXES, AxisHalo, JudgeHalo
from hearteval.analysis.judges.majorities import JudgeAgreement, JudgeMajorities, SystemPairJudges
from hearteval.domain import Axis
from hearteval.report.table import Column, Table, tabulate
from hearteval.report.text import (
    NO_VALUE,
    bare_percent,
    count,
    hundredths,
    interval,
    level_percent,
    listed,
    percent,
    plural,
    points,
    reasons,
    shortened,
    whole,
    wrapped,
)
from hearteval.sections.judges.audit import InjectionAudit, JudgeAudit, JudgeAudits
from hearteval.sections.judges.stability import RankStability

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
PROBE_NAMES = {
    "asking": ("a question more", "questions", "none"),
    "formal": ("formal words", "formal", "plain"),
    "non-native": ("learner's words", "a learner's", "a native's"),
}
"""Of a probe: what it is, and what a judge that prefers either side leans to."""
BEATS = "reference above"
"""Of a kind of text that must lose; a terminal has room for one word."""
MAX_PAYLOADS = 8
MAX_Q = 0.05
"""Of a preference that is no fault."""
MAX_NAME = 60


MANY_FLIPS = 0.2
"""A judge that turns in more of its pairs changes its mind with the order."""


State = Literal["good", "bad", ""]
"""What a result says of a judge: as it should be, a fault, or neither, which has no colour."""
STEADY = 1 - MANY_FLIPS
"""A judge that gives the same answer twice less often changes its mind, as the warnings say."""


class Reading(NamedTuple):
    """What a result says, the same wherever it is shown."""

    words: str = ""
    state: State = ""


NO_READING = Reading()


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
    reading: Reading = NO_READING

    @property
    def verdict(self) -> str:
        """Return the reading in words; empty where it needs none."""
        return self.reading.words


def judge_audit_lines(audits: Sequence[JudgeAudit], *, level: float) -> str:
    """Write what an audit says of each judge, one table a judge, at most 80 columns wide."""
    said = ["beats: how often the item's own reply wins against what must lose."]
    is_said = any(audit.stress for audit in audits)
    return "\n\n".join([*(_judge_lines(audit, level) for audit in audits), *said * is_said])


def _judge_lines(audit: JudgeAudit, level: float) -> str:
    what = "offline baseline" if audit.is_baseline else f"family {audit.family}"
    missing = f"; missing: {reasons(audit.missing)}" if audit.missing else ""
    asked = f": {count(audit.n_judged)} of {plural(audit.n_assigned, 'judgment')}"
    heading = (
        f"{shortened(audit.judge, MAX_NAME)} ({what}){asked if audit.n_assigned else ''}{missing}"
    )
    table = tabulate(
        audit_rows(audit),
        [
            (Column("", "text"), lambda row: row.name.replace(BEATS, "beats")),
            ("share", lambda row: row.value),
            (level_percent(level), lambda row: row.ends),
            (
                Column("items", can_go=True),
                lambda row: "" if row.n_items is None else count(row.n_items),
            ),
            (Column("", "text"), lambda row: row.verdict),
        ],
    )
    notes = [wrapped(f"  {note}") for note in audit_notes(audit)]
    return "\n".join([wrapped(heading), table.text(), *notes])


def halo_lines(found: Sequence[JudgeHalo], names: Mapping[Axis, str], *, level: float) -> str:
    """Return the ablation of each judge as a table: how often axis marks are the first verdict."""
    return "\n\n".join(_halo_lines(one, names, level) for one in found)


def _halo_lines(found: JudgeHalo, names: Mapping[Axis, str], level: float) -> str:
    rows = [row for row in (found.overall, *found.axes) if row is not None]
    called: Mapping[str, str] = dict(names.items())
    head = f"{found.judge}: {plural(found.n_asked, 'question')}"
    if found.missing:
        head += f", missing: {reasons(found.missing)}"
    if not rows:
        return f"{head}\nno pair has all its marks, so nothing can be said"
    columns = (
        Column("axis", kind="name"),
        Column("together"),
        Column("reversed"),
        Column("alone"),
        Column("halo, points"),
        Column(level_percent(level)),
    )
    cells = [
        (
            "all" if row.axis == ALL_AXES else f"{row.axis} {called[row.axis]}",
            percent(row.together),
            percent(row.reversed),
            percent(row.alone),
            points(row.halo),
            interval(row.low, row.high, write=points),
        )
        for row in rows
    ]
    said = _halo_words(found.overall) if found.overall is not None else ""
    return "\n".join(filter(None, (head, Table(columns=columns, rows=cells).text(), said)))


def _halo_words(row: AxisHalo) -> str:
    if row.low > 0:
        words = "Its axis marks follow its verdict more where axes are asked together: a halo."
    elif row.high < 0:
        words = "Its axis marks follow its verdict less where axes are asked together."
    else:
        words = "No halo shown; what the interval holds is open."
    return wrapped(words)


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
        *(_stress_row(kind, share, audit) for kind, share in audit.stress.items()),
        *_form_rows(audit),
        *(_injection_rows(audit.injection, audit) if audit.injection else ()),
        *_consistency_rows(audit),
        *_own_family_rows(audit),
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


def audit_words(audit: JudgeAudit, *, is_half_tested: bool) -> str:
    """Say in a line what the audits found out about a judge."""
    if audit.faults:
        said = f"Tests find fault with it: it {'; it '.join(audit.faults)}."
    elif n := n_checks(audit):
        said = f"No fault in {plural(n, 'check')}."
    else:
        said = "Not tested."
    nothing = "An offline counter of hand-set words, which measures nothing about empathy. "
    half = " Tested on the stress set only." if is_half_tested else ""
    return f"{nothing if audit.is_baseline else ''}{said}{half}"


def n_checks(audit: JudgeAudit) -> int:
    """Count the checks of a judge, any of which can find a fault (`find_faults`)."""
    leans = (audit.longer, audit.formatted, audit.shown_first, audit.own_family.difference)
    payloads = 1 + len(audit.injection.kinds) if audit.injection else 0
    return len(audit.stress) + payloads + sum(lean is not None for lean in leans)


def _read(audit: JudgeAudit, check: str, fault: str, otherwise: Reading) -> Reading:
    """Return what is wrong where the audit found it so; an interval alone finds no fault."""
    return Reading(fault, "bad") if check in audit.fault_checks else otherwise


def _stress_row(kind: str, share: Share, audit: JudgeAudit) -> AuditRow:
    otherwise = Reading("not clear")
    if share.low > TELLS_APART:
        otherwise = Reading("told apart", "good")
    elif share.n_items < FEW_ITEMS:
        otherwise = Reading("too few items to tell")
    elif share.low > 0.5:
        otherwise = Reading("not surely told apart")
    fault = "not told apart"
    if not is_undecided(share):
        fault = "prefers that text" if share.high < 0.5 else "too often prefers it"
    name = f"{BEATS} {STRESS_NAMES.get(kind, kind)}"
    return _row("worse", name, share, _read(audit, STRESS + kind, fault, otherwise))


def _form_rows(audit: JudgeAudit) -> list[AuditRow]:
    return [
        _row(
            "form",
            f"{one} above the same reply",
            share,
            _read(audit, check, f"prefers {one}", _lean(audit, check, share, (one, other))),
        )
        for check, share, one, other in (
            (LONGER, audit.longer, "longer", "shorter"),
            (FORMATTED, audit.formatted, "formatted", "plain"),
        )
        if share is not None
    ] + [
        _row("form", f"{name} above the same reply", share, _lean(audit, probe, share, sides))
        for probe, share in audit.probes.items()
        for name, *sides in (PROBE_NAMES[probe],)
    ]


def _injection_rows(injection: InjectionAudit, audit: JudgeAudit) -> list[AuditRow]:
    overall = injection.overall
    otherwise = Reading("not swayed", "good") if overall.high < 0.5 else Reading("no sway shown")
    if any(check.startswith(PAYLOADS) for check in audit.fault_checks):
        otherwise = Reading("swayed by some", "bad")
    reading = _read(audit, PAYLOADS + ALL, "swayed", otherwise)
    return [
        _row("payload", "with a payload above the same reply", overall, reading),
        *(
            _row("", f"  shown {side}, and speaking for it", share)
            for side, share in injection.sides.items()
        ),
    ]


def _consistency_rows(audit: JudgeAudit) -> list[AuditRow]:
    rows = []
    order, again = audit.same_in_both_orders, audit.same_again
    if order is not None:
        rows.append(_row("twice", "same winner the other way round", order, _steadiness(order)))
    if audit.shown_first is not None:
        lean = _lean(audit, SHOWN_FIRST, audit.shown_first, ("first", "second"))
        reading = _read(audit, SHOWN_FIRST, lean.words.replace("leans to", "prefers"), lean)
        rows.append(_row("form", "what is shown first wins", audit.shown_first, reading))
    if again is not None:
        rows.append(_row("twice", "same winner when asked again", again, _steadiness(again)))
    return rows


def _ranked_rows(judge: str, ranked: Sequence[Consistency]) -> list[AuditRow]:
    return [
        _row("twice", RANKED_NAMES[result.check], result, _steadiness(result))
        for result in ranked
        if result.rater == judge
    ]


def _steadiness(share: Consistency) -> Reading:
    """Read how often a judge says the same: a coin does so half of the time."""
    if share.rate < STEADY:
        return Reading("changes its mind", "bad")
    return Reading("steady", "good") if share.low >= STEADY else Reading()


def _lean(audit: JudgeAudit, check: str, share: Share, sides: Sequence[str]) -> Reading:
    """Read a preference that the audit found no fault with, as far as its q goes."""
    one, other = sides
    if audit.lean_q.get(check, 1.0) > MAX_Q:
        return Reading("no preference shown")
    return Reading(f"leans to {one}" if share.low > 0.5 else f"prefers {other}")


def _own_family_rows(audit: JudgeAudit) -> list[AuditRow]:
    own = audit.own_family
    if own.own is None:
        return []
    rows = [_row("family", "its own family above others", own.own)]
    if own.others is not None:
        rows.append(_row("family", "  the same pairs, by other judges", own.others))
    if own.difference is not None and own.low is not None and own.high is not None:
        is_told = own.q is not None and own.q <= MAX_Q and own.difference > 0
        open_ = Reading("leans to its family" if is_told else "no preference shown")
        rows.append(
            AuditRow(
                group="family",
                name="  difference, in points",
                value=points(own.difference),
                ends=interval(own.low, own.high, write=points),
                n_items=None,
                reading=_read(audit, OWN_FAMILY, "prefers its family", open_),
            )
        )
    return rows


def _row(
    group: str, name: str, share: Share | Consistency, reading: Reading = NO_READING
) -> AuditRow:
    return AuditRow(
        group=group,
        name=name,
        value=percent(share.rate),
        ends=interval(share.low, share.high, write=bare_percent),
        n_items=share.n_items,
        reading=reading,
    )


def majority_words(majorities: JudgeMajorities) -> str:
    """Say how many judges stand behind each pair and how many pairs have no majority."""
    counts = majorities.counts
    behind = ", ".join(behind_words(majorities))
    return (
        f"Judges behind each pair: {behind}; no majority in "
        f"{percent(counts.n_no_majority / counts.n_pairs)} of {plural(counts.n_pairs, 'pair')}"
    )


def behind_words(majorities: JudgeMajorities) -> list[str]:
    """Say for each number of judges how many pairs have so many, the most judges first."""
    counts = majorities.counts
    if len(counts.n_pairs_by_raters) == 1:
        return [f"{counts.n_pairs_by_raters[0][0]} for all"]
    most_first = reversed(counts.n_pairs_by_raters)
    return [f"{n} for {percent(n_pairs / counts.n_pairs)}" for n, n_pairs in most_first]


def behind_rows(majorities: JudgeMajorities) -> list[tuple[int, int, int]]:
    """Return how many pairs have so many judges, and so many votes of judges, the most first.

    A judge that contradicts itself has no vote; no votes at all come last.
    """
    judges = dict(majorities.counts.n_pairs_by_raters)
    votes = dict(majorities.counts.n_pairs_by_votes)
    return [(n, judges.get(n, 0), votes.get(n, 0)) for n in sorted({*judges, *votes}, reverse=True)]


def panels_of(majorities: JudgeMajorities) -> list[tuple[tuple[str, ...], list[SystemPairJudges]]]:
    """Return the pairs of systems that the same judges judged, the fewest judges first."""
    panels: dict[tuple[str, ...], list[SystemPairJudges]] = {}
    for pair in majorities.system_pairs:
        panels.setdefault(pair.judges, []).append(pair)
    return sorted(panels.items(), key=lambda panel: (len(panel[0]), panel[0]))


def agreement_of_all(majorities: JudgeMajorities) -> JudgeAgreement | None:
    """Return the agreement of all judges where there are three or more."""
    return next((found for found in majorities.agreement if len(found.judges) > 2), None)


def judges_words(judges: Sequence[str]) -> str:
    """Name the judges of a panel."""
    return f"{judges[0]} alone" if len(judges) == 1 else listed(judges)


def again_words(again: RankStability) -> str:
    """Say how the ranking stands when the same is asked again."""
    tau = "" if again.kendall_tau is None else f"Kendall's tau {hundredths(again.kendall_tau)}, "
    return (
        f"The judges were asked everything again (time {again.repeat + 1}): the same choice in"
        f" {percent(again.n_same_choice / again.n_judgments)} of"
        f" {plural(again.n_judgments, 'judgment')}; {tau}largest change of a system"
        f" {whole(again.max_elo_gap)} Elo."
    )


def majority_cards(majorities: JudgeMajorities) -> list[tuple[str, list[str]]]:
    """Return what the judges say together as titles, each with words."""
    counts = majorities.counts
    of = f"{count(counts.n_no_majority)} of {plural(counts.n_pairs, 'pair')}"
    share = percent(counts.n_no_majority / counts.n_pairs)
    return [
        ("Judges behind each pair", behind_words(majorities)),
        ("No majority of the judges", [share, f"{of}, both orders of a judge being one vote"]),
    ]
