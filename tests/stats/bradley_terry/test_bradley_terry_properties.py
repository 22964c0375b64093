"""Properties every fit has, and agreement with two independent implementations."""

from dataclasses import replace

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_comparisons import made_comparisons

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.clustered_variance import vary_over_items
from hearteval.stats.bradley_terry.fit import BradleyTerryFit, elo_from_theta, fit_bradley_terry
from hearteval.stats.bradley_terry.intervals import influence_on_strengths
from hearteval.stats.comparisons import Comparisons, FloatArray, select_comparisons

SCORES = (0.0, 0.5, 1.0)
LEVEL = 0.95


def item_covariance(comparisons: Comparisons, fit: BradleyTerryFit) -> FloatArray:
    return vary_over_items(influence_on_strengths(comparisons, fit), comparisons.item).item


@st.composite
def identified_comparisons(draw: st.DrawFn) -> Comparisons:
    """Random rows over a ring of ties that makes every strength determined."""
    n = draw(st.integers(2, 6))
    ring = [(i, (i + 1) % n, 0.5, 1.0, i) for i in range(n)]
    row = st.tuples(
        st.integers(0, n - 1),
        st.integers(1, n - 1),
        st.sampled_from(SCORES),
        st.floats(0.1, 5),
        st.integers(0, 4),
    )
    drawn = draw(st.lists(row, max_size=30))
    rows = [*ring, *((i, (i + step) % n, *rest) for i, step, *rest in drawn)]
    left, right, score, weight, item = (np.array(column) for column in zip(*rows, strict=True))
    return made_comparisons(left, right, score, n_systems=n, weight=weight, item=item)


def reordered(comparisons: Comparisons, order: list[int]) -> Comparisons:
    return select_comparisons(comparisons, np.array(order))


def changed(
    comparisons: Comparisons, *, weight: FloatArray | None = None, is_mirrored: bool = False
) -> Comparisons:
    return replace(
        comparisons,
        left=comparisons.right if is_mirrored else comparisons.left,
        right=comparisons.left if is_mirrored else comparisons.right,
        score=1 - comparisons.score if is_mirrored else comparisons.score,
        weight=comparisons.weight if weight is None else weight,
    )


@settings(deadline=None)
@given(identified_comparisons(), st.data())
def test_order_of_rows_changes_nothing_to_the_last_digit(
    comparisons: Comparisons, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(comparisons))))
    shuffled = reordered(comparisons, order)

    fit, other = fit_bradley_terry(comparisons), fit_bradley_terry(shuffled)

    assert fit.theta.tolist() == other.theta.tolist()
    assert item_covariance(comparisons, fit).tolist() == item_covariance(shuffled, other).tolist()


@settings(deadline=None)
@given(identified_comparisons())
def test_system_on_the_left_changes_nothing_to_the_last_digit(comparisons: Comparisons) -> None:
    mirrored = changed(comparisons, is_mirrored=True)

    fit, other = fit_bradley_terry(comparisons), fit_bradley_terry(mirrored)

    assert fit.theta.tolist() == other.theta.tolist()
    assert item_covariance(comparisons, fit).tolist() == item_covariance(mirrored, other).tolist()


@settings(deadline=None)
@given(identified_comparisons(), st.data())
def test_relabelled_systems_have_permuted_strengths_and_covariances(
    comparisons: Comparisons, data: st.DataObject
) -> None:
    label = np.array(data.draw(st.permutations(range(comparisons.n_systems))))
    left, right = label[comparisons.left], label[comparisons.right]
    relabelled = replace(comparisons, left=left, right=right)
    fit, other = fit_bradley_terry(comparisons), fit_bradley_terry(relabelled)

    np.testing.assert_allclose(other.theta[label], fit.theta, atol=1e-9)
    np.testing.assert_allclose(
        item_covariance(relabelled, other)[np.ix_(label, label)],
        item_covariance(comparisons, fit),
        rtol=1e-7,
        atol=1e-9,
    )


@settings(deadline=None)
@given(identified_comparisons())
def test_weight_two_equals_two_rows(comparisons: Comparisons) -> None:
    twice = reordered(comparisons, [*range(len(comparisons))] * 2)
    weighted = changed(comparisons, weight=comparisons.weight * 2)

    fit, other = fit_bradley_terry(twice), fit_bradley_terry(weighted)

    np.testing.assert_allclose(fit.theta, other.theta, atol=1e-9)
    np.testing.assert_allclose(
        item_covariance(twice, fit), item_covariance(weighted, other), rtol=1e-7, atol=1e-9
    )


