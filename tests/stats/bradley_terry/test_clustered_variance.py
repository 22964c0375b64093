"""Hand-computed cases, statsmodels, and properties."""

import dataclasses
from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from made_comparisons import made_comparisons
from simulated_votes import Design, Population, simulate_comparisons
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry import clustered_variance
from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    InfluenceOf,
    add_writers,
    vary_over_items,
    vary_over_items_and_raters,
    vary_over_votes,
)
from hearteval.stats.bradley_terry.fit import fit_bradley_terry
from hearteval.stats.bradley_terry.intervals import independent_votes, influence_on_strengths
from hearteval.stats.bradley_terry.ties import (
    davidson_scores,
    fit_davidson,
    influence_on_theta,
    pair_probabilities,
)
from hearteval.stats.comparisons import (
    TIE_SCORE,
    Comparisons,
    FloatArray,
    IntArray,
    order_pairs,
    select_comparisons,
    sum_by,
    win_matrix,
)


def adding(*influence: list[float]) -> InfluenceOf:
    """Return the influence of clusters where that of each row is known; parameters in rows."""
    columns = [np.array(column, dtype=np.float64) for column in influence]

    def influence_of(cluster: IntArray) -> FloatArray:
        n = int(cluster.max()) + 1
        return np.stack([sum_by(cluster, column, n) for column in columns], axis=1)

    return influence_of


def votes(seed: int, *, n_items: int = 30, tie: float = 0.4) -> Comparisons:
    rng = np.random.default_rng(seed)
    population = Population(theta=np.linspace(1, -1, 5), item_sd=0.6, rater_sd=0.3, tie=tie)
    design = Design(n_items=n_items, pairs_per_item=10, n_raters=6, raters_per_pair=3)
    comparisons = simulate_comparisons(population, design, rng)
    weight = rng.integers(1, 6, len(comparisons)).astype(np.float64)
    return dataclasses.replace(comparisons, weight=weight)


TWO_BY_TWO = (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))


def test_two_way_variance_adds_raters_and_takes_off_cells() -> None:
    """Items sum to -1 and 1, raters to 3 and -3, so V = 2 * 2 + 18 * 2 - 10 * 4/3."""
    variance = vary_over_items_and_raters(adding([1, -2, 2, -1]), *TWO_BY_TWO)

    np.testing.assert_allclose(variance.of_parameters(), [4 + 36 - 40 / 3], rtol=1e-12)
    assert (variance.n_items, variance.n_raters, variance.df) == (2, 2, 1)


def test_two_way_variance_is_never_below_that_of_items() -> None:
    """Raters sum to 0, so item + rater - cell is 18 * 2 - 10 * 4/3, less than the items' 36."""
    variance = vary_over_items_and_raters(adding([1, 2, -1, -2]), *TWO_BY_TWO)

    np.testing.assert_allclose(variance.of_parameters(), [36], rtol=1e-12)


def test_the_larger_variance_is_chosen_for_each_contrast_apart() -> None:
    """The first parameter is the case above this one, the second that before; rows sum to 0."""
    first, second = [1.0, 2, -1, -2], [1.0, -2, 2, -1]
    third = [-a - b for a, b in zip(first, second, strict=True)]
    variance = vary_over_items_and_raters(adding(first, second, third), *TWO_BY_TWO)

    np.testing.assert_allclose(variance.of_parameters()[:2], [36, 80 / 3], rtol=1e-12)
    # First - second: 0, 4, -3, -1. Items 4, -4; raters -3, 3; cells 26 * 4/3.
    # First - third: 3, 2, 0, -5. Items 5, -5; raters 3, -3; cells 38 * 4/3, more than raters.
    np.testing.assert_allclose(
        variance.of_differences()[0], [0, 64 + 36 - 104 / 3, 100], rtol=1e-12
    )


CUBE = tuple(grid.ravel() for grid in np.meshgrid((0, 1), (0, 1), (0, 1), indexing="ij"))
"""Item, rater and writer of eight rows, each combination once."""


def three_ways(
    influence_of: InfluenceOf, item: IntArray, rater: IntArray, writer: IntArray
) -> ClusteredVariance:
    over = vary_over_items_and_raters(influence_of, item, rater)
    return add_writers(over, influence_of, item, rater, writer)


