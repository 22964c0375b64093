"""Scores in full, where judges rate: by axis and rater, compared, by cue, beside keyed examples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from hearteval.analysis.scores.study import RatingResults
from hearteval.analysis.section import Basis, Chapter, Chip, Records, Section, rows_at
from hearteval.domain import flat_fields
from hearteval.report import radar
from hearteval.report.coverage.people import raters_words
from hearteval.report.page.links import system_links
from hearteval.report.page.replies import Shown
from hearteval.report.scores import rating_interval_words
from hearteval.report.text import percent, plural
from hearteval.sections.ratings import words
from hearteval.sections.ratings.calibration import RaterCalibration, measure_calibration
from hearteval.sections.ratings.cues import CueResults, compare_cues
from hearteval.sections.ratings.differences import ScoreComparison, compare_scores
from hearteval.sections.ratings.reliability import RaterAgreement, measure_raters

PATHS = {
    "stress-scores": "stress",
    "rating-ranks": "comparison.ranks",
    "rating-differences": "comparison.differences",
    "rating-agreement": "reliability",
    "rating-cues": "cues.contrasts",
    "ratings-beside-pairs": "pairs.places",
    "calibration": "calibration",
    "rated-again": "repeatability",
}
"""Where the rows of each table are in what is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsInFull(RatingResults):
    """The scores of a study, with what is said of them beside.

    Attributes:
        comparison: Ranks and differences; None under two systems with z-scores, or two items.
        reliability: How far raters agree, by kind of rater and axis; empty where no two rated one
            completion.
        cues: Scores by cue of the item; None where no item is labelled. Exploratory.
        calibration: How far each rater is from the keyed examples, which enter no score; empty
            without them.
    """

    comparison: ScoreComparison | None
    reliability: tuple[RaterAgreement, ...]
    cues: CueResults | None
    calibration: tuple[RaterCalibration, ...]


@dataclass(frozen=True, slots=True)
class Ratings(Section[RatingsInFull]):
    """The scores of a study whose judges rate."""

    NAME: ClassVar = "scores-in-full"
    TITLE: ClassVar = "Scores in full"
    CHAPTER: ClassVar = Chapter.METHODS
    KEYS: ClassVar = ("ratings",)
    TABLES: ClassVar = {
        "stress-scores": "scores of the stress set",
        "rating-ranks": "places by ratings",
        "rating-differences": "ratings of every two systems",
        "rating-agreement": "how far raters agree on scores",
        "rating-cues": "scores by cue of the item",
        "ratings-beside-pairs": "places by ratings and by pairs",
        "calibration": "scores of keyed examples",
        "rated-again": "same score twice, by judge",
    }
    CUE_HEADINGS: ClassVar = words.CUE_HEADINGS
    interval_words = staticmethod(rating_interval_words)
    comparison_words = staticmethod(words.comparison_words)
    rank_rows = staticmethod(words.rank_rows)
    pairs_words = staticmethod(words.pairs_words)
    cue_words = staticmethod(words.cue_words)
    cue_rows = staticmethod(words.cue_rows)
    axis_label = staticmethod(words.axis_label)
    with_enough_items = staticmethod(words.with_enough_items)
    agreement_words = staticmethod(words.agreement_words)
    kinds_of_raters = staticmethod(words.kinds_of_raters)
    agreement_rows = staticmethod(words.agreement_rows)
    measure = staticmethod(words.measure)
    calibration_words = staticmethod(words.calibration_words)
    calibration_axes = staticmethod(words.calibration_axes)
    calibration_rows = staticmethod(words.calibration_rows)
    score_frame = staticmethod(radar.score_frame)
    score_radars = staticmethod(radar.score_radars)
    who: str
    """Who rated, in words."""

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Say of the scores what is beside them; None where judges compare."""
        ratings, rated, level = basis.ratings, basis.rated, basis.level
        if ratings is None:
            return None
        found = RatingsInFull(
            **flat_fields(ratings),
            comparison=compare_scores(rated, level=level) if rated else None,
            reliability=measure_raters(rated, level=level, seed=basis.seed) if rated else (),
            cues=compare_cues(rated, basis.data.items, level=level) if rated else None,
            calibration=measure_calibration(basis.data.calibration),
        )
        return cls(found, raters_words(basis.coverage))

    @property
    def is_shown(self) -> bool:
        """Whether there is a score."""
        return bool(self.found.systems)

    def records(self, table: str) -> Records:
        """Return a row for each system, difference, rater, kind of stress text or axis."""
        return rows_at(self.found, PATHS[table])

    def line(self) -> str:
        """Say who scored what, and how systems are ordered by it."""
        found = self.found
        replies = plural(found.n_completions, "reply", "replies")
        return (
            f"Each reply was scored by itself, 1 to 5 on each axis, by {self.who}:"
            f" {plural(found.n_ratings, 'rating')} of {replies} on"
            f" {plural(found.n_items, 'item')}. Systems are ordered by how far their scores lie"
            " from each rater's own mean (z), so that strict and mild raters count alike."
        )

    def chip(self) -> Chip:
        """Say how steady the least steady judge is."""
        if not self.found.repeatability:
            return Chip("Steadiness", "No reply was rated twice", self.NAME)
        worst = min(self.found.repeatability, key=lambda row: row.same)
        said = f"{worst.rater} gives {percent(worst.same)} of scores again"
        return Chip("Steadiness", said, "judges")

    @property
    def raters(self) -> list[str]:
        """Who gave scores, by name."""
        return sorted({name for row in self.found.systems for name in row.judges})

    def pages(self, shown: Shown) -> Mapping[str, str]:
        """Return the page of each system; none where there is no folder."""
        return system_links(shown, (row.system for row in self.found.systems))
