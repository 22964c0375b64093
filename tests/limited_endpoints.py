"""Endpoints that allow so many calls and no more, on whatever clock the event loop has."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

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


class LimitedModel:
    """A model that takes its time, and refuses what its rule does not allow."""

    def __init__(
        self,
        rule: Rule,
        *,
        seconds: float = 0.5,
        announces: bool = False,
        tells_wait: Callable[[float], float | None] = lambda wait: wait,
        at_once: int | None = None,
    ) -> None:
        self.name = "limited"
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
        self.counts["refused" if wait is not None else "answered"] += 1
        if wait is not None:
            await asyncio.sleep(REFUSED_AFTER)
            self._announce()
            told = None if is_full else self.tells_wait(max(0.0, wait - REFUSED_AFTER))
            raise failing("rate-limited", asks=told)
        self._n_running += 1
        self.most_running = max(self.most_running, self._n_running)
        try:
            await asyncio.sleep(self.seconds / 5)  # the headers come before the end of the reply
            self._announce()
            await asyncio.sleep(self.seconds * 4 / 5)
        finally:
            self._n_running -= 1
        return Reply(text="Yes.", usage=Usage(input_tokens=100, output_tokens=50))

    def _announce(self) -> None:
        if self.announces:
            HEED.get()(self.rule.headers(asyncio.get_running_loop().time()))


def failing(
    reason: Reason = "server-error", *, asks: float | None = None, said: str = ""
) -> CallFailureError:
    error = CallFailureError(
        "no", reason=reason, reply=Reply(text=""), said=said, retry_after_seconds=asks
    )
    error.is_refusal = reason == "rate-limited" or (reason == "overloaded" and asks is not None)
    return error
