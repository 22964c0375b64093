"""Hand-computed and published cases, statsmodels, properties, errors and coverage of the fit."""

import csv
import gzip
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from made_comparisons import ice_hockey, made_comparisons
from rating_tables import SHARED
from scipy.special import expit
from scipy.stats import t as student

from hearteval.errors import NotIdentifiedError
from hearteval.stats import comparisons as comparison_arrays
from hearteval.stats.bradley_terry import fit as newton_fit
from hearteval.stats.bradley_terry.covariates import (
    CovariateFit,
    fit_with_covariates,
    influence,
    relative_difference,
)
from hearteval.stats.bradley_terry.fit import fit_bradley_terry
from hearteval.stats.bradley_terry.lack_of_fit import find_lack_of_fit, find_residuals
from hearteval.stats.bradley_terry.ties import fit_ties
from hearteval.stats.comparisons import Comparisons, FloatArray

# Agresti, Categorical Data Analysis (home advantage in American League games of 1987): home team,
# away team, wins of each; 0 Baltimore, 1 Boston, 2 Cleveland, 3 Detroit, 4 Milwaukee, 5 New York,
# 6 Toronto.
BASEBALL = """
4 3 4 3  4 6 4 2  4 5 4 3  4 1 6 1  4 2 4 2  4 0 6 0
3 4 3 3  3 6 4 2  3 5 4 3  3 1 6 0  3 2 6 1  3 0 4 3
6 4 2 5  6 3 4 3  6 5 2 4  6 1 4 3  6 2 4 2  6 0 6 0
5 4 3 3  5 3 5 1  5 6 2 5  5 1 4 3  5 2 4 2  5 0 6 1
1 4 5 1  1 3 2 5  1 6 3 3  1 5 4 2  1 2 5 2  1 0 6 0
2 4 2 5  2 3 3 3  2 6 3 4  2 5 4 3  2 1 4 2  2 0 2 4
0 4 2 5  0 3 1 5  0 6 1 6  0 5 2 4  0 1 1 6  0 2 3 4
"""
# Agresti (2002), table 10.11: strengths against Baltimore without a home advantage (column 3), and
# shares of exp theta, from the weakest, beside a home advantage of .302 (column 5).
AGRESTI_THETA = (0.0, 1.11, 0.68, 1.44, 1.58, 1.25, 1.29)
AGRESTI_SHARES = (0.044, 0.088, 0.137, 0.157, 0.164, 0.190, 0.220)


def rows_of(*rows: tuple[int, int, float, int], n_systems: int) -> Comparisons:
    """Comparisons from (left, right, score, count)."""
    left, right, score, count = zip(*rows, strict=True)
    return made_comparisons(left, right, score, count=count, n_systems=n_systems)


def position(comparisons: Comparisons) -> FloatArray:
    return np.ones((len(comparisons), 1))


def covariance_of(comparisons: Comparisons, x: FloatArray, fit: CovariateFit) -> FloatArray:
    moves = influence(comparisons, x, fit, comparisons.item)
    return np.asarray(moves.T @ moves * (len(moves) / (len(moves) - 1)))


# -- by hand


def test_two_systems_both_ways_round_give_half_sum_and_half_difference_of_log_odds() -> None:
    comparisons = rows_of((0, 1, 1, 8), (0, 1, 0, 2), (1, 0, 1, 6), (1, 0, 0, 4), n_systems=2)

    fit = fit_with_covariates(comparisons, position(comparisons))

    difference = (math.log(8 / 2) - math.log(6 / 4)) / 2
    np.testing.assert_allclose(fit.theta, [difference / 2, -difference / 2], atol=1e-12)
    np.testing.assert_allclose(fit.beta, [(math.log(8 / 2) + math.log(6 / 4)) / 2], atol=1e-12)


def test_information_of_two_systems_both_ways_round_sums_n_p_q() -> None:
    comparisons = rows_of((0, 1, 1, 8), (0, 1, 0, 2), (1, 0, 1, 6), (1, 0, 0, 4), n_systems=2)

    fit = fit_with_covariates(comparisons, position(comparisons))

    first, second = 10 * 0.8 * 0.2, 10 * 0.6 * 0.4
    both, skew = first + second, first - second
    expected = [[both, -both, skew], [-both, both, -skew], [skew, -skew, both]]
    np.testing.assert_allclose(fit.information, expected, atol=1e-9)


