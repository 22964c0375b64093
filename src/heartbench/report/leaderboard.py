"""The leaderboard as words: captions shared with the page, a table for terminals, and CSV.

The terminal gets rounded numbers in at most 100 columns; the CSV gets every number in full.
"""

import csv
import io
from collections.abc import Sequence

from heartbench.analysis.judge_audit_results import JudgeAudits
from heartbench.analysis.leaderboard_results import AxisStanding, Leaderboard, LeaderboardRow
from heartbench.analysis.rank_stability import RankStability
from heartbench.analysis.results import Coverage, StudyResults, WinRate
from heartbench.domain import AXES, AXIS_NAMES, Axis
from heartbench.report.majority_table import majority_words
from heartbench.report.numbers import (
    NO_VALUE,
    bare_percent,
    count,
    hundredths,
    interval,
    level_percent,
    listed,
    percent,
    plural,
    ranks,
    whole,
)
from heartbench.report.text import WIDTH, printable, shortened, wrapped

MAX_NAME = 60
AUDIT_COMMAND = "heart judges audit STUDY.toml"
RANK_DIFFERS = "\N{NOT EQUAL TO}"


def marked_axes(leaderboard: Leaderboard) -> tuple[Axis, ...]:
    """Return the axes that any system has marks on, in the order of the paper."""
    return tuple(axis for axis in AXIS_NAMES if any(axis in row.axes for row in leaderboard.rows))


def interval_words(leaderboard: Leaderboard) -> str:
    """Name the interval, its level and what it is conditional on (SPEC section 6)."""
    words = [leaderboard.interval_used, "t", level_percent(leaderboard.level)]
    if leaderboard.interval_used != "two-way":
        words.append("conditional on these raters")
    elif leaderboard.judged_by == "both":
        words.append("conditional on these judges")
    return ", ".join(words)


def leaderboard_lines(results: StudyResults) -> str:
    """Write the leaderboard as aligned text of at most 100 columns, for a terminal.

    Without a ranking the text says why. Characters that a terminal would obey are replaced.
    """
    parts = [_heading(results)]
    if results.judge_notice:
        parts.append(wrapped(results.judge_notice))
    behind = majority_words(results.majorities) if results.majorities else ""
    parts.append("\n".join(map(wrapped, filter(None, (_coverage_words(results.coverage), behind)))))
    if results.leaderboard is None:
        parts.append(wrapped(f"No leaderboard: {results.leaderboard_problem}"))
        parts.append(_win_rate_lines(results.win_rates))
        notes: list[str] = []
    else:
        parts.append(_text_table(results.leaderboard))
        notes = _notes(results.leaderboard)
    notes += map(_again_words, results.rank_stability)
    notes += _audit_notes(results.judge_audits)
    notes += [f"Warning: {warning}" for warning in all_warnings(results)]
    parts += ["\n".join(wrapped(note) for note in notes)] if notes else []
    return "\n\n".join(parts) + "\n"


def _again_words(again: RankStability) -> str:
    tau = "" if again.kendall_tau is None else f"Kendall's tau {hundredths(again.kendall_tau)}, "
    return (
        f"Asked again ({again.repeat}): the same choice in"
        f" {percent(again.n_same_choice / again.n_judgments)} of"
        f" {plural(again.n_judgments, 'judgment')}; {tau}largest change of a rating"
        f" {whole(again.max_elo_gap)} Elo."
    )


def _audit_notes(audits: JudgeAudits | None) -> list[str]:
    """Say which judges were not audited, and which passed; faults are among the warnings."""
    if audits is None:
        return []
    passed = [
        f"{audit.judge} ({plural(audit.injection.overall.n_items, 'item')})"
        for audit in audits.judges
        if audit.injection is not None and not audit.faults
    ]
    notes = []
    if audits.not_audited:
        notes.append(f"Not audited: {listed(audits.not_audited)}. Run `{AUDIT_COMMAND}`.")
    if passed:
        notes.append(f"The audit of judges finds no fault with {listed(passed)}.")
    return notes


def _win_rate_lines(rates: Sequence[WinRate]) -> str:
    """Write the win rates as text, for where there is no ranking."""
    names = [printable(rate.system)[:MAX_NAME] for rate in rates]
    width = max([len("system"), *map(len, names)])
    lines = [f"{'system':<{width}}    win      n"]
    for name, rate in zip(names, rates, strict=True):
        share = NO_VALUE if rate.win_rate is None else bare_percent(rate.win_rate)
        lines.append(f"{name:<{width}}  {share:>5}  {rate.n_comparisons:>5}")
    return "\n".join(lines)


def leaderboard_csv(results: StudyResults) -> str:
    """Write the leaderboard as CSV with every digit; without a ranking, the heading alone.

    Cells are empty where an axis has no marks or no Elo.
    """
    axes = AXES if results.leaderboard is None else _csv_axes(results.leaderboard)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_csv_heading(axes))
    if results.leaderboard is not None:
        writer.writerows(
            _csv_row(results, results.leaderboard, row, axes) for row in results.leaderboard.rows
        )
    return out.getvalue()


def all_warnings(results: StudyResults) -> tuple[str, ...]:
    """Return the warnings of the study, then those of the leaderboard or scores, each once."""
    of_ranking = results.leaderboard.warnings if results.leaderboard else ()
    of_scores = results.ratings.warnings if results.ratings else ()
    return tuple(dict.fromkeys((*results.warnings, *of_ranking, *of_scores)))


