"""What a whole study shows: its report as one HTML file, and its main table where one works.

The file opens from disk and everything is inside it: styles, figures and a little script that sorts
and filters; without the script the page says the same. Text from the study is escaped by the
templates, which ask the modules of this package for what they show.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from hearteval.analysis.coverage import Coverage
from hearteval.analysis.judges.audit import JudgeAudits
from hearteval.analysis.ranking.stability import RankStability
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
from hearteval.report.table import Column, Display, Table, counted, tabulate
from hearteval.report.tables import all_tables
from hearteval.report.text import (
    count,
    counts_words,
    hundredths,
    listed,
    percent,
    plural,
    reasons,
    whole,
)

AUDIT_COMMAND = "heart judges audit STUDY.toml"
NO_REASON = "without a recorded reason"
NUMBERS = (
    *("bare_percent", "count", "decimal", "hundredths", "level_percent", "listed", "percent"),
    *("pixels", "plural", "points", "reasons", "signed", "signed_hundredths", "small", "tick"),
    "whole",
)
"""Functions of `text` that the templates call by their names."""


def render_page(results: StudyResults) -> str:
    """Render the report as one HTML document without any reference outside itself."""
    return _environment().get_template("page.html.j2").render(results=results)


def results_lines(results: StudyResults) -> str:
    """Write the leaderboard or the scores as aligned text of at most 100 columns, for a terminal.

    Without a ranking the text says why. Characters that a terminal would obey are replaced.
    """
    return results_display(results).text() + "\n"


def all_warnings(results: StudyResults) -> tuple[Notice, ...]:
    """Return the warnings of the study and of its leaderboard or scores, the most serious first."""
    of_ranking = results.leaderboard.warnings if results.leaderboard else ()
    of_scores = results.ratings.warnings if results.ratings else ()
    return by_severity((*results.warnings, *of_ranking, *of_scores))


def results_display(results: StudyResults) -> Display:
    """Return the leaderboard or the scores, and what to read beside them."""
    parts: list[Table | tuple[str, ...]] = [(_heading(results),)]
    if results.judge_notice:
        parts.append((results.judge_notice,))
    behind = agreement.majority_words(results.majorities) if results.majorities else ""
    parts.append(tuple(filter(None, (_coverage_words(results), behind))))
    board, ratings, notes = results.leaderboard, results.ratings, []
    if ratings is not None:
        if ratings.systems:
            parts.append(scores.score_table(ratings))
            notes = scores.score_notes(ratings)
        else:
            parts.append(("No scores: there is no rating yet; run `heart judge`",))
        stress = scores.stress_table(results)
        parts += [stress] if stress else []
    elif board is None:
        parts.append((f"No leaderboard: {results.leaderboard_problem}",))
        parts.append(leaderboard.win_rate_table(results.win_rates))
    else:
        parts.append(leaderboard.board_table(board))
        notes = leaderboard.board_notes(board)
    notes += map(_again_words, results.rank_stability)
    notes += _audit_notes(results.judge_audits)
    notes += [f"Warning: {warning}" for warning in all_warnings(results)]
    return Display((*parts, tuple(notes)))


def _heading(results: StudyResults) -> str:
    made = results.provenance
    board, ratings = results.leaderboard, results.ratings
    items = "; ".join(made.consent_bases).rstrip(".")
    title = f"{made.study}, version {made.version}. Items: {items}."
    if ratings is not None:
        by = f"Rated by {ratings.rated_by}"
        counts = {"rating": ratings.n_ratings, "completion": ratings.n_completions}
        counts |= {"item": ratings.n_items, "rater": ratings.n_raters}
    elif board is not None:
        by = f"Judged by {board.judged_by}"
        counts = {"judgment": board.n_judgments, "tie": board.n_ties}
        counts |= {"item": board.n_items, "rater": board.n_raters}
    else:
        return title
    names = ", ".join(judge.rater for judge in results.coverage.judges)
    return f"{title} {by}: {names} ({counts_words(**counts)})"


def _coverage_words(results: StudyResults) -> str:
    totals, coverage = coverage_totals(results.coverage), results.coverage
    answers = "judgments" if results.ratings is None else "ratings"
    words = (
        f"Coverage: {count(totals.n_written)} of {count(totals.n_wanted)} completions, "
        f"{count(totals.n_judged)} of {count(totals.n_assigned)} {answers}"
    )
    if results.ratings is not None:
        return words
    return (
        f"{words}, {count(coverage.n_system_pairs)} of {count(coverage.n_system_pairs_possible)} "
        "pairs of systems"
    )


def _again_words(again: RankStability) -> str:
    tau = "" if again.kendall_tau is None else f"Kendall's tau {hundredths(again.kendall_tau)}, "
    return (
        f"Asked again ({again.repeat}): the same choice in"
        f" {percent(again.n_same_choice / again.n_judgments)} of"
        f" {plural(again.n_judgments, 'judgment')}; {tau}largest change of a rating"
        f" {whole(again.max_elo_gap)} Elo."
    )


def _audit_notes(audits: JudgeAudits | None) -> list[str]:
    """Say which judges were tested in part only, and which passed; faults are warnings."""
    if audits is None:
        return []
    passed = [
        f"{audit.judge} ({plural(audit.injection.overall.n_items, 'item')})"
        for audit in audits.judges
        if audit.injection is not None and not audit.faults
    ]
    notes = []
    if audits.not_audited:
        notes.append(
            f"Tested on the stress set only: {listed(audits.not_audited)}. Run `{AUDIT_COMMAND}`."
        )
    if passed:
        notes.append(f"The audit of judges finds no fault with {listed(passed)}.")
    return notes


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
        funnel_table=funnel_table,
    )
    environment.filters.update(
        {name: getattr(text, name) for name in NUMBERS},
        heat_step=figures.heat_step,
        z_step=figures.z_step,
        interval=lambda ends: text.interval(ends.low, ends.high),
        rank_range=lambda strength: text.ranks(strength.rank_low, strength.rank_high),
    )
    return environment
