"""Commits of many tasks, grouped: a reply counts as kept when this says so, after its commit.

Replies arrive one by one and a commit costs milliseconds, so what arrives within 50 ms is committed
together. Whoever adds waits until it is durable.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import InterfaceError, OperationalError

from heartbench.store.base import Record, Store, StoredReply

WAIT_SECONDS = 0.05
MAX_GROUP = 500
OPERATING = (OperationalError, InterfaceError)
"""What a `StoreError` comes from when it is no record's fault; waiting it out takes minutes."""


@dataclass(frozen=True, slots=True)
class _Submission:
    records: Sequence[Record]
    replies: Sequence[StoredReply]
    done: "asyncio.Future[None]"


class GroupedWriter:
    """Adds to a store from one event loop.

    Args:
        store: The store; it may be read meanwhile.
        wait_seconds: How long the first of a group waits for others.
    """

    def __init__(self, store: Store, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self.store = store
        self._wait_seconds = wait_seconds
        self._waiting: list[_Submission] = []
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> "GroupedWriter":
        """Begin to write."""
        return self

    async def __aexit__(self, *_exception: object) -> None:
        """Commit what still waits, also on the way out of a fault or Ctrl-C."""
        if self._waiting:
            self._commit()

    async def add(self, records: Sequence[Record]) -> None:
        """Add records; they are durable when this returns.

        Raises:
            StoreError: As `Store.add`, for these records alone.
        """
        await self._submit(records, ())

    async def keep(self, replies: Sequence[StoredReply]) -> None:
        """Keep replies; they are durable when this returns."""
        await self._submit((), replies)

    async def _submit(self, records: Sequence[Record], replies: Sequence[StoredReply]) -> None:
        loop = asyncio.get_running_loop()
        submission = _Submission(records, replies, loop.create_future())
        self._waiting.append(submission)
        if len(self._waiting) >= MAX_GROUP:
            self._commit()
        elif self._timer is None:
            self._timer = loop.call_later(self._wait_seconds, self._commit)
        # A task that is cancelled while it waits has had its answer paid for: it is still stored.
        await asyncio.shield(submission.done)

    def _commit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        group, self._waiting = self._waiting, []
        try:
            self._write(group)
        except Exception as error:  # noqa: BLE001 - it reaches whoever waits
            if len(group) == 1 or _is_of_the_store(error):
                for submission in group:
                    _fail(submission, error)
                return
            for submission in group:  # one of them is at fault: find out which
                self._write_alone(submission)
        except BaseException:  # a second Ctrl-C: the end of this writer tries once more
            self._waiting = [*group, *self._waiting]
            raise
        else:
            for submission in group:
                _succeed(submission)

    def _write(self, group: Sequence[_Submission]) -> None:
        self.store.keep_replies([reply for one in group for reply in one.replies])
        self.store.add([record for one in group for record in one.records])

    def _write_alone(self, submission: _Submission) -> None:
        try:
            self._write([submission])
        except Exception as error:  # noqa: BLE001 - it reaches whoever waits
            _fail(submission, error)
        else:
            _succeed(submission)


def _is_of_the_store(error: Exception) -> bool:
    """Say whether every record would meet it: the store is away or cannot be written."""
    return isinstance(error, OSError) or isinstance(error.__cause__, OPERATING)


def _succeed(submission: _Submission) -> None:
    if not submission.done.done():
        submission.done.set_result(None)


def _fail(submission: _Submission, error: Exception) -> None:
    if not submission.done.done():
        submission.done.set_exception(error)
        submission.done.exception()  # whoever waited may have been cancelled: nobody is to complain
