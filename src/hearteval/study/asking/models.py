"""What a study's models are held to, and where their replies are kept."""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hearteval.config import ModelSettings, StudySettings
from hearteval.domain import record_id
from hearteval.models.base import AskedModel, Sampling, Schema
from hearteval.models.presets import price_provider
from hearteval.models.prices import Tariff
from hearteval.models.wrappers.budget import SpendingLimit
from hearteval.store.records import StoredReply
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.study.session import Now

T = TypeVar("T")
_schema_texts: dict[int, tuple[Schema, str]] = {}
"""By identity; each holds its schema, so that no other gets its identity."""
LOCAL_REASON_CHARACTERS = 300
"""A small model held to a grammar may never end a text that has no bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Open models, by the id of the system or rater, and where replies and their cost go."""

    models: Mapping[str, AskedModel]
    writer: GroupedWriter
    ledger: SpendingLimit
    batched: frozenset[str]
    """Ids of those that are asked through batch jobs."""


class StoredReplies:
    """A `hearteval.models.base.ReplyCache` in the study's store.

    Args:
        writer: Where replies are kept.
        now: The clock.
        is_timed: Answer nothing, as what was answered before takes no time; keep each reply under
            an id of its own, so that money spent twice counts twice.
    """

    def __init__(self, writer: GroupedWriter, now: Now, *, is_timed: bool = False) -> None:
        self._writer = writer
        self._now = now
        self._is_timed = is_timed
        self._ids = set[str]()
        self._n_looks = -1

    def find(self, key: str) -> Mapping[str, Any] | None:
        """Return the reply kept under a key, or None."""
        if self._n_looks != self._writer.panel.n_looks and not self._is_timed:
            # A query for each of thousands of calls that were never made would be most of their
            # time; what another process has been paid for is seen where the store is read anew.
            self._n_looks = self._writer.panel.n_looks
            self._ids = set(self._writer.store.reply_ids(are_waiting=True))
        if key not in self._ids:
            return None
        found = self._writer.store.find_reply(key)
        return None if found is None else found.reply

    async def keep(self, key: str, reply: Mapping[str, Any], *, cost: float | None) -> None:
        """Keep a reply; it is durable when this returns."""
        at, id_ = self._now(), key
        if self._is_timed:
            id_ = record_id("timed_reply", {"key": key, "at": at.isoformat()})
        await self._writer.keep([StoredReply(id=id_, reply=reply, cost=cost, created_at=at)])
        if not self._is_timed:
            self._ids.add(key)


async def keep_lost_cost(writer: GroupedWriter, now: Now, usd: float) -> None:
    """Keep what a call cost that gave no reply, so that later runs know that it is spent."""
    at = now()
    # Several may be lost in one moment of a coarse clock, or of one that is set back.
    own = record_id("lost_call", {"of": secrets.token_hex(16)})
    await writer.keep([StoredReply(id=own, reply={}, cost=usd, created_at=at)])


def paid_models(settings: StudySettings) -> list[tuple[str, ModelSettings]]:
    """Return the models of a study's systems and judges, by what the file calls them."""
    systems = [(f"system {s.name}", s.model) for s in settings.systems]
    judges = [(f"judge {j.name}", j.model) for j in settings.judging.judges]
    return [(name, model) for name, model in (*systems, *judges) if model is not None]


def tariff_of(model: ModelSettings) -> Tariff:
    """Return how a model's calls are charged."""
    is_batch = model.batch is not None
    provider = price_provider(model.provider)
    return Tariff(provider=provider, model=model.model, own=model.price, is_batch=is_batch)


SchemaOf = Callable[[int | None], Schema | None]
"""Makes the schema of a reply, with a bound on its texts in characters or with none; None where a
reply is free text."""


def sampling_of(model: ModelSettings, schema_of: SchemaOf) -> Sampling:
    """Return how a model samples: as deterministic as it can (HEART 9.4), held to the schema."""
    schema = schema_of(LOCAL_REASON_CHARACTERS if model.path is not None else None)
    return Sampling(
        max_tokens=model.max_tokens,
        refuses=model.refuses,
        is_streamed=model.is_streamed,
        schema=schema,
    )


def schema_text(sampling: Sampling) -> str:
    """Return the schema that goes with every prompt, as text; empty without one."""
    schema = sampling.schema
    if schema is None:
        return ""
    if id(schema) not in _schema_texts:  # one for thousands of calls
        _schema_texts[id(schema)] = (schema, json.dumps(schema.schema))
    return _schema_texts[id(schema)][1]


def asked_directly(model: ModelSettings) -> ModelSettings:
    """Return a model as it is asked without batch jobs: to time it, or to see whether it answers.

    Anthropic's ordinary endpoint here is its OpenAI-compatible one, which ignores schemas.
    """
    refuses = model.refuses | {"schema"} if model.batch == "anthropic" else model.refuses
    return replace(model, batch=None, refuses=refuses)
