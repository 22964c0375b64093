"""Krippendorff's alpha: by hand, published, by the package krippendorff, properties."""

import csv
from collections import defaultdict
from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rating_tables import KRIPPENDORFF_C, NAN, SHARED, random_ratings, rating_table

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.bootstrap import estimate
from hearteval.stats.agreement.krippendorff import krippendorff_alpha
from hearteval.stats.agreement.table import MAX_MATRIX_CATEGORIES, Level
from hearteval.stats.comparisons import FloatArray

LEVELS: tuple[Level, ...] = get_args(Level)
KUMAR = SHARED / "kumar2025" / "tidy_ratings.csv"


def alpha(wide: FloatArray | tuple[tuple[float, ...], ...], level: Level) -> float:
    table = rating_table(wide)
    return estimate(krippendorff_alpha(table, level=level), table)


def test_alpha_by_hand() -> None:
    # n = 4, three 1s and a 2: D_o = 2 of 4, D_e = 2 x 3 x 1 / (4 x 3) = 1/2.
    assert alpha(((1, 1), (1, 2)), "nominal") == pytest.approx(0)
    # Values 1, 1, 1, 3: squares 4 stand in both, so nothing changes.
    assert alpha(((1, 1), (1, 3)), "interval") == pytest.approx(0)


@pytest.mark.parametrize(
    ("level", "published"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_published_alpha_with_gaps(level: Level, published: float) -> None:
    assert round(alpha(KRIPPENDORFF_C, level), 3) == published


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(5))
def test_alpha_equals_the_package(level: Level, seed: int) -> None:
    wide = random_ratings(np.random.default_rng(seed), n_raters=4, gaps=0.3)
    expected = krippendorff.alpha(wide.T, level_of_measurement=level)
    assert alpha(wide, level) == pytest.approx(expected, abs=1e-6)


def test_alpha_at_ratio_level_takes_zeros() -> None:
    wide = np.array([(0, 0), (0, 1), (3, 2), (2, 2)], dtype=np.float64)
    # delta: (0 - 1)^2 / 1^2 = 1 and (3 - 2)^2 / 5^2 = 1/25; counts 3, 1, 3, 1 of 0, 1, 2, 3.
    expected = 3 * 1 + 3 * 3 + 3 * 1 + 1 * 3 / 9 + 1 / 4 + 3 * 1 / 25
    assert alpha(wide, "ratio") == pytest.approx(1 - 7 * (1 + 1 / 25) / expected)


@pytest.mark.skipif(not KUMAR.is_file(), reason="kumar2025 is not beside the checkout")
def test_experts_of_kumar_2025() -> None:
    units: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    with KUMAR.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["rater"].startswith("expert"):
                units[row["dimension"]][row["item"]][row["rater"]] = float(row["rating"])
    wide = {
        dimension: np.array([[given.get(f"expert{i}", NAN) for i in (1, 2, 3)] for given in items])
        for dimension, items in ((name, list(each.values())) for name, each in units.items())
    }
    found = {dimension: alpha(cells, "interval") for dimension, cells in wide.items()}
    expected = {
        dimension: krippendorff.alpha(cells.T, level_of_measurement="interval")
        for dimension, cells in wide.items()
    }
    assert len(found) == 21
    assert found == pytest.approx(expected, abs=1e-6)
    assert (round(found["empathy"], 3), round(found["m_practical"], 3)) == (0.529, 0.759)


def test_alpha_ignores_units_with_one_value() -> None:
    pairs = ((1, 2), (2, 2), (3, 3))
    assert alpha((*pairs, (7, NAN)), "interval") == alpha(pairs, "interval")


def test_alpha_refuses_one_category_and_one_unit() -> None:
    with pytest.raises(NotIdentifiedError, match="only one category"):
        alpha(((1, 1), (1, 1)), "nominal")
    with pytest.raises(NotIdentifiedError, match="two units with two values each, not 1"):
        alpha(((1, 2), (1, NAN)), "nominal")


def test_alpha_is_undefined_where_only_lone_values_differ() -> None:
    with pytest.raises(NotIdentifiedError, match="only one category"):
        alpha(((0.1, 0.1), (0.1, 0.1), (5, NAN)), "interval")


def test_alpha_at_ratio_level_refuses_a_huge_matrix() -> None:
    n = MAX_MATRIX_CATEGORIES + 1
    wide = np.stack((np.arange(n), np.arange(n)), axis=1).astype(np.float64)
    with pytest.raises(NotIdentifiedError, match=f"{n} of them"):
        alpha(wide, "ratio")
    assert alpha(wide, "interval") == 1


@given(arrays(np.int64, (8, 3), elements=st.integers(0, 3)), st.permutations(range(4)))
def test_names_do_not_matter_at_nominal_level(wide: FloatArray, names: list[int]) -> None:
    wide[0], wide[1] = 0, 1
    assert alpha(np.array(names)[wide], "nominal") == pytest.approx(
        alpha(wide, "nominal"), abs=1e-12
    )


@given(
    arrays(np.int64, (8, 3), elements=st.integers(0, 3)),
    st.permutations(range(3)),
    st.sampled_from(LEVELS),
)
def test_raters_may_change_places(wide: FloatArray, places: list[int], level: Level) -> None:
    wide[0], wide[1] = 0, 1
    assert alpha(wide[:, places], level) == alpha(wide, level)


@given(arrays(np.int64, 8, elements=st.integers(0, 3)), st.sampled_from(LEVELS))
def test_perfect_agreement_is_one(answers: FloatArray, level: Level) -> None:
    answers[0], answers[1] = 0, 1
    assert alpha(np.stack((answers, answers), axis=1), level) == 1