def _heading(results: StudyResults) -> str:
    made = results.provenance
    items = "; ".join(made.consent_bases).rstrip(".")
    title = f"{made.study}, version {made.version}. Items: {items}."
    if results.leaderboard is None:
        return wrapped(title)
    board = results.leaderboard
    return wrapped(
        f"{title} Judged by {board.judged_by}: {_judge_names(results)} "
        f"({plural(board.n_judgments, 'judgment')}, "
        f"{plural(board.n_ties, 'tie')}, {plural(board.n_items, 'item')}, "
        f"{plural(board.n_raters, 'rater')})"
    )


def _judge_names(results: StudyResults) -> str:
    return ", ".join(judge.rater for judge in results.coverage.judges)


def _coverage_words(coverage: Coverage) -> str:
    written = sum(system.n_completions for system in coverage.systems)
    wanted = sum(system.n_items for system in coverage.systems)
    judged = sum(judge.n_judged for judge in coverage.judges)
    assigned = sum(judge.n_assigned for judge in coverage.judges)
    return (
        f"Coverage: {count(written)} of {count(wanted)} completions, {count(judged)} of "
        f"{count(assigned)} judgments, {count(coverage.n_system_pairs)} of "
        f"{count(coverage.n_system_pairs_possible)} pairs of systems"
    )


def _notes(leaderboard: Leaderboard) -> list[str]:
    notes = [f"Elo: judgments weighted by strength. Interval: {interval_words(leaderboard)}."]
    level = level_percent(leaderboard.level)
    notes.append(f"ranks: what its differences from the others leave open, {level} each.")
    notes.append("unw.: every judgment counts once. Win and axes: win rate in percent.")
    if any(row.rank_differs for row in leaderboard.rows):
        notes.append(f"{RANK_DIFFERS} the unweighted rank differs.")
    problems = leaderboard.axis_problems
    return notes + [f"Axis {axis}: {problem}" for axis, problem in problems.items()]


def _text_table(leaderboard: Leaderboard) -> str:
    axes = marked_axes(leaderboard)
    heading = ["#", "system", "ranks", "Elo", "interval", "unw.", "", "win", *axes, "n"]
    rows = [_text_row(row, axes) for row in leaderboard.rows]
    columns = list(zip(heading, *rows, strict=True))
    widths = [max(len(cell) for cell in column) for column in columns]
    gap = 2 if sum(widths) + 2 * (len(widths) - 1) <= WIDTH else 1
    rest = sum(widths) - widths[1] + gap * (len(widths) - 1)
    widths[1] = max(min(widths[1], WIDTH - rest), len("system"))
    return "\n".join(_aligned(cells, widths, " " * gap) for cells in [heading, *rows])


def _text_row(row: LeaderboardRow, axes: Sequence[Axis]) -> list[str]:
    return [
        str(row.weighted.rank),
        printable(row.system),
        ranks(row.weighted.rank_low, row.weighted.rank_high),
        whole(row.weighted.elo),
        interval(row.weighted.low, row.weighted.high),
        whole(row.unweighted.elo),
        RANK_DIFFERS if row.rank_differs else "",
        bare_percent(row.win_rate),
        *(bare_percent(row.axes[a].win_rate) if a in row.axes else NO_VALUE for a in axes),
        count(row.n_comparisons),
    ]


def _aligned(cells: Sequence[str], widths: Sequence[int], gap: str) -> str:
    aligned = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
    aligned[1] = shortened(cells[1], widths[1]).ljust(widths[1])
    return gap.join(aligned).rstrip()


def _csv_axes(leaderboard: Leaderboard) -> tuple[Axis, ...]:
    return tuple(dict.fromkeys((*AXES, *marked_axes(leaderboard))))


def _csv_heading(axes: Sequence[Axis]) -> list[str]:
    fields = ("win_rate", "percentile", "elo", "low", "high", "n_comparisons")
    return [
        "rank",
        "system",
        "kind",
        "family",
        *("elo_weighted", "low_weighted", "high_weighted"),
        *("published_low_weighted", "published_high_weighted"),
        *("rank_low_weighted", "rank_high_weighted"),
        *("rank_unweighted", "rank_low", "rank_high"),
        *("elo", "low", "high", "published_low", "published_high"),
        *("win_rate", "n_comparisons", "n_wins", "n_ties"),
        *(f"{axis}_{field}" for axis in axes for field in fields),
        *("judged_by", "interval_used", "level", "judge_notice", "items"),
    ]


def _csv_row(
    results: StudyResults, board: Leaderboard, row: LeaderboardRow, axes: Sequence[Axis]
) -> list[object]:
    weighted, unweighted = row.weighted, row.unweighted
    return [
        *(weighted.rank, row.system, row.kind, row.family),
        *(weighted.elo, weighted.low, weighted.high),
        *(weighted.published_low, weighted.published_high),
        *(weighted.rank_low, weighted.rank_high),
        *(unweighted.rank, unweighted.rank_low, unweighted.rank_high),
        *(unweighted.elo, unweighted.low, unweighted.high),
        *(unweighted.published_low, unweighted.published_high),
        *(row.win_rate, row.n_comparisons, row.n_wins, row.n_ties),
        *(cell for axis in axes for cell in _csv_axis(row.axes.get(axis))),
        *(board.judged_by, board.interval_used, board.level),
        *(results.judge_notice, "; ".join(results.provenance.consent_bases)),
    ]


def _csv_axis(standing: AxisStanding | None) -> list[object]:
    if standing is None:
        return [None] * 6
    return [
        standing.win_rate,
        standing.percentile,
        standing.elo,
        standing.low,
        standing.high,
        standing.n_comparisons,
    ]
