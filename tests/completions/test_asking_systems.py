"""Systems that are models: what their replies become, and that nothing is asked or paid twice."""

import asyncio
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import ANY

import numpy as np
import pytest
from asked_study import (
    GOOD_TEXT,
    ITEMS,
    NOW,
    PRICE,
    AskedStudy,
    always,
    asked_study,
    by_call,
    failure,
    model_system,
    said,
)
from canned_model import Answer, CannedModel

from hearteval.completions.prompting import known_briefs, support_messages
from hearteval.domain import Attempt, Call, Completion, Item
from hearteval.domain.reasons import NOT_ASKED
from hearteval.errors import ModelCallError
from hearteval.models import asking
from hearteval.models.base import FIRST_QUESTIONS, Message, Reply, Sampling
from hearteval.models.failures import Reason
from hearteval.models.wrappers import pace
from hearteval.models.wrappers.gate import Gate, Gated
from hearteval.models.wrappers.pace import CallLimits
from hearteval.store.records import Record

PAPER = known_briefs()["paper"]
UNUSABLE: dict[str, tuple[Reply, str]] = {
    "empty": (said(""), "empty"),
    "white space": (said(" \n\t"), "empty"),
    "refused in words": (said("I'm sorry, but I can't help with that."), "refused"),
    "refused in its own field": (said("", refusal="No."), "refused"),
    "filtered": (said("A part of", "content_filter"), "refused"),
    "cut off": (said("That sounds really", "length"), "cut-off"),
    "too many words": (said("word " * 400), "over-long"),
    "too many characters": (said("字" * 1000), "over-long"),
    "reasoning left in": (said("<think>hm</think>Hello."), "shows-reasoning"),
}