def test_a_tie_is_half_a_win_to_each_side() -> None:
    tied = rows_of((0, 1, 0.5, 4), (0, 1, 1, 6), (1, 0, 1, 6), (1, 0, 0, 4), n_systems=2)
    won = rows_of((0, 1, 0, 2), (0, 1, 1, 8), (1, 0, 1, 6), (1, 0, 0, 4), n_systems=2)

    fit, other = (fit_with_covariates(one, position(one)) for one in (tied, won))

    np.testing.assert_allclose(fit.beta, other.beta, atol=1e-12)
    np.testing.assert_allclose(fit.theta, other.theta, atol=1e-12)


def test_effect_is_in_the_units_of_the_covariate() -> None:
    comparisons = rows_of((0, 1, 1, 8), (0, 1, 0, 2), (0, 1, 1, 6), (0, 1, 0, 4), n_systems=2)
    metres = np.array([[2.0], [2.0], [0.0], [0.0]])

    fit = fit_with_covariates(comparisons, metres * 1000)

    np.testing.assert_allclose(fit.beta, [math.log((8 / 2) / (6 / 4)) / 2000], rtol=1e-10)
    np.testing.assert_allclose(fit.theta[0] - fit.theta[1], math.log(6 / 4), atol=1e-10)


def test_relative_difference_is_share_of_the_sum_and_0_where_both_are_empty() -> None:
    left, right = np.array([30.0, 0.0, 0.0, 5.0]), np.array([10.0, 0.0, 8.0, 5.0])

    assert relative_difference(left, right).tolist() == [0.5, 0.0, -1.0, 0.0]


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_length_is_finite_and_not_negative(bad: float) -> None:
    with pytest.raises(ValueError, match="finite and not negative"):
        relative_difference(np.array([1.0, bad]), np.array([1.0, 2.0]))


# -- published


def baseball() -> Comparisons:
    table = np.array(BASEBALL.split(), dtype=np.int64).reshape(42, 4)
    home, away, won, _ = np.vstack((table, table[:, [0, 1, 3, 2]])).T
    score = np.repeat((1.0, 0.0), 42)
    is_played = won > 0
    return made_comparisons(
        home[is_played], away[is_played], score[is_played], count=won[is_played]
    )


def test_baseball_has_agrestis_home_advantage_and_strengths_beside_it() -> None:
    comparisons = baseball()

    fit = fit_with_covariates(comparisons, position(comparisons))

    shares = np.exp(fit.theta) / np.exp(fit.theta).sum()
    np.testing.assert_allclose(np.sort(shares), AGRESTI_SHARES, atol=0.0005)
    assert fit.beta[0] == pytest.approx(0.302, abs=0.0005)


def test_baseball_without_a_home_advantage_has_agrestis_strengths() -> None:
    comparisons = baseball()

    fit = fit_with_covariates(comparisons, np.empty((len(comparisons), 0)))

    for theta in (fit.theta, fit_bradley_terry(comparisons).theta):
        np.testing.assert_allclose(theta - theta[0], AGRESTI_THETA, atol=0.005)


def test_baseball_fits_one_order_as_agresti_finds() -> None:
    """G^2 15.74 with 15 degrees of freedom without a home advantage, p .40."""
    residuals = find_residuals(fit_ties(baseball(), ties="half"), has_items=False)
    test = find_lack_of_fit(residuals)

    assert test is not None
    assert test.p == pytest.approx(0.40, abs=0.15)


def test_ice_hockey_without_covariates_has_the_coefficients_of_btm() -> None:
    comparisons, _, teams = ice_hockey()
    with (SHARED / "classic" / "icehockey2009_expected_BTm.csv").open() as file:
        expected = {row["team"]: row for row in csv.DictReader(file)}

    fit = fit_with_covariates(comparisons, np.empty((len(comparisons), 0)))

    base = teams.index("Alaska Anchorage")
    ability = np.array([float(expected[team]["ability"]) for team in teams])
    np.testing.assert_allclose(fit.theta - fit.theta[base], ability, atol=1e-8)
    # BTm's log-likelihood is R's binomial one, which rounds a half down to no win.
    eta = fit.theta[comparisons.left] - fit.theta[comparisons.right]
    chance = expit(np.where(comparisons.score == 1, eta, -eta))
    assert np.log(chance).sum() == pytest.approx(-652.4499, abs=5e-5)


def test_ice_hockey_with_home_ice_agrees_with_statsmodels() -> None:
    comparisons, is_away, teams = ice_hockey()
    design = np.hstack((dense_incidence(comparisons)[:, 1:], is_away))
    expected = sm.GLM(comparisons.score, design, family=sm.families.Binomial()).fit(tol=1e-14)

    fit = fit_with_covariates(comparisons, is_away)

    np.testing.assert_allclose(fit.theta[1:] - fit.theta[0], expected.params[:-1], atol=1e-6)
    np.testing.assert_allclose(fit.beta, expected.params[-1:], atol=1e-6)
    assert len(teams) == 58


