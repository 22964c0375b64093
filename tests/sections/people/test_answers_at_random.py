"""Each person beside the others: one case by hand, planted people found, honest ones not named."""

from collections.abc import Mapping
from statistics import mean

import numpy as np
import pytest
from answered_pairs import votes_of
from planted_studies import NOTHING, data_of
from scipy.stats import false_discovery_control, ttest_1samp
from statsmodels.stats.inter_rater import cohens_kappa

from hearteval.analysis.agreement.pair_votes import ABSENT
from hearteval.sections.people.one_by_one import (
    PeopleOneByOne,
    compare_answers,
    compare_each_person,
)
from hearteval.stats.comparisons import IntArray
from hearteval.study.simulation.making import draw_world


def drawn(
    seed: int,
    *,
    n_items: int = 40,
    people: int = 8,
    per_pair: int = 5,
    n_random: int = 0,
    steadiness: Mapping[int, float] | None = None,
) -> tuple[IntArray, IntArray]:
    """Draw answers to two pairs of each item; the last people toss coins."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(n_items), 2)
    votes = np.full((len(item), people), ABSENT)
    lean = rng.normal(0, 1.2, len(item))
    sharp = np.array([(steadiness or {}).get(k, 1.0) for k in range(people)])
    for pair, of_pair in enumerate(lean):
        who = rng.permutation(people)[:per_pair]
        x = np.where(who < people - n_random, of_pair * sharp[who], 0) + rng.logistic(size=per_pair)
        votes[pair, who] = np.where(np.abs(x) < 0.3, 2, np.where(x > 0, 0, 1))
    return votes, item


def compared(votes: IntArray, item: IntArray) -> PeopleOneByOne:
    found = compare_answers(votes, item, [f"p{k}" for k in range(votes.shape[1])], level=0.95)
    assert found is not None
    return found


def named(found: PeopleOneByOne) -> set[str]:
    return {one.person for one in found.people if one.is_as_if_random}


def test_agreement_beyond_chance_is_what_kappa_divides() -> None:
    """Of two who answer every pair, 'same' and 'by chance' are those of Cohen's kappa."""
    votes, item = drawn(3, people=3, per_pair=3)
    votes[:, 2] = np.where(np.arange(len(item)) % 3 == 0, votes[:, 2], ABSENT)
    votes[np.arange(len(item)) % 3 == 0, 1] = ABSENT
    found = {one.person: one for one in compared(votes, item).people}
    shared = votes[:, 1] != ABSENT
    one = found["p1"]
    table = np.zeros((3, 3))
    np.add.at(table, (votes[shared, 0], votes[shared, 1]), 1)
    kappa = cohens_kappa(table).kappa
    assert one.beyond.value / (1 - one.by_chance) == pytest.approx(kappa)
    assert one.same == pytest.approx((votes[shared, 0] == votes[shared, 1]).mean())
    assert one.n_pairs == shared.sum()


def test_with_several_others_each_of_them_counts_the_same() -> None:
    # p0 says 0 on every pair; of the others one says 0, one 1 on the first item's pairs, and both
    # 0 on the others: the same in half, then in all
    item = np.repeat(np.arange(10), 2)
    votes = np.zeros((20, 3), dtype=np.int64)
    votes[:2, 2] = 1
    one = {one.person: one for one in compared(votes, item).people}["p0"]
    assert one.same == pytest.approx((2 * 0.5 + 18) / 20)
    assert one.by_chance == pytest.approx(one.same)
    assert one.beyond.value == pytest.approx(0)


def test_one_pair_an_item_is_the_t_test_of_its_pairs() -> None:
    """Beyond chance is a covariance: its influence is the product of departures."""
    votes, _ = drawn(5, people=3, per_pair=3)
    found = {x.person: x for x in compared(votes, np.arange(len(votes))).people}["p0"]
    own = np.eye(3)[votes[:, 0]]
    others = (np.eye(3)[votes[:, 1]] + np.eye(3)[votes[:, 2]]) / 2
    products = ((own - own.mean(axis=0)) * (others - others.mean(axis=0))).sum(axis=1)
    low, high = ttest_1samp(products, 0).confidence_interval(0.95)
    assert (found.beyond.low, found.beyond.high) == pytest.approx((low, high))
    assert found.beyond.value == pytest.approx(products.mean())


