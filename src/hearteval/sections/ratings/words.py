"""Rated systems beside each other, by cue of the item; raters and pairs that agree: in words."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from hearteval.analysis.agreement.measures import AgreementMeasure
from hearteval.analysis.estimates import Estimate
from hearteval.analysis.scores.beside_pairs import BesidePairs
from hearteval.analysis.scores.scores import OVERALL
from hearteval.domain import Axis, in_order
from hearteval.report.table import Column, tabulate
from hearteval.report.text import (
    NO_VALUE,
    fine_interval,
    hundredths,
    listed,
    plural,
    q_words,
    ranks,
    signed_hundredths,
    whole_percent,
    wrapped,
)
from hearteval.sections.ratings.calibration import RaterCalibration
from hearteval.sections.ratings.cues import GAP, MODELS, PEOPLE, CueContrast, CueResults
from hearteval.sections.ratings.differences import ScoreComparison, ScoreDifference
from hearteval.sections.ratings.reliability import MIN_ITEMS, RaterAgreement

ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
TAU, RHO = "\N{GREEK SMALL LETTER TAU}", "\N{GREEK SMALL LETTER RHO}"
MAX_Q = 0.05
CUE_HEADINGS = {
    GAP: "People above models",
    PEOPLE: "People",
    MODELS: "Models",
}


def comparison_words(found: ScoreComparison) -> str:
    """Say which system leads, and from how many it is apart."""
    best, n = found.ranks[0], len(found.ranks)
    many = plural(n - 1, "other system")
    if best.n_apart == n - 1:
        return f"{best.system} is rated above all {many} by more than chance."
    equal = [row.system for row in found.ranks if row.low == 1]
    if len(equal) == 1:
        return f"{best.system} is rated highest."
    if len(equal) <= 4:
        return f"{listed(equal)} may each be the best: the intervals leave it open."
    return f"Any of {plural(len(equal), 'system')} may be the best: the intervals leave it open."


def rank_rows(found: ScoreComparison) -> list[tuple[str, str, int, str, str]]:
    """Return systems, best first: place, how many are apart, lead over the next and its q."""
    gaps = {(row.system, row.other): row for row in found.differences}
    below = [*(row.system for row in found.ranks[1:]), ""]
    return [
        (
            row.system,
            f"{row.rank}" + (f" ({ranks(row.low, row.high)})" if row.low != row.high else ""),
            row.n_apart,
            _gap(gaps.get((row.system, other))),
            q_words(gaps[row.system, other].q) if other else NO_VALUE,
        )
        for row, other in zip(found.ranks, below, strict=True)
    ]


def cue_words(found: CueResults, names: Mapping[Axis, str]) -> str:
    """Say what changes where feelings must be read from what is told."""
    if found.problem is not None:
        return f"Not compared: {found.problem}."
    rows = {(row.who, row.axis): row for row in found.contrasts}
    at = rows.get((GAP, "E")) or rows.get((GAP, OVERALL))
    if at is not None:
        where = f" on {names['E']}" if at.axis == "E" else ""
        change = _estimate(at.difference)
        return (
            f"Where a feeling must be read from what is told, people score"
            f" {_points(at.implicit)} than models{where}; where it is said,"
            f" {_points(at.explicit)}. The difference is {change}{_sure(at.q_value)}."
        )
    at = next(row for row in found.contrasts if not row.is_system) if _kinds(found) else None
    if at is None:
        return "Scores of each system by cue stand in the tables."
    return (
        f"{CUE_HEADINGS[at.who]} score {_points(at.difference)} where a feeling must be read from"
        f" what is told than where it is said{_sure(at.q_value)}."
    )


def cue_rows(found: CueResults) -> list[CueContrast]:
    """Return what the page shows by axis: people above models, else the one kind there is."""
    kinds = _kinds(found)
    shown = GAP if GAP in kinds else kinds[0] if kinds else None
    return [row for row in found.contrasts if row.who == shown]


def _kinds(found: CueResults) -> list[str]:
    return list(dict.fromkeys(row.who for row in found.contrasts if not row.is_system))


def axis_label(axis: str, names: Mapping[Axis, str]) -> str:
    """Return an axis with its letter, or what stands for all."""
    if axis == OVERALL:
        return "All axes"
    return next(f"{letter} {name}" for letter, name in names.items() if letter == axis)


def with_enough_items(rows: Sequence[RaterAgreement]) -> list[RaterAgreement]:
    """Return the agreements that rest on enough items to be shown."""
    return [row for row in rows if row.n_items >= MIN_ITEMS]


def kinds_of_raters(rows: Sequence[RaterAgreement]) -> list[RaterAgreement]:
    """Return the agreement over all axes of each kind of rater."""
    return [row for row in rows if row.axis == OVERALL]


def agreement_rows(
    rows: Sequence[RaterAgreement], names: Mapping[Axis, str]
) -> list[tuple[str, list[RaterAgreement | None]]]:
    """Return every axis with the agreement of each kind of rater on it."""
    kinds = [row.raters for row in kinds_of_raters(rows)]
    at = {(row.raters, row.axis): row for row in rows}
    axes = dict.fromkeys(row.axis for row in rows)
    return [(axis_label(axis, names), [at.get((kind, axis)) for kind in kinds]) for axis in axes]


def agreement_words(rows: Sequence[RaterAgreement]) -> str:
    """Say how far raters agree over all axes."""
    if not rows:
        return f"Too few items to say: raters share replies on fewer than {MIN_ITEMS}."
    said = [
        f"{_who(row.raters)} {hundredths(row.alpha.value)}"
        for row in kinds_of_raters(rows)
        if row.alpha.value is not None
    ]
    return (
        f"Krippendorff's {ALPHA} of the scores over all axes, 1 being always the same and 0 no more"
        f" than chance: {', '.join(said)}."
        if said
        else "Raters who scored the same replies do not differ enough to say how far they agree."
    )


def measure(found: AgreementMeasure) -> str:
    """Return a coefficient with its interval, or a dash."""
    if found.value is None:
        return NO_VALUE
    return f"{hundredths(found.value)} {fine_interval(found.low, found.high)}"


class CalibrationRow(NamedTuple):
    """One rater's distance from the keys, over all axes and by axis."""

    rater: str
    n_scores: int
    overall: RaterCalibration
    axes: tuple[RaterCalibration | None, ...]


