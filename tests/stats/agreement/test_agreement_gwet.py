"""Gwet's AC1 and AC2: by hand, published, against plain loops over pairs, properties."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rating_tables import KRIPPENDORFF_C, NAN, random_ratings, rating_table

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.bootstrap import estimate
from hearteval.stats.agreement.kappas import gwet_ac1, gwet_ac2
from hearteval.stats.agreement.table import Level
from hearteval.stats.comparisons import FloatArray

WEIGHTED: tuple[Level, ...] = ("ordinal", "interval", "ratio")


def loop_over_pairs(wide: FloatArray, weights: FloatArray) -> float:
    """Compute AC2 as its definition reads, one pair of ratings after the other."""
    values = np.unique(wide[~np.isnan(wide)])
    q = len(values)
    agreements, shares = [], []
    for row in wide:
        given = [int(np.searchsorted(values, cell)) for cell in row if not np.isnan(cell)]
        pairs = list(itertools.permutations(given, 2))
        if pairs:
            agreements.append(np.mean([weights[pair] for pair in pairs]))
        if given:
            shares.append([given.count(k) / len(given) for k in range(q)])
    pi = np.mean(shares, axis=0)
    chance = weights.sum() / (q * (q - 1)) * float((pi * (1 - pi)).sum())
    return float((np.mean(agreements) - chance) / (1 - chance))


def test_ac1_by_hand() -> None:
    # p_a = 1/2; pi = (3/4, 1/4); p_e = 2 x 3/16 = 3/8; AC1 = (4 - 3) / (8 - 3).
    table = rating_table([(1, 1), (1, 2)])
    assert estimate(gwet_ac1(table), table) == pytest.approx(1 / 5)


def test_published_ac1() -> None:
    # irrCAC (Gwet), cac.raw4raters: 0.77544 with gaps; Gwet (2014), page 120.
    table = rating_table(KRIPPENDORFF_C)
    assert round(estimate(gwet_ac1(table), table), 5) == 0.77544


@pytest.mark.parametrize(
    ("level", "published"), [("ordinal", 0.899), ("interval", 0.914), ("ratio", 0.857)]
)
def test_published_ac2(level: Level, published: float) -> None:
    # The same data with ordinal, quadratic and ratio weights, as the Python irrCAC is tested on.
    table = rating_table(KRIPPENDORFF_C)
    assert round(estimate(gwet_ac2(table, level=level), table), 3) == published


def test_published_ac1_of_two_raters() -> None:
    # irrCAC, cont3x3abstractors: 0.8493305.
    square = ((13, 0, 0), (0, 20, 7), (0, 4, 56))
    wide = [(i, j) for i, row in enumerate(square) for j, n in enumerate(row) for _ in range(n)]
    table = rating_table(wide)
    assert round(estimate(gwet_ac1(table), table), 7) == 0.8493305


@pytest.mark.parametrize("seed", range(5))
def test_both_equal_a_loop_over_pairs(seed: int) -> None:
    wide = random_ratings(np.random.default_rng(seed), n_raters=4, gaps=0.3)
    table = rating_table(wide)
    x = np.array([1.0, 2.0, 4.0, 7.0])
    apart, together = x[:, np.newaxis] - x, x[:, np.newaxis] + x
    weights = {
        "nominal": np.eye(4),
        "ordinal": 1 - np.array([[0, 1, 3, 6], [1, 0, 1, 3], [3, 1, 0, 1], [6, 3, 1, 0]]) / 6,
        "interval": 1 - (apart / 6) ** 2,
        "ratio": 1 - (apart / together) ** 2 / (6 / 8) ** 2,
    }
    found = [
        estimate(gwet_ac1(table), table),
        *(estimate(gwet_ac2(table, level=level), table) for level in WEIGHTED),
    ]
    expected = [loop_over_pairs(wide, each) for each in weights.values()]
    assert found == pytest.approx(expected, abs=1e-9)


def test_ac2_takes_a_zero_at_ratio_level() -> None:
    # Weights of 0 with 1 and with 2 are 0; of 1 with 2, 1 - 1/9.
    wide = np.array([(0, 0), (1, 2), (0, 1), (2, 2)], dtype=np.float64)
    table = rating_table(wide)
    weights = np.array([[1, 0, 0], [0, 1, 8 / 9], [0, 8 / 9, 1]])
    found = estimate(gwet_ac2(table, level="ratio"), table)
    assert found == pytest.approx(loop_over_pairs(wide, weights))


def test_ac2_needs_more_than_names() -> None:
    with pytest.raises(ValueError, match="nominal"):
        gwet_ac2(rating_table([(1, 1), (1, 2)]), level="nominal")


def test_ac1_refuses_one_category_and_one_unit() -> None:
    with pytest.raises(NotIdentifiedError, match="only one category"):
        gwet_ac1(rating_table([(1, 1), (1, 1)]))
    with pytest.raises(NotIdentifiedError, match="two units with two values each, not 1"):
        gwet_ac1(rating_table([(1, 2), (1, NAN)]))


@given(arrays(np.int64, (8, 3), elements=st.integers(0, 3)), st.permutations(range(4)))
def test_names_do_not_matter_to_ac1(wide: FloatArray, names: list[int]) -> None:
    wide[0], wide[1] = 0, 1
    before, after = rating_table(wide), rating_table(np.array(names)[wide])
    expected = estimate(gwet_ac1(before), before)
    assert estimate(gwet_ac1(after), after) == pytest.approx(expected, abs=1e-12)


@given(arrays(np.int64, 8, elements=st.integers(0, 3)), st.sampled_from(WEIGHTED))
def test_perfect_agreement_is_one(answers: FloatArray, level: Level) -> None:
    answers[0], answers[1] = 0, 1
    table = rating_table(np.stack((answers, answers), axis=1))
    assert estimate(gwet_ac1(table), table) == 1
    assert estimate(gwet_ac2(table, level=level), table) == 1