def test_the_contrast_is_from_the_mean_of_the_others() -> None:
    votes, item = drawn(6, people=4, per_pair=4)
    found = compared(votes, item).people
    for one in found:
        others = mean(x.beyond.value for x in found if x is not one)
        assert one.from_others.value == pytest.approx(one.beyond.value - others)
    q = false_discovery_control([one.from_others.p for one in found])
    assert [one.q for one in found] == pytest.approx(q.tolist())


def test_people_who_toss_coins_are_named() -> None:
    """Of each of these 95 % have an interval that holds 0; power does the rest."""
    found = [named(compared(*drawn(seed, n_items=300, n_random=2))) for seed in range(20)]
    assert sum(len(names & {"p6", "p7"}) for names in found) >= 34
    assert not set().union(*found) - {"p6", "p7"}


def test_who_always_says_tie_is_as_if_random() -> None:
    votes, item = drawn(8, n_items=150)
    votes[votes[:, 7] != ABSENT, 7] = 2
    assert named(compared(votes, item)) == {"p7"}


def test_honest_people_are_named_in_no_more_studies_than_stated() -> None:
    """In 200 studies of people alike: 5 % are 10; 18 or more have a chance of 1 %."""
    n_named = sum(bool(named(compared(*drawn(seed)))) for seed in range(200))
    assert n_named <= 17


def test_who_only_agrees_less_is_not_named() -> None:
    """A person half as steady is below the others, and yet beyond chance."""
    found = [compared(*drawn(s, n_items=400, steadiness={0: 0.45})) for s in range(6)]
    below = [one for each in found for one in each.people if one.person == "p0"]
    assert sum(one.q is not None and one.q <= 0.05 for one in below) >= 4
    assert not set().union(*map(named, found))


def test_nothing_is_said_of_few_pairs_or_few_people() -> None:
    votes, item = drawn(9, people=5)
    votes[19:, 4] = ABSENT
    found = compared(votes, item)
    assert ({one.person for one in found.people}, found.n_too_few) == ({"p0", "p1", "p2", "p3"}, 1)
    two = compared(votes[:, :2], item)
    assert (two.people, two.n_too_few) == ((), 2)
    assert compare_answers(votes[:, :1], item, ["p0"], level=0.95) is None


def test_the_order_of_pairs_and_people_changes_nothing() -> None:
    votes, item = drawn(10, n_items=60, n_random=1)
    names = [f"p{k}" for k in range(votes.shape[1])]
    turned = compare_answers(votes[::-1, ::-1], item.max() - item[::-1], names[::-1], level=0.95)
    straight = compare_answers(votes, item, names, level=0.95)
    assert straight is not None
    assert turned is not None
    assert [one.person for one in turned.people] == [one.person for one in straight.people]
    assert [one.q for one in turned.people] == pytest.approx([one.q for one in straight.people])


def test_planted_random_raters_of_simulated_studies_are_found() -> None:
    plan = NOTHING.model_copy(update={"items": 150, "random_raters": 2, "judges": 0})
    at_random, n_found = {"simulated person 9", "simulated person 10"}, 0
    for seed in range(3):
        world, study = draw_world("planted", plan, seed=seed)
        found = compare_each_person(votes_of(data_of(world, study)), level=0.95)
        assert found is not None
        assert named(found) <= at_random
        n_found += len(named(found))
    assert n_found >= 5


def test_nobody_of_a_simulated_study_without_them_is_found() -> None:
    world, study = draw_world("planted", NOTHING)
    found = compare_each_person(votes_of(data_of(world, study)), level=0.95)
    assert found is not None
    assert len(found.people) == 10
    assert named(found) == set()
