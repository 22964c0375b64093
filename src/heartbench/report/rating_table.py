"""The scores of a study of ratings as text for terminals and as CSV.

The terminal gets rounded numbers in at most 100 columns; the CSV gets every number in full.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from heartbench.analysis.judge_faults import STRESS_NAMES
from heartbench.analysis.rating_results import (
    RatedSystem,
    RatingResults,
    ScoreEstimate,
    StressScore,
)
from heartbench.analysis.results import StressResult, StudyResults
from heartbench.domain import AXES, AXIS_NAMES, Axis
from heartbench.report.leaderboard import all_warnings
from heartbench.report.numbers import (
    NO_VALUE,
    bare_percent,
    count,
    ends_of,
    hundredths,
    level_percent,
    plural,
    signed_hundredths,
)
from heartbench.report.text import aligned, shortened_names, wrapped

MAX_NAME = 22
REFERENCE_NAME = "the reference itself"


def scored_axes(ratings: RatingResults) -> tuple[Axis, ...]:
    """Return the axes that any system has scores on, in the order of the paper."""
    return tuple(axis for axis in AXIS_NAMES if any(axis in row.axes for row in ratings.systems))


def rating_interval_words(ratings: RatingResults) -> str:
    """Name the interval, its level and what it is conditional on."""
    level = level_percent(ratings.level)
    return f"{ratings.interval_used}, t, {level}, conditional on these raters"


def stress_name(kind: str) -> str:
    """Return what a kind of stress text is called beside its scores."""
    return REFERENCE_NAME if kind == "reference" else STRESS_NAMES.get(kind, kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class StressCell:
    """What one judge gave one kind of stress text, and how often the reference got more.

    Attributes:
        score: Its scores.
        reference: How often the reference got more; None for the reference itself.
    """

    score: StressScore
    reference: StressResult | None


def stress_cells(results: StudyResults) -> dict[str, dict[str, StressCell]]:
    """Return the scores of the stress set by kind, then by judge; the reference first."""
    if results.ratings is None:
        return {}
    above = {(row.rater, row.kind): row for row in results.stress}
    cells: dict[str, dict[str, StressCell]] = {}
    for row in sorted(results.ratings.stress, key=lambda row: row.kind != "reference"):
        cell = StressCell(score=row, reference=above.get((row.rater, row.kind)))
        cells.setdefault(row.kind, {})[row.rater] = cell
    return cells


def rating_lines(results: StudyResults) -> str:
    """Write the scores as aligned text of at most 100 columns, for a terminal.

    Raises:
        ValueError: The study has no ratings section: its judges compare.
    """
    ratings = results.ratings
    if ratings is None:
        raise ValueError("the judges of this study compare; use leaderboard_lines")
    parts = [_heading(results, ratings), wrapped(_coverage_words(results))]
    notes = [f"Warning: {warning}" for warning in all_warnings(results)]
    if not ratings.systems:
        parts.append(wrapped("No scores: there is no rating yet; run `heart judge`"))
    else:
        parts.append(_text_table(ratings))
        notes = [*_notes(ratings), *notes]
    if ratings.stress:
        parts.append(_stress_table(results, ratings))
    parts += ["\n".join(wrapped(note) for note in notes)] if notes else []
    return "\n\n".join(parts) + "\n"


def rating_csv(ratings: RatingResults) -> str:
    """Write the scores as CSV with every digit: a line a system, then what each rater gave it.

    Cells are empty where there is no score, no z-score or no interval.
    """
    axes = tuple(dict.fromkeys((*AXES, *scored_axes(ratings))))
    judges = sorted({name for row in ratings.systems for name in row.judges})
    fields = ("mean", "low", "high", "z", "z_low", "z_high", "n_ratings", "n_items")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            *("system", "kind", "family", *fields),
            *(f"{axis}_{field}" for axis in axes for field in fields),
            *(f"{judge}: {field}" for judge in judges for field in ("mean", "z", "n_ratings")),
            *("rated_by", "interval_used", "level"),
        ]
    )
    for row in ratings.systems:
        made = (ratings.rated_by, ratings.interval_used, ratings.level)
        by_judge = [_csv_judge(row, judge) for judge in judges]
        writer.writerow(
            [
                *(row.system, row.kind, row.family, *_csv_estimate(row.overall)),
                *(cell for axis in axes for cell in _csv_estimate(row.axes.get(axis))),
                *(cell for cells in by_judge for cell in cells),
                *made,
            ]
        )
    return out.getvalue()


def _heading(results: StudyResults, ratings: RatingResults) -> str:
    made = results.provenance
    items = "; ".join(made.consent_bases).rstrip(".")
    names = ", ".join(judge.rater for judge in results.coverage.judges)
    return wrapped(
        f"{made.study}, version {made.version}. Items: {items}. Rated by {ratings.rated_by}: "
        f"{names} ({plural(ratings.n_ratings, 'rating')}, "
        f"{plural(ratings.n_completions, 'completion')}, {plural(ratings.n_items, 'item')}, "
        f"{plural(ratings.n_raters, 'rater')})"
    )


def _coverage_words(results: StudyResults) -> str:
    systems, judges = results.coverage.systems, results.coverage.judges
    return (
        f"Coverage: {count(sum(system.n_completions for system in systems))} of "
        f"{count(sum(system.n_items for system in systems))} completions, "
        f"{count(sum(judge.n_judged for judge in judges))} of "
        f"{count(sum(judge.n_assigned for judge in judges))} ratings"
    )


def _text_table(ratings: RatingResults) -> str:
    axes = scored_axes(ratings)
    heading = ["system", "z", "interval", "score", "interval", *axes, "n"]
    names = shortened_names([row.system for row in ratings.systems], MAX_NAME)
    rows = [
        [
            name,
            signed_hundredths(row.overall.z),
            ends_of(row.overall.z_low, row.overall.z_high),
            hundredths(row.overall.mean),
            ends_of(row.overall.low, row.overall.high),
            *(hundredths(row.axes[a].mean) if a in row.axes else NO_VALUE for a in axes),
            count(row.overall.n_ratings),
        ]
        for name, row in zip(names, ratings.systems, strict=True)
    ]
    return aligned([heading, *rows], left=(0,))


def _stress_table(results: StudyResults, ratings: RatingResults) -> str:
    judges = list(dict.fromkeys(row.rater for row in ratings.stress))
    heading = ["stress set, never ranked", *shortened_names(judges, MAX_NAME)]
    rows = [
        [
            stress_name(kind),
            *(hundredths(cells[j].score.mean) if j in cells else NO_VALUE for j in judges),
        ]
        for kind, cells in stress_cells(results).items()
    ]
    return aligned([heading, *rows], left=(0,))


def _notes(ratings: RatingResults) -> list[str]:
    notes = [
        "z: mean of the scores in standard deviations from each rater's own mean on the axis. "
        "Score and axes: mean raw score, 1 to 5.",
        f"Interval: {rating_interval_words(ratings)}.",
    ]
    return notes + [
        f"{row.rater} rated {plural(row.n_completions, 'completion')} again: "
        f"{bare_percent(row.same)} % of the scores were the same, {hundredths(row.difference)} "
        "apart on average."
        for row in ratings.repeatability
    ]


def _csv_estimate(at: ScoreEstimate | None) -> Sequence[object]:
    if at is None:
        return [None] * 8
    return [at.mean, at.low, at.high, at.z, at.z_low, at.z_high, at.n_ratings, at.n_items]


def _csv_judge(row: RatedSystem, judge: str) -> Sequence[object]:
    at = row.judges.get(judge)
    return [None, None, None] if at is None else [at.mean, at.z, at.n_ratings]
