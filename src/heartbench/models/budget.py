"""Money: no call is made that could pass the study's limit, and each reply says what it cost.

Before a call its dearest outcome is set aside, and replaced by what it cost when it has ended. So
calls under way at the same time cannot pass the limit together.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from heartbench.errors import BudgetError
from heartbench.models.base import ChatModel, Ledger, Message, Reply, Sampling, Usage


class SpendingLimit:
    """A `Ledger` in memory.

    Args:
        limit_usd: The most that may be spent in all; None for no limit.
        spent_usd: What earlier runs have spent.
    """

    def __init__(self, *, limit_usd: float | None, spent_usd: float) -> None:
        self._limit = limit_usd
        self._spent = spent_usd
        self._reserved = 0.0

    @property
    def spent_usd(self) -> float:
        """What has been spent, earlier runs included."""
        return self._spent

    def reserve(self, usd: float) -> None:
        """Set money aside for a call about to be made; see `Ledger.reserve`."""
        committed = self._spent + self._reserved
        if self._limit is not None and committed + usd > self._limit:
            raise BudgetError(
                f"the limit of {self._limit:.2f} dollars would be passed: {self._spent:.4f} are"
                f" spent, {self._reserved:.4f} set aside for calls under way, and the next call may"
                f" cost {usd:.4f}; raise budget.max_usd to go on",
                reason="budget",
                n_attempts=0,
            )
        self._reserved += usd

    def settle(self, reserved: float, spent: float) -> None:
        """Replace what was set aside by what the call cost."""
        self._reserved = max(0.0, self._reserved - reserved)
        self._spent += spent


class Budgeted:
    """Sets money aside for every call of a model, and puts the price on every reply.

    Args:
        model: Who answers.
        ledger: Where money is set aside.
        ceiling: The most a call may cost in US dollars.
        price: What a call cost; None where the endpoint counted no tokens, and then the call is
            booked at its ceiling.
    """

    def __init__(
        self,
        model: ChatModel,
        ledger: Ledger,
        *,
        ceiling: Callable[[Sequence[Message], Sampling], float],
        price: Callable[[Usage], float | None],
    ) -> None:
        self._model = model
        self._ledger = ledger
        self._ceiling = ceiling
        self._price = price

    @property
    def name(self) -> str:
        """What messages and logs call it."""
        return self._model.name

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Answer within the budget; see `ChatModel.complete`."""
        ceiling = self._ceiling(messages, sampling)
        self._ledger.reserve(ceiling)
        spent = 0.0
        try:
            reply = await self._model.complete(messages, sampling, repeat=repeat)
            cost = self._price(reply.usage)
            spent = ceiling if cost is None else cost
        finally:
            self._ledger.settle(ceiling, spent)
        return replace(reply, cost=spent)
