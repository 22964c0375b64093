"""Commits of many tasks, grouped: a reply counts as kept when this says so, after its commit.

What models answered is written here, and each answer once: of two the first stays, whoever wrote
it. Which process asks what is claimed in the `panel`.

Replies arrive one by one and a commit costs milliseconds, so what arrives within 50 ms is committed
together, in a thread of its own: calls go on meanwhile. Whoever adds waits until it is durable. A
group is one transaction, in which the money of calls under way is set aside anew as well; while one
is written the next one gathers.
"""

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, Protocol

from sqlalchemy.exc import InterfaceError, OperationalError

from hearteval.errors import StoreError
from hearteval.store.base import Store
from hearteval.store.records import Balance, Record, SetAside, StoredReply
from hearteval.store.sharing.panel import Panel

logger = logging.getLogger(__name__)
WAIT_SECONDS = 0.05
"""For which a group gathers: nobody sees it beside a call of seconds."""
MAX_GROUP = 500
OPERATING = (OperationalError, InterfaceError)
"""What a `StoreError` comes from when it is no record's fault; waiting it out takes minutes."""


class _Submission(NamedTuple):
    records: Sequence[Record]
    replies: Sequence[StoredReply]
    done: "asyncio.Future[None]"


class Purse(Protocol):
    """The money of this process's calls; a `SpendingLimit` of the models, by structure."""

    @property
    def limit_usd(self) -> float | None:
        """What all processes together may spend; None is no limit."""
        ...

    def ask(self, booking_usd: float) -> tuple[float, float, float, float, int] | None:
        """Return what a `SetAside` says: held, least, wanted, later, calls; None if none has begun.

        So many dollars are booked in the same transaction.
        """
        ...

    def grant(self, granted_usd: float, *, booked_usd: float, in_flight_usd: float) -> None:
        """Take note of what came of it."""

    def fail(self, error: Exception) -> None:
        """Take note that the store could not be asked."""


class _Written(NamedTuple):
    faults: list[Exception | None]
    """Of each submission."""
    balance: Balance | Exception | None
    """None where nothing was to be set aside."""


class GroupedWriter:
    """Adds to a store, which may be read meanwhile, from one event loop.

    The first of a group waits `wait_seconds` for others.

    Attributes:
        store: What is written to.
        panel: This process's claims on what is to be asked, kept until the end.
        purse: Whose money is set aside with each group; None where nothing costs any.
    """

    def __init__(self, store: Store, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self.store = store
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="heart-store")
        self.panel = Panel(store, thread=self._thread)
        self.purse: Purse | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._wait_seconds = wait_seconds
        self._waiting: list[_Submission] = []
        self._n_open = 0
        self._timer: asyncio.Handle | None = None
        self._has_unbooked = False
        self._is_urgent = self._is_writing = self._is_due = self._is_closed = False

    async def __aenter__(self) -> "GroupedWriter":
        """Begin to write, and keep claims alive."""
        self._renewing = asyncio.get_running_loop().create_task(self.panel.keep_renewing())
        return self

    async def __aexit__(self, *_exception: object) -> None:
        """Commit what still waits, also on the way out of a fault or Ctrl-C."""
        self._is_closed = True
        if self._waiting:
            group, self._waiting = self._waiting, []
            self._hand_over(group, None)
        # Not awaited, so that nothing cancels it: what was paid for is stored, and no claim comes
        # after all were released.
        self._thread.shutdown(wait=True)
        if self._renewing is not None:
            self._renewing.cancel()
        if self._has_unbooked:
            logger.info("what calls cost that could not be kept stays set aside")
            return
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
        else:
            self.commit_soon()
        # A task that is cancelled while it waits has had its answer paid for: it is still stored.
        await asyncio.shield(submission.done)

    def commit_soon(self, *, is_urgent: bool = False) -> None:
        """Have a group committed when `wait_seconds` are over; an urgent one right after this task.

        What an ended call has to be kept is submitted by then, in the same step of its task.
        """
        loop = asyncio.get_running_loop()
        if is_urgent and not self._is_urgent:
            if self._timer is not None:
                self._timer.cancel()
            self._timer, self._is_urgent = loop.call_soon(self._commit), True
        elif self._timer is None:
            self._timer = loop.call_later(self._wait_seconds, self._commit)

    def _end(self, _done: "asyncio.Future[None]") -> None:
        self._n_open -= 1

    def _commit(self) -> None:
        """Hand what waits to the thread; while it writes, the next group gathers."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._is_urgent = None, False
        if self._is_closed and not self._waiting:
            return
        if self._is_writing:
            self._is_due = True
            return
        group, self._waiting = self._waiting[:MAX_GROUP], self._waiting[MAX_GROUP:]
        self._is_writing, self._is_due = True, bool(self._waiting)
        self._hand_over(group, self._wish(group))

    def _wish(self, group: Sequence[_Submission]) -> SetAside | None:
        """Ask the purse what is to be set aside when the costs of a group are booked."""
        booking = sum(reply.cost or 0.0 for one in group for reply in one.replies)
        asked = None if self.purse is None else self.purse.ask(booking)
        if self.purse is None or asked is None:
            return None
        return SetAside(self.panel.owner, self.panel.until(), self.purse.limit_usd, *asked)

    def _hand_over(self, group: Sequence[_Submission], wish: SetAside | None) -> None:
        loop = asyncio.get_running_loop()
        written = loop.run_in_executor(self._thread, self._write_group, group, wish)
        written.add_done_callback(partial(self._tell, group))

    def _write_group(self, group: Sequence[_Submission], wish: SetAside | None) -> _Written:
        """Write a group at once; where it has a fault, each of it alone."""
        replies = [reply for one in group for reply in one.replies]
        records = [record for one in group for record in one.records]
        try:
            balance = self.store.keep_group(records, replies, wish, is_gone=self.panel.is_gone)
            return _Written([None] * len(group), balance)
        except Exception as error:  # noqa: BLE001 - it reaches whoever waits
            is_final = len(group) <= 1 or _is_of_the_store(error)
            self._has_unbooked |= is_final and any(reply.cost for reply in replies)
            if not group or _is_of_the_store(error):
                return _Written([error] * len(group), error)
            faults: list[Exception | None] = [error]
        if len(group) > 1:
            # One of them is at fault: find out which.
            faults = [fault for one in group for fault in self._write_group([one], None).faults]
        return _Written(faults, None if wish is None else self._write_group((), wish).balance)

    def _tell(self, group: Sequence[_Submission], written: "asyncio.Future[_Written]") -> None:
        self._is_writing = False
        found = written.result()
        for submission, fault in zip(group, found.faults, strict=True):
            if submission.done.done():
                continue
            if fault is None:
                submission.done.set_result(None)
            else:
                submission.done.set_exception(fault)
                submission.done.exception()  # whoever waited may have been cancelled: no complaint
        self._tell_purse(found.balance)
        if self._is_due:
            self._commit()

    def _tell_purse(self, found: Balance | Exception | None) -> None:
        if self.purse is None or found is None:
            return
        if isinstance(found, Exception):
            self.purse.fail(found)
            return
        self.purse.grant(
            found.granted_usd, booked_usd=found.booked_usd, in_flight_usd=found.in_flight_usd
        )
        if found.n_others:
            self.panel.when_shared()


def _is_of_the_store(error: Exception) -> bool:
    """Say whether every record would meet it: the store is away or cannot be written."""
    return isinstance(error, OSError) or isinstance(error.__cause__, OPERATING)
