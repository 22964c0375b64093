"""The methods paragraph is true for every design, and the limits say who wrote what."""

import dataclasses

import pytest
from invented_ratings import invented_ratings
from invented_results import invented_results, without_ranking

from hearteval.analysis.briefs import BriefUse
from hearteval.analysis.study import StudyResults
from hearteval.notices import SIMULATED_WORDS, Kind, Notice
from hearteval.report.page import render_page
from hearteval.report.page.methods import limits, paragraph


def with_board(**changes: object) -> StudyResults:
    results = invented_results()
    assert results.leaderboard is not None
    board = dataclasses.replace(results.leaderboard, **changes)  # type: ignore[arg-type]
    return dataclasses.replace(results, leaderboard=board)


def without_people(*, recorded_by: str | None, keep: tuple[str, ...] = ()) -> StudyResults:
    results = invented_results()
    assert results.leaderboard is not None
    rows = tuple(
        row
        for row in results.leaderboard.rows
        if row.kind not in {"human", "original"} or row.kind in keep
    )
    made = dataclasses.replace(results.provenance, recorded_by=recorded_by)
    board = dataclasses.replace(results.leaderboard, rows=rows)
    return dataclasses.replace(results, leaderboard=board, provenance=made)


def test_paragraph_names_design_judges_interval_and_versions() -> None:
    results = invented_results()
    made = results.provenance
    text = paragraph(results)
    for said in (
        "6 systems (beacon-large-instruct, people, ember-7b, original, reflective, generic)",
        "40 items (36 regular, 4 adversarial;",
        "Judging was blind, by juniper and larch-2;",
        f"Design: {made.design}.",
        "2,396 of 2,400 judgments were given.",
        "Replies missing: original 4.",
        "(36 ties, half a win to each side)",
        "95 % intervals are item-sandwich (clustered over items, for the raters as given),"
        " Student's t with 39 degrees of freedom, or a system's own items less one",
        f"hearteval {made.software['hearteval']}",
        f"seed {made.seed}",
        made.items_hash[:12],
    ):
        assert said in text


def test_the_paragraph_of_a_simulated_study_says_so_first() -> None:
    results = invented_results()
    made = dataclasses.replace(results.provenance, simulated=True)
    said = (Notice(Kind.SIMULATED, SIMULATED_WORDS), *results.warnings)
    text = paragraph(dataclasses.replace(results, provenance=made, warnings=said))
    assert text.startswith(SIMULATED_WORDS)
    assert SIMULATED_WORDS not in paragraph(results)


def test_gap_of_the_fit_is_of_judgments_that_count_once() -> None:
    """The strengths before it are weighted, and theirs is another gap."""
    board = invented_results().leaderboard
    assert board is not None
    assert board.fit.rms_gap != board.fit_weighted.rms_gap
    said = "With every judgment counting once, predicted and observed wins of pairs differ by"
    assert f"{said} {100 * board.fit.rms_gap:.1f} points" in paragraph(invented_results())


def test_two_way_intervals_speak_for_people_too() -> None:
    text = paragraph(with_board(interval_used="two-way", df=14, judged_by="both"))
    assert "two-way (clustered over items and people), Student's t with 14 degrees" in text
    assert "by people and judges" in text
    assert "same total weight in each pair that both judged" in text
    assert "same total weight" not in paragraph(invented_results())


def test_scores_are_described_as_scores() -> None:
    text = paragraph(invented_ratings())
    assert "z-scores within each rater and axis; overall over the axes with equal weights" in text
    assert "Bradley" not in text
    assert "ratings were given" in text


def test_a_study_without_a_ranking_claims_none() -> None:
    text = paragraph(without_ranking(invented_results(), "none"))
    assert "No ranking was computed." in text
    assert "Bradley" not in text


def test_the_cue_judge_is_called_what_it_is() -> None:
    text = paragraph(invented_results(cue_judge=True))
    assert "by cue-judge (an offline counter of hand-set words)" in text
    assert "model judges" not in text


def test_those_whose_brief_is_not_known_are_named_not_called_others() -> None:
    paper = BriefUse(brief="paper", systems=("prompt-a",), rules=("be brief",))
    own = BriefUse(brief="own", systems=("prompt-b",), rules=(), text="Be kind.")
    text = paragraph(dataclasses.replace(invented_results(), briefs=(own, paper)))
    assert "All but prompt-b were asked: be brief." in text
    alike = paragraph(dataclasses.replace(invented_results(), briefs=(paper,)))
    assert "All were asked: be brief." in alike


def test_paragraph_stands_on_the_page_to_be_copied_whole() -> None:
    page = render_page(invented_results())
    assert '<blockquote class="cite">6 systems (beacon-large-instruct' in page
    assert "user-select:all" in page


def test_people_who_took_part_are_whom_to_compare_with() -> None:
    assert limits(invented_results())[0] == (
        "Not apart from people.",
        "Read every number beside the people\u2019s: people.",
    )


def test_recorded_replies_of_people_are_a_baseline_and_named_as_what_they_are() -> None:
    claim, words = limits(without_people(recorded_by="people", keep=("original",)))[0]
    assert claim == "Not apart from people."
    assert "original holds the replies recorded in the items, and people wrote those" in words
    assert "Nobody took part as a writer" in words


@pytest.mark.parametrize(
    ("recorded_by", "said"),
    [
        ("model", "a language model wrote those"),
        (None, "a human baseline only if people wrote them"),
    ],
)
def test_recorded_replies_of_others_are_no_baseline(recorded_by: str | None, said: str) -> None:
    claim, words = limits(without_people(recorded_by=recorded_by, keep=("original",)))[0]
    assert claim == "Not for claims to the public."
    assert said in words


def test_no_report_says_that_no_human_system_is_ranked() -> None:
    for recorded_by in ("people", "model", None):
        page = render_page(without_people(recorded_by=recorded_by, keep=("original",)))
        assert "No human system is ranked" not in page
