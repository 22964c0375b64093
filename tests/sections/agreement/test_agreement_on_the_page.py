"""How far people and judges agree, on the page, in CSV and JSON."""

import dataclasses
import functools
import json
import re

import pytest
from golden_text import golden_words
from invented_results import section_html
from marked_study import marked_study
from people_study import human_raters
from test_judges_on_the_page import words

from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.study import StudyResults, analyze_study, results_dict
from hearteval.report.page import render_page
from hearteval.report.page.links import item_page, pair_key
from hearteval.report.page.replies import Shown
from hearteval.report.summary import details_display
from hearteval.report.tables import all_tables
from hearteval.sections import SECTIONS
from hearteval.sections.agreement import Agreement
from hearteval.sections.people import People
from hearteval.sections.people.study import PeopleResults

TABLE_LENGTHS = {
    "agreement-of-judges": 4,
    "agreement-of-judges-by-axis": 5,
    "judges-against-people": 3,
    "clear-and-ambiguous": 2,
    "agreement-differences": 2,
    "agreement-by-axis": 5,
    "agreement-by-number-of-judges": 3,
    "one-person-against-others": 5,
    "agreement-by-item": 40,
    "agreement-by-thirds": 3,
    "opposed-traits": 4,
    "axis-weights": 10,
    "axis-weight-differences": 5,
}


@functools.cache
def results() -> StudyResults:
    return analyze_study(marked_study(liking_of_length=6), sections=SECTIONS)


def by(*kinds: str, but: tuple[str, ...] = ()) -> StudyResults:
    """The same study by raters of some kinds only, without some by name."""
    data = marked_study(10)
    raters = [one for one in data.raters if one.kind in kinds and one.name not in but]
    ids = {rater.id for rater in raters}
    return analyze_study(
        dataclasses.replace(
            data,
            raters=raters,
            judgments=judgments_of(row for row in data.judgments if row.rater_id in ids),
        ),
        sections=SECTIONS,
    )


def agreement(found: StudyResults) -> Agreement:
    one = found.sections[Agreement]
    assert isinstance(one, Agreement)
    return one


def with_people(people: PeopleResults) -> StudyResults:
    """The same study, with other findings of people."""
    other = dataclasses.replace(agreement(results()), people=people)
    return dataclasses.replace(results(), sections={**results().sections, Agreement: other})


def section(found: StudyResults, shown: Shown | None = None) -> str:
    return section_html(render_page(found, shown) if shown else render_page(found), "agreement")


def test_the_section_says_what_it_said() -> None:
    assert words(section(results())).split() == golden_words("agreement")


def test_the_picture_holds_every_share_with_its_interval() -> None:
    found = agreement(results()).heat()
    assert found is not None
    assert found.columns[0][1] == "most people"
    assert {name for _, name in found.rows} == {"alder", "birch", "cedar", "most judges"}
    assert len(found.cells) == 3 + 3 + 1  # judges with people, with each other, their majority
    html = section(results())
    for cell in found.cells:
        assert f">{cell.value}</text>" in html
        assert f">{cell.ends}</text>" in html
        assert cell.words in found.words
    both = agreement(results()).both
    assert both is not None
    best = both.judges[0]
    assert found.rows[0][1] == best.judge
    assert found.cells[0].value == f"{100 * (best.same.value or 0):.1f}"


def test_opposed_pairs_lead_to_their_dialogues_where_there_is_a_folder() -> None:
    both = agreement(results()).both
    assert both is not None
    assert both.disagreements is not None
    first = both.disagreements.examples[0]
    html = section(results(), Shown(folder="pages/"))
    assert f'href="pages/{item_page(first.item_id)}"' in html
    assert "--full DIR" not in html
    assert "Read the dialogue" not in section(results(), Shown(is_public=True, folder="pages/"))
    assert "heart report STUDY.toml --full DIR" in words(section(results()))
    assert pair_key("a", "b") == pair_key("b", "a")


@pytest.mark.parametrize(
    ("kinds", "heading"), [(("llm",), "How far judges agree"), (("human",), "How far people agree")]
)
def test_one_kind_of_rater_is_said_to_agree_with_itself(
    kinds: tuple[str, ...], heading: str
) -> None:
    found = by(*kinds)
    assert agreement(found).title == heading
    shown = words(section(found))
    assert "most people" not in shown.lower()
    assert "opposed" not in shown


def test_few_items_have_no_figures() -> None:
    shown = words(section(analyze_study(marked_study(4), sections=SECTIONS)))
    assert "There are too few items to say." in shown
    assert not re.search(r"\d\.\d", shown)


def test_a_terminal_says_the_same_in_80_columns() -> None:
    lines = details_display(results()).text().splitlines()
    assert max(map(len, lines)) <= 80
    said = words(" ".join(lines))
    assert "One person says what most of the others say in" in said
    assert "By how many judges decide, their majority agrees with people in" in said
    assert "With people Attunement and Resonance weigh more" in said


def test_one_judge_alone_has_no_such_section() -> None:
    found = by("llm", but=("birch", "cedar"))
    assert agreement(found).weights
    assert not agreement(found).lines()
    assert 'id="agreement"' not in render_page(found)
    assert found.sections[People] is None
    assert 'id="people"' not in render_page(found)


def test_no_person_is_named() -> None:
    data = marked_study(20)
    names = {one.name: f"pseudonym-{one.name}" for one in human_raters(8)}
    raters = [
        dataclasses.replace(rater, name=names.get(rater.name, rater.name)) for rater in data.raters
    ]
    found = analyze_study(dataclasses.replace(data, raters=raters), sections=SECTIONS)
    tables = all_tables(found)
    counted = TABLE_LENGTHS.keys()
    texts = [section(found), *(tables[name].csv() for name in counted)]
    assert not any("pseudonym" in text for text in texts)


def test_tables_and_json_hold_every_number() -> None:
    tables = all_tables(results())
    assert {name: len(tables[name].rows) for name in TABLE_LENGTHS} == TABLE_LENGTHS
    found = json.loads(json.dumps(results_dict(results()), allow_nan=False))
    assert found["people"]["with_judges"]["ambiguity"]["rule"] == {
        "consensus": 0.8,
        "split_axes": 1,
    }
    assert found["judge_agreement"]["overall"]["chance"]["ties"] == 0
    assert found["people"]["agreement"][0]["people"]["n_people"] == 8
