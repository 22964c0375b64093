"""Texts in which no chat template finds tokens of its own: a wrapper for models served at home.

A local server reads a prompt with its template's tokens in it, wherever they come from: a
completion with ``<|im_end|>`` would end the question that a judge is asked. Hosted providers see to
that; here a space behind the bracket makes plain text of whatever looks like such a token. All else
stays.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from hearteval.models.base import ChatModel, Message, Reply, Sampling

_LOOKS_LIKE_A_TOKEN = re.compile(
    r"<(?=[^\s<>]{1,60}>)|\](?=~!?\w{1,20}[\[\]])|\[(?=\w{1,20}~\[)|\[(?=(?:/?[A-Z][A-Z_]*|gMASK|unused\d+|\|[^\s\[\]]{1,60}\|)\])"
)


class PlainText:
    """A model that is sent texts without template tokens: a `ChatModel`."""

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self._model = model

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Ask with plain texts; see `ChatModel.complete`."""
        plain = [_plain(message) for message in messages]
        return await self._model.complete(plain, sampling, repeat=repeat)


def _plain(message: Message) -> Message:
    text = to_plain(message.content)
    return message if text == message.content else replace(message, content=text)


@lru_cache(maxsize=16)  # what all of a judge's prompts begin with is read once
def to_plain(text: str) -> str:
    """Put a space behind each bracket that may begin a token of a chat template."""
    return _LOOKS_LIKE_A_TOKEN.sub(lambda bracket: f"{bracket[0]} ", text)
