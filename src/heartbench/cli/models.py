"""Where models are built: settings -> clients with retries, limits, budget and cache around them.

From the inside out: the client (or the server of a local model), how many calls at once, the price
and the budget, trying again, the reply cache. Keys are read here and go to the client alone.
"""

import importlib.util
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from heartbench.cli.batches import asked_directly, batch_queue, warn_of_open_jobs
from heartbench.cli.console import utc_now
from heartbench.config import ModelSettings, StudySettings, read_key
from heartbench.domain import AXES, record_id
from heartbench.errors import SettingsError
from heartbench.judgments.reply_schema import judge_schema, rating_schema
from heartbench.models.asking import WORKERS_PER_CALL
from heartbench.models.base import AskedModel, ChatModel, Message, Sampling, Schema, Usage
from heartbench.models.batch_queue import Batched, BatchQueue
from heartbench.models.budget import Budgeted, SpendingLimit
from heartbench.models.cached import Cached
from heartbench.models.concurrency import AdaptiveLimit
from heartbench.models.connections import Client, open_client
from heartbench.models.local import LocalModel, LocalSettings, run_local_model
from heartbench.models.openai_compatible import OpenAICompatibleModel
from heartbench.models.presets import INSPECT, price_provider
from heartbench.models.prices import Tariff, estimate_prompt_tokens, price_call
from heartbench.models.retrying import Retrying, RetryPolicy
from heartbench.models.wire import Endpoint
from heartbench.store.base import StoredReply
from heartbench.store.grouped import GroupedWriter

LOCAL_CONTEXT = 16_384
LOCAL_REASON_CHARACTERS = 300
"""A small model held to a grammar may never end a text that has no bound."""
PROMPT_MARGIN = 2.0
"""The ceiling of a call's price allows a prompt of twice the estimated tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Everything that asking models needs, for one run of a verb.

    Attributes:
        systems: Models by system id.
        judges: Models by rater id.
        writer: Where replies go.
        ledger: What they cost.
        batched: Ids of those that are asked through batch jobs.
    """

    systems: Mapping[str, AskedModel]
    judges: Mapping[str, AskedModel]
    writer: GroupedWriter
    ledger: SpendingLimit
    batched: frozenset[str]


class StoredReplies:
    """A `heartbench.models.base.ReplyCache` in the study's store."""

    def __init__(self, writer: GroupedWriter) -> None:
        self._writer = writer
        # A query for each of thousands of calls that were never made would be most of their time.
        self._ids = set(writer.store.reply_ids())

    def find(self, key: str) -> Mapping[str, Any] | None:
        """Return the reply kept under a key, or None."""
        if key not in self._ids:
            return None
        found = self._writer.store.find_reply(key)
        return None if found is None else found.reply

    async def keep(self, key: str, reply: Mapping[str, Any], *, cost: float | None) -> None:
        """Keep a reply; it is durable when this returns."""
        await self._writer.keep([StoredReply(id=key, reply=reply, cost=cost, created_at=utc_now())])
        self._ids.add(key)


class UnreadReplies:
    """A `heartbench.models.base.ReplyCache` that never answers: it only keeps what calls cost."""

    def __init__(self, writer: GroupedWriter) -> None:
        self._writer = writer

    def find(self, _key: str) -> Mapping[str, Any] | None:
        """Return None: what was answered before takes no time."""
        return None

    async def keep(self, key: str, reply: Mapping[str, Any], *, cost: float | None) -> None:
        """Keep a reply under an id of its own, so that money spent twice counts twice."""
        now = utc_now()
        own = record_id("timed_reply", {"key": key, "at": now.isoformat()})
        await self._writer.keep([StoredReply(id=own, reply=reply, cost=cost, created_at=now)])


async def keep_lost_cost(writer: GroupedWriter, usd: float) -> None:
    """Keep what a call cost that gave no reply, so that later runs know that it is spent."""
    now = utc_now()
    own = record_id("lost_call", {"usd": usd, "at": now.isoformat()})
    await writer.keep([StoredReply(id=own, reply={}, cost=usd, created_at=now)])


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


def system_sampling(model: ModelSettings) -> Sampling:
    """Return how a system samples (HEART 9.4: temperature 0, top-p 1, where it takes them)."""
    return Sampling(max_tokens=model.max_tokens, refuses=model.refuses)


def judge_sampling(model: ModelSettings, settings: StudySettings) -> Sampling:
    """Return how a judge samples: as deterministic as it can, held to the schema."""
    bound = LOCAL_REASON_CHARACTERS if model.path is not None else None
    protocol = settings.judging.protocol
    if protocol == "rating":
        rating = rating_schema(AXES, max_reason_characters=bound)
        schema = Schema(name="heart_rating", schema=rating)
    else:
        judgment = judge_schema(AXES, protocol=protocol, max_reason_characters=bound)
        schema = Schema(name="heart_judgment", schema=judgment)
    return Sampling(max_tokens=model.max_tokens, refuses=model.refuses, schema=schema)


