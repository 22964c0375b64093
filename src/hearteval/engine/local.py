"""Run independent tasks in this process, a bounded number at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

Task = Callable[[], Awaitable[None]]


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
