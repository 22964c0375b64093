"""Invented scores for the report's tests: nothing here was measured."""

import dataclasses
import math
from collections.abc import Sequence

from invented_results import (
    N_ITEMS,
    SIX,
    TWELVE_MORE,
    invented_results,
    section_of,
    with_judges,
    with_section,
    without_ranking,
)

from hearteval.analysis.judges import StressResult
from hearteval.analysis.scores.checks import Repeatability, StressScore
from hearteval.analysis.scores.scores import JudgeScore, RatedSystem, ScoreEstimate, field_means
from hearteval.analysis.scores.study import RatingResults
from hearteval.analysis.study import RATED, StudyResults
from hearteval.domain import AXES, EQUAL_WEIGHTS, flat_fields
from hearteval.notices import Kind, Notice
from hearteval.report.coverage.people import raters_words
from hearteval.sections.judges import Judges
from hearteval.sections.ratings import Ratings, RatingsInFull

JUDGES = ("juniper", "larch-2")
KINDS = ("generic-warmth", "hostile", "keyword-stuffed", "other-reply", "reference")


def invented_ratings(*, large: bool = False) -> StudyResults:
    """Return results of 6 systems, or 18, that two models rated; one skips its own family."""
    results = without_ranking(invented_results(large=large), RATED)
    systems = _rated(SIX + TWELVE_MORE if large else SIX)
    ratings = RatingResults(
        systems=systems,
        unrated=(),
        field=field_means(systems),
        weights=EQUAL_WEIGHTS,
        no_z={},
        stress=tuple(_stress_score(judge, k) for judge in JUDGES for k in range(len(KINDS))),
        repeatability=tuple(
            Repeatability(
                rater=judge,
                n_completions=50,
                n_items=31,
                same=0.873,
                low=0.81,
                high=0.936,
                difference=0.14,
            )
            for judge in JUDGES
        ),
        interval_used="item-sandwich",
        level=0.95,
        rated_by="judges",
        n_ratings=sum(row.overall.n_ratings for row in systems),
        n_completions=N_ITEMS * len(systems),
        n_items=N_ITEMS,
        n_raters=len(JUDGES),
        warnings=(Notice(Kind.MISSING, "juniper did not rate beacon-large-instruct."),),
    )
    results = with_judges(
        results,
        found=None,
        stress=tuple(_stress_result(judge, k) for judge in JUDGES for k in range(len(KINDS) - 1)),
        consistency=(),
        majorities=None,
    )
    return with_scores(results, ratings)


def with_scores(results: StudyResults, ratings: RatingResults) -> StudyResults:
    """Return the results with these scores, and the section that shows them."""
    full = RatingsInFull(
        **flat_fields(ratings), comparison=None, reliability=(), cues=None, calibration=()
    )
    section = Ratings(full, raters_words(results.coverage))
    judges = dataclasses.replace(section_of(results, Judges), ratings=ratings)
    results = with_section(dataclasses.replace(results, ratings=ratings), judges)
    return with_section(results, section)


def _rated(systems: Sequence[tuple[str, str, str]]) -> tuple[RatedSystem, ...]:
    n = len(systems)
    rows = []
    for k, (name, kind, family) in enumerate(systems):
        z = 0.9 - 1.8 * k / (n - 1)
        skips = k == 0
        rows.append(
            RatedSystem(
                system=name,
                kind=kind,
                family=family,
                overall=_estimate(z, 40 if skips else 80),
                axes={
                    axis: _estimate(z + 0.5 * math.sin(3 * k + 2 * j), 40 if skips else 80)
                    for j, axis in enumerate(AXES)
                },
                judges={
                    judge: JudgeScore(mean=3.4 + 0.8 * z + 0.2 * j, z=z, n_ratings=40)
                    for j, judge in enumerate(JUDGES)
                    if j or not skips
                },
            )
        )
    return tuple(rows)


def _estimate(z: float, n_ratings: int) -> ScoreEstimate:
    mean = min(3.5 + 0.8 * z, 4.9)
    return ScoreEstimate(
        mean=mean,
        low=mean - 0.21,
        high=min(mean + 0.21, 5.0),
        z=z,
        z_low=z - 0.26,
        z_high=z + 0.26,
        n_ratings=n_ratings,
        n_items=N_ITEMS,
        p=0.01 if abs(z) > 0.26 else 0.4,
        q=0.02 if abs(z) > 0.26 else 0.5,
    )


def _stress_score(judge: str, k: int) -> StressScore:
    mean = 1.4 + 0.6 * k
    return StressScore(
        rater=judge, kind=KINDS[k], n_items=N_ITEMS, mean=mean, low=mean - 0.2, high=mean + 0.2
    )


def _stress_result(judge: str, k: int) -> StressResult:
    rate = 0.98 - 0.2 * k
    return StressResult(
        rater=judge,
        kind=KINDS[k],
        n_items=N_ITEMS,
        reference_rate=rate,
        low=rate - 0.1,
        high=min(rate + 0.1, 1.0),
    )
