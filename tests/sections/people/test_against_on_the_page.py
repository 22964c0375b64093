"""Models against people on the page, in the terminal and in CSV."""

import dataclasses
import functools

import pytest
from golden_text import golden_words
from invented_results import section_html
from people_study import simulated_study
from test_judges_on_the_page import words

from hearteval.analysis.estimates import Contrast
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.report.page import render_page
from hearteval.report.tables import all_tables
from hearteval.sections import SECTIONS
from hearteval.sections.people import People
from hearteval.sections.people.models import words as against
from hearteval.sections.people.models.leads import LeadContrast
from hearteval.sections.people.study import PeopleResults

THETA = {"beacon": 0.5, "ember": -0.4, "harbour": 0.8, "People": 0.2}
EMOTIONS = ("anger", "fear", "shame")


@functools.cache
def results() -> StudyResults:
    """Thirty-two items, eight of them adversarial; two of a rare emotion."""
    data = simulated_study(THETA, {**THETA, "People": -0.3}, n_items=32)
    items = [
        dataclasses.replace(item, emotion="joy" if k < 2 else EMOTIONS[k % 3])
        for k, item in enumerate(data.items)
    ]
    return analyze_study(dataclasses.replace(data, items=items), sections=SECTIONS)


def found() -> PeopleResults:
    people = results().found(People)
    assert people is not None
    return people


def lead(name: str, value: float, low: float, high: float, p: float, q: float) -> PeopleResults:
    contrast = Contrast(value=value, low=low, high=high, p=p, df=7)
    one = LeadContrast(
        name=name, n_regular=20, n_adversarial=9, score=contrast, interval_used="two-way", q=q
    )
    return dataclasses.replace(found(), leads=(one,))


def test_the_section_says_what_it_said() -> None:
    shown = words(section_html(render_page(results()), "people"))
    assert shown.split() == golden_words("people-by-emotion")


@pytest.mark.parametrize(
    ("name", "value", "ends", "p", "q", "said"),
    [
        (
            "people",
            0.042,
            (0.011, 0.073),
            0.0104,
            0.03,
            "On adversarial items people give models 4.2 points less than on regular ones (95 %"
            " interval 1.1 to 7.3, p = .010, q = .030).",
        ),
        (
            "people",
            0.042,
            (0.011, 0.073),
            0.0104,
            0.0624,
            "On adversarial items people give models 4.2 points less than on regular ones (95 %"
            " interval 1.1 to 7.3, p = .010, q = .062): the data leave open whether they differ.",
        ),
        (
            "judges",
            -0.02,
            (-0.05, 0.01),
            0.2,
            0.4,
            "On adversarial items judges give models 2.0 points more than on regular ones (95 %"
            " interval \N{MINUS SIGN}1.0 to 5.0, p = .200, q = .400): the data leave open"
            " whether they differ.",
        ),
        (
            "all-items",
            -0.2,
            (-0.3, -0.1),
            0.00001,
            0.0001,
            "On the 29 items that both judged, people give models 20.0 points less than judges do"
            " (95 % interval 10.0 to 30.0, p < .001, q < .001).",
        ),
    ],
)
def test_a_lead_is_told_with_its_side_and_interval_and_claimed_by_q(
    name: str, value: float, ends: tuple[float, float], p: float, q: float, said: str
) -> None:
    (shown,) = against.lead_words(lead(name, value, *ends, p, q))
    assert words(shown) == said


def test_a_lead_of_too_few_items_is_no_figure() -> None:
    none = dataclasses.replace(found().leads[0], score=None, n_adversarial=3)
    (shown,) = against.lead_words(dataclasses.replace(found(), leads=(none,)))
    assert words(shown).endswith("cannot be said from 3 items.")


