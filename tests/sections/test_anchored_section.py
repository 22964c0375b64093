"""People's ranking anchored by judges', in a study and on its page."""

from dataclasses import replace

import pytest
from invented_results import section_html
from planted_studies import data_of

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.ranking.anchored import JUDGES, AnchoredRanking, open_places
from hearteval.analysis.study import StudyResults, analyze_study, results_dict
from hearteval.config.simulation import SimulationPlan
from hearteval.report.answers.headline import sentence, votes_words
from hearteval.report.leaderboard import anchored_rows
from hearteval.report.page import render_page
from hearteval.report.page.first_screen import standings
from hearteval.report.plots.files import figures_of, lay_out
from hearteval.report.plots.style import PAGE_INCHES
from hearteval.report.summary import next_step, results_table
from hearteval.report.tables import all_tables
from hearteval.sections.anchored import Anchored
from hearteval.study.simulation.making import draw_world


@pytest.fixture(scope="module")
def data() -> StudyData:
    plan = SimulationPlan(systems=7, items=40, people=6, judges=3, comparisons=250)
    return data_of(*draw_world("planted", plan, seed=3))


@pytest.fixture(scope="module")
def results(data: StudyData) -> StudyResults:
    return analyze_study(data, sections=[Anchored])


@pytest.fixture(scope="module")
def leading(data: StudyData) -> StudyResults:
    return analyze_study(data, headline="anchored", sections=[Anchored])


def with_found(results: StudyResults, **changes: object) -> Anchored:
    found = results.found(Anchored)
    assert found is not None
    return Anchored(replace(found, **changes))  # type: ignore[arg-type]


def test_study_of_people_and_judges_is_anchored_by_all_judges_as_one(
    data: StudyData, results: StudyResults
) -> None:
    found = results.found(Anchored)

    assert isinstance(found, AnchoredRanking)
    assert found.reason is None
    assert list(found.slopes) == [JUDGES]
    assert {row.system for row in found.systems} == {system.name for system in data.ranked}
    assert found.interval_used in {"two-way", "three-way"}


def test_page_has_every_system_and_whose_votes_it_stands_on(results: StudyResults) -> None:
    found = results.found(Anchored)
    assert found is not None

    html = section_html(render_page(results), "anchored")

    assert all(f"{row.elo:.0f}</b>" in html for row in found.systems)
    assert "the only one of its kind: judges add nothing" in html
    assert html.count("<b>Exploratory.</b>") == 2
    assert len(all_tables(results)["anchored"].rows) == len(found.systems)


def test_first_is_said_only_of_a_system_whose_interval_lies_above_all_others(
    results: StudyResults,
) -> None:
    found = results.found(Anchored)
    assert found is not None
    best, *others = found.systems

    def said(*highs: float) -> str:
        shown = [replace(row, high=high) for row, high in zip(others, highs, strict=True)]
        above = replace(best, low=1500.0)
        return str(with_found(results, systems=(above, *shown)).line())

    n = len(others)
    assert said(*[1499.0] * n).startswith(f"<b>{best.system} comes first</b>")
    open_ = said(1501.0, *[1499.0] * (n - 1))
    assert open_.startswith(f"<b>{best.system} is highest, but {others[0].system} may be above it<")
    assert f"but {n}\N{NO-BREAK SPACE}other systems may be" in said(*[1501.0] * n)


def test_system_that_judges_misjudge_is_named(results: StudyResults) -> None:
    found = results.found(Anchored)
    assert found is not None
    systems = (replace(found.systems[0], doubt=0.9), *found.systems[1:])

    said = with_found(results, systems=systems).line()

    assert said.endswith(f"They seem to misjudge {systems[0].system}.")
    assert "misjudge" not in with_found(results).line()


def test_reason_stands_in_place_of_a_ranking(data: StudyData) -> None:
    few = replace(data, systems=[one for one in data.systems if one.name != "system-a"][:5])

    results = analyze_study(few, sections=[Anchored])

    assert with_found(results).line().startswith("<b>Not known:</b> to tell how far judges miss")
    assert "<table" not in section_html(render_page(results), "anchored")


