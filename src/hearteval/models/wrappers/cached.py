"""A model that answers from what was answered before, and keeps what is new."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from hearteval.domain import content_hash, record_id
from hearteval.models.base import ChatModel, JsonObject, Message, Reply, ReplyCache, Sampling, Usage

NOT_SENT = frozenset({"refuses"})


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
    """Names replies by a hash of all that was asked of an endpoint."""

    def __init__(self, identity: JsonObject) -> None:
        self._identity = content_hash(identity)
        self._sampling: Sampling | None = None
        self._settings = ""

    def key(self, messages: Sequence[Message], sampling: Sampling, *, repeat: int) -> str:
        """Return the key under which the reply to a call is kept."""
        if sampling is not self._sampling:  # one for thousands of calls, with a schema in it
            self._sampling, self._settings = sampling, _settings_hash(sampling)
        return record_id(
            "reply",
            {
                "endpoint": self._identity,
                "messages": [[message.role, message.content] for message in messages],
                "settings": self._settings,
                "repeat": repeat,
            },
        )


def reply_to_json(reply: Reply) -> dict[str, Any]:
    """Return a reply as JSON values, without the body as it came: what it says stands here."""
    values = {field.name: getattr(reply, field.name) for field in fields(reply)}
    return {**values, "usage": asdict(reply.usage), "raw": ""}


def reply_from_json(values: Mapping[str, Any]) -> Reply:
    """Return the reply that `reply_to_json` wrote."""
    return Reply(**{**values, "usage": Usage(**values["usage"])})


def _settings_hash(sampling: Sampling) -> str:
    """Hash the settings that are sent: what the model refuses makes no difference."""
    return content_hash(
        {
            name: value
            for name, value in asdict(sampling).items()
            if name not in NOT_SENT and name not in sampling.refuses
        }
    )
