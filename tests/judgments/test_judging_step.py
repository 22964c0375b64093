"""The steps on a store in memory: nothing twice, growth, missing completions."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from made_records import FULL, made_study

from hearteval.completions.baselines import baseline_system
from hearteval.domain import (
    Assignment,
    Attempt,
    Completion,
    Judgment,
    Pair,
    Study,
    System,
    hash_records,
)
from hearteval.items import load_starter_items
from hearteval.judgments.cue_judge.judge import cue_rater
from hearteval.judgments.plan import PlanPolicy
from hearteval.judgments.plan.run import plan_judgments, whole_repeat
from hearteval.judgments.stress_set import STRESS_KINDS, stress_systems
from hearteval.steps.completions import complete_items
from hearteval.steps.judgments import judge_assignments
from hearteval.store.sql import SqlStore

STRESSED = replace(FULL, stress_items=3)
ITEMS = load_starter_items()
N_STRESS_KINDS = len(STRESS_KINDS) - 1
SYSTEMS = [baseline_system(name, seed=1) for name in ("original", "generic", "advice")]


def now() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC)


def quiet(_done: int, _total: int) -> None:
    return None


def study_of(systems: list[System], *, n_items: int = 6, version: int = 1) -> Study:
    items = ITEMS[:n_items]
    return made_study(
        version=version,
        item_ids=tuple(sorted(item.id for item in items)),
        items_hash=hash_records(items),
        system_ids=tuple(sorted(s.id for s in (*systems, *stress_systems(seed=1)))),
        rater_ids=(cue_rater().id,),
        created_at=now(),
    )


@pytest.fixture
def store() -> Iterator[SqlStore]:
    opened = SqlStore.in_memory()
    opened.add([*ITEMS, *SYSTEMS, *stress_systems(seed=1), cue_rater()])
    yield opened
    opened.close()


def run_all(store: SqlStore, study: Study, policy: PlanPolicy = STRESSED) -> tuple[int, int]:
    store.add([study])
    complete_items(store, study, now=now, progress=quiet)
    plan = plan_judgments(store, study, policy, now=now)
    counts = judge_assignments(store, study, now=now, progress=quiet)
    return plan.n_new, counts.n_added


def test_every_pair_is_judged_in_both_orders(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    planned, judged = run_all(store, study)
    assert planned == judged == 2 * (6 * 3 + 3 * N_STRESS_KINDS)
    shown = {(a.pair_id, a.first_completion_id) for a in store.iter(Assignment, study)}
    assert len(shown) == planned


def test_a_second_run_adds_nothing(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    run_all(store, study)
    assert run_all(store, study) == (0, 0)
    assert complete_items(store, study, now=now, progress=quiet).n_added == 0


def test_the_cue_judge_gives_the_same_answer_in_both_orders(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    run_all(store, study)
    assignments = {a.id: a for a in store.iter(Assignment, study)}
    winners: dict[str, set[bool]] = {}
    pairs = {pair.id: pair for pair in store.iter(Pair, study)}
    for judgment in store.iter(Judgment, study):
        assignment = assignments[judgment.assignment_id]
        low = pairs[assignment.pair_id].completion_ids[0]
        is_low_first = assignment.first_completion_id == low
        winners.setdefault(assignment.pair_id, set()).add(
            (judgment.choice == "first") == is_low_first
        )
    assert all(len(sides) == 1 for sides in winners.values())


def test_an_item_without_reference_leaves_an_attempt_and_no_text(store: SqlStore) -> None:
    study = study_of(SYSTEMS, n_items=len(ITEMS))
    store.add([study])
    counts = complete_items(store, study, now=now, progress=quiet)
    n_adversarial = sum(item.subset == "adversarial" for item in ITEMS)
    assert sum(counts.missing.values()) == n_adversarial > 0
    assert counts.n_added == counts.n_wanted - n_adversarial
    assert {attempt.reason for attempt in store.iter(Attempt, study)} == {"no-reference"}


def test_a_grown_study_keeps_every_completion_and_judgment(store: SqlStore) -> None:
    small = study_of(SYSTEMS[:2], n_items=4)
    run_all(store, small)
    before = {j.id for j in store.iter(Judgment)}
    texts = {c.id for c in store.iter(Completion)}
    run_all(store, replace(study_of(SYSTEMS, n_items=6), version=2))
    assert before < {j.id for j in store.iter(Judgment)}
    assert texts < {c.id for c in store.iter(Completion)}


def test_what_left_the_study_is_not_judged(store: SqlStore) -> None:
    wide = study_of(SYSTEMS)
    store.add([wide])
    complete_items(store, wide, now=now, progress=quiet)
    plan_judgments(store, wide, STRESSED, now=now)
    narrow = study_of(SYSTEMS[:2], version=2)
    store.add([narrow])
    counts = judge_assignments(store, narrow, now=now, progress=quiet)
    assert counts.n_wanted == counts.n_added == 2 * (6 * 1 + 3 * N_STRESS_KINDS)


def test_a_balanced_plan_grows_with_its_number(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    few = replace(FULL, design="balanced", comparisons=5, stress_items=0)
    assert run_all(store, study, few) == (10, 10)
    assert run_all(store, study, replace(few, comparisons=8)) == (6, 6)


def test_some_pairs_are_asked_again_and_only_once(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    policy = replace(FULL, repeat_pairs=4)
    assert run_all(store, study, policy) == (2 * 18 + 4, 2 * 18 + 4)
    assert run_all(store, study, policy) == (0, 0)
    assignments = list(store.iter(Assignment, study))
    again = [assignment for assignment in assignments if assignment.repeat == 1]
    assert len({assignment.pair_id for assignment in again}) == 4
    first_time = {(a.pair_id, a.first_completion_id) for a in assignments if a.repeat == 0}
    assert {(a.pair_id, a.first_completion_id) for a in again} <= first_time


def test_judgments_say_which_cues_they_rest_on_and_what_the_judge_is(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    run_all(store, study)
    for judgment in store.iter(Judgment, study):
        assert "measures nothing about empathy" in judgment.rationale
        assert set(judgment.axes) <= set("HEART")
        assert set(judgment.reasons) == set("HEART")
        assert judgment.call.finish_reason in {"decided", "undecided"}
        assert judgment.strength is not None


def ask_again(store: SqlStore, study: Study) -> int:
    """Plan a whole repeat and have it judged; return how many judgments it gave."""
    store.add(list(whole_repeat(store, study, given_up=())))
    return judge_assignments(store, study, now=now, progress=quiet).n_added


def repeats(store: SqlStore, study: Study) -> Counter[int]:
    return Counter(assignment.repeat for assignment in store.iter(Assignment, study))


def test_whole_repeat_asks_about_every_ranked_pair_once_more(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    run_all(store, study)

    assert ask_again(store, study) == 2 * 6 * 3
    assert repeats(store, study)[1] == 2 * 6 * 3


def test_second_whole_repeat_is_another_one(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    run_all(store, study)

    ask_again(store, study)
    ask_again(store, study)

    assert repeats(store, study)[2] == 2 * 6 * 3


def test_pairs_that_were_asked_again_before_count_for_the_first_repeat(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    run_all(store, study, replace(STRESSED, repeat_pairs=4))

    assert ask_again(store, study) == 2 * 6 * 3 - 4
    assert max(repeats(store, study)) == 1


def test_repeat_that_was_broken_off_is_finished_first(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    run_all(store, study)
    store.add(list(whole_repeat(store, study, given_up=())))

    again = whole_repeat(store, study, given_up=())

    assert {assignment.repeat for assignment in again} == {1}


def test_judgments_that_are_given_up_do_not_hold_up_the_next_repeat(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    run_all(store, study)
    planned = whole_repeat(store, study, given_up=())
    store.add(list(planned))

    again = whole_repeat(store, study, given_up=[assignment.id for assignment in planned])

    assert {assignment.repeat for assignment in again} == {2}


def test_nothing_judged_yet_is_nothing_to_ask_again(store: SqlStore) -> None:
    study = study_of(SYSTEMS)
    store.add([study])

    assert whole_repeat(store, study, given_up=()) == ()
