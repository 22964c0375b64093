"""The reply cache and the budget around a model: nothing paid twice, no limit passed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from heartbench.errors import BudgetError, ModelCallError
from heartbench.models.base import Message, Reply, Sampling, Usage
from heartbench.models.budget import Budgeted, SpendingLimit
from heartbench.models.cached import Cached, reply_key

ASKED = (Message(role="user", content="Hello"),)


class Counting:
    """Answers with the number of the call."""

    name = "counting"

    def __init__(self, *, fails: bool = False) -> None:
        self.n_calls = 0
        self._fails = fails

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        self.n_calls += 1
        await asyncio.sleep(0)
        if self._fails:
            raise ModelCallError("no", reason="server-error")
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


def test_same_question_is_asked_once() -> None:
    model, shelf = Counting(), Shelf()
    cached = Cached(model, shelf, identity={"model": "m"})

    first, second = ask(cached), ask(cached)

    assert model.n_calls == 1
    assert second.text == first.text
    assert second.usage == first.usage
    assert (first.cached, second.cached) == (False, True)


def test_reply_from_the_cache_has_no_times_and_costs_nothing() -> None:
    cached = Cached(Counting(), Shelf(), identity={})

    ask(cached)
    again = ask(cached)

    assert (again.total_ms, again.first_text_ms, again.cost) == (None, None, 0.0)


def test_each_repeat_is_a_question_of_its_own() -> None:
    model = Counting()
    cached = Cached(model, Shelf(), identity={})

    assert ask(cached, repeat=0).text != ask(cached, repeat=1).text
    assert model.n_calls == 2


def test_what_is_sent_makes_the_key() -> None:
    plain = Sampling(temperature=0.0)
    keys = {
        reply_key({"model": "a"}, ASKED, plain, repeat=0),
        reply_key({"model": "b"}, ASKED, plain, repeat=0),
        reply_key({"model": "a"}, (*ASKED, *ASKED), plain, repeat=0),
        reply_key({"model": "a"}, ASKED, replace(plain, temperature=1.0), repeat=0),
        reply_key({"model": "a"}, ASKED, plain, repeat=1),
    }

    assert len(keys) == 5


def test_settings_that_a_model_refuses_are_not_part_of_the_key() -> None:
    refusing = Sampling(temperature=0.0, refuses=frozenset({"temperature"}))

    assert reply_key({}, ASKED, refusing, repeat=0) == reply_key(
        {}, ASKED, replace(refusing, temperature=1.0), repeat=0
    )


def test_failed_calls_are_not_kept() -> None:
    model, shelf = Counting(fails=True), Shelf()

    with pytest.raises(ModelCallError):
        ask(Cached(model, shelf, identity={}))

    assert shelf.kept == {}


def budgeted(model: Counting, ledger: SpendingLimit, *, price: float | None = 0.2) -> Budgeted:
    return Budgeted(model, ledger, ceiling=lambda _m, _s: 0.5, price=lambda _usage: price)


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
        calls = [wrapped.complete(ASKED, Sampling()) for _ in range(5)]
        return await asyncio.gather(*calls, return_exceptions=True)

    outcomes = asyncio.run(many())

    assert model.n_calls == 2
    assert sum(isinstance(outcome, BudgetError) for outcome in outcomes) == 3
    assert ledger.spent_usd == pytest.approx(0.4)


def test_money_set_aside_for_a_failed_call_is_free_again() -> None:
    ledger = SpendingLimit(limit_usd=0.5, spent_usd=0.0)

    with pytest.raises(ModelCallError):
        ask(budgeted(Counting(fails=True), ledger))

    assert ask(budgeted(Counting(), ledger)).cost == 0.2


def test_call_whose_tokens_nobody_counted_is_booked_at_its_ceiling() -> None:
    ledger = SpendingLimit(limit_usd=1.0, spent_usd=0.0)

    assert ask(budgeted(Counting(), ledger, price=None)).cost == 0.5
    assert ledger.spent_usd == 0.5


def test_without_a_limit_everything_is_counted_and_nothing_refused() -> None:
    ledger = SpendingLimit(limit_usd=None, spent_usd=1e6)

    ask(budgeted(Counting(), ledger))

    assert ledger.spent_usd == pytest.approx(1e6 + 0.2)


def test_wrappers_go_by_the_name_of_their_model() -> None:
    model = Counting()

    assert Cached(model, Shelf(), identity={}).name == "counting"
    assert budgeted(model, SpendingLimit(limit_usd=None, spent_usd=0)).name == "counting"