@asynccontextmanager
async def open_models(
    settings: StudySettings,
    writer: GroupedWriter,
    *,
    systems: Mapping[str, ModelSettings],
    judges: Mapping[str, ModelSettings],
    is_timed: bool = False,
) -> AsyncIterator[Asking]:
    """Open the models of a study, by system and rater id, and close them at the end.

    Args:
        settings: The study's.
        writer: Where replies go.
        systems: Models by system id.
        judges: Models by rater id.
        is_timed: Answer nothing from the reply cache, no prompt from a local model's, and nothing
            through batch jobs.

    Raises:
        SettingsError: A key is not set, or a local model cannot be served.
    """
    if is_timed:
        systems = {id_: asked_directly(model) for id_, model in systems.items()}
        judges = {id_: asked_directly(model) for id_, model in judges.items()}
    ledger = SpendingLimit(limit_usd=settings.max_usd, spent_usd=writer.store.spent_usd())
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(open_client(trust_env=True))
        opened: dict[str, ChatModel] = {}
        queues: dict[str, BatchQueue] = {}
        rng = np.random.default_rng(settings.seed)
        for model in (*systems.values(), *judges.values()):
            key = _place(model)
            if model.batch is not None and key not in queues:
                queue = batch_queue(model, _endpoint(model), client, writer.store)
                queues[key] = await stack.enter_async_context(queue)
            elif model.batch is None and key not in opened:
                if not is_timed:
                    warn_of_open_jobs(model, writer.store)
                local = LocalSettings(context=LOCAL_CONTEXT, reuse_prompts=not is_timed)
                opened[key] = _open_one(model, client, stack, local)

        replies = UnreadReplies(writer) if is_timed else StoredReplies(writer)

        def asked(id_: str, model: ModelSettings, sampling: Sampling) -> AskedModel:
            # One model id may stand for two models at two addresses: each entry keeps its own.
            identity, n_at_once = {**model.identity, "for": id_}, model.concurrency
            if model.batch is None:
                budgeted = _budgeted(opened[_place(model)], model, ledger, writer)
                calling: ChatModel = Retrying(budgeted, RetryPolicy(), rng=rng)
            else:
                batched = Batched(queues[_place(model)], identity=identity)
                calling = _budgeted(batched, model, ledger, writer)
                n_at_once = -(-n_at_once // WORKERS_PER_CALL)  # all of them wait for the same job
            cached = Cached(calling, replies, identity=identity)
            return AskedModel(model=cached, sampling=sampling, n_at_once=n_at_once)

        yield Asking(
            systems={id_: asked(id_, m, system_sampling(m)) for id_, m in systems.items()},
            judges={id_: asked(id_, m, judge_sampling(m, settings)) for id_, m in judges.items()},
            writer=writer,
            ledger=ledger,
            batched=frozenset(id_ for id_, m in ({**systems, **judges}).items() if m.batch),
        )


def _place(model: ModelSettings) -> str:
    """Say which models share a connection, a limit and a local server: those called alike."""
    how = f"{model.key_name} {model.max_tokens_key} {json.dumps(model.extra_body, sort_keys=True)}"
    return f"{model.base_url} {model.path} {model.provider} {model.model} {model.batch} {how}"


def _open_one(
    model: ModelSettings,
    client: Client,
    stack: AsyncExitStack,
    local: LocalSettings,
) -> ChatModel:
    if model.path is not None:
        server = stack.enter_context(run_local_model(model.path, local))
        endpoint = Endpoint(name=model.model, model=server.model, base_url=server.base_url)
        calling: ChatModel = LocalModel(OpenAICompatibleModel(endpoint, client), server)
    elif model.backend == "inspect":
        calling = _open_inspect(model, stack)
    else:
        calling = OpenAICompatibleModel(_endpoint(model), client)
    return AdaptiveLimit(calling, highest=model.concurrency)


def _open_inspect(model: ModelSettings, stack: AsyncExitStack) -> ChatModel:
    if importlib.util.find_spec("inspect_ai") is None:
        raise SettingsError(f"{model.model} needs Inspect: pip install 'heartbench[inspect]'")
    from heartbench.models.inspect_model import open_inspect_model

    opened = open_inspect_model(model.provider.removeprefix(INSPECT), _endpoint(model))
    stack.push_async_callback(opened.close)
    return opened


def _endpoint(model: ModelSettings) -> Endpoint:
    try:
        return Endpoint(
            name=model.model,
            model=model.model,
            base_url=model.base_url or "",
            api_key=read_key(model.key_name, who=model.model),
            extra_body=model.extra_body,
            max_tokens_key=model.max_tokens_key,
        )
    except ValueError as error:
        raise SettingsError(str(error), ids=(model.model,)) from None


def _budgeted(
    calling: ChatModel, model: ModelSettings, ledger: SpendingLimit, writer: GroupedWriter
) -> Budgeted:
    tariff = tariff_of(model)

    def ceiling(messages: Sequence[Message], sampling: Sampling) -> float:
        tokens = PROMPT_MARGIN * estimate_prompt_tokens(messages, schema_text(sampling))
        usage = Usage(input_tokens=round(tokens), output_tokens=model.max_tokens)
        price = price_call(tariff, usage, when=utc_now())
        return 0.0 if price is None else price

    return Budgeted(
        calling,
        ledger,
        ceiling=ceiling,
        price=lambda usage: price_call(tariff, usage, when=utc_now()),
        book_lost=partial(keep_lost_cost, writer),
    )


def schema_text(sampling: Sampling) -> str:
    """Return the schema that goes with every prompt, as text; empty without one."""
    return "" if sampling.schema is None else json.dumps(sampling.schema.schema)
