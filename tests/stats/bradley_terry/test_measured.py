"""Strengths by people and judges, and the errors that they share over items."""

from dataclasses import replace

import numpy as np
import pytest
from made_comparisons import made_comparisons
from scipy.stats import norm, t
from simulated_votes import Design, Population, simulate_comparisons

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    InfluenceOf,
    vary_over_items,
    vary_over_items_and_raters,
)
from hearteval.stats.bradley_terry.fit import fit_bradley_terry
from hearteval.stats.bradley_terry.measured import measure
from hearteval.stats.comparisons import Comparisons, FloatArray, select_comparisons

POPULATION = Population(theta=np.linspace(0.6, -0.6, 4), item_sd=0.6, rater_sd=0.3)
DESIGN = Design(n_items=200, pairs_per_item=3, n_raters=12, raters_per_pair=2)


def over_items(influence_of: InfluenceOf, comparisons: Comparisons) -> ClusteredVariance:
    return vary_over_items(influence_of, comparisons.item)


def two_way(influence_of: InfluenceOf, comparisons: Comparisons) -> ClusteredVariance:
    return vary_over_items_and_raters(influence_of, comparisons.item, comparisons.rater)


@pytest.fixture
def votes() -> Comparisons:
    return simulate_comparisons(POPULATION, DESIGN, np.random.default_rng(0))


def jackknife(one: Comparisons, other: Comparisons) -> FloatArray:
    """Return the covariance of two fits over items, each left out in turn and the fit made anew."""
    items = np.unique(one.item)
    left_out = [
        [
            fit_bradley_terry(select_comparisons(each, np.not_equal(each.item, item))).theta
            for each in (one, other)
        ]
        for item in items
    ]
    ours, theirs = (np.array(left_out)[:, k] for k in (0, 1))
    n = len(items)
    return np.asarray((n - 1) / n * (ours - ours.mean(axis=0)).T @ (theirs - theirs.mean(axis=0)))


def test_people_and_judge_err_together_as_items_left_out_tell(votes: Comparisons) -> None:
    judge = simulate_comparisons(POPULATION, DESIGN, np.random.default_rng(1))
    half = replace(judge, item=votes.item, left=votes.left, right=votes.right, score=votes.score)
    rows = np.arange(len(votes)) % 3 > 0
    part = select_comparisons(half, rows)

    found = measure(votes, [part], vary=over_items, level=0.95)

    shared = 1 - 4 / 200
    assert np.abs(found.errors[:4, 4:]).max() > 0.004
    np.testing.assert_allclose(found.errors[:4, 4:], shared * jackknife(votes, part), atol=2e-4)
    np.testing.assert_allclose(np.diag(found.errors)[4:], np.diag(jackknife(part, part)), rtol=0.05)


def test_strengths_are_those_of_plain_fits(votes: Comparisons) -> None:
    judge = simulate_comparisons(POPULATION, DESIGN, np.random.default_rng(2))

    found = measure(votes, [judge], vary=over_items, level=0.95)

    np.testing.assert_allclose(found.people, fit_bradley_terry(votes).theta, atol=1e-9)
    np.testing.assert_allclose(found.judges[:, 0], fit_bradley_terry(judge).theta, atol=1e-9)
    np.testing.assert_array_equal(found.group, 0)


def test_variance_of_people_is_two_way_and_as_wide_as_t_makes_it(votes: Comparisons) -> None:
    found = measure(votes, [votes], vary=two_way, level=0.9)

    narrow = measure(votes, [votes], vary=over_items, level=0.9).errors
    expected = np.zeros(4)

    def kept(influence_of: InfluenceOf, comparisons: Comparisons) -> ClusteredVariance:
        variance = two_way(influence_of, comparisons)
        expected[:] = variance.of_parameters() * (t.ppf(0.95, 11) / norm.ppf(0.95)) ** 2
        return variance

    measure(votes, [votes], vary=kept, level=0.9)
    centre = np.eye(4) - 1 / 4
    widened = np.diag(centre @ found.errors[:4, :4] @ centre)
    assert widened.sum() == pytest.approx(expected.sum(), rel=1e-3)
    np.testing.assert_allclose(widened, expected, rtol=0.1)
    np.testing.assert_array_equal(found.errors[4:, 4:], narrow[4:, 4:])


def test_few_items_leave_no_direction_without_error() -> None:
    few = replace(DESIGN, n_items=5, pairs_per_item=6, raters_per_pair=12)
    votes = simulate_comparisons(POPULATION, few, np.random.default_rng(3))

    found = measure(votes, [], vary=over_items, level=0.95)

    sizes = np.linalg.eigvalsh(found.errors)
    assert sizes[1] > 0.02 * sizes[-1]


def test_judge_who_votes_as_people_do_errs_as_they_do_on_items_however_few() -> None:
    few = replace(DESIGN, n_items=3, pairs_per_item=6, raters_per_pair=12)
    votes = simulate_comparisons(POPULATION, few, np.random.default_rng(4))

    found = measure(votes, [votes], vary=over_items, level=0.95)

    of_judge = found.errors[4:, 4:]
    assert np.diag(of_judge).min() > 0.01
    np.testing.assert_allclose(found.errors[:4, 4:], of_judge, atol=1e-12)


def test_votes_that_all_tie_err_nowhere() -> None:
    tied = made_comparisons([0, 1, 2], [1, 2, 0], 0.5, item=[0, 1, 2])

    found = measure(tied, [tied], vary=over_items, level=0.95)

    np.testing.assert_array_equal(found.errors, 0)


def test_groups_that_votes_do_not_connect_are_fitted_alone() -> None:
    left, right = [0, 1, 0, 2, 3, 2, 0], [1, 0, 1, 3, 2, 3, 4]
    votes = made_comparisons(left, right, item=np.arange(7))

    found = measure(votes, [votes], vary=over_items, level=0.95)

    gap = np.log(2)
    np.testing.assert_allclose(found.people, [gap / 2, -gap / 2, gap / 2, -gap / 2, 0], atol=1e-9)
    np.testing.assert_array_equal(found.group, [0, 0, 1, 1, -1])
    np.testing.assert_array_equal(np.isnan(found.judges[:, 0]), [False, False, True, True, True])
    assert not found.errors[4].any()


def test_votes_that_place_nobody_are_refused() -> None:
    one_way = made_comparisons([0, 0], [1, 1], item=[0, 1])
    on_one_item = made_comparisons([0, 1], [1, 0])

    with pytest.raises(NotIdentifiedError, match="no two systems"):
        measure(one_way, [], vary=over_items, level=0.95)
    with pytest.raises(NotIdentifiedError, match="one item"):
        measure(on_one_item, [], vary=over_items, level=0.95)
