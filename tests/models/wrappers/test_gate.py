"""The way to an endpoint, on a clock that is counted: what goes out when, and what is given up."""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
import pytest
from canned_model import Answer, CannedModel
from limited_endpoints import Bucket, Chance, LimitedModel, Outage, Rule, Window, failing
from scripted_server import cut, fail, running_server, say
from virtual_clock import run_virtually

from hearteval.domain.reasons import NOT_ASKED
from hearteval.errors import BudgetError, ModelCallError
from hearteval.models.base import ChatModel, Message, Reply, Sampling
from hearteval.models.failures import BREAKING, RETRYABLE, SPOILT, Reason
from hearteval.models.http import Endpoint
from hearteval.models.http.client import OpenAICompatibleModel, open_client
from hearteval.models.wrappers import gate as gates
from hearteval.models.wrappers import pace
from hearteval.models.wrappers.budget import Budgeted, SpendingLimit
from hearteval.models.wrappers.gate import Gate, Gated
from hearteval.models.wrappers.pace import CallLimits, Lane

MESSAGES = [Message(role="user", content="Hello.")]
N_VOTES = 593
"""Votes wanted: as many as were kept, in 3,079 calls, before limits were the endpoint's."""


class Trial:
    """Models behind one gate, and what came of asking them."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.gate = Gate("host/v1", say=self.said.append)
        self.waits: list[float] = []
        self.reasons: list[str] = []
        self.errors: list[ModelCallError] = []
        self.ended_at: list[float] = []

    def wrap(self, model: ChatModel, *, highest: int = 32, seed: int = 1, **limits: Any) -> Gated:
        line = self.gate.open_line(model.name, CallLimits(**limits), highest=highest)
        return Gated(
            model,
            self.gate,
            line,
            rng=np.random.default_rng(seed),
            count_tokens=lambda _messages, _sampling: 100.0,
            sleep=self.sleep,
        )

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(seconds)

    async def ask(self, model: ChatModel, n: int, *, n_workers: int = 128) -> None:
        left = iter(range(n))

        async def work() -> None:
            for _ in left:
                try:
                    await model.complete(MESSAGES, Sampling(max_tokens=50), repeat=2)
                    self.reasons.append("")
                except ModelCallError as error:
                    self.reasons.append(error.reason)
                    self.errors.append(error)
            self.ended_at.append(asyncio.get_running_loop().time())

        await asyncio.gather(*[work() for _ in range(n_workers)])

    def run(self, main: Coroutine[Any, Any, None]) -> float:
        """Run on a counted clock; return the time at which it ended."""
        run_virtually(main)
        return max(self.ended_at)

    @property
    def n_kept(self) -> int:
        return self.reasons.count("")


def kept(model: LimitedModel, **limits: Any) -> tuple[int, float]:
    """Ask for all votes; return how many calls that took, and the seconds."""
    trial = Trial()
    seconds = trial.run(trial.ask(trial.wrap(model, **limits), N_VOTES))
    assert trial.n_kept == N_VOTES
    return model.counts.total(), seconds


RULES: dict[str, Callable[[], Rule]] = {
    "30 in each 10 s": lambda: Window(30, 10, kind="fixed"),
    "30 in any 10 s": lambda: Window(30, 10, kind="sliding"),
    "500 in any 60 s": lambda: Window(500, 60, kind="sliding"),
    "a bucket of 30": lambda: Bucket(30, 3.0),
}


@pytest.mark.parametrize(
    ("rule", "seconds"), [*((rule, 0.05) for rule in RULES), ("30 in each 10 s", 2.0)]
)
def test_limits_that_headers_announce_cost_hardly_a_call(rule: str, seconds: float) -> None:
    n_calls, _ = kept(LimitedModel(RULES[rule](), seconds=seconds, announces=True))

    assert n_calls <= 1.05 * N_VOTES


WAITS: dict[str, Callable[[float], float | None]] = {
    "exact": lambda wait: wait,
    "none": lambda _: None,
    "1 s": lambda _: 1.0,
    "whole": lambda wait: float(int(wait) + 1),
}


@pytest.mark.parametrize(
    ("rule", "waits"),
    [*((rule, "exact") for rule in RULES), ("30 in each 10 s", "none"), ("30 in each 10 s", "1 s")],
)
def test_limits_that_nobody_announces_cost_one_refused_burst(rule: str, waits: str) -> None:
    n_calls, _ = kept(LimitedModel(RULES[rule](), tells_wait=WAITS[waits]))

    assert n_calls - 32 <= 1.05 * N_VOTES  # the burst: no more than are in flight at the most


SEEDS = (0, 1, 2)


def taking(seed: int) -> np.random.Generator | None:
    """Let calls take more or less time by chance; with the first seed all go in step."""
    return np.random.default_rng(seed) if seed else None


PACED: dict[str, tuple[Callable[[], Rule], float]] = {
    "20 in any 20 s": (lambda: Window(20, 20, kind="sliding"), 1.0),
    "60 in each 60 s": (lambda: Window(60, 60, kind="fixed"), 1.0),
    "a bucket of 30": (lambda: Bucket(30, 3.0), 3.0),
    "a bucket of 90": (lambda: Bucket(90, 30.0), 30.0),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("rule", "waits", "seconds"),
    [
        *(("20 in any 20 s", waits, 0.5) for waits in ("exact", "whole", "none")),
        *(("20 in any 20 s", waits, 0.05) for waits in ("exact", "none")),
        *(("20 in any 20 s", waits, 2.0) for waits in ("exact", "none")),
        *(("60 in each 60 s", waits, 0.5) for waits in ("exact", "none")),
        *(("a bucket of 30", waits, 0.5) for waits in ("exact", "none")),
        ("a bucket of 90", "exact", 0.3),
    ],
)
def test_limit_is_used_and_not_passed(rule: str, waits: str, seconds: float, seed: int) -> None:
    make, per_second = PACED[rule]
    model = LimitedModel(make(), seconds=seconds, tells_wait=WAITS[waits], rng=taking(seed))

    n_calls, took = kept(model)

    assert n_calls <= 1.05 * N_VOTES  # the first burst included
    assert N_VOTES / took >= 0.9 * per_second


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("share", "calls"), [(0.02, 1.03), (0.1, 1.14)])
@pytest.mark.parametrize(("seconds", "more"), [(0.05, 15), (0.5, 20), (2.0, 30)])
def test_refusals_by_chance_slow_down_for_seconds(
    seconds: float, more: float, share: float, calls: float, seed: int
) -> None:
    rule = Chance(share, seed=seed)
    trial, model = Trial(), LimitedModel(rule, seconds=seconds, rng=taking(seed))

    took = trial.run(trial.ask(trial.wrap(model), 1500))

    assert trial.n_kept == 1500
    assert model.counts.total() <= calls * 1500
    assert took <= (1 + share) * 1500 * seconds / 32 + more


def test_refusals_are_told_once_with_the_pace_and_what_to_do() -> None:
    trial = Trial()

    trial.run(trial.ask(trial.wrap(LimitedModel(Chance(0.02))), 3000))

    (words,) = trial.said
    assert re.fullmatch(r"host/v1 refuses calls \(\d+\); now [\d.]+/s; set rpm", words)


@pytest.mark.parametrize("asked", [0.25, 2.0, 20.0])
def test_no_pause_passes_twice_an_explicit_wait(asked: float) -> None:
    trial = Trial()
    model = CannedModel(lambda *_: failing("rate-limited", asks=asked))
    starts: list[float] = []

    class Timed:
        name = "timed"

        async def complete(self, *words: Any, **more: Any) -> Reply:
            starts.append(asyncio.get_running_loop().time())
            return await model.complete(*words, **more)

    trial.run(trial.ask(trial.wrap(Timed(), max_wait_s=100), 1))

    assert max(np.diff(starts)) <= 2 * asked


@pytest.mark.parametrize("seed", SEEDS)
def test_outage_is_left_behind_within_seconds(seed: int) -> None:
    trial, model = Trial(), LimitedModel(Outage(5, 65), rng=taking(seed))

    seconds = trial.run(trial.ask(trial.wrap(model), 3000))

    assert trial.n_kept == 3000
    assert model.counts.total() <= 1.02 * 3000
    assert seconds <= 3000 / 64 + 60 + 15


@pytest.mark.parametrize("seed", SEEDS)
def test_outage_at_a_known_limit_is_left_behind_too(seed: int) -> None:
    window, outage = Window(20, 20, kind="sliding"), Outage(300, 360)

    class Limited:
        def take(self, now: float) -> float | None:
            return outage.take(now) or window.take(now)

        def headers(self, now: float) -> dict[str, str]:
            return {}

    n_calls, seconds = kept(LimitedModel(Limited(), rng=taking(seed)))

    assert seconds <= N_VOTES + 60 + 60
    assert n_calls <= 1.05 * N_VOTES + 60 / 2


@pytest.mark.parametrize("kind", ["fixed", "sliding"])
def test_rpm_is_held_and_used(kind: Any) -> None:
    n_calls, seconds = kept(LimitedModel(Window(180, 60, kind=kind), seconds=2.0), rpm=180)

    assert n_calls <= 1.05 * N_VOTES
    assert seconds <= 1.05 * 60 * N_VOTES / 180


def test_tpm_is_held_by_the_tokens_that_replies_really_have() -> None:
    # 150 tokens a call, 50 of them in a reply that may have 4,000: a guess would be far off
    trial, model = Trial(), LimitedModel(Bucket(10**6, 1e6), seconds=1.0)
    wrapped = trial.wrap(model, tpm=15_000)

    async def main() -> None:
        await wrapped.complete(MESSAGES, Sampling(max_tokens=4000))
        await trial.ask(wrapped, 300)

    seconds = trial.run(main())

    assert 300 * 150 / 15_000 * 60 <= seconds <= 1.1 * 300 * 150 / 15_000 * 60


@pytest.mark.parametrize("seed", SEEDS)
def test_too_many_at_once_is_found_out_too(seed: int) -> None:
    model = LimitedModel(Bucket(10**6, 1e6), seconds=2.0, at_once=8, rng=taking(seed))

    n_calls, seconds = kept(model)

    assert n_calls <= 1.05 * N_VOTES
    assert model.most_running == 8
    assert seconds <= N_VOTES * 2 / 8 / 0.8


def test_sixteen_are_in_flight_at_first_and_twice_as_many_after_each_answer() -> None:
    running: list[int] = []

    class Counted(LimitedModel):
        async def complete(self, *words: Any, **more: Any) -> Reply:
            running.append(self._n_running)
            return await super().complete(*words, **more)

    trial, model = Trial(), Counted(Bucket(10**6, 1e6), seconds=1.0)

    async def main() -> None:
        asking = asyncio.create_task(trial.ask(trial.wrap(model, highest=100), 400))
        for most in (16, 32, 64, 100):
            await asyncio.sleep(0.5)
            assert model._n_running == pytest.approx(most, rel=0.05)
            await asyncio.sleep(0.5)
        await asking

    trial.run(main())
    assert trial.n_kept == 400


def test_wait_of_ninety_seconds_is_waited_for_and_said() -> None:
    trial, model = Trial(), LimitedModel(Window(30, 90, kind="fixed"))

    trial.run(trial.ask(trial.wrap(model, tries=1), 60))

    assert trial.n_kept == 60
    assert trial.said == ["host/v1 wants no calls for 89 s: waiting"]


def test_longer_wait_than_may_be_stops_with_what_to_do_and_calls_no_more() -> None:
    trial, model = Trial(), LimitedModel(Window(30, 3600, kind="fixed"))

    seconds = trial.run(trial.ask(trial.wrap(model, max_wait_s=600), 840))

    assert (trial.n_kept, model.counts["refused"] <= 32, seconds < 2) == (30, True, True)
    assert {*trial.reasons} == {"", "rate-limited", NOT_ASKED}
    (words,) = trial.said
    assert "limited at host/v1: it wants no calls for 3,599 s" in words
    assert "max_wait_s = 600 is the most: run again later, raise max_wait_s" in words


def test_nothing_but_refusals_ends_after_the_longest_wait() -> None:
    trial = Trial()
    model = CannedModel(lambda *_: failing("rate-limited", asks=0.0))

    seconds = trial.run(trial.ask(trial.wrap(model, max_wait_s=100), 840))

    assert trial.n_kept == 0
    assert "max_wait_s = 100 is the most" in trial.said[-1]
    assert 60 <= seconds <= 110
    assert len(model.calls) <= 32


def test_spent_quota_of_a_day_is_not_waited_for() -> None:
    trial, model = Trial(), LimitedModel(Window(40, 86_400, kind="fixed"), announces=True)

    seconds = trial.run(trial.ask(trial.wrap(model), 840))

    assert (trial.n_kept, len(trial.said)) == (40, 1)
    assert seconds < 5


def test_refusal_of_one_model_pauses_the_others_of_its_endpoint_and_no_other_endpoint() -> None:
    trial, other = Trial(), Trial()
    busy = CannedModel([failing("overloaded", asks=30.0), "Yes."], name="busy")
    calm, far = CannedModel(lambda *_: "Yes."), CannedModel(lambda *_: "Yes.")
    pair = trial.wrap(busy), trial.wrap(calm)

    async def main() -> None:
        asking = asyncio.create_task(trial.ask(pair[0], 1))
        await asyncio.sleep(1.0)
        await asyncio.gather(trial.ask(pair[1], 5), other.ask(other.wrap(far), 5), asking)

    assert trial.run(main()) >= 30
    assert (trial.n_kept, other.n_kept, max(other.ended_at)) == (6, 5, 1.0)


# -- tries


def failed(*answers: Answer, n_workers: int = 1, **limits: Any) -> tuple[Trial, CannedModel]:
    trial, model = Trial(), CannedModel(answers, name="tiny")
    trial.run(trial.ask(trial.wrap(model, **limits), 1, n_workers=n_workers))
    return trial, model


@pytest.mark.parametrize("reason", sorted(RETRYABLE))
def test_passing_failure_is_tried_again(reason: Reason) -> None:
    trial, model = failed(failing(reason), failing(reason), "Yes.")
    assert trial.reasons == [""]
    assert [call.repeat for call in model.calls] == [2, 2, 2]


@pytest.mark.parametrize(
    "reason", ["bad-key", "no-credit", "unknown-model", "refused-settings", "too-large"]
)
def test_lasting_failure_is_not_tried_again(reason: Reason) -> None:
    trial, _ = failed(failing(reason), "Yes.")
    (error,) = trial.errors
    assert (error.reason, error.n_attempts, str(error)) == (reason, 1, "no")


@pytest.mark.parametrize("reason", sorted(SPOILT))
def test_spoilt_answer_is_tried_again_where_replies_have_come(reason: Reason) -> None:
    first, _ = failed(failing(reason), "Yes.")
    assert first.reasons == [reason]  # a wrong address is named at once
    trial, model = Trial(), CannedModel(["Yes.", failing(reason), "Yes."])
    trial.run(trial.ask(trial.wrap(model), 2, n_workers=1))
    assert trial.reasons == ["", ""]


def asked_over_http(*answers: Any) -> Trial:
    """Ask a real endpoint twice, one call after the other."""
    trial = Trial()

    async def main() -> None:
        async with running_server(*answers) as server, open_client() as client:
            endpoint = Endpoint(name="tiny", model="tiny-1", base_url=server.url)
            await trial.ask(trial.wrap(OpenAICompatibleModel(endpoint, client)), 2, n_workers=1)

    asyncio.run(main())
    return trial


@pytest.mark.parametrize("status", [204, 401, 403, 404, 413])
def test_status_of_a_proxy_in_trouble_is_tried_again_where_the_model_has_answered(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gates, "FIRST_WAIT", 0.01)

    assert asked_over_http(say("Yes."), fail(status), say("Yes.")).reasons == ["", ""]
    # A wrong setting is named at once.
    assert asked_over_http(fail(status), say("Yes.")).reasons[0] != ""


def test_no_credit_is_named_at_once_also_where_the_model_has_answered() -> None:
    trial = asked_over_http(say("Yes."), fail(403, "insufficient credit balance"), say("Yes."))

    assert trial.reasons == ["", "no-credit"]
    assert trial.errors[0].n_attempts == 1


def test_tries_are_the_study_s_and_counted() -> None:
    trial, model = failed(*[failing()] * 3, "Yes.", tries=3)
    (error,) = trial.errors
    assert (error.n_attempts, str(error)) == (3, "no; gave up after 3 tries")
    assert len(model.calls) == 3


def test_refused_calls_are_no_tries_and_counted_as_calls() -> None:
    refused = [failing("rate-limited", asks=1.0)] * 5
    trial, model = failed(*refused, failing(), *refused, "Yes.", tries=2)
    assert (trial.reasons, len(model.calls)) == ([""], 12)


def test_an_address_where_nobody_has_answered_is_given_up_sooner() -> None:
    dead, _ = failed(*[failing("connection")] * 9)
    assert dead.errors[0].n_attempts == 4
    trial, model = Trial(), CannedModel(["Yes.", *[failing("connection")] * 9])
    trial.run(trial.ask(trial.wrap(model), 2, n_workers=1))
    assert trial.errors[0].n_attempts == 6


def test_budget_error_passes_through_and_is_no_try() -> None:
    trial, _ = failed(BudgetError("too dear", reason="budget", n_attempts=0))
    assert (trial.reasons, trial.waits) == (["budget"], [])


def test_waits_are_drawn_below_a_bound_that_doubles_up_to_the_longest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gates, "LONGEST_WAIT", 10.0)
    monkeypatch.setattr(gates, "DEADLINE", 1e9)
    waits = []
    for seed in range(200):
        trial = Trial()
        model = trial.wrap(CannedModel([failing()] * 9), tries=9, seed=seed)
        trial.run(trial.ask(model, 1))
        waits.append(trial.waits)
    bounds = np.array([1, 2, 4, 8, 10, 10, 10, 10])
    drawn = np.array(waits)
    assert np.all((drawn <= bounds) & (drawn >= 0))
    assert np.abs(drawn.mean(axis=0) / bounds - 0.5).max() < 0.1


def test_retry_after_of_a_failure_is_obeyed_with_a_small_jitter_on_top() -> None:
    trial, _ = failed(failing("server-error", asks=20.0), "Yes.")
    assert 20.0 <= trial.waits[0] <= 21.0


def test_no_try_begins_after_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "DEADLINE", 30.0)
    trial, _ = failed(failing("server-error", asks=40.0), "Yes.")
    assert str(trial.errors[0]) == "no; gave up after 1 tries and 30 s"


def test_log_names_model_and_reason_and_no_words(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="hearteval")
    failed(failing("server-error"), "Yes.")
    assert "tiny: server-error; trying again in" in caplog.text
    assert "Hello" not in caplog.text


def test_real_endpoint_that_throttles_breaks_and_recovers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(pace, "FIRST_PAUSE", 0.01)

    async def call() -> Reply:
        answers = [fail(429, Retry_After="0"), fail(500), cut(), say("Yes.")]
        async with running_server(*answers) as server, open_client() as client:
            endpoint = Endpoint(name="tiny", model="tiny-1", base_url=server.url)
            model = Trial().wrap(OpenAICompatibleModel(endpoint, client))
            return await model.complete(MESSAGES, Sampling())

    reply = asyncio.run(call())
    assert (reply.text, reply.n_attempts) == ("Yes.", 4)


# -- the breaker


@pytest.mark.parametrize("reason", sorted(BREAKING - {"rate-limited", "overloaded"}))
def test_model_whose_calls_fail_in_a_row_is_asked_no_more_and_says_so(reason: Reason) -> None:
    trial, model = Trial(), CannedModel(lambda *_: failing(reason, said="go away"), name="tiny")

    trial.run(trial.ask(trial.wrap(model, stop_after=5, tries=1), 50, n_workers=1))

    assert trial.reasons == [reason] * 5 + [NOT_ASKED] * 45
    (words,) = trial.said
    assert f"5 calls in a row failed ({reason}: go away); it is asked no more" in words


def test_failures_between_replies_stop_nothing() -> None:
    trial = Trial()
    model = CannedModel([*[failing("bad-key")] * 7, "Yes."] * 4)

    trial.run(trial.ask(trial.wrap(model), 32, n_workers=1))

    assert (trial.n_kept, trial.said) == (4, [])


def test_questions_that_cannot_be_answered_are_not_the_endpoint_s_fault() -> None:
    trial, model = Trial(), CannedModel(lambda *_: failing("context-too-long"))

    trial.run(trial.ask(trial.wrap(model), 50, n_workers=1))

    assert trial.reasons == ["context-too-long"] * 50


def test_wrong_model_leaves_the_endpoint_to_others_and_a_dead_server_does_not() -> None:
    for reason, n_kept in (("unknown-model", 1), ("connection", 0)):
        trial = Trial()
        wrong = trial.wrap(CannedModel([failing(reason)] * 9), tries=1)  # type: ignore[arg-type]
        right = trial.wrap(CannedModel(["Yes."]))

        async def main(trial: Trial = trial, wrong: Gated = wrong, right: Gated = right) -> None:
            await trial.ask(wrong, 9, n_workers=1)
            await trial.ask(right, 1)

        trial.run(main())
        assert (trial.n_kept, len(trial.said)) == (n_kept, 1)


def test_server_that_dies_after_494_of_4000_takes_seconds() -> None:
    trial, n_answered = Trial(), 0

    class Dying(LimitedModel):
        async def complete(self, *words: Any, **more: Any) -> Reply:
            nonlocal n_answered
            if self.counts["answered"] >= 494:
                self.counts["lost"] += 1
                raise failing("connection", said="refused")
            return await super().complete(*words, **more)

    model = Dying(Bucket(10**6, 1e6))

    seconds = trial.run(trial.ask(trial.wrap(model), 4000))

    assert trial.n_kept == 494
    assert seconds - 494 / 32 * 0.5 < 60
    assert model.counts["lost"] < 1000
    assert trial.reasons.count(NOT_ASKED) > 3000


# -- places


def test_no_more_calls_than_the_model_s_run_at_once() -> None:
    model = LimitedModel(Bucket(10**6, 1e6))
    trial = Trial()
    trial.run(trial.ask(trial.wrap(model, highest=3), 30))
    assert (model.most_running, trial.n_kept) == (3, 30)


def test_cancelled_calls_give_their_places_back() -> None:
    async def main() -> list[str]:
        trial, begun = Trial(), []

        async def answer(key: str) -> str:
            begun.append(key)
            await asyncio.sleep(1.0)
            return key

        class Keyed:
            name = "keyed"

            async def complete(self, messages: Any, _sampling: Any, *, repeat: int = 0) -> Reply:
                return Reply(text=await answer(messages[0].content))

        model = trial.wrap(Keyed(), highest=1)
        tasks = {
            key: asyncio.create_task(
                model.complete([Message(role="user", content=key)], Sampling())
            )
            for key in "abcd"
        }
        await asyncio.sleep(0.5)
        tasks["a"].cancel()
        tasks["c"].cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        return begun

    assert run_virtually(main()) == ["a", "b", "d"]


def test_call_cancelled_in_the_moment_of_its_turn_passes_its_place_on() -> None:
    async def main() -> int:
        trial = Trial()
        line = trial.gate.open_line("m", CallLimits(), highest=1)
        await trial.gate.enter(line, 0.0, is_again=False)
        second = asyncio.create_task(trial.gate.enter(line, 0.0, is_again=False))
        third = asyncio.create_task(trial.gate.enter(line, 0.0, is_again=False))
        await asyncio.sleep(0)
        trial.gate.leave(line)  # gives the place to the second, which has not woken yet
        second.cancel()
        await third
        return line.lane.n_running

    assert run_virtually(main()) == 1


def test_impossible_bound_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="expected at least 1 call in flight"):
        Lane(highest=0)


def test_at_the_limit_on_spending_no_call_waits_for_its_turn() -> None:
    trial = Trial()
    ledger = SpendingLimit(limit_usd=1.0, spent_usd=0.0)
    paid = Budgeted(
        CannedModel(["yes"]),
        ledger,
        ceiling=lambda _messages, _sampling: 1.0,
        price=lambda _usage: 1.0,
        book_lost=nowhere,
    )
    seconds = trial.run(trial.ask(trial.wrap(paid, rpm=1), 100))

    assert Counter(trial.reasons) == {"": 1, "budget": 99}
    assert seconds < 100


async def nowhere(_usd: float) -> None:
    """Book nothing."""
