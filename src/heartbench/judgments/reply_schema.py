"""The JSON that judges answer with, as strict JSON schemas: enums only, the reason before the mark.

Axes go by their names, not their letters: ``A`` is Attunement here and a side there. Objects are
closed and all keys required, in the order in which they stand. Text has no bounds unless asked for:
some back ends drop them, so `judge_reply` and `rating_reply` check again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from heartbench.domain import AXIS_NAMES, Axis, JsonObject

PairProtocol = Literal["forced-strength", "five-point"]

OVERALL = "overall"
MARKS: Mapping[str, JsonObject] = {
    "forced-strength": {
        "reason": {"type": "string"},
        "winner": {"type": "string", "enum": ["A", "B"]},
        "strength": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
    },
    "five-point": {
        "reason": {"type": "string"},
        "answer": {
            "type": "string",
            "enum": [
                "A significantly better",
                "A slightly better",
                "about the same",
                "B slightly better",
                "B significantly better",
            ],
        },
    },
    "rating": {
        "comment": {"type": "string"},
        "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
    },
}
"""By protocol, what stands under an axis; the order of the keys is the order asked for."""


def ordered_axes(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Return axes in the rubric's order, whatever order they came in.

    Raises:
        ValueError: There are none, one stands twice, or one is unknown.
    """
    if not axes or len(set(axes)) < len(axes) or not set(axes) <= set(AXIS_NAMES):
        raise ValueError(f"axes must be different ones of {list(AXIS_NAMES)}, not {list(axes)}")
    return tuple(axis for axis in AXIS_NAMES if axis in axes)


def axis_key(axis: Axis) -> str:
    """Return the key of an axis in a reply, e.g. ``task_following``."""
    return AXIS_NAMES[axis].lower().replace(" ", "_").replace("-", "_")


def judge_schema(
    axes: Sequence[Axis], *, protocol: PairProtocol, max_reason_characters: int | None = None
) -> dict[str, Any]:
    """Return the schema of a judge's reply: a mark for each axis, then one overall.

    Args:
        axes: The axes asked for, in any order.
        protocol: The protocol.
        max_reason_characters: A bound on each reason, for endpoints that keep it: a small model
            held to a grammar may never end a text that has none. Others refuse or drop bounds.
    """
    keys = [*(axis_key(axis) for axis in ordered_axes(axes)), OVERALL]
    mark = _closed(_bounded(MARKS[protocol], max_reason_characters))
    return _closed(dict.fromkeys(keys, mark))


def rating_schema(
    axes: Sequence[Axis], *, max_reason_characters: int | None = None
) -> dict[str, Any]:
    """Return the schema of a rating: a comment and a score for each axis; see `judge_schema`."""
    mark = _closed(_bounded(MARKS["rating"], max_reason_characters))
    return _closed(dict.fromkeys([axis_key(axis) for axis in ordered_axes(axes)], mark))


def _bounded(properties: JsonObject, max_characters: int | None) -> JsonObject:
    if max_characters is None:
        return properties
    bounds = {"minLength": 1, "maxLength": max_characters}
    return {key: part if "enum" in part else part | bounds for key, part in properties.items()}


def _closed(properties: JsonObject) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
