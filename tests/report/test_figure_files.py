"""Figures as files: of the size asked for, the same twice, with what must be said on them."""

import dataclasses
import io
import re
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from drawn_text import misplaced, with_long_names
from invented_results import invented_results, rename_system
from people_study import simulated_study
from PIL import Image
from planted_studies import data_of
from test_labels_on_the_page import CUES, PLANTED, invented_labels
from test_reasons_on_the_page import results_with, source_of

from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.config.simulation import SimulationPlan
from hearteval.errors import SettingsError
from hearteval.report.plots import files
from hearteval.report.plots.files import (
    WIDTHS,
    captions,
    figure_files,
    figures_of,
    lay_out,
    require_matplotlib,
)
from hearteval.report.plots.style import BLUE, ORANGE, SETTINGS, Heat
from hearteval.sections import SECTIONS
from hearteval.sections.anchored import Anchored
from hearteval.sections.labels import Labels, plot
from hearteval.sections.traits import Traits
from hearteval.sections.traits.speed import compare_speed
from hearteval.study.simulation.making import draw_world

MATPLOTLIB: Any = pytest.importorskip("matplotlib")
RESULTS = invented_results()
THETA = {"beacon": 0.4, "ember": -0.2, "harbour": 0.1, "People": 0.0}


def drawn(name: str) -> dict[str, bytes]:
    (figure,) = [one for one in figures_of(RESULTS) if one.name == name]
    return dict(figure_files(RESULTS, figure))


drawn_once = cache(drawn)


@pytest.mark.parametrize("name", ["ranking", "fit"])
def test_a_figure_has_three_formats_in_two_widths(name: str) -> None:
    found = drawn_once(name)
    assert sorted(found) == sorted(
        f"{name}-{width}.{kind}" for width in ("column", "page") for kind in ("svg", "pdf", "png")
    )
    for width, inches in (("column", 3.35), ("page", 6.9)):
        svg = ET.fromstring(found[f"{name}-{width}.svg"])
        assert svg.attrib["width"] == f"{72 * inches:g}pt"
        png = Image.open(io.BytesIO(found[f"{name}-{width}.png"]))
        assert png.width == pytest.approx(300 * inches, abs=1)
        assert found[f"{name}-{width}.pdf"].startswith(b"%PDF-")


def test_every_figure_is_drawn() -> None:
    for figure in figures_of(RESULTS):
        _, svg = next(figure_files(RESULTS, figure))
        assert ET.fromstring(svg).tag.endswith("svg")


@cache
def analyzed() -> StudyResults:
    return analyze_study(simulated_study(THETA, THETA, n_items=24), sections=SECTIONS)


@cache
def of_speed() -> StudyResults:
    """Return the results of a simulated study with speed."""
    results = analyzed()
    assert results.leaderboard is not None
    times = {"first_token_ms": {"beacon": 900.0, "ember": 300.0, "harbour": 450.0}}
    speed = compare_speed((), (), times, results.leaderboard, level=0.95)
    return dataclasses.replace(
        results,
        sections={**results.sections, Traits: Traits(speed, None)},
        provenance=dataclasses.replace(results.provenance, simulated=True),
    )


@cache
def of_all_figures() -> tuple[StudyResults, ...]:
    """Return results that between them have every figure, with what stands below a figure."""
    told = dataclasses.replace(
        invented_results(large=True, cue_judge=True),
        sections={
            Labels: Labels(invented_labels((CUES,), people=PLANTED, n_items=12)),
            **results_with(source_of(CUES)).sections,
        },
    )
    plan = SimulationPlan(systems=7, items=30, people=5, judges=2, comparisons=200)
    of_seven = analyze_study(data_of(*draw_world("planted", plan, seed=3)), sections=[Anchored])
    return told, of_speed(), of_seven


