"""Every word of a section on the page of invented results, in `tests/golden`."""

import pytest
from golden_text import golden_words
from invented_results import invented_results, section_html
from test_page import words
from test_rated_on_the_page import results as drawn_ratings

from hearteval.report.page import render_page
from hearteval.report.tables import all_tables


@pytest.mark.parametrize("name", ["explained", "judges", "axes", "scores-in-full"])
def test_a_section_says_what_it_said(name: str) -> None:
    results = drawn_ratings() if name == "scores-in-full" else invented_results()
    said = words(section_html(render_page(results), name))
    assert said.split() == golden_words(name)


COLUMNS = {
    "effects": ["covariate", "beta"],
    "effects-tests": ["covariate", "p"],
    "held-equal": ["system", "elo"],
    "words-and-formatting": ["system", "n_completions"],
    "judge-traits": ["judge", "n_comparisons"],
    "judge-aware": ["system", "elo"],
    "by-judge-alone": ["judge", "system"],
    "judge-audit": ["judge", "check"],
    "stress-set": ["rater", "kind"],
    "consistency": ["rater", "check"],
    "judges-together": ["judge", "n_pairs"],
    "judges-by-pair": ["left", "right"],
    "judges-agreement": ["judges", "n_pairs"],
}


def test_tables_hold_what_they_are_about() -> None:
    made = all_tables(invented_results())
    found = {name: [each.heading for each in made[name].columns[:2]] for name in COLUMNS}
    assert found == COLUMNS
