"""What shows that a store was changed behind our back: a hash of every record, and sums of them.

Every row of a record holds the hash of its whole content, times included. Beside them stand, by
kind and study, how many records were ever added and the sum of their hashes modulo 2**128, written
at the end of the transaction that adds them, in the slot of whoever writes. So a changed row
contradicts its own hash, one that is gone or was slipped in contradicts the sums, and what a read
finds can be counted against them. This finds damage and edits by hand; it does not stop somebody
who changes rows, hashes and sums alike.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, bindparam, insert, select, update

from hearteval.domain import (
    Assignment,
    Judgment,
    LatencyProbe,
    Pair,
    Rating,
    Study,
    content_hash,
    flat_fields,
)
from hearteval.errors import StoreError
from hearteval.store import schema
from hearteval.store.records import Record, StoredReply
from hearteval.store.rows import (
    TABLES,
    from_row,
    in_groups,
    kind_name,
    read_studies,
    reply_query,
    rows_of,
    to_reply,
)

NO_STUDY = "0" * 32
"""Stands for the study of a kind whose records belong to none."""
HEX_DIGITS = 32
NO_TEXT = "Could not decode to UTF-8"
"""Of which the driver of SQLite complains."""
_VALUES = re.compile(r"\nDETAIL:| with text '")
ROWS = 2_000


class Total(NamedTuple):
    """Records of one kind: how many, and the sum of their hashes."""

    n: int
    digest: int

    def plus(self, hashes: Sequence[str]) -> "Total":
        """Return the total of these and more records."""
        more = sum(int(hash_, 16) for hash_ in hashes)
        return Total(self.n + len(hashes), (self.digest + more) % 2 ** (4 * HEX_DIGITS))

    def and_also(self, other: "Total") -> "Total":
        """Return the total of both."""
        return Total(self.n + other.n, (self.digest + other.digest) % 2 ** (4 * HEX_DIGITS))

    def without(self, other: "Total") -> "Total":
        """Return the total of what is left of it."""
        return Total(self.n - other.n, (self.digest - other.digest) % 2 ** (4 * HEX_DIGITS))

    @property
    def as_hex(self) -> str:
        """The sum as text."""
        return f"{self.digest:0{HEX_DIGITS}x}"


NOTHING = Total(0, 0)
_BEGUN = hashlib.blake2b(digest_size=HEX_DIGITS // 2)
"""Copied for each row: a quarter faster than begun anew. And a form of ``%s`` is three times as
fast as the `repr` of a row, of which there are hundreds of thousands."""
_PAIR = '{"completion_ids":["%s","%s"],"id":"%s","item_id":"%s","kind":"pair"}'
_ASSIGNMENT = (
    '{"first_completion_id":"%s","id":"%s","kind":"assignment","pair_id":"%s","rater_id":"%s",'
    '"repeat":%d,"study_id":"%s"}'
)
"""The canonical JSON of records that hold ids and numbers alone."""
_ASSIGNED = attrgetter("first_completion_id", "id", "pair_id", "rater_id", "repeat", "study_id")
Sealed = Record | StoredReply
SEALED: Mapping[type[Any], Table[Any]] = {**TABLES, StoredReply: schema.replies}
"""Kinds whose rows hold a hash."""
Totals = Mapping[tuple[str, str], Total]
"""By kind and study."""
_TOTALS = schema.totals
SLOT, _GROWN = "heart_slot", "heart_grown"
"""What a connection knows of its transaction: its slot, and by how much totals have grown in it."""
# What is no record stands there too: the end of the audit log (`store.people.audit`), and sums.
_ALL = select(_TOTALS).where(_TOTALS.c.kind.in_([kind_name(kind) for kind in SEALED]))
_OF_KINDS = select(_TOTALS).where(_TOTALS.c.kind.in_(bindparam("kinds", expanding=True)))
_IN_SLOT = _OF_KINDS.where(_TOTALS.c.slot == bindparam("of_slot"))
_NEW = insert(_TOTALS)
_CHANGE = update(_TOTALS).where(
    *(_TOTALS.c[name] == bindparam(f"of_{name}") for name in ("kind", "study_id", "slot"))
)


def content_of(record: Sealed) -> str:
    """Return the hash of a record's whole content: every field that holds anything."""
    # Of these every report hashes tens or hundreds of thousands: the same text, made faster.
    if isinstance(record, Pair):
        return _hash_of(_PAIR % (*record.completion_ids, record.id, record.item_id))
    if isinstance(record, Assignment) and record.check is None:
        return _hash_of(_ASSIGNMENT % _ASSIGNED(record))
    fields = {name: value for name, value in flat_fields(record).items() if value is not None}
    if "created_at" in fields:
        fields["created_at"] = fields["created_at"].isoformat()
    return content_hash({"kind": kind_name(type(record)), **fields})[:HEX_DIGITS]


