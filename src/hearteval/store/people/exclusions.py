"""Who is left out of a study's numbers: a record each time, and the sum of all of them."""

from typing import Any

from sqlalchemy import Connection, insert, select, update

from hearteval.domain.quality import Exclusion
from hearteval.store.integrity.seal import Total, follow, is_sum, total_of
from hearteval.store.people.tables import exclusions

_FIELDS = tuple(Exclusion.__slots__)


def list_exclusions(connection: Connection, study_id: str) -> list[Exclusion]:
    """Return every record of a study, in its order."""
    query = select(exclusions).where(exclusions.c.study_id == study_id)
    rows = connection.execute(query.order_by(exclusions.c.number)).mappings()
    return [
        Exclusion(**{**{name: row[name] for name in _FIELDS}, "rules": tuple(row["rules"])})
        for row in rows
    ]


def append(connection: Connection, study_id: str, record: Exclusion) -> bool:
    """Append a record; False where the person is left out, or not, already."""
    before = list_exclusions(connection, study_id)
    last = [one.is_excluded for one in before if one.person == record.person][-1:]
    if record.is_excluded == (last == [True]):
        return False
    row = {name: getattr(record, name) for name in _FIELDS}
    of = {"study_id": study_id, "number": len(before) + 1, "rules": list(record.rules)}
    connection.execute(insert(exclusions), [{**row, **of}])
    one = (exclusions.c.study_id == study_id) & (exclusions.c.number == of["number"])
    follow(connection, exclusions.name, study_id, come=_sum(connection, one))
    return True


def forget_words(connection: Connection, study_id: str, person: str) -> None:
    """Delete what was written of a person by hand; that they are left out stays."""
    theirs = (exclusions.c.study_id == study_id) & (exclusions.c.person == person)
    by_hand = [
        row.number
        for row in connection.execute(select(exclusions.c.number, exclusions.c.rules).where(theirs))
        if not row.rules
    ]
    which = theirs & exclusions.c.number.in_(by_hand)
    before = _sum(connection, which)
    connection.execute(update(exclusions).where(which).values(why=""))
    follow(connection, exclusions.name, study_id, gone=before, come=_sum(connection, which))


def are_written(connection: Connection, study_id: str) -> bool:
    """Say whether the records of a study are what was written."""
    found = _sum(connection, exclusions.c.study_id == study_id)
    return is_sum(connection, exclusions.name, study_id, found)


def _sum(connection: Connection, which: Any) -> Total:
    return total_of(map(tuple, connection.execute(select(exclusions).where(which))))
