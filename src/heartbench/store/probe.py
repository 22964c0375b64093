"""Look at a store without making or changing anything."""

import os
from pathlib import Path

from sqlalchemy import Connection

from heartbench.errors import StoreError
from heartbench.store.engines import open_engine
from heartbench.store.migrations import HEAD, require_known, stored_version
from heartbench.store.outages import run_patiently


def probe_store(place: str) -> str:
    """Say what is at the place of a store: a database, or room for a new file.

    Raises:
        SettingsError: The address is none we know, or its driver is not installed.
        StoreError: The database cannot be reached, or the folder not written.
    """
    path = Path(place)
    if "://" not in place and not path.exists():
        if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise StoreError(
                f"{path.parent} cannot be written; make the folder, or set study.store"
            )
        return f"{path} will be made"
    name, version = _look(place)
    if version is None:
        return f"{name}: empty, tables will be made"
    require_known(version, name=name)
    return f"{name}: schema {version}, this version uses {HEAD}"


def is_readable_as_is(place: str) -> bool:
    """Say whether there is a store at the place that opening would leave as it is."""
    is_there = "://" in place or Path(place).exists()
    return is_there and _look(place)[1] == HEAD


def require_store(place: str) -> None:
    """Raise `StoreError` unless there is a store at the place."""
    name, version = _look(place)
    if version is None:
        raise StoreError(f"{name} is empty and no store; check the path")


def _look(place: str) -> tuple[str, str | None]:
    engine, name = open_engine(place, read_only=True)
    try:
        version = run_patiently(lambda: _version(engine.connect()), name=name, patience_seconds=0)
    finally:
        engine.dispose()
    return name, version


def _version(connection: Connection) -> str | None:
    with connection:
        return stored_version(connection)
