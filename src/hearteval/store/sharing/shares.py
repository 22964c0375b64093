"""Shares: how much of the calls a minute that one key has each process may make.

A row is a process that has calls for a line, which is a model at an address by a key of this name;
the key itself stands nowhere. Each gets as much as the others, and never what another still has:
whoever comes begins when those who are there have given back, which they do when they renew their
leases.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from hearteval.domain import record_id
from hearteval.store.schema import shares
from hearteval.store.sharing.claims import IsGone


def divide(
    connection: Connection, lines: Sequence[str], *, owner: str, until: datetime, is_gone: IsGone
) -> Mapping[str, float]:
    """Take a share, from 0 to 1, of each line that is wanted, and give back those of all others."""
    connection.execute(delete(shares).where(shares.c.owner == owner))
    others: dict[str, list[float]] = {line: [] for line in lines}
    for row in connection.execute(select(shares).where(shares.c.line.in_(lines))).all():
        if is_gone(row.owner, row.expires_at):
            connection.execute(delete(shares).where(shares.c.id == row.id))
        else:
            others[row.line].append(row.share)
    granted = {
        line: max(0.0, min(1 / (len(found) + 1), 1 - sum(found))) for line, found in others.items()
    }
    rows = [
        {
            "id": record_id("share", {"line": line, "owner": owner}),
            "line": line,
            "owner": owner,
            "expires_at": until,
            "share": share,
        }
        for line, share in granted.items()
    ]
    if rows:
        connection.execute(insert(shares), rows)
    return granted
