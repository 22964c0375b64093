"""The reply cache and the budget around a model: nothing paid twice, no limit passed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from canned_model import CannedModel

from hearteval.errors import BudgetError, ModelCallError
from hearteval.models.base import ChatModel, Message, Reply, Sampling, Usage
from hearteval.models.failures import CallFailureError, Reason
from hearteval.models.wrappers.budget import Budgeted, SpendingLimit
from hearteval.models.wrappers.cached import Cached

ASKED = (Message(role="user", content="Hello"),)
HALF = Reply(text="half")
COUNTED = Reply(text="half", usage=Usage(input_tokens=10, output_tokens=2))
CHARGED: tuple[Reason, ...] = (
    *("timeout", "cut-off-stream"),
    *("broken-body", "not-a-completion", "html", "too-large"),
)
"""Why a call failed that may have been charged: it was under way, or its answer cannot be used."""
REFUSED: tuple[Reason, ...] = ("bad-key", "rate-limited", "server-error")


class Counting:
    """Answers with the number of the call."""

    name = "counting"

    def __init__(self, *, fails: bool = False) -> None:
        self.n_calls = 0
        self.error = ModelCallError("no", reason="server-error") if fails else None

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        self.n_calls += 1
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        usage = Usage(input_tokens=10, output_tokens=5)
        return Reply(text=f"{len(messages)}/{repeat}/{self.n_calls}", usage=usage, total_ms=5.0)


class Shelf:
    """A reply cache in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, Mapping[str, Any]] = {}

    def find(self, key: str) -> Mapping[str, Any] | None:
        return self.kept.get(key)

    async def keep(self, key: str, reply: Mapping[str, Any], *, cost: float | None) -> None:
        self.kept.setdefault(key, reply)


def ask(model: Any, *, repeat: int = 0, sampling: Sampling | None = None) -> Reply:
    async def once() -> Reply:
        reply: Reply = await model.complete(ASKED, sampling or Sampling(), repeat=repeat)
        return reply

    return asyncio.run(once())


def test_same_question_is_asked_once_and_its_reply_from_the_cache_has_no_times() -> None:
    model = Counting()
    cached = Cached(model, Shelf(), identity={"model": "m"})

    first, second = ask(cached), ask(cached)

    assert model.n_calls == 1
    assert (second.text, second.usage) == (first.text, first.usage)
    assert (first.cached, second.cached) == (False, True)
    assert (second.total_ms, second.first_text_ms) == (None, None)


def test_reply_from_the_cache_says_what_it_cost_and_is_not_booked_again() -> None:
    ledger, shelf = SpendingLimit(limit_usd=1.0, spent_usd=0.0), Shelf()
    cached = Cached(budgeted(Counting(), ledger), shelf, identity={})

    ask(cached)

    assert ask(cached).cost == 0.2
    assert ledger.spent_usd == 0.2


def test_each_repeat_is_a_question_of_its_own() -> None:
    model = Counting()
    cached = Cached(model, Shelf(), identity={})

    assert ask(cached, repeat=0).text != ask(cached, repeat=1).text
    assert model.n_calls == 2


PLAIN, WARM = Sampling(temperature=0.0), Sampling(temperature=1.0)
REFUSING = replace(PLAIN, refuses=frozenset({"temperature"}))


@pytest.mark.parametrize(
    ("asked", "n_calls"),
    [
        ([(ASKED, PLAIN), ((*ASKED, *ASKED), PLAIN)], 2),
        ([(ASKED, PLAIN), (ASKED, WARM), (ASKED, PLAIN)], 2),
        ([(ASKED, REFUSING), (ASKED, replace(REFUSING, temperature=1.0))], 1),
        ([(ASKED, PLAIN), (ASKED, replace(PLAIN, is_streamed=False))], 1),
    ],
    ids=["messages", "settings", "settings that the model refuses", "how the reply comes"],
)
def test_other_messages_and_settings_are_another_question(
    asked: list[tuple[Sequence[Message], Sampling]], n_calls: int
) -> None:
    model = Counting()
    cached = Cached(model, Shelf(), identity={"model": "a"})

    async def all_of_them() -> None:
        for messages, sampling in asked:
            await cached.complete(messages, sampling)

    asyncio.run(all_of_them())
    assert model.n_calls == n_calls


