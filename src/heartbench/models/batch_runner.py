"""One batch job: written down, submitted once, found again, waited for, fetched, and let go.

Submitting costs money and is never repeated while the job may be there; everything else costs
nothing and is repeated until it works. Which calls are in a job, and who waits for them, is the
business of `batching`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from heartbench.errors import SettingsError
from heartbench.models.batch_http import TOO_SLOW
from heartbench.models.batch_jobs import BatchJob, BatchProvider, EndedJob, JobBook
from heartbench.models.failures import RETRYABLE, FaultError
from heartbench.models.reply_parts import parse_json

T = TypeVar("T")
KEPT = timedelta(days=29)
"""How long results can be fetched at the provider, after which a job that it lost is given up."""
YOUNG = timedelta(minutes=1)
"""A job may not be seen at once by every server of its provider."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPolicy:
    """When to submit, how often to ask, and when to give up.

    Attributes:
        quiet_seconds: Calls wait for others until none has come for so long.
        first_wait_seconds: Before the second look at a job; waits grow by half each.
        max_wait_seconds: No wait is longer.
        settle_seconds: A job that was submitted longer ago, and is not there, never arrived.
        max_tries: Tries of a request in a row that fail for reasons that may pass.
    """

    quiet_seconds: float = 2.0
    first_wait_seconds: float = 5.0
    max_wait_seconds: float = 60.0
    settle_seconds: float = 15.0
    max_tries: int = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What an ended job came to.

    Attributes:
        results: By custom id, as the provider wrote them.
        missing: Why the others have none.
    """

    results: dict[str, str]
    missing: FaultError


class JobRunner:
    """Runs the jobs of one model.

    Args:
        provider: The batch interface.
        book: Where jobs are remembered.
        say: Tells a person what happens.
        policy: When to do what.
        sleep: Waits so many seconds.
        now: Gives the time, UTC.

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
        kept = self._book.reply_keys()
        for job in self._book.open_jobs():
            self.open[job.id] = job
            if kept.issuperset(job.custom_ids):
                self.close(job)

    def let_go(self, jobs: Sequence[BatchJob], failed: AbstractSet[str]) -> None:
        """Let go of fetched calls that are kept or known to be missing, which may be made anew."""
        done = failed | (self._book.reply_keys() if jobs else frozenset())
        for job in jobs:
            left = tuple(custom_id for custom_id in job.custom_ids if custom_id not in done)
            if left:
                self._book.keep(replace(job, custom_ids=left))
            else:
                self.close(job)

    def close(self, job: BatchJob) -> None:
        """Close a job that has nothing outstanding: all is kept, or it never was, or is lost."""
        self._book.keep(replace(job, closed_at=self.now()))
        self.open.pop(job.id, None)
        self.under_way.pop(job.id, None)

    async def submit(self, job: BatchJob, requests: Sequence[str]) -> BatchJob:
        """Submit a job once, whatever happens to the answer; return it with its provider's id.

        Raises:
            FaultError: It was refused, and is closed; or nobody knows, and it stays open.
        """
        uploaded = await self._patiently(lambda: self.provider.upload(requests))
        job = replace(job, created_at=self.now())
        self._keep(job)
        waits = _Waits(self.policy)
        while True:
            try:
                remote_id: str | None = await self.provider.create(job, uploaded)
            except FaultError as fault:
                remote_id = None if _is_refused(fault) else await self._find(job)
                if remote_id is None and (waits.is_over or not _may_pass(fault)):
                    self.close(job)
                    raise
            if remote_id is not None:
                return self._keep(replace(job, remote_id=remote_id))
            await self._sleep(waits.next())

    async def recover(self, job: BatchJob) -> BatchJob | None:
        """Return a job whose submission was cut off with its provider's id; None if it has none."""
        remote_id = await self._find(job)
        if remote_id is None:
            self.close(job)
            return None
        return self._keep(replace(job, remote_id=remote_id))

    async def fetch(self, job: BatchJob) -> Fetched | None:
        """Wait for a job's end and fetch its results; None if they are gone for good.

        Raises:
            FaultError: They cannot be fetched now.
            SettingsError: The provider does not know the job, and it is not that old.
        """
        self.under_way[job.id] = job
        try:
            ended = await self._wait_for_end(job)
            results = await self._patiently(lambda: self._results(ended))
        except FaultError as fault:
            if fault.status != 404:
                raise
            self._give_up(job)
            return None
        del self.open[job.id], self.under_way[job.id]
        return Fetched(results=results, missing=ended.missing)

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
            results = await self._patiently(partial(self._results, ended))
            if not results.keys().isdisjoint(job.custom_ids):
                return remote_id
        return None

    async def _wait_for_end(self, job: BatchJob) -> EndedJob:
        assert job.remote_id is not None
        remote_id, waits = job.remote_id, _Waits(self.policy)
        while True:
            try:
                ended = await self._patiently(lambda: self.provider.poll(remote_id))
                if ended is not None:
                    return ended
            except FaultError as fault:
                if fault.status != 404 or self.now() - job.created_at > YOUNG:
                    raise
            await self._sleep(waits.next())

    async def _results(self, ended: EndedJob) -> dict[str, str]:
        results = {}
        async for line in self.provider.results(ended):
            found: Any = parse_json(line)
            custom_id = found.get("custom_id") if isinstance(found, dict) else None
            if isinstance(custom_id, str):
                results[custom_id] = line
        return results

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
        self._book.keep(job)
        self.open[job.id] = self.under_way[job.id] = job
        return job

    async def _patiently(self, request: Callable[[], Awaitable[T]]) -> T:
        """Make a request that costs nothing, as often as it takes."""
        waits = _Waits(self.policy)
        while True:
            try:
                return await request()
            except FaultError as fault:
                if waits.is_over or not _may_pass(fault):
                    raise
                _log.info("%s: batch interface: %s; trying again", self.provider.name, fault.reason)
            await self._sleep(waits.next())


class _Waits:
    """Waits that grow, and their number."""

    def __init__(self, policy: BatchPolicy) -> None:
        self._policy = policy
        self._n = 0

    @property
    def is_over(self) -> bool:
        return self._n >= self._policy.max_tries

    def next(self) -> float:
        policy = self._policy
        growth = 1.5 ** min(self._n, 20)
        self._n += 1
        return min(policy.max_wait_seconds, policy.first_wait_seconds * growth)


def _is_refused(fault: FaultError) -> bool:
    """Say whether a submission was answered with a no: then there is no job."""
    return fault.status is not None and 400 <= fault.status < 500 and fault.status not in TOO_SLOW


def _may_pass(fault: FaultError) -> bool:
    return fault.reason in RETRYABLE
