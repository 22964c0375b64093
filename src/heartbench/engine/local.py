"""Run independent tasks in this process, a bounded number at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

Task = Callable[[], Awaitable[None]]


async def run_tasks(tasks: Iterable[Task], *, n_at_once: int) -> None:
    """Run every task; the first that fails stops the others, and its error is raised.

    Tasks are taken from the iterable as places become free, so it may be long.

    Args:
        tasks: What to run, each once.
        n_at_once: How many at the most.
    """
    waiting = iter(tasks)

    async def work() -> None:
        for task in waiting:
            await task()

    async with asyncio.TaskGroup() as group:
        for _ in range(n_at_once):
            group.create_task(work())
