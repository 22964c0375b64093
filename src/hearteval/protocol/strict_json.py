"""A model's reply as the one JSON object that was asked for, or `InvalidReplyError`.

Nothing is guessed, filled in or repaired. White space around the object is allowed and nothing
else: no code fence, no words before or after, no key twice, no key out of order. Messages say where
and what kind, never what the reply says: they may end in a log.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from hearteval.domain import shows_text
from hearteval.errors import InvalidReplyError
from hearteval.protocol import read_ending

ObjectFault = Literal[
    "refused",
    "truncated",
    "not-finished",
    "empty",
    "too-long",
    "not-json",
    "duplicate-keys",
    "not-an-object",
    "wrong-keys",
    "wrong-order",
]
"""What can be wrong with any reply, whatever was asked."""


class Number(NamedTuple):
    """A number as it was written: ``3`` and ``3.0`` are not the same answer, nor is ``NaN``."""

    token: str


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with these keys, all of them and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def read_object(
    text: str,
    *,
    max_characters: int,
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> dict[str, Any]:
    """Read a reply as one JSON object; numbers in it come as `Number`.

    A reply that the endpoint cut off, calls a refusal or did not end by itself is never read.

    Raises:
        InvalidReplyError: The reply is none; `reason` is an `ObjectFault`.
    """
    ending = read_ending(finish_reason)
    if refusal or ending == "refused":
        raise _invalid("refused", "the model refused")
    if ending == "cut_off":
        raise _invalid("truncated", f"the endpoint cut the reply off ({finish_reason})")
    if ending == "not_finished":
        raise _invalid("not-finished", f"the reply did not end by itself ({finish_reason!r:.40})")
    if len(text) > max_characters:
        raise _invalid("too-long", f"the reply has {len(text)} characters")
    if not shows_text(text):
        raise _invalid("empty", "the reply holds no text")
    return require_object(_parse(text.strip()), "the reply")


def require_object(value: Any, where: str) -> dict[str, Any]:
    """Return a value that is an object."""
    if not isinstance(value, dict):
        raise _invalid("not-an-object", f"{where} must be an object, not {kind_of(value)}")
    return value


def require_keys(found: dict[str, Any], wanted: Sequence[str], where: str) -> None:
    """Check that an object has the keys wanted, in their order, and no others."""
    if list(found) == list(wanted):
        return
    if set(found) != set(wanted):
        n_unknown = len(set(found) - set(wanted))
        missing = [key for key in wanted if key not in found]
        raise _invalid("wrong-keys", f"{where} lacks {missing} and has {n_unknown} unknown keys")
    raise _invalid("wrong-order", f"the keys of {where} must stand in the order {list(wanted)}")


def kind_of(value: Any) -> str:
    """Say what kind of thing stands where another was asked for."""
    if isinstance(value, str):
        return "other text" if shows_text(value) else "empty text"
    if isinstance(value, Number):
        return "another number"
    names = {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}
    return names[type(value)]


def _invalid(reason: ObjectFault, message: str) -> InvalidReplyError:
    return InvalidReplyError(message, reason=reason)


def _parse(text: str) -> Any:
    try:
        return _DECODER.decode(text)
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


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object_without_duplicates,
    parse_int=Number,
    parse_float=Number,
    parse_constant=Number,
)
