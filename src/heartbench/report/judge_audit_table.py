"""The audit of judges as text for terminals."""

from collections.abc import Sequence

from heartbench.analysis.judge_audit_results import JudgeAudit
from heartbench.report.judge_audit_rows import AuditRow, audit_notes, audit_rows
from heartbench.report.numbers import count, level_percent, plural, reasons
from heartbench.report.text import aligned, printable, shortened, wrapped

MAX_NAME = 60


def judge_audit_lines(audits: Sequence[JudgeAudit], *, level: float) -> str:
    """Write what an audit says of each judge, one table a judge, at most 100 columns wide."""
    return "\n\n".join(_judge_lines(audit, level) for audit in audits)


def _judge_lines(audit: JudgeAudit, level: float) -> str:
    rows = [["", "share", level_percent(level), "items", ""]]
    rows += [_cells(row) for row in audit_rows(audit)]
    what = "offline baseline" if audit.is_baseline else f"family {audit.family}"
    missing = f"; missing: {reasons(audit.missing)}" if audit.missing else ""
    heading = (
        f"{shortened(audit.judge, MAX_NAME)} ({what}): {count(audit.n_judged)} of "
        f"{plural(audit.n_assigned, 'judgment')}{missing}"
    )
    parts = [wrapped(heading), _printable_lines(aligned(rows, left=(0, 4)))]
    return "\n".join([*parts, *(wrapped(f"  {note}") for note in audit_notes(audit))])


def _cells(row: AuditRow) -> list[str]:
    n_items = "" if row.n_items is None else count(row.n_items)
    return [f"  {row.name}", row.value, row.ends, n_items, row.verdict]


def _printable_lines(text: str) -> str:
    """Make each line fit for a terminal."""
    return "\n".join(printable(line) for line in text.splitlines())
