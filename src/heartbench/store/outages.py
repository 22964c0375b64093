"""Waiting out a database that goes away: one transaction, tried again until it is back.

Every transaction of a store can be repeated, because records are idempotent by id: a commit whose
answer was lost is found again on the next try.
"""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError

from heartbench.errors import StoreError

T = TypeVar("T")

FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 5.0

logger = logging.getLogger(__name__)


def run_patiently(work: Callable[[], T], *, name: str, patience_seconds: float) -> T:
    """Run one transaction; while the database is away, wait and run it again.

    Args:
        work: The whole transaction, safe to repeat.
        name: The store's name for messages.
        patience_seconds: How long to wait in all for a database that has gone away.

    Raises:
        StoreError: The database refused the work, or stayed away too long.
    """
    deadline = time.monotonic() + patience_seconds
    wait = FIRST_WAIT_SECONDS
    is_told = False
    while True:
        try:
            return work()
        except IntegrityError as error:
            raise StoreError(
                f"store {name} refused a record: {_words(error)}; a record refers to one that is "
                "not stored, or contradicts one that is"
            ) from error
        except DBAPIError as error:
            left = deadline - time.monotonic()
            if not _is_outage(error) or left <= 0:
                raise _failure(name, error) from error
            if not is_told:
                logger.warning(
                    "store %s is not reachable; trying again for %.0f seconds",
                    name,
                    patience_seconds,
                )
                is_told = True
        time.sleep(min(wait, max(left, 0)))
        wait = min(2 * wait, LONGEST_WAIT_SECONDS)


def _is_outage(error: DBAPIError) -> bool:
    """Tell whether trying again may help: the server is away, or another writer holds the file."""
    if error.connection_invalidated or isinstance(error, InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    state = getattr(error.orig, "sqlstate", "absent")
    if state == "absent":
        return "locked" in str(error.orig) or "busy" in str(error.orig)
    return state is None or state[:2] in {"08", "57"}


def _failure(name: str, error: DBAPIError) -> StoreError:
    return StoreError(
        f"store {name} cannot be used: {_words(error)}; what was acknowledged is stored, nothing "
        "is half-written. Check the path, free space, permissions and, for a server, that it runs; "
        "then run the same command again"
    )


def _words(error: DBAPIError) -> str:
    """Return the driver's message as one line."""
    return " ".join(str(error.orig).split())
