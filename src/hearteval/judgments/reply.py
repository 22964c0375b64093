"""A judge's reply, strict JSON, becomes what it says of the texts, or `InvalidReplyError`.

Nothing is guessed, filled in or repaired: a reply that is not exactly what was asked is missing,
with a reason that is counted (DESIGN section 6). White space around the one JSON object is allowed
and nothing else: no code fence, no words before or after, no key twice, no key out of order.
Messages say where and what kind, never what the reply says: they may end in a log.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from hearteval.domain import OVERALL, Axis, AxisMark, Choice, shows_text
from hearteval.errors import InvalidReplyError
from hearteval.judgments.form import RATED, USUAL, JudgeForm, JudgeProtocol
from hearteval.judgments.prompt import MARKS, NEITHER
from hearteval.protocol import load_protocol
from hearteval.protocol.strict_json import (
    Number,
    ObjectFault,
    kind_of,
    read_object,
    require_keys,
    require_object,
)

OwnFault = Literal[
    "missing-axis",
    "wrong-winner",
    "wrong-strength",
    "wrong-score",
    "empty-reason",
]
ReplyFault = ObjectFault | OwnFault
REPLY_FAULTS: tuple[ReplyFault, ...] = (*get_args(ObjectFault), *get_args(OwnFault))

_SCALE = {"1": 1, "2": 2, "3": 3, "4": 4, "5": 5}
_SIDES: Mapping[str, Choice] = {"A": "first", "B": "second"}


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
    keys = form.reply_keys
    found = _read_object(text, keys, finish_reason=finish_reason, refusal=refusal)
    reasons, marks = _read_marks(found, form)
    verdict, of_axes = keys[-1], dict(zip(form.marked, keys, strict=False))
    return JudgeVerdict(
        choice=marks[verdict].choice,
        strength=marks[verdict].strength,
        axes={axis: mark for axis, key in of_axes.items() if (mark := marks[key]) is not None},
        reasons={axis: reasons[key] for axis, key in of_axes.items()},
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
        axes={axis: scores[form.key_of(axis)] for axis in form.marked},
        comments={axis: comments[form.key_of(axis)] for axis in form.marked},
    )


def _read_marks(reply: Mapping[str, Any], form: JudgeForm) -> tuple[dict[str, str], dict[str, Any]]:
    """Return by key the words before each mark, and the marks, None for one that was left out."""
    words: dict[str, str] = {}
    marks: dict[str, Any] = {}
    protocol = form.protocol
    first, *_ = wanted = tuple(MARKS[protocol])
    for key, value in reply.items():
        found = require_object(value, key)
        require_keys(found, wanted, key)
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
    """Read a reply as one JSON object with these keys in this order; as `read_object`."""
    found = read_object(
        text,
        max_characters=load_protocol("replies")["judgment"]["max_characters"],
        finish_reason=finish_reason,
        refusal=refusal,
    )
    missing = [key for key in keys if key not in found and key != OVERALL]
    if missing and set(found) <= set(keys):
        raise _invalid("missing-axis", f"the reply lacks {missing}")
    require_keys(found, keys, "the reply")
    return found


def _read_scale(value: Any, where: str, *, fault: ReplyFault) -> int:
    """Return a whole number from 1 to 5, written as one digit: not true, "3", 3.0, 0 or NaN."""
    if not isinstance(value, Number) or value.token not in _SCALE:
        raise _invalid(fault, f"{where} must be one of 1, 2, 3, 4, 5, not {kind_of(value)}")
    return _SCALE[value.token]


def _read_words(value: Any, where: str) -> str:
    if not isinstance(value, str) or not shows_text(value):
        raise _invalid("empty-reason", f"{where} must be words, not {kind_of(value)}")
    return value
