"""Factor analysis: published answers, R's loadings, statsmodels, and cases worked by hand."""

import csv
import math

import numpy as np
import pytest
from rating_tables import SHARED, rating_table
from statsmodels.multivariate.factor import Factor
from statsmodels.multivariate.factor_rotation import rotate_factors

from hearteval.errors import NotIdentifiedError
from hearteval.stats import factors
from hearteval.stats.agreement.cronbach import alpha_of_rows, cronbach_alpha
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.factors import (
    chance_eigenvalues,
    correlate,
    count_factors,
    eigenvalues,
    fit_factors,
    omega_total,
    rotate_oblimin,
    rotate_varimax,
    sampling_adequacy,
    score_weights,
    sphericity,
)

needs_data = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the reference data are not at ../shared/data/reference"
)
# Correlations that one factor with loadings .8, .7, .6 makes exactly (Spearman 1904).
ONE = np.array([[1, 0.56, 0.48], [0.56, 1, 0.42], [0.48, 0.42, 1]])
# Two pairs of columns, each of one factor: .9 .8 and .7 .6, factors unrelated.
TWO = np.array([0.9, 0.8, 0.7, 0, 0, 0, 0, 0, 0, 0.8, 0.7, 0.6]).reshape(2, 6).T
OBLIQUE = np.array([[1, 0.5], [0.5, 1]])
# Eight emotional traits of 172 children (Burt 1915; Harman 1967, p. 164; R's psych::Harman.Burt).
BURT_BELOW = (
    (0.83,),
    (0.81, 0.87),
    (0.80, 0.62, 0.63),
    (0.71, 0.59, 0.37, 0.49),
    (0.54, 0.58, 0.30, 0.30, 0.34),
    (0.53, 0.44, 0.12, 0.28, 0.55, 0.38),
    (0.24, 0.45, 0.33, 0.29, 0.19, 0.21, 0.10),
)


def burt() -> FloatArray:
    found = np.eye(8)
    for row, values in enumerate(BURT_BELOW, 1):
        found[row, : len(values)] = found[: len(values), row] = values
    return found