def test_a_best_human_that_is_refused_says_what_is_needed() -> None:
    (best, _) = found().best_human
    gone = dataclasses.replace(
        best, best_human=None, same_votes=None, optimism=None, problem="nobody judged."
    )
    one = dataclasses.replace(found(), best_human=(gone,))
    assert against.best_words(one) == [
        "The best of people's replies, by people, is not known: nobody judged."
    ]
    assert not against.best_rows(one)


def test_rare_values_are_named_as_too_few_and_have_no_figure() -> None:
    (emotion, model) = against.families(found())
    assert [row.value for row in emotion.rows] != []
    assert "joy" not in [row.value for row in emotion.rows]
    assert emotion.note == "too few items: joy (2)"
    assert {row.value for row in model.rows} == {"beacon", "ember", "harbour"}
    marks = {row.value: against.mark(row.by[0]) for row in model.rows if row.by[0]}
    assert (marks["harbour"], marks["ember"]) == (against.HIGHER, against.LOWER)


def test_makers_stand_for_their_models_where_one_has_several() -> None:
    people = found()
    makers = tuple(
        dataclasses.replace(one, by="family", value=f"maker of {one.value}")
        for one in people.against_models_by
        if one.by == "model"
    )
    both = dataclasses.replace(people, against_models_by=(*makers, *people.against_models_by))
    titles = [one.title for one in against.families(both)]
    assert titles == ["Emotion", "Maker of the model"]
    assert against.families(both)[-1].note == against.EACH_MODEL


def test_the_terminal_shows_all_within_80_columns() -> None:
    shown = "\n".join(
        table.text() for one in results().found_sections for table in one.shown_tables()
    )
    assert max(map(len, shown.splitlines())) <= 80
    assert "people, on adversarial items" in shown
    assert "Best reply, chosen by half" in shown
    assert "Best reply, chosen by all but one" in shown


def test_every_number_is_in_a_file() -> None:
    tables = all_tables(results())
    strata = tables["models-against-people-by"]
    headings = [column.heading for column in strata.columns]
    assert {"by", "value", "against_score_rate", "from_others_q"} <= set(headings)
    # two subsets, four emotions and three models, by people and by judges
    assert len(strata.rows) == 2 * (2 + 4 + 3)
    assert len(tables["models-lead"].rows) == 4
    assert len(tables["best-human"].rows) == 2


def test_the_part_is_at_most_12_kb() -> None:
    page = render_page(results())
    part = page[page.index('id="models-against-people"') : page.index('id="ranked-by"')]
    assert len(part.encode()) < 12_000


def test_few_writers_and_models_left_out_are_named_with_a_difference() -> None:
    contrast = Contrast(value=0.042, low=0.011, high=0.073, p=0.0104, df=7)
    one = LeadContrast(
        name="all-items",
        n_regular=20,
        n_adversarial=0,
        score=contrast,
        interval_used="two-way",
        n_writers=3,
        left_out=("ember", "harbour"),
        q=0.02,
    )
    (said,) = against.lead_words(dataclasses.replace(found(), leads=(one,)))
    assert said.replace("\N{NO-BREAK SPACE}", " ") == (
        "On the 20 items that both judged, people give models 4.2 points more than judges do (95 %"
        " interval 1.1 to 7.3, p = .010, q = .020, conditional on these 3 writers). ember and"
        " harbour are left out: not judged by both on 5 items."
    )


def test_without_a_model_in_common_no_difference_is_claimed() -> None:
    one = LeadContrast(
        name="all-items", n_regular=20, n_adversarial=0, score=None, interval_used="two-way"
    )
    (said,) = against.lead_words(dataclasses.replace(found(), leads=(one,)))
    assert said == (
        "Whether people and judges differ cannot be said: they judged no model in common on 5"
        " items."
    )
    rows = [dataclasses.replace(row, weighs="judgments") for row in found().against_models]
    apart = dataclasses.replace(found(), against_models=tuple(rows))
    assert "are not to be compared" in against.overall_words(apart)
    assert "compared" not in against.overall_words(found())
