"""Ask the models of a study: its systems for completions, its judges for judgments."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from heartbench.cli.console import progress_bar, utc_now, warn
from heartbench.cli.models import Asking, open_models
from heartbench.cli.session import Session, judge_models, system_models
from heartbench.completions.run_models import (
    ask_systems,
    systems_to_ask,
)
from heartbench.config import ModelSettings
from heartbench.domain import RatingTarget, Study
from heartbench.errors import HeartbenchError
from heartbench.judgments.run_models import ask_judges, judges_to_ask
from heartbench.judgments.run_ratings import ask_raters, open_ratings
from heartbench.models.probe import probe_model
from heartbench.models.questions import NOTHING_ASKED, AskedCounts
from heartbench.store.grouped import GroupedWriter

T = TypeVar("T")


def ask_for_completions(session: Session, study: Study) -> AskedCounts:
    """Have the study's models answer the items they have not answered."""
    systems = system_models(session.settings)
    if not systems:
        return NOTHING_ASKED
    to_ask = systems_to_ask(session.store, study, systems)

    async def ask(asking: Asking) -> AskedCounts:
        asked = {system_id: asking.systems.get(system_id) for system_id in systems}
        with progress_bar("completions", cost=lambda: asking.ledger.spent_usd) as progress:
            return await ask_systems(asking.writer, study, asked, now=utc_now, progress=progress)

    return _ask(session, ask, systems={s: model for s, model in systems.items() if s in to_ask})


def ask_for_judgments(session: Session, study: Study) -> AskedCounts:
    """Have the study's LLM judges judge what they have not judged."""
    judges = judge_models(session.settings)
    if not judges:
        return NOTHING_ASKED
    protocol = session.settings.judging.protocol
    assert protocol != "rating", "a study of ratings has no pairs to judge"
    to_ask = judges_to_ask(session.store, study, judges)

    async def ask(asking: Asking) -> AskedCounts:
        asked = {rater_id: asking.judges.get(rater_id) for rater_id in judges}
        await warn_of_unheld_schemas(asking)
        with progress_bar("judgments", cost=lambda: asking.ledger.spent_usd) as progress:
            return await ask_judges(
                asking.writer,
                study,
                asked,
                protocol=protocol,
                now=utc_now,
                progress=progress,
            )

    return _ask(session, ask, judges={r: model for r, model in judges.items() if r in to_ask})


def ask_for_ratings(session: Session, study: Study, targets: Sequence[RatingTarget]) -> AskedCounts:
    """Have the study's LLM judges rate what they have not rated."""
    judges = judge_models(session.settings)
    to_ask = open_ratings(session.store, study, targets, judges)

    async def ask(asking: Asking) -> AskedCounts:
        asked = {rater_id: asking.judges.get(rater_id) for rater_id in judges}
        await warn_of_unheld_schemas(asking)
        with progress_bar("ratings", cost=lambda: asking.ledger.spent_usd) as progress:
            return await ask_raters(
                asking.writer, study, targets, asked, now=utc_now, progress=progress
            )

    return _ask(session, ask, judges={r: model for r, model in judges.items() if r in to_ask})


async def warn_of_unheld_schemas(asking: Asking) -> None:
    """Ask each judge one question that shows whether its endpoint enforces the schema.

    The reply is kept like any other, so that a study pays for it once.
    """
    for rater_id, judge in asking.judges.items():
        if rater_id in asking.batched:
            continue  # the answer would come when all of its judgments do
        found = await probe_model(judge)
        if found.follows_schema is False:
            warn(
                f"judge {judge.model.name}: its endpoint does not hold replies to the JSON schema;"
                " replies that are not exactly what is asked for will be missing"
            )


def _ask(
    session: Session,
    ask: Callable[[Asking], Awaitable[T]],
    *,
    systems: Mapping[str, ModelSettings] | None = None,
    judges: Mapping[str, ModelSettings] | None = None,
) -> T:
    async def run() -> T:
        async with (
            GroupedWriter(session.store) as writer,
            open_models(
                session.settings, writer, systems=systems or {}, judges=judges or {}
            ) as asking,
        ):
            return await ask(asking)

    return run_to_end(run())


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine; of several faults at once, raise the first that is ours."""
    try:
        return asyncio.run(work)
    except BaseExceptionGroup as group:
        ours = group.subgroup(HeartbenchError)
        raise _first(ours if ours is not None else group) from None


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
