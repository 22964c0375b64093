"""The step: plan who judges what, then ask the judges for what they have not judged yet."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from heartbench.domain import Assignment, Completion, Item, Judgment, Pair, Rater, Study, System
from heartbench.judgments.assignment import AssignmentPolicy, assign_pairs
from heartbench.judgments.cue_judge.judge import Text, judge_pair
from heartbench.judgments.pairing import (
    Candidate,
    choose_balanced,
    enumerate_pairs,
    seeded_rank,
)
from heartbench.judgments.plan import PlanPolicy
from heartbench.judgments.run_stress import prepare_stress_set
from heartbench.store.base import Store

BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCounts:
    """What was planned.

    Attributes:
        n_pairs: Pairs for the ranking.
        n_identical: Pairs left out because both texts are the same.
        n_own_family: Pairs of a judge left out because of its own family.
        n_uncompared: Pairs of systems without any pair, though they have answered the same items.
        n_stress_pairs: Pairs of the stress set.
        n_repeats: Assignments that ask a judge again.
        n_assignments: Assignments of all these.
        n_new: Assignments that were not there before.
    """

    n_pairs: int
    n_identical: int
    n_own_family: int
    n_uncompared: int
    n_stress_pairs: int
    n_repeats: int
    n_assignments: int
    n_new: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCounts:
    """What the judges did.

    Attributes:
        n_wanted: Assignments of the study.
        n_before: Judgments that were there already.
        n_added: Judgments given now.
    """

    n_wanted: int
    n_before: int
    n_added: int


def plan_judgments(
    store: Store, study: Study, policy: PlanPolicy, *, now: Callable[[], datetime]
) -> PlanCounts:
    """Choose pairs and assign them, in one transaction; run twice, it changes nothing.

    What was planned before stays planned, so a study can grow.
    """
    systems = {system.id: system for system in store.iter(System, study)}
    raters = [rater for rater in store.iter(Rater, study) if rater.kind == "llm"]
    completions = list(store.iter(Completion, study))
    candidates = enumerate_pairs([c for c in completions if not _is_stress(systems, c)])
    stress: list[Completion] = []
    if candidates.candidates:  # the audit stands beside a ranking, so it waits for one too
        stress = prepare_stress_set(store, study, policy, now=now)
    before = list(store.iter(Assignment, study))
    chosen = candidates.candidates
    if policy.design == "balanced" and policy.comparisons is not None:
        planned = {assignment.pair_id for assignment in before}
        chosen = choose_balanced(chosen, n=policy.comparisons, seed=study.seed, planned=planned)
    stress_pairs = _stress_pairs(systems, stress)
    assigning = AssignmentPolicy(
        study_id=study.id,
        seed=study.seed,
        both_orders=policy.both_orders,
        exclude_own_family=policy.exclude_own_family,
    )
    families = {system.id: system.family for system in systems.values()}
    assigned = assign_pairs([*chosen, *stress_pairs], raters, families=families, policy=assigning)
    asked_again = {assignment.pair_id for assignment in before if assignment.repeat}
    again = sorted(
        chosen,
        key=lambda c: (c.pair.id not in asked_again, seeded_rank(study.seed, "repeat", c.pair.id)),
    )
    repeats = assign_pairs(
        again[: max(policy.repeat_pairs, len(asked_again))],
        raters,
        families=families,
        policy=replace(assigning, both_orders=False, repeat=1),
    )
    pairs = [candidate.pair for candidate in (*chosen, *stress_pairs)]
    assignments = (*assigned.assignments, *repeats.assignments)
    store.add([*stress, *pairs, *assignments])
    known = {assignment.id for assignment in before}
    return PlanCounts(
        n_pairs=len(chosen),
        n_identical=candidates.n_identical,
        n_own_family=assigned.n_own_family,
        n_uncompared=len(
            {c.system_ids for c in candidates.candidates} - {c.system_ids for c in chosen}
        ),
        n_stress_pairs=len(stress_pairs),
        n_repeats=len(repeats.assignments),
        n_assignments=len(assignments),
        n_new=sum(assignment.id not in known for assignment in assignments),
    )


def whole_repeat(
    store: Store, study: Study, *, given_up: Collection[str]
) -> tuple[Assignment, ...]:
    """Return the assignments that ask the judges everything once more; nothing is stored.

    They are those of the first time, with the number of the first repeat that is not yet planned
    whole and answered: a repeat that was broken off is finished before another one begins.

    Args:
        store: Where the study is.
        study: Its current version.
        given_up: Ids of assignments that stay without a judgment.
    """
    systems = {system.id: system for system in store.iter(System, study)}
    ranked = {c.id for c in store.iter(Completion, study) if systems[c.system_id].kind != "stress"}
    pairs = {p.id for p in store.iter(Pair, study) if ranked.issuperset(p.completion_ids)}
    planned = {a.id: a for a in store.iter(Assignment, study)}
    missing = {a.id for a in store.unjudged(study)} - set(given_up)
    first = [a for a in planned.values() if a.repeat == 0 and a.pair_id in pairs]
    repeat = 0
    while True:
        repeat += 1
        again = tuple(replace(assignment, repeat=repeat, id="") for assignment in first)
        if any(a.id not in planned or a.id in missing for a in again) or not again:
            return again


def judge_assignments(
    store: Store,
    study: Study,
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
    of: Collection[str] | None = None,
) -> JudgeCounts:
    """Have the cue judge answer every assignment of its own, a batch a transaction.

    Assignments about items, systems or judges that the study no longer names stay as they are, and
    so do those not `of` these ids, where any are given.
    """
    items = {item.id: item for item in store.iter(Item, study)}
    completions = {completion.id: completion for completion in store.iter(Completion, study)}
    pairs = {
        pair.id: pair
        for pair in store.iter(Pair, study)
        if all(completion_id in completions for completion_id in pair.completion_ids)
    }
    raters = {rater.id for rater in store.iter(Rater, study) if rater.family == "cue"}
    wanted = {
        a.id: a
        for a in store.iter(Assignment, study)
        if a.rater_id in raters and a.pair_id in pairs and (of is None or a.id in of)
    }
    unjudged = [a for a in store.unjudged(study) if a.id in wanted]
    n_before = len(wanted) - len(unjudged)
    n_done, n_added = n_before, 0
    progress(n_done, len(wanted))
    for batch in _batches(unjudged):
        n_added += store.add(
            [_cue_judgment(a, pairs[a.pair_id], items, completions, now()) for a in batch]
        )
        n_done += len(batch)
        progress(n_done, len(wanted))
    return JudgeCounts(n_wanted=len(wanted), n_before=n_before, n_added=n_added)


def _cue_judgment(
    assignment: Assignment,
    pair: Pair,
    items: dict[str, Item],
    completions: dict[str, Completion],
    created_at: datetime,
) -> Judgment:
    first = completions[assignment.first_completion_id]
    low, high = pair.completion_ids
    second = completions[high if first.id == low else low]
    verdict = judge_pair(
        items[pair.item_id].context, Text(first.id, first.text), Text(second.id, second.text)
    )
    return Judgment(
        assignment_id=assignment.id,
        choice=verdict.choice,
        strength=verdict.strength,
        axes=verdict.axes,
        reasons=verdict.reasons,
        rationale=verdict.rationale,
        raw=verdict.raw,
        finish_reason="undecided" if verdict.is_undecided else "decided",
        created_at=created_at,
    )


def _is_stress(systems: dict[str, System], completion: Completion) -> bool:
    return systems[completion.system_id].kind == "stress"


def _stress_pairs(
    systems: dict[str, System], stress: Sequence[Completion]
) -> tuple[Candidate, ...]:
    """Pair the reference reply of each item with each of its stress texts."""
    references = {s.id for s in systems.values() if s.settings.get("stress") == "reference"}
    return tuple(
        candidate
        for candidate in enumerate_pairs(stress).candidates
        if references.intersection(candidate.system_ids)
    )


def _batches(assignments: Sequence[Assignment]) -> Iterator[list[Assignment]]:
    rest = iter(assignments)
    while batch := list(islice(rest, BATCH)):
        yield batch
