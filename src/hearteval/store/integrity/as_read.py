"""Whether what an analysis reads of judgments is what was written: one sum for each study.

The sum is of a hash of each row that `judgment_query` finds: what was said, by whom, of which
texts in which order. It is made by that query in the transaction that adds the judgments, and made
again of the rows as they are read. Where the two differ the records themselves are checked, which
takes longer (`integrity.verify`): so a store without the sum, as an earlier version left it, gets
it when it is first read.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, bindparam

from hearteval.domain import Judgment, Study
from hearteval.store import schema
from hearteval.store.integrity.seal import (
    AS_READ,
    HEX_DIGITS,
    NOTHING,
    ROWS,
    Sealed,
    Total,
    read_totals,
    write_totals,
)
from hearteval.store.rows import in_groups, judged_query, judgment_query

_ADDED = (
    judged_query()
    .add_columns(schema.assignments.c.study_id)
    .where(schema.assignments.c.id.in_(bindparam("ids", expanding=True)))
)
_BEGUN = hashlib.blake2b(digest_size=HEX_DIGITS // 2)
"""Copied for each row: a quarter faster than begun anew."""
_ROW = "\n".join(["%s"] * len(judged_query().selected_columns))
"""Three times as fast as the `repr` of a row, of which there are hundreds of thousands."""


def total_of(rows: Iterable[tuple[Any, ...]]) -> Total:
    """Add up rows of `judgment_query`, ids and axes as text."""
    n, digest = 0, 0
    for row in rows:
        n += 1
        hash_ = _BEGUN.copy()
        hash_.update((_ROW % row).encode())
        digest += int.from_bytes(hash_.digest())
    return Total(n, digest % 2 ** (4 * HEX_DIGITS))


def book_as_read(connection: Connection, added: Iterable[Sealed]) -> None:
    """Follow new judgments, in their transaction; of a study whose sum is not known, nothing."""
    ids = [one.assignment_id for one in added if isinstance(one, Judgment)]
    rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for some in in_groups(ids):
        for *row, study_id in connection.execute(_ADDED, {"ids": some}):
            rows[study_id].append(tuple(row))
    if not rows:
        return
    known = read_totals(connection, AS_READ)
    said = read_totals(connection, "judgment")
    more = {}
    for study_id, own in rows.items():
        before = known.get((AS_READ, study_id))
        if before is None and said["judgment", study_id].n > len(own):
            continue
        more[AS_READ, study_id] = (before or NOTHING).and_also(total_of(own))
    write_totals(connection, more, known)


def written(connection: Connection, study: Study) -> Total:
    """Return the sum that was written of a study's judgments."""
    return read_totals(connection, AS_READ).get((AS_READ, study.id), NOTHING)


def is_as_read(connection: Connection, study: Study) -> bool:
    """Say whether a study's judgments make the sum that was written, at this one moment."""
    return _found(connection, study) == written(connection, study)


def make_anew(connection: Connection, study: Study) -> None:
    """Write the sum of a study's judgments as they are: whoever calls this has checked them."""
    found = {(AS_READ, study.id): _found(connection, study)}
    write_totals(connection, found, read_totals(connection, AS_READ))


def _found(connection: Connection, study: Study) -> Total:
    found = NOTHING
    query = judgment_query(study).execution_options(yield_per=ROWS)
    for page in connection.execute(query).partitions():
        found = found.and_also(total_of(map(tuple, page)))
    return found
