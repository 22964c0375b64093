"""Endpoints that allow so many calls and no more, on whatever clock the event loop has."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

import numpy as np

from hearteval.models.base import HEED, Message, Reply, Sampling, Usage
from hearteval.models.failures import CallFailureError, Reason

REFUSED_AFTER = 0.02
"""Seconds until a refusal comes; an answer takes longer."""


class Rule(Protocol):
    """What an endpoint allows: None if a call may go on, else the exact time to wait."""

    def take(self, now: float) -> float | None: ...

    def headers(self, now: float) -> Mapping[str, str]: ...


class Window:
    """So many calls in each window of so many seconds, counted from the first call or sliding."""

    def __init__(self, most: int, seconds: float, *, kind: Literal["fixed", "sliding"]) -> None:
        self.most, self.seconds, self.kind = most, seconds, kind
        self.taken: deque[float] = deque()

    def _forget(self, now: float) -> None:
        if self.kind == "fixed" and self.taken and now >= self.taken[0] + self.seconds:
            self.taken.clear()
        while self.kind == "sliding" and self.taken and now >= self.taken[0] + self.seconds:
            self.taken.popleft()

    def take(self, now: float) -> float | None:
        self._forget(now)
        if len(self.taken) >= self.most:
            return self.taken[0] + self.seconds - now
        self.taken.append(now)
        return None

    def headers(self, now: float) -> Mapping[str, str]:
        self._forget(now)
        reset = self.taken[0] + self.seconds - now if self.taken else 0.0
        return {
            "x-ratelimit-limit-requests": str(self.most),
            "x-ratelimit-remaining-requests": str(self.most - len(self.taken)),
            "x-ratelimit-reset-requests": f"{reset:.3f}s",
        }


class Bucket:
    """A bucket of so many calls that is filled again at an even rate, as OpenAI's."""

    def __init__(self, most: int, per_second: float) -> None:
        self.most, self.per_second = most, per_second
        self.level, self.at = float(most), 0.0

    def _fill(self, now: float) -> None:
        self.level = min(self.most, self.level + (now - self.at) * self.per_second)
        self.at = now

    def take(self, now: float) -> float | None:
        self._fill(now)
        if self.level < 1:
            return (1 - self.level) / self.per_second
        self.level -= 1
        return None

    def headers(self, now: float) -> Mapping[str, str]:
        self._fill(now)
        reset = 1000 * (self.most - self.level) / self.per_second
        return {
            "x-ratelimit-limit-requests": str(self.most),
            "x-ratelimit-remaining-requests": str(int(self.level)),
            "x-ratelimit-reset-requests": f"{reset:.0f}ms",
        }


class Chance:
    """Refuses so many of the calls, whatever the pace, and asks for a second."""

    def __init__(self, share: float, *, seed: int = 1) -> None:
        self.share, self._rng = share, np.random.default_rng(seed)

    def take(self, _now: float) -> float | None:
        return 1.0 if self._rng.random() < self.share else None

    def headers(self, _now: float) -> Mapping[str, str]:
        return {}


class Outage:
    """Refuses everything from a time on until another, and asks for two seconds at each call."""

    def __init__(self, begins: float = 5.0, ends: float = 65.0) -> None:
        self.begins, self.ends = begins, ends

    def take(self, now: float) -> float | None:
        return 2.0 if self.begins <= now < self.ends else None

    def headers(self, _now: float) -> Mapping[str, str]:
        return {}


class LimitedModel:
    """A model that takes its time, and refuses what its rule does not allow.

    With `rng` a call takes up to a fifth less or more of its time.
    """

    def __init__(
        self,
        rule: Rule,
        *,
        seconds: float = 0.5,
        announces: bool = False,
        tells_wait: Callable[[float], float | None] = lambda wait: wait,
        at_once: int | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.name, self._rng = "limited", rng
        self.rule, self.seconds, self.announces = rule, seconds, announces
        self.tells_wait, self.at_once = tells_wait, at_once
        self.counts: Counter[str] = Counter()
        self.most_running = self._n_running = 0

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        loop = asyncio.get_running_loop()
        is_full = self.at_once is not None and self._n_running >= self.at_once
        wait = 0.0 if is_full else self.rule.take(loop.time())
        headers = self.rule.headers(loop.time())  # they count this call, and none that came later
        self.counts["refused" if wait is not None else "answered"] += 1
        if wait is not None:
            await asyncio.sleep(REFUSED_AFTER)
            self._announce(headers)
            told = None if is_full else self.tells_wait(max(0.0, wait - REFUSED_AFTER))
            raise failing("rate-limited", asks=told)
        self._n_running += 1
        self.most_running = max(self.most_running, self._n_running)
        seconds = self.seconds * (1.0 if self._rng is None else self._rng.uniform(0.8, 1.2))
        try:
            await asyncio.sleep(seconds / 5)  # the headers come before the end of the reply
            self._announce(headers)
            await asyncio.sleep(seconds * 4 / 5)
        finally:
            self._n_running -= 1
        return Reply(text="Yes.", usage=Usage(input_tokens=100, output_tokens=50))

    def _announce(self, headers: Mapping[str, str]) -> None:
        if self.announces:
            HEED.get()(headers)


def failing(
    reason: Reason = "server-error", *, asks: float | None = None, said: str = ""
) -> CallFailureError:
    error = CallFailureError(
        "no", reason=reason, reply=Reply(text=""), said=said, retry_after_seconds=asks
    )
    error.is_refusal = reason == "rate-limited" or (reason == "overloaded" and asks is not None)
    return error
