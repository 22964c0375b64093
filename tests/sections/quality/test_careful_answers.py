"""Who is left out, what it does to the ranking, and what a page says of single people."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import pytest
from golden_text import golden_words
from invented_results import section_html
from people_study import SYSTEMS, simulated_study
from test_page import words

from hearteval.analysis.data import PeopleQuality, StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.study import StudyResults, analyze_study, results_dict
from hearteval.domain.quality import Counted, Exclusion, QualityRules
from hearteval.notices import Kind
from hearteval.report.page import render_page
from hearteval.report.page.replies import Shown
from hearteval.report.tables import all_tables
from hearteval.sections import SECTIONS
from hearteval.sections.people import People
from hearteval.sections.quality import Quality
from hearteval.sections.quality.measure import CarefulAnswers
from hearteval.sections.quality.words import LATE, NO_REJECTION

NOW = datetime(2026, 3, 1, tzinfo=UTC)
THETA = {one.name: 1.2 - 0.6 * k for k, one in enumerate(SYSTEMS)}


@cache
def data() -> StudyData:
    drawn = simulated_study(THETA, THETA, n_items=30, n_people=10)
    people = [one for one in drawn.raters if one.kind == "human"]
    ids = {one.id for one in people}
    own = [row for row in drawn.judgments if row.rater_id in ids]
    hurried = people[0].id
    seconds = {row.assignment_id: 0.01 if row.rater_id == hurried else 60.0 for row in own}
    return replace(drawn, seconds=seconds)


def person(number: int) -> str:
    return sorted(one.name for one in data().raters if one.kind == "human")[number]


def out(number: int, *, rules: tuple[str, ...] = ("times",), why: str = "fast") -> Exclusion:
    return Exclusion(
        person=person(number), is_excluded=True, rules=rules, why=why, by="ann", at=NOW
    )


def analyzed(*exclusions: Exclusion, **known: object) -> StudyResults:
    quality = PeopleQuality(
        exclusions=exclusions,
        excludes=("checks", "times"),
        preregistered="ab" * 32,
        checks={person(1): Counted(3, 4), person(2): Counted(0, 4)},
    )
    made = replace(data(), quality=replace(quality, **known))  # type: ignore[arg-type]
    return analyze_study(made, sections=SECTIONS)


@cache
def with_one_out() -> StudyResults:
    return analyzed(out(0))


def quality(results: StudyResults) -> CarefulAnswers:
    found = results.found(Quality)
    assert found is not None
    return found


def test_rules_see_and_leave_nobody_out() -> None:
    found = quality(analyzed())
    seen = {one.person: one.found for one in found.people if one.found}
    assert seen[person(0)][:1] == ("times",)
    assert seen[person(1)] == ("checks",)
    assert (found.excluded, found.ranking, found.is_other_order) == ((), (), None)
    assert analyzed().coverage == analyze_study(data(), sections=SECTIONS).coverage


def test_without_somebody_all_is_as_if_they_had_not_judged() -> None:
    people = {one.name: one.id for one in data().raters}
    gone = people[person(0)]
    never = replace(
        data(),
        raters=[one for one in data().raters if one.id != gone],
        judgments=judgments_of(row for row in data().judgments if row.rater_id != gone),
    )
    expected = analyze_study(never, sections=SECTIONS)
    assert with_one_out().leaderboard == expected.leaderboard
    assert with_one_out().found(People) == expected.found(People)
    assert with_one_out().coverage == expected.coverage


def test_with_everybody_stands_beside_it() -> None:
    everybody = analyzed()
    assert everybody.leaderboard is not None
    board = with_one_out().leaderboard
    assert board is not None
    found = quality(with_one_out())
    with_all = {row.system: row.weighted for row in everybody.leaderboard.rows}
    without = {row.system: row.weighted for row in board.rows}
    for row in found.ranking:
        assert (row.elo, row.elo_with) == (without[row.system].elo, with_all[row.system].elo)
        assert (row.rank, row.rank_with) == (without[row.system].rank, with_all[row.system].rank)
    people = everybody.found(People)
    assert people is not None
    assert [one.model_with for one in found.against_models] == [
        one.model.rate for one in people.against_models if one.writers is None
    ]


def test_a_later_record_takes_it_back() -> None:
    back = replace(out(0), is_excluded=False, rules=(), why="a slow line")
    assert analyzed(out(0), back).leaderboard == analyzed().leaderboard


def test_words_of_a_decision_by_hand_and_who_took_it_stay_in_the_store() -> None:
    text = json.dumps(results_dict(analyzed(out(0, rules=(), why="she said she guessed"))))
    assert "she guessed" not in text
    assert "ann" not in set(text.split('"'))
    assert quality(analyzed(out(0))).excluded[0].why == "fast"


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("fast", "The rules were set before anybody answered."),
        (f"fast; {LATE}", "These rules were set when people had answered already."),
    ],
)
def test_it_says_whether_rules_were_set_before(why: str, said: str) -> None:
    shown = words(section_html(render_page(analyzed(out(0, why=why))), "quality"))
    assert said in shown
    assert NO_REJECTION in shown


def test_the_section_says_what_it_said() -> None:
    said = words(section_html(render_page(with_one_out()), "quality"))
    assert said.split() == golden_words("quality")


def test_a_public_page_names_nobody() -> None:
    page = section_html(render_page(with_one_out(), Shown(is_public=True)), "quality")
    assert not any(one.person in page for one in quality(with_one_out()).people)
    assert "1 person is left out of every number" in words(page)


def test_many_who_are_left_out_are_a_warning() -> None:
    few, many = with_one_out(), analyzed(out(0), out(1), out(2))
    kinds = [[notice.kind for notice in one.warnings] for one in (few, many)]
    is_other = quality(few).is_other_order
    assert (Kind.LEFT_OUT in kinds[0]) is is_other
    assert Kind.LEFT_OUT in kinds[1]


def test_tables_and_json_hold_every_number() -> None:
    tables = all_tables(with_one_out())
    n_people = len(quality(with_one_out()).people)
    lengths = {name: len(tables[name].rows) for name in Quality.TABLES}
    assert lengths["each-person"] == 10 * n_people
    assert lengths["left-out"] == 1
    assert lengths["with-everybody"] == len(quality(with_one_out()).ranking) > 2
    found = json.loads(json.dumps(results_dict(with_one_out()), allow_nan=False))["quality"]
    assert found["excluded"][0]["rules"] == ["times"]
    assert found["rules"]["hurried"] == QualityRules().hurried
    assert found["is_other_order"] in (True, False)


def test_without_people_there_is_no_section() -> None:
    judges = [one for one in data().raters if one.kind == "llm"]
    ids = {one.id for one in judges}
    made = replace(
        data(),
        raters=judges,
        judgments=judgments_of(row for row in data().judgments if row.rater_id in ids),
        seconds={},
    )
    assert analyze_study(made, sections=SECTIONS).found(Quality) is None
