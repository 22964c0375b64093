"""How the replies are worded, on the page: the answer first, every number in the tables."""

import dataclasses

import pytest
from invented_results import SIX, TWELVE_MORE, invented_results, section_html
from test_judges_on_the_page import words

from hearteval.analysis.estimates import Estimate
from hearteval.analysis.study import StudyResults
from hearteval.report.page import render_page
from hearteval.report.tables import all_tables
from hearteval.sections.wording import HEADINGS, Wording
from hearteval.sections.wording.measure import (
    MEASURES,
    SystemWording,
    WordingDifference,
    WordingResults,
)


def invented_wording(
    *, large: bool = False, q: float | None = 0.6, n_items: int = 60, reach: float = 0.02
) -> WordingResults:
    systems = SIX + TWELVE_MORE if large else SIX
    return WordingResults(
        systems=tuple(
            SystemWording(
                system=name,
                kind=kind,
                family=family,
                n_completions=n_items,
                n_items=n_items,
                n_words=31.0,
                measures={
                    measure: Estimate(value=at, low=at - reach, high=at + reach)
                    for measure in MEASURES
                    for at in [0.2 + 0.01 * k]
                },
            )
            for k, (name, kind, family) in enumerate(systems)
        ),
        differences=tuple(
            WordingDifference(
                comparison="models-people",
                group="models",
                measure=measure,
                models=0.3,
                people=0.2,
                difference=0.1,
                low=0.05,
                high=0.15,
                p=0.001,
                q=q if measure == "recurring-phrases" else 0.5,
                n_items=n_items,
            )
            for measure in MEASURES
        ),
        emotion_words="1",
        level=0.95,
    )


def results_of(wording: WordingResults, *, large: bool = False) -> StudyResults:
    return dataclasses.replace(invented_results(large=large), sections={Wording: Wording(wording)})


def section(wording: WordingResults, *, large: bool = False) -> str:
    page = render_page(results_of(wording, large=large))
    return section_html(page, "wording")


@pytest.mark.parametrize(
    ("wording", "said"),
    [
        (invented_wording(q=0.01), "Beside people, models repeat more phrases (30 against 20)."),
        (invented_wording(), "No difference between models and people shows"),
        (invented_wording(q=0.01, n_items=20), "share 20 items: too few to say"),
        (
            dataclasses.replace(invented_wording(), differences=()),
            "generic repeats itself more than",
        ),
        (
            dataclasses.replace(invented_wording(reach=0.03), differences=()),
            "No difference between systems shows in how much they repeat themselves : of the",
        ),
        (
            dataclasses.replace(invented_wording(n_items=3), differences=()),
            "There is too little text to compare systems.",
        ),
    ],
)
def test_the_answer_comes_first_in_plain_words(wording: WordingResults, said: str) -> None:
    first = words(section(wording)).split("Exploratory")[0]
    assert said in first


def test_the_table_has_every_system_and_fits_the_page() -> None:
    html = section(invented_wording(large=True), large=True)
    assert len(html.encode()) < 6_000
    assert all(name in html for name, _, _ in SIX + TWELVE_MORE)
    assert html.count('<td class="heat h') == 18 * len(HEADINGS)
    assert set(HEADINGS) == {*MEASURES}


def test_a_figure_of_too_little_text_is_a_dash() -> None:
    made = invented_wording()
    bare = [dataclasses.replace(one, measures={}) for one in made.systems]
    html = section(dataclasses.replace(made, systems=tuple(bare), differences=()))
    assert html.count('<td class="heat few">') == 6 * len(HEADINGS)


def test_every_number_is_in_the_tables() -> None:
    tables = all_tables(results_of(invented_wording()))
    assert len(tables["wording"].rows) == 6 * len(MEASURES)
    headings = [column.heading for column in tables["wording-differences"].columns]
    assert {"measure", "models", "people", "difference", "low", "high", "p", "q"} <= {*headings}
