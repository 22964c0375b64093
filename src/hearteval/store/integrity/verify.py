"""Whether a store is what was put into it: ids, hashes, counts, the database's own check.

What a reply says against what was read of it is checked one layer up (`hearteval.study.verify`).
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, inspect, or_, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex

from hearteval.domain import WITHDRAWN, Assignment, Pair, Study, is_tombstone
from hearteval.errors import InvalidRecordError
from hearteval.store import schema
from hearteval.store.integrity.seal import (
    NOTHING,
    SEALED,
    Sealed,
    Total,
    Totals,
    content_of,
    hash_of,
    read_totals,
    record_of,
    sealed_rows,
    studies_of,
    words_of_driver,
)
from hearteval.store.people import exclusions, persons
from hearteval.store.people.audit import HEAD, check_chain, iter_events
from hearteval.store.people.tables import dealings, people, tasks
from hearteval.store.people.tables import exclusions as exclusion_rows
from hearteval.store.people.tasks import are_written as are_tasks_written
from hearteval.store.records import StoredReply
from hearteval.store.rows import kind_name
from hearteval.store.sharing import ledger

Progress = Callable[[str, int], None]
"""Is told a kind and how many of it were read."""
See = Callable[[Any], None]
"""Is shown each record, after those that it refers to; all of them anew where the database went
away meanwhile."""
UNREADABLE = (InvalidRecordError, ValueError, TypeError, KeyError, DBAPIError)


_TRIGGERS = {
    "sqlite": text("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name"),
    "postgresql": text(
        "SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE NOT t.tgisinternal AND n.nspname = current_schema() ORDER BY t.tgname"
    ),
}
_INDEXES = {
    "sqlite": text(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
    ),
    # How a server writes an index is its own: names alone are compared.
    "postgresql": text(
        "SELECT c.relname AS name, NULL AS sql FROM pg_index i JOIN pg_class c"
        " ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = current_schema()"
        " AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)"
        " ORDER BY c.relname"
    ),
}
UNREAD, LOST = "cannot be read", "were written"
DATABASE = "database"
"""What is at fault where no record is."""


class StoreFault(NamedTuple):
    """One thing that is not as it was written."""

    kind: str
    """Of record; `DATABASE` of the file or server itself."""
    id: str
    """Of the record; empty where it is of none."""
    words: str
    """What is wrong, without any text of a dialogue."""


class StoreCheck(NamedTuple):
    """What a store holds, counted and hashed anew, and what is not as it was written."""

    totals: Totals
    faults: tuple[StoreFault, ...]

    @property
    def by_kind(self) -> Mapping[str, Total]:
        """What there is of each kind, of all studies."""
        found: dict[str, Total] = {kind_name(kind): NOTHING for kind in SEALED}
        for (kind, _), total in self.totals.items():
            found[kind] = found[kind].and_also(total)
        return found

    @property
    def is_readable(self) -> bool:
        """Whether every record that was written can be read."""
        return not any(UNREAD in one.words or LOST in one.words for one in self.faults)

    @property
    def hash(self) -> str:
        """One hash of all records."""
        return hash_of(self.totals)


def check_store(
    connection: Connection, *, progress: Progress, see: See | None = None
) -> StoreCheck:
    """Read every record of a store and compare it with what was written of it."""
    faults = list(_database_faults(connection))
    checked = check_records(connection, SEALED, progress=progress, see=see)
    faults += [*checked.faults, *_people_faults(connection)]
    return StoreCheck(checked.totals, tuple(faults))


def is_as_written(connection: Connection, kinds: Collection[type[Any]]) -> bool:
    """Say whether all records of some kinds are what was written, as they most often are.

    Twice as fast as `check_records`, which names what is not and makes the ids anew too.
    """
    if Pair in kinds and any(_moved_pairs(connection)):
        return False
    contents: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    try:
        for kind in kinds:
            for rows in sealed_rows(connection, kind):
                kept = [row.pop("content") for row in rows]
                records = [record_of(kind, row) for row in rows]
                if kept != [content_of(record) for record in records]:
                    return False
                studies = studies_of(connection, records)
                for record, content in zip(records, kept, strict=True):
                    contents[kind_name(kind), studies[record.id]].append(content)
    except UNREADABLE:
        return False
    found = {key: NOTHING.plus(hashes) for key, hashes in contents.items()}
    return not any(_count_faults(found, read_totals(connection, *map(kind_name, kinds))))


def check_records(
    connection: Connection,
    kinds: Collection[type[Any]],
    *,
    progress: Progress,
    see: See | None = None,
) -> StoreCheck:
    """Read every record of some kinds and compare it with what was written of it."""
    faults = list(_moved_pairs(connection)) if Pair in kinds else []
    totals: dict[tuple[str, str], Total] = {}
    assigned: dict[str, str] = {}
    for kind in kinds:
        n_read = 0
        try:
            for rows in sealed_rows(connection, kind):
                good = []
                for row in rows:
                    record, content, found = _read(kind, row)
                    faults += found
                    if record is not None:
                        good.append((record, content))
                        if see is not None:
                            see(record)
                n_read += len(rows)
                progress(kind_name(kind), n_read)
                studies = studies_of(connection, [record for record, _ in good], assigned)
                if kind is Assignment:
                    assigned.update(studies)
                hashes: defaultdict[str, list[str]] = defaultdict(list)
                for record, content in good:
                    hashes[studies[record.id]].append(content)
                for study_id, contents in hashes.items():
                    key = (kind_name(kind), study_id)
                    totals[key] = totals.get(key, NOTHING).plus(contents)
        except (DBAPIError, TypeError, ValueError) as error:
            words = words_of_driver(error, "a value is no value of its column")
            faults.append(StoreFault(kind_name(kind), "", f"{UNREAD}: {words}"))
    faults += _count_faults(totals, read_totals(connection, *map(kind_name, kinds)))
    return StoreCheck(totals, tuple(faults))


def _database_faults(connection: Connection) -> Iterator[StoreFault]:
    """Run the database's own check; PostgreSQL checks its pages as they are read."""
    try:
        if connection.dialect.name == "sqlite":
            for (words,) in connection.exec_driver_sql("PRAGMA integrity_check"):
                if words != "ok":
                    yield StoreFault(DATABASE, "", " ".join(str(words).split()))
            for table, *_ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
                yield StoreFault(DATABASE, "", f"a row of {table} refers to one that is gone")
        yield from _schema_faults(connection)
    except DBAPIError as error:
        yield StoreFault(DATABASE, "", words_of_driver(error))


