"""How much a process claims at once: what it can send in a few seconds, and less at the end."""

import asyncio
from collections.abc import Sequence

import pytest
from virtual_clock import run_virtually

from hearteval.engine.local import run_tasks
from hearteval.errors import StoreError
from hearteval.models.asking import MAX_CLAIM, WORKERS_PER_CALL, Page, _Mine, find_wanted

N_QUESTIONS, N_CALLS = 1200, 16


class SharedClaims:
    """The claims of one of several processes."""

    def __init__(self, taken: set[str]) -> None:
        self.taken, self.sizes = taken, list[int]()

    def look(self) -> None: ...

    async def claim(self, keys: Sequence[str]) -> frozenset[str]:
        own = frozenset(keys) - self.taken
        self.taken |= own
        self.sizes.append(len(own))
        return own

    def finish(self, key: str) -> None: ...

    def release(self) -> None: ...

    async def wait_until_free(self, keys: object) -> None: ...


def page(targets: Sequence[str]) -> Page[str]:
    wanted = find_wanted(targets, (), {}, owner_of=str, case_of=str)
    return Page(targets, wanted, lambda _target: pytest.fail("nobody is asked"))


def ignore(_target: str) -> None: ...


def share_out(n_processes: int, seconds: float) -> tuple[list[int], float]:
    """Let so many processes answer the questions; return how many each did, and the time taken."""
    taken: set[str] = set()
    n_done = [0] * n_processes

    async def process(number: int) -> None:
        await asyncio.sleep(number * 0.5)  # they do not start in one moment
        places = asyncio.Semaphore(N_CALLS)
        targets = [f"{n:064x}" for n in range(N_QUESTIONS)]
        clock = asyncio.get_running_loop().time
        mine = _Mine([page(targets)], SharedClaims(taken), ignore, clock)

        async def ask() -> None:
            if await mine.take() is None:
                return
            async with places:
                await asyncio.sleep(seconds)
            n_done[number] += 1

        await run_tasks([ask] * N_QUESTIONS, n_at_once=WORKERS_PER_CALL * N_CALLS)

    async def main() -> float:
        await asyncio.gather(*map(process, range(n_processes)))
        return asyncio.get_running_loop().time()

    took = run_virtually(main())
    assert sum(n_done) == N_QUESTIONS
    return n_done, took


@pytest.mark.parametrize("seconds", [1.0, 2.0])
def test_four_processes_share_evenly_and_are_three_times_as_fast(seconds: float) -> None:
    shares, took = share_out(4, seconds)

    assert all(abs(share / (N_QUESTIONS / 4) - 1) <= 0.25 for share in shares)
    assert share_out(1, seconds)[1] >= 3 * took


async def take_all(targets: Sequence[str], claims: SharedClaims) -> list[str]:
    mine = _Mine([page(targets)], claims, ignore, lambda: 0.0)
    return [target async for _, target in mine._claimed]


def test_fast_process_claims_as_much_at_once_as_may_be() -> None:
    claims = SharedClaims(set())
    targets = [str(n) for n in range(100_000)]

    assert len(asyncio.run(take_all(targets, claims))) == 100_000
    assert max(claims.sizes) == MAX_CLAIM
    assert len(claims.sizes) < 200


def test_what_others_have_claimed_is_passed_over_in_large_steps() -> None:
    targets = [str(n) for n in range(100_000)]
    claims = SharedClaims(set(targets[:90_000]))

    assert len(asyncio.run(take_all(targets, claims))) == 10_000
    assert len(claims.sizes) < 200


def test_after_a_claim_that_failed_nothing_more_is_claimed() -> None:
    class AwayClaims(SharedClaims):
        async def claim(self, keys: Sequence[str]) -> frozenset[str]:
            self.sizes.append(len(keys))
            raise StoreError("the store is away")

    claims = AwayClaims(set())

    async def main() -> None:
        mine = _Mine([page(["1", "2"])], claims, ignore)

        async def ask() -> None:
            await mine.take()

        await run_tasks([ask] * 2, n_at_once=2)

    with pytest.raises(ExceptionGroup) as faults:
        asyncio.run(main())
    assert len(faults.value.exceptions) == len(claims.sizes) == 1
