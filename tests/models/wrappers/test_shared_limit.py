"""One limit for several processes: calls begin within what the store has granted, and no more."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps

import pytest

from hearteval.errors import BudgetError, StoppedError
from hearteval.models.wrappers import budget
from hearteval.models.wrappers.budget import SpendingLimit

CEILING, COST = 0.5, 0.125


@dataclass
class Bank:
    """What a store does for all processes, committed when it is told to."""

    limit_usd: float | None = 2.0
    booked_usd: float = 0.0
    in_flight_usd: float = 0.0
    rows: dict[int, float] = field(default_factory=dict)
    n_commits: int = 0

    def commit(self, purse: SpendingLimit, *, booking: float = 0.0) -> None:
        asked = purse.ask(booking)
        if asked is None:
            return
        self.n_commits += 1
        held, least, wanted, *_ = asked
        self.booked_usd += booking
        others = sum(usd for key, usd in self.rows.items() if key != id(purse))
        room = 1e9 if self.limit_usd is None else self.limit_usd
        room -= self.booked_usd + others + self.in_flight_usd
        granted = max(held, min(wanted, room)) if room >= least else held
        self.rows[id(purse)] = granted
        purse.grant(granted, booked_usd=self.booked_usd, in_flight_usd=self.in_flight_usd)

    def open(self) -> SpendingLimit:
        """Make the purse of one process, for which it commits whenever that is asked for."""
        purse = SpendingLimit(limit_usd=self.limit_usd, spent_usd=self.booked_usd)

        def commit_soon(*, is_urgent: bool) -> None:
            asyncio.get_running_loop().call_soon(self.commit, purse)

        purse.share(commit_soon, remedy="heart store settle x.toml DOLLARS")
        return purse


def on_a_loop(work: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    """Make a test of a coroutine that has ten seconds."""

    @wraps(work)
    def test() -> None:
        asyncio.run(asyncio.wait_for(work(), 10))

    return test


async def turn() -> None:
    """Let everything happen that can."""
    for _ in range(20):
        await asyncio.sleep(0)


@on_a_loop
async def test_two_processes_together_set_aside_no_more_than_the_limit() -> None:
    bank = Bank()
    one, other = bank.open(), bank.open()
    calls = [asyncio.ensure_future(p.reserve(CEILING)) for p in (one, other) for _ in range(4)]
    await turn()

    assert sum(call.done() for call in calls) == 4
    assert sum(bank.rows.values()) <= 2.0
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


@on_a_loop
async def test_what_a_call_cost_counts_before_it_is_booked() -> None:
    bank = Bank(limit_usd=2 * CEILING)
    purse = bank.open()
    await asyncio.gather(purse.reserve(CEILING), purse.reserve(CEILING))
    purse.settle(CEILING, COST)
    await purse.reserve(CEILING - COST)
    waits = asyncio.ensure_future(purse.reserve(COST))
    await turn()

    assert not waits.done()
    waits.cancel()


@on_a_loop
async def test_booked_reply_makes_room_for_others() -> None:
    bank = Bank(limit_usd=1.0)
    one, other = bank.open(), bank.open()
    await one.reserve(CEILING)
    await one.reserve(CEILING)
    waits = asyncio.ensure_future(other.reserve(CEILING))
    await turn()
    assert not waits.done()
    one.settle(CEILING, COST)
    one.settle(CEILING, COST)
    bank.commit(one, booking=2 * COST)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "POLL_SECONDS", 0.0)
        await waits
    assert bank.booked_usd + sum(bank.rows.values()) <= 1.0


@on_a_loop
async def test_process_with_nothing_under_way_holds_nothing() -> None:
    bank = Bank()
    purse = bank.open()
    for _ in range(3):
        await purse.reserve(CEILING)
    for _ in range(3):
        purse.settle(CEILING, 0.0)
    await turn()

    assert list(bank.rows.values()) == [0.0]


@on_a_loop
async def test_call_that_the_limit_never_allows_is_refused_with_what_is_in_flight() -> None:
    bank = Bank(limit_usd=1.0, in_flight_usd=0.75)
    bank.booked_usd = 0.125

    with pytest.raises(BudgetError) as caught:
        await bank.open().reserve(CEILING)

    assert "0.1250 are spent and at most 0.7500 were in flight" in str(caught.value)
    assert "heart store settle x.toml DOLLARS" in str(caught.value)


@on_a_loop
async def test_limit_is_not_passed_for_good_while_others_may_give_back() -> None:
    bank = Bank(limit_usd=1.0)
    one, other = bank.open(), bank.open()
    await one.reserve(0.75)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "POLL_SECONDS", 0.001)
        waits = asyncio.ensure_future(other.reserve(CEILING))
        await turn()
        one.settle(0.75, 0.625)
        bank.commit(one, booking=0.625)

        with pytest.raises(BudgetError):
            await waits


@on_a_loop
async def test_money_of_others_is_asked_for_while_own_calls_are_under_way() -> None:
    bank = Bank(limit_usd=2 * CEILING)
    one, other = bank.open(), bank.open()
    await one.reserve(CEILING)
    await other.reserve(CEILING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "POLL_SECONDS", 0.001)
        waits = asyncio.ensure_future(other.reserve(CEILING))
        await turn()
        one.settle(CEILING, 0.0)

        await waits


@on_a_loop
async def test_calls_that_cost_nothing_wait_for_no_store_and_are_told_to_it() -> None:
    bank = Bank()
    purse = bank.open()
    assert purse.ask(0.0) is None
    for _ in range(3):
        await purse.reserve(0.0)
    assert bank.n_commits == 0
    await turn()

    assert (bank.n_commits, bank.rows) == (1, {id(purse): 0.0})


@on_a_loop
async def test_calls_that_wait_begin_no_more_once_it_is_closed() -> None:
    bank = Bank(limit_usd=CEILING)
    purse = bank.open()
    await purse.reserve(CEILING)
    waits = asyncio.ensure_future(purse.reserve(CEILING))
    await turn()
    purse.close()

    with pytest.raises(StoppedError):
        await waits


@on_a_loop
async def test_fault_of_the_store_reaches_the_calls_that_wait() -> None:
    bank = Bank(limit_usd=CEILING)
    purse = bank.open()
    await purse.reserve(CEILING)
    waits = asyncio.ensure_future(purse.reserve(CEILING))
    await turn()
    purse.fail(OSError("disk"))

    with pytest.raises(OSError, match="disk"):
        await waits


@on_a_loop
async def test_of_batch_calls_it_says_that_they_come_later() -> None:
    bank = Bank()
    purse = bank.open()
    await purse.reserve(CEILING, is_later=True)
    await purse.reserve(COST)
    asked = purse.ask(0.0)

    assert asked is not None
    assert asked[3] == CEILING


@on_a_loop
async def test_no_call_of_a_batch_job_is_left_waiting_by_a_rounding() -> None:
    """Nothing asks for its money again until a job has ended: it would be in one of its own."""
    for n in range(3, 40):
        purse = SpendingLimit(limit_usd=None, spent_usd=0.0)
        purse.share(lambda *, is_urgent: None, remedy="")
        calls = []
        for wave in ([0.0123], [0.0047 + 0.0001 * k for k in range(n)]):
            calls += [asyncio.ensure_future(purse.reserve(usd, is_later=True)) for usd in wave]
            await turn()
            asked = purse.ask(0.0)
            assert asked is not None
            purse.grant(asked[2], booked_usd=0.0, in_flight_usd=0.0)
            await turn()

        assert all(call.done() for call in calls), n


@on_a_loop
async def test_steady_calls_find_their_money_set_aside_ahead() -> None:
    bank = Bank(limit_usd=None)
    purse = bank.open()
    await purse.reserve(CEILING)
    for _ in range(20):
        await purse.reserve(CEILING)
        purse.settle(CEILING, COST)
        bank.commit(purse, booking=COST)

    assert bank.n_commits <= 24


@on_a_loop
async def test_calls_that_wait_count_as_under_way_where_a_killed_process_leaves_them() -> None:
    purse = Bank().open()
    calls = [asyncio.ensure_future(purse.reserve(CEILING)) for _ in range(3)]
    await asyncio.sleep(0)

    asked = purse.ask(0.0)

    assert asked is not None
    assert asked[-1] == len(calls)
    await asyncio.gather(*calls)