@pytest.fixture(autouse=True)
def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one worker make all calls, so that scripted answers come in order."""
    monkeypatch.setattr(asking, "WORKERS_PER_CALL", 1)


@pytest.fixture
def world() -> Iterator[AskedStudy]:
    made = asked_study([model_system("m")])
    yield made
    made.store.close()


def attempts(world: AskedStudy) -> list[Attempt]:
    return sorted(world.store.iter(Attempt), key=lambda a: (str(a.item_id), a.attempt))


def completions(world: AskedStudy) -> list[Completion]:
    return list(world.store.iter(Completion, world.study))


def test_reply_becomes_a_completion_with_all_that_is_known_of_it() -> None:
    item = ITEMS[0]
    world = asked_study([model_system("m")], items=[item])
    model = always(said(f"  {GOOD_TEXT}\n"))

    counts = world.complete({"m": model})

    (found,) = completions(world)
    assert found == Completion(
        item_id=item.id,
        system_id=model_system("m").id,
        text=GOOD_TEXT,
        prompt_hash=PAPER.prompt_hash,
        first_token_ms=11.0,
        first_reasoning_ms=7.0,
        total_ms=250.0,
        call=Call(
            requested={"temperature": 0.0, "top_p": 1.0, "max_tokens": 64},
            effective={"temperature": 0.0, "top_p": 1.0, "max_tokens": 64, "model": "canned"},
            finish_reason="stop",
            usage={"input_tokens": 50, "output_tokens": 20},
            cost=PRICE,
            cached=False,
        ),
        created_at=NOW,
    )
    assert (counts.n_wanted, counts.n_before, counts.n_added) == (1, 0, 1)
    asked = [(m.role, m.content) for m in model.calls[0].messages]
    assert asked == list(support_messages(item, PAPER))


def test_requested_and_effective_settings_differ_where_a_setting_is_refused() -> None:
    world = asked_study([model_system("m")], items=ITEMS[:1])

    class Refusing(CannedModel):
        async def complete(
            self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
        ) -> Reply:
            refusing = replace(sampling, refuses=frozenset({"temperature", "top_p"}))
            return await super().complete(messages, refusing, repeat=repeat)

    world.complete({"m": Refusing(lambda _m, _s, _r: said())})

    (found,) = completions(world)
    assert found.call.requested == {"temperature": 0.0, "top_p": 1.0, "max_tokens": 64}
    assert found.call.effective == {"max_tokens": 64, "model": "canned"}


@pytest.mark.parametrize(("reply", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_reply_is_asked_for_once_more_then_missing(
    world: AskedStudy, reply: Reply, reason: str
) -> None:
    model = always(reply)

    counts = world.complete({"m": model})

    assert counts.missing == {reason: 3}
    assert (counts.n_wanted, counts.n_added) == (3, 0)
    assert completions(world) == []
    assert [a.attempt for a in attempts(world)] == [0, 1] * 3
    assert {(a.reason, a.raw, a.call.cost) for a in attempts(world)} == {
        (reason, reply.text, PRICE)
    }
    assert len(model.calls) == 6
    again = world.complete({"m": model})
    assert again.missing == {reason: 3}
    assert len(model.calls) == 6


@pytest.mark.parametrize("reply", [reply for reply, _ in UNUSABLE.values()], ids=UNUSABLE)
def test_second_reply_that_is_fine_is_the_completion(world: AskedStudy, reply: Reply) -> None:
    def answer(_messages: Sequence[Message], _sampling: Sampling, repeat: int) -> Reply:
        return said() if repeat else reply

    counts = world.complete({"m": CannedModel(answer)}, n_at_once=3)

    assert counts.missing == {}
    assert {c.text for c in completions(world)} == {GOOD_TEXT}
    assert [a.attempt for a in attempts(world)] == [0, 0, 0]


def test_what_is_missing_is_counted_by_the_last_reason_in_every_run() -> None:
    items = ITEMS[:FIRST_QUESTIONS]
    world = asked_study([model_system("m")], items=items)
    replies = [said("", refusal="No."), said("")]

    def answer(_messages: Sequence[Message], _sampling: Sampling, repeat: int) -> Reply:
        return replies[repeat]

    first = world.complete({"m": CannedModel(answer)})
    second = world.complete({"m": CannedModel([])})

    assert first.missing == second.missing == {"empty": len(items)}


def test_long_reply_is_never_trimmed_to_fit(world: AskedStudy) -> None:
    text = "I hear you. " * 60

    world.complete({"m": always(said(text))})

    assert {a.raw for a in attempts(world)} == {text}
    assert completions(world) == []


@pytest.mark.parametrize("reason", ["timeout", "server-error", "rate-limited", "content-filter"])
def test_failed_call_is_an_attempt_and_made_again_in_the_next_run(
    world: AskedStudy, reason: Reason
) -> None:
    counts = world.complete({"m": by_call(failure(reason))})

    assert (counts.n_added, counts.missing) == (2, {reason: 1})
    (failed,) = attempts(world)
    assert (failed.reason, failed.attempt, failed.raw) == (reason, 0, "")
    later = by_call()
    again = world.complete({"m": later})
    assert (again.n_before, again.n_added, again.missing) == (2, 1, {})
    assert len(later.calls) == 1


def test_failed_calls_are_numbered_on_and_use_up_no_try(world: AskedStudy) -> None:
    broken = always(failure("timeout"))
    for _ in range(4):
        world.complete({"m": broken})
    world.complete({"m": always(said(""))})

    per_item = [(a.attempt, a.reason) for a in attempts(world)][:6]
    assert per_item == [(i, "timeout") for i in range(4)] + [(4, "empty"), (5, "empty")]


def test_half_a_reply_of_a_failed_call_is_kept_with_its_tokens(world: AskedStudy) -> None:
    world.complete({"m": by_call(failure("cut-off-stream", came="That sounds"))})

    (failed,) = attempts(world)
    assert (failed.raw, failed.call.usage) == (
        "That sounds",
        {"input_tokens": 50, "output_tokens": 20},
    )


def test_what_a_model_takes_no_more_stays_open_without_an_attempt() -> None:
    world = asked_study([model_system("m"), model_system("n")], items=ITEMS)
    stopped = ModelCallError("no more", reason=NOT_ASKED, n_attempts=0)
    model, other = by_call(said(), *[stopped] * len(ITEMS)), by_call(name="n")

    counts = world.complete({"m": model, "n": other})

    assert (counts.n_added, counts.missing) == (1 + len(ITEMS), {NOT_ASKED: len(ITEMS) - 1})
    assert attempts(world) == []
    assert world.complete({"m": by_call()}).n_added == len(ITEMS) - 1


def test_second_run_asks_nothing(world: AskedStudy) -> None:
    world.complete({"m": by_call()})

    counts = world.complete({"m": CannedModel([])})

    assert (counts.n_before, counts.n_added) == (3, 0)


def test_grown_study_asks_for_what_is_new_alone(world: AskedStudy) -> None:
    world.complete({"m": by_call()})
    other = model_system("other")
    grown = replace(
        world.study, version=2, system_ids=tuple(sorted((*world.study.system_ids, other.id)))
    )
    world.store.add([other, grown])
    world.study = grown
    model = by_call(name="other")

    counts = world.complete({"m": CannedModel([]), "other": model})

    assert (counts.n_wanted, counts.n_before, counts.n_added) == (6, 3, 3)
    assert len(model.calls) == 3


class Crash(KeyboardInterrupt):
    """The process ends, in the middle of a transaction."""


def crash_at_completions(world: AskedStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process end after a reply was kept, before its record is written."""
    keep_group = world.store.keep_group

    def crashing(records: Sequence[Record], *rest: Any, **settings: Any) -> Any:
        if any(isinstance(record, Completion | Attempt) for record in records):
            raise Crash
        return keep_group(records, *rest, **settings)

    monkeypatch.setattr(world.store, "keep_group", crashing)


