"""One skill or several, on the page and in CSV: the answer, its doubts, and refusals."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from invented_results import invented_results, section_html
from test_axis_factors import GENERAL, SPLIT, drawn
from test_judges_on_the_page import words

from hearteval.analysis.judges.halo import AxisHalo, JudgeHalo
from hearteval.analysis.study import StudyResults
from hearteval.report.page import render_page
from hearteval.report.tables import all_tables
from hearteval.sections.factors import Factors, scree
from hearteval.sections.factors.measure import FactorResults, analyze_factors
from hearteval.stats.comparisons import FloatArray


def found(pattern: FloatArray = GENERAL, /, **changes: Any) -> FactorResults:
    scores = drawn(pattern, n_items=60)
    made = analyze_factors(scores, level=0.95, seed=1, halo=halo(0.02))
    return dataclasses.replace(made, **{"halo": (), **changes})


def halo(low: float) -> tuple[JudgeHalo, ...]:
    overall = AxisHalo(
        axis="all",
        together=0.9,
        reversed=0.85,
        alone=0.7,
        halo=0.15,
        low=low,
        high=0.28,
        p_value=0.01,
        n_pairs=50,
        n_items=31,
    )
    return (JudgeHalo(judge="fir", overall=overall, axes=(), n_asked=300),)


def results_of(factors: FactorResults | None) -> StudyResults:
    shown = Factors(factors) if factors else None
    return dataclasses.replace(invented_results(), sections={Factors: shown})


def shown(factors: FactorResults) -> str:
    return words(section_html(render_page(results_of(factors)), "factors"))


def test_one_skill_is_said_first_with_what_may_have_made_it() -> None:
    said = shown(found())
    assert said.strip().startswith("One skill or several? One skill, as far as these marks tell.")
    assert "one common factor explains" in said
    assert "Exploratory." in said
    assert "marks that fir gave on all axes at once" in said
    assert "heart judges halo STUDY.toml" in said
    assert "Cronbach's \N{GREEK SMALL LETTER ALPHA} 0.8" in said
    assert "McDonald's ω 0.8" in said
    assert "Maximum likelihood." in said


def test_several_skills_are_named_by_their_axes() -> None:
    said = shown(found(SPLIT))
    assert (
        "These go together, apart from the others: Human Alignment, Empathic Responsiveness and"
        " Attunement (F1); Resonance and Task-following (F2)." in said
    )
    assert "oblimin: factors may correlate" in said


def test_nothing_in_common_is_said_without_a_table() -> None:
    said = shown(found(np.zeros((5, 1))))
    assert "Nothing in common shows." in said
    assert "Communality" not in said
    assert "The axes share no more than chance." in said


def test_a_refusal_gives_its_reason_alone() -> None:
    scores = drawn(GENERAL, n_items=3)
    said = shown(analyze_factors(scores, level=0.95, seed=1))
    assert said.strip() == (
        "One skill or several? Not analysed: too few replies: it needs 50 with every axis, on"
        " 5 items at least; there are 15 on 3."
    )


def test_a_halo_that_was_measured_stands_in_place_of_the_command() -> None:
    said = shown(found(halo=halo(0.02)))
    assert "fir let the verdict colour the axes" in said
    assert "fir 85.0 % 70.0 % +15.0 [+2.0, +28.0] 50" in said
    assert "heart judges halo" not in said
    assert "No judge was seen to let its verdict" in shown(found(halo=halo(-0.02)))


@pytest.mark.parametrize(
    ("changes", "has_words", "has_command"),
    [({"one_reply": ()}, False, False), ({"one_reply": ("people",)}, True, False)],
)
def test_only_who_can_be_asked_again_is_named_a_command(
    changes: dict[str, Any], has_words: bool, has_command: bool
) -> None:
    said = shown(found(**changes))
    assert ("on all axes at once" in said) is has_words
    assert ("heart judges halo" in said) is has_command


def test_ratings_have_no_wins() -> None:
    scores = drawn(GENERAL)._replace(wins=None)
    said = shown(analyze_factors(scores, level=0.95, seed=1))
    assert "With wins" not in said
    assert "as far as these ratings tell" in said
    assert "heart judges halo" not in said


def test_the_picture_shows_what_the_table_says() -> None:
    one = found()
    _, up = scree(one)
    places = [(up.place(row.found), up.place(row.chance)) for row in one.eigenvalues]
    assert [y < line for y, line in places] == [True, False, False, False, False]
    assert all(0 <= y <= 230 for y, _ in places)


def test_every_number_is_in_csv() -> None:
    tables = all_tables(results_of(found(SPLIT, halo=halo(0.02))))
    heads = {name: [c.heading for c in table.columns] for name, table in tables.items()}
    assert {"axis", "loadings_F1", "varimax_F2", "communality", "wins_value", "wins_low"} <= set(
        heads["factor-loadings"]
    )
    assert [row[0] for row in tables["eigenvalues"].rows] == [1, 2, 3, 4, 5]
    assert {"alpha_value", "omega", "adequacy", "sphericity_p_value"} <= set(
        heads["factor-analysis"]
    )
    assert tables["halo"].rows[0][:2] == ["fir", 300]
    assert "factors" not in all_tables(results_of(None))