def _hash_of(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()[:HEX_DIGITS]


def book(connection: Connection, added: Sequence[tuple[Sealed, str]]) -> None:
    """Add new records, each with the hash of its content, in their transaction to the totals."""
    if not added:
        return
    hashes: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    studies = studies_of(connection, [record for record, _ in added])
    for record, content in added:
        hashes[kind_name(type(record)), studies[record.id]].append(content)
    for key, found in hashes.items():
        grow(connection, key, NOTHING.plus(found))


def rebook(connection: Connection, before: Sequence[Sealed], after: Sequence[Sealed]) -> None:
    """Follow in the totals records of one kind that have changed, which withdrawals alone do."""
    if not before:
        return
    kind = kind_name(type(before[0]))
    studies = studies_of(connection, after)
    for old, new in zip(before, after, strict=True):
        gone, come = (NOTHING.plus([content_of(one)]) for one in (old, new))
        grow(connection, (kind, studies[new.id]), come.without(gone))


def read_totals(connection: Connection, *kinds: str) -> Totals:
    """Return what was ever added, of these kinds or of all."""
    rows = connection.execute(_OF_KINDS, {"kinds": kinds}) if kinds else connection.execute(_ALL)
    found: dict[tuple[str, str], Total] = {}
    grown = connection.info.get(_GROWN, {}).items()
    more = [(key, total) for key, total in grown if not kinds or key[0] in kinds]
    for key, total in [*map(_total_of_row, rows), *more]:
        found[key] = found.get(key, NOTHING).and_also(total)
    return found


def n_written(connection: Connection, kind: type[Any], study_id: str | None) -> int:
    """Return how many records of a kind were ever added, of one study or of all."""
    totals = read_totals(connection, kind_name(kind)).items()
    return sum(total.n for (_, of), total in totals if study_id in (None, of))


def hash_of(totals: Totals) -> str:
    """Return one hash of all records of a store, as 64 hexadecimal digits."""
    by_kind: defaultdict[str, Total] = defaultdict(lambda: NOTHING)
    for (kind, _), total in totals.items():
        by_kind[kind] = by_kind[kind].and_also(total)
    return content_hash({kind: [total.n, total.as_hex] for kind, total in by_kind.items()})


def total_of(rows: Iterable[tuple[Any, ...]]) -> Total:
    """Add up rows of one query, ids and JSON as text."""
    all_rows = [*rows]
    form = "\n".join(["%s"] * len(all_rows[0])) if all_rows else ""
    return total_of_bytes([(form % row).encode(errors="surrogatepass") for row in all_rows])


def total_of_bytes(rows: Iterable[bytes]) -> Total:
    """Add up rows that hold the same fields in the same bytes."""
    n, digest = 0, 0
    for row in rows:
        n += 1
        hash_ = _BEGUN.copy()
        hash_.update(row)
        digest += int.from_bytes(hash_.digest())
    return Total(n, digest % 2 ** (4 * HEX_DIGITS))


def follow(
    connection: Connection, kind: str, study_id: str, *, gone: Total = NOTHING, come: Total
) -> None:
    """Follow, in the sum of rows that are no records, what was there and what is there now."""
    grow(connection, (kind, study_id), come.without(gone))


def is_sum(connection: Connection, kind: str, study_id: str, found: Total) -> bool:
    """Say whether rows that were found are those that were written."""
    return read_totals(connection, kind).get((kind, study_id), NOTHING) == found


def damaged(name: str, words: str, *, ids: Sequence[str]) -> StoreError:
    """Return the error that ends a read of what is not as it was written."""
    return StoreError(
        f"store {name} is damaged: {words}; go on with a copy of it, and see `heart store verify`",
        ids=ids,
    )


def words_of_driver(error: Exception, otherwise: str = "") -> str:
    """Return the driver's message as one line, without the values and texts that it shows.

    `otherwise` stands for an error that is not the driver's.
    """
    words = str(getattr(error, "orig", otherwise))
    return " ".join(_VALUES.split(words, maxsplit=1)[0].split())


def slot_of(connection: Connection) -> int:
    """Return the slot of a transaction; 0 is that of one beside which nobody writes."""
    return int(connection.info.get(SLOT, 0))


def grow(connection: Connection, key: tuple[str, str], by: Total) -> None:
    """Let a total grow when the transaction ends; whoever reads it in between sees it."""
    grown = connection.info.setdefault(_GROWN, {})
    grown[key] = grown.get(key, NOTHING).and_also(by)


@contextmanager
def totals_written(connection: Connection) -> Iterator[None]:
    """Write by how much totals have grown, in one go at the end of a transaction."""
    info = connection.info  # where the server goes away there is none any more to ask for
    try:
        yield
        if grown := info.pop(_GROWN, {}):
            _write_totals(connection, grown)
    finally:
        info.pop(_GROWN, None)


def _write_totals(connection: Connection, grown: Totals) -> None:
    slot, kinds = slot_of(connection), {kind for kind, _ in grown}
    own = connection.execute(_IN_SLOT, {"kinds": sorted(kinds), "of_slot": slot})
    known = dict(map(_total_of_row, own))
    after = {key: by.and_also(known.get(key, NOTHING)) for key, by in sorted(grown.items())}
    rows = {key: {"n": total.n, "digest": total.as_hex} for key, total in after.items()}
    changed = [
        {"of_kind": key[0], "of_study_id": key[1], "of_slot": slot, **row}
        for key, row in rows.items()
        if key in known
    ]
    if changed:
        connection.execute(_CHANGE, changed)
    new = [
        {"kind": key[0], "study_id": key[1], "slot": slot, **row}
        for key, row in rows.items()
        if key not in known
    ]
    if new:
        connection.execute(_NEW, new)


def _total_of_row(row: Any) -> tuple[tuple[str, str], Total]:
    return (row.kind, row.study_id), Total(row.n, int(row.digest, 16))


def sealed_rows(connection: Connection, kind: type[Any]) -> Iterator[list[dict[str, Any]]]:
    """Yield pages of the rows of a kind, each with the hash that it holds as ``content``.

    Of a study, which more than a row makes, the row is its ``record``.
    """
    if kind is Study:
        yield [{"record": study, "content": kept} for study, kept in read_studies(connection)]
        return
    table, last = SEALED[kind], None
    while True:
        page = reply_query() if kind is StoredReply else select(table)
        page = page.order_by(table.c.id).limit(ROWS)
        page = page if last is None else page.where(table.c.id > last)
        rows = rows_of(page, connection)
        if not rows:
            return
        last = rows[-1]["id"]
        yield rows


def record_of(kind: type[Any], row: dict[str, Any]) -> Any:
    """Build the record of a row that `sealed_rows` yields, which this uses up."""
    if kind is Study:
        return row["record"]
    return to_reply(row) if kind is StoredReply else from_row(kind, row)


def studies_of(
    connection: Connection, records: Sequence[Sealed], assigned: Mapping[str, str] | None = None
) -> Mapping[str, str]:
    """Return the study of each record by its id; a judgment's is read unless it is `assigned`."""
    own = Assignment | Rating | LatencyProbe
    of: dict[str, str] = {one.id: one.study_id for one in records if isinstance(one, own)}
    judged = {one.id: one.assignment_id for one in records if isinstance(one, Judgment)}
    known = {id_: study for id_ in judged.values() if (study := (assigned or of).get(id_))}
    a = schema.assignments.c
    for some in in_groups(sorted(set(judged.values()) - known.keys())):
        for row in connection.execute(select(a.id, a.study_id).where(a.id.in_(some))):
            known[str(row.id)] = row.study_id
    of |= {id_: known[asked] for id_, asked in judged.items() if asked in known}
    # Of an assignment that is not there: the database refuses the judgment, or did once.
    return {record.id: of.get(record.id, NO_STUDY) for record in records}
