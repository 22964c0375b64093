"""Other rankers and rank correlations, against evalica, choix and SciPy."""

import choix
import evalica
import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, permutation_test, rankdata, spearmanr

from hearteval.errors import NotIdentifiedError
from hearteval.stats.rankers import (
    MOST_STEPS,
    draw_orders,
    elo_in_sequence,
    kendall_tau,
    pearson_r,
    rank_centrality,
    ranks,
    spearman_p,
    spearman_rho,
)

RNG = np.random.default_rng(3)
LEFT = RNG.integers(0, 4, 120)
RIGHT = (LEFT + RNG.integers(1, 4, 120)) % 4
SCORE = RNG.choice([0.0, 0.5, 1.0], 120, p=[0.3, 0.2, 0.5])


def test_elo_in_one_order_is_that_of_evalica() -> None:
    words = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    expected = evalica.elo(
        LEFT.tolist(), RIGHT.tolist(), [words[s] for s in SCORE], initial=1500.0, k=16.0
    ).scores
    found = elo_in_sequence(LEFT, RIGHT, SCORE, n_systems=4, orders=np.arange(120)[None, :])
    assert found[0] == pytest.approx([expected[k] for k in range(4)])


def test_each_order_is_on_its_own() -> None:
    orders = np.array([np.arange(120), np.arange(120)[::-1]])
    both = elo_in_sequence(LEFT, RIGHT, SCORE, n_systems=4, orders=orders)
    last = elo_in_sequence(LEFT, RIGHT, SCORE, n_systems=4, orders=orders[1:])
    assert both[1] == pytest.approx(last[0])
    assert both[0] != pytest.approx(both[1])


def test_many_comparisons_are_drawn_from() -> None:
    orders = draw_orders(MOST_STEPS + 7, seed=1)
    assert orders.shape == (100, MOST_STEPS)
    assert len(np.unique(orders[0])) == MOST_STEPS
    assert np.array_equal(orders, draw_orders(MOST_STEPS + 7, seed=1))


def test_rank_centrality_is_that_of_choix() -> None:
    decided = SCORE != 0.5
    won, lost = np.where(SCORE > 0.5, LEFT, RIGHT), np.where(SCORE > 0.5, RIGHT, LEFT)
    data = list(zip(won[decided].tolist(), lost[decided].tolist(), strict=True))
    wins = np.zeros((4, 4))
    np.add.at(wins, tuple(np.array(data).T), 1.0)
    assert rank_centrality(wins) == pytest.approx(choix.rank_centrality(4, data))


def test_two_systems_get_the_odds_of_their_share() -> None:
    theta = rank_centrality(np.array([[0.0, 3.0], [1.0, 0.0]]))
    assert theta[0] - theta[1] == pytest.approx(np.log(3))


def test_small_odds_keep_their_digits() -> None:
    wins = np.zeros((4, 4))
    for k in range(3):
        wins[k, k + 1], wins[k + 1, k] = 1.0, 1e-9
    gaps = -np.diff(rank_centrality(wins))
    assert gaps == pytest.approx(np.full(3, 9 * np.log(10)))


def test_rank_centrality_needs_wins_both_ways() -> None:
    with pytest.raises(NotIdentifiedError):
        rank_centrality(np.array([[0.0, 3.0], [0.0, 0.0]]))


@pytest.mark.parametrize("seed", range(4))
def test_correlations_are_those_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 6, (2, 12)).astype(float)
    assert ranks(one) == pytest.approx(rankdata(one))
    assert kendall_tau(one, other) == pytest.approx(float(kendalltau(one, other).statistic))
    assert spearman_rho(one, other) == pytest.approx(float(spearmanr(one, other).statistic))
    assert pearson_r(one, other) == pytest.approx(float(pearsonr(one, other).statistic))


def test_what_does_not_vary_correlates_with_nothing() -> None:
    flat, other = np.ones(4), np.arange(4.0)
    assert kendall_tau(flat, other) is None
    assert spearman_rho(other, flat) is None
    assert pearson_r(flat * 0.1, other) is None


def test_p_of_few_ranks_is_that_of_all_permutations() -> None:
    for values in ([3.1, 1.2, 5.0, 2.2, 4.4, 0.1], [1.0, 2.0, 2.0, 3.0, 3.0, 3.0]):
        other = np.array([0.3, 0.1, 0.9, 0.5, 0.4, 0.2])
        expected = permutation_test(
            (np.array(values),),
            lambda x: spearmanr(x, other).statistic,  # noqa: B023 - called at once
            permutation_type="pairings",
            n_resamples=10_000,
        )
        found = spearman_p(np.array(values), other, np.zeros(6, dtype=int))
        assert found == pytest.approx(float(expected.pvalue))


def test_five_in_one_order_are_one_chance_of_sixty() -> None:
    one = np.arange(5.0)
    assert spearman_p(one, -one, np.zeros(5, dtype=int)) == pytest.approx(1 / 60)


def test_within_groups_only_what_is_in_them_is_exchanged() -> None:
    one, group = np.array([-1.0, 0, 1, -2, 0.5, 1.5]), np.repeat([0, 1], 3)
    assert spearman_p(one, one, group) == pytest.approx(1 / 36)


def test_many_values_have_no_exact_p() -> None:
    one = np.arange(11.0)
    assert spearman_p(one, one, np.zeros(11, dtype=int)) is None
