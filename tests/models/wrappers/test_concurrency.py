"""How many calls run at once, on a model whose calls end when the test says so."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from hearteval.errors import ModelCallError
from hearteval.models.base import Message, Reply, Sampling
from hearteval.models.wrappers.concurrency import AdaptiveLimit


class GatedModel:
    """Holds every call until it is told how the call ends."""

    name = "gated"

    def __init__(self) -> None:
        self.running: dict[str, asyncio.Future[str]] = {}
        self.begun: list[str] = []

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        key = messages[0].content
        self.begun.append(key)
        self.running[key] = asyncio.get_running_loop().create_future()
        try:
            reason = await self.running[key]
        finally:
            del self.running[key]
        if reason:
            raise ModelCallError("no", reason=reason)
        return Reply(text=key)

    async def end(self, *keys: str, reason: str = "") -> None:
        for key in keys:
            self.running[key].set_result(reason)
        await settle()


class Calls:
    """Calls that run at the same time."""

    def __init__(self, limit: AdaptiveLimit) -> None:
        self._limit = limit
        self.tasks: dict[str, asyncio.Task[Reply]] = {}

    async def begin(self, *keys: str) -> None:
        for key in keys:
            messages = [Message(role="user", content=key)]
            self.tasks[key] = asyncio.create_task(self._limit.complete(messages, Sampling()))
        await settle()

    async def cancel(self, *keys: str) -> None:
        for key in keys:
            self.tasks[key].cancel()
        await settle()

    async def finish(self, model: GatedModel) -> None:
        while model.running:
            await model.end(*model.running)
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def run(test: Callable[[Calls, GatedModel, AdaptiveLimit], Awaitable[None]], **bounds: int) -> None:
    async def main() -> None:
        model = GatedModel()
        limit = AdaptiveLimit(model, **bounds)
        calls = Calls(limit)
        await test(calls, model, limit)
        await calls.finish(model)

    asyncio.run(main())


def test_no_more_calls_than_the_bound_run_at_once() -> None:
    async def test(calls: Calls, model: GatedModel, limit: AdaptiveLimit) -> None:
        await calls.begin(*"abcde")
        assert list(model.running) == ["a", "b"]
        await model.end("a")
        assert list(model.running) == ["b", "c"]

    run(test, highest=2, start=2)


def test_calls_are_served_in_the_order_in_which_they_came() -> None:
    async def test(calls: Calls, model: GatedModel, limit: AdaptiveLimit) -> None:
        await calls.begin(*"abcdefgh")
        await calls.finish(model)
        assert "".join(model.begun) == "abcdefgh"

    run(test, highest=1, start=1)


def test_bound_grows_by_one_with_each_success_until_the_first_throttled_call() -> None:
    async def test(calls: Calls, model: GatedModel, limit: AdaptiveLimit) -> None:
        await calls.begin(*"abcd")
        await model.end("a")
        await model.end("b")
        assert limit.bound == 4
        await model.end("c", "d")
        assert limit.bound == 5

    run(test, highest=5, start=2)


@pytest.mark.parametrize("reason", ["rate-limited", "overloaded"])
def test_throttled_call_halves_the_bound(reason: str) -> None:
    async def test(calls: Calls, model: GatedModel, limit: AdaptiveLimit) -> None:
        await calls.begin(*"ab")
        await model.end("a", reason=reason)
        assert limit.bound == 4

    run(test, highest=8, start=8)


def test_calls_on_their_way_at_a_decrease_cause_no_other() -> None:
    async def test(calls: Calls, model: GatedModel, limit: AdaptiveLimit) -> None:
        await calls.begin(*"abcd")
        await model.end(*"abcd", reason="rate-limited")
        assert limit.bound == 4
        await calls.begin("e")
        await model.end("e", reason="rate-limited")
        assert limit.bound == 2

    run(test, highest=8, start=8)


def test_bound_never_falls_below_one() -> None:
    async def test(calls: Calls, model: GatedModel, limit: AdaptiveLimit) -> None:
        for key in "abc":
            await calls.begin(key)
            await model.end(key, reason="rate-limited")
        assert limit.bound == 1

    run(test, highest=4)


def test_bound_comes_back_by_one_for_a_bound_of_successes() -> None:
    async def test(calls: Calls, model: GatedModel, limit: AdaptiveLimit) -> None:
        await calls.begin("a")
        await model.end("a", reason="rate-limited")
        assert limit.bound == 4
        for key in "bcdef":
            await calls.begin(key)
            await model.end(key)
        assert limit.bound == 5

    run(test, highest=8, start=8)


@pytest.mark.parametrize("reason", ["server-error", "timeout", "bad-key"])
def test_other_failures_leave_the_bound(reason: str) -> None:
    async def test(calls: Calls, model: GatedModel, limit: AdaptiveLimit) -> None:
        await calls.begin("a", "b")
        await model.end("a", reason=reason)
        assert limit.bound == 1
        assert list(model.running) == ["b"]

    run(test, highest=1)


def test_cancelled_calls_give_their_places_back() -> None:
    async def test(calls: Calls, model: GatedModel, limit: AdaptiveLimit) -> None:
        await calls.begin(*"abcd")
        await calls.cancel("a", "c")
        assert list(model.running) == ["b"]
        await model.end("b")
        assert list(model.running) == ["d"]

    run(test, highest=1)


def test_call_cancelled_in_the_moment_of_its_turn_passes_its_place_on() -> None:
    async def test(calls: Calls, model: GatedModel, limit: AdaptiveLimit) -> None:
        await calls.begin(*"abc")
        model.running["a"].set_result("")
        await asyncio.sleep(0)  # a has ended and given its place to b, which has not woken yet
        calls.tasks["b"].cancel()
        await settle()
        assert model.begun == ["a", "c"]

    run(test, highest=1)


@pytest.mark.parametrize(("start", "highest"), [(0, 2), (1, 0)])
def test_impossible_bounds_are_a_mistake(start: int, highest: int) -> None:
    with pytest.raises(ValueError, match="expected bounds of at least 1"):
        AdaptiveLimit(GatedModel(), highest=highest, start=start)