def test_other_model_is_asked_the_same_question() -> None:
    model, shelf = Counting(), Shelf()

    ask(Cached(model, shelf, identity={"model": "a"}))
    ask(Cached(model, shelf, identity={"model": "b"}))

    assert model.n_calls == 2


def test_failed_calls_are_not_kept() -> None:
    model, shelf = Counting(fails=True), Shelf()

    with pytest.raises(ModelCallError):
        ask(Cached(model, shelf, identity={}))

    assert shelf.kept == {}


def budgeted(
    model: ChatModel,
    ledger: SpendingLimit,
    *,
    cost: float | None = 0.2,
    booked: list[float] | None = None,
    **more: Any,
) -> Budgeted:
    """A model whose calls cost so much; what was booked as lost goes to a list."""

    async def book(usd: float) -> None:
        if booked is not None:
            booked.append(usd)

    settings: dict[str, Any] = {
        "ceiling": lambda _m, _s: 0.5,
        "price": lambda usage: None if usage.input_tokens is None else cost,
        "book_lost": book,
    }
    return Budgeted(model, ledger, **settings | more)


def unlimited() -> SpendingLimit:
    return SpendingLimit(limit_usd=None, spent_usd=0.0)


def test_reply_says_what_it_cost_and_the_ledger_knows() -> None:
    ledger = SpendingLimit(limit_usd=1.0, spent_usd=0.1)

    assert ask(budgeted(Counting(), ledger)).cost == 0.2
    assert ledger.spent_usd == pytest.approx(0.3)


def test_call_that_could_pass_the_limit_is_not_made() -> None:
    model, ledger = Counting(), SpendingLimit(limit_usd=1.0, spent_usd=0.6)

    with pytest.raises(BudgetError, match=r"raise budget\.max_usd"):
        ask(budgeted(model, ledger))

    assert model.n_calls == 0


def test_calls_under_way_cannot_pass_the_limit_together() -> None:
    model, ledger = Counting(), SpendingLimit(limit_usd=1.0, spent_usd=0.0)
    wrapped = budgeted(model, ledger)

    async def many() -> list[Reply | BaseException]:
        calls = [wrapped.complete(ASKED, Sampling()) for _ in range(8)]
        return await asyncio.gather(*calls, return_exceptions=True)

    outcomes = asyncio.run(many())

    assert model.n_calls == 3
    assert sum(isinstance(outcome, BudgetError) for outcome in outcomes) == 5
    assert ledger.spent_usd == pytest.approx(0.6)


def test_money_that_calls_under_way_hold_is_waited_for() -> None:
    model, ledger = Counting(), SpendingLimit(limit_usd=1.0, spent_usd=0.0)
    wrapped = budgeted(model, ledger, cost=0.01)

    async def many() -> list[Reply]:
        return await asyncio.gather(*(wrapped.complete(ASKED, Sampling()) for _ in range(9)))

    assert len(asyncio.run(many())) == 9
    assert ledger.spent_usd == pytest.approx(0.09)


@pytest.mark.parametrize(
    ("error", "spent"),
    [
        (CallFailureError("cut", reason="cut-off-stream", reply=COUNTED), 0.2),
        *((CallFailureError("no", reason=one, reply=Reply(text="")), 0.5) for one in CHARGED),
        (CallFailureError("no", reason="server-error", reply=HALF, may_be_charged=True), 0.5),
        *((CallFailureError("no", reason=one, reply=Reply(text="")), 0.0) for one in REFUSED),
    ],
)
def test_failed_call_costs_its_tokens_or_its_ceiling_or_nothing_if_it_was_refused(
    error: CallFailureError, spent: float
) -> None:
    model, ledger, booked = Counting(), unlimited(), list[float]()
    model.error = error

    with pytest.raises(ModelCallError):
        ask(budgeted(model, ledger, booked=booked))

    assert (ledger.spent_usd, booked) == (spent, [spent] if spent else [])


@pytest.mark.parametrize(
    "usage",
    [
        Usage(input_tokens=10, output_tokens=10**400),
        Usage(input_tokens=10, output_tokens=1_025),
        Usage(input_tokens=10**9, output_tokens=5),
        Usage(input_tokens=0, output_tokens=5),
        Usage(input_tokens=10, output_tokens=0),
    ],
    ids=["beyond-all-numbers", "beyond-max-tokens", "beyond-the-prompt", "no-prompt", "no-reply"],
)
def test_usage_that_a_call_cannot_have_had_is_booked_at_its_ceiling(usage: Usage) -> None:
    model = CannedModel([Reply(text="ok", usage=usage)])

    reply = ask(budgeted(model, unlimited()), sampling=Sampling(max_tokens=1_024))

    assert reply.cost == 0.5


