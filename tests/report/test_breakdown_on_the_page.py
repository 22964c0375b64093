"""What the ranking depends on, on the page: an answer first, few figures, and links to read."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from invented_results import section_html
from people_study import SYSTEMS, simulated_study

from hearteval import sections
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.domain import AXES, AxisMark, LatencyProbe
from hearteval.report.page import render_page
from hearteval.report.page.links import item_page
from hearteval.report.page.replies import Shown
from hearteval.report.plots.files import figures_of
from hearteval.report.tables import all_tables
from hearteval.sections import strata
from hearteval.sections.ablations import Ablations
from hearteval.sections.difficulty import Difficulty
from hearteval.sections.difficulty.measure import ItemDifficulty
from hearteval.sections.strata import Strata
from hearteval.sections.traits import Traits
from hearteval.sections.traits.covariates import Correlation
from hearteval.sections.traits.page import answer as answer_of_speed
from hearteval.sections.traits.speed import SpeedCorrelation

THETA = {"beacon": 0.6, "ember": -0.4, "harbour": 0.1, "People": 0.0}
SECTIONS = ("kinds", "items", "otherwise", "traits")


@pytest.fixture(scope="module")
def results() -> StudyResults:
    data = simulated_study(THETA, THETA, n_items=24)
    items = [
        replace(item, emotion="anger" if k < 4 else "fear" if k < 12 else "sadness")
        for k, item in enumerate(data.items)
    ]
    rows = [
        row._replace(axes={axis: AxisMark(choice=row.choice, strength=None) for axis in AXES})
        for row in data.judgments
    ]
    probes = [
        LatencyProbe(
            study_id="5" * 32,
            system_id=system.id,
            item_id=f"{k:032x}",
            first_token_ms=ms,
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        for k, (system, ms) in enumerate(zip(SYSTEMS, (900.0, 300.0, 14_000.0), strict=False))
    ]
    table = {"size": {"beacon": 7.0, "ember": 3.0, "stranger": 2.0}}
    data = replace(
        data, items=items, judgments=judgments_of(rows), latency=probes, covariates=table
    )
    return analyze_study(data, sections=sections.SECTIONS)


def traits_of(results: StudyResults) -> Traits:
    found = results.sections[Traits]
    assert isinstance(found, Traits)
    return found


def strata_of(results: StudyResults) -> Strata:
    found = results.sections[Strata]
    assert isinstance(found, Strata)
    return found


def difficulty_of(results: StudyResults) -> ItemDifficulty:
    found = results.found(Difficulty)
    assert found is not None
    return found


def section(page: str, name: str) -> str:
    return section_html(page, name)


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).replace("\N{NO-BREAK SPACE}", " ").split())


def test_every_section_answers_first_and_says_that_it_is_exploratory(results: StudyResults) -> None:
    page = render_page(results)
    for name in SECTIONS:
        line = re.search(r"<summary><h3>.*?</h3><p>(.*?)</p></summary>", section(page, name))
        assert line is not None
        assert line[1].startswith("<b>")
        assert line[1].endswith("<b>Exploratory.</b>")


def test_where_there_is_nothing_there_is_no_section(results: StudyResults) -> None:
    bare = replace(results, sections={})
    page = render_page(bare)
    assert not any(f'id="{name}"' in page for name in SECTIONS)


def test_few_items_have_no_figure_and_are_said(results: StudyResults) -> None:
    strata = strata_of(results)
    emotion = next(row for row in strata.found.factors if row.factor == "emotion")
    assert emotion.test is not None
    assert emotion.test.n_items == 20
    assert strata.kinds_words(emotion).replace("\N{NO-BREAK SPACE}", " ") == (
        "sadness (12), fear (8), 1 kind with fewer than 5"
    )
    drawn, panels = strata.panels(strata.found, strata.order)
    assert (drawn, [panel.title for panel in panels]) == (
        "regular or adversarial",
        ["regular", "adversarial"],
    )
    assert panels[1].note == "6\N{NO-BREAK SPACE}items; fewer than 20, so wide and rough"


def test_a_picture_has_a_dot_a_system_and_its_interval(results: StudyResults) -> None:
    strata = strata_of(results)
    assert results.leaderboard is not None
    for panel in strata.panels(strata.found, strata.order)[1]:
        assert panel.dots.count("h0") == 4
        assert panel.whiskers.count("H") == 4
        assert [name for name, _ in panel.names] == [r.system for r in results.leaderboard.rows]


def test_a_difference_between_kinds_is_named(results: StudyResults) -> None:
    found, answer = strata_of(results).found, strata.answer
    test = found.factors[0].test
    assert test is not None
    named = replace(test, q=0.01, most_different="ember", most_different_elo=140.0)
    differing = replace(found, factors=(replace(found.factors[0], test=named), *found.factors[1:]))
    said = text_of(answer(differing))
    assert said == (
        "The ranking depends on the kind of item: regular or adversarial"
        " (q = 0.010; most: ember, 140 Elo)."
    )
    alike = replace(found.factors[0], test=replace(test, q=0.6))
    assert "That is no proof" in answer(replace(found, factors=(alike,)))
    untested = replace(found.factors[0], test=None, no_test="too few")
    assert "Not known" in answer(replace(found, factors=(untested,)))


def test_items_link_to_their_pages_in_the_folder(results: StudyResults) -> None:
    difficulty = difficulty_of(results)
    first = difficulty.items[0].item_id
    with_folder = section(render_page(results, Shown(folder="folder/")), "items")
    assert f'<a href="folder/{item_page(first)}">Item {first[:12]}</a>' in with_folder
    assert "--full" not in with_folder
    without = section(render_page(results), "items")
    assert "<a " not in without
    assert "heart report STUDY.toml --full DIR" in without


def test_a_public_page_names_items_by_number_only(results: StudyResults) -> None:
    page = render_page(results, Shown(is_public=True, folder="folder/"))
    assert "folder/item" not in page


def test_no_item_is_listed_twice(results: StudyResults) -> None:
    difficulty = difficulty_of(results)
    turned = tuple(replace(row, discrimination=-0.5) for row in difficulty.items)
    groups = Difficulty(replace(difficulty, items=turned)).item_groups()
    ids = [row.item_id for rows in groups.values() for row in rows]
    assert len(ids) == len(set(ids)) == 13
    few = replace(difficulty, items=turned[:6])
    ids = [row.item_id for rows in Difficulty(few).item_groups().values() for row in rows]
    assert len(ids) == len(set(ids)) == 6


def test_only_items_that_turn_the_ranking_round_have_another_order(results: StudyResults) -> None:
    difficulty = difficulty_of(results)
    rows = tuple(
        replace(row, discrimination=-0.2 if k == 8 else 0.1)
        for k, row in enumerate(difficulty.items)
    )
    found = replace(difficulty, items=rows)
    groups = Difficulty(found).item_groups()
    assert groups["Another order than the ranking"] == [rows[8]]
    alike = replace(found, items=tuple(replace(row, discrimination=0.1) for row in rows))
    assert len(Difficulty(alike).item_groups()) == 2


def test_items_that_chance_alone_sets_apart_are_not_listed(results: StudyResults) -> None:
    difficulty = difficulty_of(results)
    flat = Difficulty(replace(difficulty, shrinkage=0.0))
    by_chance = replace(results, sections={**results.sections, Difficulty: flat})
    said = text_of(section(render_page(by_chance), "items"))
    assert said == (
        "The most demanding items No item is shown to be more demanding than another: how far"
        " apart the systems are differs between the 24 items by no more than chance."
    )
    assert "<svg" not in section(render_page(by_chance), "items")
    assert "items" not in all_tables(by_chance)
    assert "items" not in [figure.name for figure in figures_of(by_chance)]
    assert "items" in all_tables(results)
    assert "items" in [figure.name for figure in figures_of(results)]


def test_items_that_add_nothing_do_not_stand_out(results: StudyResults) -> None:
    difficulty = difficulty_of(results)
    flat = replace(difficulty, sd_of_items=0.0)
    assert "No item stands out" in Difficulty(flat).line()


def test_another_leader_is_said(results: StudyResults) -> None:
    found = results.found(Ablations)
    assert found is not None
    said = text_of(Ablations(found).line())
    assert said.startswith(("No.", "The leader stays:"))
    changed = replace(found.others[0], leaders=("ember",), largest_change=2, most_moved="ember")
    other = text_of(Ablations(replace(found, others=(changed, *found.others[1:]))).line())
    assert other == (
        "In part: by 1 of 6 methods another system leads than beacon (Ties dropped). The largest"
        " change is 2 places, of ember (Ties dropped). Places that the intervals leave open change"
        " easily."
    )
    failed = replace(found.others[0], problem="it determines no ranking")
    assert "Not known" in Ablations(replace(found, others=(failed,))).line()
    without = replace(results, sections={Ablations: Ablations(replace(found, others=(failed,)))})
    assert "it determines no ranking" in section(render_page(without), "otherwise")


def test_weights_of_the_axes_are_said(results: StudyResults) -> None:
    found = results.found(Ablations)
    assert found is not None
    weights = found.axis_weights
    assert weights is not None
    assert text_of(Ablations.weights_answer(weights)) == (
        "Whatever the 5 axes weigh, beacon leads: in each of 10,000 random weightings."
    )
    first, second, *rest = weights.systems
    split = (replace(first, leads=0.9), replace(second, leads=0.1), *rest)
    said = text_of(Ablations.weights_answer(replace(weights, systems=split)))
    assert said.endswith(f"in 90.0 % of 10,000 random weightings; {second.system} in others.")


def test_speed_is_said_with_the_front_and_the_band(results: StudyResults) -> None:
    speed = results.found(Traits)
    assert speed is not None
    said = text_of(answer_of_speed(speed))
    assert said.startswith("Too few systems to say whether the slower ones do better.")
    assert "ember and beacon" in said
    assert "Within 500 ms: 1 system of 3" in said
    table = section(render_page(results), "traits")
    assert "14.0\N{NO-BREAK SPACE}s" in table
    assert "too slow" in table


@pytest.mark.parametrize(
    ("low", "high", "r", "words"),
    [
        (0.1, 0.8, 0.5, "Here slower systems do better"),
        (-0.8, -0.1, -0.5, "Here quicker systems do better"),
        (-0.2, 0.8, 0.4, "No link between speed and Elo is shown"),
    ],
)
def test_a_link_is_claimed_only_where_the_interval_says_so(
    results: StudyResults, low: float, high: float, r: float, words: str
) -> None:
    traits = traits_of(results)
    assert traits.found is not None
    over = SpeedCorrelation(
        over="systems",
        n=9,
        n_families=4,
        problem=None,
        spearman=Correlation(r=r, low=low, high=high, p=0.5),
        pearson=None,
    )
    found = replace(traits.found, correlations=(over, *traits.found.correlations[1:]))
    assert text_of(answer_of_speed(found)).startswith(words)
    assert "9 systems" in Traits.correlation_words(found).replace("\N{NO-BREAK SPACE}", " ")


def test_what_a_table_and_the_ranking_do_not_share_is_named(results: StudyResults) -> None:
    html = text_of(section(render_page(results), "traits"))
    assert "Not in the table: People and harbour." in html
    assert "In the table, but not ranked: stranger." in html
    assert "fewer than 5 systems" in html


def test_every_table_has_a_file(results: StudyResults) -> None:
    tables = all_tables(results)
    for name in ("strata", "strata-tests", "items", "other-methods", "speed", "covariates"):
        assert tables[name].rows, name
    anger = [row for row in tables["strata"].rows if "anger" in row]
    assert len(anger) == 1
    assert "too few items" in anger[0]
    assert "0" not in map(str, anger[0])
