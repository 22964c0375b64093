"""Calls through a provider's batch jobs: queued, submitted together, and answered when a job ends.

No call is paid twice, whenever a run is killed: a job is written down before it is submitted, each
of its calls bears the key under which its reply will be kept, and a later run waits for the job
that holds a call instead of making the call again. A job stays open until all of its replies are
kept, so until then they can be fetched again (docs/decisions/0010-batch-jobs.md).
"""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from types import TracebackType

from heartbench.domain import record_id
from heartbench.models.base import JsonObject, Message, Reply, Sampling
from heartbench.models.batch_jobs import BatchJob
from heartbench.models.batch_runner import JobRunner
from heartbench.models.cached import ReplyKeys
from heartbench.models.failures import FaultError


@dataclass(slots=True)
class _Call:
    """A question that waits for its answer."""

    request: str = field(repr=False)
    answered: "asyncio.Future[None]"
    n_waiting: int = 0


class BatchQueue:
    """The calls of one model through batch jobs, for as long as the block runs.

    Args:
        runner: Runs the jobs.
        max_calls: Most calls of one job; the provider's own limits hold too.
    """

    def __init__(self, runner: JobRunner, *, max_calls: int) -> None:
        self.provider = runner.provider
        self._runner = runner
        self._max_calls = min(max_calls, runner.provider.max_calls)
        self._calls: dict[str, _Call] = {}
        self._queued: list[str] = []
        self._n_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._job_ids: dict[str, str] = {}
        self._answers: dict[str, str | FaultError] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._collected: list[BatchJob] = []
        self._failed: set[str] = set()

    async def __aenter__(self) -> "BatchQueue":
        """Find the jobs that earlier runs left open."""
        self._runner.adopt()
        for job in self._runner.open.values():
            self._job_ids.update(dict.fromkeys(job.custom_ids, job.id))
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
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
            await self._wait_for_answer(custom_id, messages, sampling)
        answer = self._answers[custom_id]
        call = self._calls.get(custom_id)
        if call is None or not call.n_waiting:
            self._calls.pop(custom_id, None)
            del self._answers[custom_id]
        try:
            if isinstance(answer, str):
                return self.provider.read(answer, sampling)
            fault = answer
        except FaultError as error:
            fault = error
        self._failed.add(custom_id)
        raise self.provider.failure(fault, messages, sampling) from None

    async def _wait_for_answer(
        self, custom_id: str, messages: Sequence[Message], sampling: Sampling
    ) -> None:
        call = self._calls.get(custom_id)
        if call is None:
            request = self.provider.request(custom_id, messages, sampling)
            answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            call = self._calls[custom_id] = _Call(request, answered)
            job = self._runner.open.get(self._job_ids.get(custom_id, ""))
            if job is None:
                self._enqueue(custom_id)
            elif job.id not in self._tasks:
                self._start(job.id, job.custom_ids, self._resume(job))
        call.n_waiting += 1
        try:
            # Two calls may ask the same: that one of them is cancelled is no matter of the other.
            await asyncio.shield(call.answered)
        finally:
            call.n_waiting -= 1

    def _enqueue(self, custom_id: str) -> None:
        size = len(self._calls[custom_id].request) + 1
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
                self._answer(custom_ids, {}, fault)
            except Exception as error:  # noqa: BLE001 - it reaches whoever waits
                for custom_id in custom_ids:
                    call = self._calls.pop(custom_id, None)
                    if call is not None and not call.answered.done():
                        call.answered.set_exception(error)
                        call.answered.exception()  # whoever waited may have been cancelled
            finally:
                self._tasks.pop(job_id, None)

        self._tasks[job_id] = asyncio.get_running_loop().create_task(guarded())

    async def _run(self, job: BatchJob) -> None:
        """Submit a job and wait for its end."""
        requests = [self._calls[custom_id].request for custom_id in job.custom_ids]
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
        self._collected.append(job)
        # One may have failed while the job could not be reached: its reply is still outstanding.
        self._failed -= fetched.results.keys()
        self._failed |= set(job.custom_ids) - fetched.results.keys()
        self._answer(job.custom_ids, fetched.results, fetched.missing)

    def _ask_anew(self, job: BatchJob) -> None:
        for custom_id in job.custom_ids:
            if custom_id in self._calls:
                self._enqueue(custom_id)

    def _answer(
        self, custom_ids: Sequence[str], results: dict[str, str], missing: FaultError
    ) -> None:
        for custom_id in custom_ids:
            call = self._calls.get(custom_id)
            if call is not None and not call.answered.done():
                self._answers[custom_id] = results.get(custom_id, missing)
                call.answered.set_result(None)
            elif custom_id in results:
                self._answers[custom_id] = results[custom_id]


class Batched:
    """A model whose calls go through batch jobs: a `ChatModel`.

    Args:
        queue: Its jobs.
        identity: What makes the endpoint another one, as for `Cached`: the key of a call is that
            under which its reply is kept.
    """

    def __init__(self, queue: BatchQueue, *, identity: JsonObject) -> None:
        self._queue = queue
        self._keys = ReplyKeys(identity)

    @property
    def name(self) -> str:
        """What messages and logs call it."""
        return self._queue.provider.name

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Answer when the job that holds the call has ended; see `ChatModel.complete`."""
        key = self._keys.key(messages, sampling, repeat=repeat)
        return await self._queue.ask(key, messages, sampling)
