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

ADVICE = {
    "disk is full": "what was acknowledged is stored; free some space and run the same again",
    "disk I/O error": "look at the disk's health, space and permissions, then run the same again",
    "readonly": "what was acknowledged is stored; make the file and its folder writable",
    "unable to open": "make its folder, or check the path and its permissions",
    "not a database": "this file is no store of heartbench; give another path",
    "malformed": "the file is damaged; restore a copy of it",
    "locked": "another process holds it; wait for that, then run the same command again",
}
"""What to do, by words of the driver's message."""

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
                f"store {name} refused a record: {_words(error)}; it refers to one that is not "
                "stored, or contradicts one that another run has added; run the same again"
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
    words = _words(error)
    advice = next(
        (advice for sign, advice in ADVICE.items() if sign in words),
        "check that it can be reached, then run the same command again",
    )
    return StoreError(f"store {name} cannot be used: {words}; {advice}")


def _words(error: DBAPIError) -> str:
    """Return the driver's message as one line."""
    return " ".join(str(error.orig).split())
