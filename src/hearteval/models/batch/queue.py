"""Calls through a provider's batch jobs: queued, submitted together, and answered when a job ends.

No call is paid twice, whenever a run is killed: a job is written down before it is submitted, each
of its calls bears the key under which its reply will be kept, and a later run waits for the job
that holds a call instead of making the call again. A job stays open until all of its replies are
kept, so until then they can be fetched again (docs/decisions/0010-batch-jobs.md).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

from hearteval.domain import BatchJob, record_id
from hearteval.errors import SettingsError
from hearteval.models.base import JsonObject, Message, Reply, Sampling
from hearteval.models.batch import TOO_SLOW, BatchProvider, EndedJob, JobBook
from hearteval.models.failures import RETRYABLE, FaultError
from hearteval.models.wrappers.cached import ReplyKeys

T = TypeVar("T")
KEPT = timedelta(days=29)
"""How long results can be fetched at the provider, after which a job that it lost is given up."""
YOUNG = timedelta(minutes=1)
"""A job may not be seen at once by every server of its provider."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPolicy:
    """When to submit, how often to ask, and when to give up."""

    quiet_seconds: float = 2.0
    """Calls wait for others until none has come for so long."""
    first_wait_seconds: float = 5.0
    """Before the second look at a job; waits grow by half each."""
    max_wait_seconds: float = 60.0
    """No wait is longer."""
    settle_seconds: float = 15.0
    """A job that was submitted longer ago, and is not there, never arrived."""
    max_tries: int = 60
    """Tries of a request in a row that fail for reasons that may pass."""

    def wait_seconds(self, n: int) -> float:
        """Return how long to wait after so many waits."""
        return min(self.max_wait_seconds, self.first_wait_seconds * 1.5 ** min(n, 20))


