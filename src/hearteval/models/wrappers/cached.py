"""A model that answers from what was answered before, and keeps what is new."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hearteval.domain import canonical_json, content_hash, flat_fields
from hearteval.domain.ids import ID_HEX_DIGITS, ID_VERSION
from hearteval.models.base import ChatModel, JsonObject, Message, Reply, ReplyCache, Sampling, Usage

NO_SETTINGS = frozenset({"refuses", "is_streamed"})
"""Of `Sampling`: they make no other reply."""


class Cached:
    """Keeps each reply under a hash of all that was asked; a reply found there has no times.

    `identity` is what makes the endpoint another one: its family, model and extra settings.
    """

    def __init__(self, model: ChatModel, cache: ReplyCache, *, identity: JsonObject) -> None:
        self.name = model.name
        self._model = model
        self._cache = cache
        self._keys = ReplyKeys(identity)

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Answer from the cache, or ask and keep the answer; see `ChatModel.complete`."""
        key = self._keys.key(messages, sampling, repeat=repeat)
        found = self._cache.find(key)
        if found is not None:
            times = dict.fromkeys(("first_text_ms", "first_reasoning_ms", "total_ms"))
            return reply_from_json({**found, **times, "cached": True})
        reply = await self._model.complete(messages, sampling, repeat=repeat)
        await self._cache.keep(key, reply_to_json(reply), cost=reply.cost)
        return reply


class ReplyKeys:
    """Names replies by a hash of all that was asked of an endpoint: a `record_id`, in parts."""

    def __init__(self, identity: JsonObject) -> None:
        self._head = f'{{"endpoint":"{content_hash(identity)}","kind":"reply","messages":['
        self._first: Message | None = None
        self._begun = hashlib.sha256()
        self._sampling: Sampling | None = None
        self._settings = ""

    def key(self, messages: Sequence[Message], sampling: Sampling, *, repeat: int) -> str:
        """Return the key under which the reply to a call is kept."""
        if sampling is not self._sampling:  # one for thousands of calls, with a schema in it
            self._sampling, self._settings = sampling, _settings_hash(sampling)
        first, *others = messages
        if first != self._first:  # nor is the prompt that all of them begin with hashed again
            self._first = first
            self._begun = hashlib.sha256(_bytes(self._head + _as_json(first)))
        digest = self._begun.copy()
        for message in others:
            digest.update(_bytes("," + _as_json(message)))
        end = f'],"repeat":{repeat},"settings":"{self._settings}","v":{ID_VERSION}}}'
        digest.update(end.encode())
        return digest.hexdigest()[:ID_HEX_DIGITS]


def _as_json(message: Message) -> str:
    return canonical_json([message.role, message.content])


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def reply_to_json(reply: Reply) -> dict[str, Any]:
    """Return a reply as JSON values, without the body as it came: what it says stands here."""
    return {**flat_fields(reply), "usage": flat_fields(reply.usage), "raw": ""}


def reply_from_json(values: Mapping[str, Any]) -> Reply:
    """Return the reply that `reply_to_json` wrote."""
    return Reply(**{**values, "usage": Usage(**values["usage"])})


def _settings_hash(sampling: Sampling) -> str:
    """Hash the settings that are sent: what the model refuses makes no difference."""
    return content_hash(
        {
            name: value
            for name, value in asdict(sampling).items()
            if name not in NO_SETTINGS and name not in sampling.refuses
        }
    )
