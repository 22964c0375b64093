"""People and judges on the page, in the terminal, in CSV and JSON."""

import dataclasses
import functools
import json

import pytest
from golden_text import golden_words
from invented_results import section_html
from people_study import JUDGES, simulated_study
from test_judges_on_the_page import section, words

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.analysis.study import StudyResults, analyze_study, results_dict
from hearteval.report.page import render_page
from hearteval.report.summary import brief_display, details_display, next_step
from hearteval.report.tables import all_tables
from hearteval.sections import SECTIONS
from hearteval.sections.people import People

BY_PEOPLE = {"beacon": 0.0, "ember": -0.8, "harbour": 0.8, "People": 0.9}
BY_JUDGES = {"beacon": 0.9, "ember": 0.3, "harbour": 0.7, "People": -0.4}
GROUPS = {"w1": "crowd", "w2": "crowd", "w3": "clinician"}


@functools.cache
def data() -> StudyData:
    made = simulated_study(BY_PEOPLE, BY_JUDGES)
    return dataclasses.replace(made, people_per_pair=5, writer_groups=GROUPS, smallest_group=1)


@functools.cache
def results() -> StudyResults:
    return analyze_study(data(), sections=SECTIONS)


@functools.cache
def by_both() -> StudyResults:
    """The same study, its headline by people and judges alike."""
    return analyze_study(data(), headline="both", sections=SECTIONS)


@functools.cache
def by_one_kind(*, of_people: bool) -> StudyResults:
    """The same study judged by people alone, or by judges alone."""
    raters = [rater for rater in data().raters if (rater.kind == "human") is of_people]
    ids = {rater.id for rater in raters}
    return analyze_study(
        dataclasses.replace(
            data(),
            raters=raters,
            judgments=judgments_of(row for row in data().judgments if row.rater_id in ids),
        ),
        sections=SECTIONS,
    )


def people(found: StudyResults) -> People:
    section = found.sections[People]
    assert isinstance(section, People)
    return section


def test_the_section_says_what_it_said() -> None:
    assert words(section_html(render_page(by_both()), "people")).split() == golden_words("people")


@pytest.mark.parametrize(
    ("theta", "said"),
    [
        (
            {"beacon": 1.5, "ember": -1.5, "harbour": 0.5, "People": -0.5},
            "People alone and judges alone give every system the same place.",
        ),
        (
            dict.fromkeys(BY_PEOPLE, 0.0),
            "different places, none beyond what the intervals leave open.",
        ),
    ],
)
def test_ranks_that_are_equal_or_open_are_no_news(theta: dict[str, float], said: str) -> None:
    found = analyze_study(simulated_study(theta, theta, n_items=20), sections=[People])
    assert people(found).brief()[1].endswith(said)
    table = people(found).ranking_table()
    assert table is not None
    assert ("\N{NOT EQUAL TO}" in table.text()) == ("different" in said)


def test_majorities_on_few_items_are_no_sentence() -> None:
    found = people(results()).found
    part = found.agreement[0]
    assert part.majorities is not None
    few = dataclasses.replace(part, majorities=dataclasses.replace(part.majorities, n_items=4))
    some = dataclasses.replace(found, agreement=(few, *found.agreement[1:]))
    said = dataclasses.replace(people(results()), found=some).brief()
    assert len(said) == 3
    assert not any("most judges" in one for one in said)


@pytest.mark.parametrize("of_people", [True, False])
def test_one_kind_of_rater_has_no_rankings_side_by_side(of_people: bool) -> None:
    found = by_one_kind(of_people=of_people)
    assert people(found).ranking_table() is None
    shown = words(section(found, "people"))
    assert "Rank and Elo" not in words(render_page(found))
    assert "Where a model's reply meets a person's" in shown


def test_people_alone_are_not_said_to_be_untested_judges() -> None:
    page = words(section(by_one_kind(of_people=True), "judges"))
    assert "No model judged here: people did." in page


