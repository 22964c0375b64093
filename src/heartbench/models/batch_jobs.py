"""Batch jobs of providers: what is remembered of each, and what a batch interface is.

A job is many calls in one, answered within a day at a lower price. `batching` queues calls and
waits for jobs; how one provider speaks is in `openai_batches` and `anthropic_batches`; where jobs
are remembered is the store's business, behind `JobBook`.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from heartbench.models.base import Message, Reply, Sampling
from heartbench.models.failures import CallFailureError, FaultError, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """One batch job, written down before its provider hears of it.

    Attributes:
        id: Our own id, 32 hexadecimal digits.
        provider: Who runs it, for messages; never an address.
        model: The model's id there.
        custom_ids: One id for each of its calls: the key under which the reply is kept; once it has
            been fetched, of the calls that are still outstanding.
        created_at: UTC; before it was submitted.
        remote_id: The provider's id; None until its answer has come.
        closed_at: UTC, when every reply was kept or known to be missing; None before.
    """

    id: str
    provider: str
    model: str
    custom_ids: tuple[str, ...]
    created_at: datetime
    remote_id: str | None = None
    closed_at: datetime | None = None


class JobBook(Protocol):
    """Batch jobs that outlive a run; kept in the study's store."""

    def open_jobs(self) -> Sequence[BatchJob]:
        """Return the jobs that are not closed, of all models."""

    def keep(self, job: BatchJob) -> None:
        """Keep a job, or what is new of it; it is durable when this returns."""

    def reply_keys(self) -> frozenset[str]:
        """Return the keys of all replies that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedJob:
    """A job that a provider has done with.

    Attributes:
        results: Where its results lie, as its interface names the place.
        missing: Why a call has no result, if one has none.
    """

    results: tuple[str, ...]
    missing: FaultError


class BatchProvider(Protocol):
    """A provider's batch interface, for one model. Faults of a request are `FaultError`."""

    @property
    def name(self) -> str:
        """What messages and logs call the model."""

    @property
    def provider(self) -> str:
        """Who runs the jobs."""

    @property
    def max_calls(self) -> int:
        """Most calls of one job."""

    @property
    def max_bytes(self) -> int:
        """Most bytes of one job."""

    def request(self, custom_id: str, messages: Sequence[Message], sampling: Sampling) -> str:
        """Return one call of a job, as JSON in ASCII."""

    async def upload(self, requests: Sequence[str]) -> bytes:
        """Do what comes before a job and costs nothing; return what `create` needs of it."""

    async def create(self, job: BatchJob, uploaded: bytes) -> str:
        """Submit a job; return the provider's id."""

    async def find(self, job: BatchJob) -> Sequence[str]:
        """Return the provider's ids of jobs that may be this one, whose `create` was cut off.

        Whether one is shows in the ids of its results.
        """

    async def poll(self, remote_id: str) -> EndedJob | None:
        """Return a job's end, or None while it is under way."""

    def results(self, ended: EndedJob) -> AsyncIterator[str]:
        """Yield the results of an ended job, each JSON with its ``custom_id``, in any order."""

    def read(self, result: str, sampling: Sampling) -> Reply:
        """Read one result.

        Raises:
            FaultError: It holds no reply.
        """

    def failure(
        self, fault: FaultError, messages: Sequence[Message], sampling: Sampling
    ) -> CallFailureError:
        """Return a call's failure, in words that hold no secret and no dialogue."""


def left_out(reason: Reason | None) -> FaultError:
    """Return the fault of a call for which a job has no result.

    Args:
        reason: Why, if the provider said so.
    """
    if reason is None:
        return FaultError("server-error", "the job ended without a result for this call")
    return FaultError(reason, "the job ended before the call was made")
