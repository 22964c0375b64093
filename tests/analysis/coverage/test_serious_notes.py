"""Serious notes where people agree by chance, or are faster than anybody reads."""

import random
from dataclasses import replace

import pytest
from people_study import simulated_study
from planted_studies import NOTHING, data_of

from hearteval.analysis.coverage.pace import FASTEST, measure_pace
from hearteval.analysis.data import StudyData
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.notices import Kind
from hearteval.report.answers.headline import results_notices
from hearteval.report.coverage.people import pace_words
from hearteval.report.page import render_page
from hearteval.report.page.replies import Shown
from hearteval.sections.people import People
from hearteval.study.simulation.making import draw_world

SAME = dict.fromkeys(("beacon", "ember", "harbour", "People"), 0.0)
APART = {"beacon": 1.5, "ember": 0.5, "harbour": -0.5, "People": -1.5}
WORDS = 50
PACED = 60 * 2 * WORDS / FASTEST
"""Seconds in which two replies are read at the limit."""


def timed(seconds: float | None, theta: dict[str, float] | None = None) -> StudyData:
    """A study of replies of 50 words, all of whose judgments by people took so long."""
    found = simulated_study(theta or APART, APART, n_items=12)
    people = {one.id for one in found.raters if one.kind == "human"}
    texts = [replace(c, text=" ".join(["word"] * WORDS), id="") for c in found.completions]
    renamed = {c.id: text.id for c, text in zip(found.completions, texts, strict=True)}
    texts = [replace(c, text=t.text) for c, t in zip(found.completions, texts, strict=True)]
    assert len(renamed) == len(texts)
    times = {row.assignment_id: seconds for row in found.judgments if row.rater_id in people}
    return replace(found, completions=texts, seconds=times)


def kinds(results: StudyResults) -> list[Kind]:
    return [notice.kind for notice in results_notices(results)]


def test_clicks_are_said_to_be_faster_than_reading_first_of_all() -> None:
    results = analyze_study(timed(0.34))
    assert results_notices(results)[0].kind is Kind.TOO_FAST
    assert Kind.TOO_FAST.is_serious
    assert "0.34 seconds" in results_notices(results)[0]
    assert results.pace is not None
    n = results.pace.n_told
    assert f"For {n} of {n} people that is half of theirs or more." in results_notices(results)[0]
    assert results.pace.n_mostly_too_fast == results.pace.n_told > 0
    for shown in (Shown(is_public=True), Shown()):
        page = render_page(results, shown)
        assert pace_words(results.pace) in page
        assert ('aria-label="How long each person took"' in page) is not shown.is_public
        assert '<th scope="row" class="name">r1</th>' not in page


def test_time_enough_to_read_at_the_limit_is_no_news() -> None:
    results = analyze_study(timed(PACED + 0.01))
    assert Kind.TOO_FAST not in kinds(results)
    assert results.pace is not None
    assert results.pace.everybody.n_too_fast == 0


def test_missing_times_stay_missing() -> None:
    assert measure_pace(timed(None)) is None
    half = timed(0.34)
    kept = dict.fromkeys(half.seconds) | dict(list(half.seconds.items())[:100])
    found = measure_pace(replace(half, seconds=kept))
    assert found is not None
    assert (found.everybody.n_timed, found.everybody.n_judgments) == (100, len(kept))


def test_a_reply_that_a_person_met_before_need_not_be_read_again() -> None:
    found = measure_pace(timed(0.34))
    assert found is not None
    assert found.everybody.n_new < found.everybody.n_timed


def test_a_third_is_enough_and_less_is_not() -> None:
    fast = timed(100.0)
    rng = random.Random(1)
    for share, is_said in ((0.15, False), (0.45, True)):
        drawn = {id_: 0.3 if rng.random() < share else 100.0 for id_ in fast.seconds}
        results = analyze_study(replace(fast, seconds=drawn))
        assert (Kind.TOO_FAST in kinds(results)) is is_said


def test_people_who_toss_coins_are_said_to_agree_by_chance() -> None:
    plan = NOTHING.model_copy(update={"random_raters": NOTHING.pool, "judges": 0})
    world, study = draw_world("planted", plan)
    results = analyze_study(data_of(world, study), sections=[People])
    first, second = [one for one in results_notices(results) if one.kind.is_serious][:2]
    assert (first.kind, second.kind) == (Kind.SIMULATED, Kind.BY_CHANCE)
    assert "no more than chance would" in second


@pytest.mark.parametrize("theta", [APART])
def test_honest_people_are_not(theta: dict[str, float]) -> None:
    results = analyze_study(simulated_study(theta, theta, n_items=12), sections=[People])
    assert Kind.BY_CHANCE not in kinds(results)
    assert results.pace is None
