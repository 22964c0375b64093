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
from functools import partial
from math import inf
from typing import NamedTuple, Protocol

from hearteval.errors import BudgetError, ModelCallError, StoppedError
from hearteval.models.base import ChatModel, Message, Reply, Sampling, Usage
from hearteval.models.failures import CallFailureError
from hearteval.models.prices import (
    estimate_prompt_tokens,
    estimate_tokens,
    is_plausible,
    money,
)

AHEAD_SECONDS = 0.15
"""Calls that begin within so long, two or three commits, are set aside for ahead of them."""
POLL_SECONDS = 0.5
"""Between asking what others have given back: nothing tells this process of it."""
LEAST_USD = 1e-12
"""Below it a sum of what was booked and unbooked is rounding, no money."""
LAST_CALLS_WEIGHT = 0.05
"""Of the last call in the average of what calls cost: about the last twenty count."""
_log = logging.getLogger(__name__)


class CommitSoon(Protocol):
    """Has the store commit, and be asked: at once where that is urgent, else soon."""

    def __call__(self, *, is_urgent: bool) -> None:
        """Do so."""


class _Waiting(NamedTuple):
    usd: float
    is_later: bool
    may_go: "asyncio.Future[None]"


def _stopped() -> StoppedError:
    return StoppedError("stopped: no call is made any more")


class SpendingLimit:
    """Money for calls, for one event loop; None is no limit.

    Alone it knows of this process only. Once it is `shared`, the store that all processes write to
    grants what is set aside: `ask` and `grant` are its side of that (`store.grouped.Purse`). So
    that few calls wait for a commit, a little more is asked for than is needed now.

    Attributes:
        limit_usd: What may be spent.
        spent_usd: What is spent, by all processes as far as is known.
        in_flight_usd: What killed processes had under way: perhaps billed, and counted.
        n_direct: Calls under way that end in seconds, those of batch jobs apart.
        n_cut: Of these, how many were cut off.
        cut_usd: What is booked for those.
    """

    def __init__(self, *, limit_usd: float | None, spent_usd: float) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self.in_flight_usd = 0.0
        self.n_direct = self.n_cut = 0
        self.cut_usd = 0.0
        self._is_closed = False
        self._allowed = inf if limit_usd is None else limit_usd - spent_usd
        """What calls under way, and those that ended and are not booked, may come to."""
        self._reserved = self._later = 0.0
        self._unbooked = 0.0
        """What calls cost that have ended, before the commit of their replies."""
        self._begun, self._asked_at = 0.0, -inf
        self._n_under_way = 0
        self._waiting: list[_Waiting] = []
        self._commit: CommitSoon | None = None
        self._poll: asyncio.TimerHandle | None = None
        self._remedy = ""
        self._is_used = False

    def share(self, commit: CommitSoon, *, remedy: str) -> None:
        """Set nothing aside but what the store grants, which is asked with every commit.

        `remedy` is how a person replaces what killed processes had under way.
        """
        self._commit, self._remedy, self._allowed = commit, remedy, 0.0

    async def reserve(self, usd: float, *, is_later: bool = False) -> None:
        """Set money aside for a call about to be made; wait for calls under way if it is short.

        One that `is_later` outlives this process.

        Raises:
            BudgetError: The limit would be passed, with no call under way.
            StoppedError: No call is to be made any more.
        """
        self._require_open()
        if self._fits(usd):
            self._take(usd, is_later=is_later)
            return
        if self._commit is None and not self._n_under_way:
            raise self._passed(usd)
        may_go: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(usd, is_later, may_go))
        self._is_used = True
        if self._commit is not None:
            self._commit(is_urgent=True)
        try:
            await may_go
            self._require_open()
        except (asyncio.CancelledError, StoppedError):
            if may_go.done() and not (may_go.cancelled() or may_go.exception()):
                self.settle(usd, 0.0, is_later=is_later)  # it was let go and makes no call
            raise

    def _take(self, usd: float, *, is_later: bool) -> None:
        self._reserved += usd
        self._later += usd * is_later
        self._begun += usd * (not is_later)
        if not self._is_used and self._commit is not None:
            self._commit(is_urgent=False)  # what is under way is told, though it may cost nothing
        self._is_used = True
        self._n_under_way += 1

    @property
    def _used(self) -> float:
        return self._reserved + self._unbooked

    def _fits(self, usd: float) -> bool:
        # What is allowed was added up in another order: the last call would wait for a rounding.
        return self._used + usd < self._allowed + LEAST_USD

    def close(self) -> None:
        """Let no call begin any more."""
        self._is_closed = True
        self.fail(_stopped())

    def _require_open(self) -> None:
        if self._is_closed:
            raise _stopped()

    def settle(self, reserved: float, spent: float, *, is_later: bool = False) -> None:
        """Replace what was set aside by what the call cost."""
        self._n_under_way -= 1
        self._reserved = self._reserved - reserved if self._n_under_way else 0.0
        self._later = self._later - reserved * is_later if self._n_under_way else 0.0
        self._unbooked += spent
        self.spent_usd += spent
        self._let_go()
        if self._n_under_way:
            return
        if self._commit is None:
            self._refuse_all()
        elif self._is_used:
            # What waits may be granted now; what nobody needs is given back to the others.
            self._commit(is_urgent=bool(self._waiting))

    def ask(self, booking_usd: float) -> tuple[float, float, float, float, int] | None:
        """Return what is held, least of use, wanted, what of it is later, and calls under way.

        Calls that wait count as under way, as they begin when what is asked is granted. None where
        no call has begun yet. `booking_usd` of what calls have cost is booked by what is
        asked. Until `grant`, calls begin within what is held, which the store never takes.
        """
        if not self._is_used:
            return None
        now = asyncio.get_running_loop().time()
        self._unbooked -= booking_usd
        is_at_work = self._n_under_way or self._waiting
        if not self._n_under_way and abs(self._unbooked) < LEAST_USD:
            self._unbooked = 0.0  # what adding up has left
        ahead = self._begun * min(2.0, AHEAD_SECONDS / max(now - self._asked_at, 1e-3))
        ahead = ahead if is_at_work else 0.0
        self._begun, self._asked_at = 0.0, now
        needed = self._used + ahead
        self._allowed = held = max(self._used, min(self._allowed - booking_usd, needed))
        open_ones = [one for one in self._waiting if not one.may_go.done()]
        waiting = [one.usd for one in open_ones]
        least = self._used + min(waiting, default=0.0)
        wanted = max(held, needed + sum(waiting))
        n_calls = self.n_direct + sum(not one.is_later for one in open_ones)
        return held, least, wanted, self._later, n_calls

    def grant(self, granted_usd: float, *, booked_usd: float, in_flight_usd: float) -> None:
        """Let calls begin within what is granted; refuse those that the limit never allows."""
        self._allowed = granted_usd
        self.spent_usd = booked_usd + self._unbooked
        self.in_flight_usd = in_flight_usd
        self._let_go()
        if not self._n_under_way and self.limit_usd is not None:
            left = self.limit_usd - self.spent_usd - in_flight_usd
            self._refuse_all(from_usd=left)
        # A batch job alone is not worth asking for hours; its end is asked after.
        is_only_later = self._n_under_way > 0 and self._later == self._reserved
        if self._waiting and self._commit is not None and not is_only_later:
            # Others have set aside what is missing: part of it will be free when it is booked.
            if self._poll is not None:
                self._poll.cancel()
            ask_again = partial(self._commit, is_urgent=True)
            self._poll = asyncio.get_running_loop().call_later(POLL_SECONDS, ask_again)

    def fail(self, error: Exception) -> None:
        """Tell the calls that wait that they do not begin."""
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.may_go.done():
                one.may_go.set_exception(error)

    def _let_go(self) -> None:
        """Set aside for the calls that wait, and let them begin, as far as there is money now."""
        left = list[_Waiting]()
        for one in self._waiting:
            if one.may_go.done():  # a cancelled call left it behind
                continue
            if not self._fits(one.usd):
                left.append(one)
                continue
            # Not when it wakes: until then what is granted would seem to be of no use.
            self._take(one.usd, is_later=one.is_later)
            one.may_go.set_result(None)
        self._waiting = left

    def _refuse_all(self, *, from_usd: float = -1.0) -> None:
        """Refuse the calls that wait, those that may cost more than so much."""
        refused = [one for one in self._waiting if one.usd > from_usd]
        self._waiting = [one for one in self._waiting if one.usd <= from_usd]
        for one in refused:
            one.may_go.set_exception(self._passed(one.usd))

    def _passed(self, usd: float) -> BudgetError:
        assert self.limit_usd is not None, "without a limit nothing is refused"
        in_flight = ""
        if self.in_flight_usd:
            in_flight = (
                f" and at most {self.in_flight_usd:.4f} were in flight when a run was killed"
                f" ({self._remedy})"
            )
        return BudgetError(
            f"the limit of {money(self.limit_usd)} dollars would be passed:"
            f" {self.spent_usd:.4f} are spent{in_flight}, and the next call may cost {usd:.4f};"
            " raise budget.max_usd to go on",
            reason="budget",
            n_attempts=0,
        )


