"""Being told to stop: no new call begins, what is under way may end, and what is cut is booked."""

import asyncio
import os
import signal
from collections.abc import Sequence
from functools import partial

import pytest

from hearteval.engine.local import run_tasks
from hearteval.errors import StoppedError, StoreError
from hearteval.models.base import Message, Reply, Sampling, Usage
from hearteval.models.wrappers.budget import Budgeted, SpendingLimit
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.store.sql import SqlStore
from hearteval.study.asking.models import keep_lost_cost
from hearteval.study.asking.stopping import SIGNALS, Stopper, stopping_on_signals
from hearteval.study.session import utc_now

ASKED = (Message(role="user", content="Hello"),)
FOREVER = 3600.0


class Slow:
    """A model whose calls end when they are let."""

    name = "slow"

    def __init__(self) -> None:
        self.n_calls = 0
        self.is_asked = asyncio.Event()
        self.may_end = asyncio.Event()

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        self.n_calls += 1
        self.is_asked.set()
        await self.may_end.wait()
        return Reply(text="Yes.", usage=Usage(input_tokens=5, output_tokens=2))


class Work:
    """Calls of a slow model, two at a time, through the ledger; their replies are written."""

    def __init__(self, *, wait_s: float) -> None:
        self.store = SqlStore.in_memory()
        self.model = Slow()
        self.said: list[str] = []
        self.replies: list[str] = []
        self._writer = GroupedWriter(self.store, wait_seconds=0.001)
        ledger = SpendingLimit(limit_usd=None, spent_usd=0.0)
        self.stopper = Stopper(ledger, self._writer, wait_s=wait_s, say=self.said.append)
        self._asked = Budgeted(
            self.model,
            ledger,
            ceiling=lambda _m, _s: 0.5,
            price=lambda _usage: 0.2,
            book_lost=partial(keep_lost_cost, self._writer, utc_now),
        )

    async def call(self) -> None:
        reply = await self._asked.complete(ASKED, Sampling())
        await keep_lost_cost(self._writer, utc_now, reply.cost or 0.0)
        self.replies.append(reply.text)

    async def run(self) -> str:
        """Work until it is stopped; return what the error says."""
        async with self._writer:
            try:
                with stopping_on_signals(self.stopper):
                    await self.stopper.watch(run_tasks([self.call] * 6, n_at_once=2))
            except StoppedError as error:
                return str(error)
        return ""


def test_calls_under_way_end_and_are_kept_and_no_other_begins() -> None:
    async def stop_between() -> tuple[Work, str]:
        work = Work(wait_s=FOREVER)
        running = asyncio.ensure_future(work.run())
        await work.model.is_asked.wait()
        work.stopper.stop()
        work.model.may_end.set()
        return work, await running

    work, words = asyncio.run(stop_between())

    assert (work.model.n_calls, work.replies) == (2, ["Yes.", "Yes."])
    assert work.store.spent_usd() == pytest.approx(2 * 0.2)
    assert len(work.said) == 1
    assert "waiting up to 3600 s for 2 calls" in work.said[0]
    assert words.startswith("stopped; what was stored is kept, 2 replies under way among it")


def test_calls_that_do_not_end_in_time_are_cut_off_and_booked() -> None:
    async def stop() -> tuple[Work, str]:
        work = Work(wait_s=0.01)
        running = asyncio.ensure_future(work.run())
        await work.model.is_asked.wait()
        work.stopper.stop()
        return work, await running

    work, words = asyncio.run(stop())

    assert work.store.spent_usd() == pytest.approx(2 * 0.5)
    assert "2 calls were cut off, for which $1.0000 are booked as spent" in words


def test_told_twice_it_cuts_off_at_once() -> None:
    async def stop_twice() -> Work:
        work = Work(wait_s=FOREVER)
        running = asyncio.ensure_future(work.run())
        await work.model.is_asked.wait()
        work.stopper.stop()
        work.stopper.stop()
        await running
        return work

    assert asyncio.run(stop_twice()).store.spent_usd() == pytest.approx(2 * 0.5)


@pytest.mark.parametrize("number", SIGNALS, ids=[one.name for one in SIGNALS])
def test_each_signal_stops(number: signal.Signals) -> None:
    async def send() -> str:
        work = Work(wait_s=FOREVER)
        running = asyncio.ensure_future(work.run())
        await work.model.is_asked.wait()
        os.kill(os.getpid(), number)
        while not work.said:
            await asyncio.sleep(0)
        work.model.may_end.set()
        return await running

    before = signal.signal(number, signal.default_int_handler)
    try:
        assert "2 replies under way" in asyncio.run(send())
        assert signal.getsignal(number) is not signal.SIG_DFL
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", SIGNALS, ids=[one.name for one in SIGNALS])
def test_signal_that_comes_in_the_last_moment_of_the_work_stops_too(number: signal.Signals) -> None:
    async def work_to_the_end() -> None:
        os.kill(os.getpid(), number)  # while a large study is read, the loop hears of nothing

    async def send() -> None:
        work = Work(wait_s=FOREVER)
        with stopping_on_signals(work.stopper):
            await work.stopper.watch(work_to_the_end())

    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(StoppedError):
            asyncio.run(send())
    finally:
        signal.signal(number, before)


def test_signal_that_is_ignored_stays_ignored() -> None:
    async def send() -> Work:
        work = Work(wait_s=FOREVER)
        running = asyncio.ensure_future(work.run())
        await work.model.is_asked.wait()
        os.kill(os.getpid(), signal.SIGHUP)
        work.model.may_end.set()
        assert await running == ""
        return work

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert len(asyncio.run(send()).replies) == 6
    finally:
        signal.signal(signal.SIGHUP, before)


def test_fault_of_the_store_is_said_rather_than_the_stop() -> None:
    async def work_that_fails(told: Stopper) -> None:
        told.stop()
        await asyncio.sleep(0)
        raise ExceptionGroup("tasks failed", [StoppedError("stopped"), StoreError("disk is full")])

    async def run() -> None:
        work = Work(wait_s=FOREVER)
        await work.stopper.watch(work_that_fails(work.stopper))

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(run())

    assert [str(error) for error in caught.value.exceptions] == ["disk is full"]
