"""Strict JSON of a judge's reply: one object with exactly the keys asked for, or an error.

White space around it is allowed and nothing else: no code fence, no words before or after, no key
twice, no key out of order. Messages say where and what kind, never what the reply says: they may
end in a log.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from heartbench.errors import InvalidReplyError
from heartbench.protocol import load_protocol

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


class Number(NamedTuple):
    """A number as it was written: ``3`` and ``3.0`` are not the same answer, nor is ``NaN``."""

    token: str


def invalid(reason: ReplyFault, message: str) -> InvalidReplyError:
    """Return the error for a reply that cannot be used."""
    return InvalidReplyError(message, reason=reason)


def read_marks(
    text: str,
    axis_keys: Sequence[str],
    *,
    also: Sequence[str] = (),
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> dict[str, Any]:
    """Read a reply as one JSON object with a value for each axis; numbers come as `Number`.

    Args:
        text: The reply.
        axis_keys: The keys of the axes, in the order asked for.
        also: Keys after them.
        finish_reason: Why it ends, as the endpoint says; a reply cut off is never read.
        refusal: What the endpoint gave as a refusal, if anything.

    Raises:
        InvalidReplyError: With one of `REPLY_FAULTS`.
    """
    accepted = load_protocol("replies")
    finish = (finish_reason or "").lower()
    if refusal or finish in accepted["finish"]["refused"]:
        raise invalid("refused", "the judge refused")
    if finish in accepted["finish"]["cut_off"]:
        raise invalid("truncated", f"the endpoint cut the reply off ({finish})")
    if len(text) > accepted["judgment"]["max_characters"]:
        raise invalid("too-long", f"the reply has {len(text)} characters")
    if not text.strip():
        raise invalid("empty", "the reply holds no text")
    found = require_object(_parse(text.strip()), "the reply")
    missing = [key for key in axis_keys if key not in found]
    if missing and set(found) <= {*axis_keys, *also}:
        raise invalid("missing-axis", f"the reply lacks {missing}")
    require_keys(found, [*axis_keys, *also], "the reply")
    return found


def require_object(value: Any, where: str) -> dict[str, Any]:
    """Return a value that is an object.

    Raises:
        InvalidReplyError: It is none.
    """
    if not isinstance(value, dict):
        raise invalid("not-an-object", f"{where} must be an object, not {_kind(value)}")
    return value


def require_keys(found: dict[str, Any], wanted: Sequence[str], where: str) -> None:
    """Check that an object has the keys wanted, in their order, and no others.

    Raises:
        InvalidReplyError: It has not.
    """
    if set(found) != set(wanted):
        n_unknown = len(set(found) - set(wanted))
        missing = [key for key in wanted if key not in found]
        raise invalid("wrong-keys", f"{where} lacks {missing} and has {n_unknown} unknown keys")
    if list(found) != list(wanted):
        raise invalid("wrong-order", f"the keys of {where} must stand in the order {list(wanted)}")


def read_scale(value: Any, where: str, *, fault: ReplyFault) -> int:
    """Return a whole number from 1 to 5, written as one digit.

    Raises:
        InvalidReplyError: It is anything else: true, "3", 3.0, 0, NaN.
    """
    if not isinstance(value, Number) or value.token not in _SCALE:
        raise invalid(fault, f"{where} must be one of 1, 2, 3, 4, 5, not {_kind(value)}")
    return _SCALE[value.token]


def read_words(value: Any, where: str) -> str:
    """Return text that says something.

    Raises:
        InvalidReplyError: It is empty, or no text.
    """
    if not isinstance(value, str) or not value.strip():
        raise invalid("empty-reason", f"{where} must be words, not {_kind(value)}")
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
        if text.startswith("{") and _is_at_end(error):
            raise invalid("truncated", "the reply breaks off within its JSON") from None
        message = f"the reply is not JSON: {error.msg} at character {error.pos}"
        raise invalid("not-json", message) from None
    except RecursionError:
        raise invalid("not-json", "the reply is nested too deeply to be what was asked") from None


def _is_at_end(error: json.JSONDecodeError) -> bool:
    return error.pos >= len(error.doc) or error.msg.startswith("Unterminated string")


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise invalid("duplicate-keys", "a key stands twice in one object of the reply")
    return found


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "other text" if value.strip() else "empty text"
    if isinstance(value, Number):
        return "another number"
    names = {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}
    return names[type(value)]
