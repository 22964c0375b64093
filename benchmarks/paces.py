"""Calls a vote, and time, at endpoints that refuse calls in ways of their own, on a counted clock.

    PYTHONPATH=src:tests python benchmarks/paces.py [--seeds 9]

One model, up to 32 in flight, half a second a call unless said, a fifth more or less by chance; for
the first seed all take the same time, so that calls go in step. Nothing is waited for and no figure
is a timing of this machine: a commit gives the same table again. Each cell is the middle of the
seeds, with the worst of them in brackets. "Of the possible" is the time that the limit, or the
calls in flight, need for so many votes (an outage added) over the time taken; it passes 100 % where
a limit allows a burst at first.
"""

import argparse
import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np
from limited_endpoints import Bucket, Chance, LimitedModel, Outage, Rule, Window
from virtual_clock import run_virtually

from hearteval.models.base import Message, Sampling
from hearteval.models.wrappers.gate import Gate, Gated
from hearteval.models.wrappers.pace import CallLimits

HIGHEST, N_WORKERS = 32, 128
WAITS: dict[str, Callable[[float], float | None]] = {
    "exact Retry-After": lambda wait: wait,
    "whole seconds": lambda wait: float(int(wait) + 1),
    "429 only": lambda _: None,
    'always "20"': lambda _: 20.0,
    'always "2"': lambda _: 2.0,
    'always "1"': lambda _: 1.0,
}


@dataclass(frozen=True)
class Case:
    """An endpoint, and what is asked of it."""

    name: str
    rule: Callable[[int], Rule]
    """Made with a seed."""
    per_second: float
    """The most that it allows in the long run."""
    waits: str = "exact Retry-After"
    seconds: float = 0.5
    """That a call takes."""
    votes: int = 600
    dead: float = 0.0
    """Seconds in which it answers nothing."""
    at_once: int | None = None


def main_cases() -> Iterator[Case]:
    """Give those of chance, outages and a window that slides."""
    for share in (0.02, 0.1):
        for seconds in (0.5, 0.05, 2.0):
            yield Case(
                f"refuses {share:.0%} by chance",
                lambda seed, share=share: Chance(share, seed=seed),  # type: ignore[misc]
                HIGHEST / seconds,
                waits='always "1"',
                seconds=seconds,
                votes=3000,
            )
    for seconds, votes, waits in (
        (0.5, 3000, 'always "2"'),
        (0.05, 20_000, 'always "2"'),
        (2.0, 1000, 'always "2"'),
        (0.5, 3000, "429 only"),
    ):
        yield Case(
            "out for 60 s", lambda _: Outage(), HIGHEST / seconds, waits, seconds, votes, dead=60
        )
    for waits in ("exact Retry-After", "429 only"):
        for seconds in (0.5, 0.05, 2.0):
            yield Case(
                "20 in any 20 s", lambda _: Window(20, 20, kind="sliding"), 1, waits, seconds
            )
    for waits in ("whole seconds", 'always "20"', 'always "1"'):
        yield Case("20 in any 20 s", lambda _: Window(20, 20, kind="sliding"), 1, waits)


def other_limits() -> Iterator[Case]:
    """Give those of fixed and long windows, buckets and calls at once."""
    for waits in ("exact Retry-After", "429 only", 'always "2"'):
        yield Case("60 in each 60 s", lambda _: Window(60, 60, kind="fixed"), 1, waits)
    for waits in ("exact Retry-After", "429 only"):
        rate = 500 / 60
        yield Case(
            "500 in any 60 s", lambda _: Window(500, 60, kind="sliding"), rate, waits, votes=2000
        )
    for waits in ("exact Retry-After", "429 only"):
        yield Case("bucket of 30, 3/s", lambda _: Bucket(30, 3.0), 3, waits)
    for seconds in (2.0, 0.5, 0.05):
        yield Case(
            "8 at once", lambda _: Bucket(10**6, 1e6), 8 / seconds, "429 only", seconds, at_once=8
        )
    yield Case("no limit", lambda _: Bucket(10**6, 1e6), HIGHEST / 0.5, votes=3000)


async def ask(case: Case, seed: int) -> tuple[int, float]:
    """Return how many calls the votes took, and the seconds."""
    rng = np.random.default_rng(seed)
    model = LimitedModel(
        case.rule(seed),
        seconds=case.seconds,
        tells_wait=WAITS[case.waits],
        at_once=case.at_once,
        rng=rng if seed else None,
    )
    gate = Gate("host", say=lambda _words: None)
    line = gate.open_line(model.name, CallLimits(), highest=HIGHEST)
    gated = Gated(model, gate, line, rng=rng, count_tokens=lambda *_: 100.0)
    left = iter(range(case.votes))

    async def work() -> None:
        for _ in left:
            await gated.complete([Message(role="user", content="Hello.")], Sampling(max_tokens=50))

    await asyncio.gather(*[work() for _ in range(N_WORKERS)])
    return model.counts.total(), asyncio.get_running_loop().time()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=9)
    n_seeds = parser.parse_args().seeds
    print("| endpoint | it says | s a call | votes | calls a vote | seconds | of the possible |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case in (*main_cases(), *other_limits()):
        runs = [run_virtually(ask(case, seed)) for seed in range(n_seeds)]
        least = case.dead + case.votes / case.per_second
        calls = spread([n / case.votes for n, _ in runs], ".3f")
        took = spread([seconds for _, seconds in runs], ".0f")
        share = f"{least / median(seconds for _, seconds in runs):.0%}"
        print(
            f"| {case.name} | {case.waits} | {case.seconds:g} | {case.votes:,} | {calls} | {took} |"
            f" {share} |",
            flush=True,
        )


def spread(values: list[float], form: str) -> str:
    """Write the middle, and the worst where it reads differently."""
    middle, worst = f"{median(values):{form}}", f"{max(values):{form}}"
    return middle if middle == worst else f"{middle} ({worst})"


if __name__ == "__main__":
    main()