def test_reply_that_was_kept_before_a_crash_is_used_and_not_asked_for_again(
    world: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as crashing:
        crash_at_completions(world, crashing)
        with pytest.raises(Crash):
            world.complete({"m": by_call()})
    assert completions(world) == []
    model = by_call()

    counts = world.complete({"m": model})

    assert counts.n_added == 3
    assert len(model.calls) == 2
    (rescued,) = [c for c in completions(world) if c.call.cached]
    assert (rescued.text, rescued.call.usage) == (GOOD_TEXT, ANY)
    assert (rescued.total_ms, rescued.first_token_ms) == (None, None)
    assert world.store.spent_usd() == 3 * PRICE


def test_unusable_reply_that_was_kept_before_a_crash_counts_as_a_try(
    world: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as crashing:
        crash_at_completions(world, crashing)
        with pytest.raises(Crash):
            world.complete({"m": always(said(""))})
    model = always(said(""))

    assert world.complete({"m": model}).missing == {"empty": 3}
    assert len(model.calls) == 5


def test_budget_stops_the_run_and_a_higher_one_goes_on() -> None:
    world = asked_study([model_system("m")], items=ITEMS)
    world.limit_usd = 1.0  # the fifth call passes .875 + .5

    stopped = world.complete({"m": by_call()})

    assert (stopped.n_added, stopped.missing) == (5, {"not-asked": len(ITEMS) - 5})
    assert "the limit of 1.00 dollars would be passed" in (stopped.stopped or "")
    assert len(completions(world)) == 5
    assert attempts(world) == []
    assert world.ledger.spent_usd == 5 * PRICE
    world.limit_usd = 100.0
    model = by_call()
    counts = world.complete({"m": model})
    assert (counts.n_before, counts.n_added) == (5, len(ITEMS) - 5)
    assert len(model.calls) == len(ITEMS) - 5


def test_budget_too_small_for_one_item_asks_nothing(world: AskedStudy) -> None:
    world.limit_usd = 0.4
    model = by_call()

    stopped = world.complete({"m": model}).stopped

    assert model.calls == []
    assert "raise budget.max_usd" in (stopped or "")


def test_what_is_there_is_used_when_there_is_no_money(world: AskedStudy) -> None:
    world.complete({"m": by_call()})
    world.limit_usd = 0.0

    assert world.complete({"m": CannedModel([])}).n_before == 3


class Meeting(CannedModel):
    """Answers nobody before `n` are asked at once, and counts how many ever are."""

    def __init__(self, answers: Callable[..., Reply], n: int) -> None:
        super().__init__(answers)
        self._all_are_there = asyncio.Barrier(n)
        self.n_asked = self.most_asked = 0

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        self.n_asked += 1
        self.most_asked = max(self.most_asked, self.n_asked)
        try:
            async with asyncio.timeout(60):
                await self._all_are_there.wait()
            return await super().complete(messages, sampling, repeat=repeat)
        finally:
            self.n_asked -= 1


def test_calls_go_on_while_replies_wait_for_their_commit_and_never_too_many_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "WORKERS_PER_CALL", 2)
    monkeypatch.setattr(pace, "RAMP", math.inf)
    world = asked_study([model_system("m")], items=ITEMS[:24])
    keep_group, is_called_again = world.store.keep_group, threading.Event()

    def answer(*_asked: object) -> Reply:
        if len(called.calls) == 8:
            is_called_again.set()
        return said()

    def keep_late(*records: Any, **settings: Any) -> Any:
        assert is_called_again.wait(60), "nobody is asked while the first four wait"
        return keep_group(*records, **settings)

    monkeypatch.setattr(world.store, "keep_group", keep_late)
    called, gate = Meeting(answer, 4), Gate("host", say=print)
    line = gate.open_line("m", CallLimits(), highest=4)
    rng = np.random.default_rng(1)
    limited = Gated(called, gate, line, rng=rng, count_tokens=lambda _messages, _sampling: 1.0)

    assert world.complete({"m": limited}, n_at_once=4).n_added == 24
    assert called.most_asked == 4


ODD_TEXTS = {
    "half a surrogate pair": "What now? \ud83d",
    "NUL": "What\x00now?",
    "not normalised": "cafe\u0301: what now?",
    "from right to left": "\u202e?won tahw",
    "line breaks": "One.\r\n\r\nTwo.",
}


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_odd_characters_stay_as_they_are_and_stop_nothing(world: AskedStudy, text: str) -> None:
    counts = world.complete({"m": always(said(text))})

    assert counts.n_added == 3
    assert {c.text for c in completions(world)} == {text}


@pytest.mark.parametrize("finish", ["\x00", "stop\ud800", "s" * 10_000])
def test_odd_reason_for_the_end_stops_nothing(world: AskedStudy, finish: str) -> None:
    counts = world.complete({"m": always(said(GOOD_TEXT, finish))})

    assert counts.n_added + sum(counts.missing.values()) == 3


def test_item_whose_system_failed_keeps_the_others(world: AskedStudy) -> None:
    def answer(messages: Sequence[Message], _sampling: Sampling, _repeat: int) -> Answer:
        texts = [content for _, content in support_messages(ITEMS[1], PAPER)]
        is_second = [message.content for message in messages] == texts
        return failure("timeout") if is_second else said()

    counts = world.complete({"m": CannedModel(answer)}, n_at_once=3)

    assert {c.item_id for c in completions(world)} == {ITEMS[0].id, ITEMS[2].id}
    assert counts.missing == {"timeout": 1}
    items = {item.id for item in world.store.iter(Item, world.study)}
    assert {a.item_id for a in attempts(world)} == {ITEMS[1].id} < items
