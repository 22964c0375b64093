"""What a model is sent to write a completion: an item becomes messages (HEART 9.4).

The supporter is the assistant, the seeker the user. The situation that some corpora give beside a
dialogue is left out: writers and raters see the dialogue alone, and so does a model. Whether an
endpoint takes a system message, and with which settings, is for the model's client.
"""

from itertools import groupby
from typing import Literal

from hearteval.domain import Item, Turn, content_hash
from hearteval.protocol import load_protocol

Message = tuple[Literal["system", "user", "assistant"], str]

_STAND_INS = (
    (Turn(role="seeker", text="One."),),
    (Turn(role="supporter", text="One."), Turn(role="supporter", text="Two.")),
)


def support_messages(item: Item) -> tuple[Message, ...]:
    """Write the messages that ask for the supporter's next turn.

    Turns of one speaker in a row become one message, a line each, so that roles alternate. Where
    the supporter speaks first, a fixed line of the protocol stands before it as the user's.
    """
    return _messages(item.context)


def support_prompt_hash() -> str:
    """Return the hash of the prompt: its texts, its version, and how turns become messages."""
    rendered = [_messages(turns) for turns in _STAND_INS]
    return content_hash({"support_prompt": load_protocol("support_prompt"), "rendered": rendered})


def _messages(turns: tuple[Turn, ...]) -> tuple[Message, ...]:
    prompt = load_protocol("support_prompt")
    messages: list[Message] = [("system", prompt["system"].strip())]
    if turns[0].role == "supporter":
        messages.append(("user", prompt["before_supporter"]))
    for role, group in groupby(turns, key=lambda turn: turn.role):
        content = "\n".join(turn.text.strip() for turn in group)
        messages.append(("user" if role == "seeker" else "assistant", content))
    return tuple(messages)