def calibration_axes(found: Sequence[RaterCalibration]) -> tuple[Axis, ...]:
    """Return the axes of the keys that were scored, in the order of the paper."""
    known = {one.axis for one in found}
    return in_order(known)


def calibration_rows(found: Sequence[RaterCalibration]) -> list[CalibrationRow]:
    """Return every rater's distance from the keys."""
    at = {(one.is_person, one.rater, one.axis): one for one in found}
    axes = calibration_axes(found)
    return [
        CalibrationRow(
            rater=one.rater,
            n_scores=one.n_scores,
            overall=one,
            axes=tuple(at.get((one.is_person, one.rater, axis)) for axis in axes),
        )
        for one in found
        if one.axis == OVERALL
    ]


def calibration_words(found: Sequence[RaterCalibration]) -> str:
    """Say how far the raters are from the keys."""
    said = [
        f"{row.rater} {hundredths(row.overall.error)} points off on average,"
        f" {_leaning(row.overall.bias)}"
        for row in calibration_rows(found)
    ]
    return f"From the keys of the examples: {'; '.join(said)}."


def calibration_lines(found: Sequence[RaterCalibration]) -> str:
    """Return how far each rater scores from the keyed examples, for a terminal."""
    if not found:
        return wrapped("Nobody has scored a keyed example yet.")
    axes = calibration_axes(found)
    columns: list[tuple[str | Column, Callable[[CalibrationRow], object]]] = [
        (Column("rater", "name"), lambda row: row.rater),
        ("off", lambda row: hundredths(row.overall.error)),
        ("within 1, %", lambda row: whole_percent(row.overall.within_one)),
        ("bias", lambda row: signed_hundredths(row.overall.bias)),
    ]
    for k, axis in enumerate(axes):
        columns.append((f"{axis} bias", partial(_bias_at, k)))
    notes = [
        "off: mean distance of a score from its key; within 1: scores no more than one point from"
        " it; bias: how much higher a rater scores. Keys are the project's own reading of the"
        " rubric, written by a language model and checked by nobody, and enter no score.",
    ]
    return tabulate(calibration_rows(found), columns, notes=notes).text()


def _bias_at(place: int, row: CalibrationRow) -> str:
    at = row.axes[place]
    return NO_VALUE if at is None else signed_hundredths(at.bias)


def _leaning(bias: float) -> str:
    if abs(bias) < 0.005:
        return "as often above as below them"
    return f"{hundredths(abs(bias))} {'above' if bias > 0 else 'below'} them"


def pairs_words(found: BesidePairs) -> str:
    """Say how alike the orders by ratings and by pairs are."""
    many = plural(found.n_judgments, "judgment")
    if found.problem is not None or found.kendall is None or found.spearman is None:
        return f"This study also holds {many} of pairs, but {found.problem}."
    moved = [one for one in found.places if one.by_ratings != one.by_pairs]
    where = (
        "every system has the same place"
        if not moved
        else f"{len(moved)} of {len(found.places)} systems have another place"
    )
    return (
        f"This study also holds {many} of pairs. In their ranking {where}: Kendall's {TAU}"
        f" {_estimate(found.kendall)}, Spearman's {RHO} {_estimate(found.spearman)}, items"
        " resampled."
    )


def _who(raters: str) -> str:
    return "people and judges together" if raters == "both" else raters


def _gap(row: ScoreDifference | None) -> str:
    if row is None:
        return NO_VALUE
    return f"{signed_hundredths(row.z)} {fine_interval(row.low, row.high)}"


def _estimate(at: Estimate) -> str:
    return f"{hundredths(at.value)} {fine_interval(at.low, at.high)}"


def _points(at: Estimate) -> str:
    """Return a difference of scores in words, with its interval."""
    more = "higher" if at.value >= 0 else "lower"
    return f"{hundredths(abs(at.value))} points {more}"


def _sure(q: float | None) -> str:
    if q is None or q > MAX_Q:
        return ", which chance alone may give"
    return ""
