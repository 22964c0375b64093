"""People's ranking anchored by judges', in a study and on its page."""

from dataclasses import replace

import pytest
from invented_results import section_html
from planted_studies import data_of

from hearteval.analysis.data import StudyData
from hearteval.analysis.ranking.anchored import AnchoredRanking
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.config.simulation import SimulationPlan
from hearteval.report.page import render_page
from hearteval.report.tables import all_tables
from hearteval.sections.anchored import JUDGES, Anchored
from hearteval.study.simulation.making import draw_world


@pytest.fixture(scope="module")
def data() -> StudyData:
    plan = SimulationPlan(systems=7, items=40, people=6, judges=3, comparisons=250)
    return data_of(*draw_world("planted", plan, seed=3))


@pytest.fixture(scope="module")
def results(data: StudyData) -> StudyResults:
    return analyze_study(data, sections=[Anchored])


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
    assert "the only one of its kind" in html
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
    only_judges = replace(data, judgments=[row for row in data.judgments if row.rater_id in judges])

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

    found = analyze_study(replace(data, judgments=tied), sections=[Anchored]).found(Anchored)

    assert found is not None
    assert found.reason is not None
    assert "all are alike" in found.reason
