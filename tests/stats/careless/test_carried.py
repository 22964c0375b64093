"""What one rater's answers carry beside the others: planted raters, properties, one by hand."""

import numpy as np
import pytest

from hearteval.stats.careless.carried import Carried, CarriedBounds, measure_carried
from hearteval.stats.comparisons import FloatArray, IntArray

N_SYSTEMS = 6


def drawn(
    rng: np.random.Generator, sharp: list[float], *, n_items: int, per_pair: int = 5
) -> tuple[FloatArray, IntArray, IntArray]:
    """Draw votes on two pairs of each item; `sharp` is the part of a difference that each sees."""
    sees, theta = np.array(sharp), rng.normal(0, 0.7, N_SYSTEMS)
    item = np.repeat(np.arange(n_items), 2)
    systems = np.array([rng.permutation(N_SYSTEMS)[:2] for _ in item])
    of_texts = rng.normal(0, 0.85, len(item))
    score = np.full((len(item), len(sharp)), np.nan)
    for pair, (one, other) in enumerate(systems):
        who = rng.permutation(len(sharp))[:per_pair]
        x = (theta[one] - theta[other] + of_texts[pair]) * sees[who] + rng.logistic(size=per_pair)
        score[pair, who] = np.where(np.abs(x) < 0.3, 0.5, x > 0)
    return score, item, systems


def little(found: list[Carried]) -> set[int]:
    return {one.rater for one in found if one.is_little}


def test_six_of_fifteen_who_toss_coins_are_found_and_nobody_else() -> None:
    """At 400 answers each; 80 % of the coins are asked for. See RESULTS for fewer answers."""
    rng = np.random.default_rng(1)
    found = [
        little(measure_carried(*drawn(rng, [0.0] * 6 + [1.0] * 9, n_items=600), level=0.95))
        for _ in range(5)
    ]
    assert sum(len(one & set(range(6))) for one in found) >= 24
    assert not set().union(*found) - set(range(6))


def test_honest_but_unsteady_people_are_not_found() -> None:
    """They see a third of what others see; of 30 at most one may be named."""
    rng = np.random.default_rng(2)
    sharp = [1 / 3] * 3 + [1.0] * 12
    found = [
        little(measure_carried(*drawn(rng, sharp, n_items=300), level=0.95)) for _ in range(10)
    ]
    assert sum(map(len, found)) <= 1


def test_whoever_says_the_opposite_is_found_below_zero() -> None:
    rng = np.random.default_rng(3)
    found = measure_carried(*drawn(rng, [-1.0] + [1.0] * 9, n_items=200), level=0.95)
    contrary = next(one for one in found if one.rater == 0)
    assert contrary.is_little
    assert contrary.share.high < 0
    assert contrary.infit.low > 1


def test_people_alike_carry_as_much_as_each_other() -> None:
    rng = np.random.default_rng(4)
    found = measure_carried(*drawn(rng, [1.0] * 8, n_items=250), level=0.95)
    shares = [one.share.value for one in found]
    assert np.mean(shares) == pytest.approx(1, abs=0.1)
    assert np.mean([one.infit.value for one in found]) == pytest.approx(1, abs=0.05)
    # 95 % intervals of eight people: fewer than six hold 1 by chance once in 2,000 studies
    assert sum(one.share.low <= 1 <= one.share.high for one in found) >= 6


def test_a_slope_by_hand() -> None:
    """One system's pairs alone: with nothing to expect, p moves with the others' share."""
    score = np.tile([[1.0, 1, 1, 1, 1, 0.0], [0, 0, 0, 0, 0, 1]], (10, 1))
    systems = np.zeros((20, 2), dtype=np.int64)
    found = measure_carried(score, np.arange(20), systems, level=0.95)
    shares = {one.rater: one.share.value for one in found}
    assert shares[0] == pytest.approx(1)
    assert shares[5] < -0.5


def test_turning_sides_and_renaming_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    score, item, systems = drawn(rng, [0.0, 1, 1, 1, 1, 1, 1], n_items=120)
    straight = measure_carried(score, item, systems, level=0.95)
    turned = measure_carried(
        1 - score[::-1, ::-1], -item[::-1], 7 - systems[::-1, ::-1], level=0.95
    )
    assert [one.share.value for one in turned][::-1] == pytest.approx(
        [one.share.value for one in straight]
    )
    assert {6 - rater for rater in little(turned)} == little(straight)


def test_nothing_is_said_of_few_people_few_pairs_or_few_items() -> None:
    rng = np.random.default_rng(6)
    score, item, systems = drawn(rng, [1.0] * 6, n_items=60)
    assert measure_carried(score[:, :4], item, systems, level=0.95) == []
    few = score.copy()
    few[20:, 5] = np.nan
    assert 5 not in {one.rater for one in measure_carried(few, item, systems, level=0.95)}
    bounds = CarriedBounds(fewest_items=61)
    assert measure_carried(score, item, systems, level=0.95, bounds=bounds) == []


def test_where_most_agree_with_nobody_nobody_is_named() -> None:
    """All say the opposite of each other on every pair: there is no reference."""
    rng = np.random.default_rng(7)
    score = rng.permuted(np.tile([1.0, 1, 1, 0, 0, 0], (60, 1)), axis=1)
    systems = np.tile([0, 1], (60, 1))
    found = measure_carried(score, np.arange(60), systems, level=0.95)
    assert len(found) == 6
    assert little(found) == set()
