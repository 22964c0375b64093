"""Money: no call is made that could pass the study's limit, and each reply says what it cost.

Before a call its dearest outcome is set aside, and replaced by what it cost when it has ended. So
calls under way at the same time cannot pass the limit together; a call that does not fit beside
them waits until they have ended. Put `Budgeted` next to the client, inside `Gated`: then each try
is booked, and a call that is cut off was really on its way.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from hearteval.errors import BudgetError, ModelCallError, StoppedError
from hearteval.models.base import ChatModel, Message, Reply, Sampling, Usage
from hearteval.models.failures import CallFailureError
from hearteval.models.prices import is_plausible, money

_log = logging.getLogger(__name__)


class SpendingLimit:
    """Money for calls, in memory, for one event loop; None is no limit.

    Attributes:
        spent_usd: What is spent.
        n_direct: Calls under way that end in seconds, those of batch jobs apart.
        n_cut: Of these, how many were cut off.
        cut_usd: What is booked for those.
    """

    def __init__(self, *, limit_usd: float | None, spent_usd: float) -> None:
        self.spent_usd = spent_usd
        self.n_direct = self.n_cut = 0
        self.cut_usd = 0.0
        self._is_closed = False
        self._limit = limit_usd
        self._reserved = 0.0
        self._n_under_way = 0
        self._waiting: list[asyncio.Future[None]] = []

    async def reserve(self, usd: float) -> None:
        """Set money aside for a call about to be made; wait for calls under way if it is short.

        Raises:
            BudgetError: The limit would be passed, with no call under way.
            StoppedError: No call is to be made any more.
        """
        self._require_open()
        while self._limit is not None and self.spent_usd + self._reserved + usd > self._limit:
            if not self._n_under_way:
                raise BudgetError(
                    f"the limit of {money(self._limit)} dollars would be passed:"
                    f" {self.spent_usd:.4f} are spent, and the next call may cost {usd:.4f}; raise"
                    " budget.max_usd to go on",
                    reason="budget",
                    n_attempts=0,
                )
            ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(ended)
            await ended
            self._require_open()
        self._reserved += usd
        self._n_under_way += 1

    def close(self) -> None:
        """Let no call begin any more."""
        self._is_closed = True

    def _require_open(self) -> None:
        if self._is_closed:
            raise StoppedError("stopped: no call is made any more")

    def note(self, stored_usd: float) -> None:
        """Take note of what is stored as spent, by other processes too."""
        self.spent_usd = max(self.spent_usd, stored_usd)

    def settle(self, reserved: float, spent: float) -> None:
        """Replace what was set aside by what the call cost."""
        self._n_under_way -= 1
        self._reserved = self._reserved - reserved if self._n_under_way else 0.0
        self.spent_usd += spent
        waiting, self._waiting = self._waiting, []
        for ended in waiting:
            if not ended.done():  # a cancelled call left it behind
                ended.set_result(None)


class Budgeted:
    """Sets money aside for every call of a model, and puts the price on every reply.

    A call costs at most `ceiling` dollars, and is booked at that where its `price` is None as the
    endpoint counted no tokens, or a number that cannot be. `book_lost` makes durable what a call
    cost that gave no reply. Calls that are `fetched_later` go on at their provider when they
    are cut off here: they are booked when their replies come.
    """

    def __init__(
        self,
        model: ChatModel,
        ledger: SpendingLimit,
        *,
        ceiling: Callable[[Sequence[Message], Sampling], float],
        price: Callable[[Usage], float | None],
        book_lost: Callable[[float], Awaitable[None]],
        fetched_later: bool = False,
    ) -> None:
        self.name = model.name
        self._model = model
        self._ledger = ledger
        self._ceiling = ceiling
        self._price = price
        self._book_lost = book_lost
        self._fetched_later = fetched_later
        self._has_warned = False

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Answer within the budget; see `ChatModel.complete`."""
        ceiling = self._ceiling(messages, sampling)
        await self._ledger.reserve(ceiling)
        self._ledger.n_direct += not self._fetched_later
        spent = 0.0
        try:
            reply = await self._model.complete(messages, sampling, repeat=repeat)
            cost = self._cost(reply, messages, sampling)
            spent = ceiling if cost is None else cost
        except ModelCallError as error:
            spent = self._lost(error, ceiling, messages, sampling)
            if spent:
                await self._book_lost(spent)
            raise
        except asyncio.CancelledError:
            if not self._fetched_later:
                spent = ceiling
                self._ledger.n_cut += 1
                self._ledger.cut_usd += spent
                if spent:
                    await self._book_lost(spent)
            raise
        finally:
            self._ledger.n_direct -= not self._fetched_later
            self._ledger.settle(ceiling, spent)
        return replace(reply, cost=spent)

    def _lost(
        self,
        error: ModelCallError,
        ceiling: float,
        messages: Sequence[Message],
        sampling: Sampling,
    ) -> float:
        """Return what a call without a reply cost; its ceiling where that cannot be known."""
        if not isinstance(error, CallFailureError):
            return 0.0
        cost = self._cost(error.reply, messages, sampling)
        if cost is None:
            return ceiling if error.may_be_charged else 0.0
        return cost

    def _cost(self, reply: Reply, messages: Sequence[Message], sampling: Sampling) -> float | None:
        """Return what the tokens cost that the endpoint counted; None if that cannot be known."""
        if is_plausible(reply, messages, sampling):
            return self._price(reply.usage)
        if not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s counts tokens that a call cannot have used; such calls are booked at the most"
                " that they may cost",
                self.name,
            )
        return None
