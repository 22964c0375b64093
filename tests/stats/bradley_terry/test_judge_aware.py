"""Hand-computed cases, an independent fit, properties, errors and coverage of judge-aware fits."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from made_comparisons import made_comparisons
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, log_expit
from scipy.stats import t as student

from hearteval.errors import NotIdentifiedError
from hearteval.stats import comparisons as comparison_arrays
from hearteval.stats.bradley_terry import judge_aware
from hearteval.stats.bradley_terry.covariates import fit_with_covariates
from hearteval.stats.bradley_terry.fit import fit_bradley_terry
from hearteval.stats.bradley_terry.judge_aware import JudgeAwareFit, fit_judge_aware, influence
from hearteval.stats.comparisons import Comparisons, FloatArray

Row = tuple[int, int, int, float, float]


def rows_of(rows: list[Row], n_systems: int) -> Comparisons:
    """Comparisons from (judge, left, right, score, weight)."""
    judge, left, right, score, weight = zip(*rows, strict=True)
    item = np.arange(len(rows)) % 7
    return made_comparisons(
        left, right, score, weight=weight, item=item, rater=judge, n_systems=n_systems
    )


def exact_rows(theta: FloatArray, a: FloatArray, b: FloatArray) -> Comparisons:
    """Every judge on every pair both ways, weighted by the chance of each outcome."""
    rows: list[Row] = []
    for judge in range(len(a)):
        for left in range(len(theta)):
            for right in range(len(theta)):
                if left != right:
                    chance = float(expit(a[judge] * (theta[left] - theta[right]) + b[judge]))
                    rows.append((judge, left, right, 1.0, 100 * chance))
                    rows.append((judge, left, right, 0.0, 100 * (1 - chance)))
    return rows_of(rows, len(theta))


def draw_comparisons(
    seed: int, theta: FloatArray, a: FloatArray, b: FloatArray, *, n_rows: int
) -> Comparisons:
    rng = np.random.default_rng(seed)
    left = rng.integers(0, len(theta), n_rows)
    right = (left + rng.integers(1, len(theta), n_rows)) % len(theta)
    judge = rng.integers(0, len(a), n_rows)
    score = rng.random(n_rows) < expit(a[judge] * (theta[left] - theta[right]) + b[judge])
    weight = rng.integers(1, 6, n_rows)
    rows = list(zip(judge, left, right, score, weight, strict=True))
    comparisons = rows_of(rows, len(theta))
    tied = np.where(rng.random(n_rows) < 0.1, 0.5, comparisons.score)
    return replace(comparisons, score=tied, item=rng.integers(0, 60, n_rows))


def panel(seed: int = 0, *, n_rows: int = 2000) -> Comparisons:
    return draw_comparisons(
        seed,
        np.array([-1.0, -0.2, 0.3, 0.9]),
        np.array([0.5, 1.8, -0.4]),
        np.array([0.4, -0.3, 0.0]),
        n_rows=n_rows,
    )


def parameters(fit: JudgeAwareFit) -> FloatArray:
    return np.concatenate((fit.theta, fit.discrimination, fit.position_bias))


def log_likelihood(comparisons: Comparisons, values: FloatArray, n_judges: int) -> float:
    theta, a, b = np.split(values, [comparisons.n_systems, comparisons.n_systems + n_judges])
    left, right, judge = comparisons.left, comparisons.right, comparisons.rater
    eta = a[judge] * (theta[left] - theta[right]) + b[judge]
    score, weight = comparisons.score, comparisons.total_weight
    return float((weight * (score * log_expit(eta) + (1 - score) * log_expit(-eta))).sum())


def gradient_of(comparisons: Comparisons, values: FloatArray, n_judges: int) -> FloatArray:
    n = comparisons.n_systems
    theta, a, b = np.split(values, [n, n + n_judges])
    left, right, judge = comparisons.left, comparisons.right, comparisons.rater
    difference = theta[left] - theta[right]
    chance = expit(a[judge] * difference + b[judge])
    residual = comparisons.total_weight * (comparisons.score - chance)
    gradient = np.zeros(n + 2 * n_judges)
    np.add.at(gradient, left, a[judge] * residual)
    np.add.at(gradient, right, -a[judge] * residual)
    np.add.at(gradient, n + judge, difference * residual)
    np.add.at(gradient, n + n_judges + judge, residual)
    return gradient


# -- by hand


def test_two_systems_have_each_judges_half_sum_and_half_difference_of_log_odds() -> None:
    cells = ((0, 0, 1, 8, 2), (0, 1, 0, 6, 4), (1, 0, 1, 9, 3), (1, 1, 0, 3, 6))
    rows = [
        (judge, left, right, score, float(count))
        for judge, left, right, won, lost in cells
        for score, count in ((1.0, won), (0.0, lost))
    ]

    fit = fit_judge_aware(rows_of(rows, 2))

    first, second = math.log(8 / 2), math.log(6 / 4)
    third, fourth = math.log(9 / 3), math.log(3 / 6)
    product = np.array([(first - second) / 2, (third - fourth) / 2])
    bias = [(first + second) / 2, (third + fourth) / 2]
    np.testing.assert_allclose(fit.theta, [product.mean() / 2, -product.mean() / 2], atol=1e-9)
    np.testing.assert_allclose(fit.discrimination, product / product.mean(), atol=1e-9)
    np.testing.assert_allclose(fit.position_bias, bias, atol=1e-9)


def test_parameters_behind_exact_chances_are_found() -> None:
    theta, a, b = np.array([1.2, -0.4, -0.8]), np.array([1.5, 2.2, -0.7]), np.array([0.5, 0, -1])

    fit = fit_judge_aware(exact_rows(theta, a, b))

    np.testing.assert_allclose(fit.theta, theta, atol=1e-8)
    np.testing.assert_allclose(fit.discrimination, a, atol=1e-8)
    np.testing.assert_allclose(fit.position_bias, b, atol=1e-8)


def test_judges_who_are_all_alike_give_the_plain_strengths() -> None:
    comparisons = exact_rows(np.array([0.9, 0.1, -1.0]), np.ones(3), np.zeros(3))

    fit = fit_judge_aware(comparisons)

    np.testing.assert_allclose(fit.theta, fit_bradley_terry(comparisons).theta, atol=1e-8)
    np.testing.assert_allclose(fit.discrimination, np.ones(3), atol=1e-8)
    np.testing.assert_allclose(fit.position_bias, np.zeros(3), atol=1e-8)


def test_judges_alike_in_favouring_a_side_give_the_fit_with_a_position_effect() -> None:
    theta = np.array([0.9, 0.1, -1.0])
    comparisons = exact_rows(theta, np.ones(3), np.ones(3))

    fit = fit_judge_aware(comparisons)

    np.testing.assert_allclose(fit.theta, theta, atol=1e-8)
    assert np.ptp(fit_bradley_terry(comparisons).theta) < 0.9 * np.ptp(theta)


def test_one_judge_gives_the_fit_with_a_position_effect() -> None:
    comparisons = replace(panel(), rater=np.zeros(2000, dtype=np.int64))
    ones = np.ones((2000, 1))
    plain = fit_with_covariates(comparisons, ones)

    fit = fit_judge_aware(comparisons)

    np.testing.assert_allclose(fit.theta, plain.theta, atol=1e-9)
    np.testing.assert_allclose(fit.position_bias, plain.beta, atol=1e-9)
    assert fit.discrimination.tolist() == [1.0]


def test_one_judge_who_ties_everything_leaves_all_strengths_equal() -> None:
    fit = fit_judge_aware(rows_of([(0, 0, 1, 0.5, 1.0), (0, 1, 0, 0.5, 1.0)], 2))

    np.testing.assert_allclose(parameters(fit), [0, 0, 1, 0], atol=1e-12)


def test_a_judge_who_prefers_the_weaker_has_a_negative_discrimination() -> None:
    fit = fit_judge_aware(panel())

    assert fit.discrimination[2] < 0 < fit.discrimination[0] < fit.discrimination[1]


# -- independent


def test_an_independent_optimiser_finds_no_higher_and_the_same_maximum() -> None:
    comparisons = panel(n_rows=600)
    fit = fit_judge_aware(comparisons)
    rng = np.random.default_rng(1)

    def expand(free: FloatArray) -> FloatArray:
        theta, a, b = np.split(free, [3, 5])
        return np.concatenate((theta, [-theta.sum()], a, [3 - a.sum()], b))

    jacobian = np.stack([expand(unit) - expand(np.zeros(8)) for unit in np.eye(8)])

    def objective(free: FloatArray) -> tuple[float, FloatArray]:
        at = expand(free)
        return -log_likelihood(comparisons, at, 3), -jacobian @ gradient_of(comparisons, at, 3)

    starts = rng.normal(0.5, 1, (6, 8))
    results = [
        minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})
        for start in starts
    ]
    best = min(results, key=lambda result: float(result.fun))

    np.testing.assert_allclose(parameters(fit), expand(best.x), atol=1e-6)
    assert log_likelihood(comparisons, parameters(fit), 3) >= -best.fun - 1e-9


def test_the_gradient_of_these_tests_is_that_of_their_log_likelihood() -> None:
    comparisons, at = panel(n_rows=600), np.random.default_rng(3).normal(0, 1, 10)

    expected = approx_fprime(at, partial(log_likelihood, comparisons, n_judges=3), 1e-7)

    np.testing.assert_allclose(gradient_of(comparisons, at, 3), expected, rtol=1e-4, atol=1e-3)


def test_gradient_is_0_at_the_fit() -> None:
    comparisons = panel(n_rows=600)

    gradient = gradient_of(comparisons, parameters(fit_judge_aware(comparisons)), 3)

    np.testing.assert_allclose(gradient, np.zeros(10), atol=1e-8)


def test_information_is_the_negative_second_derivative() -> None:
    comparisons, step = panel(n_rows=600), 1e-5
    fit = fit_judge_aware(comparisons)

    at = parameters(fit)
    second = [
        gradient_of(comparisons, at + step * unit, 3)
        - gradient_of(comparisons, at - step * unit, 3)
        for unit in np.eye(10)
    ]

    np.testing.assert_allclose(-np.array(second) / (2 * step), fit.information, atol=1e-5)


def test_influence_is_what_a_little_more_of_a_cluster_moves() -> None:
    comparisons, part = panel(n_rows=600), 1e-5
    is_third = comparisons.item == 2
    more = replace(comparisons, weight=comparisons.weight * np.where(is_third, 1 + part, 1))
    less = replace(comparisons, weight=comparisons.weight * np.where(is_third, 1 - part, 1))

    moves = influence(comparisons, fit_judge_aware(comparisons), comparisons.item)

    change = parameters(fit_judge_aware(more)) - parameters(fit_judge_aware(less))
    np.testing.assert_allclose(moves[2], change / (2 * part), atol=1e-6)


def test_influence_keeps_the_means_and_follows_ascending_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    comparisons = panel(n_rows=600)
    fit = fit_judge_aware(comparisons)

    moves = influence(comparisons, fit, comparisons.item)

    assert moves.shape == (60, 10)
    np.testing.assert_allclose(moves.sum(axis=0), np.zeros(10), atol=1e-9)
    np.testing.assert_allclose(moves[:, :4].sum(axis=1), np.zeros(60), atol=1e-12)
    np.testing.assert_allclose(moves[:, 4:7].sum(axis=1), np.zeros(60), atol=1e-12)
    assert influence(comparisons, fit, comparisons.item * 10 - 7).tolist() == moves.tolist()
    monkeypatch.setattr(comparison_arrays, "LABEL_ROWS", 25)
    assert influence(comparisons, fit, comparisons.item).tolist() == moves.tolist()


# -- what is not determined


def error_of(comparisons: Comparisons) -> NotIdentifiedError:
    with pytest.raises(NotIdentifiedError) as caught:
        fit_judge_aware(comparisons)
    return caught.value


def with_judge(extra: list[tuple[int, int, float]]) -> Comparisons:
    """A well-determined panel of judges 0 and 1, and a judge 2 with (left, right, score)."""
    rows = exact_rows(np.array([0.8, 0.0, -0.8]), np.array([0.9, 1.1]), np.array([0.2, 0.0]))
    columns = (rows.rater, rows.left, rows.right, rows.score, rows.weight)
    added = ((2, left, right, score, 1.0) for left, right, score in extra)
    return rows_of([*zip(*columns, strict=True), *added], 3)


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 1, 1.0), (1, 0, 1.0), (0, 2, 1.0), (2, 1, 1.0)],  # always one side
        [(0, 1, 1.0), (0, 1, 0.0), (0, 1, 1.0)],  # one pair one way round
        [(i, j, float(i < j)) for i in range(3) for j in range(3) if i != j],  # always in order
        [(0, 2, 1.0), (1, 2, 0.0)],  # one comparison either way
    ],
)
def test_judge_who_is_not_determined_is_named(rows: list[tuple[int, int, float]]) -> None:
    error = error_of(with_judge(rows))

    assert error.ids == ("2",)
    assert "judges [2] are not determined" in str(error)


def test_judge_without_a_comparison_is_named() -> None:
    comparisons = with_judge([(0, 1, 0.5)])

    assert error_of(replace(comparisons, rater=comparisons.rater * 2)).ids == ("1", "3")


@pytest.mark.parametrize(("theta", "discrimination"), [((0, 0, 0), (1, 1)), ((1, 0, -1), (1, -1))])
def test_equal_systems_or_opposed_judges_leave_no_maximum_to_start_from(
    theta: tuple[float, ...], discrimination: tuple[float, ...]
) -> None:
    comparisons = exact_rows(np.array(theta), np.array(discrimination), np.zeros(2))

    assert error_of(comparisons).ids == ("0", "1")


def test_discriminations_that_cancel_out_have_no_average_judge() -> None:
    comparisons = exact_rows(np.array([1.0, 0.0, -1.0]), np.array([1.0, -1.0]), np.zeros(2))
    once = comparisons.rater == 0
    weight = np.where(once, 2.0, 1.0) * comparisons.weight

    error = error_of(replace(comparisons, weight=weight))

    assert error.ids == ("0", "1")
    assert "cancel out" in str(error)


def test_position_that_cannot_be_told_from_systems_names_all_judges() -> None:
    rows = [(k, 0, right, score, 1.0) for k in (0, 1) for right in (1, 2) for score in (0.0, 1.0)]

    error = error_of(rows_of(rows, 3))

    assert error.ids == ("0", "1")
    assert "show pairs both ways" in str(error)


def test_systems_that_are_apart_are_named_as_in_the_plain_fit() -> None:
    rows = [(0, 0, 1, 0.5, 1.0), (0, 2, 3, 0.5, 1.0)]

    assert error_of(rows_of(rows, 4)).components == ((0, 1), (2, 3))


def test_fit_that_still_moves_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_aware, "MAX_ITERATIONS", 1)

    assert "still moves after 1 steps" in str(error_of(panel()))


def test_a_rater_below_0_is_a_mistake_of_the_caller() -> None:
    comparisons = panel(n_rows=50)
    rater = comparisons.rater.copy()
    rater[3] = -1

    with pytest.raises(ValueError, match="row 3 has a rater below 0"):
        fit_judge_aware(replace(comparisons, rater=rater))


# -- simulation


def draw_study(rng: np.random.Generator, n_items: int, *, n_pairs: int) -> Comparisons:
    """Draw items on which strengths differ and the same three judges see each pair both ways."""
    theta, a = np.linspace(-0.8, 0.8, 5), np.array([0.6, 0.9, 1.5])
    b = np.array([0.5, 0.0, -0.2])
    item = np.repeat(np.arange(n_items), n_pairs)
    left = rng.integers(0, 5, len(item))
    right = (left + rng.integers(1, 5, len(item))) % 5
    strength = theta + rng.normal(0, 0.6, (n_items, 5))
    difference = np.tile(strength[item, left] - strength[item, right], 6)
    judge, is_turned = np.repeat((0, 1, 2, 0, 1, 2), len(item)), np.arange(len(difference)) % 2 == 1
    eta = a[judge] * np.where(is_turned, -difference, difference) + b[judge]
    left, right = np.tile(left, 6), np.tile(right, 6)
    score = (rng.random(len(eta)) < expit(eta)).astype(np.float64)
    left, right = np.where(is_turned, right, left), np.where(is_turned, left, right)
    return made_comparisons(left, right, score, item=np.tile(item, 6), rater=judge)


def test_intervals_over_100_items_cover_strengths_discriminations_and_biases() -> None:
    rng = np.random.default_rng(22)
    true = parameters(fit_judge_aware(draw_study(rng, 20_000, n_pairs=4)))
    covered = []
    for _ in range(150):
        comparisons = draw_study(rng, 100, n_pairs=4)
        fit = fit_judge_aware(comparisons)
        moves = influence(comparisons, fit, comparisons.item)
        standard_error = np.sqrt((moves**2).sum(axis=0) * 100 / 99)
        half = student.ppf(0.975, 99) * standard_error
        covered.append(np.abs(parameters(fit) - true) <= half)

    assert 0.92 <= np.mean(covered) <= 0.98
