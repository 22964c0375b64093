"""Tasks run a bounded number at a time, each once, and a fault stops them."""

import asyncio

import pytest

from hearteval.engine.local import Task, run_tasks


def test_every_task_runs_once_and_never_too_many_at_once() -> None:
    done: list[int] = []
    under_way: list[int] = []
    most: list[int] = []

    def task(number: int) -> Task:
        async def run() -> None:
            under_way.append(number)
            most.append(len(under_way))
            await asyncio.sleep(0)
            under_way.remove(number)
            done.append(number)

        return run

    asyncio.run(run_tasks((task(i) for i in range(50)), n_at_once=7))

    assert sorted(done) == list(range(50))
    assert max(most) == 7


def test_first_fault_stops_the_others() -> None:
    done: list[int] = []

    def task(number: int) -> Task:
        async def run() -> None:
            await asyncio.sleep(0)
            if number == 3:
                raise ValueError("three")
            done.append(number)

        return run

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(run_tasks((task(i) for i in range(1000)), n_at_once=2))

    assert [str(error) for error in caught.value.exceptions] == ["three"]
    assert len(done) < 10


def test_what_is_under_way_at_a_fault_ends_in_peace() -> None:
    done: list[str] = []
    gate = asyncio.Event()

    async def slow() -> None:
        await gate.wait()
        done.append("slow")

    async def broken() -> None:
        gate.set()
        raise ValueError("broken")

    async def never() -> None:
        done.append("never")

    async def run() -> None:
        await run_tasks(iter([slow, broken, never]), n_at_once=2)

    with pytest.raises(ExceptionGroup):
        asyncio.run(run())

    assert done == ["slow"]
