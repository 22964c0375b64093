"""The step: plan the audit of a study's judges, from what is stored already.

Nothing is stored here and nobody is asked: the shell shows what it may cost, stores the plan, and
has the judges answer as in every study (`run`, `run_models`).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from heartbench.domain import Assignment, Completion, Item, Rater, Study, System
from heartbench.judgments.audit import (
    assign_audit,
    audit_completions,
    audit_study,
    audit_study_id,
    audit_systems,
    choose_items,
    show_beside_references,
)
from heartbench.store.base import Record, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """What an audit asks.

    Attributes:
        study: The study that holds what the audit asks beyond the study's own stress set.
        records: What is to be stored before anybody is asked; some of it may be there.
        shared: Ids of the assignments that belong to the audited study.
        n_items: Items that are audited on.
        n_assigned: Assignments by rater id.
        n_open: Of these, without a judgment yet.
    """

    study: Study
    records: tuple[Record, ...]
    shared: frozenset[str]
    n_items: int
    n_assigned: Mapping[str, int]
    n_open: Mapping[str, int]


def plan_audit(store: Store, study: Study, *, n_items: int, now: datetime) -> AuditPlan:
    """Plan the audit of a study's LLM judges; what was planned before stays.

    Args:
        store: Read only.
        study: The study's current version, stored.
        n_items: Items wanted; there may be fewer with a reference.
        now: Time of new texts.
    """
    before = store.latest_study(audit_study_id(study))
    items = sorted(store.iter(Item, study), key=lambda item: item.id)
    own_systems = [system for system in store.iter(System, study) if system.kind == "stress"]
    systems = [*own_systems, *audit_systems(seed=study.seed)]
    raters = [rater for rater in store.iter(Rater, study) if rater.kind == "llm"]
    stress = {system.id for system in own_systems}
    stored = [c for c in store.iter(Completion, study) if c.system_id in stress]
    tested = frozenset(completion.item_id for completion in stored)
    if before is not None:
        stored += store.iter(Completion, before)
    chosen = choose_items(
        items,
        n=n_items,
        seed=study.seed,
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
    shared, own = assign_audit(shown, raters, study=study)
    audit = _next_version(audit_study(study, items=chosen, systems=systems, raters=raters), before)
    judged = _judged(store, study) | _judged(store, audit)
    open_ones = [a for a in (*shared, *own) if a.id not in judged]
    return AuditPlan(
        study=audit,
        records=(
            *systems,
            *completions,
            *(one.candidate.pair for one in shown),
            audit,
            *shared,
            *own,
        ),
        shared=frozenset(assignment.id for assignment in shared),
        n_items=len(chosen),
        n_assigned=Counter(assignment.rater_id for assignment in (*shared, *own)),
        n_open=Counter(assignment.rater_id for assignment in open_ones),
    )


def _next_version(audit: Study, before: Study | None) -> Study:
    if before is None:
        return audit
    same = replace(audit, version=before.version, created_at=before.created_at)
    return before if same == before else replace(audit, version=before.version + 1)


def _judged(store: Store, study: Study) -> frozenset[str]:
    open_ones = {assignment.id for assignment in store.unjudged(study)}
    return frozenset(a.id for a in store.iter(Assignment, study) if a.id not in open_ones)
