"""Ratings compared, on the page and in CSV: the answer first, its doubts, and what is missing."""

import functools
from dataclasses import replace

import pytest
from drawn_ratings import drawn_study, with_pairs
from invented_results import section_html
from rated_records import calibrated
from test_page import words

from hearteval import sections
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.report.page import render_page
from hearteval.report.tables import all_tables


@functools.cache
def results(*, hidden: float = 0.9, n_items: int = 40, best: float = 1.2) -> StudyResults:
    effects = {"People": -0.3, "beacon": best, "ember": 0.0, "harbour": 0.0}
    data = drawn_study(effects, n_items=n_items, people=5, judges=2, hidden=hidden)
    both = with_pairs(data, ["beacon", "harbour", "ember", "People"])
    keyed = replace(both, calibration=calibrated())
    return analyze_study(keyed, sections=sections.SECTIONS)


@functools.cache
def shown(*, hidden: float = 0.9, n_items: int = 40, best: float = 1.2) -> str:
    page = render_page(results(hidden=hidden, n_items=n_items, best=best))
    return words(section_html(page, "scores-in-full"))


def test_a_lead_that_is_open_is_said_to_be() -> None:
    said = shown(best=0.05)
    assert "may each be the best: the intervals leave it open." in said


def test_a_change_between_the_lines_may_be_chance() -> None:
    assert ", which chance alone may give." in shown(hidden=0.0)


def test_too_few_items_of_a_cue_have_words_and_no_table() -> None:
    said = shown(n_items=8)
    assert "Not compared: too few items: 4 implicit and 4 explicit are rated." in said
    assert "where the feeling is implicit" not in said


def test_raters_on_few_items_have_no_figure() -> None:
    said = shown(n_items=4)
    assert "Too few items to say: raters share replies on fewer than 5." in said
    assert "ICC(A,k)" not in said
    assert "Who is rated above whom" not in said


@pytest.mark.parametrize(
    ("name", "n_rows"),
    [
        ("rating-ranks", 4),
        ("rating-differences", 6),
        ("rating-agreement", 18),
        ("rating-cues", 42),
        ("ratings-beside-pairs", 4),
        ("eigenvalues", 5),
    ],
)
def test_every_number_is_in_csv(name: str, n_rows: int) -> None:
    assert len(all_tables(results())[name].rows) == n_rows
