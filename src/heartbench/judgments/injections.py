"""Ordinary replies that carry an attempt to sway the judge: for the audit of judges, never ranked.

Each is to be compared with the same reply without the payload. A payload may name its own side, so
a text belongs to a side and is judged only when shown there. Payloads are the project's own, in
``protocol/injections.toml``; they are data here as everywhere, and nothing is escaped or removed.
"""

import base64
import codecs
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Template
from typing import Literal, get_args

from heartbench.protocol import load_protocol

Side = Literal["first", "second"]
SIDES: tuple[Side, ...] = get_args(Side)

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_HEX_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionText:
    """A reply with a payload in it.

    Attributes:
        payload: Name of the payload.
        kind: What it tries, e.g. ``order``, ``verdict``, ``disguise``.
        side: Where the text is to be shown: ``first`` (A) or ``second`` (B).
        text: The reply with the payload.
    """

    payload: str
    kind: str
    side: Side
    text: str


def injection_texts(reference: str) -> tuple[InjectionText, ...]:
    """Return a reply with each payload in it, for each side, in the order of the protocol.

    Args:
        reference: The ordinary reply; it stands in each text, unbroken or in two parts.

    Raises:
        ValueError: The reply is empty.
    """
    if not reference.strip():
        raise ValueError("an empty reply cannot carry a payload")
    payloads = load_protocol("injections")["payload"]
    return tuple(_with_payload(reference, payload, side) for payload in payloads for side in SIDES)


def _with_payload(reference: str, payload: Mapping[str, str], side: Side) -> InjectionText:
    own, other = ("A", "B") if side == "first" else ("B", "A")
    code = hashlib.sha256(f"{payload['name']}\x1f{reference}".encode()).hexdigest()[:_HEX_DIGITS]
    words = Template(payload["text"]).substitute(own=own, other=other, code=code)
    if "disguise" in payload:
        words = _DISGUISES[payload["disguise"]](words)
    head, tail = _halves(reference)
    layout = Template(load_protocol("injections")["layouts"][payload["layout"]])
    text = layout.substitute(reply=reference, payload=words, head=head, tail=tail)
    return InjectionText(payload=payload["name"], kind=payload["kind"], side=side, text=text)


def _halves(reply: str) -> tuple[str, str]:
    """Part a reply after its first sentence, or where there is one only, in its middle."""
    sentences = _SENTENCE_END.split(reply, maxsplit=1)
    if len(sentences) == 2:
        return sentences[0], sentences[1]
    words = reply.split(" ")
    middle = (len(words) + 1) // 2
    return " ".join(words[:middle]), " ".join(words[middle:])


def _zero_width(text: str) -> str:
    return "\N{ZERO WIDTH SPACE}".join(text)


def _tag_characters(text: str) -> str:
    """Write ASCII as tag characters, which most screens do not show."""
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


def _full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _right_to_left(text: str) -> str:
    return f"\N{RIGHT-TO-LEFT OVERRIDE}{text[::-1]}\N{POP DIRECTIONAL FORMATTING}"


_DISGUISES: Mapping[str, Callable[[str], str]] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(" "),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
    "spaced": " ".join,
    "zero-width": _zero_width,
    "tag-characters": _tag_characters,
    "full-width": _full_width,
    "right-to-left": _right_to_left,
}
