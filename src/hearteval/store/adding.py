"""Adding records: what is there already, what contradicts it, and what goes with a new one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, select

from hearteval.domain import Pair, Study, canonical_json, flat_fields
from hearteval.errors import StoreError
from hearteval.store import schema
from hearteval.store.insertion import insert_rows, insertion
from hearteval.store.integrity.as_read import book_as_read
from hearteval.store.integrity.seal import book, content_of, slot_of
from hearteval.store.records import Record
from hearteval.store.replies import refer
from hearteval.store.rows import (
    MEMBER_FIELDS,
    TABLES,
    from_row,
    kind_name,
    read_studies,
    rows_by_id,
    rows_of_kind,
    to_row,
)


def add(connection: Connection, records: Sequence[Record], *, first_stays: bool) -> int:
    """Add records of any kinds; return how many were new. As `Store.add`."""
    order = list(TABLES)
    ranked = sorted(records, key=lambda record: order.index(type(record)))
    added = [
        new
        for kind, group in groupby(ranked, key=type)
        for new in _add_kind(connection, kind, list(group), first_stays=first_stays)
    ]
    book(connection, added)
    book_as_read(connection, [record for record, _ in added])
    return len(added)


def _add_kind(
    connection: Connection, kind: type[Record], records: Sequence[Record], *, first_stays: bool
) -> list[tuple[Record, str]]:
    """Add records of a kind; return those that were new, each with the hash of its content."""
    unique = _without_repeats(records)
    stored = _stored(connection, kind, list(unique))
    if not first_stays:
        _require_equal(unique, stored)
    new = [record for key, record in unique.items() if key not in stored]
    if not new:
        return []
    contents = {_key(record): content_of(record) for record in new}
    rows = [{**to_row(record), "content": contents[_key(record)]} for record in new]
    if kind is Pair:
        _add_systems(connection, rows)
    if first_stays and not slot_of(connection):
        connection.execute(insertion(connection, TABLES[kind]).on_conflict_do_nothing(), rows)
        ids = select(TABLES[kind].c.id)
        there = {row["id"] for row in rows_by_id(connection, ids, [record.id for record in new])}
        new = [record for record in new if record.id in there]
    else:
        insert_rows(connection, TABLES[kind], rows)  # where others write beside, it may fail
    refer(connection, kind, new)
    members = [row for record in new for row in _member_rows(record)]
    insert_rows(connection, schema.study_members, members)
    return [(record, contents[_key(record)]) for record in new]


def _require_equal(
    unique: dict[tuple[str, int], Record], stored: dict[tuple[str, int], Record]
) -> None:
    for key, record in unique.items():
        if key in stored and not _is_same(stored[key], record):
            if replace(stored[key], id="").id != record.id:
                raise StoreError(
                    f"the store is damaged: the {kind_name(type(record))} {record.id} is not what"
                    " its id says; go on with a copy of it, and see `heart store verify`",
                    ids=(record.id,),
                )
            changed = ", ".join(_differing_fields(stored[key], record))
            raise StoreError(
                f"{kind_name(type(record))} {record.id} is already stored with another {changed}; "
                "what is stored is never edited: undo that change, or begin anew, where everything"
                ' is asked again, in another database file: store = "NEW.db" under [study] of the'
                " study file",
                ids=(record.id,),
            )


def _stored(
    connection: Connection, kind: type[Record], keys: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], Record]:
    if kind is Study:
        ids = {key[0] for key in keys}
        found: list[Record] = [s for s, _ in read_studies(connection) if s.id in ids]
        return {_key(record): record for record in found}
    rows = rows_of_kind(connection, kind, [id_ for id_, _ in keys])
    return {(record.id, 0): record for record in (from_row(kind, row) for row in rows)}


def _add_systems(connection: Connection, pairs: Sequence[dict[str, Any]]) -> None:
    """Fill in the system of each completion of the pairs' rows."""
    sides = ("low", "high")
    ids = sorted({pair[f"{side}_completion_id"] for pair in pairs for side in sides})
    query = select(schema.completions.c.id, schema.completions.c.system_id)
    systems = {row["id"]: row["system_id"] for row in rows_by_id(connection, query, ids)}
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


def _is_same(one: Record, other: Record) -> bool:
    """Say whether two records have the same content, ``created_at`` apart."""
    return one == other or canonical_json(one) == canonical_json(other)


def _differing_fields(one: Record, other: Record) -> list[str]:
    before, after = flat_fields(one), flat_fields(other)
    return [name for name in before if name != "created_at" and before[name] != after[name]]


def _without_repeats(records: Sequence[Record]) -> dict[tuple[str, int], Record]:
    unique: dict[tuple[str, int], Record] = {}
    for record in records:
        known = unique.setdefault(_key(record), record)
        if known is not record and not _is_same(known, record):
            raise StoreError(
                f"{kind_name(type(record))} {record.id} stands twice in one batch with "
                "different content",
                ids=(record.id,),
            )
    return unique
