"""What a provider's batch interface is: requests about jobs that all of them take alike.

A job is many calls in one, answered within a day at a lower price. A request is made once here;
`JobRunner` says what is worth another try. How a provider words its jobs and results is in
`OpenAIBatches` and `AnthropicBatches`.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar, NamedTuple, Protocol

from hearteval.domain import BatchJob
from hearteval.models.base import JsonObject, Message, Reply, Sampling
from hearteval.models.failures import CallFailureError, FaultError, Reason
from hearteval.models.http import Endpoint, effective_settings, requested_settings
from hearteval.models.http.client import MAX_REPLY_BYTES, Body, Caller, Client, read_text
from hearteval.models.http.replies import parse_json

TOTAL_SECONDS, IDLE_SECONDS = 3_600.0, 600.0
"""Jobs are large: these requests may take longer than a call of a model."""
TOO_SLOW = frozenset({408, 504, 524})
"""Statuses after which nobody knows whether a request was heard."""
UNHEARD = frozenset({"timeout", "cut-off-stream"})
"""Of a single call: words for what may have been charged. A request about a job never is."""


class JobBook(Protocol):
    """Batch jobs that outlive a run; the study's store is one."""

    def jobs(self) -> Sequence[BatchJob]:
        """Return the jobs of all models, closed ones too."""

    def keep_job(self, job: BatchJob) -> None:
        """Keep a job, or what is new of it; it is durable when this returns."""

    def reply_ids(self) -> frozenset[str]:
        """Return the keys of all replies that are kept."""


class EndedJob(NamedTuple):
    """A job that a provider has done with."""

    paths: tuple[str, ...]
    missing: FaultError
    """Why a call has no result, if one has none."""