def harman74() -> FloatArray:
    """24 mental tests of 145 children (R's datasets::Harman74.cor)."""
    with (SHARED / "classic" / "Harman74.cor.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([[float(cell) for cell in row[1:25]] for row in rows])


def planted(pattern: FloatArray, phi: FloatArray) -> FloatArray:
    found = pattern @ phi @ pattern.T
    np.fill_diagonal(found, 1)
    return np.asarray(found)


@needs_data
def test_four_factors_of_24_tests_are_those_of_factanal() -> None:
    fit = fit_factors(harman74(), 4, 145)
    assert fit.df == 186
    assert fit.chi2 == pytest.approx(226.68, abs=0.005)
    assert fit.p_value == pytest.approx(0.0224, abs=5e-5)
    assert not fit.is_heywood
    path = SHARED / "classic" / "harman74_factanal4_varimax_loadings.csv"
    with path.open(encoding="utf-8") as file:
        published = np.array([[float(x) for x in row[1:]] for row in list(csv.reader(file))[1:]])
    # R stops turning at a change of 1e-5.
    assert rotate_varimax(fit).loadings == pytest.approx(published, abs=1e-4)


@needs_data
def test_adequacy_and_sphericity_of_24_tests() -> None:
    correlations = harman74()
    overall, each = sampling_adequacy(correlations)
    inverse = np.linalg.inv(correlations)
    q = -inverse / np.sqrt(np.outer(np.diag(inverse), np.diag(inverse)))
    r2 = sum(correlations[0, k] ** 2 for k in range(1, 24))
    assert each[0] == pytest.approx(r2 / (r2 + sum(q[0, k] ** 2 for k in range(1, 24))))
    # psych::KMO(Harman74.cor) prints 0.88, and psych::cortest.bartlett 1545.86 on 276.
    assert round(overall, 2) == 0.88
    chi2, df, p = sphericity(correlations, 145)
    assert (round(chi2, 2), df, p < 1e-100) == (1545.86, 276, True)


def test_minres_of_burts_traits_is_that_of_iterated_axes() -> None:
    fit = fit_factors(burt(), 2, 172, method="minres")
    other = Factor(corr=burt(), n_factor=2, smc=False, nobs=172).fit(maxiter=5000, tol=1e-10)
    made = fit.loadings @ fit.loadings.T
    # The other has no bound; here the third trait lies at it (Harman: the matrix is no real one).
    assert fit.is_heywood
    assert fit.uniquenesses[2] == pytest.approx(0.005)
    off = ~np.eye(8, dtype=np.bool_)
    assert made[off] == pytest.approx((other.loadings @ other.loadings.T)[off], abs=2e-3)
    assert fit.chi2 is None


@needs_data
def test_minres_of_24_tests_is_that_of_iterated_axes() -> None:
    fit = fit_factors(harman74(), 4, 145, method="minres")
    other = Factor(corr=harman74(), n_factor=4, nobs=145).fit(maxiter=5000, tol=1e-12)
    expected = other.loadings @ other.loadings.T
    assert fit.loadings @ fit.loadings.T == pytest.approx(expected, abs=1e-6)


def test_likelihood_of_statsmodels_gives_the_same_factors() -> None:
    correlations = planted(TWO, OBLIQUE) + 0.03 * np.outer([1, -1, 1, -1, 1, -1], [1] * 6)
    correlations = (correlations + correlations.T) / 2
    np.fill_diagonal(correlations, 1)
    fit = fit_factors(correlations, 2, 200)
    other = Factor(corr=correlations, n_factor=2, nobs=200, method="ml").fit(
        opt={"gtol": 1e-5}, em_iter=500
    )
    expected = other.loadings @ other.loadings.T
    assert fit.loadings @ fit.loadings.T == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("method", ["ml", "minres"])
def test_one_exact_factor_is_found(method: factors.Method) -> None:
    fit = fit_factors(ONE, 1, 100, method=method)
    assert fit.loadings[:, 0] == pytest.approx([0.8, 0.7, 0.6], abs=1e-5)
    assert fit.communalities == pytest.approx([0.64, 0.49, 0.36], abs=1e-5)
    assert (fit.df, fit.chi2, fit.p_value) == (0, None, None)
    # (sum of loadings)^2 / sum of correlations = 4.41 / 5.92
    assert omega_total(fit, ONE) == pytest.approx(4.41 / 5.92, abs=1e-5)
    for turned in (rotate_varimax(fit), rotate_oblimin(fit)):
        assert turned.loadings == pytest.approx(fit.loadings, abs=1e-9)


def test_varimax_finds_unrelated_groups() -> None:
    fit = rotate_varimax(fit_factors(planted(TWO, np.eye(2)), 2, 500))
    assert fit.loadings == pytest.approx(TWO, abs=1e-5)
    assert fit.chi2 == pytest.approx(0, abs=1e-6)
    assert fit.phi == pytest.approx(np.eye(2))


def test_oblimin_finds_related_groups() -> None:
    fit = rotate_oblimin(fit_factors(planted(TWO, OBLIQUE), 2, 500))
    assert fit.loadings == pytest.approx(TWO, abs=1e-4)
    assert fit.phi == pytest.approx(OBLIQUE, abs=1e-4)


@needs_data
@pytest.mark.parametrize("n_factors", [2, 4])
def test_rotations_of_statsmodels_agree(n_factors: int) -> None:
    fit = fit_factors(harman74(), n_factors, 145)
    oblique, _ = rotate_factors(fit.loadings, "oblimin", 0, "oblique")
    in_order = oblique[:, np.argsort(-(oblique**2).sum(axis=0))]
    in_order = in_order * np.sign(in_order.sum(axis=0))
    assert rotate_oblimin(fit).loadings == pytest.approx(in_order, abs=1e-4)


def test_a_turn_explains_the_same() -> None:
    fit = fit_factors(planted(TWO, OBLIQUE), 2, 500)
    explained = fit.loadings @ fit.loadings.T
    for turned in (rotate_varimax(fit), rotate_oblimin(fit)):
        again = turned.loadings @ turned.phi @ turned.loadings.T
        assert again == pytest.approx(explained, abs=1e-8)
        assert np.diag(again) == pytest.approx(turned.communalities, abs=1e-4)


def test_order_of_columns_changes_nothing_else() -> None:
    order = [5, 0, 3, 1, 4, 2]
    correlations = planted(TWO, OBLIQUE)
    one = rotate_oblimin(fit_factors(correlations, 2, 500))
    other = rotate_oblimin(fit_factors(correlations[np.ix_(order, order)], 2, 500))
    assert other.loadings == pytest.approx(one.loadings[order], abs=1e-4)


def test_scores_of_one_exact_factor() -> None:
    # Weights of Thurstone's scores are proportional to loading over uniqueness.
    weights = score_weights(fit_factors(ONE, 1, 100), ONE)[:, 0]
    expected = np.array([0.8 / 0.36, 0.7 / 0.51, 0.6 / 0.64])
    assert weights / weights[0] == pytest.approx(expected / expected[0], abs=1e-4)


def test_bound_is_reported_where_a_column_is_explained_whole() -> None:
    # r12 r13 / r23 = 1.26 would be the communality of the first.
    fit = fit_factors(np.array([[1, 0.9, 0.7], [0.9, 1, 0.5], [0.7, 0.5, 1]]), 1, 100)
    assert fit.is_heywood


def test_chance_draws_are_those_of_normal_rows() -> None:
    rows = np.random.default_rng(1).standard_normal((2000, 60, 5))
    drawn = [eigenvalues(np.corrcoef(each, rowvar=False)) for each in rows]
    expected = np.percentile(drawn, 95, axis=0)
    found = chance_eigenvalues(60, 5, np.random.default_rng(2), n_draws=2000)
    assert found == pytest.approx(expected, abs=0.02)
    again = chance_eigenvalues(60, 5, np.random.default_rng(2), n_draws=2000)
    assert found.tolist() == again.tolist()


def test_factors_of_chance_are_few() -> None:
    """Of unrelated columns the first eigenvalue is above its 95th percentile one time in twenty."""
    rng = np.random.default_rng(5)
    chance = chance_eigenvalues(80, 5, rng)
    found = [
        count_factors(eigenvalues(correlate(rng.standard_normal((80, 5)))), chance)
        for _ in range(400)
    ]
    assert 0.025 < np.mean(np.array(found) > 0) < 0.085


@pytest.mark.parametrize(("pattern", "n_factors"), [(TWO[:3, :1], 1), (TWO, 2)])
def test_planted_factors_are_counted(pattern: FloatArray, n_factors: int) -> None:
    rng = np.random.default_rng(7)
    root = np.linalg.cholesky(planted(pattern, np.eye(pattern.shape[1])))
    chance = chance_eigenvalues(200, len(root), rng)
    counts = [
        count_factors(
            eigenvalues(correlate(rng.standard_normal((200, len(root))) @ root.T)), chance
        )
        for _ in range(100)
    ]
    assert np.mean(np.array(counts) == n_factors) >= 0.95


def test_all_eigenvalues_above_chance_are_all_counted() -> None:
    assert count_factors(np.array([2.0, 1.0]), np.array([1.5, 0.5])) == 2
    assert count_factors(np.array([1.4, 0.6]), np.array([1.5, 0.5])) == 0


def test_alpha_of_rows_is_cronbachs() -> None:
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((40, 1)) + rng.standard_normal((40, 5))
    alpha, influence = alpha_of_rows(rows)
    assert alpha == pytest.approx(cronbach_alpha(rating_table(rows)), abs=1e-12)
    # A row counted a little more moves alpha by its influence.
    more = 1e-6
    weight = np.ones(40)
    weight[7] += more
    centred = rows - np.average(rows, axis=0, weights=weight)
    own = float((weight @ centred**2).sum())
    together = float(weight @ centred.sum(axis=1) ** 2)
    moved = 1.25 * (1 - own / together)
    assert (moved - alpha) / more == pytest.approx(influence[7], rel=1e-4)
    assert math.fsum(influence) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: correlate(np.zeros((2, 3))), "three rows"),
        (lambda: correlate(np.array([[1.0, 2], [1, 3], [1, 5]])), "column 0 does not vary"),
        (lambda: sampling_adequacy(np.ones((2, 2))), "sum of others"),
        (lambda: sphericity(np.ones((2, 2)), 50), "sum of others"),
        (lambda: chance_eigenvalues(5, 5, np.random.default_rng(0)), "more rows"),
        (lambda: fit_factors(ONE, 2, 100), "do not determine 2 factors"),
        (lambda: fit_factors(ONE, 0, 100), "do not determine 0 factors"),
        (lambda: alpha_of_rows(np.ones((1, 5))), "two items and two units"),
        (lambda: alpha_of_rows(np.array([[1.0, -1], [2, -2]])), "add up to 0"),
    ],
)
def test_what_the_data_do_not_determine_is_refused(act: object, says: str) -> None:
    with pytest.raises(NotIdentifiedError, match=says):
        act()  # type: ignore[operator]


def test_no_reliability_of_columns_that_cancel() -> None:
    correlations = np.array([[1, -1 + 1e-11], [-1 + 1e-11, 1]])
    with pytest.raises(NotIdentifiedError, match="does not vary"):
        omega_total(fit_factors(ONE, 1, 100), correlations)


def test_a_fit_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "MAX_STEPS", 1)
    with pytest.raises(NotIdentifiedError, match="not converged in 1 steps"):
        fit_factors(planted(TWO, OBLIQUE), 2, 500)
