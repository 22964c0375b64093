"""What a withdrawal leaves of a person's records: ids and choices, no word of theirs.

The one exception to "append": a text becomes a tombstone that keeps its id, and the hashes of the
rows and their sums follow, so that a store in which somebody has withdrawn is still as written.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select, update

from hearteval.domain import WITHDRAWN, Assignment, Completion, Judgment, Label, Rating
from hearteval.store.base import Record
from hearteval.store.integrity.seal import content_of, rebook
from hearteval.store.rows import TABLES, from_row, to_row

NAMES_RULES = "safety"
"""The taxonomy whose evidence names rules and never quotes a text."""


def bury_words(connection: Connection, *, name: str, rater_id: str) -> dict[str, list[str]]:
    """Replace every text of a person; return the ids of what held one, by kind of record."""
    buried: dict[str, list[str]] = {}
    for kind, records in _records_of(connection, name, rater_id):
        changed = [
            (before, after) for before in records if (after := _without_words(before)) != before
        ]
        _replace(connection, kind, changed)
        buried[kind.__name__.lower()] = [after.id for _, after in changed]
    return buried


def _records_of(
    connection: Connection, name: str, rater_id: str
) -> Iterable[tuple[type[Any], list[Any]]]:
    c, a = TABLES[Completion].c, TABLES[Assignment].c
    yield Completion, _read(connection, Completion, c.writer_id == name)
    assigned = select(a.id).where(a.rater_id == rater_id)
    judged = TABLES[Judgment].c.assignment_id.in_(assigned)
    yield Judgment, _read(connection, Judgment, judged)
    yield Rating, _read(connection, Rating, TABLES[Rating].c.rater_id == rater_id)
    # What they said of texts, and what others quote of theirs.
    labels, written = TABLES[Label].c, select(c.id).where(c.writer_id == name)
    said = select(TABLES[Judgment].c.id).where(judged)
    of_theirs = labels.completion_id.in_(written) | labels.judgment_id.in_(said)
    of_them = (labels.rater_id == rater_id) | of_theirs & (labels.taxonomy != NAMES_RULES)
    yield Label, _read(connection, Label, of_them)


def _read(connection: Connection, kind: type[Any], which: Any) -> list[Any]:
    rows = connection.execute(select(TABLES[kind]).where(which)).mappings().all()
    return [from_row(kind, dict(row)) for row in rows]


def _without_words(record: Any) -> Any:
    match record:
        case Completion():
            return replace(record, text=WITHDRAWN)
        case Judgment():
            return replace(record, rationale="", reasons={}, raw="")
        case Rating():
            return replace(record, comments={}, raw="")
    return replace(record, evidence="")


def _replace(
    connection: Connection, kind: type[Any], changed: Sequence[tuple[Record, Record]]
) -> None:
    table = TABLES[kind]
    for _, after in changed:
        row = {**to_row(after), "content": content_of(after)}
        connection.execute(update(table).where(table.c.id == after.id).values(**row))
    rebook(connection, [before for before, _ in changed], [after for _, after in changed])
