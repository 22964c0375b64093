"""A gate in words: for a terminal, as Markdown, as JUnit XML, as an object of JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree as ET

from hearteval.analysis.gate import Gate
from hearteval.notices import SIMULATED_WORDS
from hearteval.report.table import Bar, Column, Display, Table, tabulate
from hearteval.report.text import (
    NO_BREAK_SPACE,
    level_percent,
    listed,
    plural,
    points,
    printable,
    shortened_names,
    whole_percent,
)
from hearteval.stats.gate import GateTest

MAX_NAME: Final = 32
EXIT_CODES: Final = {"passed": 0, "failed": 3, "inconclusive": 4}
"""Of `heart gate`, by outcome."""


class _Row(NamedTuple):
    name: str
    axis: str | None
    test: GateTest


def gate_display(gate: Gate) -> Display:
    """Say what a gate comes to, why, and what it is worth."""
    return Display((_answer(gate), _table(gate), _worth(gate)))


def gate_markdown(gate: Gate) -> str:
    """Write the same as Markdown, for the summary of a pull request."""
    lead, *rest = _answer(gate)
    head = ("", "verdict", "points", f"{level_percent(1 - gate.rule.alpha)} interval")
    body = [(row.name, _verdict(gate, row), _points(row), _interval(row)) for row in _rows(gate)]
    table = "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
        for cells in (head, ("---",) * len(head), *body)
    )
    simulated = [SIMULATED_WORDS] if gate.is_simulated else []
    parts = (*simulated, f"**{lead}**", *rest, table, _caption(gate), *_worth(gate))
    return printable_lines("\n\n".join(parts)) + "\n"


def gate_junit(gate: Gate) -> str:
    """Write a test case for each test: worse is a failure, inconclusive an error."""
    rows = _rows(gate)
    n_worse, n_open = (
        sum(row.test.verdict == word for row in rows) for word in ("worse", "inconclusive")
    )
    simulated = " (simulated)" * gate.is_simulated
    name = printable(f"heart gate{simulated}: {gate.candidate} against {gate.baseline}")
    counts = {"tests": str(len(rows)), "failures": str(n_worse), "errors": str(n_open)}
    suite = ET.Element("testsuite", {"name": name, **counts})
    for row in rows:
        case = ET.SubElement(suite, "testcase", classname=name, name=printable(row.name))
        words = f"{_verdict(gate, row)}: {_points(row)} points {_interval(row)}".strip()
        tag = {"worse": "failure", "inconclusive": "error"}.get(row.test.verdict, "system-out")
        told = ET.SubElement(case, tag)
        told.text = printable(words)
        if tag != "system-out":
            told.attrib |= {"type": row.test.verdict, "message": printable(words)}
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def gate_object(gate: Gate) -> dict[str, Any]:
    """Return a gate as JSON says it."""
    result, scores = gate.result, gate.scores
    return {
        "study": gate.study,
        "baseline": gate.baseline,
        "candidate": gate.candidate,
        "judges": list(gate.judges),
        "outcome": result.outcome,
        "exit_code": EXIT_CODES[result.outcome],
        "tests": [{"axis": row.axis, "name": row.name, **asdict(row.test)} for row in _rows(gate)],
        "n_items": len(scores.scores),
        "n_planned": result.n_planned,
        "n_more": result.n_more,
        "n_identical": scores.n_identical,
        "n_both_orders": scores.n_both_orders,
        "n_by_position": scores.n_by_position,
        "look": result.look,
        "rule": asdict(gate.rule),
        "false_alarms": result.false_alarms,
        "power": result.power,
        "power_to_pass": result.power_to_pass,
        "smallest_effect": result.smallest_effect,
        "stopped": gate.stopped,
        "warnings": _warnings(gate),
    }


def _rows(gate: Gate) -> list[_Row]:
    rows = zip(gate.names, gate.scores.axes, gate.result.tests, strict=True)
    return [_Row(*row) for row in rows]


def _names(gate: Gate) -> tuple[str, str]:
    candidate, baseline = shortened_names((gate.candidate, gate.baseline), MAX_NAME)
    return candidate, baseline


def _answer(gate: Gate) -> tuple[str, ...]:
    candidate, baseline = _names(gate)
    by = {
        word: [row.name for row in _rows(gate) if row.test.verdict == word]
        for word in ("worse", "better", "inconclusive", "equivalent")
    }
    said = [
        f"{word} {_on(by[key])}"
        for key, word in (("better", "better"), ("equivalent", "equivalent"))
        if by[key]
    ]
    rest = f" It is {listed(said)}." if said else ""
    if gate.result.outcome == "failed":
        lead = f"Failed: {candidate} is worse than {baseline} {_on(by['worse'])}."
        rest += f" It is open {_on(by['inconclusive'])}." if by["inconclusive"] else ""
    elif gate.result.outcome == "passed":
        margin = f"within {_margin(gate)} points" if by["equivalent"] else "by every test"
        better = f" {_on(by['better'])}" if by["better"] else ""
        lead = f"Passed: {candidate} is as good as {baseline}, {margin}, or better{better}."
        lead = lead if by["equivalent"] else f"Passed: {candidate} is better than {baseline}."
        rest = ""
    else:
        lead = f"Inconclusive: whether {candidate} is as good as {baseline} is open"
        lead += f" {_on(by['inconclusive'])}."
    warnings = tuple(_warnings(gate))
    return (f"{lead}{rest}", *filter(None, (_settling(gate),)), _basis(gate), *warnings)


def _on(names: Sequence[str]) -> str:
    """Write overall and axes after a verdict."""
    axes = [name for name in names if name != "overall"]
    parts = ["overall"] if "overall" in names else []
    return listed([*parts, *([f"on {listed(axes)}"] if axes else [])])


def _basis(gate: Gate) -> str:
    n, result = len(gate.scores.scores), gate.result
    look = f", look {result.look} of {gate.rule.n_looks}" if gate.rule.n_looks > 1 else ""
    several = f"{n} of {plural(result.n_planned, 'dialogue')}"
    count = several if result.n_planned > n else plural(n, "dialogue")
    same = f"; on {gate.scores.n_identical} of them both replies are the same text"
    judges = f", judged by {listed(gate.judges)}" if gate.judges else ""
    return f"{count}{look}{judges}{same * bool(gate.scores.n_identical)}."


def _settling(gate: Gate) -> str:
    """Say how many more dialogues would settle what is open."""
    result = gate.result
    if gate.scores.is_doubtful or all(t.verdict != "inconclusive" for t in result.tests):
        return ""
    if result.n_more is None:
        if all(t.coverage >= gate.rule.least_coverage for t in result.tests):
            return "Of a single dialogue nothing can be said."
        least = whole_percent(gate.rule.least_coverage)
        return (
            f"Some of what is open has under {least}{NO_BREAK_SPACE}% of its judgments, so it"
            " stays open: more dialogues alone do not change that."
        )
    about = _rounded(result.n_more)
    if not about:
        return "The dialogues that are planned should settle what is open."
    return (
        f"About {plural(about, 'more dialogue')} would settle all that is open, were the"
        " differences what they seem now."
    )


def _rounded(n: int) -> int:
    """Return a number of dialogues as far as it can be known: two digits."""
    step: int = 10 ** max(0, len(str(n)) - 2)
    return -(-n // step) * step


def _warnings(gate: Gate) -> list[str]:
    scores = gate.scores
    said = [f"Asking stopped: {gate.stopped}."] if gate.stopped else []
    if scores.is_by_position:
        said.append(
            f"Doubtful: in {scores.n_by_position} of {scores.n_both_orders} pairs a judge chose by"
            " place, not by text. That makes anything look equivalent, so nothing is called so."
        )
    elif scores.is_doubtful:
        said.append(
            "Doubtful: each pair was judged in one order only, so that nobody knows whether judges"
            " chose by place, not by text. That makes anything look equivalent, so nothing is"
            " called so. Let them judge both orders."
        )
    return said


def _table(gate: Gate) -> Table:
    heading = f"{level_percent(1 - gate.rule.alpha)} interval"
    return tabulate(
        _rows(gate),
        [
            (Column("", "name"), lambda row: row.name),
            (Column("", "text"), lambda row: _verdict(gate, row)),
            (Column("points"), _points),
            (Column(heading, "bar", centre=0.0), _bar),
            (Column("", "text"), _interval),
        ],
        notes=[_caption(gate)],
    )


def _caption(gate: Gate) -> str:
    margin, name = _margin(gate), _names(gate)[0]
    return (
        f"Points: how often {name} is preferred, less 50{NO_BREAK_SPACE}%. Worse and better: all"
        f" tests counted together (Holm). Equivalent: within {margin} points either way."
    )


def _margin(gate: Gate) -> str:
    return f"{100 * gate.rule.margin:.3g}"


def _verdict(gate: Gate, row: _Row) -> str:
    lacking = row.test.coverage < gate.rule.least_coverage
    share = f" ({whole_percent(row.test.coverage)} % judged)" if lacking else ""
    return f"{row.test.verdict}{share}"


def _points(row: _Row) -> str:
    return "" if row.test.difference is None else points(row.test.difference)


def _interval(row: _Row) -> str:
    low, high = row.test.low, row.test.high
    return "" if low is None or high is None else f"{points(low)} to {points(high)}"


def _bar(row: _Row) -> object:
    test = row.test
    low, high = (None if end is None else 100 * end for end in (test.low, test.high))
    return "" if test.difference is None else Bar(low, 100 * test.difference, high, _points(row))


def _worth(gate: Gate) -> tuple[str, ...]:
    result = gate.result
    if result.tests[0].n_items < 2:
        return ()
    effect = result.smallest_effect
    seen = (
        "no difference, however large,"
        if effect is None
        else f"a difference of {100 * effect:.1f} points"
    )
    where = "Overall" if gate.scores.axes[0] is None else f"On {gate.names[0]}"
    passes, alone, fails = (
        f"{whole_percent(share)}{NO_BREAK_SPACE}%"
        for share in (result.power_to_pass, result.power, result.false_alarms)
    )
    return (
        f"What this gate is worth with {plural(result.n_planned, 'dialogue')}: were both equally"
        f" good, it would pass {passes} of the time ({gate.names[0]} alone is called equivalent"
        f" {alone}) and fail {fails}. {where} it sees {seen} in four of five such gates.",
    )


def printable_lines(text: str) -> str:
    """Replace what a terminal would obey; lines stay."""
    return "\n".join(map(printable, text.split("\n")))
