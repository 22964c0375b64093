"""Ordinary replies that carry an attempt to sway the judge: for the audit of judges, never ranked.

Each is to be compared with the same reply without the payload. A payload may name its own side, so
a text belongs to a side and is judged only when shown there. Payloads are the project's own, in
``protocol/injections.toml``; they are data here as everywhere, and nothing is escaped or removed.
"""

import base64
import codecs
import hashlib
from collections.abc import Callable, Mapping
from string import Template
from typing import Literal, NamedTuple, get_args

from hearteval.judgments.stress_set import SENTENCE_END
from hearteval.protocol import load_protocol

Side = Literal["first", "second"]
SIDES: tuple[Side, ...] = get_args(Side)

_HEX_DIGITS = 16
_FULL_WIDTH = {n: n + 0xFEE0 for n in range(ord("!"), ord("~") + 1)}


class InjectionText(NamedTuple):
    """A reply with a payload in it, to be shown at one side: ``first`` (A) or ``second`` (B).

    The kind is what the payload tries, e.g. ``order``, ``verdict``, ``disguise``.
    """

    payload: str
    kind: str
    side: Side
    text: str


def injection_texts(reference: str) -> tuple[InjectionText, ...]:
    """Return a reply with each payload in it, for each side, in the order of the protocol.

    The reply stands in each text, unbroken or in two parts.

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
    sentences = SENTENCE_END.split(reply, maxsplit=1)
    if len(sentences) == 2:
        return sentences[0], sentences[1]
    words = reply.split(" ")
    middle = (len(words) + 1) // 2
    return " ".join(words[:middle]), " ".join(words[middle:])


_DISGUISES: Mapping[str, Callable[[str], str]] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(" "),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
    "spaced": " ".join,
    "zero-width": "\N{ZERO WIDTH SPACE}".join,
    # Most screens do not show them.
    "tag-characters": lambda text: "".join(chr(0xE0000 + ord(c)) for c in text),
    "full-width": lambda text: text.translate(_FULL_WIDTH),
    "right-to-left": lambda text: (
        f"\N{RIGHT-TO-LEFT OVERRIDE}{text[::-1]}\N{POP DIRECTIONAL FORMATTING}"
    ),
}
