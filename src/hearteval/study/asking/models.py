"""Where models are built: settings -> clients with retries, limits, budget and cache around them.

From the inside out: the client (or the server of a local model), the price and the budget, the gate
of its endpoint (when calls go out, and how often), the reply cache. Keys are read here and go to
the client alone.
"""

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from hearteval.config import ModelSettings, StudySettings, read_key
from hearteval.config.models import OWN_ENDPOINT
from hearteval.domain import record_id
from hearteval.errors import HeartError, SettingsError
from hearteval.judgments.prompt import judge_schema
from hearteval.labels.prompt import label_schema
from hearteval.labels.taxonomy import Taxonomy
from hearteval.models.asking import WORKERS_PER_CALL
from hearteval.models.base import AskedModel, ChatModel, Message, Sampling, Schema, Usage
from hearteval.models.batch.providers import AnthropicBatches, OpenAIBatches
from hearteval.models.batch.queue import Batched, BatchPolicy, BatchQueue, JobRunner
from hearteval.models.http import Endpoint
from hearteval.models.http.client import Client, OpenAICompatibleModel, Timeouts, open_client
from hearteval.models.local import (
    ONE_REQUEST,
    LocalModel,
    LocalServer,
    LocalSettings,
    run_local_model,
)
from hearteval.models.presets import INSPECT, price_provider
from hearteval.models.prices import Tariff, estimate_prompt_tokens, price_call
from hearteval.models.wrappers.budget import Budgeted, SpendingLimit
from hearteval.models.wrappers.cached import Cached
from hearteval.models.wrappers.gate import Gate, Gated, Line
from hearteval.models.wrappers.plain_text import PlainText
from hearteval.store.base import StoredReply
from hearteval.store.grouped import GroupedWriter
from hearteval.study.asking.stopping import Stopper, stopping_on_signals
from hearteval.study.session import Now, Session

T = TypeVar("T")
_schema_texts: dict[int, tuple[Schema, str]] = {}
"""By identity; each holds its schema, so that no other gets its identity."""
BATCH_POLICY = BatchPolicy()
LOCAL_CONTEXT = 16_384
LOCAL_REASON_CHARACTERS = 300
"""A small model held to a grammar may never end a text that has no bound."""
PROMPT_MARGIN = 2.0
"""The ceiling of a call's price allows a prompt of twice the estimated tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Open models, by system id and by rater id, and where their replies and their cost go."""

    systems: Mapping[str, AskedModel]
    judges: Mapping[str, AskedModel]
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
            self._ids = set(self._writer.store.reply_ids())
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
    own = record_id("lost_call", {"usd": usd, "at": at.isoformat()})
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


SchemaOf = Callable[[int | None], Schema]
"""Makes the schema of a reply, with a bound on its texts in characters or with none."""


def schema_of_judges(settings: StudySettings, bound: int | None) -> Schema:
    """Return the schema of what the judges of a study are asked."""
    form = settings.judging.form
    return Schema(
        name="heart_rating" if form.protocol == "rating" else "heart_judgment",
        schema=judge_schema(form, max_reason_characters=bound),
    )


def schema_of_labels(taxonomy: Taxonomy, bound: int | None) -> Schema:
    """Return the schema of what labelers by a taxonomy are asked."""
    schema = label_schema(taxonomy, max_evidence_characters=bound)
    return Schema(name="heart_labels", schema=schema)


def strict_sampling(model: ModelSettings, schema_of: SchemaOf) -> Sampling:
    """Return how a judge or labeler samples: as deterministic as it can, held to the schema."""
    schema = schema_of(LOCAL_REASON_CHARACTERS if model.path is not None else None)
    return Sampling(max_tokens=model.max_tokens, refuses=model.refuses, schema=schema)


def judge_sampling(model: ModelSettings, settings: StudySettings) -> Sampling:
    """Return how a judge of a study samples."""
    return strict_sampling(model, partial(schema_of_judges, settings))


