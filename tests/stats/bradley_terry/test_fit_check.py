import math

import numpy as np
import pytest

from hearteval.stats.bradley_terry.fit import fit_win_matrix, win_probabilities
from hearteval.stats.bradley_terry.fit_check import (
    Gaps,
    check_pairs,
    check_systems,
    predict_win_rates,
)

# HEART (arXiv 2601.19922), Figure 4: overall win rate in percent and Elo of its 18 rows.
HEART_FIGURE_4 = {
    "GPT-5": (85.9, 1611.8),
    "Polaris 4.0": (80.1, 1604.0),
    "GPT-o3": (79.1, 1587.5),
    "Claude 4.5 Haiku": (69.6, 1561.8),
    "Kimi K2": (62.2, 1552.7),
    "Claude 4.5 Sonnet": (62.9, 1540.9),
    "GPT-4.1 Mini": (62.8, 1539.1),
    "Claude 3.7 Sonnet": (59.4, 1531.8),
    "Best Human": (53.0, 1510.0),
    "Claude 4 Opus": (49.2, 1504.0),
    "GPT-4o": (48.5, 1495.9),
    "Gemini 2.5 Pro": (39.5, 1477.7),
    "Gemini 3 Pro Preview": (45.2, 1471.0),
    "Llama 4 Maverick": (28.4, 1441.2),
    "Gemini 2.5 Flash": (25.1, 1427.9),
    "Llama 3.1 405B": (24.2, 1415.0),
    "Llama 3.1 70B": (13.8, 1384.6),
    "Original Dataset Completions": (11.2, 1343.1),
}


def gaps_of_figure_4(*, theta_factor: float) -> Gaps:
    win_rate, elo = np.array(list(HEART_FIGURE_4.values())).T
    theta = theta_factor * (elo - 1500) * math.log(10) / 400
    n = len(theta)
    balanced = np.ones((n, n)) - np.eye(n)
    return Gaps(
        n=np.ones(n),
        observed=win_rate / 100,
        predicted=predict_win_rates(win_probabilities(theta), balanced),
    )


def test_printed_win_rates_of_the_paper_do_not_follow_from_its_elo() -> None:
    gaps = gaps_of_figure_4(theta_factor=1)
    predicted = dict(zip(HEART_FIGURE_4, gaps.predicted, strict=True))

    assert gaps.root_mean_square == pytest.approx(0.117, abs=5e-4)
    assert gaps.largest == pytest.approx(0.859 - 0.658, abs=5e-4)
    assert predicted["GPT-5"] == pytest.approx(0.658, abs=5e-4)
    assert predicted["Llama 3.1 70B"] == pytest.approx(0.336, abs=5e-4)


def test_stretching_the_printed_strengths_nearly_closes_the_gap() -> None:
    assert gaps_of_figure_4(theta_factor=2.96).root_mean_square == pytest.approx(0.023, abs=5e-4)


def test_cycle_of_wins_shows_in_pairs_and_not_in_systems() -> None:
    cycle = np.array([[0.0, 4.0, 0.0], [0.0, 0.0, 4.0], [4.0, 0.0, 0.0]])
    theta = fit_win_matrix(cycle).theta

    left, right, pairs = check_pairs(cycle, win_probabilities(theta))
    systems = check_systems(cycle, win_probabilities(theta))

    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]
    assert pairs.observed.tolist() == [1, 0, 1]
    np.testing.assert_allclose(pairs.predicted, 0.5)
    assert pairs.root_mean_square == pytest.approx(0.5)
    assert pairs.largest == pytest.approx(0.5)
    assert systems.largest == pytest.approx(0, abs=1e-12)


def test_pairs_that_never_met_are_not_checked() -> None:
    wins = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])

    left, right, pairs = check_pairs(wins, np.full((3, 3), 0.5))

    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 1), (1, 2)]
    assert pairs.n.tolist() == [3, 2]


def test_gaps_are_weighted_by_comparisons() -> None:
    gaps = Gaps(n=np.array([3.0, 1.0]), observed=np.array([0.5, 0.9]), predicted=np.full(2, 0.5))

    assert gaps.root_mean_square == pytest.approx(math.sqrt(0.16 / 4))
    assert gaps.largest == pytest.approx(0.4)


def test_system_win_rates_have_no_gap_at_their_own_fit() -> None:
    wins = np.random.default_rng(4).integers(1, 30, (7, 7)).astype(np.float64)
    np.fill_diagonal(wins, 0)

    systems = check_systems(wins, win_probabilities(fit_win_matrix(wins).theta))

    assert systems.largest < 1e-12
    assert systems.n.tolist() == (wins + wins.T).sum(axis=1).tolist()
