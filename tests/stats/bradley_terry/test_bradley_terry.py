"""Hand-computed cases, published worked examples and the errors of the fit."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.fit import (
    centred_inverse,
    elo_from_theta,
    fit_win_matrix,
    win_probabilities,
)
from hearteval.stats.comparisons import FloatArray

LLMFAO = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "reference" / "llmfao"


def test_the_faster_ways_for_many_systems_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other ways are held against R and published fits below."""
    rng = np.random.default_rng(11)
    wins = np.where(rng.random((30, 30)) < 0.5, rng.integers(0, 4, (30, 30)) * 0.5, 0.0)
    np.fill_diagonal(wins, 0)
    plain = fit_win_matrix(wins)
    inverse, chances = centred_inverse(plain.information), win_probabilities(plain.theta)

    monkeypatch.setattr("hearteval.stats.bradley_terry.fit.MANY", 2)
    found = fit_win_matrix(wins)

    np.testing.assert_allclose(found.theta, plain.theta, atol=1e-12)
    np.testing.assert_allclose(found.information, plain.information, atol=1e-11)
    np.testing.assert_allclose(centred_inverse(found.information), inverse, atol=1e-12)
    np.testing.assert_allclose(win_probabilities(found.theta), chances, rtol=1e-12)


def test_two_systems_differ_by_the_log_odds_of_their_wins() -> None:
    fit = fit_win_matrix(np.array([[0.0, 7.5], [2.5, 0.0]]))

    np.testing.assert_allclose(fit.theta, [math.log(3) / 2, -math.log(3) / 2], atol=1e-12)


def test_information_of_two_systems_is_n_p_q() -> None:
    fit = fit_win_matrix(np.array([[0.0, 6.0], [2.0, 0.0]]))

    curvature = 8 * 0.75 * 0.25
    expected = [[curvature, -curvature], [-curvature, curvature]]
    np.testing.assert_allclose(fit.information, expected, atol=1e-12)


def test_chain_of_three_adds_up_the_log_odds() -> None:
    wins = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 1.0, 0.0]])

    theta = fit_win_matrix(wins).theta

    np.testing.assert_allclose(np.diff(theta), [-math.log(2), -math.log(3)], atol=1e-10)


def test_very_uneven_wins_are_fitted_exactly() -> None:
    fit = fit_win_matrix(np.array([[0.0, 1e12], [1.0, 0.0]]))

    assert fit.theta[0] - fit.theta[1] == pytest.approx(math.log(1e12), abs=1e-9)


def test_wins_on_which_full_newton_steps_diverge_are_fitted() -> None:
    wins = np.array([[0, 0, 1e7, 1e5], [1, 0, 1, 0], [100, 10, 0, 0], [1e7, 1e5, 0, 0]])

    theta = fit_win_matrix(wins).theta

    expected_wins = ((wins + wins.T) * win_probabilities(theta)).sum(axis=1)
    np.testing.assert_allclose(expected_wins, wins.sum(axis=1), rtol=1e-9)


def test_elo_of_tenfold_odds_is_400_apart_around_1500() -> None:
    elo = elo_from_theta(np.array([math.log(10) + 7.0, 7.0]))

    np.testing.assert_allclose(elo, [1700.0, 1300.0])


def test_journal_citations_of_stigler_1994() -> None:
    """Log-strengths and standard errors against Biometrika: Stigler (1994), as in R's
    BradleyTerry2 vignette. Rows are cited: Biometrika, Comm. Statist., JASA, JRSS-B."""
    cited = [[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]]
    fit = fit_win_matrix(np.array(cited, dtype=np.float64))

    covariance = centred_inverse(fit.information)
    variance = np.diag(covariance) + covariance[0, 0] - 2 * covariance[0]
    expected_theta = [-2.94907, -0.47957, 0.26895]
    np.testing.assert_allclose((fit.theta - fit.theta[0])[1:], expected_theta, atol=5e-6)
    np.testing.assert_allclose(np.sqrt(variance[1:]), [0.10255, 0.06059, 0.07083], atol=5e-6)


@pytest.mark.skipif(not LLMFAO.is_dir(), reason="needs ../shared/data/reference/llmfao")
def test_crowd_comparisons_of_llmfao_give_their_published_strengths() -> None:
    with (LLMFAO / "llmfao-golden.csv").open(encoding="utf-8") as file:
        golden = {
            row["item"]: float(row["score"])
            for row in csv.DictReader(file)
            if row["algorithm"] == "bradley_terry"
        }
    with (LLMFAO / "crowd-comparisons.csv").open(encoding="utf-8") as file:
        votes = list(csv.DictReader(file))

    strength = np.exp(fit_win_matrix(_wins_of_crowd(votes, list(golden))).theta)

    assert len(votes) == 8931
    np.testing.assert_allclose(strength / strength.sum(), list(golden.values()), rtol=1e-6)


def _wins_of_crowd(votes: list[dict[str, str]], names: list[str]) -> FloatArray:
    position = {name: i for i, name in enumerate(names)}
    left_score = {"left": 1.0, "tie": 0.5, "right": 0.0}
    wins = np.zeros((len(names), len(names)))
    for vote in votes:
        i, j, score = position[vote["left"]], position[vote["right"]], left_score[vote["winner"]]
        wins[i, j] += score
        wins[j, i] += 1 - score
    return wins


@pytest.mark.parametrize("n_systems", [0, 1])
def test_under_two_systems_there_is_no_ranking(n_systems: int) -> None:
    with pytest.raises(NotIdentifiedError, match=f"at least two systems .*{n_systems}"):
        fit_win_matrix(np.zeros((n_systems, n_systems)))


def test_separate_groups_are_named_by_index() -> None:
    wins = np.zeros((5, 5))
    wins[0, 3] = wins[3, 0] = wins[1, 4] = wins[4, 1] = wins[2, 4] = wins[4, 2] = 1

    with pytest.raises(NotIdentifiedError) as caught:
        fit_win_matrix(wins)

    assert caught.value.components == ((0, 3), (1, 2, 4))


def test_system_that_never_loses_is_a_group_of_its_own() -> None:
    wins = np.array([[0.0, 5.0, 5.0], [0.0, 0.0, 1.0], [0.0, 2.0, 0.0]])

    with pytest.raises(NotIdentifiedError) as caught:
        fit_win_matrix(wins)

    assert caught.value.components == ((0,), (1, 2))


def test_fit_that_does_not_converge_is_an_error() -> None:
    least = 5e-324
    with pytest.raises(NotIdentifiedError, match="did not converge"):
        fit_win_matrix(np.array([[0.0, least], [least, 0.0]]))


def test_a_long_chain_of_one_sided_pairs_has_its_exact_strengths() -> None:
    n = 200
    wins = np.zeros((n, n))
    above = np.arange(n - 1)
    wins[above, above + 1], wins[above + 1, above] = 100.0, 1.0
    theta = fit_win_matrix(wins).theta
    assert theta[0] - theta[-1] == pytest.approx((n - 1) * np.log(100), rel=1e-9)
