"""Exact tests of one person's answers: by hand, beside scipy, and against draws."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from hearteval.stats.careless.habits import (
    MAD_TO_SD,
    chance_of_a_distance,
    chance_of_a_run,
    chance_of_a_side,
    chance_of_so_few,
    chance_of_so_many,
    exact_share,
    longest_run,
    robust_distance,
)


@pytest.mark.parametrize(("n_of", "n"), [(0, 7), (3, 7), (7, 7), (20, 31)])
def test_a_share_has_the_interval_of_scipy(n_of: int, n: int) -> None:
    exact = binomtest(n_of, n).proportion_ci(0.95, method="exact")
    assert exact_share(n_of, n, level=0.95) == pytest.approx((n_of / n, exact.low, exact.high))


@pytest.mark.parametrize(("n_of", "n"), [(3, 2), (-1, 4), (0, 0)])
def test_a_share_of_nothing_is_refused(n_of: int, n: int) -> None:
    with pytest.raises(ValueError, match="expected a share"):
        exact_share(n_of, n, level=0.95)


@pytest.mark.parametrize("n_of", [0, 1, 5, 12])
def test_tails_are_those_of_the_binomial(n_of: int) -> None:
    assert chance_of_so_many(n_of, 12, 0.3) == pytest.approx(binom.sf(n_of - 1, 12, 0.3))
    assert chance_of_so_few(n_of, 12, 0.3) == pytest.approx(binom.cdf(n_of, 12, 0.3))


@pytest.mark.parametrize(("n_first", "n"), [(10, 20), (15, 20), (5, 20), (0, 9), (9, 9)])
def test_a_side_is_tested_as_scipy_does(n_first: int, n: int) -> None:
    assert chance_of_a_side(n_first, n) == pytest.approx(binomtest(n_first, n).pvalue)


@pytest.mark.parametrize(
    ("answers", "longest"), [([], 0), ([2], 1), ([2, 2, -2, 0, 0, 0], 3), ([4, 4, 4], 3)]
)
def test_the_longest_run_is_counted(answers: list[int], longest: int) -> None:
    assert longest_run(np.array(answers, dtype=np.int64)) == longest


def test_a_run_of_all_by_hand() -> None:
    """One strength and no tie: four answers are all alike in 2 of 16 ways."""
    assert chance_of_a_run(np.full(4, 2)) == pytest.approx(2 / 16)
    assert chance_of_a_run(np.array([2, -2, 2, -2])) == 1


def test_a_run_in_answers_with_ties_by_hand() -> None:
    """Three answers, two of them ties: no two neighbours alike in 4 + 2 of 27 equal ways.

    With ties at 2/3 and either side at 1/6: T S T is (2/3)(1/3)(2/3); S T S, any sides, is
    (1/3)(2/3)(1/3); S -S T and its mirror are (1/3)(1/6)(2/3) each; S -S S is (1/3)(1/6)(1/6).
    """
    apart = 4 / 27 + 2 / 27 + 2 * (2 / 54) + 1 / 108
    assert chance_of_a_run(np.array([0, 0, 2])) == pytest.approx(1 - apart)


def test_the_chance_of_a_run_is_that_of_draws() -> None:
    rng = np.random.default_rng(2)
    answers = rng.permutation(np.repeat([0, 2, -2, 4, -4], [12, 10, 10, 4, 4]))
    sizes = np.abs(answers)
    longest = longest_run(answers)
    drawn = rng.choice(sizes, (20_000, 40)) * rng.choice([-1, 1], (20_000, 40))
    share = np.mean([longest_run(one) >= longest for one in drawn])
    assert chance_of_a_run(answers) == pytest.approx(share, abs=0.02)


def test_who_gives_one_answer_alone_has_no_habit_that_explains_it() -> None:
    assert chance_of_a_run(np.full(40, 4)) < 1e-9
    assert chance_of_a_run(np.zeros(40, dtype=np.int64)) < 1e-3


def test_distances_are_robust() -> None:
    others = np.array([1.0, 2.0, 3.0, 4.0, 1000.0])
    assert robust_distance(6.0, others) == pytest.approx(3 / (MAD_TO_SD * 1.0))
    assert robust_distance(6.0, np.array([2.0, 2.0, 2.0, 5.0])) is None
    assert robust_distance(6.0, np.array([])) is None


@pytest.mark.parametrize("n_others", [6, 14, 50])
def test_a_distance_of_one_like_the_others_is_as_rare_as_its_p_says(n_others: int) -> None:
    """Of 4,000 draws 1 % are 40, and 70 or more come once in 10,000; among few it is rarer."""
    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(4_000, n_others + 1))
    distances = [robust_distance(one[0], one[1:]) for one in drawn]
    p = [chance_of_a_distance(one, n_others) for one in distances if one is not None]
    assert 0 < sum(one < 0.01 for one in p) < 70
