"""The step: plan who judges what, from what is stored; nobody is asked here."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain

from hearteval.domain import (
    LEFT_OUT,
    Assignment,
    Completion,
    Item,
    Pair,
    Rater,
    Rating,
    RatingTarget,
    Study,
    System,
)
from hearteval.judgments.plan import PlanPolicy
from hearteval.judgments.plan.assignments import (
    AssignmentPolicy,
    Planned,
    RatingPlan,
    assign_pairs,
    plan_ratings_of,
)
from hearteval.judgments.plan.pairs import choose_again, choose_pairs, enumerate_pairs
from hearteval.judgments.stress_set import stress_completions
from hearteval.judgments.stress_set.audit import (
    assign_audit,
    audit_completions,
    audit_study,
    audit_study_id,
    audit_systems,
    choose_items,
    show_beside_references,
    with_references,
)
from hearteval.labels.safety import SAFETY, Standing, read_standings
from hearteval.store.base import Store
from hearteval.store.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCounts:
    """What was planned."""

    n_pairs: int
    """For the ranking."""
    n_identical: int
    """Pairs left out because both texts are the same."""
    n_own_family: int
    """Pairs of a judge left out because of its own family."""
    n_uncompared: int
    """Pairs of systems without any pair, though they have answered the same items."""
    n_stress_pairs: int
    n_repeats: int
    """Assignments that ask a judge again."""
    n_assignments: int
    n_new: int
    """Assignments that were not there before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """What an audit asks."""

    study: Study
    """Holds what the audit asks beyond the study's own stress set; its items are audited."""
    records: tuple[Record, ...]
    """What is to be stored before anybody is asked; some of it may be there."""
    shared: frozenset[str]
    """Ids of the assignments that belong to the audited study."""
    n_assigned: Mapping[str, int]
    n_open: Mapping[str, int]
    """Of these, without a judgment yet."""


def plan_judgments(
    store: Store, study: Study, policy: PlanPolicy, *, now: Callable[[], datetime]
) -> PlanCounts:
    """Choose pairs and assign them, in one transaction; run twice, it writes nothing.

    What was planned before stays planned, so a study can grow. Of the judges of a pool nothing is
    asked within it, nor about the stress set, nor again: that was done before it was released.
    """
    systems = list(store.iter(System, study))
    ranked, stored = _parted(store, study, systems)
    candidates, n_identical = enumerate_pairs(ranked, display=study.display)
    # The stress set stands beside a ranking, so it waits for one too.
    stress = _stress_set(store, study, policy, stored, now=now) if candidates else []
    beside_references = show_beside_references(stress, systems)
    stress_pairs = [one.candidate for one in beside_references]
    planned = store.planned(study)
    of_any = store.people.targets(study.id, "judge").union(*planned.values())
    chosen = choose_pairs(
        candidates,
        policy,
        seed=study.seed,
        planned=of_any,
        most=most_while_people_write(store, study, policy.comparisons),
        pool=study.pool,
    )
    frozen = {c.id: c for c in candidates if c.is_among(study.pool)}
    once = AssignmentPolicy(study_id=study.id, seed=study.seed, both_orders=policy.both_orders)
    asked_again = {id_ for (_, repeat), pairs in planned.items() if repeat for id_ in pairs}
    families = {s.id: s.family for s in systems} if policy.exclude_own_family else {}
    assign = partial(
        assign_pairs, raters=_llm_raters(store, study), families=families, planned=planned
    )

    def stored_again(repeat: int) -> Iterator[Assignment]:
        return (a for a in store.iter(Assignment, study) if a.repeat == repeat)

    first = assign([*chosen, *stress_pairs], policy=once, earlier=stored_again(0))
    repeats = assign(
        choose_again(
            candidates if study.pool else chosen,
            asked_again,
            n=0 if study.pool else policy.repeat_pairs,
            seed=study.seed,
        ),
        policy=replace(once, both_orders=False, repeat=1),
        # What was shown in one order is shown in the same again.
        earlier=chain(
            stored_again(1), () if policy.both_orders else chain(stored_again(0), first.new)
        ),
    )
    new = _without_stored(store, (*first.new, *repeats.new), planned)
    unplanned = {c.id: c.pair for c in (*chosen, *stress_pairs) if c.id not in of_any}
    known = {text.id for text in stored} | {p.id for p in store.find(Pair, list(unplanned))}
    texts = [text for text in stress if text.id not in known]
    pairs = [pair for pair in unplanned.values() if pair.id not in known]
    store.add([*texts, *pairs, *new])
    n_repeats = repeats.n_planned + len(repeats.new)
    return PlanCounts(
        n_pairs=len(chosen),
        n_identical=n_identical,
        n_own_family=first.n_own_family,
        n_uncompared=len(
            {c.system_ids for c in candidates if c.id not in frozen}
            - {c.system_ids for c in chosen}
        ),
        n_stress_pairs=len(stress_pairs),
        n_repeats=n_repeats,
        n_assignments=first.n_planned + len(first.new) + n_repeats,
        n_new=len(new),
    )


