"""Commits of many tasks, grouped: a reply counts as kept when this says so, after its commit.

What models answered is written here, and each answer once: of two the first stays, whoever wrote
it. Which process asks what is claimed in the `panel`.

Replies arrive one by one and a commit costs milliseconds, so what arrives within 50 ms is committed
together, in a thread of its own: calls go on meanwhile. Whoever adds waits until it is durable.
"""

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from sqlalchemy.exc import InterfaceError, OperationalError

from hearteval.errors import StoreError
from hearteval.store.base import Record, Store, StoredReply
from hearteval.store.panel import Panel

logger = logging.getLogger(__name__)
WAIT_SECONDS = 0.05
MAX_GROUP = 500
OPERATING = (OperationalError, InterfaceError)
"""What a `StoreError` comes from when it is no record's fault; waiting it out takes minutes."""


class _Submission(NamedTuple):
    records: Sequence[Record]
    replies: Sequence[StoredReply]
    done: "asyncio.Future[None]"


class GroupedWriter:
    """Adds to a store, which may be read meanwhile, from one event loop.

    The first of a group waits `wait_seconds` for others.

    Attributes:
        store: What is written to.
        panel: This process's claims on what is to be asked, kept until the end.
    """

    def __init__(self, store: Store, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self.store = store
        self.panel = Panel(store)
        self._renewing: asyncio.Task[None] | None = None
        self._wait_seconds = wait_seconds
        self._waiting: list[_Submission] = []
        self._n_open = 0
        self._timer: asyncio.TimerHandle | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="heart-store")

    async def __aenter__(self) -> "GroupedWriter":
        """Begin to write, and keep claims alive."""
        self._renewing = asyncio.get_running_loop().create_task(self.panel.keep_renewing())
        return self

    async def __aexit__(self, *_exception: object) -> None:
        """Commit what still waits, also on the way out of a fault or Ctrl-C."""
        if self._waiting:
            self._commit()
        # Not awaited, so that nothing cancels it: what was paid for is stored.
        self._thread.shutdown(wait=True)
        if self._renewing is not None:
            self._renewing.cancel()
        try:
            self.panel.leave()
        except StoreError as error:
            logger.info("the claims end by themselves: %s", error)

    @property
    def is_idle(self) -> bool:
        """Whether all that was to be written is durable."""
        return self._n_open == 0

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
        self._n_open += 1
        submission.done.add_done_callback(self._end)
        if len(self._waiting) >= MAX_GROUP:
            self._commit()
        elif self._timer is None:
            self._timer = loop.call_later(self._wait_seconds, self._commit)
        # A task that is cancelled while it waits has had its answer paid for: it is still stored.
        await asyncio.shield(submission.done)

    def _end(self, _done: "asyncio.Future[None]") -> None:
        self._n_open -= 1

    def _commit(self) -> None:
        """Hand what waits to the thread, which writes group after group."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        group, self._waiting = self._waiting, []
        loop = asyncio.get_running_loop()
        written = loop.run_in_executor(self._thread, self._write_group, group)
        written.add_done_callback(partial(_tell, group))

    def _write_group(self, group: Sequence[_Submission]) -> list[Exception | None]:
        """Write a group at once; return the fault of each submission, or None."""
        try:
            self.store.keep_replies([reply for one in group for reply in one.replies])
            self.store.add([r for one in group for r in one.records], first_stays=True)
        except Exception as error:  # noqa: BLE001 - it reaches whoever waits
            if len(group) == 1 or _is_of_the_store(error):
                return [error] * len(group)
            # One of them is at fault: find out which.
            return [fault for one in group for fault in self._write_group([one])]
        return [None] * len(group)


def _tell(group: Sequence[_Submission], written: "asyncio.Future[list[Exception | None]]") -> None:
    for submission, fault in zip(group, written.result(), strict=True):
        if submission.done.done():
            continue
        if fault is None:
            submission.done.set_result(None)
        else:
            submission.done.set_exception(fault)
            submission.done.exception()  # whoever waited may have been cancelled: no complaint


def _is_of_the_store(error: Exception) -> bool:
    """Say whether every record would meet it: the store is away or cannot be written."""
    return isinstance(error, OSError) or isinstance(error.__cause__, OPERATING)
