"""The batched bootstrap is the plain loop: draw items, count, fit, for each replicate."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from made_comparisons import made_comparisons

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry import bootstrap as bootstrap_module
from hearteval.stats.bradley_terry.bootstrap import are_identified, bootstrap_items, draw_items
from hearteval.stats.bradley_terry.ties import fit_ties
from hearteval.stats.comparisons import Comparisons, FloatArray, select_comparisons

Ties = Literal["half", "davidson"]


def votes(n_rows: int = 900, n_items: int = 30, n_systems: int = 5, seed: int = 3) -> Comparisons:
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 0.7, n_systems)
    left = rng.integers(0, n_systems, n_rows)
    right = (left + rng.integers(1, n_systems, n_rows)) % n_systems
    score = (rng.random(n_rows) < 1 / (1 + np.exp(theta[right] - theta[left]))).astype(float)
    score[rng.random(n_rows) < 0.2] = 0.5
    return made_comparisons(
        left,
        right,
        score,
        n_systems=n_systems,
        weight=rng.integers(1, 4, n_rows),
        count=rng.integers(1, 3, n_rows),
        item=rng.integers(0, n_items, n_rows) * 3,
    )


def refitted_one_by_one(
    comparisons: Comparisons, draws: FloatArray, *, ties: Ties, prior: float
) -> FloatArray:
    names = np.unique(comparisons.item)
    theta = []
    for drawn in draws.T:
        times = drawn[np.searchsorted(names, comparisons.item)].astype(np.int64)
        kept = select_comparisons(comparisons, times > 0)
        kept = replace(kept, count=kept.count * times[times > 0])
        theta.append(fit_ties(kept, ties=ties, prior=prior).theta)
    return np.array(theta)


@pytest.mark.parametrize("ties", ["half", "davidson"])
@pytest.mark.parametrize("prior", [0.0, 2.0])
def test_every_replicate_is_the_fit_of_its_items(ties: Ties, prior: float) -> None:
    comparisons = votes()
    fit = fit_ties(comparisons, ties=ties, prior=prior).fit

    rng = np.random.default_rng(11)
    drawn = bootstrap_items(comparisons, fit, n_resamples=40, rng=rng, prior=prior)

    draws = draw_items(30, 40, np.random.default_rng(11)).astype(np.float64)
    expected = refitted_one_by_one(comparisons, draws, ties=ties, prior=prior)
    np.testing.assert_allclose(drawn.theta, expected, atol=5e-5)
    assert drawn.n_not_identified == 0


@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_replicates_that_chords_do_not_reach_are_fitted_alone(
    ties: Ties, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparisons = votes()
    fit = fit_ties(comparisons, ties=ties).fit
    reached = bootstrap_items(comparisons, fit, n_resamples=20, rng=np.random.default_rng(1))

    monkeypatch.setattr(bootstrap_module, "MAX_CHORDS", 1)
    alone = bootstrap_items(comparisons, fit, n_resamples=20, rng=np.random.default_rng(1))

    np.testing.assert_allclose(alone.theta, reached.theta, atol=5e-5)


def test_replicates_that_determine_no_strengths_are_counted_and_left_out() -> None:
    comparisons = votes(n_rows=16, n_items=8, n_systems=4, seed=5)
    fit = fit_ties(comparisons, ties="half").fit

    drawn = bootstrap_items(comparisons, fit, n_resamples=200, rng=np.random.default_rng(2))

    names = np.unique(comparisons.item)
    draws = draw_items(len(names), 200, np.random.default_rng(2)).astype(np.float64)
    n_lost = 0
    for drawn_items in draws.T:
        try:
            refitted_one_by_one(comparisons, drawn_items[:, None], ties="half", prior=0.0)
        except NotIdentifiedError:
            n_lost += 1
    assert 0 < n_lost < 200
    assert drawn.n_not_identified == n_lost
    assert len(drawn.theta) == 200 - n_lost


def test_replicates_with_nothing_but_ties_have_no_tie_parameter() -> None:
    comparisons = votes(n_rows=12, n_items=6, n_systems=2, seed=1)
    score = np.where(comparisons.item == comparisons.item.min(), comparisons.score, 0.5)
    comparisons = replace(comparisons, score=score)
    fit = fit_ties(comparisons, ties="davidson").fit

    drawn = bootstrap_items(comparisons, fit, n_resamples=100, rng=np.random.default_rng(2))

    assert drawn.n_not_identified > 0


def test_many_items_are_resampled_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 600 groups and 1,600 replicates, a spread is known to about 1 / sqrt(2 n): 3 % and 2 %."""
    comparisons = votes(n_rows=12_000, n_items=1_200)
    fit = fit_ties(comparisons, ties="half").fit
    one_by_one = bootstrap_items(comparisons, fit, n_resamples=1_600, rng=np.random.default_rng(4))

    monkeypatch.setattr(bootstrap_module, "MAX_GROUPS", 600)
    grouped = bootstrap_items(comparisons, fit, n_resamples=1_600, rng=np.random.default_rng(4))

    spread = grouped.theta.std(axis=0) / one_by_one.theta.std(axis=0)
    np.testing.assert_allclose(spread, 1, atol=0.12)


def test_blocks_of_replicates_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    comparisons = votes()
    fit = fit_ties(comparisons, ties="half").fit
    at_once = bootstrap_items(comparisons, fit, n_resamples=20, rng=np.random.default_rng(1))

    monkeypatch.setattr(bootstrap_module, "BLOCK_CELLS", 100)
    in_blocks = bootstrap_items(comparisons, fit, n_resamples=20, rng=np.random.default_rng(1))

    np.testing.assert_allclose(in_blocks.theta, at_once.theta, atol=2e-5)


def test_each_replicate_draws_as_many_items_as_there_are() -> None:
    draws = draw_items(17, 50, np.random.default_rng(0))

    assert draws.shape == (17, 50)
    np.testing.assert_array_equal(draws.sum(axis=0), 17)


def test_one_item_cannot_be_resampled() -> None:
    comparisons = replace(votes(), item=np.zeros(900, dtype=np.int64))
    fit = fit_ties(comparisons, ties="half").fit

    with pytest.raises(NotIdentifiedError, match="two items"):
        bootstrap_items(comparisons, fit, n_resamples=10, rng=np.random.default_rng(0))


def test_replicates_are_identified_if_wins_lead_everywhere_and_back() -> None:
    cycle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    apart = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    points = np.stack([cycle, chain, apart, chain.T, cycle.T], axis=2).astype(np.float32)

    assert are_identified(points).tolist() == [True, False, False, False, True]