def ask_models(
    session: Session,
    ask: Callable[[Asking], Awaitable[T]],
    *,
    systems: Mapping[str, ModelSettings] | None = None,
    judges: Mapping[str, ModelSettings] | None = None,
    schema_of: SchemaOf | None = None,
    is_timed: bool = False,
) -> T:
    """Open models, by system and rater id, ask them, and close them.

    Raters are held to the schema of the study's judges, or to that of `schema_of`. Timed models
    answer nothing from the reply cache, no prompt from a local model's, and nothing through batch
    jobs.

    Raises:
        SettingsError: A key is not set, or a local model cannot be served.
        StoppedError: A signal came; what came until then is kept.
        HeartError: Of several faults the first that is ours.
    """

    async def run() -> T:
        held = partial(schema_of_judges, session.settings) if schema_of is None else schema_of
        async with _open_models(
            session, systems or {}, judges or {}, held, is_timed=is_timed
        ) as asking:
            stopper = Stopper(
                asking.ledger,
                asking.writer,
                wait_s=session.settings.stop_wait_s,
                say=session.tell.warn,
            )
            with stopping_on_signals(stopper):
                return await stopper.watch(ask(asking))

    try:
        return asyncio.run(run())
    except BaseExceptionGroup as group:
        ours = group.subgroup(HeartError)
        raise _first(ours if ours is not None else group) from None


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@asynccontextmanager
async def _open_models(
    session: Session,
    systems: Mapping[str, ModelSettings],
    judges: Mapping[str, ModelSettings],
    schema_of: SchemaOf,
    *,
    is_timed: bool,
) -> AsyncIterator[Asking]:
    settings = session.settings
    if is_timed:
        systems = {id_: asked_directly(model) for id_, model in systems.items()}
        judges = {id_: asked_directly(model) for id_, model in judges.items()}
    ledger = SpendingLimit(limit_usd=settings.max_usd, spent_usd=session.store.spent_usd())
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(GroupedWriter(session.store))
        writer.panel.when_shared = lambda: ledger.note(session.store.spent_usd())
        client = await stack.enter_async_context(open_client(trust_env=True))
        opened: dict[str, ChatModel] = {}
        gates: dict[object, Gate] = {}
        lines: dict[object, Line] = {}
        queues: dict[str, BatchQueue] = {}
        rng = np.random.default_rng(settings.seed)
        for model in (*systems.values(), *judges.values()):
            key = _place(model)
            if model.batch is not None and key not in queues:
                queue = _batch_queue(model, client, session)
                queues[key] = await stack.enter_async_context(queue)
            elif model.batch is None and key not in opened:
                if not is_timed:
                    _warn_of_open_jobs(model, session)
                local = LocalSettings(context=LOCAL_CONTEXT, reuse_prompts=not is_timed)
                own = _open_one(model, client, stack, local, say=session.tell.warn)
                opened[key] = _budgeted(own, model, ledger, writer, session.now)

        replies = StoredReplies(writer, session.now, is_timed=is_timed)

        def asked(id_: str, model: ModelSettings, sampling: Sampling) -> AskedModel:
            # One model id may stand for two models at two addresses: each entry keeps its own.
            identity, n_at_once = {**model.identity, "for": id_}, model.concurrency
            calling: ChatModel
            if model.batch is None:
                calling = opened[_place(model)]
            else:
                batched = Batched(queues[_place(model)], identity=identity)
                calling = _budgeted(batched, model, ledger, writer, session.now)
                n_at_once = -(-n_at_once // WORKERS_PER_CALL)  # all of them wait for the same job
            gate = gates.setdefault(_endpoint_key(model), _gate(model, session))
            of_line = (_place(model), model.limits)
            if of_line not in lines:
                lines[of_line] = gate.open_line(
                    model.model, model.limits, highest=model.concurrency
                )
            gated = Gated(
                calling,
                gate,
                lines[of_line],
                rng=rng,
                count_tokens=_count_prompt_tokens,
            )
            cached = Cached(gated, replies, identity=identity)
            return AskedModel(model=cached, sampling=sampling, n_at_once=n_at_once)

        yield Asking(
            systems={
                # HEART 9.4: temperature 0, top-p 1, where a model takes them.
                id_: asked(id_, m, Sampling(max_tokens=m.max_tokens, refuses=m.refuses))
                for id_, m in systems.items()
            },
            judges={id_: asked(id_, m, strict_sampling(m, schema_of)) for id_, m in judges.items()},
            writer=writer,
            ledger=ledger,
            batched=frozenset(id_ for id_, m in ({**systems, **judges}).items() if m.batch),
        )


def _place(model: ModelSettings) -> str:
    """Say which models share a connection, a limit and a local server: those called alike."""
    how = f"{model.key_name} {model.max_tokens_key} {json.dumps(model.extra_body, sort_keys=True)}"
    how += f" {model.price} {model.limits.timeout_s}"
    return f"{model.base_url} {model.path} {model.provider} {model.model} {model.batch} {how}"


def _endpoint_key(model: ModelSettings) -> object:
    """Say which models share an endpoint: one address and one key, or one file."""
    key = None if model.path is not None else read_key(model.key_name, who=model.model)
    return model.path, model.base_url, key, model.batch


def _gate(model: ModelSettings, session: Session) -> Gate:
    name = model.model if model.path is not None else _endpoint(model).address
    return Gate(name, say=session.tell.warn, is_batch=model.batch is not None)


def _count_prompt_tokens(messages: Sequence[Message], sampling: Sampling) -> float:
    return estimate_prompt_tokens(messages, schema_text(sampling))


def _open_one(
    model: ModelSettings,
    client: Client,
    stack: AsyncExitStack,
    local: LocalSettings,
    *,
    say: Callable[[str], None],
) -> ChatModel:
    timeouts = client.timeouts.within(model.limits.timeout_s)
    if model.path is not None:
        server = stack.enter_context(run_local_model(model.path, local))

        def connect(server: LocalServer) -> ChatModel:
            endpoint = Endpoint(
                name=model.model, model=server.model, base_url=server.base_url, headers=ONE_REQUEST
            )
            return OpenAICompatibleModel(endpoint, client, timeouts=timeouts)

        return PlainText(LocalModel(connect, server, say=say))
    if model.backend == "inspect":
        return _open_inspect(model, stack, timeouts)
    calling = OpenAICompatibleModel(_endpoint(model), client, timeouts=timeouts)
    return PlainText(calling) if model.provider == OWN_ENDPOINT else calling


def _open_inspect(model: ModelSettings, stack: AsyncExitStack, timeouts: Timeouts) -> ChatModel:
    if importlib.util.find_spec("inspect_ai") is None:
        raise SettingsError(f"{model.model} needs Inspect: pip install 'hearteval[inspect]'")
    from hearteval.models.inspect.model import open_inspect_model  # noqa: PLC0415 - an extra

    opened = open_inspect_model(
        model.provider.removeprefix(INSPECT), _endpoint(model), timeouts=timeouts
    )
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
    calling: ChatModel, model: ModelSettings, ledger: SpendingLimit, writer: GroupedWriter, now: Now
) -> Budgeted:
    tariff = tariff_of(model)

    def ceiling(messages: Sequence[Message], sampling: Sampling) -> float:
        tokens = PROMPT_MARGIN * estimate_prompt_tokens(messages, schema_text(sampling))
        output_tokens = sampling.max_tokens or model.max_tokens
        usage = Usage(input_tokens=round(tokens), output_tokens=output_tokens)
        price = price_call(tariff, usage, when=now())
        return 0.0 if price is None else price

    return Budgeted(
        calling,
        ledger,
        ceiling=ceiling,
        price=lambda usage: price_call(tariff, usage, when=now()),
        book_lost=partial(keep_lost_cost, writer, now),
        fetched_later=model.batch is not None,
    )


