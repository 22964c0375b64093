"""A study file with its open store, and the study as it was last stored."""

import ctypes
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from hearteval.config import StudySettings, load_study
from hearteval.domain import Study, record_id
from hearteval.errors import HeartError, SettingsError, StoreError
from hearteval.exchange.release import STUDY_FILE, read_manifest
from hearteval.judgments.plan import PlanPolicy
from hearteval.store.base import Store
from hearteval.store.engines import holds_store
from hearteval.store.sql import PATIENCE_SECONDS, SqlStore
from hearteval.study import Tell
from hearteval.study.release.loading import is_release, open_release
from hearteval.study.simulation.apart import require_one_sort
from hearteval.version import __version__

Now = Callable[[], datetime]
M_MMAP_THRESHOLD = -3
"""As glibc's `malloc.h` names it for `mallopt`."""
POLL_SECONDS = 2.0
"""After which who waits for another process looks again: it plans for minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A study file with its open store, and whoever is told what happens."""

    settings: StudySettings
    store: Store
    tell: Tell
    now: Now


def utc_now() -> datetime:
    """Return the time; the one clock of a study."""
    return datetime.now(UTC)


@contextmanager
def open_session(
    settings: StudySettings,
    tell: Tell,
    *,
    is_only_read: bool = False,
    patience_seconds: float | None = None,
) -> Iterator[Session]:
    """Open a study's store, made where there is none, and close it at the end.

    One that `is_only_read` is there already, and need not be one that may be written.
    """
    open_store = SqlStore.open_to_read if is_only_read else SqlStore.open
    patience = PATIENCE_SECONDS if patience_seconds is None else patience_seconds
    with (
        closing(open_store(settings.store, patience_seconds=patience)) as store,
        store.naming_damage(),
    ):
        require_one_sort(store, settings)
        if settings.is_simulated:
            tell.say_simulated()
        yield Session(settings=settings, store=store, tell=tell, now=utc_now)


def stored_plan(study: Study) -> PlanPolicy:
    """Return what a stored version of a study says of its plan."""
    said = study.design
    return PlanPolicy(
        **{one.name: said[one.name] for one in fields(PlanPolicy) if one.name in said}
    )


def is_rated(study: Study) -> bool:
    """Say whether a version of a study has its judges rate completions, not compare them."""
    return study.protocols["llm"] == "rating"


@contextmanager
def open_stored(path: Path, tell: Tell) -> Iterator[tuple[Session, Study]]:
    """Open a study that has been stored, in its newest version, for verbs that only read it.

    That of a release is read from its files, into memory.

    Raises:
        StoreError: Nothing was stored under this name and seed, or a release is not as it was made.
    """
    settings = load_study(path)
    is_there = holds_store(settings.store, patience_seconds=PATIENCE_SECONDS)
    if not is_there and not is_release(path):
        raise _nothing_stored(settings)
    with (
        closing(
            SqlStore.open_to_read(settings.store) if is_there else open_release(path.parent, tell)
        ) as store,
        store.naming_damage(),
    ):
        session = Session(settings=settings, store=store, tell=tell, now=utc_now)
        study = session.store.latest_study(study_id(settings))
        if study is None:
            raise _nothing_stored(settings)
        require_one_sort(store, settings)
        if study.is_simulated:
            tell.say_simulated()
        if study.settings_hash != settings.settings_hash:
            tell.warn(
                f"{settings.file} has changed since version {study.version} of the study was"
                " stored; the results are of that version. Run `heart run` to follow the file"
            )
        yield session, study


@contextmanager
def open_to_work(
    settings: StudySettings, tell: Tell, *, wait_seconds: float = 0.0
) -> Iterator[tuple[Session, Study]]:
    """Open a study as it is stored, to add answers to it; nothing is gathered or planned.

    Args:
        settings: Of the study file.
        tell: To whom what happens is told.
        wait_seconds: For so long it waits for the run that stores it.

    Raises:
        StoreError: Nothing was stored under this name and seed.
        SettingsError: What was stored is not what the file, or this hearteval, says.
    """
    until = time.monotonic() + wait_seconds
    fault: HeartError = _nothing_stored(settings)
    while True:
        if holds_store(settings.store, patience_seconds=PATIENCE_SECONDS):
            with open_session(settings, tell) as session:
                try:
                    study = stored_study(session)
                except HeartError as error:
                    fault = error
                else:
                    yield session, study
                    return
        left = until - time.monotonic()
        if left <= 0:
            raise fault
        time.sleep(min(POLL_SECONDS, left))


def stored_study(session: Session) -> Study:
    """Return the newest stored version, which is what the study file says; as `open_to_work`."""
    settings = session.settings
    study = session.store.latest_study(study_id(settings))
    if study is None:
        raise _nothing_stored(settings)
    if study.settings_hash != settings.settings_hash:
        raise SettingsError(
            f"{settings.file} does not describe version {study.version} of the study, which is"
            f" stored: take the study file of whoever ran it last, or run `heart run"
            f" {settings.file}` with this one first"
        )
    if study.software_version != __version__:
        raise SettingsError(
            f"version {study.version} of the study was stored by hearteval"
            f" {study.software_version}, and this is {__version__}, which may ask otherwise: take"
            f" that one here, or run `heart run {settings.file}` with this one first"
        )
    return study


@contextmanager
def opened_release(
    folder: Path, tell: Tell, *, now: Now = utc_now
) -> Iterator[tuple[Session, Study]]:
    """Open the study of a release in memory, whatever other store there is of it.

    Raises:
        SettingsError: The folder holds no release that this version can read.
        StoreError: It is not as it was made.
    """
    with closing(open_release(folder, tell)) as store:
        study = store.latest_study(read_manifest(folder).study_id)
        assert study is not None, "open_release has found it"
        settings = load_study(folder / STUDY_FILE)
        yield Session(settings=settings, store=store, tell=tell, now=now), study


def study_id(settings: StudySettings) -> str:
    """Return the id of the study that a file describes."""
    return record_id("study", {"name": settings.name, "seed": settings.seed})


def pilot_store(settings: StudySettings) -> Path:
    """Return where the store of a study's pilot is, beside the study's file."""
    return settings.file.with_name(f"{settings.name}.pilot.db")


def count_pilot(settings: StudySettings) -> int:
    """Count the people who agreed to take part in a study's pilot; none is in its results."""
    place = str(pilot_store(settings))
    if place == settings.store or not holds_store(place, patience_seconds=PATIENCE_SECONDS):
        return 0
    with closing(SqlStore.open_to_read(place)) as store:
        people = store.people.people(study_id(settings))
    return sum(one.consent_version is not None for one in people)


def _nothing_stored(settings: StudySettings) -> StoreError:
    return StoreError(
        f"the store holds no study {settings.name!r} with seed {settings.seed}; run "
        f"`heart run {settings.file}` first"
    )


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector from walking a million rows again and again: none is garbage.

    From then on, glibc also gives arrays of 8 MiB and more back as soon as they go. It else raises
    that limit by itself to 32 MiB, and columns of ten million rows leave holes.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 23)
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
