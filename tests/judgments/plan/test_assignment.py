"""Assignments: both orders, one order by a coin, own family left out."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

from hearteval.domain import Completion, Rater
from hearteval.judgments.plan.assignments import AssignmentPolicy, assign_pairs
from hearteval.judgments.plan.pairs import enumerate_pairs

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FAMILIES = {"gpt-a": "gpt", "gpt-b": "gpt", "claude-a": "claude", "stock": "baseline"}
CUE = Rater(name="cue", kind="llm", family="cue", settings={"judge": "cue"})
GPT = Rater(name="judge", kind="llm", family="gpt", settings={"model": "m"})
POLICY = AssignmentPolicy(study_id="ab" * 16, seed=1, both_orders=True)
CANDIDATES, _ = enumerate_pairs(
    [
        Completion(item_id=f"i{i}", system_id=name, text=f"{name} {i}", created_at=NOW)
        for i in range(50)
        for name in FAMILIES
    ]
)


def test_both_orders_are_two_assignments_of_a_pair() -> None:
    assigned, _ = assign_pairs(CANDIDATES, [CUE], families=FAMILIES, policy=POLICY)
    by_pair = Counter(assignment.pair_id for assignment in assigned)
    assert set(by_pair.values()) == {2}
    shown = {(a.pair_id, a.first_completion_id) for a in assigned}
    assert len(shown) == 2 * len(CANDIDATES)


def test_one_order_is_a_fair_coin_that_falls_the_same_way_again() -> None:
    policy = replace(POLICY, both_orders=False)
    assigned, _ = assign_pairs(CANDIDATES, [CUE], families=FAMILIES, policy=policy)
    again, _ = assign_pairs(CANDIDATES[::-1], [CUE], families=FAMILIES, policy=policy)
    assert assigned == again
    low = {candidate.pair.id: candidate.pair.completion_ids[0] for candidate in CANDIDATES}
    n_low = sum(low[a.pair_id] == a.first_completion_id for a in assigned)
    assert len(assigned) == 300
    assert 110 <= n_low <= 190


def test_no_judge_decides_on_its_own_family() -> None:
    assigned, n_own_family = assign_pairs(CANDIDATES, [CUE, GPT], families=FAMILIES, policy=POLICY)
    by_rater = Counter(assignment.rater_id for assignment in assigned)
    assert by_rater[CUE.id] == 2 * 6 * 50
    assert by_rater[GPT.id] == 2 * 1 * 50
    assert n_own_family == 5 * 50


def test_own_family_can_be_allowed() -> None:
    assigned, n_own_family = assign_pairs(CANDIDATES, [GPT], families={}, policy=POLICY)
    assert len(assigned) == 2 * 6 * 50
    assert n_own_family == 0
