"""What a withdrawal leaves of a person's records: ids and choices, no word of theirs.

The one exception to "append": a text becomes a tombstone that keeps its id, and the hashes of the
rows and their sums follow, so that a store in which somebody has withdrawn is still as written.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select, update

from hearteval.domain import (
    WITHDRAWN,
    Assignment,
    Attempt,
    Completion,
    Judgment,
    Label,
    Rating,
    plain_text,
)
from hearteval.store.integrity.seal import content_of, rebook
from hearteval.store.records import Record
from hearteval.store.replies import forget
from hearteval.store.rows import TABLES, from_row, to_row
from hearteval.store.schema import replies, reply_texts

NAMES_RULES = "safety"
"""The taxonomy whose evidence names rules and never quotes a text."""
FEWEST_WORDS = 3
"""Of a quote that is known by standing in a text: fewer stand in many."""


def bury_words(connection: Connection, *, name: str, rater_id: str) -> dict[str, list[str]]:
    """Replace every text of a person; return the ids of what held one, by kind of record."""
    buried: dict[str, list[str]] = {}
    quoted: set[str] = set()
    for kind, records in _records_of(connection, name, rater_id):
        changed = [
            (before, after) for before in records if (after := _without_words(before)) != before
        ]
        _replace(connection, kind, changed)
        buried[kind.__name__.lower()] = [after.id for _, after in changed]
        quoted.update(_words(before) for before, _ in changed)
    _forget_replies(connection, name, rater_id, quoted - {""})
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
    labels = TABLES[Label].c
    of_theirs = _is_of_theirs(labels, name, rater_id)
    of_them = (labels.rater_id == rater_id) | of_theirs & (labels.taxonomy != NAMES_RULES)
    yield Label, _read(connection, Label, of_them)


def _is_of_theirs(columns: Any, name: str, rater_id: str) -> Any:
    """Return the condition that a label, or a try at one, is of a person's text or reasons."""
    c, a, j = TABLES[Completion].c, TABLES[Assignment].c, TABLES[Judgment].c
    written = select(c.id).where(c.writer_id == name)
    assigned = select(a.id).where(a.rater_id == rater_id)
    said = select(j.id).where(j.assignment_id.in_(assigned))
    return columns.completion_id.in_(written) | columns.judgment_id.in_(said)


def _forget_replies(
    connection: Connection, name: str, rater_id: str, quoted: Collection[str]
) -> None:
    """Forget what models replied to questions about a person's words; what it cost stays known.

    A reply that became labels stands nowhere else: it is known by what it quotes.
    """
    tries = _read(connection, Attempt, _is_of_theirs(TABLES[Attempt].c, name, rater_id))
    changed = [(one, replace(one, raw="")) for one in tries if one.raw]
    held = replies.c.held_by.in_([before.id for before, _ in changed])
    gone = set(connection.execute(select(replies.c.id).where(held)).scalars())
    waiting = select(reply_texts.c.id, reply_texts.c.text)
    gone |= {row.id for row in connection.execute(waiting) if _quotes(row.text, quoted)}
    forget(connection, sorted(gone))
    _replace(connection, Attempt, changed)


def _words(record: Any) -> str:
    match record:
        case Completion():
            return plain_text(record.text)
        case Judgment():
            return plain_text("\n".join((record.rationale, *record.reasons.values())))
        case Label():
            return record.evidence
    return ""


def _quotes(reply: str, quoted: Collection[str]) -> bool:
    """Say whether a value of a reply in JSON is one of some quotes, or some words of one."""
    try:
        values = _texts_in(json.loads(reply, strict=False))
    except (ValueError, RecursionError):
        return any(one in plain_text(reply) for one in quoted)
    said = {plain_text(value) for value in values} - {""}
    return not said.isdisjoint(quoted) or any(
        value in one for value in said if len(value.split()) >= FEWEST_WORDS for one in quoted
    )


def _texts_in(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(one)


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
