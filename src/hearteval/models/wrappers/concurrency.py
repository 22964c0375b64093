"""How many calls run at once: a wrapper that finds what an endpoint bears.

The bound grows while calls succeed and halves when the endpoint says "too much". Calls are served
in the order in which they came.
"""

import asyncio
from collections import deque
from collections.abc import Sequence

from hearteval.errors import ModelCallError
from hearteval.models.base import ChatModel, Message, Reply, Sampling
from hearteval.models.failures import THROTTLED

DECREASE = 0.5


class AdaptiveLimit:
    """A model with a bound on calls at once that adapts: a `ChatModel`.

    Additive increase, multiplicative decrease (Chiu and Jain, 1989): the bound grows by one for
    each bound's worth of successes and halves on a throttled call. Before the first throttled call
    it grows by one with every success. Calls that were on their way at a decrease cause no other.
    """

    def __init__(self, model: ChatModel, *, highest: int, start: int = 8) -> None:
        """Wrap a model, with the highest bound and the first, or what fits.

        Raises:
            ValueError: A bound is below 1.
        """
        if min(start, highest) < 1:
            raise ValueError(f"expected bounds of at least 1, not {start} and {highest}")
        self.name = model.name
        self._model = model
        self._highest = highest
        self._bound = float(min(start, highest))
        self._n_running = 0
        self._n_decreases = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def bound(self) -> int:
        """Most calls at once, now."""
        return int(self._bound)

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Ask as soon as there is a place; see `ChatModel.complete`."""
        await self._enter()
        n_decreases = self._n_decreases
        try:
            reply = await self._model.complete(messages, sampling, repeat=repeat)
        except ModelCallError as error:
            if error.reason in THROTTLED and n_decreases == self._n_decreases:
                self._n_decreases += 1
                self._bound = max(1, self._bound * DECREASE)
            raise
        else:
            step = 1 / self._bound if self._n_decreases else 1
            self._bound = min(self._highest, self._bound + step)
            return reply
        finally:
            self._n_running -= 1
            self._admit()

    async def _enter(self) -> None:
        if self._n_running < self.bound and not self._waiting:
            self._n_running += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # it had a place and never took it
                self._n_running -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        while self._waiting and self._n_running < self.bound:
            place = self._waiting.popleft()
            if not place.done():  # a cancelled call left its place in the queue behind
                self._n_running += 1
                place.set_result(None)
