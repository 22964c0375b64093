"""A judge's reply, strict JSON, becomes what it says of the texts, or `InvalidReplyError`.

Nothing is guessed, filled in or repaired: a reply that is not exactly what was asked is missing,
with a reason that is counted (DESIGN section 6). White space around the one JSON object is allowed
and nothing else: no code fence, no words before or after, no key twice, no key out of order.
Messages say where and what kind, never what the reply says: they may end in a log.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from hearteval.domain import OVERALL, Axis, AxisMark, Choice, axis_key, shows_text
from hearteval.errors import InvalidReplyError
from hearteval.judgments.form import RATED, USUAL, JudgeForm, JudgeProtocol
from hearteval.judgments.prompt import MARKS, NEITHER
from hearteval.protocol import load_protocol

ReplyFault = Literal[
    "refused",
    "truncated",
    "empty",
    "too-long",
    "not-json",
    "duplicate-keys",
    "not-an-object",
    "missing-axis",
    "wrong-keys",
    "wrong-order",
    "wrong-winner",
    "wrong-strength",
    "wrong-score",
    "empty-reason",
]
REPLY_FAULTS: tuple[ReplyFault, ...] = get_args(ReplyFault)

_SCALE = {"1": 1, "2": 2, "3": 3, "4": 4, "5": 5}
_SIDES: Mapping[str, Choice] = {"A": "first", "B": "second"}


class Number(NamedTuple):
    """A number as it was written: ``3`` and ``3.0`` are not the same answer, nor is ``NaN``."""

    token: str


class JudgeVerdict(NamedTuple):
    """What a judge says of two texts as they were shown, in the words of a `Judgment`."""

    choice: Choice
    strength: int | None
    axes: Mapping[Axis, AxisMark]
    reasons: Mapping[Axis, str]
    rationale: str


class RatingVerdict(NamedTuple):
    """What a judge says of one text, in the words of a `Rating`."""

    axes: Mapping[Axis, int]
    comments: Mapping[Axis, str]


def read_reply(
    text: str,
    *,
    form: JudgeForm = USUAL,
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> JudgeVerdict:
    """Read the reply of a judge that compares, to the form that it was asked by.

    White space around the JSON is allowed, nothing else. The endpoint says why the reply ends, and
    what of it is a refusal.

    Raises:
        InvalidReplyError: The reply cannot be used; `reason` is one of `REPLY_FAULTS`.
    """
    found = _read_object(text, form.reply_keys, finish_reason=finish_reason, refusal=refusal)
    reasons, marks = _read_marks(found, form)
    verdict = form.reply_keys[-1]
    return JudgeVerdict(
        choice=marks[verdict].choice,
        strength=marks[verdict].strength,
        axes={axis: mark for axis in form.marked if (mark := marks[axis_key(axis)]) is not None},
        reasons={axis: reasons[axis_key(axis)] for axis in form.marked},
        rationale=reasons[verdict],
    )


def read_rating(
    text: str,
    *,
    form: JudgeForm = RATED,
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> RatingVerdict:
    """Read the reply of a judge that rates; as `read_reply`."""
    found = _read_object(text, form.reply_keys, finish_reason=finish_reason, refusal=refusal)
    comments, scores = _read_marks(found, form)
    return RatingVerdict(
        axes={axis: scores[axis_key(axis)] for axis in form.marked},
        comments={axis: comments[axis_key(axis)] for axis in form.marked},
    )


def _read_marks(reply: Mapping[str, Any], form: JudgeForm) -> tuple[dict[str, str], dict[str, Any]]:
    """Return by key the words before each mark, and the marks, None for one that was left out."""
    words: dict[str, str] = {}
    marks: dict[str, Any] = {}
    protocol = form.protocol
    first, *_ = MARKS[protocol]
    for key, value in reply.items():
        found = _require_object(value, key)
        _require_keys(found, list(MARKS[protocol]), key)
        words[key] = _read_words(found[first], f"{key}.{first}")
        is_open = form.marks == "optional" and key != OVERALL and found["winner"] == NEITHER
        marks[key] = None if is_open else _READERS[protocol](found, key)
    return words, marks


def _read_winner(found: Mapping[str, Any], key: str) -> AxisMark:
    winner = found["winner"]
    if not isinstance(winner, str) or winner not in _SIDES:
        raise _invalid("wrong-winner", f'{key}.winner must be "A" or "B"')
    strength = _read_scale(found["strength"], f"{key}.strength", fault="wrong-strength")
    return AxisMark(_SIDES[winner], strength)


def _read_answer(found: Mapping[str, Any], key: str) -> AxisMark:
    """Return a five-point answer as a choice and a strength, by the protocol's table."""
    value, answers = found["answer"], MARKS["five-point"]["answer"]["enum"]
    if not isinstance(value, str) or value not in answers:
        raise _invalid("wrong-winner", f"{key}.answer must be one of {answers}")
    side, degree, *_ = value.split()
    if side not in _SIDES:
        return AxisMark("tie", None)
    strengths = load_protocol("judge_prompt")["five-point"]["strengths"]
    return AxisMark(_SIDES[side], strengths[degree])


