"""Trying again: a wrapper around a model that outlasts what passes, within bounds.

Put it outside `AdaptiveLimit`, so that a call that waits holds no place. Only what another try may
cure is tried again; a cancelled call ends at once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hearteval.errors import BudgetError, ModelCallError
from hearteval.models.base import ChatModel, Message, Reply, Sampling
from hearteval.models.failures import RETRYABLE, CallFailureError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long to try."""

    max_tries: int = 6
    first_wait_seconds: float = 1.0
    """Longest wait before the second try; it doubles with each."""
    max_wait_seconds: float = 60.0
    """No wait is longer; an endpoint that asks for more is given up."""
    max_tries_unreached: int = 4
    """Where nobody has answered yet: a wrong address is named within seconds."""
    deadline_seconds: float = 300.0
    """No try begins later than this after the first one failed. How long a try itself may take is
    the client's `Timeouts`."""


class Retrying:
    """A model that is asked again after failures that may pass: a `ChatModel`.

    Waits are drawn evenly between 0 and a bound that doubles (full jitter: Brooker, "Exponential
    Backoff And Jitter", 2015), on top of what a Retry-After asks for.
    """

    def __init__(
        self,
        model: ChatModel,
        policy: RetryPolicy,
        *,
        rng: np.random.Generator,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = model.name
        self._model = model
        self._policy = policy
        self._rng = rng
        self._sleep = sleep
        self._is_reached = False

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Ask until there is a reply or nothing more to hope for; see `ChatModel.complete`."""
        n_calls, n_tries, deadline = 0, 0, float("inf")
        while True:
            n_tries += 1
            try:
                reply = await self._model.complete(messages, sampling, repeat=repeat)
                self._is_reached = True
                return replace(reply, n_attempts=n_calls + reply.n_attempts) if n_calls else reply
            except BudgetError:
                raise
            except ModelCallError as error:
                n_calls += error.n_attempts
                self._is_reached |= error.reason != "connection"
                now = asyncio.get_running_loop().time()
                deadline = min(deadline, now + self._policy.deadline_seconds)
                wait = self._draw_wait(error, n_tries)
                end = self._find_end(error, n_tries, wait, time_left=deadline - now)
                if end is not None:
                    error.n_attempts = n_calls
                    error.headline += end
                    raise
                _log.info("%s: %s; trying again in %.1f s", self.name, error.reason, wait)
            await self._sleep(wait)

    def _draw_wait(self, error: ModelCallError, n_tries: int) -> float:
        policy = self._policy
        bound = min(policy.max_wait_seconds, policy.first_wait_seconds * 2.0 ** (n_tries - 1))
        asked = _asked_wait(error)
        # After a Retry-After only the first, small jitter: it keeps the calls that were all told
        # the same moment from coming back in one crowd.
        return self._rng.uniform(0.0, bound if asked is None else policy.first_wait_seconds) + (
            asked or 0.0
        )

    def _find_end(
        self, error: ModelCallError, n_tries: int, wait: float, *, time_left: float
    ) -> str | None:
        """Return why there is no further try, as the end of the message; None if there is one."""
        policy, asked = self._policy, _asked_wait(error)
        if error.reason not in RETRYABLE:
            return ""
        if asked is not None and asked > policy.max_wait_seconds:
            return (
                f"; gave up: it asks to wait {asked:.0f} s, and "
                f"{policy.max_wait_seconds:.0f} s is the most"
            )
        most = policy.max_tries if self._is_reached else policy.max_tries_unreached
        if n_tries >= min(most, policy.max_tries):
            return f"; gave up after {n_tries} tries"
        if wait > time_left:
            return f"; gave up after {n_tries} tries and {policy.deadline_seconds:.0f} s"
        return None


def _asked_wait(error: ModelCallError) -> float | None:
    return error.retry_after_seconds if isinstance(error, CallFailureError) else None