def alpaca_eval(annotator: str) -> tuple[Comparisons, FloatArray, FloatArray]:
    """Verdicts of one annotator, and the lengths of the texts on the left and right."""
    path = SHARED / "alpaca_eval" / "annotations_compact.csv.gz"
    if not path.exists():
        pytest.skip("reference data are not beside this checkout")
    with gzip.open(path, "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["annotator"] == annotator]
    rows = [row for row in rows if row["preference"]]
    systems = sorted({row[side] for row in rows for side in ("gen1", "gen2")})
    index = {system: i for i, system in enumerate(systems)}
    preference = np.array([float(row["preference"]) for row in rows])
    is_tie = (preference == 0) | (preference == 1.5)
    comparisons = made_comparisons(
        [index[row["gen1"]] for row in rows],
        [index[row["gen2"]] for row in rows],
        np.where(is_tie, 0.5, preference < 1.5),
        item=[int(row["item"]) for row in rows],
    )
    lengths = np.array([(row["len1"], row["len2"]) for row in rows], dtype=np.float64)
    return comparisons, lengths[:, 0], lengths[:, 1]


def test_alpaca_eval_judge_favours_longer_answers_of_equal_systems() -> None:
    comparisons, left, right = alpaca_eval("alpaca_eval_gpt4")
    won = 1 - comparisons.score
    x = relative_difference(left, right)[:, None]

    fit = fit_with_covariates(comparisons, x)

    assert won[right > left].mean() == pytest.approx(0.84, abs=0.005)
    assert won[right < left].mean() == pytest.approx(0.23, abs=0.005)
    standard_error = math.sqrt(covariance_of(comparisons, x, fit)[-1, -1])
    assert fit.beta[0] > 10 * standard_error


# -- statsmodels


def dense_incidence(comparisons: Comparisons) -> FloatArray:
    design = np.zeros((len(comparisons), comparisons.n_systems))
    rows = np.arange(len(comparisons))
    design[rows, comparisons.left], design[rows, comparisons.right] = 1, -1
    return design


def draw_comparisons(
    seed: int, *, n_systems: int, n_rows: int, beta: FloatArray
) -> tuple[Comparisons, FloatArray]:
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_systems, n_rows)
    right = (left + rng.integers(1, n_systems, n_rows)) % n_systems
    theta = rng.normal(0, 1, n_systems)
    x = rng.normal(0, 1, (n_rows, len(beta)))
    x[:, 0] = 1
    chance = expit(theta[left] - theta[right] + x @ beta)
    score = (rng.random(n_rows) < chance).astype(np.float64)
    score[rng.random(n_rows) < 0.15] = 0.5
    weight, item = rng.integers(1, 6, n_rows) / 4, rng.integers(0, 60, n_rows)
    return made_comparisons(left, right, score, weight=weight, item=item), x


