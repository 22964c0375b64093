"""Percent agreement, Cohen's and Fleiss' kappa: by hand, published, by statsmodels, properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rating_tables import (
    FLEISS_1971,
    FLEISS_WIKIPEDIA,
    KRIPPENDORFF_C,
    NAN,
    from_counts,
    random_ratings,
    rating_table,
)
from statsmodels.stats import inter_rater

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.bootstrap import estimate
from hearteval.stats.agreement.kappas import (
    cohen_kappa,
    cohen_kappa_weighted,
    fleiss_kappa,
    percent_agreement,
)
from hearteval.stats.comparisons import FloatArray

SEEDS = range(5)
ABSTRACTORS = ((13, 0, 0), (0, 20, 7), (0, 4, 56))  # Gwet (2014), as printed by irrCAC


def two_raters(square: tuple[tuple[int, ...], ...]) -> FloatArray:
    return np.array(
        [(i, j) for i, row in enumerate(square) for j, n in enumerate(row) for _ in range(n)],
        dtype=np.float64,
    )


def test_percent_agreement_averages_units_of_any_size() -> None:
    # 1 of 3 pairs, 1 of 1, none of 1; the last unit has no pair.
    wide = [(1, 1, 2), (3, 3, NAN), (1, NAN, 2), (1, NAN, NAN)]
    table = rating_table(wide)
    assert estimate(percent_agreement(table), table) == pytest.approx((1 / 3 + 1 + 0) / 3)


def test_fleiss_kappa_by_hand() -> None:
    # p_a = 1/2; pi = (3/4, 1/4); p_e = 10/16; kappa = (8 - 10) / (16 - 10).
    table = rating_table([(1, 1), (1, 2)])
    assert estimate(fleiss_kappa(table), table) == pytest.approx(-1 / 3)


def test_cohen_kappa_by_hand() -> None:
    # 2 of 4 equal; p_1 = (1/2, 1/2), p_2 = (3/4, 1/4); p_e = 1/2.
    table = rating_table([(1, 1), (1, 1), (2, 1), (1, 2)])
    assert estimate(cohen_kappa(table), table) == pytest.approx(-1 / 3)


def test_weighted_kappas_by_hand() -> None:
    table = rating_table([(1, 1), (1, 2), (7, 2)])
    by_value = estimate(cohen_kappa_weighted(table, table.values), table)
    by_index = estimate(cohen_kappa_weighted(table, np.arange(3.0)), table)
    # First rater 1, 1, 7; second 1, 2, 2: differences squared 0 1 1 0 1 1 36 25 25, mean 10.
    assert by_value == pytest.approx(1 - (26 / 3) / 10)
    # Indices 0, 0, 2 and 0, 1, 1: 0 1 1 0 1 1 4 1 1, mean 10/9; observed (0 + 1 + 1) / 3.
    assert by_index == pytest.approx(1 - (2 / 3) / (10 / 9))


@pytest.mark.parametrize(("counts", "published"), [(FLEISS_1971, 0.430), (FLEISS_WIKIPEDIA, 0.210)])
def test_published_fleiss_kappa(counts: tuple[tuple[int, ...], ...], published: float) -> None:
    table = rating_table(from_counts(counts))
    assert round(estimate(fleiss_kappa(table), table), 3) == published


def test_published_values_with_gaps() -> None:
    # irrCAC (Gwet), cac.raw4raters: percent agreement 0.8181818, Fleiss' kappa 0.76117.
    table = rating_table(KRIPPENDORFF_C)
    assert round(estimate(percent_agreement(table), table), 7) == 0.8181818
    assert round(estimate(fleiss_kappa(table), table), 5) == 0.76117


def test_published_cohen_kappa() -> None:
    # irrCAC, cont3x3abstractors: kappa 0.7964094, with quadratic weights 0.892.
    table = rating_table(two_raters(ABSTRACTORS))
    assert round(estimate(cohen_kappa(table), table), 7) == 0.7964094
    assert round(estimate(cohen_kappa_weighted(table, table.values), table), 3) == 0.892


def test_papers_kappa_follows_from_its_ties_and_raw_agreement() -> None:
    # SPEC 14: with 17.4 % ties, the rest even, chance agreement is .371; at 79.5 % kappa is .674.
    square = ((347, 30, 36), (29, 347, 37), (37, 36, 101))
    table = rating_table(two_raters(square))
    assert estimate(percent_agreement(table), table) == pytest.approx(0.795)
    chance = 0.413**2 + 0.413**2 + 0.174**2
    assert round(chance, 3) == 0.371
    assert round(estimate(fleiss_kappa(table), table), 3) == 0.674


@pytest.mark.parametrize("seed", SEEDS)
def test_cohen_kappas_equal_statsmodels(seed: int) -> None:
    wide = random_ratings(np.random.default_rng(seed), n_raters=2, gaps=0.1)
    table = rating_table(wide)
    both = wide[~np.isnan(wide).any(axis=1)]
    square, _ = inter_rater.to_table(np.searchsorted(table.values, both), bins=4)
    expected = [
        inter_rater.cohens_kappa(square, return_results=False),
        inter_rater.cohens_kappa(square, table.values, return_results=False, wt="quadratic"),
        inter_rater.cohens_kappa(square, return_results=False, wt="quadratic"),
    ]
    found = [
        estimate(cohen_kappa(table), table),
        estimate(cohen_kappa_weighted(table, table.values), table),
        estimate(cohen_kappa_weighted(table, np.arange(4.0)), table),
    ]
    assert found == pytest.approx(expected, abs=1e-6)
    assert abs(found[1] - found[2]) > 1e-3


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss_kappa_equals_statsmodels(seed: int) -> None:
    wide = random_ratings(np.random.default_rng(seed), n_raters=5, gaps=0)
    table = rating_table(wide)
    counts, _ = inter_rater.aggregate_raters(wide)
    expected = inter_rater.fleiss_kappa(counts)
    assert estimate(fleiss_kappa(table), table) == pytest.approx(expected, abs=1e-6)


def test_cohen_kappa_refuses_three_raters() -> None:
    with pytest.raises(NotIdentifiedError, match="exactly two raters, not 3"):
        cohen_kappa(rating_table([(1, 1, 2), (2, 2, 1)]))


def test_cohen_kappa_is_undefined_where_both_always_give_one_answer() -> None:
    table = rating_table([(1, 1), (1, 1), (2, NAN)])
    with pytest.raises(NotIdentifiedError, match="only one category"):
        estimate(cohen_kappa(table), table)


def test_fleiss_kappa_refuses_one_category_and_one_unit() -> None:
    with pytest.raises(NotIdentifiedError, match="only one category"):
        fleiss_kappa(rating_table([(1, 1), (1, 1)]))
    with pytest.raises(NotIdentifiedError, match="two units with two values each, not 1"):
        fleiss_kappa(rating_table([(1, 2), (1, NAN)]))


def test_percent_agreement_needs_a_pair() -> None:
    with pytest.raises(NotIdentifiedError, match="no unit has two values"):
        percent_agreement(rating_table([(1, NAN), (NAN, 2)]))


@given(arrays(np.int64, (8, 3), elements=st.integers(0, 3)), st.permutations(range(4)))
def test_names_of_categories_do_not_matter(wide: FloatArray, names: list[int]) -> None:
    wide[0], wide[1] = 0, 1
    before, after = rating_table(wide), rating_table(np.array(names)[wide])
    for measure in (percent_agreement, fleiss_kappa):
        expected = estimate(measure(before), before)
        assert estimate(measure(after), after) == pytest.approx(expected, abs=1e-12)


@given(arrays(np.int64, (8, 2), elements=st.integers(0, 3)))
def test_raters_may_swap(wide: FloatArray) -> None:
    wide[0], wide[1] = 0, 1
    before, after = rating_table(wide), rating_table(wide[:, ::-1])
    for measure in (percent_agreement, fleiss_kappa, cohen_kappa):
        expected = estimate(measure(before), before)
        assert estimate(measure(after), after) == pytest.approx(expected, abs=1e-12)


@given(arrays(np.int64, 8, elements=st.integers(0, 3)))
def test_perfect_agreement_is_one(answers: FloatArray) -> None:
    answers[0], answers[1] = 0, 1
    table = rating_table(np.stack((answers, answers), axis=1))
    scale = table.values
    for coefficient in (
        percent_agreement(table),
        fleiss_kappa(table),
        cohen_kappa(table),
        cohen_kappa_weighted(table, scale),
    ):
        assert estimate(coefficient, table) == 1