def _without_stored(
    store: Store, assignments: Sequence[Assignment], planned: Planned
) -> list[Assignment]:
    """Leave out what is stored: of a pair planned in one order of two, that one."""
    partly = [a.id for a in assignments if a.pair_id in planned.get((a.rater_id, a.repeat), ())]
    known = {assignment.id for assignment in store.find(Assignment, partly)}
    return [assignment for assignment in assignments if assignment.id not in known]


def plan_ratings(store: Store, study: Study, policy: PlanPolicy) -> RatingPlan:
    """Plan the ratings of the completions that are stored; nothing is stored of it.

    What people have written is left out unless it may be read; what was rated before it was
    withdrawn stays rated.
    """
    systems = list(store.iter(System, study))
    ranked, stress = _parted(store, study, systems)
    given = {rating.target for rating in store.iter(Rating, study)}
    readable = {text.id for text in (*ranked, *stress)}
    rated = {target.completion_id for target in given} - readable
    unread = [c for c in store.iter(Completion, study) if c.id in rated]
    plan = plan_ratings_of(
        [*ranked, *stress, *unread],
        systems,
        _llm_raters(store, study),
        study=study,
        policy=policy,
        rated_again=[target for target in given if target.repeat],
    )
    targets = (one for one in plan.targets if one.completion_id in readable or one in given)
    return replace(plan, targets=tuple(targets))


def ratings_to_ask(
    store: Store, study: Study, targets: Sequence[RatingTarget]
) -> tuple[RatingTarget, ...]:
    """Return what is asked of a plan of ratings: of the replies of a pool only what is there."""
    if not study.pool:
        return tuple(targets)
    new = {s.id for s in store.iter(System, study) if s.kind != "stress"} - study.pool
    texts = {one.id for one in store.iter(Completion, study) if one.system_id in new}
    given = {rating.target for rating in store.iter(Rating, study)}
    return tuple(one for one in targets if one.completion_id in texts or one in given)


def store_stress_set(
    store: Store, study: Study, policy: PlanPolicy, *, now: Callable[[], datetime]
) -> None:
    """Store the texts that every judge faces, once there is a completion to stand beside."""
    ranked, stored = _parted(store, study, store.iter(System, study))
    if ranked:
        store.add(_stress_set(store, study, policy, stored, now=now))


def whole_repeat(
    store: Store, study: Study, *, given_up: Collection[str]
) -> tuple[Assignment, ...]:
    """Return the assignments that ask the judges everything once more; nothing is stored.

    They are those of the first time, with the number of the first repeat that is not yet planned
    whole and answered: a repeat that was broken off is finished before another one begins.
    Assignments that are `given_up`, by id, count as answered. Pairs within a pool are left out:
    `heart judges drift` asks about these.
    """
    completions, _ = _parted(store, study, store.iter(System, study))
    ranked = {completion.id for completion in completions}
    frozen = {completion.id for completion in completions if completion.system_id in study.pool}
    pairs = {
        p.id
        for p in store.iter(Pair, study)
        if ranked.issuperset(p.completion_ids) and not frozen.issuperset(p.completion_ids)
    }
    judges = {rater.id for rater in _llm_raters(store, study)}
    planned = {a.id: a for a in store.iter(Assignment, study) if a.rater_id in judges}
    missing = {a.id for a in store.unjudged(study)} - set(given_up)
    first = [a for a in planned.values() if a.repeat == 0 and a.pair_id in pairs]
    repeat = 0
    while True:
        repeat += 1
        again = tuple(replace(assignment, repeat=repeat, id="") for assignment in first)
        if any(a.id not in planned or a.id in missing for a in again) or not again:
            return again


