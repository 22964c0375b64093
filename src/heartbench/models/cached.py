"""A model that answers from what was answered before, and keeps what is new."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from heartbench.domain import record_id
from heartbench.models.base import (
    ChatModel,
    JsonObject,
    Message,
    Reply,
    ReplyCache,
    Sampling,
    Usage,
)

NOT_SENT = frozenset({"refuses"})


class Cached:
    """Keeps each reply under a hash of all that was asked; a reply found there has no times.

    Args:
        model: Who answers what is not there.
        cache: Where replies are kept.
        identity: What makes the endpoint another one: its family, model and extra settings.
    """

    def __init__(self, model: ChatModel, cache: ReplyCache, *, identity: JsonObject) -> None:
        self._model = model
        self._cache = cache
        self._identity = identity

    @property
    def name(self) -> str:
        """What messages and logs call it."""
        return self._model.name

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Answer from the cache, or ask and keep the answer; see `ChatModel.complete`."""
        key = reply_key(self._identity, messages, sampling, repeat=repeat)
        found = self._cache.find(key)
        if found is not None:
            return replace(
                reply_from_json(found),
                first_text_ms=None,
                first_reasoning_ms=None,
                total_ms=None,
                cost=0.0,
                cached=True,
            )
        reply = await self._model.complete(messages, sampling, repeat=repeat)
        await self._cache.keep(key, asdict(reply), cost=reply.cost)
        return reply


def reply_key(
    identity: JsonObject, messages: Sequence[Message], sampling: Sampling, *, repeat: int
) -> str:
    """Hash all that was asked: endpoint, messages, settings that are sent, repeat."""
    settings = {
        name: value
        for name, value in asdict(sampling).items()
        if name not in NOT_SENT and name not in sampling.refuses
    }
    return record_id(
        "reply",
        {
            "endpoint": identity,
            "messages": [asdict(message) for message in messages],
            "settings": settings,
            "repeat": repeat,
        },
    )


def reply_from_json(values: Mapping[str, Any]) -> Reply:
    """Return the reply that `dataclasses.asdict` wrote."""
    return Reply(**{**values, "usage": Usage(**values["usage"])})