def test_writers_are_a_third_way() -> None:
    """Each sums to 4 and -4, two to 4, 0, 0, -4, three to 3, three 1, three -1, -3.

    So V = 3 * 2 * 32 - 3 * 4/3 * 32 + 8/7 * 24, more than 2 * 2 * 32 - 4/3 * 32 of two ways.
    """
    item, rater, writer = CUBE
    of_row = [3.0 - 2.0 * int(i + r + w) for i, r, w in zip(item, rater, writer, strict=True)]
    variance = three_ways(adding(of_row), item, rater, writer)
    np.testing.assert_allclose(variance.of_parameters(), [192 - 128 + 192 / 7], rtol=1e-12)
    assert (variance.n_items, variance.n_raters, variance.n_writers) == (2, 2, 2)


def test_three_ways_are_never_below_two() -> None:
    """Only writers differ: they sum to 4 and -4, their items to 2 or -2, so V = 2 * 32 - 4/3 * 16.

    Raters and writers would take as much off again, and all three give 8/7 * 8 back: 30.5.
    """
    item, rater, writer = CUBE
    variance = three_ways(adding([1.0 - 2.0 * int(w) for w in writer]), item, rater, writer)
    np.testing.assert_allclose(variance.of_parameters(), [64 - 64 / 3], rtol=1e-12)


def test_without_raters_items_and_writers_are_two_ways() -> None:
    """As raters are in their place: 2 * 2 + 18 * 2 - 10 * 4/3; t has the writers' degrees."""
    item, writer = np.append(TWO_BY_TWO[0], 2), np.append(TWO_BY_TWO[1], -1)
    influence_of = adding([1, -2, 2, -1, 0])
    over = vary_over_items(influence_of, item)
    variance = add_writers(over, influence_of, item, np.full(5, -1), writer)
    of_items = 3 / 2 * 2
    np.testing.assert_allclose(variance.of_parameters(), [of_items + 36 - 40 / 3], rtol=1e-12)
    assert (variance.df, variance.df_of_writers) == (2, 1)


def by_formula(d: FloatArray, *of: IntArray) -> float:
    """Return V_item + V_rater + V_writer - the pairs + all three, by sets of rows, as published."""

    def over(*ways: IntArray) -> float:
        sets: dict[tuple[int, ...], float] = {}
        for k, moved in enumerate(d.tolist()):
            key = tuple(int(way[k]) for way in ways)
            if min(key) >= 0:
                sets[key] = sets.get(key, 0.0) + moved
        n = len(sets)
        mean = 0.0 if len(ways) == 1 and ways[0] is of[0] else sum(sets.values()) / n
        return n / (n - 1) * sum((total - mean) ** 2 for total in sets.values())

    signs = {1: 1.0, 2: -1.0, 3: 1.0}
    return sum((sign * over(*ways) for n, sign in signs.items() for ways in combinations(of, n)), 0)


def test_three_ways_are_the_published_sum_with_rows_of_neither() -> None:
    """Judges of a panel and rows about no person's completion are in no set of either."""
    draw = np.random.default_rng(11)
    n = 4_000
    item, rater, writer = draw.integers(0, 40, n), draw.integers(-1, 8, n), draw.integers(-1, 6, n)
    spread = [draw.normal(0, 1, size) for size in (40, 9, 7)]
    d = spread[0][item] + spread[1][rater] + spread[2][writer] + draw.normal(0, 1, n)
    variance = three_ways(adding(d.tolist()), item, rater, writer)
    expected = by_formula(d, item, rater, writer)
    np.testing.assert_allclose(variance.of_parameters(), [expected], rtol=1e-10)
    two = vary_over_items_and_raters(adding(d.tolist()), item, rater)
    assert expected > two.of_parameters()[0]
    np.testing.assert_allclose(
        three_ways(adding(d.tolist(), (-2 * d).tolist()), item, rater, writer).of_differences(),
        9 * expected * (1 - np.eye(2)),
        rtol=1e-10,
    )


def test_under_two_writers_there_is_no_third_way() -> None:
    with pytest.raises(NotIdentifiedError, match="at least two writers"):
        three_ways(adding([1, -2, 2, -1]), *TWO_BY_TWO, np.array([-1, 0, 0, -1]))


def test_votes_of_a_rater_on_an_item_are_one_cell() -> None:
    once = vary_over_items_and_raters(adding([1, -2, 2, -1]), *TWO_BY_TWO)
    in_halves = vary_over_items_and_raters(
        adding([0.5, -1, 1, -0.5] * 2), *(np.tile(cluster, 2) for cluster in TWO_BY_TWO)
    )
    np.testing.assert_allclose(in_halves.of_parameters(), once.of_parameters(), rtol=1e-12)


