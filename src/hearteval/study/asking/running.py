"""Open models, ask them what is left of a step, say what is missing, and close them.

What is opened is closed, whatever ends it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from math import inf
from typing import Any, TypeVar

from hearteval.analysis.coverage.missing import Cause
from hearteval.config import ModelSettings
from hearteval.domain import Study, record_id
from hearteval.errors import HeartError, ModelCallError
from hearteval.models.asking import NOTHING_ASKED, AskedCounts
from hearteval.models.base import AskedModel
from hearteval.models.probe import probe_model
from hearteval.report.coverage.missing import missing_lines
from hearteval.steps import Step, ask_step
from hearteval.store.base import Store
from hearteval.study import Tell, quoted
from hearteval.study.asking.models import Asking, SchemaOf
from hearteval.study.asking.others import free_what_is_left
from hearteval.study.asking.stopping import Stopper, stopping_on_signals
from hearteval.study.engine import WORKERS
from hearteval.study.session import Session

T = TypeVar("T")
REST = 9
"""A look takes as long as many questions are open: it rests so many times as long after one."""


def take_step(
    session: Session,
    models: Mapping[str, ModelSettings],
    *parts: tuple[str, Study, Step[Any]],
    most: int | None = None,
    is_spread: bool = False,
) -> AskedCounts:
    """Have models answer what is left of a step, part after part; return the counts of all.

    Only those who have something left are opened, and need a key; where nobody has, nobody is.

    Args:
        session: Of the study file.
        models: By the id of the system or rater.
        parts: What progress calls it, the study that it is of, and the step, of one schema.
        most: Questions for each in a part, no more, and none for models with batch jobs.
        is_spread: Have the workers of an engine, where there are any, answer first: what is left
            then, such as batch jobs, is asked here.
    """
    if most is not None:
        models = {id_: model for id_, model in models.items() if model.batch is None}
    if not models:
        return NOTHING_ASKED
    looks = [_look(session.store, study, step, models) for _, study, step in parts]
    to_open = {id_: one for id_, one in models.items() if any(id_ in n for n, _ in looks)}
    if not to_open:
        free_what_is_left(session.store)
        return sum((counts for _, counts in looks), NOTHING_ASKED)
    if is_spread and any(one.batch is None for one in to_open.values()) and WORKERS.get():
        n_before = sum(counts.n_before for _, counts in looks)
        _have_worked(session, models, parts[0])
        given = take_step(session, models, *parts)
        n_added = given.n_added + given.n_before - n_before
        return replace(given, n_before=n_before, n_added=n_added)
    step = parts[0][2]

    async def ask(asking: Asking) -> AskedCounts:
        await warn_of_unheld_schemas(asking, session.tell, who=step.who)
        asked, given = {id_: asking.models.get(id_) for id_ in models}, NOTHING_ASKED
        for label, study, part in parts:
            with session.tell.progress(label, cost=lambda: asking.ledger.spent_usd) as progress:
                given += await ask_step(
                    asking.writer,
                    study,
                    part,
                    asked,
                    now=session.now,
                    progress=progress,
                    most=most,
                )
        return given

    return ask_models(session, ask, (to_open, step.schema))


def _have_worked(
    session: Session, models: Mapping[str, ModelSettings], part: tuple[str, Study, Step[Any]]
) -> None:
    """Wait for workers, but for none that is still not back once everything is answered.

    That one was cut off from the network, perhaps; its engine may take a minute to find that out.
    """
    hold, (label, study, step) = WORKERS.get(), part
    asked = [id_ for id_, model in models.items() if model.batch is None]  # batch jobs are not
    assert hold is not None, "looked before"
    begin = f"heart work {quoted(session.settings.file)}"
    session.tell.note(f"workers: ask from here on; `{begin}` begins one, on any machine")
    is_over, look_at = False, -inf
    with (
        session.tell.progress(label, cost=session.store.spent_usd) as progress,
        closing(hold(session.settings.file.resolve(), step.who)) as held,
    ):
        for _ in held:
            began = time.monotonic()
            if is_over:
                break
            if began > look_at:
                n_open, counts = _look(session.store, study, step, asked)
                progress(counts.n_before, counts.n_wanted)
                is_over = not n_open
                look_at = time.monotonic() + REST * (time.monotonic() - began)


def _look(
    store: Store, study: Study, step: Step[Any], ids: Collection[str]
) -> tuple[Collection[str], AskedCounts]:
    """Return of whom something is open, and what there is; the targets, many, are let go."""
    wanted = step.find(store, study, ids)
    return wanted.n_open, wanted.counts


def warn_of_missing(
    session: Session,
    step: Step[Any],
    names: Mapping[str, str],
    causes: Mapping[str, Sequence[Cause]],
) -> None:
    """Say what is missing of each of these, by id, in their order."""
    for id_, name in names.items():
        for words in missing_lines(f"{step.who} {name}", step.answer, causes.get(id_, ())):
            session.tell.warn(words)


def ask_models(
    session: Session,
    ask: Callable[[Asking], Awaitable[T]],
    *groups: tuple[Mapping[str, ModelSettings], SchemaOf],
    is_timed: bool = False,
) -> T:
    """Open models, by system or rater id, each group held to a schema, ask them, and close them.

    Timed models answer nothing from the reply cache, no prompt from a local model's, and nothing
    through batch jobs.

    Raises:
        SettingsError: A key is not set, or a local model cannot be served.
        StoppedError: A signal came; what came until then is kept.
        HeartError: Of several faults the first that is ours.
    """

    async def run() -> T:
        # Only a study that asks models waits for HTTP to be imported.
        from hearteval.study.asking.opening import open_models  # noqa: PLC0415

        async with open_models(session, groups, is_timed=is_timed) as asking:
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


async def warn_of_unheld_schemas(asking: Asking, tell: Tell, *, who: str = "judge") -> None:
    """Ask each judge, or labeler, one question that shows whether its endpoint enforces the schema.

    The reply is kept like any other, so that a study pays for it once.
    """
    held = (id_ for id_, one in asking.models.items() if one.sampling.schema is not None)
    # The answers of batch jobs would come when all of their judgments do.
    probes = {one: record_id("probe", {"of": one}) for one in held if one not in asking.batched}
    if not probes:
        return
    asking.writer.panel.look()
    # What another process has claimed it asks.
    mine = await asking.writer.panel.claim(list(probes.values()))
    judges = [asking.models[one] for one, probe in probes.items() if probe in mine]
    for words in await asyncio.gather(*map(_find_schema_fault, judges)):
        if words:
            tell.warn(f"{who} {words}")


async def _find_schema_fault(judge: AskedModel) -> str:
    """Ask the question; return what to warn of, empty if nothing."""
    name = judge.model.name
    try:
        found = await probe_model(judge)
    except ModelCallError as error:  # what it is asked next will say more, and that is kept
        return f"{name}: whether it keeps to the JSON schema is not known ({error.reason})"
    if found.follows_schema is not False:
        return ""
    return (
        f"{name}: its endpoint does not hold replies to the JSON schema; replies that are not"
        " exactly what is asked for will be missing"
    )
