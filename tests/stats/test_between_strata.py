"""Vectors between strata: the F of an analysis of variance, and the right rate at no difference."""

import numpy as np
import pytest
from scipy.stats import f_oneway

from hearteval.stats.between_strata import permutation_test, two_way_test
from hearteval.stats.comparisons import FloatArray, IntArray

N_SIMULATIONS = 200


def invented_influence(
    rng: np.random.Generator, sizes: tuple[int, ...], spreads: tuple[float, ...]
) -> tuple[FloatArray, IntArray]:
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    drawn = rng.standard_t(5, (len(stratum), 6)) * np.array(spreads)[stratum][:, None]
    return drawn - drawn.mean(axis=1, keepdims=True), stratum


def test_one_column_and_equal_strata_give_the_f_of_an_analysis_of_variance() -> None:
    rng = np.random.default_rng(2)
    values, stratum = rng.standard_normal((30, 1)), np.repeat(np.arange(3), 10)
    expected = f_oneway(*(values[stratum == k, 0] for k in range(3)))
    statistic, p = permutation_test(values, stratum, seed=1, n_permutations=4_999)
    assert statistic == pytest.approx(float(expected.statistic))
    assert p == pytest.approx(float(expected.pvalue), abs=0.02)


@pytest.mark.parametrize(
    ("sizes", "spreads"), [((60, 12), (1.0, 1.0)), ((60, 12), (1.0, 2.0)), ((20, 10, 5), (1, 1, 1))]
)
def test_permuting_finds_no_difference_where_there_is_none(
    sizes: tuple[int, ...], spreads: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(4)
    p = [
        permutation_test(*invented_influence(rng, sizes, spreads), seed=k, n_permutations=99)[1]
        for k in range(N_SIMULATIONS)
    ]
    # A binomial of 200 at .05 lies between 4 and 18 in 99 %.
    assert 4 <= sum(one <= 0.05 for one in p) <= 18


def test_people_who_differ_are_no_difference_between_strata() -> None:
    rng, n_people, sizes = np.random.default_rng(6), 8, (60, 20)
    stratum = np.repeat(np.arange(2), sizes)
    item = np.repeat(np.arange(len(stratum)), 4)

    def p_value() -> float:
        rater = np.concatenate([rng.choice(n_people, 4, replace=False) for _ in stratum])
        tastes = rng.standard_normal((n_people, 2, 5)) * 0.4
        parts = rng.standard_normal((len(stratum), 5))[item] * 0.6
        parts = parts + tastes[rater, stratum[item]] + rng.standard_normal((len(item), 5))
        parts = parts / 4
        return two_way_test(parts - parts.mean(axis=0), item, rater, stratum)[1]

    assert 4 <= sum(p_value() <= 0.05 for _ in range(N_SIMULATIONS)) <= 20


def test_two_people_who_judged_all_of_a_stratum_are_no_difference_either() -> None:
    """Two of 12 judged the one stratum, the ten others the other."""
    rng, stratum = np.random.default_rng(7), np.repeat(np.arange(2), (20, 10))
    item = np.repeat(np.arange(30), 2)

    def p_value() -> float:
        rater = np.concatenate([rng.choice(2 if k else 10, 2, replace=False) for k in stratum])
        rater += np.where(stratum[item] == 1, 0, 2)
        parts = rng.standard_normal((30, 4))[item] * 0.6 + rng.standard_normal((60, 4))
        parts = parts + (rng.standard_normal((12, 4)) * 0.8)[rater]
        return two_way_test(parts - parts.mean(axis=0), item, rater, stratum)[1]

    assert sum(p_value() <= 0.05 for _ in range(N_SIMULATIONS)) <= 18


def test_where_nothing_varies_nothing_differs() -> None:
    stratum, item, rater = (
        np.repeat(np.arange(2), 5),
        np.repeat(np.arange(10), 5),
        np.arange(50) % 5,
    )
    assert two_way_test(np.zeros((50, 3)), item, rater, stratum) == (0.0, 1.0)
    assert permutation_test(np.zeros((10, 3)), stratum, seed=1, n_permutations=9) == (0.0, 1.0)