def _moved_pairs(connection: Connection) -> Iterator[StoreFault]:
    """Find pairs whose systems are not those of their completions."""
    try:
        p, low, high = schema.pairs, schema.completions.alias(), schema.completions.alias()
        moved = or_(p.c.low_system_id != low.c.system_id, p.c.high_system_id != high.c.system_id)
        query = (
            select(p.c.id)
            .join(low, low.c.id == p.c.low_completion_id)
            .join(high, high.c.id == p.c.high_completion_id)
            .where(moved)
        )
        for (id_,) in connection.execute(query):
            yield StoreFault("pair", id_, "its systems are not those of its completions")
    except DBAPIError as error:
        yield StoreFault(DATABASE, "", words_of_driver(error))
    except TypeError:
        yield StoreFault("pair", "", f"an id of one {UNREAD}")


def _schema_faults(connection: Connection) -> Iterator[StoreFault]:
    """Compare indexes with those of the schema, which has no trigger and no view."""
    for name in connection.execute(_TRIGGERS[connection.dialect.name]).scalars():
        yield StoreFault(DATABASE, "", f"it has a trigger {name!r}, which is none of ours")
    for name in inspect(connection).get_view_names():
        yield StoreFault(DATABASE, "", f"it has a view {name!r}, which is none of ours")
    rows = connection.execute(_INDEXES[connection.dialect.name])
    there = {row.name: " ".join((row.sql or "").split()) for row in rows}
    wanted = {
        str(index.name): " ".join(str(CreateIndex(index).compile(connection)).split())
        for table in schema.metadata.sorted_tables
        for index in table.indexes
    }
    for name in sorted(there.keys() - wanted.keys()):
        yield StoreFault(DATABASE, "", f"it has an index {name!r}, which is none of ours")
    for name, made in wanted.items():
        if name not in there or there[name] not in ("", made):
            yield StoreFault(DATABASE, "", f"the index {name!r} is not as it was made")


