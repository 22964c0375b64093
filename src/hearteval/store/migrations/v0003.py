"""Every reply stands once: in the record made of it, as ``raw``.

The reply cache refers to that record, and a judge's reasons are read out of it.
"""

from collections.abc import Iterator
from typing import Any

from alembic import op
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Double,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    Select,
    Table,
    Text,
    bindparam,
    insert,
    select,
    update,
)

from hearteval.domain.judging import words_in
from hearteval.store.replies import text_digest
from hearteval.store.rows import HOLDERS, TABLES, kind_name
from hearteval.store.schema import Id, Json, Utc, VerbatimJson, Words

PAGE = 1_000
_metadata = MetaData()
_replies = Table(
    "replies",
    _metadata,
    Column("id", Id, primary_key=True),
    Column("reply", VerbatimJson),
    Column("held_in", Text),
    Column("held_by", Id),
)
_texts = Table(
    "reply_texts",
    _metadata,
    Column("id", Id, primary_key=True),
    Column("digest", Id),
    Column("text", Words),
)


def upgrade() -> None:
    """Change the tables, then take out what stands twice."""
    connection = op.get_bind()
    op.add_column("replies", Column("held_in", Text))
    op.add_column("replies", Column("held_by", Id))
    op.create_table(
        "reply_texts",
        Column("id", Id, primary_key=True),
        Column("digest", Id, nullable=False),
        Column("text", Words, nullable=False),
    )
    op.create_index("ix_reply_texts_digest", "reply_texts", ["digest"])
    if connection.dialect.name == "sqlite":
        _remake_judgments(connection)
    else:
        op.alter_column("judgments", "reasons", nullable=True)
        op.alter_column("judgments", "rationale", nullable=True)
        _take_out_reasons(connection)
    _take_out_texts(connection, _holders(connection))


def _columns() -> list[Column[Any]]:
    """Return the columns of judgments as this version has them."""
    return [
        Column("id", Id, primary_key=True),
        Column("assignment_id", Id, nullable=False),
        Column("choice", Text, nullable=False),
        Column("strength", Integer),
        Column("axes", Json, nullable=False),
        Column("reasons", Json),
        Column("rationale", Words),
        Column("seconds", Double),
        Column("raw", Words, nullable=False),
        Column("prompt_hash", Text),
        Column("requested", Json, nullable=False),
        Column("effective", Json, nullable=False),
        Column("finish_reason", Text),
        Column("usage", Json, nullable=False),
        Column("cost", Double),
        Column("cached", Boolean, nullable=False),
        Column("created_at", Utc, nullable=False),
    ]


def _judgments(name: str = "judgments") -> Table[Any]:
    return Table(name, MetaData(), *_columns())


def _remake_judgments(connection: Connection) -> None:
    """Copy the table into one whose columns may be empty: SQLite cannot change them."""
    op.drop_index("ix_judgments_counts", "judgments")
    op.rename_table("judgments", "judgments_before")
    before, after = _judgments("judgments_before"), _judgments()
    op.create_table(
        "judgments",
        *_columns(),
        ForeignKeyConstraint(["assignment_id"], ["assignments.id"]),
    )
    for rows in _pages(connection, select(before)):
        copies = [dict(row._mapping) for row in rows]
        for copy in copies:
            if words_in(copy["raw"]) == (copy["reasons"], copy["rationale"]):
                copy["reasons"] = copy["rationale"] = None
        connection.execute(insert(after), copies)
    op.drop_table("judgments_before")
    counted = ["assignment_id", "choice", "strength", "axes", "finish_reason"]
    op.create_index("ix_judgments_counts", "judgments", counted)


def _take_out_reasons(connection: Connection) -> None:
    table = _judgments().c
    query = select(table.id, table.raw, table.reasons, table.rationale)
    emptied = {"reasons": None, "rationale": None}
    for rows in _pages(connection, query):
        found = [row.id for row in rows if words_in(row.raw) == (row.reasons, row.rationale)]
        if found:
            judgments = _judgments()
            changing = update(judgments).where(judgments.c.id.in_(found)).values(emptied)
            connection.execute(changing)


def _holders(connection: Connection) -> dict[str, tuple[str, str]]:
    """Return by digest the kind and id of a record that holds a text."""
    found: dict[str, tuple[str, str]] = {}
    for kind, field in HOLDERS.items():
        table = Table(
            TABLES[kind].name,
            MetaData(),
            Column("id", Id, primary_key=True),
            Column(field, Words),
        )
        for rows in _pages(connection, select(table)):
            found |= {text_digest(text): (kind_name(kind), id_) for id_, text in rows if text}
    return found


def _take_out_texts(connection: Connection, holders: dict[str, tuple[str, str]]) -> None:
    values: dict[str, Any] = {
        "reply": bindparam("said"),
        "held_in": bindparam("kind"),
        "held_by": bindparam("holder"),
    }
    for rows in _pages(connection, select(_replies.c.id, _replies.c.reply)):
        texts, changed = [], []
        for row in rows:
            reply = dict(row.reply)
            text = reply.pop("text", "")
            if not text:
                continue
            if reply.get("raw"):
                reply["raw"] = ""
            digest = text_digest(text)
            kind, holder = holders.get(digest, (None, None))
            if kind is None:
                texts.append({"id": row.id, "digest": digest, "text": text})
            changed.append({"of": row.id, "said": reply, "kind": kind, "holder": holder})
        if changed:
            of: Any = bindparam("of")
            connection.execute(update(_replies).where(_replies.c.id == of).values(values), changed)
        if texts:
            connection.execute(insert(_texts), texts)


def _pages(connection: Connection, query: Select[Any]) -> Iterator[list[Any]]:
    """Yield the rows of a query page by page, in the order of its first column, an id."""
    key: Any = query.selected_columns[0]
    last = ""
    while True:
        page = query.where(key > last) if last else query
        rows: list[Any] = list(connection.execute(page.order_by(key).limit(PAGE)))
        if not rows:
            return
        last = rows[-1].id
        yield rows