def test_study_without_people_says_nothing_of_it(data: StudyData) -> None:
    judges = {rater.id for rater in data.raters if rater.kind == "llm"}
    only_judges = replace(
        data, judgments=judgments_of(row for row in data.judgments if row.rater_id in judges)
    )

    assert analyze_study(only_judges, sections=[Anchored]).found(Anchored) is None


def test_few_people_are_said_not_to_speak_for_others(results: StudyResults) -> None:
    few = with_found(results, interval_used="item-sandwich")

    assert "Too few people voted" in few.parameters()
    assert "Too few people voted" not in with_found(results).parameters()


def test_people_who_only_tie_are_told_why_there_is_no_ranking(data: StudyData) -> None:
    judges = {rater.id for rater in data.raters if rater.kind == "llm"}
    tied = [
        row if row.rater_id in judges else row._replace(choice="tie", strength=None)
        for row in data.judgments
    ]

    found = analyze_study(replace(data, judgments=judgments_of(tied)), sections=[Anchored]).found(
        Anchored
    )

    assert found is not None
    assert found.reason is not None
    assert "all are alike" in found.reason


def test_anchored_headline_leads_sentence_table_page_and_rows(
    data: StudyData, leading: StudyResults
) -> None:
    found = leading.leading
    assert found is not None

    page = render_page(leading)
    assert "Exploratory" not in section_html(page, "anchored")
    table = results_table(leading)
    first = [row.system for row in found.systems]

    assert leading.headline is not None
    assert (leading.headline.by, leading.headline.beside) == ("anchored", "people")
    assert str(sentence(leading)).startswith("By people's and, as far as they help, judges' votes,")
    assert table is not None
    assert [str(row[1]) for row in table.rows] == first
    assert [row["system"] for row in anchored_rows(leading)] == first
    board = page.partition('id="leaderboard"')[2].partition("</table>")[0]
    assert all(f"<b>{row.elo:.0f}</b>" in board for row in found.systems)
    assert all(f">{row.elo_without_judges:.0f}" in board for row in found.systems)
    assert "Ranking, anchored by judges" in board
    drawn = standings(leading)
    assert drawn is not None
    assert board.startswith(f' style="--more:{len(drawn.columns) - 1}"')  # cells beside each other
    assert "regressed on those by judges" in page
    said = " ".join(votes_words(leading).split())
    assert said.startswith("Elo: votes of 15 people, moved by those of 3 judges as far as these")
    assert "Wins" not in said  # those are by people too
    assert results_dict(leading)["headline"]["by"] == "anchored"


def test_what_stands_beside_an_anchored_headline_is_as_by_default(
    leading: StudyResults, results: StudyResults
) -> None:
    assert leading.leaderboard == results.leaderboard
    assert leading.shares == results.shares
    assert results.leading is None
    assert anchored_rows(results) == []


def test_own_system_is_placed_by_the_anchored_ranking(data: StudyData) -> None:
    mine = analyze_study(data, headline="anchored", mine="system-c").leading
    assert mine is not None
    row = next(row for row in mine.systems if row.system == "system-c")

    said = str(sentence(analyze_study(data, headline="anchored", mine="system-c")))

    place = f"{row.rank_low}\N{EN DASH}{row.rank_high}"
    assert said.startswith(f"system-c: place {place} of {len(mine.placed)}, by people's and,")


def test_anchored_headline_without_enough_systems_is_refused_with_the_setting(
    data: StudyData,
) -> None:
    few = replace(data, systems=[one for one in data.systems if one.name != "system-a"][:5])

    results = analyze_study(few, headline="anchored", sections=[Anchored])

    assert results.leaderboard is None
    assert results.leading is None
    assert str(sentence(results)).startswith(
        'There is no ranking. By [analysis] headline = "anchored" there is no ranking: to tell how'
        " far judges miss, people have to compare 6 systems of one kind"
    )
    assert "take headline out of [analysis] in a.toml" in next_step(results, "a.toml")