@pytest.mark.parametrize("is_long", [False, True], ids=["names as they are", "long names"])
def test_no_word_of_a_figure_is_cut_off_or_upon_another(*, is_long: bool) -> None:
    drawn = set[str]()
    for results in of_all_figures():
        named = with_long_names(results) if is_long else results
        of_these = [figure for figure in figures_of(named) if is_long or figure.name not in drawn]
        drawn |= {figure.name for figure in of_these}
        for figure in of_these:
            for width_name, width in WIDTHS.items():
                with MATPLOTLIB.rc_context(SETTINGS):
                    canvas = lay_out(named, figure, width)
                    where = f"{figure.name}-{width_name}"
                    assert (where, *misplaced(canvas)) == (where, [], [])
    of_sections = (figure for section in SECTIONS for figure in section.FIGURES)
    assert drawn >= {figure.name for figure in (*files.FIGURES, *of_sections)} - {
        *("factors", "micro-skills", "micro-skills-of-models-and-people")
    }


def test_systems_whose_names_begin_alike_are_told_apart_in_radars() -> None:
    results = with_long_names(RESULTS)
    (figure,) = [one for one in figures_of(results) if one.name == "radars"]
    with MATPLOTLIB.rc_context(SETTINGS):
        canvas = lay_out(results, figure, WIDTHS["column"])
    titles = [axes.get_title() for axes in canvas.axes if axes.get_visible()]
    assert len(set(titles)) == len(titles) > 1


def test_the_same_results_give_the_same_files() -> None:
    assert drawn("fit") == drawn_once("fit")


def test_figures_of_the_offline_judge_say_so() -> None:
    results = invented_results(cue_judge=True)
    assert results.judge_notice is not None
    assert results.judge_notice in captions(results)
    figure = figures_of(results)[0]
    with_notice, without = (
        dict(figure_files(one, figure, ("svg",)))[f"{figure.name}-page.svg"]
        for one in (results, dataclasses.replace(results, judge_notice=None))
    )
    assert b"measures nothing about empathy" in with_notice
    assert b"measures nothing about empathy" not in without


def test_people_judges_kinds_of_item_and_items_are_drawn() -> None:
    results = analyzed()
    names = [figure.name for figure in figures_of(results)]
    assert {"models-against-people", "agreement", "kinds-of-item", "items"} <= set(names)
    for figure in figures_of(results):
        if figure.name in ("models-against-people", "agreement", "kinds-of-item", "items"):
            name, first = next(figure_files(results, figure))
            assert name == f"{figure.name}-column.svg"
            assert ET.fromstring(first).tag.endswith("svg")
    agreement = next(figure for figure in figures_of(results) if figure.name == "agreement")
    names, cells = agreement.find(results)
    assert names == ["most people", "juniper", "larch"]
    assert cells[0][0] is None
    assert cells[0][1] == cells[1][0] != cells[1][2] == cells[2][1]


def test_speed_is_drawn_beside_quality_and_simulated_figures_say_so() -> None:
    results = of_speed()
    (figure,) = [one for one in figures_of(results) if one.name == "speed"]
    svg = dict(figure_files(results, figure, ("svg",)))["speed-page.svg"]
    assert b"Simulated: nothing here was measured." in svg
    assert b"<!-- beacon -->" in svg
    assert captions(results).startswith("Simulated")


def test_labels_are_no_formulas_and_stand_in_the_legend() -> None:
    families = iter(("$\\nothing{$", "_own", "plain"))
    speed = of_speed().found(Traits)
    assert speed is not None
    systems = tuple(dataclasses.replace(one, family=next(families)) for one in speed.systems)
    speed = dataclasses.replace(speed, systems=systems)
    results = dataclasses.replace(of_speed(), sections={Traits: Traits(speed, None)})
    (figure,) = [one for one in figures_of(results) if one.name == "speed"]
    svg = dict(figure_files(results, figure, ("svg",)))["speed-page.svg"].decode()
    assert r"<!-- $\nothing{$ -->" in svg
    assert "_own -->" in svg


