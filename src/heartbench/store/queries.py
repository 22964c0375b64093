"""The SELECT statements of the store, apart from how they are run."""

from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, Text, case, exists, or_, select, type_coerce

from heartbench.domain import (
    Assignment,
    Attempt,
    Completion,
    Item,
    Judgment,
    LatencyProbe,
    Pair,
    Rater,
    Rating,
    Screening,
    Study,
    System,
)
from heartbench.store import schema

if TYPE_CHECKING:
    from collections.abc import Callable


def study_query(kind: type[Any], study: Study) -> Select[Any]:
    """Return the query for the records of a kind that belong to a study's version."""
    builders: dict[type[Any], Callable[[], Select[Any]]] = {
        Item: lambda: select(schema.items).where(_is_member(schema.items.c.id, "item", study)),
        System: lambda: select(schema.systems).where(
            _is_member(schema.systems.c.id, "system", study)
        ),
        Rater: lambda: select(schema.raters).where(_is_member(schema.raters.c.id, "rater", study)),
        Screening: lambda: select(schema.screenings).where(
            _is_member(schema.screenings.c.item_id, "item", study)
        ),
        Completion: lambda: select(schema.completions).where(
            _is_member(schema.completions.c.item_id, "item", study),
            _is_member(schema.completions.c.system_id, "system", study),
        ),
        Pair: lambda: select(schema.pairs).where(
            exists().where(
                schema.assignments.c.pair_id == schema.pairs.c.id,
                schema.assignments.c.study_id == study.id,
            )
        ),
        Assignment: lambda: select(schema.assignments).where(
            schema.assignments.c.study_id == study.id
        ),
        Judgment: lambda: (
            select(schema.judgments)
            .join(schema.assignments, schema.assignments.c.id == schema.judgments.c.assignment_id)
            .where(schema.assignments.c.study_id == study.id)
        ),
        Rating: lambda: select(schema.ratings).where(schema.ratings.c.study_id == study.id),
        Attempt: lambda: _attempts(study),
        LatencyProbe: lambda: select(schema.latency_probes).where(
            schema.latency_probes.c.study_id == study.id,
            _is_member(schema.latency_probes.c.item_id, "item", study),
            _is_member(schema.latency_probes.c.system_id, "system", study),
        ),
    }
    return builders[kind]()


def unjudged_query(study: Study) -> Select[Any]:
    """Return the query for assignments of a study that have no judgment."""
    assignments, judgments = schema.assignments, schema.judgments
    return select(assignments).where(
        assignments.c.study_id == study.id,
        ~exists().where(judgments.c.assignment_id == assignments.c.id),
    )


def judgment_query(study: Study) -> Select[Any]:
    """Return the query for the analysis columns; covered by indexes from end to end."""
    a, j, p = schema.assignments, schema.judgments, schema.pairs
    is_low_first = p.c.low_completion_id == a.c.first_completion_id
    return (
        select(
            a.c.id.label("assignment_id"),
            a.c.pair_id,
            p.c.item_id,
            case((is_low_first, p.c.low_system_id), else_=p.c.high_system_id).label(
                "first_system_id"
            ),
            case((is_low_first, p.c.high_system_id), else_=p.c.low_system_id).label(
                "second_system_id"
            ),
            a.c.rater_id,
            a.c.repeat,
            j.c.choice,
            j.c.strength,
            type_coerce(j.c.axes, Text).label("axes"),
            j.c.finish_reason,
        )
        .select_from(a)
        .join(j, j.c.assignment_id == a.c.id)
        .join(p, p.c.id == a.c.pair_id)
        .where(a.c.study_id == study.id, a.c.check.is_(None))
    )


def _is_member(column: Any, kind: str, study: Study) -> Any:
    members = schema.study_members
    return exists().where(
        members.c.study_id == study.id,
        members.c.version == study.version,
        members.c.kind == kind,
        members.c.member_id == column,
    )


def _attempts(study: Study) -> Select[Any]:
    attempts, assignments = schema.attempts, schema.assignments
    return select(attempts).where(
        or_(
            _is_member(attempts.c.item_id, "item", study)
            & _is_member(attempts.c.system_id, "system", study),
            exists().where(
                assignments.c.id == attempts.c.assignment_id,
                assignments.c.study_id == study.id,
            ),
            attempts.c.study_id == study.id,
        )
    )
