"""A judge's reply, strict JSON, becomes a verdict on the two texts, or `InvalidReplyError`.

Nothing is guessed, filled in or repaired: a reply that is not exactly what was asked is missing,
with a reason that is counted (DESIGN section 6).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from heartbench.domain import AXES, Axis, AxisMark, Choice
from heartbench.judgments.reply_json import (
    invalid,
    read_marks,
    read_scale,
    read_words,
    require_keys,
    require_object,
)
from heartbench.judgments.reply_schema import MARKS, OVERALL, PairProtocol, axis_key, ordered_axes
from heartbench.protocol import load_protocol

_SIDES: Mapping[str, Choice] = {"A": "first", "B": "second"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeVerdict:
    """What a judge says of two texts, as they were shown.

    Attributes:
        choice: ``first`` (A), ``second`` (B), or ``tie`` in the five-point protocol.
        strength: 1 to 5; None for a tie.
        axes: Mark by axis, for every axis asked for.
        reasons: The reason given before each mark, by axis.
        rationale: The reason given before the overall choice.
    """

    choice: Choice
    strength: int | None
    axes: Mapping[Axis, AxisMark]
    reasons: Mapping[Axis, str]
    rationale: str


class _Mark(NamedTuple):
    reason: str
    mark: AxisMark


def read_reply(
    text: str,
    *,
    axes: Sequence[Axis] = AXES,
    protocol: PairProtocol = "forced-strength",
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> JudgeVerdict:
    """Read a judge's reply.

    Args:
        text: The reply; white space around the JSON is allowed, nothing else.
        axes: The axes that were asked for.
        protocol: The protocol that was asked for.
        finish_reason: Why the reply ends, as the endpoint says.
        refusal: What the endpoint gave as a refusal, if anything.

    Raises:
        InvalidReplyError: The reply cannot be used; `reason` is one of `REPLY_FAULTS`.
        ValueError: The axes are not axes.
    """
    wanted = ordered_axes(axes)
    keys = {axis: axis_key(axis) for axis in wanted}
    reply = read_marks(
        text,
        list(keys.values()),
        also=[OVERALL],
        finish_reason=finish_reason,
        refusal=refusal,
    )
    marks = {axis: _read_mark(reply[key], key, protocol) for axis, key in keys.items()}
    overall = _read_mark(reply[OVERALL], OVERALL, protocol)
    return JudgeVerdict(
        choice=overall.mark.choice,
        strength=overall.mark.strength,
        axes={axis: marks[axis].mark for axis in wanted},
        reasons={axis: marks[axis].reason for axis in wanted},
        rationale=overall.reason,
    )


def _read_mark(value: Any, key: str, protocol: PairProtocol) -> _Mark:
    found = require_object(value, key)
    require_keys(found, list(MARKS[protocol]), key)
    reason = read_words(found["reason"], f"{key}.reason")
    if protocol == "five-point":
        return _Mark(reason, _read_answer(found["answer"], key))
    winner = found["winner"]
    if not isinstance(winner, str) or winner not in _SIDES:
        raise invalid("wrong-winner", f'{key}.winner must be "A" or "B"')
    strength = read_scale(found["strength"], f"{key}.strength", fault="wrong-strength")
    return _Mark(reason, AxisMark(_SIDES[winner], strength))


def _read_answer(value: Any, key: str) -> AxisMark:
    """Return a five-point answer as a choice and a strength, by the protocol's table."""
    answers = MARKS["five-point"]["answer"]["enum"]
    if not isinstance(value, str) or value not in answers:
        raise invalid("wrong-winner", f"{key}.answer must be one of {answers}")
    side, degree, *_ = value.split()
    if side not in _SIDES:
        return AxisMark("tie", None)
    strengths = load_protocol("judge_prompt")["five-point"]["strengths"]
    return AxisMark(_SIDES[side], strengths[degree])
