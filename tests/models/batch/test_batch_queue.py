"""Calls through batch jobs: one job for many, each call paid once, whatever is cut off when."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from batch_server import TOKENS_IN, TOKENS_OUT, BatchServer, Job, batch_server

from hearteval.domain import BatchJob
from hearteval.errors import SettingsError
from hearteval.models.base import Message, Reply, Sampling
from hearteval.models.batch.providers import AnthropicBatches, OpenAIBatches
from hearteval.models.batch.queue import Batched, BatchPolicy, BatchQueue, JobRunner
from hearteval.models.failures import CallFailureError
from hearteval.models.http import Endpoint
from hearteval.models.http.client import open_client
from hearteval.models.wrappers.cached import Cached
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.store.sql import SqlStore
from hearteval.study.asking.models import StoredReplies
from hearteval.study.session import utc_now

pytestmark = pytest.mark.server

KEY = "canary-0123456789"
IDENTITY = {"model": "m-1"}
SAMPLING = Sampling(max_tokens=64, seed=3, refuses=frozenset({"top_p"}))
QUICK = BatchPolicy(
    quiet_seconds=0.02, first_wait_seconds=0.005, max_wait_seconds=0.01, settle_seconds=0.0
)
LATER = {"created_at": "2099-01-01T00:00:00Z"}
Outcome = Reply | BaseException


@dataclass
class World:
    """A provider, and a store that outlives the runs."""

    server: BatchServer
    dialect: str
    store: SqlStore = field(default_factory=SqlStore.in_memory)
    said: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    max_bytes: int | None = None

    def open_jobs(self) -> list[BatchJob]:
        return [job for job in self.store.jobs() if job.closed_at is None]

    async def ask(
        self,
        *texts: str,
        max_calls: int = 1_000,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        in_turn: bool = False,
    ) -> list[Outcome]:
        """Ask in one run, all at once or in turn, as a study does: behind the cache."""

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)
            await asyncio.sleep(0.005)

        async with GroupedWriter(self.store, wait_seconds=0.001) as writer, open_client() as client:
            endpoint = Endpoint(name="m-1", model="m-1", base_url=self.server.url, api_key=KEY)
            provider = (
                OpenAIBatches(endpoint, client)
                if self.dialect == "openai"
                else AnthropicBatches(endpoint, client)
            )
            if self.max_bytes is not None:
                provider.max_bytes = self.max_bytes
            runner = JobRunner(
                provider, self.store, say=self.said.append, policy=QUICK, sleep=sleep, now=now
            )
            async with BatchQueue(runner, max_calls=max_calls) as queue:
                batched = Batched(queue, identity=IDENTITY)
                model = Cached(batched, StoredReplies(writer, utc_now), identity=IDENTITY)
                groups = [[text] for text in texts] if in_turn else [texts]
                outcomes: list[Outcome] = []
                for group in groups:
                    calls = (model.complete(question(text), SAMPLING) for text in group)
                    outcomes += await asyncio.gather(*calls, return_exceptions=True)
                return outcomes

    async def ask_and_stop(self, *texts: str, when: Callable[[], bool]) -> None:
        """Ask, and cancel everything once something has happened."""
        asking = asyncio.create_task(self.ask(*texts))
        async with asyncio.timeout(60):
            while not when():
                await asyncio.sleep(0.002)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    def stop_while_a_job_runs(self, *texts: str) -> None:
        self.server.is_held = True
        asyncio.run(self.ask_and_stop(*texts, when=lambda: self.server.n_polls > 0))
        self.server.is_held = False


@pytest.fixture(params=["openai", "anthropic"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with batch_server() as server:
        world = World(server, request.param)
        yield world
        world.store.close()


@pytest.fixture
def openai() -> Iterator[World]:
    with batch_server() as server:
        world = World(server, "openai")
        yield world
        world.store.close()


def question(text: str) -> tuple[Message, ...]:
    return (Message(role="system", content="Be kind."), Message(role="user", content=text))


def replies(outcomes: list[Outcome]) -> list[Reply]:
    assert all(isinstance(outcome, Reply) for outcome in outcomes), outcomes
    return [outcome for outcome in outcomes if isinstance(outcome, Reply)]


def failure(outcomes: list[Outcome]) -> CallFailureError:
    (outcome,) = outcomes
    assert isinstance(outcome, CallFailureError)
    return outcome


def intent(world: World, *custom_ids: str, remote_id: str | None = None) -> BatchJob:
    """Write down a job as a run does before it submits it."""
    job = BatchJob(
        id="ab" * 16,
        provider=world.dialect,
        model="m-1",
        custom_ids=custom_ids,
        created_at=datetime.now(UTC),
        remote_id=remote_id,
    )
    world.store.keep_job(job)
    return job


def custom_id(world: World, text: str) -> str:
    """Find out under which id a question is asked."""
    other = World(world.server, world.dialect)
    asyncio.run(other.ask(text))
    (job,) = world.server.jobs.values()
    (found,) = job.calls
    world.server.jobs.clear()
    world.server.n_submitted.clear()
    other.store.close()
    return found


def test_what_is_asked_together_is_one_job(world: World) -> None:
    outcomes = asyncio.run(world.ask("one", "two", "three"))

    assert world.server.sizes == [3]
    assert len({reply.text for reply in replies(outcomes)}) > 1


def test_reply_says_that_it_comes_from_a_batch_and_has_no_times(world: World) -> None:
    (reply,) = replies(asyncio.run(world.ask("one")))

    assert reply.effective["batch"] is True
    assert reply.requested["top_p"] == 1.0
    assert "top_p" not in reply.effective
    assert (reply.total_ms, reply.first_text_ms) == (None, None)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (TOKENS_IN, TOKENS_OUT)
    assert not reply.cached


def test_more_than_one_job_may_hold_is_several(world: World) -> None:
    outcomes = asyncio.run(world.ask(*map(str, range(5)), max_calls=2))

    assert len(replies(outcomes)) == 5
    assert sorted(world.server.sizes) == [1, 2, 2]

    world.max_bytes = 600
    assert len(replies(asyncio.run(world.ask("a" * 200, "b" * 200)))) == 2
    assert world.server.sizes[3:] == [1, 1]


def test_same_question_twice_at_once_is_one_call(world: World) -> None:
    outcomes = asyncio.run(world.ask("one", "one"))

    assert len(replies(outcomes)) == 2
    assert world.server.sizes == [1]


def test_second_run_asks_nothing(world: World) -> None:
    asyncio.run(world.ask("one", "two"))

    again = replies(asyncio.run(world.ask("one", "two")))

    assert [reply.cached for reply in again] == [True, True]
    assert len(world.server.jobs) == 1


@pytest.mark.parametrize(
    ("fate", "reason"), [("expired", "batch-expired"), ("absent", "server-error")]
)
def test_call_without_a_reply_says_why(world: World, fate: str, reason: str) -> None:
    world.server.fate = lambda _custom_id, _body: fate

    assert failure(asyncio.run(world.ask("one"))).reason == reason


def test_refused_call_of_a_job_is_a_failure_of_its_own(world: World) -> None:
    world.server.fate = lambda _id, body: "error" if "bad" in str(body["messages"]) else "ok"

    bad, good = asyncio.run(world.ask("bad", "good"))

    assert failure([bad]).reason == (
        "content-filter" if world.dialect == "openai" else "bad-request"
    )
    assert isinstance(good, Reply)


def test_expired_call_is_made_again_in_a_later_run(world: World) -> None:
    world.server.fate = lambda _custom_id, _body: "expired"
    asyncio.run(world.ask("one"))
    world.server.fate = lambda _custom_id, _body: "ok"

    assert replies(asyncio.run(world.ask("one")))
    assert world.open_jobs() == []


def test_stopped_run_says_how_to_go_on_and_a_later_one_collects_its_job(world: World) -> None:
    world.stop_while_a_job_runs("one", "two")

    outcomes = asyncio.run(world.ask("two", "one", "three"))

    assert len(replies(outcomes)) == 3
    assert set(world.server.n_submitted.values()) == {1}
    assert world.server.sizes == [2, 1]
    submitted, stopped, collecting, *_ = world.said
    assert submitted.startswith(f"batch job of 2 calls of m-1 submitted to {world.dialect}")
    assert stopped.startswith(f"the batch job of 2 calls goes on at {world.dialect}; run again")
    assert collecting == "collecting 2 calls of an earlier batch job of m-1"


def test_run_stopped_before_the_answer_to_its_submission_pays_once(world: World) -> None:
    world.server.answer_seconds = 60.0
    asyncio.run(world.ask_and_stop("one", "two", when=lambda: bool(world.server.jobs)))
    world.server.answer_seconds = 0.0
    assert [job.remote_id for job in world.open_jobs()] == [None]

    outcomes = asyncio.run(world.ask("one", "two"))

    assert len(replies(outcomes)) == 2
    assert world.server.sizes == [2]
    assert world.open_jobs() == []


def test_lost_submission_is_found_behind_newer_jobs(world: World) -> None:
    world.server.answer_seconds = 60.0
    asyncio.run(world.ask_and_stop("one", "two", when=lambda: bool(world.server.jobs)))
    world.server.answer_seconds, world.server.page = 0.0, 1
    for number in range(3):
        foreign = Job(
            f"batch_f{number}", {"x": {}}, {"mark": "theirs"}, datetime.now(UTC).timestamp()
        )
        world.server.jobs[foreign.id] = foreign

    assert len(replies(asyncio.run(world.ask("one", "two")))) == 2
    assert len(world.server.n_submitted) == 2


@pytest.mark.parametrize("drops_metadata", [False, True])
def test_submission_whose_answer_is_lost_is_found_again(world: World, drops_metadata: bool) -> None:
    """Without metadata, which only one of the two has, a job is known by its results."""
    world.server.drops_metadata = drops_metadata
    world.server.lost_answers = 1

    outcomes = asyncio.run(world.ask("one", "two"))

    assert len(replies(outcomes)) == 2
    assert world.server.sizes == [2]


def test_job_that_never_arrived_is_submitted_once(world: World) -> None:
    found = custom_id(world, "one")
    intent(world, found)

    assert replies(asyncio.run(world.ask("one", "two")))
    assert set(world.server.n_submitted.values()) == {1}
    assert "that job had not arrived when the run ended: its calls are made now" in world.said
    assert world.open_jobs() == []


def test_job_of_another_program_is_not_taken_for_ours(world: World) -> None:
    found = custom_id(world, "one")
    body = {"model": "m-1", "messages": [{"role": "user", "content": "theirs"}]}
    foreign = Job("batch_foreign", {"their-id": body}, {}, datetime.now(UTC).timestamp())
    world.server.jobs[foreign.id] = foreign
    intent(world, found)

    assert replies(asyncio.run(world.ask("one")))
    assert world.server.n_submitted == Counter([found])
    assert any("batch_foreign" in line for line in world.said)


def test_submission_that_is_throttled_waits_and_is_made_again(world: World) -> None:
    world.server.refusals = [(429, {"message": "Slow down."}), (429, {"message": "Slow down."})]

    assert replies(asyncio.run(world.ask("one")))
    assert world.server.sizes == [1]
    assert world.waits[:2] == [0.005, 0.0075]


def test_refused_submission_fails_every_call_and_leaves_no_open_job(world: World) -> None:
    world.server.refusals = [(401, {"message": f"Bad key {KEY}"})]

    one, two = asyncio.run(world.ask("one", "two"))

    assert failure([one]).reason == failure([two]).reason == "bad-key"
    assert KEY not in f"{one}{two}"
    assert world.open_jobs() == []


def test_whole_job_that_is_refused_later_says_why(openai: World) -> None:
    openai.server.status = "failed"

    error = failure(asyncio.run(openai.ask("one")))

    assert error.reason == "rate-limited"
    assert "Enqueued token limit; lower the concurrency" in str(error)


def test_cancelled_job_keeps_what_it_has_done(openai: World) -> None:
    openai.server.status = "cancelled"
    openai.server.fate = lambda _id, body: "absent" if "two" in str(body["messages"]) else "ok"

    one, two = asyncio.run(openai.ask("one", "two"))

    assert isinstance(one, Reply)
    assert failure([two]).reason == "batch-cancelled"


def test_provider_that_does_not_know_a_job_is_not_paid_again(world: World) -> None:
    intent(world, custom_id(world, "one"), remote_id="batch_gone")
    later = datetime.now(UTC) + timedelta(hours=2)

    (error,) = asyncio.run(world.ask("one", now=lambda: later))

    assert isinstance(error, SettingsError)
    assert "does not know the batch job batch_gone" in str(error)
    assert world.server.jobs == {}
    assert len(world.open_jobs()) == 1


def test_job_whose_results_are_gone_for_good_is_asked_anew_aloud(world: World) -> None:
    intent(world, custom_id(world, "one"), remote_id="batch_gone")
    later = datetime.now(UTC) + timedelta(days=40)

    assert replies(asyncio.run(world.ask("one", now=lambda: later)))
    assert any("are no longer kept" in line and "paid for, again" in line for line in world.said)


def test_job_stays_open_until_its_replies_are_kept(world: World) -> None:
    world.stop_while_a_job_runs("one", "two")

    asyncio.run(world.ask("one"))
    assert len(world.open_jobs()) == 1
    asyncio.run(world.ask("two"))
    assert world.open_jobs() == []
    assert world.server.sizes == [2]


def test_missing_call_is_made_anew_although_its_job_holds_others(world: World) -> None:
    world.stop_while_a_job_runs("one", "two")
    world.server.fate = lambda _custom_id, _body: "expired"
    asyncio.run(world.ask("one"))
    world.server.fate = lambda _custom_id, _body: "ok"

    one, two = asyncio.run(world.ask("one", "two"))

    assert replies([one, two])
    assert world.server.sizes == [2, 1]
    assert world.open_jobs() == []


def test_job_that_could_not_be_reached_keeps_the_replies_nobody_has_seen(world: World) -> None:
    world.stop_while_a_job_runs("one", "two")
    world.server.poll_refusals = [403]

    one, two = asyncio.run(world.ask("one", "two", in_turn=True))
    again = asyncio.run(world.ask("one"))

    assert failure([one]).reason == "bad-key"
    assert replies([two, *again])
    assert world.server.sizes == [2]


def test_provider_that_stumbles_while_a_job_runs_is_asked_again(world: World) -> None:
    world.server.poll_refusals = [503, 504, 429]

    assert replies(asyncio.run(world.ask("one")))
    assert world.server.sizes == [1]


def test_job_in_a_state_of_another_name_is_waited_for(world: World) -> None:
    world.server.looks = [
        {"id": "batch_1", "status": "QUEUED", "processing_status": "queued"},
        {"id": "batch_1", "status": "CANCELING", "processing_status": "canceling"},
    ]

    assert replies(asyncio.run(world.ask("one")))
    assert world.server.sizes == [1]


@pytest.mark.parametrize("look", [{}, {"status": None, "processing_status": 7}])
def test_job_without_a_state_stays_open_and_is_not_paid_again(
    world: World, look: dict[str, object]
) -> None:
    world.server.looks = [look]

    assert failure(asyncio.run(world.ask("one"))).reason == "not-a-completion"
    assert replies(asyncio.run(world.ask("one")))
    assert world.server.sizes == [1]


@pytest.mark.parametrize(
    "listing",
    [
        {"data": 5},
        {"data": ["batch_1"]},
        {"data": [{"id": 5, "metadata": ["x"], "request_counts": ["x"], **LATER}]},
        {
            "data": [{"id": "b", "metadata": {"a": "b"}, "request_counts": {}, **LATER}],
            "has_more": True,
        },
    ],
)
def test_job_that_cannot_be_looked_for_is_not_paid_again(world: World, listing: object) -> None:
    world.server.lost_answers = 1
    world.server.listing = listing

    outcomes = asyncio.run(asyncio.wait_for(world.ask("one"), 60))
    world.server.listing = None

    assert failure(outcomes).reason == "not-a-completion"
    assert replies(asyncio.run(world.ask("one")))
    assert world.server.sizes == [1]


def test_list_whose_times_name_no_zone_is_read(world: World) -> None:
    found = custom_id(world, "one")
    intent(world, found)
    theirs = {"id": "b", "metadata": {"a": "b"}, "request_counts": {"processing": 7}}
    world.server.listing = {"data": [{**theirs, "created_at": "2020-01-01T00:00:00"}]}

    assert replies(asyncio.run(world.ask("one")))


def test_results_are_fetched_from_no_address_that_is_not_an_id(openai: World) -> None:
    openai.server.looks = [{"id": "batch_1", "status": "completed", "output_file_id": "../x?y"}]

    assert failure(asyncio.run(openai.ask("one"))).reason == "not-a-completion"
    assert replies(asyncio.run(openai.ask("one")))
    assert openai.server.sizes == [1]


def test_job_whose_replies_are_all_kept_is_closed_without_asking(world: World) -> None:
    asyncio.run(world.ask("one"))
    (job,) = world.store.jobs()
    world.store.keep_job(replace(job, closed_at=None))
    n_polls = world.server.n_polls

    asyncio.run(world.ask("one"))

    assert world.open_jobs() == []
    assert world.server.n_polls == n_polls


def test_key_goes_to_the_provider_in_its_own_header_and_nowhere_else(world: World) -> None:
    asyncio.run(world.ask("one"))

    name, value = (
        ("Authorization", f"Bearer {KEY}") if world.dialect == "openai" else ("x-api-key", KEY)
    )
    assert {headers[name] for headers in world.server.headers} == {value}
    assert KEY not in f"{world.store.jobs()}{world.said}"
