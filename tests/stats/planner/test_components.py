"""Variance components from votes: a classical table, planted truth, and what tells nothing."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hearteval.errors import NotIdentifiedError
from hearteval.stats.comparisons import Comparisons, select_comparisons
from hearteval.stats.planner.components import measure_components


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def crossed(scores: np.ndarray) -> Comparisons:
    """Return votes of two systems, every rater (column) on every item (row)."""
    item, rater = np.divmod(np.arange(scores.size), scores.shape[1])
    left = np.zeros_like(item)
    return votes_of(
        2, left=left, right=left + 1, item=item, rater=rater, score=scores.ravel(), writer=None
    )


def votes_of(n_systems: int, **columns: Any) -> Comparisons:
    ones = np.ones_like(columns["item"])
    given: dict[str, Any] = {"weight": ones.astype(np.float64), "count": ones, **columns}
    return Comparisons(**given, n_systems=n_systems)


def test_a_crossed_table_has_its_analysis_of_variance() -> None:
    """Two systems, all raters on all items: the expected mean squares of a two-way layout."""
    scores = rng().integers(0, 3, (40, 6)) / 2
    mean, rows, columns = scores.mean(), scores.mean(axis=1), scores.mean(axis=0)
    rest = scores - rows[:, None] - columns + mean
    ms_rest = (rest**2).sum() / (39 * 5)
    of_items = (6 * ((rows - mean) ** 2).sum() / 39 - ms_rest) / 6
    of_raters = (40 * ((columns - mean) ** 2).sum() / 5 - ms_rest) / 40
    found = measure_components(crossed(scores), rng=rng()).components
    # A comparison has two completions, and a rater an opinion of two systems.
    assert found.item == pytest.approx(max(0.0, of_items / 2))
    assert found.rater == pytest.approx(max(0.0, of_raters / 2))
    if min(of_items, of_raters) > 0:
        assert found.rest == pytest.approx(ms_rest)


def planted(
    n_systems: int = 5, n_items: int = 400, n_raters: int = 40, n_replies: int = 1
) -> Comparisons:
    """Return votes with item .012, rater .008 and writer .01 planted; the last system is people."""
    draw = rng()
    pairs = np.array(list(itertools.combinations(range(n_systems), 2)))

    def effects(*shape: int, variance: float) -> np.ndarray:
        end = np.sqrt(3 * variance)
        return draw.uniform(-end, end, shape)

    item, rater, writer = (
        effects(n_items, n_systems, variance=0.012),
        effects(n_raters, n_systems, variance=0.008),
        effects(20, variance=0.01),
    )
    n = n_items * 12
    of_item = np.repeat(np.arange(n_items), 12)
    left, right = pairs[draw.integers(len(pairs), size=n)].T
    who = draw.integers(n_raters, size=n)
    reply = draw.integers(n_replies, size=n)
    writers = np.argsort(draw.random((n_items, 20)), axis=1)[:, :n_replies]
    wrote = np.where(right == n_systems - 1, writers[of_item, reply], -1)
    people = effects(n_items, n_replies, variance=0.012)
    own = np.where(wrote >= 0, people[of_item, reply], item[of_item, right])
    chance = 0.5 + item[of_item, left] - own
    chance += rater[who, left] - rater[who, right] - np.where(wrote >= 0, writer[wrote], 0.0)
    score = (draw.random(n) < chance).astype(np.float64)
    return votes_of(
        n_systems, left=left, right=right, item=of_item, rater=who, score=score, writer=wrote
    )


@pytest.mark.parametrize("n_replies", [1, 3])
def test_planted_components_are_found(n_replies: int) -> None:
    votes = planted(n_replies=n_replies)
    found = measure_components(votes, written=np.arange(5) == 4, rng=rng())
    parts = found.components
    assert parts.item == pytest.approx(0.012, abs=0.004)
    assert parts.rater == pytest.approx(0.008, abs=0.003)
    assert parts.writer == pytest.approx(0.01, abs=0.006)
    assert parts.rest == pytest.approx(0.25 - 2 * 0.02 - 0.4 * 0.01, abs=0.01)
    assert (found.n_items, found.n_raters, found.n_writers) == (400, 40, 20)


def test_draws_lie_around_the_estimate_and_tell_how_open_it_is() -> None:
    few = measure_components(planted(n_items=60, n_raters=6), rng=rng())
    many = measure_components(planted(), rng=rng())
    spread = [np.std([one.rater for one in found.draws]) for found in (few, many)]
    assert spread[0] > 2 * spread[1]
    low, high = np.quantile([one.item for one in many.draws], (0.025, 0.975))
    assert low < many.components.item < high


def test_sides_orders_and_rows_change_nothing() -> None:
    votes = planted(n_items=60)
    turned = replace(votes, left=votes.right, right=votes.left, score=1 - votes.score)
    shuffled = select_comparisons(turned, rng().permutation(len(votes)))
    found = [measure_components(one, rng=rng()).components for one in (votes, turned, shuffled)]
    assert found[1].item == pytest.approx(found[0].item)
    assert found[2].rater == pytest.approx(found[0].rater)


def test_both_orders_of_a_rater_are_one_vote() -> None:
    votes = crossed(rng().integers(0, 3, (20, 4)) / 2)
    both = select_comparisons(votes, np.tile(np.arange(len(votes)), 2))
    assert measure_components(both, rng=rng()).components == (
        measure_components(votes, rng=rng()).components
    )


def test_one_vote_an_item_tells_nothing() -> None:
    votes = crossed(rng().integers(0, 3, (20, 4)) / 2)
    once = select_comparisons(votes, np.arange(0, len(votes), 4) + np.arange(20) % 4)
    with pytest.raises(NotIdentifiedError, match="do not tell apart"):
        measure_components(once, rng=rng())


@pytest.mark.parametrize("score", [0.5, 1.0])
def test_votes_that_all_say_the_same_tell_nothing(score: float) -> None:
    with pytest.raises(NotIdentifiedError, match="all say the same"):
        measure_components(crossed(np.full((10, 3), score)), rng=rng())


def test_uneven_loads_are_measured() -> None:
    even = crossed(rng().integers(0, 2, (40, 4)).astype(np.float64))
    uneven = select_comparisons(even, (even.rater == 0) | (even.item < 10))
    assert measure_components(even, rng=rng()).unevenness == 1
    # 40, 10, 10 and 10 votes.
    found = measure_components(uneven, rng=rng()).unevenness
    assert found == pytest.approx(4 * (40 * 39 + 3 * 10 * 9) / (70 * 69))


def test_replies_of_several_people_to_an_item_are_completions_of_their_own() -> None:
    """Four raters agree on each of 60 replies, two to an item: that is no chance."""
    item, writer, rater = (a.ravel() for a in np.meshgrid(range(30), range(2), range(4)))
    score = rng().integers(0, 2, (30, 2)).astype(np.float64)[item, writer]
    left = np.zeros_like(item)
    columns = {"item": item, "rater": rater, "score": score, "writer": writer}
    votes = votes_of(2, left=left, right=left + 1, **columns)
    told = measure_components(votes, written=np.array([False, True]), rng=rng()).components
    untold = measure_components(votes, rng=rng()).components
    assert told.rest < untold.rest / 2
    assert told.item > untold.item