def _people_faults(connection: Connection) -> Iterator[StoreFault]:
    """Check the audit log, and that it tells of every answer and every text that was withdrawn.

    And that who takes part, what they are to do, and what is booked are what was written.
    """
    try:
        yield from _sum_faults(connection)
        _, words = check_chain(connection)
        yield from (StoreFault(HEAD, "", each) for each in words)
        told, answered = set[str](), set[str]()
        for event in iter_events(connection):
            if event.what == "withdrawn":
                told.update(event.about["texts"])
            elif event.what == "answered":
                answered.add(event.about["record"])
        done = select(dealings.c.record_id).where(dealings.c.record_id.is_not(None))
        # The place of a text that was withdrawn is free again.
        n_untold = len(set(connection.execute(done).scalars()) ^ (answered - told))
        if n_untold:
            yield StoreFault(HEAD, "", f"the log and the answers differ in {n_untold:,} of them")
        c = schema.completions.c
        gone = select(c.id).where(c.text == WITHDRAWN, c.writer_id.is_not(None))
        for id_ in connection.execute(gone).scalars():
            if id_ not in told:
                yield StoreFault("completion", id_, "its text is gone, and nobody has withdrawn it")
    except UNREADABLE:
        yield StoreFault(HEAD, "", f"the log {UNREAD}")


def _sum_faults(connection: Connection) -> Iterator[StoreFault]:
    of_people = connection.execute(select(people.c.study_id).distinct()).scalars()
    of_tasks = connection.execute(select(tasks.c.study_id).distinct()).scalars()
    of_left_out = connection.execute(select(exclusion_rows.c.study_id).distinct()).scalars()
    names = (people.name, tasks.name, exclusion_rows.name)
    summed = {study_id for _, study_id in read_totals(connection, *names)}
    for study_id in sorted({*of_people, *of_tasks, *of_left_out, *summed}):
        if not persons.are_written(connection, study_id):
            yield StoreFault("person", "", "what is known of people is not what was written")
        if not are_tasks_written(connection, study_id):
            yield StoreFault("task", "", "the tasks of people are not what was written")
        if not exclusions.are_written(connection, study_id):
            yield StoreFault("exclusion", "", "who is left out is not what was written")
    if not ledger.is_written(connection):
        yield StoreFault("ledger", "", "what is booked is not what was written")


def _read(
    kind: type[Any], row: dict[str, Any]
) -> tuple[Sealed | None, str, tuple[StoreFault, ...]]:
    """Build the record of a row; return it, the hash of what it holds now, and its faults."""
    name, kept = kind_name(kind), row.pop("content")
    id_ = row["record"].id if "record" in row else row["id"]
    try:
        if kind in {Study, StoredReply}:
            record = record_of(kind, row)
            own_id = record.id if kind is StoredReply else replace(record, id="").id
        else:
            # Without an id it gets that of its content, and is made once.
            record = record_of(kind, {**row, "id": ""})
            own_id = record.id
            record = record if own_id == id_ else replace(record, id=id_)
    except UNREADABLE:
        return None, "", (StoreFault(name, id_, f"{UNREAD} as a record"),)
    faults = []
    if own_id != id_ and not is_tombstone(record):
        faults.append(StoreFault(name, id_, "its id is not that of its content"))
    content = content_of(record)
    if content != kept:
        faults.append(StoreFault(name, id_, "its content is not what was written"))
    return record, content, tuple(faults)


def _count_faults(found: Totals, written: Totals) -> Iterator[StoreFault]:
    kinds: defaultdict[str, list[tuple[Total, Total]]] = defaultdict(list)
    for key in found.keys() | written.keys():
        kinds[key[0]].append((found.get(key, NOTHING), written.get(key, NOTHING)))
    for kind, totals in kinds.items():
        n_found, n_written = (sum(both[i].n for both in totals) for i in (0, 1))
        if n_found != n_written:
            yield StoreFault(kind, "", f"{n_found:,} are there, {n_written:,} {LOST}")
        elif any(one != other for one, other in totals):
            yield StoreFault(kind, "", "what is there is not what was written")
