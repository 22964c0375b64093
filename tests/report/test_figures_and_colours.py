"""Geometry and colours: what a reader's eye relies on."""

import dataclasses
import itertools
import math
import re

import pytest
from invented_results import invented_results

from hearteval.analysis.ranking.rank import FitCheck, PairFit
from hearteval.report.figures import (
    MEAN_ELO,
    Theme,
    effect_scale,
    favoured,
    fit_scatter,
    heat_colours,
    heat_step,
    pairs_by_gap,
    pairs_in_both_fits,
    round_ticks,
    scale_around,
)
from hearteval.report.page import render_page
from hearteval.report.text import MINUS, NO_VALUE, plural, points, reasons

THEMES: tuple[Theme, Theme] = ("light", "dark")


def luminance(colour: str) -> float:
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def page_colour(name: str, theme: Theme) -> str:
    found: list[str] = re.findall(rf"--{name}:(#[0-9a-f]{{6}});", render_page(invented_results()))
    return found[THEMES.index(theme)]


def fit_of(*pairs: PairFit) -> FitCheck:
    return FitCheck(
        ratings="unweighted",
        rms_gap=0,
        max_gap=0,
        system_rms_gap=0,
        system_max_gap=0,
        pairs=pairs,
        systems=(),
    )


@pytest.mark.parametrize("theme", THEMES)
def test_numbers_are_readable_on_every_heat_colour(theme: Theme) -> None:
    ink = page_colour("ink", theme)
    assert min(contrast(colour, ink) for colour in heat_colours(theme)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("text", ["ink", "soft", "far", "link"])
@pytest.mark.parametrize("behind", ["paper", "card", "head"])
def test_text_is_readable_on_the_page(theme: Theme, text: str, behind: str) -> None:
    assert contrast(page_colour(text, theme), page_colour(behind, theme)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_banner_is_readable(theme: Theme) -> None:
    assert contrast(page_colour("loud-ink", theme), page_colour("loud", theme)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_heat_moves_away_from_the_page_with_distance_from_one_half(theme: Theme) -> None:
    light = [luminance(colour) for colour in heat_colours(theme)]
    above = light[20:] if theme == "dark" else [-value for value in light[20:]]
    below = light[20::-1] if theme == "dark" else [-value for value in light[20::-1]]
    assert above == sorted(above)
    assert below == sorted(below)


def test_heat_steps_meet_at_one_half_and_end_at_10_and_90_percent() -> None:
    assert [heat_step(share) for share in (0.0, 0.1, 0.5, 0.9, 1.0)] == [0, 0, 20, 40, 40]


def test_elo_scale_holds_every_interval_inside_its_column() -> None:
    board = invented_results(large=True).leaderboard
    assert board is not None
    ends = [end for row in board.rows for end in (row.weighted.low, row.weighted.high) if end]
    scale = scale_around(MEAN_ELO, ends)
    places = [scale.place(end) for end in ends]
    assert 0 < min(places) < max(places) < 100
    assert MEAN_ELO in scale.ticks


def test_elo_scale_of_equal_systems_has_a_width() -> None:
    assert scale_around(MEAN_ELO, [1500.0, 1500.0]).place(1500.0) == pytest.approx(50)


def test_effect_scale_is_as_wide_on_both_sides_of_one_half() -> None:
    scale = effect_scale([0.42, 0.67])
    assert scale.ticks == pytest.approx((0.3, 0.5, 0.7))
    assert scale.place(0.5) == pytest.approx(50)
    assert scale.place(0.4) + scale.place(0.6) == pytest.approx(100)


@pytest.mark.parametrize("shares", [[], [0.5, 0.5], [0.49, 0.52]])
def test_small_effects_look_small(shares: list[float]) -> None:
    assert effect_scale(shares).ticks == pytest.approx((0.4, 0.5, 0.6))


def test_pair_is_seen_from_the_same_side_in_both_fits() -> None:
    board = invented_results().leaderboard
    assert board is not None
    pair = PairFit(left="a", right="b", n=9, observed=0.25, predicted=0.375)
    headline = dataclasses.replace(pair, predicted=0.5625)
    both = dataclasses.replace(board, fit=fit_of(pair), fit_weighted=fit_of(headline))
    ((one, other),) = pairs_in_both_fits(both)
    assert (one.left, one.observed, one.predicted) == ("b", 0.75, 0.625)
    assert (other.left, other.observed, other.predicted) == ("b", 0.75, 0.4375)


def test_ticks_are_round_and_within() -> None:
    assert round_ticks(-267.0, 284.0, n_most=6) == (-200, -100, 0, 100, 200)
    assert round_ticks(0.5, 1.0, n_most=6) == (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def test_pair_is_turned_to_the_favoured_side() -> None:
    pair = PairFit(left="a", right="b", n=9, observed=0.25, predicted=0.375)
    assert favoured(pair) == PairFit(left="b", right="a", n=9, observed=0.75, predicted=0.625)
    assert favoured(favoured(pair)) == favoured(pair)


def test_largest_gaps_come_first_and_are_labelled() -> None:
    near = PairFit(left="a", right="b", n=9, observed=0.61, predicted=0.6)
    far = PairFit(left="a", right="c", n=9, observed=0.4, predicted=0.7)
    assert pairs_by_gap(fit_of(near, far)) == (far, near)
    assert fit_scatter(fit_of(near, far)).labelled == (far, near)


def test_dots_and_labels_stay_in_the_plot_and_labels_apart() -> None:
    board = invented_results(large=True).leaderboard
    assert board is not None
    scatter = fit_scatter(board.fit)
    labels = [dot.label for dot in scatter.dots if dot.number]
    assert len(scatter.dots) == len(board.fit.pairs)
    assert all(scatter.across.start <= dot.x <= scatter.across.end for dot in scatter.dots)
    assert all(scatter.up.end <= dot.y <= scatter.up.start for dot in scatter.dots)
    assert min(math.dist(one, other) for one, other in itertools.combinations(labels, 2)) > 10


def test_shares_of_none_and_all_fit_the_plot() -> None:
    pair = PairFit(left="a", right="b", n=1, observed=0.0, predicted=1.0)
    (dot,) = fit_scatter(fit_of(pair)).dots
    assert (dot.x, dot.y) == (
        fit_scatter(fit_of(pair)).across.end,
        fit_scatter(fit_of(pair)).up.start,
    )


@pytest.mark.parametrize(
    ("difference", "shown"),
    [(0.0334, "+3.3"), (-0.07, f"{MINUS}7.0"), (-0.0001, "0.0"), (0.0, "0.0")],
)
def test_gap_has_a_sign_unless_it_rounds_to_nothing(difference: float, shown: str) -> None:
    assert points(difference) == shown


def test_counts_agree_with_their_nouns() -> None:
    assert plural(1, "tie") == "1\N{NO-BREAK SPACE}tie"
    assert plural(1_200, "tie") == "1,200\N{NO-BREAK SPACE}ties"


def test_reasons_stand_most_frequent_first() -> None:
    assert reasons({"a": 1, "c": 4, "b": 4, "d": 0}).replace("\xa0", " ") == "4 b, 4 c, 1 a"
    assert reasons({}) == NO_VALUE
