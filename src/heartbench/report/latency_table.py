"""Times to the first text as text for terminals."""

from collections.abc import Sequence

from heartbench.analysis.latency import Spread, SystemLatency
from heartbench.report.numbers import NO_VALUE, count
from heartbench.report.text import aligned, printable, shortened

MAX_NAME = 30
HEADING = ["system", "first text", "quartiles", "reasoning", "quartiles", "whole", "calls"]


def latency_lines(rows: Sequence[SystemLatency]) -> str:
    """Write medians and quartiles in milliseconds as a table, at most 100 columns wide."""
    cells = [
        [
            printable(shortened(row.system, MAX_NAME)),
            _median(row.first_text),
            _quartiles(row.first_text),
            _median(row.first_reasoning),
            _quartiles(row.first_reasoning),
            _median(row.total),
            count(row.n_calls),
        ]
        for row in rows
    ]
    return aligned([HEADING, *cells], left=(0,))


def _median(spread: Spread | None) -> str:
    return NO_VALUE if spread is None else f"{spread.median:,.0f}"


def _quartiles(spread: Spread | None) -> str:
    return NO_VALUE if spread is None else f"[{spread.low:,.0f}, {spread.high:,.0f}]"
