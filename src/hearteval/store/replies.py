"""Replies of models as they are kept: each text once, in the record that was made of it.

A reply comes before its record. Until then its text waits in ``reply_texts``; when a record with
this very text is added, the reply refers to that one and the waiting text goes.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from hearteval.domain import flat_fields, record_id
from hearteval.store.insertion import insert_rows
from hearteval.store.integrity.seal import book, content_of, rebook
from hearteval.store.records import Record, StoredReply
from hearteval.store.rows import (
    HOLDERS,
    in_groups,
    kind_name,
    reply_query,
    rows_by_id,
    to_reply,
)
from hearteval.store.schema import replies, reply_texts
from hearteval.store.sharing.ledger import book as book_cost


def text_digest(text: str) -> str:
    """Return the first 16 bytes of the SHA-256 of a text, as 32 hexadecimal digits."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def keep(connection: Connection, kept: Sequence[StoredReply]) -> None:
    """Keep replies; of two under one id the first stays, and what the second cost is spent."""
    unique: dict[str, StoredReply] = {}
    for reply in kept:
        unique.setdefault(reply.id, reply)
    known = dict(_find(connection, replies.c.id, replies.c.created_at, list(unique)))
    came = {id_: reply.created_at for id_, reply in unique.items()} | known
    lost = [_lost(reply) for reply in kept if reply.cost and reply.created_at != came[reply.id]]
    if lost:
        keep(connection, lost)
    new = [reply for reply in unique.values() if reply.id not in known]
    if not new:
        return
    contents = [content_of(reply) for reply in new]
    rows, texts = [], []
    for reply, content in zip(new, contents, strict=True):
        said = dict(reply.reply)
        text = said.pop("text", None)
        if text is not None:  # an empty one waits too, as no record refers to it
            texts.append({"id": reply.id, "digest": text_digest(text), "text": text})
        row = {**flat_fields(reply), "content": content}
        rows.append(row if text is None else {**row, "reply": said})
    insert_rows(connection, replies, rows)
    insert_rows(connection, reply_texts, texts)
    book(connection, list(zip(new, contents, strict=True)))
    book_cost(connection, sum(reply.cost or 0.0 for reply in new))


def _lost(reply: StoredReply) -> StoredReply:
    """Return what is kept of a reply that came second: its cost."""
    own = record_id("lost_call", {"reply": reply.id, "at": reply.created_at.isoformat()})
    return StoredReply(id=own, reply={}, cost=reply.cost, created_at=reply.created_at)


def find(connection: Connection, reply_ids: Sequence[str]) -> list[StoredReply]:
    """Return those of some replies that were kept."""
    return [to_reply(row) for row in rows_by_id(connection, reply_query(), reply_ids)]


def refer(connection: Connection, kind: type[Any], records: Sequence[Record]) -> None:
    """Let replies whose text waits refer to those of some new records that hold it."""
    if kind not in HOLDERS:
        return
    said = {text_digest(text): r.id for r in records if (text := getattr(r, HOLDERS[kind]))}
    digest, name = reply_texts.c.digest, kind_name(kind)
    waiting = _find(connection, digest, reply_texts.c.id, list(said))
    held = [{"of": id_, "kind": name, "holder": said[text]} for text, id_ in waiting]
    if held:
        of: Any = bindparam("of")
        values: dict[str, Any] = {"held_in": bindparam("kind"), "held_by": bindparam("holder")}
        connection.execute(update(replies).where(replies.c.id == of).values(values), held)
        for some in in_groups([row["of"] for row in held]):
            connection.execute(delete(reply_texts).where(reply_texts.c.id.in_(some)))


def forget(connection: Connection, reply_ids: Sequence[str]) -> None:
    """Forget what some replies say, but not what they cost: nobody finds them any more."""
    for old in find(connection, reply_ids):
        new = _lost(old)
        connection.execute(delete(reply_texts).where(reply_texts.c.id == old.id))
        values = {**flat_fields(new), "held_in": None, "held_by": None, "content": content_of(new)}
        connection.execute(update(replies).where(replies.c.id == old.id).values(**values))
        rebook(connection, [old], [new])


def _find(connection: Connection, key: Any, value: Any, keys: Sequence[str]) -> Iterator[Any]:
    for some in in_groups(keys):
        yield from connection.execute(select(key, value).where(key.in_(some)))