@settings(deadline=None)
@given(identified_comparisons(), st.floats(1e-6, 1e6))
def test_scaling_all_weights_changes_no_estimate_and_no_interval(
    comparisons: Comparisons, factor: float
) -> None:
    scaled = changed(comparisons, weight=comparisons.weight * factor)

    fit, other = fit_bradley_terry(comparisons), fit_bradley_terry(scaled)

    np.testing.assert_allclose(fit.theta, other.theta, atol=1e-9)
    np.testing.assert_allclose(
        item_covariance(comparisons, fit), item_covariance(scaled, other), rtol=1e-7, atol=1e-9
    )


@settings(deadline=None)
@given(identified_comparisons())
def test_elo_has_mean_1500(comparisons: Comparisons) -> None:
    elo = elo_from_theta(fit_bradley_terry(comparisons).theta)

    assert elo.mean() == pytest.approx(1500, abs=1e-9)


@settings(deadline=None)
@given(st.integers(2, 6), st.data())
def test_perfect_separation_is_not_identified(n: int, data: st.DataObject) -> None:
    better = data.draw(st.integers(0, n - 1))
    worse = data.draw(st.lists(st.integers(1, n - 1), min_size=1, max_size=10))
    ring = [i for i in range(n) if i != better]
    left = np.array([*([better] * len(worse)), *ring[1:]])
    right = np.array([*((better + step) % n for step in worse), *ring[:-1]])
    score = [1.0] * len(worse) + [0.5] * (len(ring) - 1)
    comparisons = made_comparisons(left, right, score, n_systems=n, item=np.arange(len(left)))
    with pytest.raises(NotIdentifiedError) as caught:
        fit_bradley_terry(comparisons)

    assert sorted(caught.value.components) == sorted([(better,), tuple(ring)])


def random_comparisons(n_systems: int, n_rows: int, *, tie_share: float) -> Comparisons:
    rng = np.random.default_rng(19922)
    left = rng.integers(0, n_systems, n_rows)
    right = (left + rng.integers(1, n_systems, n_rows)) % n_systems
    theta = rng.normal(0, 1, n_systems)
    score = (rng.random(n_rows) < 1 / (1 + np.exp(theta[right] - theta[left]))).astype(np.float64)
    score[rng.random(n_rows) < tie_share] = 0.5
    weight, item = rng.integers(1, 6, n_rows), rng.integers(0, 50, n_rows)
    return made_comparisons(left, right, score, n_systems=n_systems, weight=weight, item=item)


def test_evalica_agrees_on_weighted_comparisons_with_ties() -> None:
    comparisons = random_comparisons(12, 2000, tie_share=0.2)
    winner = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    result = evalica.bradley_terry(
        comparisons.left.tolist(),
        comparisons.right.tolist(),
        [winner[score] for score in comparisons.score],
        weights=comparisons.weight.tolist(),
        tolerance=1e-14,
        limit=10_000,
    )
    expected = np.log(result.scores.sort_index().to_numpy())

    np.testing.assert_allclose(
        fit_bradley_terry(comparisons).theta, expected - expected.mean(), atol=1e-6
    )


def test_choix_agrees_on_comparisons_without_ties() -> None:
    comparisons = random_comparisons(12, 2000, tie_share=0)
    unweighted = changed(comparisons, weight=np.ones(2000))
    is_left = comparisons.score == 1
    winner = np.where(is_left, comparisons.left, comparisons.right)
    loser = np.where(is_left, comparisons.right, comparisons.left)
    expected = choix.ilsr_pairwise(
        12, list(zip(winner.tolist(), loser.tolist(), strict=True)), tol=1e-12
    )

    np.testing.assert_allclose(
        fit_bradley_terry(unweighted).theta, expected - expected.mean(), atol=1e-6
    )


@settings(deadline=None, max_examples=25)
@given(identified_comparisons())
def test_evalica_agrees_on_small_comparisons(comparisons: Comparisons) -> None:
    winner = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    result = evalica.bradley_terry(
        comparisons.left.tolist(),
        comparisons.right.tolist(),
        [winner[score] for score in comparisons.score],
        weights=comparisons.weight.tolist(),
        tolerance=1e-14,
        limit=100_000,
    )
    expected = np.log(result.scores.sort_index().to_numpy())

    np.testing.assert_allclose(
        fit_bradley_terry(comparisons).theta, expected - expected.mean(), atol=1e-6
    )