def schema_text(sampling: Sampling) -> str:
    """Return the schema that goes with every prompt, as text; empty without one."""
    schema = sampling.schema
    if schema is None:
        return ""
    if id(schema) not in _schema_texts:  # one for thousands of calls
        _schema_texts[id(schema)] = (schema, json.dumps(schema.schema))
    return _schema_texts[id(schema)][1]


def _batch_queue(model: ModelSettings, client: Client, session: Session) -> BatchQueue:
    endpoint = _endpoint(model)
    provider = (
        AnthropicBatches(endpoint, client)
        if model.batch == "anthropic"
        else OpenAIBatches(endpoint, client, provider=model.provider)
    )
    runner = JobRunner(provider, session.store, say=session.tell.note, policy=BATCH_POLICY)
    return BatchQueue(runner, max_calls=model.concurrency)


def _warn_of_open_jobs(model: ModelSettings, session: Session) -> None:
    """Say that a model is about to be asked directly for what a batch job may still answer."""
    kept = session.store.reply_ids()
    n = sum(
        len(set(job.custom_ids) - kept)
        for job in session.store.jobs()
        if job.closed_at is None and (job.provider, job.model) == (model.provider, model.model)
    )
    if n:
        session.tell.warn(
            f"{model.model}: {n:,} calls are in batch jobs that were not collected to their end;"
            " asked directly, they are paid for again: stop and put batch = true back to collect"
        )


def asked_directly(model: ModelSettings) -> ModelSettings:
    """Return a model as it is asked without batch jobs: to time it, or to see whether it answers.

    Anthropic's ordinary endpoint here is its OpenAI-compatible one, which ignores schemas.
    """
    refuses = model.refuses | {"schema"} if model.batch == "anthropic" else model.refuses
    return replace(model, batch=None, refuses=refuses)