class JobRunner:
    """Runs the jobs of one model: writes each down, submits it once, waits for it, lets it go.

    Submitting costs money and is never repeated while the job may be there; everything else costs
    nothing and is repeated until it works.

    Attributes:
        open: Jobs whose results are not fetched yet, by our id; those of earlier runs too, and of
            other models.
        under_way: Of these, the ones that this run waits for.
    """

    def __init__(
        self,
        provider: BatchProvider,
        book: JobBook,
        *,
        say: Callable[[str], None],
        policy: BatchPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.provider = provider
        self.say = say
        self.policy = policy or BatchPolicy()
        self.now = now
        self.open: dict[str, BatchJob] = {}
        self.under_way: dict[str, BatchJob] = {}
        self._book = book
        self._sleep = sleep

    def adopt(self) -> None:
        """Find the jobs that earlier runs left open, and let go of what is kept of them."""
        kept = self._book.reply_ids()
        for job in self._book.jobs():
            if job.closed_at is not None:
                continue
            self.open[job.id] = job
            if kept.issuperset(job.custom_ids):
                self.close(job)

    def let_go(self, jobs: Sequence[BatchJob], failed: AbstractSet[str]) -> None:
        """Let go of fetched calls that are kept or known to be missing, which may be made anew."""
        done = failed | (self._book.reply_ids() if jobs else frozenset())
        for job in jobs:
            left = tuple(custom_id for custom_id in job.custom_ids if custom_id not in done)
            if left:
                self._book.keep_job(replace(job, custom_ids=left))
            else:
                self.close(job)

    def close(self, job: BatchJob) -> None:
        """Close a job that has nothing outstanding: all is kept, or it never was, or is lost."""
        self._book.keep_job(replace(job, closed_at=self.now()))
        self.open.pop(job.id, None)
        self.under_way.pop(job.id, None)

    async def submit(self, job: BatchJob, requests: Sequence[str]) -> BatchJob:
        """Submit a job once, whatever happens to the answer; return it with its provider's id.

        Raises:
            FaultError: It was refused, and is closed; or nobody knows, and it stays open.
        """
        body = await self._patiently(lambda: self.provider.prepare(job, requests))
        job = replace(job, created_at=self.now())
        self._keep(job)
        n_waits = 0
        while True:
            try:
                remote_id: str | None = await self.provider.create(body)
            except FaultError as fault:
                remote_id = None if _is_refused(fault) else await self._find(job)
                if remote_id is None and not self._may_pass(fault, n_waits):
                    self.close(job)
                    raise
            if remote_id is not None:
                return self._keep(replace(job, remote_id=remote_id))
            await self._sleep(self.policy.wait_seconds(n_waits))
            n_waits += 1

    async def recover(self, job: BatchJob) -> BatchJob | None:
        """Return a job whose submission was cut off with its provider's id; None if it has none."""
        remote_id = await self._find(job)
        if remote_id is None:
            self.close(job)
            return None
        return self._keep(replace(job, remote_id=remote_id))

    async def fetch(self, job: BatchJob) -> tuple[dict[str, str], FaultError] | None:
        """Wait for a job's end; return its results by custom id, and why a call has none.

        None if the results are gone for good.

        Raises:
            FaultError: They cannot be fetched now.
            SettingsError: The provider does not know the job, and it is not that old.
        """
        self.under_way[job.id] = job
        try:
            ended = await self._wait_for_end(job)
            results = await self._patiently(lambda: self.provider.results(ended))
        except FaultError as fault:
            if fault.status != 404:
                raise
            self._give_up(job)
            return None
        del self.open[job.id], self.under_way[job.id]
        return results, ended.missing

    async def _find(self, job: BatchJob) -> str | None:
        """Return the provider's id of a job whose submission was cut off; None if it has none."""
        found = await self._patiently(lambda: self.provider.find(job))
        if not found:
            age = (self.now() - job.created_at).total_seconds()
            await self._sleep(max(0.0, self.policy.settle_seconds - age))
            found = await self._patiently(lambda: self.provider.find(job))
        for remote_id in found:
            self.say(
                f"the answer to a submission was lost: batch job {remote_id} of {job.provider}"
                " may be the one; when it has ended, its results will tell"
            )
            ended = await self._wait_for_end(replace(job, remote_id=remote_id))
            results = await self._patiently(partial(self.provider.results, ended))
            if not results.keys().isdisjoint(job.custom_ids):
                return remote_id
        return None

    async def _wait_for_end(self, job: BatchJob) -> EndedJob:
        assert job.remote_id is not None
        remote_id, n_waits = job.remote_id, 0
        while True:
            try:
                ended = await self._patiently(lambda: self.provider.poll(remote_id))
                if ended is not None:
                    return ended
            except FaultError as fault:
                if fault.status != 404 or self.now() - job.created_at > YOUNG:
                    raise
            await self._sleep(self.policy.wait_seconds(n_waits))
            n_waits += 1

    def _give_up(self, job: BatchJob) -> None:
        """Close a lost job, if its results cannot be there any more."""
        self.under_way.pop(job.id)
        if self.now() - job.created_at <= KEPT:
            raise SettingsError(
                f"{job.provider} does not know the batch job {job.remote_id} of"
                f" {job.created_at:%Y-%m-%d %H:%M} UTC, which holds {len(job.custom_ids):,} calls"
                f" of {job.model}: use the address and a key of the account that submitted it; or"
                " take batch = true out, to make its calls directly and pay for them again",
                ids=(job.id,),
            )
        self.say(
            f"the results of batch job {job.remote_id} are no longer kept by {job.provider}: its"
            " calls are made, and paid for, again"
        )
        self.close(job)

    def _keep(self, job: BatchJob) -> BatchJob:
        self._book.keep_job(job)
        self.open[job.id] = self.under_way[job.id] = job
        return job

    async def _patiently(self, request: Callable[[], Awaitable[T]]) -> T:
        """Make a request that costs nothing, as often as it takes."""
        n_waits = 0
        while True:
            try:
                return await request()
            except FaultError as fault:
                if not self._may_pass(fault, n_waits):
                    raise
                _log.info("%s: batch interface: %s; trying again", self.provider.name, fault.reason)
            await self._sleep(self.policy.wait_seconds(n_waits))
            n_waits += 1

    def _may_pass(self, fault: FaultError, n_waits: int) -> bool:
        return fault.reason in RETRYABLE and n_waits < self.policy.max_tries


def _is_refused(fault: FaultError) -> bool:
    """Say whether a submission was answered with a no: then there is no job."""
    return fault.status is not None and 400 <= fault.status < 500 and fault.status not in TOO_SLOW


class BatchQueue:
    """The calls of one model through batch jobs, for as long as the block runs."""

    def __init__(self, runner: JobRunner, *, max_calls: int) -> None:
        self.provider = runner.provider
        self._runner = runner
        self._max_calls = min(max_calls, runner.provider.max_calls)
        self._requests: dict[str, str] = {}
        self._answers: dict[str, asyncio.Future[str | FaultError]] = {}
        self._queued: list[str] = []
        self._n_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._job_ids: dict[str, str] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._collected: list[BatchJob] = []
        self._failed: set[str] = set()

    async def __aenter__(self) -> "BatchQueue":
        """Find the jobs that earlier runs left open."""
        self._runner.adopt()
        for job in self._runner.open.values():
            self._job_ids.update(dict.fromkeys(job.custom_ids, job.id))
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Leave what is under way with the provider; let go of what is kept or known to fail."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for job in self._runner.under_way.values():
            self._runner.say(
                f"the batch job of {len(job.custom_ids):,} calls goes on at {job.provider}; run"
                " again to collect its replies"
            )
        self._runner.let_go(self._collected, self._failed)

    async def ask(self, custom_id: str, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """Return the reply to one call, after the job that holds it.

        Raises:
            CallFailureError: The job has no reply to it, or came to nothing.
            SettingsError: The provider does not know the job that holds it.
        """
        if custom_id not in self._answers:
            self._requests[custom_id] = self.provider.request(custom_id, messages, sampling)
            self._answers[custom_id] = asyncio.get_running_loop().create_future()
            self._find_job(custom_id)
        waiting = self._answers[custom_id]
        # Two calls may ask the same: that one of them is cancelled is no matter of the other.
        answer = await asyncio.shield(waiting)
        if self._answers.get(custom_id) is waiting:
            self._forget(custom_id)
        try:
            if isinstance(answer, str):
                return self.provider.read(answer, sampling)
            fault = answer
        except FaultError as error:
            fault = error
        self._failed.add(custom_id)
        raise self.provider.failure(fault, messages, sampling) from None

    def _find_job(self, custom_id: str) -> None:
        """Wait for the job of an earlier run that holds a call, or make the call in a new one."""
        job = self._runner.open.get(self._job_ids.get(custom_id, ""))
        if job is None:
            self._enqueue(custom_id)
        elif job.id not in self._tasks:
            self._start(job.id, job.custom_ids, self._resume(job))

    def _forget(self, custom_id: str) -> "asyncio.Future[str | FaultError] | None":
        self._requests.pop(custom_id, None)
        return self._answers.pop(custom_id, None)

    def _enqueue(self, custom_id: str) -> None:
        size = len(self._requests[custom_id]) + 1
        if self._queued and self._n_bytes + size > self.provider.max_bytes:
            self._submit_queued()
        self._queued.append(custom_id)
        self._n_bytes += size
        if self._timer is not None:
            self._timer.cancel()
        if len(self._queued) >= self._max_calls:
            self._submit_queued()
        else:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._runner.policy.quiet_seconds, self._submit_queued)

    def _submit_queued(self) -> None:
        custom_ids, self._queued, self._n_bytes = tuple(self._queued), [], 0
        created_at = self._runner.now()
        own = {"custom_ids": custom_ids, "created_at": created_at.isoformat()}
        job = BatchJob(
            id=record_id("batch_job", own),
            provider=self.provider.provider,
            model=self.provider.name,
            custom_ids=custom_ids,
            created_at=created_at,
        )
        self._start(job.id, custom_ids, self._run(job))

    def _start(self, job_id: str, custom_ids: Sequence[str], work: Awaitable[None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except FaultError as fault:
                fault.may_be_charged = False  # of the job; its calls cost when they have results
                self._answer(custom_ids, {}, fault)
            except Exception as error:  # noqa: BLE001 - it reaches whoever waits
                for custom_id in custom_ids:
                    waiting = self._forget(custom_id)
                    if waiting is not None and not waiting.done():
                        waiting.set_exception(error)
                        waiting.exception()  # whoever waited may have been cancelled
            finally:
                self._tasks.pop(job_id, None)

        self._tasks[job_id] = asyncio.get_running_loop().create_task(guarded())

    async def _run(self, job: BatchJob) -> None:
        """Submit a job and wait for its end."""
        requests = [self._requests[custom_id] for custom_id in job.custom_ids]
        self._job_ids.update(dict.fromkeys(job.custom_ids, job.id))
        job = await self._runner.submit(job, requests)
        self._runner.say(
            f"batch job of {len(job.custom_ids):,} calls of {job.model} submitted to"
            f" {job.provider}; up to 24 hours; stop any time and run again to collect"
        )
        await self._collect(job)

    async def _resume(self, job: BatchJob) -> None:
        """Wait for the end of a job of an earlier run."""
        n = len(job.custom_ids)
        self._runner.say(f"collecting {n:,} calls of an earlier batch job of {job.model}")
        found = job if job.remote_id is not None else await self._runner.recover(job)
        if found is not None:
            await self._collect(found)
            return
        self._runner.say("that job had not arrived when the run ended: its calls are made now")
        self._ask_anew(job)

    async def _collect(self, job: BatchJob) -> None:
        """Wait for a job's end and give each call its answer."""
        fetched = await self._runner.fetch(job)
        if fetched is None:
            self._ask_anew(job)
            return
        results, missing = fetched
        self._collected.append(job)
        # One may have failed while the job could not be reached: its reply is still outstanding.
        self._failed -= results.keys()
        self._failed |= set(job.custom_ids) - results.keys()
        self._answer(job.custom_ids, results, missing)

    def _ask_anew(self, job: BatchJob) -> None:
        for custom_id in job.custom_ids:
            if custom_id in self._requests:
                self._enqueue(custom_id)

    def _answer(
        self, custom_ids: Sequence[str], results: dict[str, str], missing: FaultError
    ) -> None:
        for custom_id in custom_ids:
            answer = self._answers.get(custom_id)
            if answer is not None and not answer.done():
                answer.set_result(results.get(custom_id, missing))
            elif custom_id in results:
                early = asyncio.get_running_loop().create_future()
                early.set_result(results[custom_id])
                self._answers[custom_id] = early


class Batched:
    """A `ChatModel` of batch jobs: a call bears the key under which its reply is cached."""

    def __init__(self, queue: BatchQueue, *, identity: JsonObject) -> None:
        self.name = queue.provider.name
        self._queue = queue
        self._keys = ReplyKeys(identity)

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Answer when the job that holds the call has ended; see `ChatModel.complete`."""
        key = self._keys.key(messages, sampling, repeat=repeat)
        return await self._queue.ask(key, messages, sampling)