@pytest.mark.parametrize("kind", ["human", "llm"])
def test_anchored_headline_takes_people_and_judges(data: StudyData, kind: str) -> None:
    kept = {rater.id for rater in data.raters if rater.kind == kind}
    alone = replace(
        data, judgments=judgments_of(row for row in data.judgments if row.rater_id in kept)
    )

    problem = analyze_study(alone, headline="anchored").leaderboard_problem

    assert problem is not None
    assert "it takes votes of people and of judges, and one of them is lacking" in problem


def test_two_systems_are_not_compared_where_an_anchored_ranking_is_asked(data: StudyData) -> None:
    two = replace(data, systems=[one for one in data.systems if one.kind == "model"][:2])

    usual = analyze_study(two)
    assert "preferred" in str(sentence(usual))
    assert usual.shares is not None
    assert usual.shares.axes == ()  # judges marked axes, and people alone count
    assert "There is no ranking." in str(sentence(analyze_study(two, headline="anchored")))


def with_votes_on(data: StudyData, pairs: set[str]) -> StudyData:
    """Keep people's votes on some pairs only."""
    judges = {rater.id for rater in data.raters if rater.kind == "llm"}
    rows = [row for row in data.judgments if row.rater_id in judges or row.pair_id in pairs]
    return replace(data, judgments=judgments_of(rows))


def test_imported_votes_on_some_pairs_are_anchored_only_if_said_to_be_drawn(
    data: StudyData,
) -> None:
    half = set(sorted({row.pair_id for row in data.judgments})[::2])
    imported = with_votes_on(data, half)

    refused = analyze_study(imported, headline="anchored", sections=[Anchored])
    assumed = analyze_study(imported, headline="anchored", assume_random=True)
    drawn = analyze_study(replace(imported, pairs_of_people=half), headline="anchored")

    assert refused.leading is None
    assert "set [analysis] assume_random = true" in str(refused.leaderboard_problem)
    assert "votes were imported, and nothing says" in with_found(refused).line()
    assert assumed.leading is not None
    assert assumed.leading == drawn.leading
    assert assumed.leading.share_drawn == pytest.approx(0.5, abs=0.01)


def test_share_of_pairs_that_people_were_to_judge_is_told(
    data: StudyData, results: StudyResults
) -> None:
    assert with_found(results).drawn_words() == ""
    some = with_found(results, share_drawn=0.125)
    assert some.drawn_words() == ", here 12.5\N{NO-BREAK SPACE}% of those that judges judged"


def test_places_are_those_that_intervals_leave_open(results: StudyResults) -> None:
    found = results.found(Anchored)
    assert found is not None
    ends = [(1600.0, 1700.0), (1550.0, 1650.0), (1400.0, 1540.0), (1300.0, 1400.0)]
    rows = [
        replace(row, low=low, high=high)
        for row, (low, high) in zip(found.systems, ends, strict=False)
    ]

    assert open_places(rows) == [(1, 2), (1, 2), (3, 4), (3, 4)]
    assert [(row.rank_low, row.rank_high) for row in found.systems] == open_places(found.systems)


def test_picture_shows_people_judges_and_both(results: StudyResults) -> None:
    found = results.found(Anchored)
    assert found is not None
    (figure,) = (one for one in figures_of(results) if one.name == "anchored")

    canvas = lay_out(results, figure, PAGE_INCHES)
    html = section_html(render_page(results), "anchored")

    (legend,) = canvas.legends
    assert [words.get_text() for words in legend.texts] == [
        *("people alone", "judges alone", "anchored")
    ]
    assert html.count("<circle") == 3 * len(found.systems) + 3
    assert {row.elo_people is None for row in found.systems} == {False}


def test_page_of_a_system_has_its_anchored_strength(results: StudyResults) -> None:
    found = results.found(Anchored)
    assert found is not None
    best = found.systems[0]

    ((title, words),) = with_found(results).of_system(best.system)

    assert title == "Anchored by judges"
    assert words.startswith(f"Elo {best.elo:.0f} [")
    assert f"without judges {best.elo_without_judges:.0f} [" in words
