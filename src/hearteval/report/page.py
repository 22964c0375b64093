"""What a whole study shows: its report as one HTML file.

The file opens from disk and everything is inside it: styles, figures and a little script that sorts
and filters; without the script the page says the same. Text from the study is escaped by the
templates, which ask the modules of this package for what they show.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from hearteval.analysis.coverage import Coverage
from hearteval.analysis.study import StudyResults
from hearteval.domain import AXIS_NAMES
from hearteval.notices import Notice, by_severity
from hearteval.report import (
    agreement,
    figures,
    first_screen,
    judges,
    leaderboard,
    methods,
    scores,
    text,
)
from hearteval.report.chips import chips
from hearteval.report.missing import missing_lines
from hearteval.report.table import Column, Table, counted, tabulate
from hearteval.report.tables import all_tables
from hearteval.report.text import count, reasons

AUDIT_COMMAND = "heart judges audit STUDY.toml"
NO_REASON = "without a recorded reason"
NUMBERS = (
    *("bare_percent", "count", "decimal", "hundredths", "level_percent", "listed", "percent"),
    *("pixels", "plural", "points", "reasons", "signed", "signed_hundredths", "whole"),
)
"""Functions of `text` that the templates call by their names."""


def render_page(results: StudyResults) -> str:
    """Render the report as one HTML document without any reference outside itself."""
    return _environment().get_template("page.html.j2").render(results=results)


def all_warnings(results: StudyResults) -> tuple[Notice, ...]:
    """Return the warnings of the study and of its leaderboard or scores, the most serious first."""
    of_ranking = results.leaderboard.warnings if results.leaderboard else ()
    of_scores = results.ratings.warnings if results.ratings else ()
    return by_severity((*results.warnings, *of_ranking, *of_scores))


class CoverageTotals(NamedTuple):
    """Sums of the coverage tables, as the cards show them."""

    n_wanted: int
    n_written: int
    unwritten: Mapping[str, int]
    n_assigned: int
    n_judged: int
    unjudged: Mapping[str, int]


def coverage_totals(coverage: Coverage) -> CoverageTotals:
    """Add up what was planned, made and missing over systems and over raters."""
    systems, judges = coverage.systems, coverage.judges
    n_wanted = sum(system.n_items for system in systems)
    n_written = sum(system.n_completions for system in systems)
    n_assigned = sum(judge.n_assigned for judge in judges)
    n_judged = sum(judge.n_judged for judge in judges)
    return CoverageTotals(
        n_wanted=n_wanted,
        n_written=n_written,
        unwritten=_by_reason(n_wanted - n_written, (system.missing for system in systems)),
        n_assigned=n_assigned,
        n_judged=n_judged,
        unjudged=_by_reason(n_assigned - n_judged, (judge.missing for judge in judges)),
    )


def why_missing(n_missing: int, missing: Mapping[str, int]) -> str:
    """Write what is missing by reason; the rest has none on record."""
    return reasons(_by_reason(n_missing, [missing]))


def missing_replies(results: StudyResults) -> list[str]:
    """Say why replies and answers are missing, a line for each cause of a system or rater."""
    answer = "rating" if results.ratings else "judgment"
    coverage = results.coverage
    lines = [missing_lines(row.system, "completion", row.causes) for row in coverage.systems]
    lines += [missing_lines(row.rater, answer, row.causes) for row in coverage.judges]
    return list(chain.from_iterable(lines))


def completions_by_system(coverage: Coverage) -> Table:
    """Return how many completions of each system there are, and why not more."""
    return tabulate(
        coverage.systems,
        [
            (Column("System", "name", is_sortable=True), lambda row: row.system),
            (Column("Items", is_sortable=True), lambda row: counted(row.n_items)),
            (Column("Completions", is_sortable=True), lambda row: counted(row.n_completions)),
            (
                Column("Missing", "text"),
                lambda row: why_missing(row.n_items - row.n_completions, row.missing),
            ),
        ],
    )


def funnel_table(funnel: Sequence[Mapping[str, Any]]) -> Table:
    """Return how many candidates each rule of the selection let through."""
    return tabulate(
        funnel,
        [
            (Column("Rule", "name"), lambda step: step["rule"]),
            ("In", lambda step: count(step["n_in"])),
            ("Out", lambda step: count(step["n_out"])),
            ("Left behind", lambda step: count(step["n_in"] - step["n_out"])),
        ],
    )


def _by_reason(n_missing: int, parts: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    unexplained = n_missing - total.total()
    return {**total, NO_REASON: unexplained} if unexplained > 0 else dict(total)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hearteval.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    modules = (agreement, figures, first_screen, judges, leaderboard, methods, scores, text)
    environment.globals.update(
        {module.__name__.rpartition(".")[2]: module for module in modules},
        axis_names=AXIS_NAMES,
        audit_command=AUDIT_COMMAND,
        all_warnings=all_warnings,
        chips=chips,
        tables=all_tables,
        coverage_totals=coverage_totals,
        why_missing=why_missing,
        completions_by_system=completions_by_system,
        missing_replies=missing_replies,
        funnel_table=funnel_table,
    )
    environment.filters.update(
        {name: getattr(text, name) for name in NUMBERS},
        z_step=figures.z_step,
        interval=lambda ends: text.interval(ends.low, ends.high),
        rank_range=lambda strength: text.ranks(strength.rank_low, strength.rank_high),
    )
    return environment
