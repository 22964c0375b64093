"""Ties with a parameter of their own: published strengths, a numerical maximum, the limits."""

import math
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_comparisons import made_comparisons
from scipy.optimize import minimize

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.clustered_variance import vary_over_items
from hearteval.stats.bradley_terry.fit import fit_win_matrix
from hearteval.stats.bradley_terry.ties import (
    DavidsonFit,
    davidson_scores,
    fit_davidson,
    fit_ties,
    influence_on_theta,
    pair_probabilities,
    tie_probabilities,
)
from hearteval.stats.comparisons import Comparisons, FloatArray

# Davidson (1970), six brands of pudding: wins of the first, of the second, ties.
PUDDINGS = {
    (0, 1): (19, 22, 16),
    (0, 2): (16, 19, 12),
    (1, 2): (19, 19, 10),
    (0, 3): (18, 23, 13),
    (1, 3): (23, 19, 9),
    (2, 3): (19, 20, 15),
    (0, 4): (13, 19, 18),
    (1, 4): (16, 20, 12),
    (2, 4): (16, 15, 17),
    (3, 4): (17, 14, 16),
    (0, 5): (18, 21, 12),
    (1, 5): (22, 20, 12),
    (2, 5): (13, 18, 10),
    (3, 5): (14, 19, 18),
    (4, 5): (11, 21, 12),
}


TIES: tuple[Literal["davidson", "half"], ...] = ("davidson", "half")


def puddings() -> tuple[FloatArray, float]:
    points, n_ties = np.zeros((6, 6)), 0.0
    for (i, j), (won, lost, tied) in PUDDINGS.items():
        points[i, j], points[j, i] = won + tied / 2, lost + tied / 2
        n_ties += tied
    return points, n_ties


def rows(scores: list[tuple[int, int, float]]) -> Comparisons:
    left, right, score = (np.array(column) for column in zip(*scores, strict=True))
    n, n_systems = len(scores), int(max(left.max(), right.max())) + 1
    return made_comparisons(left, right, score, n_systems=n_systems, item=np.arange(n) % 5)


def davidson_fit(comparisons: Comparisons) -> DavidsonFit:
    fit = fit_ties(comparisons, ties="davidson").fit
    assert isinstance(fit, DavidsonFit)
    return fit


def test_puddings_of_davidson_1970() -> None:
    fit = fit_davidson(*puddings())

    strength = np.exp(fit.theta)
    expected = [0.1388, 0.1730, 0.1617, 0.1654, 0.1587, 0.2024]
    np.testing.assert_allclose(strength / strength.sum(), expected, atol=5e-5)
    assert fit.tie == pytest.approx(0.7468, abs=5e-5)


def test_puddings_of_davidson_1970_with_half_ties() -> None:
    strength = np.exp(fit_win_matrix(puddings()[0]).theta)

    expected = [0.1461, 0.1715, 0.1633, 0.1659, 0.1610, 0.1922]
    np.testing.assert_allclose(strength / strength.sum(), expected, atol=5e-5)


def test_fit_is_the_maximum_that_a_general_optimiser_finds() -> None:
    points, n_ties = puddings()

    def minus_log_likelihood(at: FloatArray) -> float:
        total = 0.0
        for (i, j), (won, lost, tied) in PUDDINGS.items():
            pi, pj, nu = math.exp(at[i]), math.exp(at[j]), math.exp(at[6])
            both = nu * math.sqrt(pi * pj)
            norm = pi + pj + both
            total -= won * math.log(pi / norm) + lost * math.log(pj / norm)
            total -= tied * math.log(both / norm)
        return total

    found = minimize(minus_log_likelihood, np.zeros(7), tol=1e-12).x
    fit = fit_davidson(points, n_ties)

    np.testing.assert_allclose(fit.theta, found[:6] - found[:6].mean(), atol=1e-5)
    assert math.log(fit.tie) == pytest.approx(found[6], abs=1e-5)


def test_information_is_the_second_difference_of_the_log_likelihood() -> None:
    comparisons = rows(
        [(0, 1, 1.0), (0, 1, 0.5), (1, 2, 0.0), (2, 0, 0.5), (1, 0, 1.0), (2, 1, 0.0)]
    )
    fit = davidson_fit(comparisons)
    step, everyone = 1e-5, np.zeros(len(comparisons), dtype=np.int64)
    at = np.append(fit.theta, math.log(fit.tie))

    def gradient(change: FloatArray) -> FloatArray:
        moved = at + change
        there = replace(fit, theta=moved[:-1], tie=math.exp(moved[-1]))
        return np.asarray(davidson_scores(comparisons, there, everyone)[0])

    for k, direction in enumerate(np.eye(4)):
        change = (gradient(-step * direction) - gradient(step * direction)) / (2 * step)
        np.testing.assert_allclose(fit.information[k], change, atol=1e-8)


def test_scores_of_clusters_sum_to_zero_at_the_fit() -> None:
    comparisons = rows(
        [(0, 1, 1.0), (0, 1, 0.5), (1, 2, 0.0), (2, 0, 0.5), (1, 0, 1.0), (2, 1, 0.0)]
    )
    fit = davidson_fit(comparisons)

    scores = davidson_scores(comparisons, fit, comparisons.item)

    assert scores.shape == (5, 4)
    np.testing.assert_allclose(scores.sum(axis=0), 0, atol=1e-9)


def test_without_ties_it_is_the_plain_fit() -> None:
    wins = np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 4.0], [2.0, 1.0, 0.0]])

    fit = fit_davidson(wins, 0.0)

    np.testing.assert_array_equal(fit.theta, fit_win_matrix(wins).theta)
    assert fit.tie == 0


def test_sandwich_without_ties_is_that_of_the_plain_fit() -> None:
    scores = [(0, 1, 1.0), (0, 1, 0.0), (1, 2, 0.0), (2, 0, 1.0), (1, 0, 1.0), (2, 1, 0.0)]
    comparisons = rows(scores)

    variances = [
        vary_over_items(fit_ties(comparisons, ties=ties).influence_of, comparisons.item).item
        for ties in TIES
    ]

    np.testing.assert_allclose(variances[0], variances[1], atol=1e-12)


def test_only_ties_leave_the_tie_parameter_open() -> None:
    with pytest.raises(NotIdentifiedError, match="every comparison is a tie"):
        fit_davidson(np.array([[0.0, 2.0], [2.0, 0.0]]), 4.0)


def test_influence_moves_theta_along_contrasts_only() -> None:
    fit = fit_davidson(*puddings())

    np.testing.assert_allclose(influence_on_theta(fit).sum(axis=1), 0, atol=1e-12)


@given(st.floats(-60, 60), st.floats(0, 20))
@settings(max_examples=60)
def test_probabilities_of_the_three_outcomes_sum_to_one(difference: float, tie: float) -> None:
    win, tied = pair_probabilities(np.array([difference]), tie)
    lost, _ = pair_probabilities(np.array([-difference]), tie)

    assert float((win + lost + tied)[0]) == pytest.approx(1)


def test_even_systems_tie_as_often_as_the_parameter_says() -> None:
    win, tied = tie_probabilities(np.zeros(2), 2.0)

    np.testing.assert_allclose(win, 0.25)
    np.testing.assert_allclose(tied, 0.5)
