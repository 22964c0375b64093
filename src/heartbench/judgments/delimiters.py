"""Marker lines around what is judged, with a code that no text in it can know or contain.

The code is a hash of the study's seed and the assignment, and the assignment's id depends on the
texts: whoever writes a completion cannot foresee it. A text that holds it all the same changes the
code, never the text.
"""

import hashlib
from collections.abc import Iterable
from itertools import count

from heartbench.protocol import load_protocol

_HEX_DIGITS = 16


def delimiter_nonce(seed: int, assignment_id: str, texts: Iterable[str]) -> str:
    """Return the code for one assignment: the first of its hashes that stands in no text.

    Args:
        seed: Seed of the study.
        assignment_id: The assignment, or whatever names the call.
        texts: Everything that will stand between the markers.
    """
    lowered = [text.lower() for text in texts]
    nonces = (_nonce(seed, assignment_id, attempt) for attempt in count())
    return next(nonce for nonce in nonces if not any(nonce in text for text in lowered))


def between_markers(part: str, text: str, *, nonce: str) -> str:
    """Put marker lines around a text, which stays as it is.

    Raises:
        ValueError: The text holds the code; take another from `delimiter_nonce`.
    """
    if nonce in text.lower():
        raise ValueError(f"the code of the markers stands in the {part}; choose another code")
    layout = load_protocol("judge_prompt")["layout"]
    opening = layout["open"].format(part=part, code=nonce)
    closing = layout["close"].format(part=part, code=nonce)
    return f"{opening}\n{text}\n{closing}"


def _nonce(seed: int, assignment_id: str, attempt: int) -> str:
    name = f"{seed}\x1f{assignment_id}\x1f{attempt}"
    return hashlib.sha256(name.encode()).hexdigest()[:_HEX_DIGITS]