class Budgeted:
    """Sets money aside for every call of a model, and puts the price on every reply.

    A call costs at most `ceiling` dollars, and is booked at that where its `price` is None as the
    endpoint counted no tokens, or a number that cannot be (at more where more came). Where
    calls cost more on average, as an endpoint adds to prompts or heeds no bound on replies, as many
    times as much is set aside for those that follow. `book_lost` makes durable what a call cost
    that gave no reply. Calls that are `fetched_later` go on at their provider when they
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
        self._times = 0.0
        """How many times their ceiling the last calls cost on average."""
        self._n_priced = 0

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Answer within the budget; see `ChatModel.complete`."""
        foreseen = self._ceiling(messages, sampling)
        ceiling = foreseen * max(1.0, self._times)
        await self._ledger.reserve(ceiling, is_later=self._fetched_later)
        self._ledger.n_direct += not self._fetched_later
        spent = 0.0
        try:
            reply = await self._model.complete(messages, sampling, repeat=repeat)
            cost = self._cost(reply, messages, sampling)
            spent = self._uncounted(reply, messages, ceiling) if cost is None else cost
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
            if foreseen and spent not in {0.0, ceiling}:  # these say nothing of what it cost
                self._n_priced += 1
                weight = max(LAST_CALLS_WEIGHT, 1 / self._n_priced)
                self._times += weight * (spent / foreseen - self._times)
            self._ledger.settle(ceiling, spent, is_later=self._fetched_later)
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
            may_cost = error.may_be_charged
            return self._uncounted(error.reply, messages, ceiling) if may_cost else 0.0
        return cost

    def _uncounted(self, reply: Reply, messages: Sequence[Message], ceiling: float) -> float:
        """Return what a call cost at most whose tokens nobody counted, as far as can be seen."""
        n_in, n_out = (
            estimate_prompt_tokens(messages),
            estimate_tokens(reply.text + reply.reasoning),
        )
        came = self._price(Usage(input_tokens=n_in, output_tokens=n_out))
        return max(ceiling, came or 0.0)

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
