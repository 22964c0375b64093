"""Run independent tasks in this process, a bounded number at a time, or in several."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack
from itertools import chain, islice
from typing import Any, TypeVar

from hearteval.errors import EngineError

T = TypeVar("T")
R = TypeVar("R")
Task = Callable[[], Awaitable[None]]
AHEAD = 2
"""Tasks of each worker that are handed out before the first of their results is taken."""
WATCH_SECONDS = 5.0
"""Between looks at how far workers are that are held."""


async def run_tasks(tasks: Iterable[Task], *, n_at_once: int) -> None:
    """Run every task; after a fault no new one begins, and those under way end in peace.

    What is under way may be a call that is paid for, so it is not cut off: only cancelling the
    whole, as Ctrl-C does, cancels them. Tasks are taken from the iterable as places become free, so
    it may be long.

    Args:
        tasks: What to run, each once.
        n_at_once: How many at the most.

    Raises:
        ExceptionGroup: The faults, the first one first.
    """
    waiting = iter(tasks)
    faults: list[Exception] = []

    async def work() -> None:
        for task in waiting:
            try:
                await task()
            except Exception as fault:  # noqa: BLE001 - raised below, with the others
                faults.append(fault)
            if faults:
                return

    async with asyncio.TaskGroup() as group:
        for _ in range(n_at_once):
            group.create_task(work())
    if faults:
        raise ExceptionGroup("tasks failed", faults)


class LocalMap:
    """So many workers on this machine, begun when they are needed; one is this process.

    With none the tasks are this process's too, but what would be held is done elsewhere.
    """

    def __init__(self, n_workers: int) -> None:
        self._n_workers = n_workers
        self._opened = ExitStack()
        self._pool: Executor | None = None

    def __call__(self, work: Callable[[T], R], tasks: Iterable[T], /) -> Iterator[R]:
        """Yield what the work makes of each task, in their order."""
        if self._n_workers <= 1:
            return map(work, tasks)

        def prepare() -> Callable[[T], Callable[[], R]]:
            pool = self._open()
            return lambda task: pool.submit(work, task).result

        return map_ahead(prepare, work, tasks, n_ahead=AHEAD * self._n_workers)

    def hold(self, work: Callable[..., None], *arguments: Any) -> Generator[None]:
        """Have every worker do the same until all have ended; yield now and then meanwhile.

        With none it ends when it is closed.

        Raises:
            EngineError: A worker was killed.
        """
        while not self._n_workers:
            time.sleep(WATCH_SECONDS)
            yield
        pool = self._open()
        begun = [pool.submit(work, *arguments) for _ in range(self._n_workers)]
        left: Collection[Future[None]] = begun
        while left:
            left = wait(left, timeout=WATCH_SECONDS).not_done
            yield
        try:
            for one in begun:
                one.result()
        except BrokenExecutor:
            raise EngineError("a worker of this machine was killed; run again") from None

    def _open(self) -> Executor:
        if self._pool is None:
            self._pool = self._opened.enter_context(_processes(self._n_workers))
        return self._pool

    def close(self) -> None:
        """End the workers."""
        self._opened.close()


def _processes(n_workers: int) -> Executor:
    import multiprocessing  # noqa: PLC0415 - most verbs need neither
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

    context = multiprocessing.get_context("spawn")  # a fork would share the locks of threads
    return ProcessPoolExecutor(n_workers, mp_context=context)


def map_ahead(
    prepare: Callable[[], Callable[[T], Callable[[], Any]]],
    work: Callable[[T], R],
    tasks: Iterable[T],
    *,
    n_ahead: int,
) -> Iterator[R]:
    """Yield results in the order of tasks, a bounded number of which are under way or wait.

    A single task is worked on here: no worker is worth beginning for it.

    Args:
        prepare: Called once there are two; returns what begins a task, and that what awaits it.
        work: What is done for each.
        tasks: May be long, and large: they are taken as results are.
        n_ahead: How many at the most.
    """
    left = iter(tasks)
    first = [*islice(left, 2)]
    if len(first) < 2:
        yield from map(work, first)
        return
    begin, waiting = prepare(), deque[Callable[[], R]]()
    for task in chain(first, left):
        if len(waiting) >= n_ahead:
            yield waiting.popleft()()
        waiting.append(begin(task))
    while waiting:
        yield waiting.popleft()()
