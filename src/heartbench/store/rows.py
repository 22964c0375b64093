"""Records to table rows and back; the one place that knows where a field is kept."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from sqlalchemy import Table

from heartbench.domain import (
    Assignment,
    Attempt,
    AxisMark,
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
    Turn,
)
from heartbench.store import schema
from heartbench.store.base import Record

TABLES: Mapping[type[Any], Table[Any]] = {
    Item: schema.items,
    Screening: schema.screenings,
    System: schema.systems,
    Rater: schema.raters,
    Completion: schema.completions,
    Pair: schema.pairs,
    Study: schema.studies,
    Assignment: schema.assignments,
    Attempt: schema.attempts,
    Judgment: schema.judgments,
    Rating: schema.ratings,
    LatencyProbe: schema.latency_probes,
}
"""Kinds in the order in which they may refer to each other: a batch is written in this order."""

MEMBER_FIELDS: Mapping[str, str] = {
    "item": "item_ids",
    "system": "system_ids",
    "rater": "rater_ids",
}
"""Kind of member -> field of `Study`; kept in ``study_members``, not in the study's row."""


def kind_name(kind: type[Any]) -> str:
    """Return the name of a kind of record, as messages and hashes give it."""
    return kind.__name__.lower()


def to_row(record: Record) -> dict[str, Any]:
    """Return the column values of a record's own table."""
    row = {f.name: getattr(record, f.name) for f in fields(record)}
    match record:
        case Item():
            row["context"] = [[turn.role, turn.text] for turn in record.context]
        case Pair():
            row["low_completion_id"], row["high_completion_id"] = row.pop("completion_ids")
        case Study():
            for name in MEMBER_FIELDS.values():
                del row[name]
    return row


def from_row(kind: type[Any], row: Mapping[str, Any]) -> Any:
    """Build the record of a kind from its column values (and, for a study, its members)."""
    values = dict(row)
    adapt = _ADAPT.get(kind)
    if adapt is not None:
        adapt(values)
    return kind(**values)


def marks_from_json(axes: Mapping[str, Any]) -> dict[str, AxisMark]:
    """Read axis marks as they stand in the ``axes`` column."""
    return {axis: AxisMark(*mark) for axis, mark in axes.items()}


@cache
def marks_from_text(axes: str) -> Mapping[str, AxisMark]:
    """Read axis marks from JSON text; the result is shared, because the same marks come often."""
    return marks_from_json(json.loads(axes))


def _adapt_item(values: dict[str, Any]) -> None:
    values["context"] = tuple(Turn(role=role, text=words) for role, words in values["context"])


def _adapt_pair(values: dict[str, Any]) -> None:
    low, high = values.pop("low_completion_id"), values.pop("high_completion_id")
    values["completion_ids"] = (low, high)
    del values["low_system_id"], values["high_system_id"]


def _adapt_judgment(values: dict[str, Any]) -> None:
    values["axes"] = marks_from_json(values["axes"])


_ADAPT: Mapping[type[Any], Callable[[dict[str, Any]], None]] = {
    Item: _adapt_item,
    Pair: _adapt_pair,
    Judgment: _adapt_judgment,
}
