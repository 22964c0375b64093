"""Open models, ask them, and close them, whatever ends it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

from hearteval.config import ModelSettings
from hearteval.errors import HeartError
from hearteval.study.asking.models import Asking, SchemaOf, schema_of_judges
from hearteval.study.asking.stopping import Stopper, stopping_on_signals
from hearteval.study.session import Session

T = TypeVar("T")


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
        # Only a study that asks models waits for HTTP to be imported.
        from hearteval.study.asking.opening import open_models  # noqa: PLC0415

        held = partial(schema_of_judges, session.settings) if schema_of is None else schema_of
        async with open_models(
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