def test_a_sign_that_the_font_lacks_is_a_box_and_no_warning() -> None:
    results = rename_system(invented_results(), "ember-7b", "ember \N{WOMAN}")
    (figure,) = [one for one in figures_of(results) if one.name == "ranking"]
    assert len(dict(figure_files(results, figure))) == 6


def test_a_share_that_may_be_a_half_is_pale() -> None:
    assert Heat(0.8, is_sure=True).colour == 0.8
    assert 0.5 < Heat(0.8, is_sure=False).colour < 0.6


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_name: str) -> None:
        raise ImportError

    monkeypatch.setattr(files, "import_module", absent)
    with pytest.raises(SettingsError, match=re.escape("pip install 'hearteval[figures]'")):
        require_matplotlib()


def test_what_replies_do_is_drawn_by_family_and_beside_people() -> None:
    found = invented_labels((CUES,), people=PLANTED, n_items=12)
    results = dataclasses.replace(RESULTS, sections={Labels: Labels(found)})
    figures = {one.name: one for one in figures_of(results)}
    assert {"strategies", "strategies-of-models-and-people"} <= set(figures)
    assert "micro-skills" not in figures
    for name in ("strategies", "strategies-of-models-and-people"):
        _, svg = next(figure_files(results, figures[name]))
        assert ET.fromstring(svg).tag.endswith("svg")
    drawn = plot.families_of("strategies")(Labels(found))
    assert drawn is not None
    names, cells = plot.family_cells(drawn)
    averages = [heat.middle for row in cells for heat in row[:1] if heat is not None]
    assert averages == sorted(averages, reverse=True)
    rates = {
        (use.group, rate.name): rate.rate for use in drawn.source.families for rate in use.rates
    }
    shown = [None if heat is None else heat.share for heat in cells[names.index("Clarification")]]
    assert shown == [rates[use.group, "Clarification"] for use in drawn.source.families]
    first, *_, last = plot.compared(drawn)
    assert (first.category, last.category) == ("clarification", "suggest_options")


def test_figures_of_the_offline_labeler_say_so_and_too_few_items_stay_empty() -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415

    found = invented_labels((CUES,), people=PLANTED, n_items=4)
    drawn = plot.families_of("strategies")(Labels(found))
    assert drawn is not None
    assert {heat for row in plot.family_cells(drawn)[1] for heat in row} == {None}
    figure = Figure()
    plot.draw_differences(drawn, figure)
    assert "measures nothing" in figure.axes[0].get_xlabel()


def test_themes_are_drawn_with_people_beside_judges() -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415

    source = source_of(CUES)
    results = results_with(source)
    (drawn,) = [one for one in figures_of(results) if one.name == "themes"]
    assert drawn.find(results) == source
    figure: Any = Figure()
    drawn.draw(source, figure)
    (axes,) = figure.axes
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert (len(rows), rows[0]) == (25, "Asks for a detail (R)")
    # The share of all is 35 %, and of this theme planted 24 points apart, 6 each way.
    first = [line for line in axes.lines if -0.5 < line.get_ydata()[0] < 0.5]
    shown = [(line.get_color(), *line.get_xdata()) for line in first]
    assert sorted(shown, key=len) == [
        (ORANGE, pytest.approx(47)),
        (BLUE, pytest.approx(23)),
        (ORANGE, pytest.approx(41), pytest.approx(53)),
        (BLUE, pytest.approx(17), pytest.approx(29)),
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["people", "judges"]
    assert "measures nothing" in axes.get_xlabel()
    few = results_with(dataclasses.replace(source, n_items=4))
    assert "themes" not in {figure.name for figure in figures_of(few)}
    assert "themes" not in {figure.name for figure in figures_of(RESULTS)}


def test_a_heat_is_coloured_against_its_own_middle() -> None:
    assert Heat(0.3, is_sure=True, middle=0.1).colour == pytest.approx(0.7)
    assert Heat(0.3, is_sure=False, middle=0.1).colour == pytest.approx(0.56)
