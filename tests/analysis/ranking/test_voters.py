"""Whose votes the headline is by: the default, what a study says, and what follows it."""

import functools
from dataclasses import replace

import pytest
from people_study import JUDGES, PeopleStudy, human_raters, simulated_study

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.domain import AxisMark
from hearteval.domain.study import Voters
from hearteval.report.answers.headline import sentence, votes_words
from hearteval.report.page import render_page
from hearteval.sections.difficulty import Difficulty
from hearteval.sections.explained import Explained
from hearteval.sections.strata import Strata

BY_PEOPLE = {"beacon": 0.0, "ember": -1.6, "harbour": 0.8, "People": 1.6}
BY_JUDGES = {"beacon": 1.6, "ember": 0.8, "harbour": 0.0, "People": -1.6}


@functools.cache
def study(n_people: int = 8) -> StudyData:
    return simulated_study(BY_PEOPLE, BY_JUDGES, n_items=20, n_people=n_people)


@functools.cache
def found(headline: Voters | None = None) -> StudyResults:
    return analyze_study(study(), headline=headline, sections=[Strata, Difficulty, Explained])


def without(data: StudyData, *, people: bool) -> StudyData:
    """Leave out the judgments by people, or by judges."""
    kinds = {rater.id: rater.kind for rater in data.raters}
    left_out = "human" if people else "llm"
    rows = [row for row in data.judgments if kinds[row.rater_id] != left_out]
    return replace(data, judgments=judgments_of(rows))


def order(results: StudyResults) -> list[str]:
    assert results.leaderboard is not None
    return [row.system for row in results.leaderboard.rows]


def test_five_people_who_judged_every_system_are_the_headline() -> None:
    results = found()
    assert results.headline is not None
    assert results.leaderboard is not None
    assert (results.headline.by, results.leaderboard.judged_by) == ("people", "people")
    assert (results.headline.n_people, results.headline.n_judges) == (8, 0)
    assert results.headline.n_judgments + results.headline.n_left_out == len(study().judgments)
    assert order(results)[0] == "People"


def test_four_people_share_the_headline_with_judges() -> None:
    results = analyze_study(study(n_people=4))
    assert results.headline is not None
    assert (results.headline.by, results.headline.n_people, results.headline.n_judges) == (
        *("both", 4),
        len(JUDGES),
    )


def test_a_system_that_four_people_judged_leaves_the_headline_to_both() -> None:
    data = study()
    (ember,) = [system.id for system in data.systems if system.name == "ember"]
    few = {rater.id for rater in data.raters if rater.kind == "human" and rater.name > "r4"}
    rows = [
        row
        for row in data.judgments
        if row.rater_id not in few or ember not in (row.first_system_id, row.second_system_id)
    ]
    results = analyze_study(replace(data, judgments=judgments_of(rows)))
    assert results.headline is not None
    assert results.headline.by == "both"


def test_people_who_compare_two_groups_apart_leave_the_headline_to_both() -> None:
    """Beacon with ember, harbour with People: no person compares across."""
    data = study()
    name = {system.id: system.name for system in data.systems}
    people = {rater.id for rater in data.raters if rater.kind == "human"}
    together = ({"beacon", "ember"}, {"harbour", "People"})
    rows = [
        row
        for row in data.judgments
        if row.rater_id not in people
        or {name[row.first_system_id], name[row.second_system_id]} in together
    ]
    results = analyze_study(replace(data, judgments=judgments_of(rows)))
    assert results.headline is not None
    assert results.headline.by == "both"


@pytest.mark.parametrize(("people", "by"), [(True, "judges"), (False, "people")])
def test_where_one_kind_voted_the_headline_is_its_own(people: bool, by: str) -> None:
    for asked in (None, "both"):
        results = analyze_study(without(study(), people=people), headline=asked)
        assert results.headline is not None
        assert results.headline.by == by
        assert results.headline.n_left_out == 0


@pytest.mark.parametrize(
    ("headline", "words", "votes"),
    [
        (None, "By people's votes, People leads.", "Votes: 8 people. Not among them: 960"),
        ("judges", "By judges' votes, beacon leads.", "Votes: 2 judges. Not among them: 1,200"),
        (
            "both",
            "By people's and judges' votes, ",
            "Votes: 8 people and 2 judges, each kind half of the weight where both judged",
        ),
    ],
)
def test_sentence_and_caption_name_the_voters(
    headline: Voters | None, words: str, votes: str
) -> None:
    said = " ".join(votes_words(found(headline)).split())
    assert str(sentence(found(headline))).startswith(words)
    assert said.startswith(votes)
    page = " ".join(render_page(found(headline)).replace("\N{NO-BREAK SPACE}", " ").split())
    assert page.count(said) == 2  # the caption and the line below


def test_what_stands_beside_the_elo_has_the_same_voters() -> None:
    for headline in ("people", "judges"):
        results = found(headline)
        alone = analyze_study(
            without(study(), people=headline == "judges"), sections=[Strata, Difficulty, Explained]
        )
        assert results.leaderboard is not None
        assert alone.leaderboard is not None
        for row, other in zip(results.leaderboard.rows, alone.leaderboard.rows, strict=True):
            assert (row.weighted, row.unweighted) == (other.weighted, other.unweighted)
            assert (row.win_rate, row.n_comparisons) == (other.win_rate, other.n_comparisons)
        assert results.leaderboard.matrix == alone.leaderboard.matrix
        assert results.leaderboard.fit == alone.leaderboard.fit
        assert results.found(Strata) == alone.found(Strata)
        assert results.found(Difficulty) == alone.found(Difficulty)
        assert results.found(Explained) == alone.found(Explained)


def test_axes_that_voters_did_not_mark_are_those_of_the_others_and_say_so() -> None:
    data = study()
    judges = {rater.id for rater in data.raters if rater.kind == "llm"}
    rows = [
        row._replace(axes={"H": AxisMark("second" if row.choice == "second" else "first", 2)})
        if row.rater_id in judges
        else row
        for row in data.judgments
    ]
    results = analyze_study(replace(data, judgments=judgments_of(rows)))
    board = results.leaderboard
    assert board is not None
    assert (board.judged_by, board.axes_asked["H"].n_people) == ("people", 0)
    assert set(board.axes_asked["H"].judges) == {r.name for r in data.raters if r.id in judges}
    rates = {row.system: row.axes["H"].win_rate for row in board.rows}
    assert max(rates, key=rates.__getitem__) == "beacon"
    assert "people were not asked" in render_page(results)
    assert not [notice for notice in board.warnings if "marked" in notice]


def test_a_headline_that_its_votes_do_not_determine_says_why() -> None:
    none = analyze_study(without(study(), people=True), headline="people")
    assert none.leaderboard is None
    assert none.leaderboard_problem == (
        'by [analysis] headline = "people" there is no ranking: there is no judgment by people'
    )
    made = PeopleStudy(3, [*human_raters(1), *JUDGES])
    for k, item in enumerate(made.items):
        one, other, *_ = (made.completion(item, system) for system in study().systems)
        made.judge(made.raters[0], one, other, "first")
        made.judge(JUDGES[0], one, other, "first" if k else "second")
    apart = analyze_study(made.data(), headline="people")
    assert apart.leaderboard is None
    assert 'headline = "people" there is no ranking: the comparisons do not' in str(
        apart.leaderboard_problem
    )
    assert analyze_study(made.data()).leaderboard is not None
