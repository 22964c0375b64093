"""Is what one strength per system leaves unexplained chance? Sizes and powers: `benchmarks/`."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from made_comparisons import ice_hockey, made_comparisons
from numpy.typing import ArrayLike
from scipy import stats

from hearteval.stats.bradley_terry.lack_of_fit import (
    MAX_PAIRS,
    LackOfFitTest,
    PairResiduals,
    assess_pairs,
    expect_gaps,
    find_imbalance,
    find_lack_of_fit,
    find_residuals,
)
from hearteval.stats.bradley_terry.ties import TieModel, fit_ties
from hearteval.stats.comparisons import Comparisons, FloatArray, select_comparisons
from hearteval.stats.tally import count_equal

SIX = np.linspace(0.8, -0.8, 6)


def comparisons_of(
    left: ArrayLike, right: ArrayLike, score: ArrayLike, item: ArrayLike
) -> Comparisons:
    n_systems = int(max(np.max(left), np.max(right))) + 1
    return made_comparisons(left, right, score, n_systems=n_systems, item=item, rater=-1)


def drawn(
    theta: FloatArray,
    rng: np.random.Generator,
    *,
    n_items: int,
    n_votes: int,
    shared: float = 0.0,
    cycle: float = 0.0,
) -> Comparisons:
    """Draw votes of all pairs on every item, Bradley-Terry unless there is a cycle.

    A vote compares logistic noise; a share of them takes the one draw of its pair on its item.
    """
    first, second = np.triu_indices(len(theta), 1)
    cell = np.repeat(np.arange(n_items * len(first)), n_votes)
    left, right = first[cell % len(first)], second[cell % len(first)]
    common = rng.logistic(size=n_items * len(first))[cell]
    noise = np.where(rng.random(len(cell)) < shared, common, rng.logistic(size=len(cell)))
    turn = np.where((left == 0) & (right == len(theta) - 1), -cycle, cycle)
    odds = theta[left] - theta[right] + turn + noise
    return comparisons_of(left, right, odds > 0, cell // len(first))


def residuals_of(comparisons: Comparisons, *, has_items: bool = True) -> PairResiduals:
    return find_residuals(fit_ties(comparisons, ties="half"), has_items=has_items)


def whole_test(residuals: PairResiduals) -> LackOfFitTest:
    found = find_lack_of_fit(residuals)
    assert found is not None
    return found


def p_of(comparisons: Comparisons, *, has_items: bool = True) -> float:
    return whole_test(residuals_of(comparisons, has_items=has_items)).p


def pearson_of_statsmodels(comparisons: Comparisons) -> tuple[float, float]:
    """Fit the same votes as a binomial regression; return Pearson's chi-square and its p-value."""
    n = comparisons.n_systems
    keys = comparisons.left * n + comparisons.right
    pairs = np.unique(keys)
    won = np.array([comparisons.score[keys == key].sum() for key in pairs])
    total = np.array([(keys == key).sum() for key in pairs])
    design = np.eye(n)[pairs // n] - np.eye(n)[pairs % n]
    counts = np.column_stack((won, total - won))
    fit = sm.GLM(counts, design[:, 1:], family=sm.families.Binomial()).fit()
    return float(fit.pearson_chi2), float(stats.chi2.sf(fit.pearson_chi2, fit.df_resid))


@pytest.mark.parametrize("cycle", [0.0, 0.1])
def test_independent_votes_have_the_test_of_statsmodels(cycle: float) -> None:
    votes = drawn(SIX, np.random.default_rng(4), n_items=1_500, n_votes=1, cycle=cycle)

    found = whole_test(residuals_of(votes, has_items=False))
    statistic, p = pearson_of_statsmodels(votes)

    assert found.df == pytest.approx(10, rel=0.02)
    assert found.statistic == pytest.approx(statistic, rel=0.02)
    assert found.p == pytest.approx(p, abs=0.01)


@pytest.mark.parametrize("cycle", [0.0, 0.12])
def test_three_systems_have_the_wald_test_of_a_cycle_by_statsmodels(cycle: float) -> None:
    """One degree of freedom: the cycle's, in a regression whose errors depend within items."""
    rng = np.random.default_rng(18)
    votes = drawn(np.array([0.3, 0, -0.3]), rng, n_items=300, n_votes=3, shared=0.8, cycle=cycle)
    systems = np.eye(3)[votes.left] - np.eye(3)[votes.right]
    turn = np.where((votes.left == 0) & (votes.right == 2), -1.0, 1.0)
    design = np.column_stack((systems[:, 1:], turn))
    fit = sm.GEE(votes.score, design, votes.item, family=sm.families.Binomial()).fit()
    residuals = residuals_of(votes)

    assert whole_test(residuals).p == pytest.approx(fit.pvalues[2], abs=0.01)
    assert assess_pairs(residuals).p == pytest.approx(np.full(3, fit.pvalues[2]), abs=0.01)


def test_ice_hockey_has_the_statistic_of_statsmodels() -> None:
    """1,083 games of 58 teams: 441 pairs, of which many met once; a tie is half a win."""
    games, _, _ = ice_hockey()
    visitor, host, won = games.left, games.right, games.score
    low, high = np.minimum(visitor, host), np.maximum(visitor, host)
    votes = comparisons_of(low, high, np.where(visitor < host, won, 1 - won), np.arange(len(won)))
    residuals = residuals_of(votes, has_items=False)

    pearson, p = pearson_of_statsmodels(votes)

    assert len(residuals.n) == 441
    assert (residuals.residual**2 / residuals.spread).sum() == pytest.approx(pearson, rel=1e-9)
    # Ties vary less than wins, which Pearson's p does not know.
    assert 0.1 < whole_test(residuals).p < p


def test_a_vote_that_is_an_item_is_a_vote_without_one() -> None:
    votes = drawn(SIX[:4], np.random.default_rng(5), n_items=80, n_votes=1)
    own = replace(votes, item=np.arange(len(votes)))

    alone, named = residuals_of(votes, has_items=False), residuals_of(own)

    assert whole_test(alone).p == pytest.approx(whole_test(named).p, rel=1e-9)
    assert alone.n_items.tolist() == named.n_items.tolist()
    np.testing.assert_allclose(assess_pairs(alone).z, assess_pairs(named).z, rtol=1e-9)


def test_influence_is_how_residuals_move_without_an_item() -> None:
    votes = drawn(SIX, np.random.default_rng(6), n_items=150, n_votes=2, shared=0.5)
    residuals = residuals_of(votes)

    without = residuals_of(select_comparisons(votes, votes.item != 7)).residual

    np.testing.assert_allclose(residuals.residual - without, residuals.influence[7], atol=0.03)
    assert np.abs(residuals.influence[7]).max() > 0.5


@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_true_order_is_rejected_as_often_as_is_said(shared: float) -> None:
    rng = np.random.default_rng(7)
    p = [p_of(drawn(SIX, rng, n_items=20, n_votes=4, shared=shared)) for _ in range(300)]

    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.09
    assert 0.4 <= np.mean(np.array(p) <= 0.5) <= 0.6


def test_pearson_would_reject_most_true_orders_of_votes_that_share_items() -> None:
    rng = np.random.default_rng(7)
    votes = [drawn(SIX, rng, n_items=20, n_votes=4, shared=0.9) for _ in range(60)]

    assert np.mean([pearson_of_statsmodels(one)[1] <= 0.05 for one in votes]) > 0.5


def test_cycle_is_found() -> None:
    rng = np.random.default_rng(8)
    p = [
        p_of(drawn(np.zeros(3), rng, n_items=30, n_votes=3, shared=0.5, cycle=0.85))
        for _ in range(60)
    ]

    assert np.mean(np.array(p) <= 0.05) > 0.9


def test_gaps_by_chance_are_those_of_a_true_order() -> None:
    rng = np.random.default_rng(9)
    found, expected = [], []
    for _ in range(150):
        residuals = residuals_of(drawn(SIX, rng, n_items=20, n_votes=1))
        gap = np.abs(residuals.residual / residuals.n)
        found.append((np.sqrt((gap**2).mean()), gap.max()))
        expected.append(expect_gaps(residuals, rng))

    np.testing.assert_allclose(np.mean(found, axis=0), np.mean(expected, axis=0), rtol=0.05)


def test_pairs_that_depart_are_told_from_those_that_do_not() -> None:
    rng = np.random.default_rng(10)
    votes = drawn(SIX, rng, n_items=200, n_votes=1)
    turned = (votes.left == 1) & (votes.right == 3) & (rng.random(len(votes)) < 0.6)
    tests = assess_pairs(residuals_of(replace(votes, score=np.where(turned, 0, votes.score))))

    worst = 6  # of (0, 1) to (0, 5), then (1, 2), (1, 3)
    assert tests.q[worst] < 0.001
    assert tests.z[worst] < 0
    assert np.abs(tests.z).argmax() == worst


def test_few_upsets_are_not_taken_for_certainty() -> None:
    """Twenty wins of twenty are likely at 95 %: the pair's own variance would make p .0003."""
    rows = [(0, 1)] * 20 + [(0, 2)] * 57 + [(2, 0)] * 3 + [(1, 2)] * 30 + [(2, 1)] * 30
    winner, loser = np.array(rows).T
    won_first = winner < loser
    votes = comparisons_of(
        np.minimum(winner, loser), np.maximum(winner, loser), won_first, np.arange(len(rows))
    )

    assert assess_pairs(residuals_of(votes)).p.min() > 0.05


@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_order_of_rows_and_sides_change_nothing(ties: str) -> None:
    rng = np.random.default_rng(11)
    votes = drawn(SIX, rng, n_items=30, n_votes=2, shared=0.5)
    votes = replace(votes, score=np.where(rng.random(len(votes)) < 0.2, 0.5, votes.score))
    order = rng.permutation(len(votes))
    mixed = select_comparisons(votes, order)
    is_turned = rng.random(len(votes)) < 0.5
    mixed = replace(
        mixed,
        left=np.where(is_turned, mixed.right, mixed.left),
        right=np.where(is_turned, mixed.left, mixed.right),
        score=np.where(is_turned, 1 - mixed.score, mixed.score),
    )

    found = [
        find_residuals(fit_ties(one, ties=ties), has_items=has_items)  # type: ignore[arg-type]
        for one in (votes, mixed)
        for has_items in (True, False)
    ]

    assert find_lack_of_fit(found[0]) == find_lack_of_fit(found[2])
    assert find_lack_of_fit(found[1]) == find_lack_of_fit(found[3])
    assert assess_pairs(found[0]).z.tolist() == assess_pairs(found[2]).z.tolist()


def test_equal_rows_may_be_counted_and_weights_scaled() -> None:
    votes = drawn(SIX, np.random.default_rng(12), n_items=30, n_votes=4)
    heavy = replace(votes, weight=np.full(len(votes), 3.0))

    assert p_of(count_equal(votes)) == pytest.approx(p_of(votes), rel=1e-9)
    assert p_of(count_equal(votes), has_items=False) == pytest.approx(
        p_of(votes, has_items=False), rel=1e-9
    )
    assert p_of(heavy) == pytest.approx(p_of(votes), rel=1e-9)


def test_ties_are_less_chance_than_wins() -> None:
    """Pearson's statistic of half-ties is far below its degrees of freedom; the test knows."""
    rng = np.random.default_rng(13)
    p = []
    for _ in range(100):
        votes = drawn(SIX, rng, n_items=40, n_votes=1)
        is_tie = rng.random(len(votes)) < 0.6
        p.append(p_of(replace(votes, score=np.where(is_tie, 0.5, votes.score))))

    assert 0.35 <= np.mean(np.array(p) <= 0.5) <= 0.65


def test_davidson_fits_its_own_ties() -> None:
    rng = np.random.default_rng(14)
    votes = drawn(SIX, rng, n_items=60, n_votes=2)
    votes = replace(votes, score=np.where(rng.random(len(votes)) < 0.3, 0.5, votes.score))
    residuals = find_residuals(fit_ties(votes, ties="davidson"))

    without = find_residuals(
        fit_ties(select_comparisons(votes, votes.item != 7), ties="davidson")
    ).residual

    np.testing.assert_allclose(residuals.residual - without, residuals.influence[7], atol=0.06)
    assert 0 < whole_test(residuals).p < 1


def test_pair_that_the_strengths_meet_exactly_has_no_test() -> None:
    rows = [(0, 1, 1), (1, 2, 1), (0, 2, 1), (0, 1, 0), (1, 2, 0), (0, 2, 0), (2, 3, 1), (2, 3, 0)]
    left, right, score = np.array(rows * 6).T
    votes = comparisons_of(left, right, score, np.arange(len(left)) // 3)
    tests = assess_pairs(residuals_of(votes))

    assert np.isnan(tests.p[3])
    assert np.isnan(tests.q[3])
    assert np.isfinite(tests.p[:3]).all()


def test_too_many_pairs_have_no_influence() -> None:
    n = 64
    left, right = np.triu_indices(n, 1)
    votes = comparisons_of(
        np.tile(left, 2), np.tile(right, 2), np.repeat([1, 0], len(left)), np.arange(2 * len(left))
    )
    residuals = residuals_of(votes)

    assert len(left) > MAX_PAIRS
    assert residuals.influence.shape == (0, len(left))
    assert np.isnan(assess_pairs(residuals).p).all()


def test_imbalance_of_two_systems_is_a_t_test_of_items() -> None:
    item = [0, 0, 1, 1, 2, 3, 3, 3]
    votes = comparisons_of([0] * 8, [1] * 8, [1, 1, 1, 0, 1, 1, 1, 0], item)
    sums = np.array([1.0, 0.0, 0.5, 0.5])
    t = sums.sum() / np.sqrt((sums**2).sum())

    assert find_imbalance(votes, 0, 1, has_items=True) == pytest.approx(2 * stats.t.sf(t, 3))
    assert find_imbalance(votes, 1, 0, has_items=True) == pytest.approx(2 * stats.t.sf(t, 3))
    t_of_votes = (6 - 2) / 2 / np.sqrt(8 / 4)
    assert find_imbalance(votes, 0, 1, has_items=False) == pytest.approx(
        2 * stats.t.sf(t_of_votes, 7)
    )


def test_two_systems_that_always_tie_are_balanced() -> None:
    votes = comparisons_of([0, 0], [1, 1], [0.5, 0.5], [0, 1])

    assert find_imbalance(votes, 0, 1, has_items=True) == 1


def test_items_that_all_say_the_same_make_no_test() -> None:
    votes = comparisons_of([0, 0, 1] * 9, [1, 2, 2] * 9, [0.5] * 27, np.arange(27) // 3)

    assert find_lack_of_fit(residuals_of(votes)) is None


@pytest.mark.parametrize("won", [(2, 2, 4), (3, 5, 15)])
def test_items_that_all_meet_one_order_exactly_make_no_test(won: tuple[int, int, int]) -> None:
    """What is left of them is rounding, the same for all: compared with itself it is huge."""
    lost = (1, 1, 1) if won == (2, 2, 4) else (1, 2, 2)
    pairs = ((0, 1), (1, 2), (0, 2))
    rows = [
        (*pair, score, item)
        for item in range(20)
        for pair, *n in zip(pairs, won, lost, strict=True)
        for score, times in zip((1, 0), n, strict=True)
        for _ in range(times)
    ]
    residuals = residuals_of(comparisons_of(*np.array(rows).T))

    assert find_lack_of_fit(residuals) is None
    assert np.isnan(assess_pairs(residuals).p).all()


@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_pair_of_nearly_certain_outcome_is_tested(ties: TieModel) -> None:
    """Along a chain of nine the first expects to beat the last in all but 10^-18 of cases."""
    rows = [(k, k + 1, int(j > 0), j % 40) for k in range(8) for j in range(201)]
    rows += [(0, k, 1, item) for k in (2, 8) for item in range(20)]
    residuals = find_residuals(fit_ties(comparisons_of(*np.array(rows).T), ties=ties))
    theta = -np.log(200) * 8

    far = (residuals.left == 0) & (residuals.right == 8)
    assert np.log(residuals.spread[far] / 20) == pytest.approx(theta, rel=0.05)
    assert np.isfinite(assess_pairs(residuals).p).sum() == 4
    assert whole_test(residuals).p > 0.5