def test_statsmodels_agrees_on_estimates_and_clustered_covariance() -> None:
    comparisons, x = draw_comparisons(1, n_systems=8, n_rows=3000, beta=np.array([0.4, -0.8, 0.1]))
    comparisons = replace(comparisons, weight=comparisons.weight * 4)
    rows = np.arange(3000).repeat(comparisons.weight.astype(np.int64))
    design = np.hstack((dense_incidence(comparisons)[:, 1:], x))[rows]
    model = sm.GLM(comparisons.score[rows], design, family=sm.families.Binomial())
    groups = {"groups": comparisons.item[rows], "use_correction": False}
    expected = model.fit(tol=1e-14, cov_type="cluster", cov_kwds=groups)

    fit = fit_with_covariates(comparisons, x)

    contrast = np.eye(11)[1:]
    contrast[:7, 0] = -1
    moves = influence(comparisons, x, fit, comparisons.item) @ contrast.T
    np.testing.assert_allclose(fit.theta[1:] - fit.theta[0], expected.params[:7], atol=1e-6)
    np.testing.assert_allclose(fit.beta, expected.params[7:], atol=1e-6)
    np.testing.assert_allclose(moves.T @ moves, expected.cov_params(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        fit.information[1:, 1:], -model.hessian(expected.params), rtol=1e-6, atol=1e-6
    )


def test_covariate_close_to_collinear_is_fitted_as_by_statsmodels_on_its_free_part() -> None:
    comparisons, x = draw_comparisons(2, n_systems=5, n_rows=2000, beta=np.array([0.3, 0.5]))
    constant = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
    fixed = constant[comparisons.left] - constant[comparisons.right]
    design = np.hstack((dense_incidence(comparisons)[:, 1:], x))
    expected = sm.GLM(
        comparisons.score,
        design,
        family=sm.families.Binomial(),
        freq_weights=comparisons.total_weight,
    ).fit(tol=1e-14)

    hidden = np.stack((x[:, 0], fixed + 1e-5 * x[:, 1]), axis=1)
    fit = fit_with_covariates(comparisons, hidden)

    np.testing.assert_allclose(fit.beta * [1, 1e-5], expected.params[4:], atol=1e-6)


# -- properties


def test_influence_is_what_leaving_a_little_of_a_cluster_out_moves() -> None:
    comparisons, x = draw_comparisons(3, n_systems=4, n_rows=400, beta=np.array([0.3, 0.5]))
    part = 1e-5
    is_third = comparisons.item == 2
    less = replace(comparisons, weight=np.where(is_third, 1 - part, 1 + part) * comparisons.weight)
    even = replace(comparisons, weight=np.where(is_third, 1.0, 1 + part) * comparisons.weight)

    fit = fit_with_covariates(comparisons, x)
    before, after = fit_with_covariates(even, x), fit_with_covariates(less, x)

    expected = np.concatenate((before.theta - after.theta, before.beta - after.beta)) / part
    moves = influence(comparisons, x, fit, comparisons.item)
    np.testing.assert_allclose(moves[2], expected, atol=1e-5)


def test_influences_sum_to_nothing_and_follow_ascending_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    comparisons, x = draw_comparisons(4, n_systems=4, n_rows=400, beta=np.array([0.3, 0.5]))
    fit = fit_with_covariates(comparisons, x)

    moves = influence(comparisons, x, fit, comparisons.item)
    spread = influence(comparisons, x, fit, comparisons.item * 10 - 7)

    np.testing.assert_allclose(moves.sum(axis=0), np.zeros(6), atol=1e-9)
    np.testing.assert_allclose(moves[:, :4].sum(axis=1), np.zeros(60), atol=1e-12)
    assert spread.tolist() == moves.tolist()
    monkeypatch.setattr(comparison_arrays, "FEW_ROWS", 1)
    assert influence(comparisons, x, fit, comparisons.item).tolist() == moves.tolist()
    for n_rows in (1, 25):
        monkeypatch.setattr(comparison_arrays, "LABEL_ROWS", n_rows)
        assert influence(comparisons, x, fit, comparisons.item).tolist() == moves.tolist()


def test_covariates_one_by_one_are_those_of_an_array_also_as_whole_numbers() -> None:
    comparisons, _ = draw_comparisons(4, n_systems=4, n_rows=400, beta=np.array([0.3, 0.5]))
    words: Any = np.random.default_rng(3).integers(0, 200, 400).astype(np.uint8)
    ones = np.ones(400)

    apart = fit_with_covariates(comparisons, [words, ones])
    together = fit_with_covariates(comparisons, np.stack((words, ones), axis=1))

    assert apart.beta.tolist() == together.beta.tolist()
    assert abs(apart.beta[0]) > 1e-4


# -- what is not determined


def error_of(comparisons: Comparisons, x: FloatArray) -> NotIdentifiedError:
    with pytest.raises(NotIdentifiedError) as caught:
        fit_with_covariates(comparisons, x)
    return caught.value


def not_determined() -> dict[str, tuple[Comparisons, FloatArray, str]]:
    """Comparisons, covariates, and which of these to name."""
    drawn, x = draw_comparisons(5, n_systems=4, n_rows=300, beta=np.array([0.3, 0.5]))
    constant = np.array([120.0, 340.0, 90.0, 210.0])
    fixed = constant[drawn.left] - constant[drawn.right]
    decided = replace(drawn, score=np.round(drawn.score))
    separating = (decided.score - 0.5) * (1 + np.abs(x[:, 1]))
    only_where_won = np.zeros(300)
    only_where_won[np.flatnonzero(drawn.score == 1)[:10]] = 50.0
    tied = rows_of((0, 1, 0.5, 1), (0, 1, 0.5, 1), n_systems=2)
    one_way = rows_of((0, 1, 1, 3), (0, 1, 0, 2), (0, 2, 1, 1), (0, 2, 0, 3), n_systems=3)
    return {
        "a constant of each system": (drawn, np.column_stack((x, fixed)), "2"),
        "zeros": (drawn, np.column_stack((np.zeros(300), x)), "0"),
        "what follows from those before it": (drawn, np.column_stack((x, x @ [2.0, -3.0])), "2"),
        "more than distinct rows": (tied, np.array([[1.0, 3.0, 2.0], [2.0, 1.0, 5.0]]), "1, 2"),
        "position where each pair is shown one way round": (one_way, position(one_way), "0"),
        "what separates wins": (decided, np.column_stack((x[:, 1], separating)), "0, 1"),
        "what is not 0 only where one side won": (drawn, np.column_stack((only_where_won, x)), "0"),
    }


@pytest.mark.parametrize("case", not_determined())
def test_covariates_that_are_not_determined_are_named(case: str) -> None:
    comparisons, x, named = not_determined()[case]

    error = error_of(comparisons, x)

    assert error.ids == tuple(named.split(", "))
    assert f"covariates [{named}] are not determined" in str(error)


def test_systems_that_are_apart_are_named_as_in_the_plain_fit() -> None:
    comparisons = rows_of((0, 1, 0.5, 1), (2, 3, 0.5, 1), n_systems=4)

    assert error_of(comparisons, position(comparisons)).components == ((0, 1), (2, 3))


def test_fit_that_does_not_converge_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    comparisons, x = draw_comparisons(7, n_systems=4, n_rows=300, beta=np.array([0.3, 0.5]))
    monkeypatch.setattr(newton_fit, "MAX_ITERATIONS", 2)

    assert "did not converge in 2 steps" in str(error_of(comparisons, x))


def test_one_contradiction_suffices_to_determine_a_large_effect() -> None:
    comparisons = rows_of(
        (0, 1, 1, 9_999), (0, 1, 0, 1), (1, 0, 1, 9_999), (1, 0, 0, 1), n_systems=2
    )

    fit = fit_with_covariates(comparisons, position(comparisons))

    assert fit.beta[0] == pytest.approx(math.log(9_999), abs=1e-9)


@pytest.mark.parametrize("shape", [(3,), (2, 1), (4, 1)])
def test_covariates_have_a_row_for_each_comparison(shape: tuple[int, ...]) -> None:
    comparisons = rows_of((0, 1, 1, 1), (0, 1, 0, 1), (1, 0, 1, 1), n_systems=2)

    with pytest.raises(ValueError, match=r"must be \(3, k\), a row for each comparison"):
        fit_with_covariates(comparisons, np.ones(shape))


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_row_with_a_missing_covariate_is_named(bad: float) -> None:
    comparisons = rows_of((0, 1, 1, 1), (0, 1, 0, 1), (1, 0, 1, 1), n_systems=2)
    x = np.array([[1.0], [bad], [1.0]])

    with pytest.raises(ValueError, match=r"row 1 has a covariate that is missing .*\(1 such rows"):
        fit_with_covariates(comparisons, x)


# -- simulation


def draw_study(
    rng: np.random.Generator, n_items: int, *, n_per_item: int
) -> tuple[Comparisons, FloatArray]:
    """Draw items on which strengths, position and length all have effects of their own."""
    n_systems, n_rows = 5, n_items * n_per_item
    item = np.repeat(np.arange(n_items), n_per_item)
    left = rng.integers(0, n_systems, n_rows)
    right = (left + rng.integers(1, n_systems, n_rows)) % n_systems
    theta = np.linspace(-1, 1, n_systems) + rng.normal(0, 0.6, (n_items, n_systems))
    x = np.column_stack((np.ones(n_rows), rng.normal(0, 0.4, n_rows)))
    beta = np.array([0.3, 1.0]) + rng.normal(0, 0.5, (n_items, 2))
    eta = theta[item, left] - theta[item, right] + (x * beta[item]).sum(axis=1)
    score = (rng.random(n_rows) < expit(eta)).astype(np.float64)
    return made_comparisons(left, right, score, item=item), x


def test_intervals_over_100_items_cover_strengths_and_effects() -> None:
    rng = np.random.default_rng(20)
    population, x = draw_study(rng, 20_000, n_per_item=10)
    truth = fit_with_covariates(population, x)
    true = np.concatenate((truth.theta, truth.beta))
    covered = []
    for _ in range(150):
        comparisons, x = draw_study(rng, 100, n_per_item=20)
        fit = fit_with_covariates(comparisons, x)
        half = student.ppf(0.975, 99) * np.sqrt(np.diag(covariance_of(comparisons, x, fit)))
        covered.append(np.abs(np.concatenate((fit.theta, fit.beta)) - true) <= half)

    assert 0.92 <= np.mean(covered) <= 0.98