def test_no_page_and_no_terminal_names_a_person() -> None:
    pseudonyms = {f"pseudonym-{k}" for k in range(8)}
    raters = [
        dataclasses.replace(rater, name=f"pseudonym-{k}") if rater.kind == "human" else rater
        for k, rater in enumerate(data().raters)
    ]
    found = analyze_study(dataclasses.replace(data(), raters=raters), sections=SECTIONS)
    everything = render_page(found) + brief_display(found).text() + details_display(found).text()
    assert not [name for name in pseudonyms if name in everything]
    assert "8 people, juniper and larch" in words(everything)


def test_terminal_fits_80_columns_and_says_the_words_below_the_table() -> None:
    brief, details = brief_display(by_both()).text(), details_display(by_both()).text()
    assert max(map(len, (brief + "\n" + details).splitlines())) <= 80
    assert brief.index("harbour  1566") < brief.index("People alone and judges alone")
    assert "beacon   3  1466  ±19  1  1590  ±20  2  1524  ±14  ≠" in details
    assert "two people" in details
    assert "models against people" in details.lower()


def test_coverage_counts_people_and_their_replies() -> None:
    shown = words(section(results(), "coverage"))
    shown += words(render_page(results()))
    assert "8 people gave 2,400 judgments of 480 pairs: 5 for each pair." in shown
    assert "480 of 480 pairs have the 5 judgments by people that the study wants." in shown
    assert "People: 120 replies by 3 writers: 3 for each item." in shown


def test_tables_and_json_hold_every_number() -> None:
    tables = all_tables(results())
    kinds = [row[0] for row in tables["by-people-and-by-judges"].rows]
    assert kinds == ["people"] * 4 + ["judges"] * 4
    assert len(tables["agreement-of-people"].rows) == 3
    assert len(tables["models-against-people"].rows) == 6
    assert len(tables["coverage-of-writers"].rows) == 1
    found = json.loads(json.dumps(results_dict(results()), allow_nan=False))["people"]
    assert [one["judged_by"] for one in found["rankings"]] == ["people", "judges"]
    assert found["rankings"][0]["leaderboard"]["interval_used"] == "two-way"
    assert found["agreement"][0]["people"]["fleiss_kappa"]["low"] > 0
    assert found["against_models"][0]["model"]["rate"] == pytest.approx(0.2367, abs=1e-4)


def test_what_people_have_yet_to_do_is_no_cause_to_run_again() -> None:
    lacking = [one for one in data().completions if one.writer_id is None]
    ids = {one.id for one in lacking}
    pairs = [pair for pair in data().pairs if ids.issuperset(pair.completion_ids)]
    among = {pair.id for pair in pairs}
    found = analyze_study(
        dataclasses.replace(
            data(),
            completions=lacking,
            pairs=pairs_of(pairs),
            judgments=judgments_of(row for row in data().judgments if row.pair_id in among),
        )
    )
    assert next_step(found, "s.toml") == "let people take part: heart serve s.toml"
    assert "Why replies are missing" not in render_page(found)
    alone = dataclasses.replace(found.coverage, judges=())
    without_judges = dataclasses.replace(found, coverage=alone)
    assert next_step(without_judges, "s.toml") == "let people take part: heart serve s.toml"
    assert len(JUDGES) == 2


def test_groups_of_people_stand_with_how_many_they_are() -> None:
    people = sorted(rater.name for rater in data().raters if rater.kind == "human")
    told = {name: {"age": "18-24" if k % 2 else "25-34"} for k, name in enumerate(people)}
    found = analyze_study(
        dataclasses.replace(data(), background=told, smallest_group=2), sections=SECTIONS
    )
    page = section(found, "groups-of-people")
    assert "How old are you?" in page
    assert "18 to 24" in page
    assert "Exploratory." in page
    assert not any(name in page for name in people)
    assert "Groups of people" not in render_page(results())
    rows = all_tables(found)["by-groups-of-people"].csv().splitlines()
    assert sum("18-24" in row for row in rows) == len(BY_PEOPLE)
