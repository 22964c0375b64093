"""Where long work of a study is done: its engine, opened, and the workers that it holds."""

import importlib.util
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hearteval.config import StudySettings
from hearteval.config.engine import Engine, set_ray_environment
from hearteval.engine import is_here
from hearteval.engine.local import LocalMap
from hearteval.errors import SettingsError
from hearteval.stats import MAP

if TYPE_CHECKING:
    from hearteval.engine.ray import RayMap

WORKERS: ContextVar[Callable[[Path, str], Generator[None]] | None] = ContextVar(
    "WORKERS", default=None
)
"""Have other processes answer what is open of a study file, until nothing is; None without any."""


@contextmanager
def opened_engine(
    settings: StudySettings | None, *, work: Callable[..., None] | None, **said: Any
) -> Iterator[None]:
    """Have long computations done by an engine: that of a study file, as far as nothing is said.

    Args:
        settings: Of the study file; None where there is none.
        work: What its workers do beside where a study asks models; None where it asks none.
        **said: Keys of `Engine`; None for what the file says.

    Raises:
        SettingsError: What is said does not go together, or the extra is not installed.
    """
    found = Engine() if settings is None else settings.engine
    given = {key: value for key, value in said.items() if value is not None}
    engine = found.model_copy(update=given)
    is_held = work is not None and (engine.kind == "ray" or engine.workers != 1)
    is_far = engine.address is not None and not is_here(engine.address)
    if is_held and is_far and settings is not None and "://" not in settings.store:
        raise SettingsError(
            "workers on several machines need a store in PostgreSQL, as SQLite's locks hold on one:"
            " set study.store or HEART_STORE to postgresql://USER@HOST/DATABASE",
            ids=("study.store",),
        )
    with closing(open_engine(engine)) as opened:
        held = partial(opened.hold, partial(work, n_sharing=engine.workers)) if work else None
        before = MAP.set(opened), WORKERS.set(held if is_held else None)
        try:
            yield
        finally:
            MAP.reset(before[0])
            WORKERS.reset(before[1])


def open_engine(engine: Engine) -> "LocalMap | RayMap":
    """Open an engine, to be closed.

    Raises:
        SettingsError: As `opened_engine`.
    """
    if engine.kind == "ray":
        return _open_ray(engine)
    if engine.address is not None:
        raise SettingsError(
            "the engine local has no address: remove it, or say --engine ray",
            ids=("engine.address",),
        )
    return LocalMap(engine.workers)


def _open_ray(engine: Engine) -> "RayMap":
    if not engine.workers:
        raise SettingsError(
            "no workers leave the asking to `heart work`, which needs no Ray: remove --engine ray",
            ids=("engine.workers",),
        )
    if importlib.util.find_spec("ray") is None:
        raise SettingsError("the engine ray needs an extra: pip install 'hearteval[ray]'")
    has_token = set_ray_environment(engine.address)  # before Ray reads it
    from hearteval.engine.ray import RayMap  # noqa: PLC0415 - an extra

    return RayMap(engine.address, n_workers=engine.workers, has_token=has_token)
