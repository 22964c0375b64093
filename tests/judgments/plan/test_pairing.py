"""Pairs: full and balanced designs, from the seed alone."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from made_records import FULL

from hearteval.domain import Completion
from hearteval.judgments.plan.pairs import Candidate, choose_balanced, choose_pairs, enumerate_pairs

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def completions(n_items: int, n_systems: int) -> list[Completion]:
    return [
        Completion(
            item_id=f"item-{i}", system_id=f"system-{s}", text=f"Reply {i} {s}.", created_at=NOW
        )
        for i in range(n_items)
        for s in range(n_systems)
    ]


def ids(chosen: tuple[Candidate, ...]) -> list[str]:
    return [candidate.id for candidate in chosen]


def test_every_pair_of_systems_meets_on_every_item() -> None:
    found, n_identical = enumerate_pairs(completions(3, 4))
    assert len(found) == 3 * 6
    assert n_identical == 0
    assert {c.system_ids for c in found} == set(combinations([f"system-{s}" for s in range(4)], 2))


def test_identical_texts_are_counted_and_not_planned() -> None:
    one, other, third = completions(1, 3)
    twin = Completion(
        item_id=other.item_id, system_id=other.system_id, text=f" {one.text}\n", created_at=NOW
    )
    found, n_identical = enumerate_pairs([one, twin, third])
    assert n_identical == 1
    assert len(found) == 2


def test_two_completions_of_one_system_are_no_pair() -> None:
    one, other = completions(1, 2)
    second = Completion(
        item_id=one.item_id, system_id=one.system_id, text="Again.", repeat=1, created_at=NOW
    )
    found, _ = enumerate_pairs([one, second])
    assert found == ()
    assert len(enumerate_pairs([one, second, other])[0]) == 2


@given(n=st.integers(0, 80), seed=st.integers(0, 5), order=st.randoms(use_true_random=False))
def test_balanced_choice_is_even_and_ignores_the_order_of_input(n: int, seed: int, order) -> None:  # type: ignore[no-untyped-def]
    answers = completions(7, 4)
    candidates = list(enumerate_pairs(answers)[0])
    chosen = choose_balanced(candidates, n=n, seed=seed)
    order.shuffle(candidates)
    assert ids(choose_balanced(candidates, n=n, seed=seed)) == ids(chosen)
    assert len(chosen) == min(n, 42)
    by_systems = Counter(candidate.system_ids for candidate in chosen)
    counts = [by_systems[key] for key in combinations([f"system-{s}" for s in range(4)], 2)]
    assert max(counts) - min(counts) <= 1


def test_balanced_choice_spreads_over_items() -> None:
    candidates, _ = enumerate_pairs(completions(10, 4))
    by_item = Counter(c.item_id for c in choose_balanced(candidates, n=30, seed=1))
    assert set(by_item.values()) == {3}


def test_growing_keeps_what_was_planned() -> None:
    candidates, _ = enumerate_pairs(completions(10, 4))
    before = choose_balanced(candidates, n=20, seed=1)
    grown, _ = enumerate_pairs(completions(12, 5))
    after = choose_balanced(grown, n=50, seed=1, planned=set(ids(before)))
    assert set(ids(before)) <= set(ids(after))
    assert len(after) == 50


def test_another_seed_chooses_other_pairs() -> None:
    candidates, _ = enumerate_pairs(completions(10, 4))
    assert ids(choose_balanced(candidates, n=20, seed=1)) != ids(
        choose_balanced(candidates, n=20, seed=2)
    )


def test_newcomers_meet_everybody_equally_often_and_nobody_else_meets() -> None:
    candidates, _ = enumerate_pairs(completions(n_items=20, n_systems=7))
    pool = {f"system-{s}" for s in range(5)}
    policy = replace(FULL, design="newcomers", opponents=3)
    chosen = choose_pairs(candidates, policy, seed=1, pool=pool)
    assert len(chosen) == 3 * 2 * 20  # three opponents of each reply of the two
    assert not any(pool.issuperset(one.system_ids) for one in chosen)
    met = Counter(one.system_ids for one in chosen)
    assert len(met) == 2 * 5 + 1
    assert max(met.values()) - min(met.values()) <= 1
    planned = {one.id for one in chosen}
    more = replace(policy, opponents=4)
    grown = choose_pairs(candidates, more, seed=1, pool=pool, planned=planned)
    assert planned < {one.id for one in grown}
    every = choose_pairs(candidates, replace(policy, opponents=99), seed=1, pool=pool)
    assert len(every) == 20 * (2 * 5 + 1)


def test_of_nineteen_systems_eighteen_pairs_are_new() -> None:
    candidates, _ = enumerate_pairs(completions(n_items=1, n_systems=19))
    pool = {f"system-{s}" for s in range(18)}
    policy = replace(FULL, design="newcomers", opponents=18)
    assert len(candidates) == 171
    assert len(choose_pairs(candidates, policy, seed=1, pool=pool)) == 18
