"""Properties that the three fits share, and agreement of one with two other implementations."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_comparisons import made_comparisons, swapped

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry import covariates, judge_aware
from hearteval.stats.bradley_terry.clustered_variance import InfluenceOf, vary_over_items
from hearteval.stats.bradley_terry.fit import elo_from_theta, fit_bradley_terry
from hearteval.stats.bradley_terry.intervals import influence_on_strengths
from hearteval.stats.comparisons import Comparisons, FloatArray, IntArray, select_comparisons


class Found(NamedTuple):
    parameters: FloatArray
    information: FloatArray
    influence_of: InfluenceOf
    item: IntArray

    @property
    def moves(self) -> FloatArray:
        return self.influence_of(self.item)

    @property
    def covariance(self) -> FloatArray:
        return vary_over_items(self.influence_of, self.item).item


def plain(comparisons: Comparisons, _x: FloatArray) -> Found:
    fit = fit_bradley_terry(comparisons)
    influence_of = influence_on_strengths(comparisons, fit)
    return Found(fit.theta, fit.information, influence_of, comparisons.item)


def with_covariates(comparisons: Comparisons, x: FloatArray) -> Found:
    fit = covariates.fit_with_covariates(comparisons, x)
    influence_of = partial(covariates.influence, comparisons, x, fit)
    parameters = np.concatenate((fit.theta, fit.beta))
    return Found(parameters, fit.information, influence_of, comparisons.item)


def by_judge(comparisons: Comparisons, _x: FloatArray) -> Found:
    fit = judge_aware.fit_judge_aware(comparisons)
    influence_of = partial(judge_aware.influence, comparisons, fit)
    parameters = np.concatenate((fit.theta, fit.discrimination, fit.position_bias))
    return Found(parameters, fit.information, influence_of, comparisons.item)


Fit = Callable[[Comparisons, FloatArray], Found]
every_fit = pytest.mark.parametrize("fit", [plain, with_covariates, by_judge])
few = settings(deadline=None, max_examples=25)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Comparisons, FloatArray]:
    """Random rows, over some that determine every strength, effect and judge."""
    n, n_judges, k = draw(st.integers(2, 5)), draw(st.integers(1, 3)), draw(st.integers(0, 2))
    fixed = [
        (judge, left, right, score, weight, left, *x)
        for judge in range(n_judges)
        for left in range(n)
        for right in range(n)
        if left != right
        for score, weight in ((float(left < right), 6.0), (float(left > right), 3.0))
        for x in np.vstack((np.zeros(k), np.eye(k)))
    ]
    row = st.tuples(
        st.integers(0, n_judges - 1),
        st.integers(0, n - 1),
        st.integers(1, n - 1),
        st.sampled_from((0.0, 0.5, 1.0)),
        st.sampled_from((0.25, 0.7, 1.0, 3.1)),
        st.integers(0, 4),
        *[st.sampled_from((-1.0, -0.3, 0.0, 0.8, 2.0))] * k,
    )
    rest = [
        (judge, left, (left + step) % n, *others)
        for judge, left, step, *others in draw(st.lists(row, max_size=25))
    ]
    judge, left, right, score, weight, item, *x = (
        np.array(column) for column in zip(*fixed, *rest, strict=True)
    )
    comparisons = made_comparisons(left, right, score, weight=weight, item=item, rater=judge)
    return comparisons, np.array(x, dtype=np.float64).reshape(k, len(left)).T


Case = tuple[Comparisons, FloatArray]


@every_fit
@few
@given(cases(), st.data())
def test_order_of_rows_changes_nothing_to_the_last_digit(
    fit: Fit, case: Case, data: st.DataObject
) -> None:
    comparisons, x = case
    order = np.array(data.draw(st.permutations(range(len(x)))))

    found, other = fit(comparisons, x), fit(select_comparisons(comparisons, order), x[order])

    assert found.parameters.tolist() == other.parameters.tolist()
    assert found.information.tolist() == other.information.tolist()
    assert found.moves.tolist() == other.moves.tolist()
    assert found.covariance.tolist() == other.covariance.tolist()


@pytest.mark.parametrize("fit", [plain, with_covariates])
@few
@given(cases())
def test_side_on_which_a_difference_is_told_changes_nothing_to_the_last_digit(
    fit: Fit, case: Case
) -> None:
    comparisons, x = case

    found, other = fit(comparisons, x), fit(swapped(comparisons), -x)

    assert found.parameters.tolist() == other.parameters.tolist()
    assert found.covariance.tolist() == other.covariance.tolist()


@pytest.mark.parametrize(
    ("fit", "n_biases"), [(with_covariates, lambda _: 1), (by_judge, lambda n_judges: n_judges)]
)
@few
@given(cases())
def test_swapping_sides_flips_the_effect_of_position_alone(
    fit: Fit, n_biases: Callable[[int], int], case: Case
) -> None:
    comparisons, _ = case
    position = np.ones((len(comparisons), 1))

    found, other = fit(comparisons, position), fit(swapped(comparisons), position)

    expected = found.parameters.copy()
    expected[-n_biases(1 + int(comparisons.rater.max())) :] *= -1
    np.testing.assert_allclose(other.parameters, expected, atol=1e-8)


@every_fit
@few
@given(cases(), st.data())
def test_relabelled_systems_and_judges_have_permuted_parameters(
    fit: Fit, case: Case, data: st.DataObject
) -> None:
    comparisons, x = case
    n, n_judges = comparisons.n_systems, 1 + int(comparisons.rater.max())
    label = np.array(data.draw(st.permutations(range(n))))
    judge = np.array(data.draw(st.permutations(range(n_judges))))
    relabelled = replace(
        comparisons,
        left=label[comparisons.left],
        right=label[comparisons.right],
        rater=judge[comparisons.rater],
    )

    found, other = fit(comparisons, x), fit(relabelled, x)

    rest = np.append(judge, n_judges + judge) if fit is by_judge else np.arange(x.shape[1])
    place = label if fit is plain else np.append(label, n + rest)
    np.testing.assert_allclose(other.parameters[place], found.parameters, atol=1e-8)
    np.testing.assert_allclose(other.moves[:, place], found.moves, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        other.covariance[np.ix_(place, place)], found.covariance, rtol=1e-6, atol=1e-8
    )


@every_fit
@few
@given(cases())
def test_two_rows_weight_two_and_count_two_are_the_same(fit: Fit, case: Case) -> None:
    comparisons, x = case
    rows = np.arange(len(x)).repeat(2)
    twice = fit(select_comparisons(comparisons, rows), x[rows])

    for same in (
        fit(replace(comparisons, weight=comparisons.weight * 2), x),
        fit(replace(comparisons, count=comparisons.count * 2), x),
    ):
        np.testing.assert_allclose(same.parameters, twice.parameters, atol=1e-8)
        np.testing.assert_allclose(same.information, twice.information, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(same.moves, twice.moves, rtol=1e-6, atol=1e-8)


@every_fit
@few
@given(cases(), st.floats(1e-6, 1e6))
def test_scaling_all_weights_changes_no_estimate_and_no_interval(
    fit: Fit, case: Case, factor: float
) -> None:
    comparisons, x = case
    scaled = replace(comparisons, weight=comparisons.weight * factor)

    found, other = fit(comparisons, x), fit(scaled, x)

    np.testing.assert_allclose(other.parameters, found.parameters, atol=1e-8)
    np.testing.assert_allclose(other.moves, found.moves, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(other.covariance, found.covariance, rtol=1e-6, atol=1e-8)


@few
@given(cases())
def test_covariates_that_are_all_left_out_give_the_plain_fit(case: Case) -> None:
    comparisons, _ = case

    fit = covariates.fit_with_covariates(comparisons, np.empty((len(comparisons), 0)))

    np.testing.assert_allclose(fit.theta, fit_bradley_terry(comparisons).theta, atol=1e-9)


@few
@given(cases())
def test_elo_has_mean_1500(case: Case) -> None:
    elo = elo_from_theta(fit_bradley_terry(case[0]).theta)

    assert elo.mean() == pytest.approx(1500, abs=1e-9)


@settings(deadline=None)
@given(st.integers(2, 6), st.data())
def test_perfect_separation_is_not_identified(n: int, data: st.DataObject) -> None:
    better = data.draw(st.integers(0, n - 1))
    worse = data.draw(st.lists(st.integers(1, n - 1), min_size=1, max_size=10))
    ring = [i for i in range(n) if i != better]
    left = [*([better] * len(worse)), *ring[1:]]
    right = [*((better + step) % n for step in worse), *ring[:-1]]
    score = [1.0] * len(worse) + [0.5] * (len(ring) - 1)

    with pytest.raises(NotIdentifiedError) as caught:
        fit_bradley_terry(made_comparisons(left, right, score, n_systems=n))

    assert sorted(caught.value.components) == sorted([(better,), tuple(ring)])


def random_comparisons(n_systems: int, n_rows: int, *, tie_share: float) -> Comparisons:
    rng = np.random.default_rng(19922)
    left = rng.integers(0, n_systems, n_rows)
    right = (left + rng.integers(1, n_systems, n_rows)) % n_systems
    theta = rng.normal(0, 1, n_systems)
    score = (rng.random(n_rows) < 1 / (1 + np.exp(theta[right] - theta[left]))).astype(np.float64)
    score[rng.random(n_rows) < tie_share] = 0.5
    return made_comparisons(left, right, score, weight=rng.integers(1, 6, n_rows))


def strengths_by_evalica(comparisons: Comparisons) -> FloatArray:
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
    return np.asarray(expected - expected.mean())


def test_evalica_agrees_on_weighted_comparisons_with_ties() -> None:
    comparisons = random_comparisons(12, 2000, tie_share=0.2)

    expected = strengths_by_evalica(comparisons)

    np.testing.assert_allclose(fit_bradley_terry(comparisons).theta, expected, atol=1e-6)


@few
@given(cases())
def test_evalica_agrees_on_small_comparisons(case: Case) -> None:
    expected = strengths_by_evalica(case[0])

    np.testing.assert_allclose(fit_bradley_terry(case[0]).theta, expected, atol=1e-6)


def test_choix_agrees_on_comparisons_without_ties() -> None:
    comparisons = replace(random_comparisons(12, 2000, tie_share=0), weight=np.ones(2000))
    won = comparisons.score == 1
    winner = np.where(won, comparisons.left, comparisons.right)
    loser = np.where(won, comparisons.right, comparisons.left)
    wins = list(zip(winner.tolist(), loser.tolist(), strict=True))
    expected = choix.ilsr_pairwise(12, wins, tol=1e-12)

    found = fit_bradley_terry(comparisons).theta
    np.testing.assert_allclose(found, expected - expected.mean(), atol=1e-6)
