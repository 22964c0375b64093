"""Scores as a page, as text and as CSV: what they must say, and that they stand alone."""

import csv
import dataclasses
import io
import re

import pytest
from invented_ratings import invented_ratings, with_scores
from invented_results import invented_results, with_judges
from test_page import OUTSIDE, outline, words

from hearteval.analysis.study import StudyResults
from hearteval.domain import AXES, AXIS_NAMES
from hearteval.report.answers.headline import sentence
from hearteval.report.page import render_page
from hearteval.report.radar import score_frame, score_radars
from hearteval.report.scores import rating_csv
from hearteval.report.summary import brief_display, details_display
from hearteval.report.text import MINUS, display_width


def plain(page: str) -> str:
    return words(page).replace("\N{NO-BREAK SPACE}", " ")


def changed(results: StudyResults, **values: object) -> StudyResults:
    assert results.ratings is not None
    return with_scores(results, dataclasses.replace(results.ratings, **values))  # type: ignore[arg-type]


def without_z(results: StudyResults) -> StudyResults:
    """Return the results where no rater has a z-score, and there is one item."""
    assert results.ratings is not None
    systems = []
    for row in results.ratings.systems:
        bare = dataclasses.replace(
            row.overall, z=None, z_low=None, z_high=None, low=None, high=None
        )
        judges = {name: dataclasses.replace(at, z=None) for name, at in row.judges.items()}
        axes = dict.fromkeys(row.axes, bare)
        systems.append(dataclasses.replace(row, overall=bare, axes=axes, judges=judges))
    return changed(results, systems=tuple(systems))


def test_scores_stand_in_place_of_the_leaderboard() -> None:
    page = render_page(invented_ratings())
    assert 'id="scores"' in page
    assert 'id="leaderboard"' not in page
    assert "Pairs of systems" not in page
    assert 'id="scores"' not in render_page(invented_results())


@pytest.mark.parametrize("large", [True, False])
def test_tags_are_balanced_ids_unique_and_links_lead_somewhere(large: bool) -> None:
    parsed = outline(render_page(invented_ratings(large=large)))
    assert (parsed.misnested, parsed.open) == ([], [])
    assert len(set(parsed.ids)) == len(parsed.ids)
    assert {link.removeprefix("#") for link in parsed.links} <= set(parsed.ids)


def test_page_of_eighteen_systems_is_small_and_stands_alone() -> None:
    page = render_page(invented_ratings(large=True))
    assert len(page.encode()) < 300_000
    assert OUTSIDE.search(page) is None


def test_every_system_has_its_scores_with_intervals() -> None:
    text = plain(render_page(invented_ratings()))
    assert "people +0.54 \N{PLUS-MINUS SIGN}0.26" in text
    assert "people All axes 3.93 [3.72, 4.14] +0.54 [0.28, 0.80] 80 40" in text
    assert "conditional on these raters" in text


def test_every_system_has_a_radar_with_its_numbers_in_words() -> None:
    results = invented_ratings()
    assert results.ratings is not None
    page = render_page(results)
    titles = re.findall(r'<title id="radar-\d+-title">([^<]*)</title>', page)
    assert titles == [row.system for row in results.ratings.systems]
    first = results.ratings.systems[0]
    assert f"Human Alignment {first.axes['H'].mean:.2f}" in page
    assert page.count('class="field"') == 1
    assert page.count('<use href="#radar-frame"/>') == len(titles)


def test_radar_puts_1_in_the_middle_and_5_on_the_outer_ring() -> None:
    results = invented_ratings()
    assert results.ratings is not None
    row = results.ratings.systems[0]
    ends = {
        axis: dataclasses.replace(row.axes[axis], mean=5.0 if axis == "H" else 1.0) for axis in AXES
    }
    ratings = dataclasses.replace(results.ratings, systems=(dataclasses.replace(row, axes=ends),))
    frame = score_frame(ratings)
    assert frame is not None
    (radar,) = score_radars(ratings, AXIS_NAMES)
    corners = radar.shape.split()
    assert corners[0] == frame.rings[-1].split()[0] == "100,26"
    assert set(corners[1:]) == {"100,98"}


