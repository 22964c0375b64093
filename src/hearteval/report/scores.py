"""The scores of a study of ratings as tables for terminals, notebooks and CSV.

Only the CSV gets every number in full; their radars are in `radar`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hearteval.analysis.judges import StressResult
from hearteval.analysis.judges.faults import STRESS_NAMES, TELLS_APART
from hearteval.analysis.ranking.intervals import OVER_RATERS
from hearteval.analysis.ranking.warnings import given_writers
from hearteval.analysis.scores.checks import Repeatability, StressScore, sure_stress_faults
from hearteval.analysis.scores.scores import RatedSystem, ScoreEstimate
from hearteval.analysis.scores.study import RatingResults
from hearteval.domain import AXES, Axis, in_order
from hearteval.report.leaderboard import axes_words
from hearteval.report.table import CENTRE, Bar, Column, Table, mark_simulated, tabulate
from hearteval.report.text import (
    NO_VALUE,
    bare_percent,
    count,
    fine_interval,
    hundredths,
    interval,
    level_percent,
    percent,
    plural,
    recorded_words,
    shortened_names,
    signed_hundredths,
)

FIELDS = ("mean", "low", "high", "z", "z_low", "z_high", "n_ratings", "n_items")
JUDGE_FIELDS = ("mean", "z", "n_ratings")
MAX_NAME = 22
REFERENCE_NAME = "the reference itself"


def scored_axes(ratings: RatingResults) -> tuple[Axis, ...]:
    """Return the axes that any system has scores on, in the order of the paper."""
    return in_order({axis for row in ratings.systems for axis in row.axes})


def rating_interval_words(ratings: RatingResults) -> str:
    """Name the interval, its level and what it is conditional on."""
    level = level_percent(ratings.level)
    given = {"both": ", conditional on these judges", "people": ""}
    raters = ", conditional on these raters"
    if ratings.interval_used in OVER_RATERS:
        raters = given.get(ratings.rated_by, raters)
    words = f"{ratings.interval_used}, t, {level}{raters}"
    return ", ".join(filter(None, (words, given_writers(ratings.n_writers))))


def stress_name(kind: str) -> str:
    """Return what a kind of stress text is called beside its scores."""
    return REFERENCE_NAME if kind == "reference" else STRESS_NAMES.get(kind, kind)


def stress_cells(
    ratings: RatingResults, stress: Sequence[StressResult]
) -> dict[str, dict[str, tuple[StressScore, StressResult | None]]]:
    """Return the scores of the stress set by kind, then by judge; the reference first.

    Beside each score stands how often the reference got more; None for the reference itself.
    """
    above = {(row.rater, row.kind): row for row in stress}
    cells: dict[str, dict[str, tuple[StressScore, StressResult | None]]] = {}
    for row in sorted(ratings.stress, key=lambda row: row.kind != "reference"):
        cells.setdefault(row.kind, {})[row.rater] = (row, above.get((row.rater, row.kind)))
    return cells


def stress_states(stress: Sequence[StressResult], level: float) -> dict[StressResult, str]:
    """Return the class of a cell: as it should be, a fault of the warnings; others have none."""
    at_fault = sure_stress_faults(stress, level=level)
    right = {row: "good" for row in stress if row.low > TELLS_APART}
    wrong = {row: "wrong" for row in stress if (row.rater, row.kind) in at_fault}
    return right | wrong


def score_table(ratings: RatingResults, names: Mapping[Axis, str]) -> Table:
    """Return the scores as a terminal and a notebook show them."""
    axes = scored_axes(ratings)
    heading = f"{level_percent(ratings.level)} interval"
    return tabulate(
        ratings.systems,
        [
            (Column("system", "name"), lambda row: row.system),
            ("z", lambda row: signed_hundredths(row.overall.z)),
            (Column(heading, "bar", centre=0.0), lambda row: _z_bar(row.overall)),
            ("score", lambda row: hundredths(row.overall.mean)),
            *((axis, lambda row, axis=axis: _axis_score(row, axis)) for axis in axes),
        ],
        notes=[
            f"z: how far above the mean of all replies, by each judge's own scale; {CENTRE} that "
            "mean. score and axes: mean rating, 1 to 5.",
            axes_words(axes, names),
            *recorded_words({row.system: row.kind for row in ratings.systems}),
        ],
    )


def score_numbers(ratings: RatingResults) -> Table:
    """Return the numbers behind the bars of the scores."""
    return tabulate(
        ratings.systems,
        [
            (Column("system", "name", max_width=MAX_NAME), lambda row: row.system),
            ("z", lambda row: signed_hundredths(row.overall.z)),
            ("interval", lambda row: fine_interval(row.overall.z_low, row.overall.z_high)),
            ("score", lambda row: hundredths(row.overall.mean)),
            ("interval", lambda row: fine_interval(row.overall.low, row.overall.high)),
            ("n", lambda row: count(row.overall.n_ratings)),
        ],
    )


def _z_bar(score: ScoreEstimate) -> Bar | str:
    if score.z is None:
        return ""
    return Bar(score.z_low, score.z, score.z_high, f"z {signed_hundredths(score.z)}")


def _axis_score(row: RatedSystem, axis: Axis) -> str:
    return f"{row.axes[axis].mean:.1f}" if axis in row.axes else NO_VALUE


def stress_table(ratings: RatingResults, stress: Sequence[StressResult]) -> Table | None:
    """Return the mean scores of the stress set by judge; None where there are none."""
    cells = stress_cells(ratings, stress)
    judges = list(dict.fromkeys(judge for by_judge in cells.values() for judge in by_judge))
    rows = [
        [
            stress_name(kind),
            *(hundredths(by_judge[j][0].mean) if j in by_judge else NO_VALUE for j in judges),
        ]
        for kind, by_judge in cells.items()
    ]
    names = shortened_names(judges, MAX_NAME)
    columns = (Column("stress set, never ranked", "text"), *map(Column, names))
    return Table(columns=columns, rows=rows) if rows else None


def repeatability_table(repeatability: Sequence[Repeatability]) -> Table:
    """Return how far each judge gives the same scores again."""
    return tabulate(
        repeatability,
        [
            (Column("Judge", "name"), lambda row: row.rater),
            ("Same score", lambda row: percent(row.same)),
            ("Interval", lambda row: interval(row.low, row.high, write=bare_percent)),
            ("Apart on average", lambda row: hundredths(row.difference)),
            ("Replies", lambda row: count(row.n_completions)),
            ("Items", lambda row: count(row.n_items)),
        ],
    )


def rating_csv(ratings: RatingResults, *, is_simulated: bool = False) -> str:
    """Write the scores as CSV with every digit: a line a system, then what each rater gave it.

    Cells are empty where there is no score, no z-score or no interval.
    """
    axes = tuple(dict.fromkeys((*AXES, *scored_axes(ratings))))
    judges = sorted({name for row in ratings.systems for name in row.judges})
    headings = (
        *("system", "kind", "family", *FIELDS),
        *(f"{axis}_{field}" for axis in axes for field in FIELDS),
        *(f"{judge}: {field}" for judge in judges for field in JUDGE_FIELDS),
        *("rated_by", "interval_used", "level"),
    )
    rows = [
        [
            *(row.system, row.kind, row.family),
            *(getattr(row.overall, field) for field in FIELDS),
            *(getattr(row.axes.get(axis), field, None) for axis in axes for field in FIELDS),
            *(getattr(row.judges.get(j), field, None) for j in judges for field in JUDGE_FIELDS),
            *(ratings.rated_by, ratings.interval_used, ratings.level),
        ]
        for row in ratings.systems
    ]
    table = Table(columns=tuple(map(Column, headings)), rows=rows)
    return (mark_simulated(table) if is_simulated else table).csv()


def rating_rows(ratings: RatingResults | None) -> list[dict[str, Any]]:
    """Return the headline columns of the scores for JSON; empty where no judge rates."""
    return [
        {
            "system": row.system,
            **{field: getattr(row.overall, field) for field in ("mean", "low", "high", "z")},
            "axes": {axis: at.mean for axis, at in row.axes.items()},
            "n_ratings": row.overall.n_ratings,
        }
        for row in (ratings.systems if ratings else ())
    ]


def score_notes(ratings: RatingResults) -> list[str]:
    """Return the lines below the scores that say how to read them."""
    notes = [
        "z: mean of the scores in standard deviations from each rater's own mean on the axis. "
        "Score and axes: mean raw score, 1 to 5.",
        f"Interval: {rating_interval_words(ratings)}.",
    ]
    return notes + [
        f"{row.rater} rated {plural(row.n_completions, 'reply')} again: "
        f"{bare_percent(row.same)} % of the scores were the same, {hundredths(row.difference)} "
        "apart on average."
        for row in ratings.repeatability
    ]
