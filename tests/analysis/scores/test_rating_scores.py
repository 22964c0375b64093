"""Scores of systems: by hand, and what must not change them."""

import math
import random

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from rated_records import RatingMaker

from hearteval.analysis.scores.scores import RatedSystem
from hearteval.domain import AXES
from hearteval.stats.comparisons import FloatArray

SD = math.sqrt(2.5)
"""Of 5, 4, 2 and 1, about their mean of 3."""


@pytest.fixture
def maker() -> RatingMaker:
    """One rater, two systems, two items."""
    made = RatingMaker()
    for system, scores in {"good": (5, 4), "weak": (2, 1)}.items():
        for item, score in zip("ab", scores, strict=True):
            made.rate("r", system, item, score)
    return made


def test_means_and_z_scores_by_hand(maker: RatingMaker) -> None:
    good, weak = maker.analyze(level=0.5)[0].systems
    # t(1) is 1 at a level of one half; se is half the distance of two values
    assert (good.overall.mean, good.overall.low, good.overall.high) == pytest.approx((4.5, 4, 5))
    assert (weak.overall.mean, weak.overall.low, weak.overall.high) == pytest.approx((1.5, 1, 2))
    assert (good.overall.z, weak.overall.z) == pytest.approx((1.5 / SD, -1.5 / SD))
    assert (good.overall.n_ratings, good.overall.n_items) == (2, 2)
    assert good.axes["H"] == good.overall
    assert set(good.axes) == set(AXES)


def test_interval_of_z_by_hand() -> None:
    made = RatingMaker()
    for system, scores in {"good": (5, 3), "weak": (1, 3)}.items():
        for item, score in zip("ab", scores, strict=True):
            made.rate("r", system, item, score)
    # mean 3, sd sqrt(2); z of good sqrt(2) and 0, m = 1 / sqrt(2). Influence of item a: its own
    # (sqrt(2) - m) / 2, less what it does to the sd, m (2 + 2 - 2) / 2 / 4; of b the opposite
    m = 1 / math.sqrt(2)
    influence = (math.sqrt(2) - m) / 2 - m / 4
    se = math.sqrt(2 * 2 * influence**2)
    good = made.scores(level=0.5)["good"].overall
    assert (good.z, good.z_low, good.z_high) == pytest.approx((m, m - se, m + se))


def test_system_that_is_always_as_far_ahead_has_no_width_of_z(maker: RatingMaker) -> None:
    good = maker.scores()["good"].overall
    assert good.z is not None
    assert (good.z_low, good.z_high) == (None, None)


def test_interval_of_z_is_of_the_derivative_by_each_items_weight() -> None:
    scores = np.array([[5, 2, 3], [4, 4, 1], [2, 1, 1], [5, 3, 4], [3, 3, 5]], dtype=float)
    made = RatingMaker()
    for item, row in enumerate(scores):
        for system, score in enumerate(row):
            made.rate("r", f"s{system}", str(item), int(score))

    def z_of(weight: FloatArray) -> float:
        mean = np.average(scores.mean(axis=1), weights=weight)
        sd = math.sqrt(np.average(((scores - mean) ** 2).mean(axis=1), weights=weight))
        return float((np.average(scores[:, 0], weights=weight) - mean) / sd)

    step = 1e-6
    moved = [(z_of(1 + step * one) - z_of(1 - step * one)) / (2 * step) for one in np.eye(5)]
    margin = scipy.stats.t(4).ppf(0.975) * math.sqrt(5 / 4 * sum(d**2 for d in moved))
    found = made.scores()["s0"].overall
    z = z_of(np.ones(5))
    assert (found.z, found.z_low, found.z_high) == pytest.approx((z, z - margin, z + margin))


def test_interval_stays_on_the_scale(maker: RatingMaker) -> None:
    good = maker.scores()["good"].overall
    assert (good.low, good.high) == (1, 5)


def test_an_item_is_one_value_however_many_rated_it(maker: RatingMaker) -> None:
    maker.rate("other", "good", "a", 1)
    good = maker.scores()["good"].overall
    assert good.mean == pytest.approx(((5 + 1) / 2 + 4) / 2)
    assert (good.n_ratings, good.n_items) == (3, 2)


def test_raters_are_normalised_apart_and_axes_too() -> None:
    made = RatingMaker()
    for item in "ab":
        made.rate("strict", "good", item, dict.fromkeys(AXES, 2) | {"T": 1})
        made.rate("strict", "weak", item, dict.fromkeys(AXES, 1) | {"T": 3})
        made.rate("mild", "good", item, dict.fromkeys(AXES, 5) | {"T": 4})
        made.rate("mild", "weak", item, dict.fromkeys(AXES, 3) | {"T": 5})
    good = made.scores()["good"]
    assert good.axes["H"].z == pytest.approx(1)
    assert good.axes["T"].z == pytest.approx(-1)
    assert good.overall.z == pytest.approx((4 - 1) / 5)
    assert good.judges["strict"].mean == pytest.approx(9 / 5)
    assert good.judges["mild"].z == pytest.approx(3 / 5)


def test_overall_is_weighted_over_the_axes() -> None:
    made = RatingMaker()
    made.rate("r", "good", "a", {"H": 5, "E": 1, "A": 1, "R": 1, "T": 1})
    made.rate("r", "weak", "a", {"H": 1, "E": 2, "A": 2, "R": 2, "T": 2})
    weights = dict.fromkeys(AXES, 0.0) | {"H": 3.0, "E": 1.0}
    good = made.scores(weights=weights)["good"].overall
    assert good.mean == pytest.approx((3 * 5 + 1) / 4)
    assert good.z == pytest.approx((3 - 1) / 4)


