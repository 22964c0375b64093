"""Whether what is read of judgments in another form is what was written: sums for each study.

Three are kept, each of what one query finds: what was said, by whom, of which texts in which order;
how long people took, and when; what the calls of judges were and cost. They are made by these
queries in the transaction that adds the judgments, and made again of the rows as they are read.
Where one differs the records themselves are checked, which takes longer (`integrity.verify`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, Connection, Select, bindparam, cast, delete, func, select

from hearteval.domain import Judgment, Study, record_id
from hearteval.store import schema
from hearteval.store.insertion import insertion
from hearteval.store.integrity.seal import (
    NOTHING,
    ROWS,
    Sealed,
    Total,
    follow,
    is_sum,
    read_totals,
    slot_of,
    total_of,
    total_of_bytes,
)
from hearteval.store.judged import judged_query, packed_rows
from hearteval.store.rows import in_groups, timed_query, with_id_bytes

AS_READ, AS_TIMED, AS_CALLED = "judgment as read", "judgment as timed", "judgment as called"
"""Stand for kinds where the sums are kept."""
COUNTS = ("n_calls", "n_priced", "pico_usd")
"""Of calls of one kind, whose names come after what they are."""


def called_query() -> Select[Any]:
    """Return the query for judges' calls: rater, settings, and counts that add up exactly."""
    a, j = schema.assignments, schema.judgments
    keys = (a.c.rater_id, j.c.requested, j.c.effective)
    # A sum of floats depends on their order, one of whole billionths of a millidollar does not.
    pico_usd = func.sum(cast(func.round(j.c.cost * 1e12), BigInteger))
    counts = zip(COUNTS, (func.count(), func.count(j.c.cost), pico_usd), strict=True)
    return (
        select(*keys, *(count.label(name) for name, count in counts))
        .select_from(a)
        .join(j, j.c.assignment_id == a.c.id)
        .group_by(*keys)
    )


_QUERIES: Mapping[str, Select[Any]] = {
    AS_READ: with_id_bytes(judged_query()),
    AS_TIMED: timed_query(),
    AS_CALLED: called_query(),
}
_STUDY = schema.assignments.c.study_id
_ADDED = {
    kind: query.add_columns(_STUDY).where(
        schema.assignments.c.id.in_(bindparam("ids", expanding=True))
    )
    for kind, query in _QUERIES.items()
}
_ADDED[AS_CALLED] = _ADDED[AS_CALLED].group_by(_STUDY)


def total_of_calls(rows: Iterable[tuple[Any, ...]]) -> Total:
    """Add up rows of `called_query`: the same whether calls come in one row or in several."""
    total = NOTHING
    for *of, n_calls, n_priced, pico_usd in rows:
        counts = (n_calls, n_priced, pico_usd or 0)
        of_call = "\n".join(map(str, of))
        for name, count in zip(COUNTS, counts, strict=True):
            one = total_of([(name, of_call)]).digest
            total = total.and_also(Total(0, one * int(count)))
    return total


def total_of_packed(rows: NDArray[np.void]) -> Total:
    """Add up rows as `judged.ROW` has them."""
    return total_of_bytes(rows.view(f"V{rows.itemsize}").tolist())


def _total_of_judged(rows: Sequence[tuple[Any, ...]]) -> Total:
    return total_of_packed(packed_rows(rows)) if rows else NOTHING


_TOTAL_OF = {AS_READ: _total_of_judged, AS_TIMED: total_of, AS_CALLED: total_of_calls}


def book_as_read(connection: Connection, added: Iterable[Sealed]) -> None:
    """Follow new judgments, in their transaction."""
    ids = [one.assignment_id for one in added if isinstance(one, Judgment)]
    for kind, query in _ADDED.items():
        rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        for some in in_groups(ids):
            for *row, study_id in connection.execute(query, {"ids": some}):
                rows[study_id].append(tuple(row))
        for study_id, own in rows.items():
            follow(connection, kind, study_id, come=_TOTAL_OF[kind](own))
            if kind == AS_CALLED:
                _keep_calls(connection, study_id, own)


def called_in(connection: Connection, study: Study) -> list[tuple[Any, ...]]:
    """Return rows of `called_query` of a study, as its judgments are now."""
    return [*map(tuple, connection.execute(_in_study(AS_CALLED, study)))]


def kept_calls(connection: Connection, study: Study) -> list[tuple[Any, ...]] | None:
    """Return the same as it was added up; None where that is not what was written."""
    kept = schema.call_sums.c
    keys = (kept.rater_id, kept.requested, kept.effective)
    sums = (func.sum(kept[name]) for name in COUNTS)
    # Ordered, so that what is said first of a model is the same each time.
    query = select(*keys, *sums).where(kept.study_id == study.id).group_by(*keys).order_by(*keys)
    found = [*map(tuple, connection.execute(query))]
    return found if is_sum(connection, AS_CALLED, study.id, total_of_calls(found)) else None


def _keep_calls(connection: Connection, study_id: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Add rows of `called_query` to those of this transaction's slot."""
    kept, slot = schema.call_sums, slot_of(connection)
    names = ("study_id", "slot", "rater_id", "requested", "effective")
    new = insertion(connection, kept)
    more = {name: kept.c[name] + new.excluded[name] for name in COUNTS}
    for *of, n_calls, n_priced, pico_usd in rows:
        row = dict(zip(names, (study_id, slot, *of), strict=True))
        counts = dict(zip(COUNTS, (n_calls, n_priced, pico_usd or 0), strict=True))
        adding = new.values(id=record_id(kept.name, row), **row, **counts)
        connection.execute(adding.on_conflict_do_update(index_elements=["id"], set_=more))


def written(connection: Connection, study: Study, *, kind: str = AS_READ) -> Total:
    """Return a sum that was written of a study's judgments."""
    return read_totals(connection, kind).get((kind, study.id), NOTHING)


def is_as_read(connection: Connection, study: Study) -> bool:
    """Say whether a study's judgments make the sums that were written, at this one moment."""
    return kept_calls(connection, study) is not None and all(
        is_sum(connection, kind, study.id, _found(connection, kind, study)) for kind in _QUERIES
    )


def make_anew(connection: Connection, study: Study) -> None:
    """Write the sums of a study's judgments as they are: whoever calls this has checked them."""
    for kind in _QUERIES:
        gone = written(connection, study, kind=kind)
        follow(connection, kind, study.id, gone=gone, come=_found(connection, kind, study))
    connection.execute(delete(schema.call_sums).where(schema.call_sums.c.study_id == study.id))
    _keep_calls(connection, study.id, called_in(connection, study))


def _found(connection: Connection, kind: str, study: Study) -> Total:
    found = NOTHING
    query = _in_study(kind, study).execution_options(yield_per=ROWS)
    for page in connection.execute(query).partitions():
        found = found.and_also(_TOTAL_OF[kind]([*map(tuple, page)]))
    return found


def _in_study(kind: str, study: Study) -> Select[Any]:
    return _QUERIES[kind].where(study.id == _STUDY)
