"""What a model is sent to write a completion: a brief and an item become messages (HEART 9.4).

The supporter is the assistant, the seeker the user. The situation that some corpora give beside a
dialogue is left out: writers and raters see the dialogue alone, and so does a model. Whether an
endpoint takes a system message, and with which settings, is for the model's client.
"""

from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any, Literal

from hearteval.domain import Item, System, Turn, content_hash
from hearteval.protocol import ENGLISH, load_protocol

Message = tuple[Literal["system", "user", "assistant"], str]
BriefName = Literal["paper", "matched", "own"]

_STAND_INS = (
    (Turn(role="seeker", text="One."),),
    (Turn(role="supporter", text="One."), Turn(role="supporter", text="Two.")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a model is asked for, in one system message."""

    name: BriefName
    """``paper``: what HEART says; ``matched``: what people are asked; ``own``: a study's text."""
    text: str
    language: str = ENGLISH

    @property
    def prompt_hash(self) -> str:
        """Hash of the prompt: the brief, and how turns become messages."""
        rendered = [_messages(turns, self) for turns in _STAND_INS]
        version = load_protocol("support_prompt", self.language)["version"]
        return content_hash({"version": version, "rendered": rendered})

    @property
    def settings(self) -> dict[str, Any]:
        """What makes another system of a model that is asked otherwise."""
        said = {"prompt": self.name, "brief": self.text, "prompt_hash": self.prompt_hash}
        return said if self.language == ENGLISH else {**said, "language": self.language}


@cache
def known_briefs(language: str = ENGLISH) -> dict[str, Brief]:
    """Return the briefs that need no file, in a language, by name, the default one first."""
    paper = load_protocol("support_prompt", language)["briefs"]["paper"].strip()
    matched = load_protocol("people_writing", language)["task"].strip()
    return {
        "paper": Brief(name="paper", text=paper, language=language),
        "matched": Brief(name="matched", text=matched, language=language),
    }


def brief_of(system: System) -> Brief | None:
    """Return the brief of a system; None where it had none of ours."""
    if "brief" not in system.settings or system.kind != "model":
        return None
    told = system.settings
    return Brief(name=told["prompt"], text=told["brief"], language=told.get("language", ENGLISH))


def support_messages(item: Item, brief: Brief) -> tuple[Message, ...]:
    """Write the messages that ask for the supporter's next turn.

    Turns of one speaker in a row become one message, a line each, so that roles alternate. Where
    the supporter speaks first, a fixed line of the protocol stands before it as the user's.
    """
    return _messages(item.context, brief)


def _messages(turns: tuple[Turn, ...], brief: Brief) -> tuple[Message, ...]:
    messages: list[Message] = [("system", brief.text)]
    if turns[0].role == "supporter":
        prompt = load_protocol("support_prompt", brief.language)
        messages.append(("user", prompt["dialogue"]["before_supporter"]))
    for role, group in groupby(turns, key=lambda turn: turn.role):
        content = "\n".join(turn.text.strip() for turn in group)
        messages.append(("user" if role == "seeker" else "assistant", content))
    return tuple(messages)
