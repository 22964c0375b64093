"""The one store implementation, on SQLAlchemy Core: a SQLite file, or memory for tests.

SQLite runs with WAL, ``synchronous=FULL`` and ``BEGIN IMMEDIATE``, so that an acknowledged `add`
survives a kill at any moment and two processes queue instead of failing.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, TypeVar, cast

from sqlalchemy import (
    Connection,
    Engine,
    Select,
    Table,
    create_engine,
    event,
    insert,
    select,
)
from sqlalchemy.exc import DatabaseError, IntegrityError
from sqlalchemy.pool import StaticPool

from heartbench.domain import Assignment, Pair, Study, canonical_json
from heartbench.errors import StoreError
from heartbench.store import schema
from heartbench.store.base import JUDGMENT_COLUMNS, Record
from heartbench.store.queries import judgment_query, study_query, unjudged_query
from heartbench.store.rows import MEMBER_FIELDS, TABLES, from_row, marks_from_json, to_row

R = TypeVar("R", bound=Record)

PAGE_ROWS = 2_000
LOOKUP_IDS = 500
BUSY_TIMEOUT_SECONDS = 30


class SqlStore:
    """A `heartbench.store.base.Store` in a SQL database."""

    def __init__(self, engine: Engine, *, name: str) -> None:
        self._engine = engine
        self._name = name
        with self._writing() as connection:
            schema.metadata.create_all(connection)

    @classmethod
    def open_file(cls, path: str) -> "SqlStore":
        """Open or create a SQLite file.

        Raises:
            StoreError: The file is no database of ours, or its folder cannot be written.
        """
        engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_TIMEOUT_SECONDS})
        _configure_sqlite(engine, in_memory=False)
        return cls(engine, name=path)

    @classmethod
    def in_memory(cls) -> "SqlStore":
        """Open a store that lives as long as this object."""
        engine = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
        _configure_sqlite(engine, in_memory=True)
        return cls(engine, name="memory")

    def close(self) -> None:
        """Release the database."""
        self._engine.dispose()

    def add(self, records: Sequence[Record]) -> int:
        """Append records in one transaction; return how many were new."""
        if not records:
            return 0
        order = list(TABLES)
        ranked = sorted(records, key=lambda record: order.index(type(record)))
        with self._writing() as connection:
            return sum(
                self._add_kind(connection, kind, list(group))
                for kind, group in groupby(ranked, key=type)
            )

    def iter(self, kind: type[R], study: Study | None = None) -> Iterator[R]:
        """Yield the records of a kind in the order of their ids."""
        if kind is Study:
            yield from cast("Iterator[R]", self._studies(study))
            return
        query = select(TABLES[kind]) if study is None else study_query(kind, study)
        for page in self._pages(query, TABLES[kind]):
            for row in page:
                yield cast("R", from_row(kind, row))

    def latest_study(self, study_id: str) -> Study | None:
        """Return the newest version of a study, or None."""
        versions = [study for study in self._studies(None) if study.id == study_id]
        return max(versions, key=lambda study: study.version, default=None)

    def unjudged(self, study: Study) -> Iterator[Assignment]:
        """Yield the study's assignments that have no judgment yet."""
        for page in self._pages(unjudged_query(study), schema.assignments):
            for row in page:
                yield cast("Assignment", from_row(Assignment, row))

    def judgment_table(self, study: Study) -> Iterator[Mapping[str, Sequence[Any]]]:
        """Yield the study's judgments as batches of parallel columns."""
        for page in self._pages(judgment_query(study), schema.assignments):
            columns = {name: [row[name] for row in page] for name in JUDGMENT_COLUMNS}
            columns["axes"] = [marks_from_json(axes) for axes in columns["axes"]]
            yield columns

    def _add_kind(
        self, connection: Connection, kind: type[Record], records: Sequence[Record]
    ) -> int:
        unique = _without_repeats(records)
        stored = self._stored(connection, kind, list(unique))
        for key, record in unique.items():
            if key in stored and _content(stored[key]) != _content(record):
                raise StoreError(
                    f"{kind.__name__.lower()} {record.id} is already stored with other content; "
                    "records are never edited: use a new study name, or remove the conflicting "
                    "change",
                    ids=(record.id,),
                )
        new = [record for key, record in unique.items() if key not in stored]
        if new:
            rows = [to_row(record) for record in new]
            if kind is Pair:
                _add_systems(connection, rows)
            connection.execute(insert(TABLES[kind]), rows)
            members = [row for record in new for row in _member_rows(record)]
            if members:
                connection.execute(insert(schema.study_members), members)
        return len(new)

    def _stored(
        self, connection: Connection, kind: type[Record], keys: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], Record]:
        if kind is Study:
            ids = {key[0] for key in keys}
            found: list[Record] = [s for s in _read_studies(connection) if s.id in ids]
            return {_key(record): record for record in found}
        table = TABLES[kind]
        stored: dict[tuple[str, int], Record] = {}
        for start in range(0, len(keys), LOOKUP_IDS):
            chunk = [key[0] for key in keys[start : start + LOOKUP_IDS]]
            rows = connection.execute(select(table).where(table.c.id.in_(chunk))).mappings()
            stored.update(
                (_key(record), record) for record in (from_row(kind, dict(r)) for r in rows)
            )
        return stored

    def _studies(self, study: Study | None) -> Iterator[Study]:
        with self._reading() as connection:
            found = _read_studies(connection)
        yield from (s for s in found if study is None or s.id == study.id)

    def _pages(self, query: Select[Any], table: Table[Any]) -> Iterator[list[dict[str, Any]]]:
        """Yield a query's rows page by page, ordered by its first column, the table's id."""
        ordered = query.order_by(table.c.id).limit(PAGE_ROWS)
        key = query.selected_columns.keys()[0]
        last: str | None = None
        while True:
            page = ordered if last is None else ordered.where(table.c.id > last)
            with self._reading() as connection:
                rows = [dict(row) for row in connection.execute(page).mappings()]
            if rows:
                yield rows
                last = rows[-1][key]
            if len(rows) < PAGE_ROWS:
                return

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._translated(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._translated(), self._engine.connect() as connection:
            reader = connection.execution_options(heart_reading=True)
            with reader.begin():
                yield reader

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError as error:
            raise StoreError(
                f"store {self._name} refused a record: {error.orig}; a record refers to one that "
                "is not stored, or contradicts one that is"
            ) from error
        except DatabaseError as error:
            raise StoreError(
                f"store {self._name} cannot be used: {error.orig}; nothing was half-written. "
                "Check the path, free space and permissions, then run the same command again"
            ) from error


def _configure_sqlite(engine: Engine, *, in_memory: bool) -> None:
    @event.listens_for(engine, "connect")
    def _set_pragmas(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        if not in_memory:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        is_reading = connection.get_execution_options().get("heart_reading", False)
        connection.exec_driver_sql("BEGIN" if is_reading else "BEGIN IMMEDIATE")


def _read_studies(connection: Connection) -> list[Study]:
    members = schema.study_members
    lists: dict[tuple[str, int, str], list[str]] = {}
    for member in connection.execute(select(members).order_by(members.c.member_id)):
        key = (member.study_id, member.version, member.kind)
        lists.setdefault(key, []).append(member.member_id)
    studies = schema.studies
    rows = connection.execute(select(studies).order_by(studies.c.id, studies.c.version)).mappings()
    found = []
    for row in rows:
        values: dict[str, Any] = dict(row)
        for kind, name in MEMBER_FIELDS.items():
            values[name] = tuple(lists.get((row["id"], row["version"], kind), ()))
        found.append(Study(**values))
    return found


def _add_systems(connection: Connection, pairs: Sequence[dict[str, Any]]) -> None:
    """Fill in the system of each completion of the pairs' rows."""
    sides = ("low", "high")
    ids = sorted({pair[f"{side}_completion_id"] for pair in pairs for side in sides})
    completions = schema.completions
    systems: dict[str, str] = {}
    for start in range(0, len(ids), LOOKUP_IDS):
        query = select(completions.c.id, completions.c.system_id).where(
            completions.c.id.in_(ids[start : start + LOOKUP_IDS])
        )
        systems.update((row.id, row.system_id) for row in connection.execute(query))
    for pair in pairs:
        for side in sides:
            pair[f"{side}_system_id"] = systems.get(pair[f"{side}_completion_id"])


def _member_rows(record: Record) -> list[dict[str, Any]]:
    if not isinstance(record, Study):
        return []
    return [
        {"study_id": record.id, "version": record.version, "kind": kind, "member_id": member}
        for kind, name in MEMBER_FIELDS.items()
        for member in getattr(record, name)
    ]


def _key(record: Record) -> tuple[str, int]:
    return (record.id, record.version if isinstance(record, Study) else 0)


def _content(record: Record) -> str:
    return canonical_json(record)


def _without_repeats(records: Sequence[Record]) -> dict[tuple[str, int], Record]:
    unique: dict[tuple[str, int], Record] = {}
    for record in records:
        known = unique.setdefault(_key(record), record)
        if known is not record and _content(known) != _content(record):
            raise StoreError(
                f"{type(record).__name__.lower()} {record.id} stands twice in one batch with "
                "different content",
                ids=(record.id,),
            )
    return unique