def plan_audit(store: Store, study: Study, *, n_items: int, now: datetime) -> AuditPlan:
    """Plan the audit of a study's LLM judges; nothing is stored, what was planned before stays.

    There may be fewer items with a reference than `n_items`.
    """
    before = store.latest_study(audit_study_id(study))
    stored_items = {item.id: item for item in store.iter(Item, study)}
    items = with_references([stored_items[id_] for id_ in sorted(stored_items)])
    own_systems = [system for system in store.iter(System, study) if system.kind == "stress"]
    systems = [*own_systems, *audit_systems(seed=study.seed)]
    raters = _llm_raters(store, study)
    _, stored = _parted(store, study, own_systems)
    tested = frozenset(completion.item_id for completion in stored)
    if before is not None:
        stored += store.iter(Completion, before)
    chosen = choose_items(
        items,
        n=n_items,
        seed=study.seed,
        adversarial=frozenset(i.id for i in stored_items.values() if i.subset == "adversarial"),
        audited=frozenset(before.item_ids if before else ()),
        tested=tested,
    )
    completions = audit_completions(
        [item for item in items if item.reference is not None],
        chosen,
        systems,
        {(c.system_id, c.item_id): c for c in stored},
        seed=study.seed,
        now=now,
    )
    shown = show_beside_references(completions, systems)
    again = [a for a in store.iter(Assignment, before) if a.repeat] if before else []
    shared, own = assign_audit(shown, raters, study=study, asked_again=again)
    kept = [stored_items[item.id] for item in chosen]
    audit = audit_study(study, before, items=kept, systems=systems, raters=raters)
    pairs = [one.candidate.pair for one in shown]
    judged = _judged(store, study) | _judged(store, audit)
    return AuditPlan(
        study=audit,
        records=(*systems, *completions, *pairs, audit, *shared, *own),
        shared=frozenset(assignment.id for assignment in shared),
        n_assigned=Counter(a.rater_id for a in (*shared, *own)),
        n_open=Counter(a.rater_id for a in (*shared, *own) if a.id not in judged),
    )


def _parted(
    store: Store, study: Study, systems: Iterable[System]
) -> tuple[list[Completion], list[Completion]]:
    """Return the completions of ranked systems, and what the stress systems have said.

    What people have written is left out unless it may be read by others, and so is what a release
    was made without.
    """
    kinds = {system.id: system.kind for system in systems}
    stress = {id_ for id_, kind in kinds.items() if kind == "stress"}
    completions = [
        c for c in store.iter(Completion, study) if c.text != LEFT_OUT or c.system_id in stress
    ]
    if "human" in kinds.values() and "people" in study.design:
        standings = standings_of(store, study)
        completions = [
            c
            for c in completions
            if kinds[c.system_id] != "human"
            or (standings.get(c.id) == "released" and not c.is_withdrawn)
        ]
    return (
        [completion for completion in completions if completion.system_id not in stress],
        [completion for completion in completions if completion.system_id in stress],
    )


def most_while_people_write(store: Store, study: Study, n: int | None) -> int | None:
    """Return how many of `n` pairs any two systems may have; None once people have written all.

    What is chosen stays chosen: without a bound, nothing would be left for what they write last.
    Where `n` is None there is none either.
    """
    if n is None:
        return None
    systems = {s.id: s.kind for s in store.iter(System, study) if s.kind != "stress"}
    asked = study.design.get("people", {})
    shown = [one for one in store.iter(Item, study) if one.is_within(asked.get("edge", ()))]
    n_wanted = asked.get("writers_per_item", 0) * len(shown)
    n_written = sum(systems.get(c.system_id) == "human" for c in store.iter(Completion, study))
    return math.ceil(n / math.comb(len(systems), 2)) if n_written < n_wanted else None


def standings_of(store: Store, study: Study) -> Mapping[str, Standing]:
    """Return what becomes of each text and reason that was screened, as the study says."""
    asked = study.design.get("people", {})
    return read_standings(store.labels_of(study, SAFETY), store.iter(Rater), asked=asked)


def _stress_set(
    store: Store,
    study: Study,
    policy: PlanPolicy,
    stored: Sequence[Completion],
    *,
    now: Callable[[], datetime],
) -> list[Completion]:
    """Return the texts that every judge faces, stored ones and new ones; nothing is stored."""
    return stress_completions(
        list(store.iter(Item, study)),
        [system for system in store.iter(System, study) if system.kind == "stress"],
        stored,
        n_items=policy.stress_items,
        seed=study.seed,
        now=now,
    )


def _judged(store: Store, study: Study) -> frozenset[str]:
    open_ones = {assignment.id for assignment in store.unjudged(study)}
    return frozenset(a.id for a in store.iter(Assignment, study) if a.id not in open_ones)


def _llm_raters(store: Store, study: Study) -> list[Rater]:
    """Return the judges that are asked here."""
    raters = store.iter(Rater, study)
    return [rater for rater in raters if rater.kind == "llm" and not rater.is_imported]