@pytest.mark.parametrize("told", [{"reasoning": "Hm."}, {"refusal": "I cannot."}])
def test_what_came_beside_a_text_has_tokens_too(told: dict[str, str]) -> None:
    usage = Usage(input_tokens=10, output_tokens=0)
    model = CannedModel([Reply(text="", usage=usage, **told)])  # type: ignore[arg-type]

    assert ask(budgeted(model, unlimited())).cost == 0.5


def test_reply_without_a_text_may_count_no_tokens() -> None:
    model = CannedModel([Reply(text="", usage=Usage(input_tokens=10, output_tokens=0))])

    assert ask(budgeted(model, unlimited())).cost == 0.2


def test_reply_longer_than_it_was_allowed_to_be_costs_what_it_counts() -> None:
    usage = Usage(input_tokens=10, output_tokens=1_100)
    model = CannedModel([Reply(text="word " * 1_100, usage=usage)])

    reply = ask(budgeted(model, unlimited()), sampling=Sampling(max_tokens=1_024))

    assert reply.cost == 0.2


@pytest.mark.parametrize(
    ("fetched_later", "booked"), [(False, [0.5]), (True, [])], ids=["direct", "in-a-batch-job"]
)
def test_call_that_is_cut_off_is_booked_at_its_ceiling(
    *, fetched_later: bool, booked: list[float]
) -> None:
    lost: list[float] = []
    wrapped = budgeted(Counting(), unlimited(), booked=lost, fetched_later=fetched_later)

    async def cut() -> None:
        call = asyncio.ensure_future(wrapped.complete(ASKED, Sampling()))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

    asyncio.run(cut())

    assert lost == booked


def test_money_set_aside_for_a_failed_call_is_free_again() -> None:
    ledger = SpendingLimit(limit_usd=0.5, spent_usd=0.0)

    with pytest.raises(ModelCallError):
        ask(budgeted(Counting(fails=True), ledger))

    assert ask(budgeted(Counting(), ledger)).cost == 0.2


def test_call_whose_tokens_nobody_counted_is_booked_at_its_ceiling() -> None:
    ledger = SpendingLimit(limit_usd=1.0, spent_usd=0.0)

    assert ask(budgeted(Counting(), ledger, cost=None)).cost == 0.5
    assert ledger.spent_usd == 0.5


def test_uncounted_reply_longer_than_its_ceiling_is_booked_at_what_came() -> None:
    model = CannedModel([Reply(text="word " * 4_000)])
    wrapped = budgeted(
        model,
        unlimited(),
        price=lambda usage: None if usage.output_tokens is None else usage.output_tokens / 1_000,
    )

    assert ask(wrapped, sampling=Sampling(max_tokens=500)).cost == 5.0


def test_calls_that_cost_more_than_their_ceiling_raise_that_of_those_that_follow() -> None:
    model, ledger = Counting(), SpendingLimit(limit_usd=3.1, spent_usd=0.0)
    wrapped = budgeted(model, ledger, cost=1.0)

    async def many() -> list[Reply | BaseException]:
        first = await wrapped.complete(ASKED, Sampling())
        calls = [wrapped.complete(ASKED, Sampling()) for _ in range(8)]
        return [first, *await asyncio.gather(*calls, return_exceptions=True)]

    outcomes = asyncio.run(many())

    assert sum(isinstance(outcome, BudgetError) for outcome in outcomes) == 6
    assert ledger.spent_usd == 3.0


def test_without_a_limit_everything_is_counted_and_nothing_refused() -> None:
    ledger = SpendingLimit(limit_usd=None, spent_usd=1e6)

    ask(budgeted(Counting(), ledger))

    assert ledger.spent_usd == pytest.approx(1e6 + 0.2)


def test_wrappers_go_by_the_name_of_their_model() -> None:
    model = Counting()

    assert Cached(model, Shelf(), identity={}).name == "counting"
    assert budgeted(model, SpendingLimit(limit_usd=None, spent_usd=0)).name == "counting"