def test_too_few_axes_make_no_radar() -> None:
    results = invented_ratings()
    assert results.ratings is not None
    assert score_frame(dataclasses.replace(results.ratings, field={"H": 3.0, "E": 3.0})) is None


def test_stress_set_is_shown_apart_with_how_often_the_reference_got_more() -> None:
    text = plain(render_page(invented_ratings()))
    stress = text[text.index("Can the judges tell?") :]
    assert "a hostile reply 2.00 [1.80, 2.20] reference above: 78.0 % [68.0, 88.0], 40" in stress
    assert "the reference itself 3.80" in stress
    assert "a hostile reply" not in text[: text.index("Can the judges tell?")]


def test_repeatability_is_shown() -> None:
    assert "juniper 87.3 % [81.0, 93.6] 0.14 50 31" in plain(render_page(invented_ratings()))


def test_missing_z_scores_and_intervals_are_dashes() -> None:
    page = render_page(without_z(invented_ratings()))
    assert outline(page).misnested == []
    assert not re.search(r"\bNone\b|\bnan\b", page)


def test_study_without_a_rating_says_so() -> None:
    empty = changed(
        invented_ratings(), systems=(), stress=(), repeatability=(), field={}, warnings=()
    )
    page = render_page(with_judges(empty, stress=()))
    assert "There are no scores. There is no rating yet" in plain(page)
    assert outline(page).misnested == []
    assert str(sentence(empty)).startswith("There are no scores.")


def test_human_scores_are_what_a_reader_is_pointed_to() -> None:
    text = plain(render_page(invented_ratings()))
    assert "Read every number beside the people\u2019s: people." in text


def test_hostile_names_are_escaped() -> None:
    results = invented_ratings()
    assert results.ratings is not None
    name = """<script>alert("1")</script>"""
    systems = (dataclasses.replace(results.ratings.systems[0], system=name),)
    page = render_page(changed(results, systems=systems))
    assert page.count("<script>") == 1
    assert name in "".join(outline(page).text)


@pytest.mark.parametrize("large", [True, False])
def test_text_fits_a_terminal_and_names_who_rated(large: bool) -> None:
    results = invented_ratings(large=large)
    text = brief_display(results).text() + "\n" + details_display(results).text()
    assert max(map(display_width, text.splitlines())) <= 80
    assert "Rated by juniper and larch-2" in " ".join(text.split())


def test_text_gives_score_z_and_axes_of_a_system() -> None:
    (bar,) = [
        line
        for line in brief_display(invented_ratings()).text().splitlines()
        if line.startswith("generic ")
    ]
    (numbers,) = [
        line
        for line in details_display(invented_ratings()).text().splitlines()
        if line.startswith("generic ")
    ]
    assert bar.split()[:2] == ["generic", f"{MINUS}0.90"]
    assert bar.split()[-6:] == ["2.78", "3.0", "2.4", "2.8", "3.1", "2.4"]
    assert numbers.replace(MINUS, "-").split() == [
        *("generic", "-0.90", "[-1.16,", "-0.64]", "2.78", "[2.57,", "2.99]", "80")
    ]


def test_text_of_a_study_that_compares_has_no_scores() -> None:
    assert "Rated by" not in details_display(invented_results()).text()
    assert "Judged by" not in details_display(invented_ratings()).text()


def test_csv_has_every_digit_and_a_column_for_each_rater() -> None:
    results = invented_ratings()
    assert results.ratings is not None
    rows = list(csv.DictReader(io.StringIO(rating_csv(results.ratings))))
    first = results.ratings.systems[0]
    assert [row["system"] for row in rows] == [row.system for row in results.ratings.systems]
    assert float(rows[0]["H_mean"]) == first.axes["H"].mean
    assert float(rows[0]["z"]) == first.overall.z
    assert rows[0]["juniper: mean"] == ""
    assert float(rows[0]["larch-2: mean"]) == first.judges["larch-2"].mean
    assert rows[0]["interval_used"] == "item-sandwich"


def test_csv_of_missing_values_has_empty_cells() -> None:
    ratings = without_z(invented_ratings()).ratings
    assert ratings is not None
    (first, *_) = csv.DictReader(io.StringIO(rating_csv(ratings)))
    assert (first["z"], first["low"], first["A_z_high"]) == ("", "", "")
