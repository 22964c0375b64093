"""A rating judge's reply, strict JSON, becomes scores by axis, or `InvalidReplyError`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heartbench.domain import AXES, Axis
from heartbench.judgments.reply_json import (
    read_marks,
    read_scale,
    read_words,
    require_keys,
    require_object,
)
from heartbench.judgments.reply_schema import MARKS, axis_key, ordered_axes


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingVerdict:
    """What a judge says of one text.

    Attributes:
        axes: Score by axis, 1 to 5, for every axis asked for.
        comments: The comment given before each score, by axis.
    """

    axes: Mapping[Axis, int]
    comments: Mapping[Axis, str]


def read_rating(
    text: str,
    *,
    axes: Sequence[Axis] = AXES,
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> RatingVerdict:
    """Read a rating judge's reply.

    Args:
        text: The reply; white space around the JSON is allowed, nothing else.
        axes: The axes that were asked for.
        finish_reason: Why the reply ends, as the endpoint says.
        refusal: What the endpoint gave as a refusal, if anything.

    Raises:
        InvalidReplyError: The reply cannot be used; `reason` is one of `REPLY_FAULTS`.
        ValueError: The axes are not axes.
    """
    wanted = ordered_axes(axes)
    keys = {axis: axis_key(axis) for axis in wanted}
    reply = read_marks(text, list(keys.values()), finish_reason=finish_reason, refusal=refusal)
    scores: dict[Axis, int] = {}
    comments: dict[Axis, str] = {}
    for axis, key in keys.items():
        found = require_object(reply[key], key)
        require_keys(found, list(MARKS["rating"]), key)
        comments[axis] = read_words(found["comment"], f"{key}.comment")
        scores[axis] = read_scale(found["score"], f"{key}.score", fault="wrong-score")
    return RatingVerdict(axes=scores, comments=comments)
