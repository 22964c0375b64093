"""Trying again, without waiting: the wrapper's sleep is replaced by one that takes notes."""

import asyncio
import logging

import numpy as np
import pytest
from canned_model import Answer, CannedModel
from scripted_server import cut, fail, running_server, say

from hearteval.errors import BudgetError, ModelCallError
from hearteval.models.base import Message, Reply, Sampling
from hearteval.models.failures import RETRYABLE, CallFailureError, Reason
from hearteval.models.http import Endpoint
from hearteval.models.http.client import OpenAICompatibleModel, open_client
from hearteval.models.wrappers.retrying import Retrying, RetryPolicy

MESSAGES = [Message(role="user", content="Hello.")]


def failing(reason: Reason = "server-error", *, asks: float | None = None) -> CallFailureError:
    return CallFailureError("no", reason=reason, reply=Reply(text=""), retry_after_seconds=asks)


class Trial:
    """A model that follows a script, asked through the wrapper."""

    def __init__(self, *answers: Answer, policy: RetryPolicy | None = None, seed: int = 1) -> None:
        self.waits: list[float] = []
        self.canned = CannedModel(answers, name="tiny")
        self.model = Retrying(
            self.canned,
            policy or RetryPolicy(),
            rng=np.random.default_rng(seed),
            sleep=self.sleep,
        )

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def run(self) -> Reply:
        return asyncio.run(self.model.complete(MESSAGES, Sampling(), repeat=2))

    def fail(self) -> ModelCallError:
        with pytest.raises(ModelCallError) as caught:
            self.run()
        return caught.value


@pytest.mark.parametrize("reason", sorted(RETRYABLE))
def test_passing_failure_is_tried_again(reason: Reason) -> None:
    trial = Trial(failing(reason), failing(reason), "Yes.")
    reply = trial.run()
    assert (reply.text, reply.n_attempts) == ("Yes.", 3)
    assert [call.repeat for call in trial.canned.calls] == [2, 2, 2]


@pytest.mark.parametrize(
    "reason", ["bad-key", "no-credit", "unknown-model", "refused-settings", "not-json", "too-large"]
)
def test_lasting_failure_is_not_tried_again(reason: Reason) -> None:
    trial = Trial(failing(reason), "Yes.")
    error = trial.fail()
    assert (error.reason, error.n_attempts, str(error)) == (reason, 1, "no")
    assert trial.waits == []


def test_tries_are_bounded_and_counted() -> None:
    trial = Trial(*[failing()] * 3, "Yes.", policy=RetryPolicy(max_tries=3))
    error = trial.fail()
    assert error.n_attempts == 3
    assert str(error) == "no; gave up after 3 tries"
    assert len(trial.canned.calls) == 3


def test_an_address_where_nobody_has_answered_is_given_up_sooner() -> None:
    dead = Trial(*[failing("connection")] * 9)
    assert dead.fail().n_attempts == 4
    reached = Trial("Yes.", *[failing("connection")] * 9)
    reached.run()
    assert reached.fail().n_attempts == 6


def test_lasting_failure_after_passing_ones_counts_all() -> None:
    error = Trial(failing(), failing("timeout"), failing("bad-key")).fail()
    assert (error.reason, error.n_attempts) == ("bad-key", 3)


def test_budget_error_passes_through_and_is_no_try() -> None:
    trial = Trial(BudgetError("too dear", reason="budget", n_attempts=0))
    assert isinstance(trial.fail(), BudgetError)
    assert trial.waits == []


def test_waits_are_drawn_below_a_bound_that_doubles_up_to_the_longest() -> None:
    policy = RetryPolicy(
        max_tries=9, first_wait_seconds=1, max_wait_seconds=10, deadline_seconds=1e9
    )
    trials = [Trial(*[failing()] * 9, policy=policy, seed=seed) for seed in range(200)]
    for trial in trials:
        trial.fail()
    waits = np.array([trial.waits for trial in trials])
    bounds = np.array([1, 2, 4, 8, 10, 10, 10, 10])
    assert np.all(waits <= bounds)
    assert np.all(waits >= 0)
    assert np.abs(waits.mean(axis=0) / bounds - 0.5).max() < 0.1


def test_same_generator_gives_the_same_waits() -> None:
    first, second = Trial(failing(), "Yes.", seed=7), Trial(failing(), "Yes.", seed=7)
    first.run()
    second.run()
    assert first.waits == second.waits


def test_retry_after_is_obeyed_with_a_small_jitter_on_top() -> None:
    trial = Trial(failing("rate-limited", asks=20.0), "Yes.")
    trial.run()
    assert 20.0 <= trial.waits[0] <= 21.0


def test_longer_retry_after_than_the_longest_wait_is_given_up_with_the_wait() -> None:
    trial = Trial(failing("rate-limited", asks=3600.0), "Yes.")
    assert "it asks to wait 3600 s, and 60 s is the most" in str(trial.fail())
    assert trial.waits == []


def test_no_try_begins_after_the_deadline() -> None:
    policy = RetryPolicy(max_wait_seconds=50, deadline_seconds=30)
    error = Trial(failing("rate-limited", asks=40.0), "Yes.", policy=policy).fail()
    assert str(error) == "no; gave up after 1 tries and 30 s"


def test_cancellation_ends_the_wait() -> None:
    async def call() -> int:
        trial = Trial(failing(), "Yes.")
        trial.model = Retrying(
            trial.canned,
            RetryPolicy(first_wait_seconds=1000, max_wait_seconds=1000, deadline_seconds=2000),
            rng=np.random.default_rng(1),
        )
        task = asyncio.create_task(trial.model.complete(MESSAGES, Sampling()))
        while not trial.canned.calls:
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(trial.canned.calls)

    assert asyncio.run(call()) == 1


def test_log_names_model_and_reason_and_no_words(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="hearteval")
    Trial(failing("rate-limited"), "Yes.").run()
    assert "tiny: rate-limited; trying again in" in caplog.text
    assert "Hello" not in caplog.text


def test_real_endpoint_that_throttles_breaks_and_recovers() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def call() -> Reply:
        answers = [fail(429, Retry_After="3"), fail(500), cut(), say("Yes.")]
        async with running_server(*answers) as server, open_client() as client:
            endpoint = Endpoint(name="tiny", model="tiny-1", base_url=server.url)
            model = OpenAICompatibleModel(endpoint, client)
            retrying = Retrying(model, RetryPolicy(), rng=np.random.default_rng(1), sleep=sleep)
            return await retrying.complete(MESSAGES, Sampling())

    reply = asyncio.run(call())
    assert (reply.text, reply.n_attempts) == ("Yes.", 4)
    assert 3.0 <= waits[0] <= 4.0
    assert waits[1] <= 2.0
