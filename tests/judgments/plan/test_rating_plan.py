"""Who rates what: every judge all it may, whole, from a seed."""

from collections import Counter
from dataclasses import replace

from made_records import FULL, NOW, made_study

from hearteval.domain import Completion, Rater, RatingTarget, System
from hearteval.judgments.plan import PlanPolicy
from hearteval.judgments.plan.assignments import RatingPlan, plan_ratings_of

ONE = System(name="one", kind="model", family="a")
TWO = System(name="two", kind="model", family="b")
HOSTILE = System(name="hostile", kind="stress", family="b", settings={"stress": "hostile"})
OUTSIDE = Rater(name="outside", kind="llm", family="c", settings={"model": "outside"})
INSIDE = Rater(name="inside", kind="llm", family="b", settings={"model": "inside"})
STUDY = made_study(seed=3)


def completions(n: int, *systems: System) -> list[Completion]:
    return [
        Completion(item_id=f"{k}", system_id=system.id, text=f"{k}", created_at=NOW)
        for k in range(n)
        for system in systems
    ]


def plan(
    written: list[Completion], rule: PlanPolicy, again: tuple[RatingTarget, ...] = ()
) -> RatingPlan:
    return plan_ratings_of(
        written, [ONE, TWO, HOSTILE], [OUTSIDE, INSIDE], study=STUDY, policy=rule, rated_again=again
    )


def test_no_judge_rates_its_own_family_but_all_face_the_stress_set() -> None:
    written = completions(3, ONE, TWO, HOSTILE)
    found = plan(written, FULL)
    systems = {c.id: c.system_id for c in written}
    of_inside = {systems[t.completion_id] for t in found.targets if t.rater_id == INSIDE.id}
    assert of_inside == {ONE.id, HOSTILE.id}
    assert Counter(t.rater_id for t in found.targets) == {OUTSIDE.id: 9, INSIDE.id: 6}
    assert (found.n_completions, found.n_stress, found.n_own_family) == (6, 3, 3)


def test_own_family_is_rated_where_the_study_lets_it() -> None:
    found = plan(completions(3, ONE, TWO), replace(FULL, exclude_own_family=False))
    assert Counter(t.rater_id for t in found.targets) == {OUTSIDE.id: 6, INSIDE.id: 6}
    assert found.n_own_family == 0


def test_each_judge_rates_as_many_again_as_it_may_and_never_the_stress_set() -> None:
    written = completions(4, ONE, TWO, HOSTILE)
    found = plan(written, replace(FULL, repeat_pairs=3))
    repeats = [t for t in found.targets if t.repeat == 1]
    assert Counter(t.rater_id for t in repeats) == {OUTSIDE.id: 3, INSIDE.id: 3}
    assert found.n_repeats == 6
    once = {(t.completion_id, t.rater_id) for t in found.targets if t.repeat == 0}
    assert {(t.completion_id, t.rater_id) for t in repeats} <= once
    stress = {c.id for c in written if c.system_id == HOSTILE.id}
    assert not stress.intersection(t.completion_id for t in repeats)


def test_order_of_the_records_changes_nothing() -> None:
    written = completions(6, ONE, TWO)
    rule = replace(FULL, repeat_pairs=2)
    assert set(plan(written, rule).targets) == set(plan(written[::-1], rule).targets)


def test_study_that_grows_keeps_what_was_rated_again() -> None:
    before = plan(completions(4, ONE), replace(FULL, repeat_pairs=2))
    again = tuple(t for t in before.targets if t.repeat == 1)
    grown = plan(completions(60, ONE), replace(FULL, repeat_pairs=2), again)
    assert set(again) == {t for t in grown.targets if t.repeat == 1}


def test_fewer_repeats_than_before_take_none_away() -> None:
    written = completions(4, ONE)
    again = tuple(t for t in plan(written, replace(FULL, repeat_pairs=3)).targets if t.repeat == 1)
    assert set(again) <= set(plan(written, replace(FULL, repeat_pairs=0), again).targets)