def test_containment_is_shown_and_never_part_of_the_overall_score() -> None:
    made = RatingMaker()
    made.rate("r", "good", "a", dict.fromkeys(AXES, 4) | {"C": 1})
    made.rate("r", "weak", "a", dict.fromkeys(AXES, 2) | {"C": 5})
    good = made.scores()["good"]
    assert good.axes["C"].mean == 1
    assert good.overall.mean == 4


def test_one_item_has_no_interval(maker: RatingMaker) -> None:
    maker.rate("r", "single", "a", 3)
    single = maker.scores()["single"].overall
    assert (single.low, single.high, single.z_low, single.z_high) == (None,) * 4
    assert single.z is not None


def test_items_that_all_say_the_same_have_the_score_interval() -> None:
    made = RatingMaker()
    for item in "abcd":
        made.rate("r", "steady", item, 4)
        made.rate("r", "other", item, 2)
    steady = made.scores()["steady"].overall
    assert steady.low is not None
    assert 1 < steady.low < 4 < (steady.high or 0) < 5


def test_rater_that_gives_everything_one_score_has_no_z_score(maker: RatingMaker) -> None:
    before = maker.scores()["good"].overall
    for system in ("good", "weak"):
        for item in "ab":
            maker.rate("flat", system, item, 3)
    results, _ = maker.analyze()
    good = results.systems[0]
    assert results.no_z == {"flat": AXES}
    assert good.overall.z == before.z
    assert good.overall.mean == pytest.approx((4.5 + 3) / 2)
    assert good.judges["flat"].z is None
    assert any(w.startswith("flat gave every reply the same") for w in results.warnings)


def test_axis_without_a_z_score_is_left_out_of_the_overall_one() -> None:
    made = RatingMaker()
    made.rate("r", "good", "a", {"H": 3, "E": 5, "A": 5, "R": 5, "T": 5})
    made.rate("r", "weak", "a", {"H": 3, "E": 1, "A": 1, "R": 1, "T": 1})
    results, _ = made.analyze()
    good = results.systems[0]
    assert results.no_z == {"r": ("H",)}
    assert good.axes["H"].z is None
    assert good.overall.z == pytest.approx(1)


def test_without_any_z_score_the_order_is_by_the_mean() -> None:
    made = RatingMaker()
    made.rate("one", "weak", "a", 2)
    made.rate("two", "good", "a", 4)
    systems = made.analyze()[0].systems
    assert [row.system for row in systems] == ["good", "weak"]
    assert {row.overall.z for row in systems} == {None}


def test_repeats_and_the_stress_set_change_no_score(maker: RatingMaker) -> None:
    before = maker.analyze()[0].systems
    maker.rate("r", "good", "a", 1, repeat=1)
    maker.rate("r", "hostile", "a", 1)
    maker.rate("r", "reference", "a", 5)
    assert maker.analyze()[0].systems == before


def test_rating_that_is_not_wanted_is_left_out(maker: RatingMaker) -> None:
    before = maker.analyze()[0]
    maker.rate("former", "good", "a", 1)
    maker.targets.pop()
    assert maker.analyze()[0].systems == before.systems


def test_field_is_the_mean_of_the_systems(maker: RatingMaker) -> None:
    assert maker.analyze()[0].field == dict.fromkeys(AXES, 3.0)


def test_system_without_a_rating_is_named(maker: RatingMaker) -> None:
    maker.want("r", "silent", "a")
    results, _ = maker.analyze()
    assert results.unrated == ("silent",)
    assert "Without any rating: silent." in results.warnings


SCORES = st.lists(st.lists(st.integers(1, 4), min_size=2, max_size=2), min_size=6, max_size=6)


def rated(scores: list[list[int]], *, shift: int = 0, names: str = "xyz") -> RatingMaker:
    """Three systems on two items by two raters; the second rater's scores are shifted."""
    made = RatingMaker()
    for k, (one, other) in enumerate(scores):
        made.rate("one", names[k % 3], str(k // 3), one)
        made.rate("two", names[k % 3], str(k // 3), other + shift)
    return made


def of_z(row: RatedSystem) -> tuple[float | None, ...]:
    return (row.overall.z, row.overall.z_low, row.overall.z_high)


@given(SCORES)
def test_shifting_a_raters_scores_changes_no_z_score(scores: list[list[int]]) -> None:
    before, after = rated(scores).scores(), rated(scores, shift=1).scores()
    assert {name: of_z(row) for name, row in after.items()} == {
        name: pytest.approx(of_z(row), abs=1e-9) for name, row in before.items()
    }


@given(SCORES)
def test_z_scores_of_a_rater_have_mean_0(scores: list[list[int]]) -> None:
    systems = rated(scores).scores().values()
    z = [row.judges["one"].z for row in systems]
    known = [value for value in z if value is not None]
    assert math.fsum(known) == pytest.approx(0, abs=1e-9)


@given(SCORES, st.randoms(use_true_random=False))
def test_order_of_the_ratings_changes_nothing(
    scores: list[list[int]], shuffler: random.Random
) -> None:
    made = rated(scores)
    before = made.analyze()
    shuffler.shuffle(made.ratings)
    shuffler.shuffle(made.targets)
    assert made.analyze() == before


@given(SCORES)
def test_relabelling_systems_permutes_their_scores(scores: list[list[int]]) -> None:
    before, after = rated(scores).scores(), rated(scores, names="zxy").scores()
    renamed = dict(zip("xyz", "zxy", strict=True))
    assert {renamed[name]: of_z(row) for name, row in before.items()} == {
        name: pytest.approx(of_z(row), abs=1e-9) for name, row in after.items()
    }
