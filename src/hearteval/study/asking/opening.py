"""How models are opened: clients with retries, limits, budget and cache around them.

From the inside out: the client (or the server of a local model), the price and the budget, the gate
of its endpoint (when calls go out, and how often), the reply cache. Keys are read here and go to
the client alone.
"""

import importlib.util
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

import numpy as np

from hearteval.config import ModelSettings, read_key
from hearteval.config.models import OWN_ENDPOINT
from hearteval.domain import record_id
from hearteval.errors import SettingsError
from hearteval.models.asking import WORKERS_PER_CALL
from hearteval.models.base import FIRST_QUESTIONS, AskedModel, ChatModel, Message, Sampling, Usage
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
from hearteval.models.presets import INSPECT
from hearteval.models.prices import estimate_prompt_tokens, price_call
from hearteval.models.wrappers.budget import Budgeted, SpendingLimit
from hearteval.models.wrappers.cached import Cached
from hearteval.models.wrappers.gate import Gate, Gated, Line
from hearteval.models.wrappers.plain_text import PlainText
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.store.sharing.panel import Panel
from hearteval.study.asking.models import (
    Asking,
    SchemaOf,
    StoredReplies,
    asked_directly,
    keep_lost_cost,
    sampling_of,
    schema_text,
    tariff_of,
)
from hearteval.study.asking.others import settle_command, tell_of_others_once
from hearteval.study.session import Now, Session

BATCH_POLICY = BatchPolicy()
LOCAL_CONTEXT = 16_384
"""Tokens: for a long dialogue, two replies, the rubric and the reasons; more costs memory."""
PROMPT_MARGIN = 2.0
"""The ceiling of a call's price allows a prompt of twice the estimated tokens."""


@asynccontextmanager
async def open_models(
    session: Session,
    groups: Sequence[tuple[Mapping[str, ModelSettings], SchemaOf]],
    *,
    is_timed: bool,
) -> AsyncIterator[Asking]:
    """Open models, by system or rater id, until the block ends."""
    settings = session.settings
    held = [
        (id_, asked_directly(model) if is_timed else model, schema_of)
        for models, schema_of in groups
        for id_, model in models.items()
    ]
    ledger = SpendingLimit(limit_usd=settings.max_usd, spent_usd=session.store.spent_usd())
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(GroupedWriter(session.store))
        writer.panel.when_shared = tell_of_others_once(session, writer.panel)
        writer.purse = ledger
        ledger.share(writer.commit_soon, remedy=settle_command(settings.file))
        client = await stack.enter_async_context(open_client(trust_env=True))
        opened: dict[str, ChatModel] = {}
        gates: dict[object, Gate] = {}
        lines: dict[object, Line] = {}
        queues: dict[str, BatchQueue] = {}
        rng = np.random.default_rng(settings.seed)
        for _, model, _ in held:
            key = _place(model)
            if model.batch is not None and key not in queues:
                queue = _batch_queue(model, client, session)
                queues[key] = await stack.enter_async_context(queue)
            elif model.batch is None and key not in opened:
                if not is_timed:
                    _warn_of_open_jobs(model, session)
                is_reusing = model.reuse_prompts and not is_timed
                local = LocalSettings(context=LOCAL_CONTEXT, reuse_prompts=is_reusing)
                own = _open_one(model, client, stack, local, say=session.tell.warn)
                opened[key] = _budgeted(own, model, ledger, writer, session.now)

        replies = StoredReplies(writer, session.now, is_timed=is_timed)

        def asked(id_: str, model: ModelSettings, sampling: Sampling) -> AskedModel:
            # One model id may stand for two models at two addresses: each entry keeps its own.
            identity, n_at_once = {**model.identity, "for": id_}, model.concurrency
            n_first = FIRST_QUESTIONS
            calling: ChatModel
            if model.batch is None:
                calling = opened[_place(model)]
            else:
                batched = Batched(queues[_place(model)], identity=identity)
                calling = _budgeted(batched, model, ledger, writer, session.now)
                n_first = max(
                    n_first, n_at_once
                )  # a job of a few would take as long as a whole one
                n_at_once = -(-n_at_once // WORKERS_PER_CALL)  # all of them wait for the same job
            gate = gates.setdefault(_endpoint_key(model), _gate(model, session))
            of_line = (_place(model), model.limits)
            if of_line not in lines:
                line = gate.open_line(model.model, model.limits, highest=model.concurrency)
                lines[of_line] = line
                if model.batch is None and line.lane.spacings:  # it says how many a minute
                    line.when_held = writer.panel.hurry
                    writer.panel.share({_line_id(model, writer.panel): line})
            gated = Gated(
                calling,
                gate,
                lines[of_line],
                rng=rng,
                count_tokens=_count_prompt_tokens,
            )
            cached = Cached(gated, replies, identity=identity)
            return AskedModel(
                model=cached,
                sampling=sampling,
                n_at_once=n_at_once,
                n_first=n_first,
                say=session.tell.warn,
            )

        yield Asking(
            models={id_: asked(id_, m, sampling_of(m, schema_of)) for id_, m, schema_of in held},
            writer=writer,
            ledger=ledger,
            batched=frozenset(id_ for id_, model, _ in held if model.batch),
        )


def _place(model: ModelSettings) -> str:
    """Say which models share a connection, a limit and a local server: those called alike."""
    how = f"{model.key_name} {model.max_tokens_key} {json.dumps(model.extra_body, sort_keys=True)}"
    how += f" {model.price} {model.limits.timeout_s} {model.reuse_prompts}"
    return f"{model.base_url} {model.path} {model.provider} {model.model} {model.batch} {how}"


def _endpoint_key(model: ModelSettings) -> object:
    """Say which models share an endpoint: one address and one key, or one file."""
    key = None if model.path is not None else read_key(model.key_name, who=model.model)
    return model.path, model.base_url, key, model.batch


def _line_id(model: ModelSettings, panel: Panel) -> str:
    """Name calls that share a limit, in whatever process: the key's name is told, never the key."""
    host = urlsplit(model.base_url or "").hostname or ""
    at = {"address": model.base_url, "key": model.key_name, "model": model.model}
    is_here = host == "localhost" or host.startswith("127.")
    return record_id("line", {**at, "machine": panel.machine if is_here else ""})


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
            cache_mark=model.cache_mark if model.caches else None,
            cache_from=model.cache_from or 0,
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
