"""Assignments: both orders, one order with balanced sides, own family left out."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from hearteval.domain import Assignment, Completion, Rater
from hearteval.judgments.plan.assignments import AssignmentPolicy, assign_pairs
from hearteval.judgments.plan.pairs import enumerate_pairs

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FAMILIES = {"gpt-a": "gpt", "gpt-b": "gpt", "claude-a": "claude", "stock": "baseline"}
CUE = Rater(name="cue", kind="llm", family="cue", settings={"judge": "cue"})
GPT = Rater(name="judge", kind="llm", family="gpt", settings={"model": "m"})
POLICY = AssignmentPolicy(study_id="ab" * 16, seed=1, both_orders=True)
ONE_ORDER = replace(POLICY, both_orders=False)
OTHERS = [Rater(name=f"judge {n}", kind="llm", family="other", settings={"n": n}) for n in range(3)]
COMPLETIONS = [
    Completion(item_id=f"i{i}", system_id=name, text=f"{name} {i}", created_at=NOW)
    for i in range(51)
    for name in FAMILIES
]
CANDIDATES, _ = enumerate_pairs(COMPLETIONS)


def test_both_orders_are_two_assignments_of_a_pair() -> None:
    assigned = assign_pairs(CANDIDATES, [CUE], families=FAMILIES, policy=POLICY).new
    by_pair = Counter(assignment.pair_id for assignment in assigned)
    assert set(by_pair.values()) == {2}
    shown = {(a.pair_id, a.first_completion_id) for a in assigned}
    assert len(shown) == 2 * len(CANDIDATES)


def leads(assigned: Iterable[Assignment], *, by_rater: bool = False) -> Counter[object]:
    """How much more often the one of two systems was shown first than the other."""
    systems = {c.id: c.system_id for c in COMPLETIONS}
    pairs = {candidate.id: candidate for candidate in CANDIDATES}
    found: Counter[object] = Counter()
    for assignment in assigned:
        low, high = pairs[assignment.pair_id].system_ids
        who = assignment.rater_id if by_rater else ""
        found[who, low, high] += 1 if systems[assignment.first_completion_id] == low else -1
    return found


def test_one_order_shows_each_of_two_systems_first_as_often_as_the_other() -> None:
    raters = [CUE, GPT, *OTHERS]
    assigned = assign_pairs(CANDIDATES, raters, families={}, policy=ONE_ORDER).new
    again = assign_pairs(CANDIDATES[::-1], raters[::-1], families={}, policy=ONE_ORDER).new
    assert assigned == again
    assert len(assigned) == len(raters) * len(CANDIDATES)
    assert len({(a.rater_id, a.pair_id) for a in assigned}) == len(assigned)
    for found in (leads(assigned), leads(assigned, by_rater=True)):
        assert max(map(abs, found.values())) <= 1


def test_a_study_that_grows_keeps_its_sides_and_stays_balanced() -> None:
    rng = random.Random(5)
    planned: tuple[Assignment, ...] = ()
    for n in (7, 20, 61, 62, 163, 300):
        candidates = rng.sample(CANDIDATES, len(CANDIDATES)) if n == 300 else CANDIDATES[:n]
        raters = [CUE] if n < 60 else [CUE, GPT]
        before = {a.id for a in planned}
        planned = assign_pairs(
            candidates, raters, families=FAMILIES, policy=ONE_ORDER, earlier=planned
        ).new
        assert before <= {a.id for a in planned}
        assert max(map(abs, leads(planned).values())) <= 1


def test_the_side_of_one_pair_cannot_be_told_from_that_of_another() -> None:
    """First in a half of the items, in no order that a rater could learn."""
    sides = set()
    for seed in range(20):
        policy = replace(ONE_ORDER, seed=seed)
        assigned = assign_pairs(CANDIDATES, [CUE], families={}, policy=policy).new
        sides.add(tuple(sorted(a.first_completion_id for a in assigned)))
    assert len(sides) == 20


def test_no_judge_decides_on_its_own_family() -> None:
    assigned, _, n_own_family = assign_pairs(
        CANDIDATES, [CUE, GPT], families=FAMILIES, policy=POLICY
    )
    by_rater = Counter(assignment.rater_id for assignment in assigned)
    assert by_rater[CUE.id] == 2 * 6 * 51
    assert by_rater[GPT.id] == 2 * 1 * 51
    assert n_own_family == 5 * 51


def test_own_family_can_be_allowed() -> None:
    assigned, _, n_own_family = assign_pairs(CANDIDATES, [GPT], families={}, policy=POLICY)
    assert len(assigned) == 2 * 6 * 51
    assert n_own_family == 0
