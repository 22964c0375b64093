"""Material of a prompt as data: between marker lines that carry a code nobody could foresee.

Whoever is asked to judge or to label reads texts as they are, never shortened or cleaned. The code
is a hash of the study's seed and of what is asked about, whose id depends on the texts.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, Literal

from hearteval.domain import Turn
from hearteval.protocol import load_protocol

Message = tuple[Literal["system", "user", "assistant"], str]
_HEX_DIGITS = 16


def delimiter_nonce(seed: int, judged_id: str, texts: Iterable[str]) -> str:
    """Return the code for one question: the first hash that stands in no text.

    The texts are all that will stand between the markers; the id is of what is asked.
    """
    lowered = [text.lower() for text in texts]
    names = (f"{seed}\x1f{judged_id}\x1f{attempt}" for attempt in count())
    nonces = (hashlib.sha256(name.encode()).hexdigest()[:_HEX_DIGITS] for name in names)
    return next(nonce for nonce in nonces if not any(nonce in text for text in lowered))


def between_markers(
    part: str, text: str, *, nonce: str, layout: Mapping[str, str] | None = None
) -> str:
    """Put marker lines around a text, which stays as it is; the layout is English unless given.

    Raises:
        ValueError: The text holds the code; take another from `delimiter_nonce`.
    """
    if nonce in text.lower():
        raise ValueError(f"the code of the markers stands in the {part}; choose another code")
    layout = layout or load_protocol("judge_prompt")["layout"]
    opening = layout["open"].format(part=part, code=nonce)
    closing = layout["close"].format(part=part, code=nonce)
    return f"{opening}\n{text}\n{closing}"


def marked_material(
    context: Sequence[Turn],
    labels: Sequence[str],
    texts: Sequence[str],
    *,
    nonce: str,
    layout: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Return the parts of a user message: the code, the conversation, and each text by its label.

    The layout is that of `judge_prompt.toml`, English unless given.

    Raises:
        ValueError: The code stands in one of the texts, or there are not as many texts as labels.
    """
    layout = layout or load_protocol("judge_prompt")["layout"]
    conversation = "\n".join(f"{layout[turn.role]} {turn.text}" for turn in context)
    return (
        layout["code"].format(code=nonce),
        between_markers(layout["conversation"], conversation, nonce=nonce, layout=layout),
        *(
            between_markers(label, text, nonce=nonce, layout=layout)
            for label, text in zip(labels, texts, strict=True)
        ),
    )


def ask_again(
    messages: Sequence[Message], fault: str, repair: Mapping[str, Any]
) -> tuple[Message, ...]:
    """Write the one request to repair: the same question again, with the fault named.

    Nothing of the bad reply goes back in, neither as the model's turn nor as a quotation: it may
    hold words of the texts that are asked about. `repair` holds a note, and what to say by fault;
    what it has no words for, any reply can be.
    """
    # Words in the file of a prompt are part of its hash: a fault of the endpoint is no new prompt.
    error = repair["errors"].get(fault) or load_protocol("replies")["repair"][fault]
    note = repair["note"].format(error=error)
    *before, (role, content) = messages
    return (*before, (role, f"{content}\n\n{note}"))