class BatchProvider(ABC):
    """A provider's batch interface, for one model. Faults of a request are `FaultError`."""

    provider: str
    max_calls: int
    max_bytes: int
    path: ClassVar[str]
    cursor: ClassVar[str]
    """Names the job after which a page of the list of jobs begins."""
    page: ClassVar[int]
    clocks_apart: ClassVar[timedelta]
    status_key: ClassVar[str]

    def __init__(self, endpoint: Endpoint, client: Client, headers: Mapping[str, str]) -> None:
        self.name = endpoint.name
        self._endpoint = endpoint
        slow = replace(client.timeouts, total_seconds=TOTAL_SECONDS, idle_seconds=IDLE_SECONDS)
        self._caller = Caller(endpoint, client, headers, timeouts=slow)

    @abstractmethod
    def request(self, custom_id: str, messages: Sequence[Message], sampling: Sampling) -> str:
        """Return one call of a job, as JSON in ASCII."""

    @abstractmethod
    async def prepare(self, job: BatchJob, requests: Sequence[str]) -> Body:
        """Do what comes before a job and costs nothing; return what `create` sends."""

    async def create(self, body: Body) -> str:
        """Submit a job; return the provider's id."""
        return id_of(await self._send("POST", self.path, body))

    async def find(self, job: BatchJob) -> Sequence[str]:
        """Return the provider's ids of jobs that may be this one, whose `create` was cut off.

        Whether one is shows in the ids of its results.
        """
        oldest = (job.created_at - self.clocks_apart).timestamp()
        query = {"limit": str(self.page)}
        candidates: list[str] = []
        while True:
            page = await self._send("GET", self.path, query=query)
            found = _listed_jobs(page)
            for entry in found:
                if self._is_marked(entry, job):
                    return [id_of(entry)]
                if self._began(entry) >= oldest and self._is_like(entry, job):
                    candidates.append(id_of(entry))
            if not found or not page.get("has_more") or self._began(found[-1]) < oldest:
                return candidates
            last = id_of(found[-1])
            if last == query.get(self.cursor):
                # It would never end, and what is not seen may be paid for.
                raise FaultError("not-a-completion", "the list of batch jobs repeats itself")
            query[self.cursor] = last

    async def poll(self, remote_id: str) -> EndedJob | None:
        """Return a job's end, or None while it is under way."""
        job = await self._send("GET", f"{self.path}/{remote_id}")
        status = job.get(self.status_key)
        if not isinstance(status, str):
            raise FaultError("not-a-completion", f"a batch job without a {self.status_key}")
        return self._end(remote_id, job, status.lower())

    async def results(self, ended: EndedJob) -> dict[str, str]:
        """Return the results of an ended job as they came, by custom id."""
        results = {}
        for path in ended.paths:
            async for line in self._lines(path):
                found: Any = parse_json(line)
                custom_id = found.get("custom_id") if isinstance(found, dict) else None
                if isinstance(custom_id, str):
                    results[custom_id] = line
        return results

    def read(self, result: str, sampling: Sampling) -> Reply:
        """Read one result.

        Raises:
            FaultError: It holds no reply.
        """
        reply = self._read(parse_json(result), requested_settings(sampling), self._sent(sampling))
        reply = replace(reply, effective={**reply.effective, "batch": True})
        return self._caller.without_secrets(reply)

    def failure(
        self, fault: FaultError, messages: Sequence[Message], sampling: Sampling
    ) -> CallFailureError:
        """Return a call's failure, in words that hold no secret and no dialogue."""
        sent = {**self._sent(sampling), "batch": True}
        reply = Reply(text="", requested=requested_settings(sampling), effective=sent)
        return self._caller.failure(fault, reply, messages, where=", in a batch job")

    def _is_marked(self, _entry: Mapping[str, Any], _job: BatchJob) -> bool:
        """Say whether an entry of the list of jobs bears our id."""
        return False

    @abstractmethod
    def _is_like(self, entry: Mapping[str, Any], job: BatchJob) -> bool:
        """Say whether an entry of the list of jobs may be this job."""

    @abstractmethod
    def _began(self, entry: Mapping[str, Any]) -> float:
        """Return when an entry of the list of jobs began, in seconds since 1970."""

    @abstractmethod
    def _end(self, remote_id: str, job: Mapping[str, Any], status: str) -> EndedJob | None:
        """Return a job's end, or None while it is under way."""

    @abstractmethod
    def _read(self, result: Any, requested: JsonObject, sent: JsonObject) -> Reply:
        """Read one result of a call with these settings."""

    def _sent(self, sampling: Sampling) -> dict[str, Any]:
        return effective_settings(sampling, self._endpoint)

    async def _send(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any]:
        """Make a request; return the JSON object that answers."""
        try:
            async with self._caller.open(method, self._caller.url(path, query), body) as response:
                found = parse_json(await read_text(response))
        except FaultError as fault:
            raise _unheard(fault) from None
        if not isinstance(found, Mapping):
            raise FaultError("broken-body", "no JSON object")
        return found

    async def _lines(self, path: str) -> AsyncIterator[str]:
        """Yield the lines at a path, empty ones apart."""
        rest = b""
        try:
            async with self._caller.open("GET", self._caller.url(path)) as response:
                async for piece in response.content.iter_any():
                    *whole, rest = (rest + piece).split(b"\n")
                    for line in whole:
                        if line.strip():
                            yield line.decode(errors="replace")
                    if len(rest) > MAX_REPLY_BYTES:
                        raise FaultError("too-large", f"more than {MAX_REPLY_BYTES:,} bytes a line")
        except FaultError as fault:
            raise _unheard(fault) from None
        if rest.strip():
            yield rest.decode(errors="replace")


def id_of(entry: Mapping[str, Any]) -> str:
    """Return the id of a file or a job; it becomes part of addresses.

    Raises:
        FaultError: It has none.
    """
    found = entry.get("id")
    if not isinstance(found, str) or not found.replace("-", "").replace("_", "").isalnum():
        raise FaultError("not-a-completion", "no id of a file or a job in it")
    return found


def left_out(reason: Reason | None) -> FaultError:
    """Return the fault of a call for which a job has no result, by the reason that it gave."""
    if reason is None:
        return FaultError("server-error", "the job ended without a result for this call")
    return FaultError(reason, "the job ended before the call was made")


def _listed_jobs(page: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    data = page.get("data")
    if not isinstance(data, list) or not all(isinstance(entry, Mapping) for entry in data):
        raise FaultError("not-a-completion", "no list of batch jobs")
    return data


def _unheard(fault: FaultError) -> FaultError:
    """Call a request that was lost by a word that is none for a call that may be charged."""
    if fault.status in TOO_SLOW:
        fault.reason = "server-error"
    elif fault.reason in UNHEARD:
        fault.reason = "connection"
    return fault