def test_votes_of_a_fixed_panel_vary_over_items_alone() -> None:
    """The panel's row of 1 on item 0 makes the items sum to 0 and 1; all else is as without it."""
    item, rater = TWO_BY_TWO
    variance = vary_over_items_and_raters(
        adding([1, -2, 2, -1, 1]), np.append(item, 0), np.append(rater, -1)
    )
    np.testing.assert_allclose(variance.of_parameters(), [2 + 36 - 40 / 3], rtol=1e-12)
    assert (variance.n_items, variance.n_raters, variance.df) == (2, 2, 1)


def test_raters_and_cells_vary_about_what_tells_them_apart_from_the_panel() -> None:
    """Half a unit on each row of people, taken back by the panel on the same item: no new spread.

    Items still sum to -1 and 1, raters to 3 and -3 about their mean, cells to 1, -2, 2 and -1.
    """
    item, rater = TWO_BY_TWO
    variance = vary_over_items_and_raters(
        adding([1.5, -1.5, 2.5, -0.5, -1, -1]), np.append(item, [0, 1]), np.append(rater, [-1, -1])
    )
    np.testing.assert_allclose(variance.of_parameters(), [4 + 36 - 40 / 3], rtol=1e-12)


def two_way_se_beside_a_panel(departure: float, seed: int) -> FloatArray:
    """Return standard errors from people and a judge who departs from them in every strength."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(0.8, -0.8, 6)
    people = Population(theta=theta, item_sd=0.6, rater_sd=0.3)
    judge = Population(theta=theta, item_sd=0.6, panel=departure * np.array([[1, -1] * 3]))
    design = Design(n_items=60, pairs_per_item=6, n_raters=8, raters_per_pair=5)
    one = Design(n_items=60, pairs_per_item=6, n_raters=1, raters_per_pair=1)
    both = [simulate_comparisons(people, design, rng), simulate_comparisons(judge, one, rng)]
    both[1] = dataclasses.replace(
        both[1], rater=np.full(360, -1), count=np.full(360, 5, dtype=np.int64)
    )
    columns = ("left", "right", "score", "weight", "count", "item", "rater")
    comparisons = Comparisons(
        **{name: np.concatenate([getattr(part, name) for part in both]) for name in columns},
        n_systems=6,
    )
    influence_of = influence_on_strengths(comparisons, fit_bradley_terry(comparisons))
    variance = vary_over_items_and_raters(influence_of, comparisons.item, comparisons.rater)
    return np.sqrt(variance.of_parameters())


def test_two_way_interval_does_not_widen_as_a_panel_departs_from_people() -> None:
    near, far = (
        np.mean([two_way_se_beside_a_panel(departure, seed) for seed in range(20)])
        for departure in (0.0, 1.0)
    )
    assert far == pytest.approx(near, rel=0.15)


def test_difference_on_which_no_item_departs_has_no_variance() -> None:
    """Every item has 7 votes for the first over the third and 6 against, and both meet no other.

    The two systems vary with the second; their difference does so by rounding only.
    """
    for seed in range(20):
        rng = np.random.default_rng(seed)
        wins = [(0, 2, item) for item in range(12)] * 7 + [(2, 0, item) for item in range(12)] * 6
        for item in np.repeat(np.arange(12), 6).tolist():
            for pair in ((0, 1), (1, 3)):
                wins.append((*(pair if rng.random() < 0.6 else pair[::-1]), item))
        winner, loser, item_of = np.array(wins).T
        comparisons = made_comparisons(winner, loser, n_systems=4, item=item_of)
        influence_of = influence_on_strengths(comparisons, fit_bradley_terry(comparisons))

        variance = vary_over_items(influence_of, comparisons.item).of_differences()

        assert variance[0, 2] == variance[2, 0] == 0
        assert variance[0, 1] > 1e-3


def test_degrees_of_freedom_are_those_of_the_scarcer_clusters() -> None:
    comparisons = votes(1)
    influence_of = influence_on_strengths(comparisons, fit_bradley_terry(comparisons))

    two_way = vary_over_items_and_raters(influence_of, comparisons.item, comparisons.rater)

    assert two_way.df == 5
    assert vary_over_items(influence_of, comparisons.item).df == 29


@pytest.mark.parametrize(
    ("item", "rater", "problem"),
    [
        ([0, 0, 0, 0], [0, 1, 0, 1], "at least two items, not 1"),
        ([0, 0, 1, 1], [3, 3, 3, 3], "at least two raters, not 1"),
        ([0, 0, 1, 1], [-1, -1, -1, -1], "at least two raters, not 0"),
    ],
)
def test_under_two_clusters_there_is_no_variance(
    item: list[int], rater: list[int], problem: str
) -> None:
    with pytest.raises(NotIdentifiedError, match=problem):
        vary_over_items_and_raters(adding([1, -2, 2, -1]), np.array(item), np.array(rater))


def test_many_clusters_are_taken_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    comparisons = votes(2)
    influence_of = influence_on_strengths(comparisons, fit_bradley_terry(comparisons))
    rater = np.where(comparisons.rater == 5, -1, comparisons.rater)
    at_once = vary_over_items_and_raters(influence_of, comparisons.item, rater)

    monkeypatch.setattr(clustered_variance, "FIRST_BLOCK", 2)
    monkeypatch.setattr(clustered_variance, "BLOCK_NUMBERS", 35)
    in_blocks = vary_over_items_and_raters(influence_of, comparisons.item, rater)

    np.testing.assert_allclose(in_blocks.item, at_once.item, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(in_blocks.of_differences(), at_once.of_differences(), rtol=1e-9)


def test_logistic_regression_of_statsmodels_has_the_same_clustered_covariances() -> None:
    """Its covariances carry a further factor, (n - 1) / (n - k)."""
    comparisons = dataclasses.replace(votes(3), weight=np.ones(900))
    signs = np.zeros((900, 5))
    signs[np.arange(900), comparisons.left] = 1
    signs[np.arange(900), comparisons.right] = -1
    model = sm.GLM(comparisons.score, signs[:, :4], family=sm.families.Binomial())
    result = model.fit(tol=1e-14)
    centre = (np.eye(5) - 1 / 5)[:, :4]
    both, item, _ = (
        centre @ covariance @ centre.T * (896 / 899)
        for covariance in cov_cluster_2groups(result, comparisons.item, comparisons.rater)
    )
    fit = fit_bradley_terry(comparisons)
    influence_of = influence_on_strengths(comparisons, fit)

    two_way = vary_over_items_and_raters(influence_of, comparisons.item, comparisons.rater)

    np.testing.assert_allclose(fit.theta, centre @ result.params, atol=1e-9)
    np.testing.assert_allclose(two_way.item, item, atol=1e-9)
    expected = np.maximum(np.diag(both), np.diag(item))
    np.testing.assert_allclose(two_way.of_parameters(), expected, atol=1e-9)
    for i, j in ((0, 1), (1, 4), (3, 2)):
        contrast = np.eye(5)[i] - np.eye(5)[j]
        expected = max(contrast @ both @ contrast, contrast @ item @ contrast)
        assert two_way.of_differences()[i, j] == pytest.approx(expected, abs=1e-9)


def test_weighted_votes_have_the_clustered_covariance_of_statsmodels() -> None:
    comparisons = votes(4)
    signs = np.zeros((900, 5))
    signs[np.arange(900), comparisons.left] = 1
    signs[np.arange(900), comparisons.right] = -1
    result = sm.GLM(
        comparisons.score,
        signs[:, :4],
        family=sm.families.Binomial(),
        freq_weights=comparisons.weight,
    ).fit(tol=1e-14)
    centre = (np.eye(5) - 1 / 5)[:, :4]
    _, item, rater = (
        centre @ covariance @ centre.T * (896 / 899)
        for covariance in cov_cluster_2groups(result, comparisons.item, comparisons.rater)
    )
    influence_of = influence_on_strengths(comparisons, fit_bradley_terry(comparisons))

    two_way = vary_over_items_and_raters(influence_of, comparisons.item, comparisons.rater)

    assert two_way.rater is not None
    np.testing.assert_allclose(two_way.item, item, atol=1e-9)
    np.testing.assert_allclose(two_way.rater, rater, atol=1e-9)


def test_independent_votes_of_two_systems_are_binomial() -> None:
    """Of 15 wins and 5 losses, the variance of logit(p) / 2 is 1 / (4 (n - 1) p q)."""
    two_rows = made_comparisons(
        np.array([0, 1]), np.array([1, 0]), n_systems=2, count=np.array([15, 5])
    )
    variance = independent_votes(two_rows, fit_bradley_terry(two_rows))

    expected = 1 / (4 * 19 * 0.75 * 0.25)
    np.testing.assert_allclose(variance.of_parameters(), [expected, expected], rtol=1e-9)
    assert (variance.n_items, variance.df) == (20, 19)


def test_independent_votes_are_items_of_one_vote() -> None:
    comparisons = votes(5)
    counted = dataclasses.replace(comparisons, count=np.arange(900) % 3 + 1)
    rows = np.repeat(np.arange(900), counted.count)
    one_by_one = select_comparisons(comparisons, rows)
    fit = fit_bradley_terry(counted)

    expected = vary_over_items(influence_on_strengths(one_by_one, fit), np.arange(len(rows)))

    found = independent_votes(counted, fit)
    np.testing.assert_allclose(found.of_parameters(), expected.of_parameters(), rtol=1e-9)
    np.testing.assert_allclose(found.of_differences(), expected.of_differences(), rtol=1e-9)
    assert (found.n_items, found.df) == (expected.n_items, expected.df)


def test_independent_votes_with_a_tie_parameter_are_items_of_one_vote() -> None:
    comparisons = votes(6)
    is_tie = comparisons.score == TIE_SCORE
    fit = fit_davidson(win_matrix(comparisons), float(comparisons.weight[is_tie].sum()))
    bread = influence_on_theta(fit)
    low, high, score = order_pairs(comparisons)
    win, tied = pair_probabilities(fit.theta[low] - fit.theta[high], fit.tie)

    expected = vary_over_items(
        lambda cluster: davidson_scores(comparisons, fit, cluster) @ bread, np.arange(900)
    )
    found = vary_over_votes(
        comparisons,
        comparisons.weight * (score - win - tied / 2),
        bread,
        ties=comparisons.weight * (is_tie - tied),
    )
    np.testing.assert_allclose(found.of_parameters(), expected.of_parameters(), rtol=1e-9)
    np.testing.assert_allclose(found.of_differences(), expected.of_differences(), rtol=1e-9)


def test_a_single_vote_has_no_variance() -> None:
    one_vote = select_comparisons(votes(7), np.array([0]))
    with pytest.raises(NotIdentifiedError, match="at least two votes, not 1"):
        vary_over_votes(one_vote, np.array([0.5]), np.eye(5))


@given(st.integers(0, 2**32 - 1))
def test_order_of_rows_changes_nothing_to_the_last_digit(seed: int) -> None:
    comparisons = votes(8, n_items=6)
    shuffled = select_comparisons(
        comparisons, np.random.default_rng(seed).permutation(len(comparisons))
    )
    fit = fit_bradley_terry(comparisons)
    for rows in (comparisons, shuffled):
        assert np.array_equal(fit_bradley_terry(rows).theta, fit.theta)
    before, after = (
        vary_over_items_and_raters(influence_on_strengths(rows, fit), rows.item, rows.rater)
        for rows in (comparisons, shuffled)
    )
    assert np.array_equal(before.of_parameters(), after.of_parameters())
    assert np.array_equal(before.of_differences(), after.of_differences())
    votes_before, votes_after = (independent_votes(rows, fit) for rows in (comparisons, shuffled))
    assert np.array_equal(votes_before.of_parameters(), votes_after.of_parameters())


@given(st.floats(0.01, 100))
def test_scaling_all_weights_changes_no_variance(factor: float) -> None:
    comparisons = votes(9, n_items=6)
    scaled = dataclasses.replace(comparisons, weight=comparisons.weight * factor)
    before, after = (
        vary_over_items_and_raters(
            influence_on_strengths(rows, fit_bradley_terry(rows)), rows.item, rows.rater
        ).of_differences()
        for rows in (comparisons, scaled)
    )
    np.testing.assert_allclose(after, before, rtol=1e-6)


def test_relabelling_systems_permutes_the_variances() -> None:
    comparisons = votes(10)
    permutation = np.array([3, 0, 4, 1, 2])
    renamed = dataclasses.replace(
        comparisons, left=permutation[comparisons.left], right=permutation[comparisons.right]
    )
    before, after = (
        vary_over_items_and_raters(
            influence_on_strengths(rows, fit_bradley_terry(rows)), rows.item, rows.rater
        )
        for rows in (comparisons, renamed)
    )
    np.testing.assert_allclose(
        after.of_parameters()[permutation], before.of_parameters(), rtol=1e-9
    )
    np.testing.assert_allclose(
        after.of_differences()[np.ix_(permutation, permutation)],
        before.of_differences(),
        rtol=1e-9,
        atol=1e-15,
    )


def test_where_no_sampled_rater_met_a_writer_nothing_is_counted_twice() -> None:
    """Items sum to 0, 1, 1, raters to 1 and -1, writers to 1 and 1: about their mean to nothing."""
    item, rater = np.array([0, 0, 1, 2]), np.array([0, 1, -1, -1])
    variance = three_ways(adding([1, -1, 1, 1]), item, rater, np.array([-1, -1, 0, 1]))
    assert variance.overlap is not None
    assert not variance.overlap.any()
    # Raters, and what each said of the item: 2 * 2 both times.
    np.testing.assert_allclose(variance.of_parameters(), [3 / 2 * 2], rtol=1e-12)
