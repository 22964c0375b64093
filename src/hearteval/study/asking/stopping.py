"""Stopping: Ctrl-C, TERM and HUP let calls under way end, and what comes is kept.

The first signal lets no new call begin; what is under way has so many seconds. What is cut off then
is booked at what it may have cost. A second signal cuts off at once.
"""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from hearteval.errors import StoppedError
from hearteval.models.wrappers.budget import SpendingLimit
from hearteval.store.sharing.grouped import GroupedWriter

T = TypeVar("T")
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
POLL_SECONDS = 0.02
"""Short beside a call: whoever stops waits for what is under way, and not for us."""
QUIET_POLLS = 5
"""Between the end of a call and the record of its answer nothing waits for so long."""


class Stopper:
    """Ends work that asks models when it is told to `stop`.

    Args:
        ledger: Knows what is under way, and lets no new call begin once it is closed.
        writer: Keeps what comes.
        wait_s: How long what is under way may take, in seconds.
        say: Is told that it stops.
    """

    def __init__(
        self,
        ledger: SpendingLimit,
        writer: GroupedWriter,
        *,
        wait_s: float,
        say: Callable[[str], None],
    ) -> None:
        self._ledger = ledger
        self._writer = writer
        self._wait_s = wait_s
        self._say = say
        self._n_told = 0
        self._n_under_way = 0
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Begin to stop; told again, cut off at once."""
        self._n_told += 1
        if self._n_told > 1:
            return
        self._n_under_way = self._ledger.n_direct
        self._ledger.close()
        if self._n_under_way and self._wait_s:
            self._say(
                f"stopping: waiting up to {self._wait_s:g} s for {self._n_under_way:,} calls under"
                " way; the same again cuts them off"
            )
        self._stopped.set()

    async def watch(self, work: Awaitable[T]) -> T:
        """Return what the work returns.

        Raises:
            StoppedError: It was told to stop; what came is kept.
        """
        task, told = asyncio.ensure_future(work), asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait((task, told), return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(0)  # a signal that came while nothing else ran is heard of now
            if not self._stopped.is_set():
                return await task
            await self._let_end(task)
        finally:
            told.cancel()
            task.cancel()
            with suppress(asyncio.CancelledError, StoppedError):
                await asyncio.wait((task,))
        _raise_what_is_worse(task)
        raise StoppedError(self._words())

    async def _let_end(self, task: "asyncio.Future[T]") -> None:
        """Wait until the work has ended, nothing is under way any more, or it has been too long."""
        loop = asyncio.get_running_loop()
        deadline, n_quiet = loop.time() + self._wait_s, 0
        while n_quiet < QUIET_POLLS and self._n_told == 1 and loop.time() < deadline:
            await asyncio.wait((task,), timeout=POLL_SECONDS)
            if task.done():
                return
            is_quiet = self._ledger.n_direct == 0 and self._writer.is_idle
            n_quiet = n_quiet + 1 if is_quiet else 0

    def _words(self) -> str:
        ledger = self._ledger
        n_came = self._n_under_way - ledger.n_cut
        words = "stopped; what was stored is kept"
        if n_came > 0:
            words += f", {n_came:,} replies under way among it"
        if ledger.n_cut:
            words += f"; {ledger.n_cut:,} calls were cut off"
            if ledger.cut_usd:
                words += f", for which ${ledger.cut_usd:.4f} are booked as spent"
        return f"{words}. Run the same command again."


@contextmanager
def stopping_on_signals(stopper: Stopper) -> Iterator[None]:
    """Tell a stopper of every signal to end, in the main thread; ignored ones stay ignored."""
    loop = asyncio.get_running_loop()
    before = {}
    if threading.current_thread() is threading.main_thread():
        with suppress(NotImplementedError):  # this system has none for an event loop
            for number in SIGNALS:
                handler = signal.getsignal(number)
                if handler is not signal.SIG_IGN:
                    loop.add_signal_handler(number, stopper.stop)
                    before[number] = handler
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _raise_what_is_worse(task: "asyncio.Future[T]") -> None:
    """Raise a fault of the work that is more than that it was stopped."""
    error = None if task.cancelled() else task.exception()
    if isinstance(error, BaseExceptionGroup):
        error = error.subgroup(lambda one: not isinstance(one, StoppedError | BaseExceptionGroup))
    if error is not None and not isinstance(error, StoppedError):
        raise error