def _read_score(found: Mapping[str, Any], key: str) -> int:
    return _read_scale(found["score"], f"{key}.score", fault="wrong-score")


_READERS: Mapping[JudgeProtocol, Callable[[Mapping[str, Any], str], AxisMark | int]] = {
    "forced-strength": _read_winner,
    "five-point": _read_answer,
    "rating": _read_score,
}


def _invalid(reason: ReplyFault, message: str) -> InvalidReplyError:
    return InvalidReplyError(message, reason=reason)


def _read_object(
    text: str, keys: Sequence[str], *, finish_reason: str | None = None, refusal: str | None = None
) -> dict[str, Any]:
    """Read a reply as one JSON object with these keys in this order; numbers come as `Number`.

    A reply that the endpoint cut off or calls a refusal is never read.
    """
    accepted = load_protocol("replies")
    finish = (finish_reason or "").lower()
    if refusal or finish in accepted["finish"]["refused"]:
        raise _invalid("refused", "the judge refused")
    if finish in accepted["finish"]["cut_off"]:
        raise _invalid("truncated", f"the endpoint cut the reply off ({finish})")
    if len(text) > accepted["judgment"]["max_characters"]:
        raise _invalid("too-long", f"the reply has {len(text)} characters")
    if not shows_text(text):
        raise _invalid("empty", "the reply holds no text")
    found = _require_object(_parse(text.strip()), "the reply")
    missing = [key for key in keys if key not in found and key != OVERALL]
    if missing and set(found) <= set(keys):
        raise _invalid("missing-axis", f"the reply lacks {missing}")
    _require_keys(found, keys, "the reply")
    return found


def _require_object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _invalid("not-an-object", f"{where} must be an object, not {_kind(value)}")
    return value


def _require_keys(found: dict[str, Any], wanted: Sequence[str], where: str) -> None:
    """Check that an object has the keys wanted, in their order, and no others."""
    if set(found) != set(wanted):
        n_unknown = len(set(found) - set(wanted))
        missing = [key for key in wanted if key not in found]
        raise _invalid("wrong-keys", f"{where} lacks {missing} and has {n_unknown} unknown keys")
    if list(found) != list(wanted):
        raise _invalid("wrong-order", f"the keys of {where} must stand in the order {list(wanted)}")


def _read_scale(value: Any, where: str, *, fault: ReplyFault) -> int:
    """Return a whole number from 1 to 5, written as one digit: not true, "3", 3.0, 0 or NaN."""
    if not isinstance(value, Number) or value.token not in _SCALE:
        raise _invalid(fault, f"{where} must be one of 1, 2, 3, 4, 5, not {_kind(value)}")
    return _SCALE[value.token]


def _read_words(value: Any, where: str) -> str:
    if not isinstance(value, str) or not shows_text(value):
        raise _invalid("empty-reason", f"{where} must be words, not {_kind(value)}")
    return value


def _parse(text: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object_without_duplicates,
            parse_int=Number,
            parse_float=Number,
            parse_constant=Number,
        )
    except json.JSONDecodeError as error:
        is_at_end = error.pos >= len(error.doc) or error.msg.startswith("Unterminated string")
        if text.startswith("{") and is_at_end:
            raise _invalid("truncated", "the reply breaks off within its JSON") from None
        message = f"the reply is not JSON: {error.msg} at character {error.pos}"
        raise _invalid("not-json", message) from None
    except RecursionError:
        raise _invalid("not-json", "the reply is nested too deeply to be what was asked") from None


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _invalid("duplicate-keys", "a key stands twice in one object of the reply")
    return found


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "other text" if shows_text(value) else "empty text"
    if isinstance(value, Number):
        return "another number"
    names = {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}
    return names[type(value)]
