"""Batch jobs as Anthropic runs them: the Message Batches of its own interface.

Other than its OpenAI-compatible endpoint, this interface holds replies to a JSON schema. A job
bears no mark of ours: one whose submission was cut off is recognised by the ids of its results,
once it has ended.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from heartbench.models.base import Message, Reply, Sampling, Usage
from heartbench.models.batch_http import BatchHttp, id_of, listed_jobs, next_after
from heartbench.models.batch_jobs import BatchJob, EndedJob, left_out
from heartbench.models.connections import Client
from heartbench.models.failures import (
    CallFailureError,
    FaultError,
    Reason,
    find_fault,
    read_error,
)
from heartbench.models.reply_parts import parse_json, read_count
from heartbench.models.wire import Endpoint, effective_settings, requested_settings

VERSION = "2023-06-01"
BATCHES = "/messages/batches"
UNKNOWN_SETTINGS = frozenset({"seed"})
PAGE = 1_000
CLOCKS_APART = timedelta(minutes=5)
STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
"""HTTP status that a call of its own would have had, by the type of its error; 500 for others.

Not 504 for a call that took too long: in a batch job it is not charged.
"""
REASONS: Mapping[str, Reason] = {"expired": "batch-expired", "canceled": "batch-cancelled"}


class AnthropicBatches:
    """Message Batches of one model: a `BatchProvider`."""

    provider = "anthropic"
    max_calls = 100_000
    max_bytes = 256_000_000

    def __init__(self, endpoint: Endpoint, client: Client) -> None:
        self._endpoint = endpoint
        key = {} if endpoint.api_key is None else {"x-api-key": endpoint.api_key}
        self._http = BatchHttp(endpoint, client, {**key, "anthropic-version": VERSION})

    @property
    def name(self) -> str:
        """What messages and logs call the model."""
        return self._endpoint.name

    def request(self, custom_id: str, messages: Sequence[Message], sampling: Sampling) -> str:
        """Return one request of a job."""
        body = build_message_body(messages, sampling, self._endpoint)
        return json.dumps({"custom_id": custom_id, "params": body}, allow_nan=False)

    async def upload(self, requests: Sequence[str]) -> bytes:
        """Return the body of the job: there is nothing to upload."""
        return f'{{"requests": [{",".join(requests)}]}}'.encode()

    async def create(self, job: BatchJob, uploaded: bytes) -> str:
        """Submit a job."""
        return id_of(await self._http.post(BATCHES, uploaded))

    async def find(self, job: BatchJob) -> Sequence[str]:
        """Return the jobs with as many calls that began after ours was written down."""
        query = {"limit": str(PAGE)}
        oldest = job.created_at - CLOCKS_APART
        candidates = []
        while True:
            page = await self._http.get(BATCHES, **query)
            found = listed_jobs(page)
            recent = [entry for entry in found if _time(entry) >= oldest]
            candidates += [
                id_of(entry) for entry in recent if _n_calls(entry) == len(job.custom_ids)
            ]
            if len(recent) < len(found) or not found or not page.get("has_more"):
                return candidates
            query["after_id"] = next_after(found, before=query.get("after_id"))

    async def poll(self, remote_id: str) -> EndedJob | None:
        """Return a job's end, or None while it is under way."""
        job = await self._http.get(f"{BATCHES}/{remote_id}")
        status = job.get("processing_status")
        if not isinstance(status, str):
            raise FaultError("not-a-completion", "a batch job without a processing_status")
        if status != "ended":
            return None
        return EndedJob(results=(remote_id,), missing=left_out(None))

    async def results(self, ended: EndedJob) -> AsyncIterator[str]:
        """Yield the results of an ended job, in any order."""
        # Not the address that the provider gives for them: the key goes to no other host.
        for remote_id in ended.results:
            async for line in self._http.lines(f"{BATCHES}/{remote_id}/results"):
                yield line

    def read(self, result: str, sampling: Sampling) -> Reply:
        """Read one result; see `BatchProvider.read`."""
        found = parse_json(result).get("result")
        kind = str(found.get("type")) if isinstance(found, Mapping) else ""
        if kind in REASONS:
            raise left_out(REASONS[kind])
        if kind == "errored":
            error = read_error(found.get("error") or {})
            status = next((n for name, n in STATUSES.items() if name in error.code), 500)
            raise find_fault(status, error, sent=self._sent(sampling))
        message = found.get("message") if kind == "succeeded" else None
        if not isinstance(message, Mapping) or not isinstance(message.get("content"), list):
            raise FaultError("not-a-completion", "no message with content in it")
        return self._http.without_secrets(self._reply(message, sampling))

    def failure(
        self, fault: FaultError, messages: Sequence[Message], sampling: Sampling
    ) -> CallFailureError:
        """Return a call's failure; see `BatchProvider.failure`."""
        return self._http.failure(fault, messages, sampling, self._sent(sampling))

    def _reply(self, message: Mapping[str, Any], sampling: Sampling) -> Reply:
        end = message.get("stop_reason")
        if not isinstance(end, str | None):
            raise FaultError("not-a-completion", "stop_reason is no text")
        return Reply(
            text=_joined(message["content"], "text"),
            reasoning=_joined(message["content"], "thinking"),
            finish_reason=end,
            model=str(message.get("model") or ""),
            usage=_usage(message.get("usage")),
            requested=requested_settings(sampling),
            effective=self._sent(sampling),
            raw=json.dumps(message),
        )

    def _sent(self, sampling: Sampling) -> dict[str, Any]:
        sent = effective_settings(sampling, self._endpoint)
        return {k: v for k, v in sent.items() if k not in UNKNOWN_SETTINGS} | {"batch": True}


def build_message_body(
    messages: Sequence[Message], sampling: Sampling, endpoint: Endpoint
) -> dict[str, Any]:
    """Build the body of one message as Anthropic's own interface takes it.

    Raises:
        ValueError: There is no message but the system's, or no limit on tokens, which it needs.
    """
    spoken = [m for m in messages if m.role != "system"]
    if not spoken or sampling.max_tokens is None:
        raise ValueError(f"{endpoint.name}: expected at least one message and max_tokens")
    body: dict[str, Any] = {
        "model": endpoint.model,
        "max_tokens": sampling.max_tokens,
        "messages": [{"role": m.role, "content": m.content} for m in spoken],
    }
    system = "\n\n".join(m.content for m in messages if m.role == "system")
    if system:
        body["system"] = system
    for setting in ("temperature", "top_p"):
        value = getattr(sampling, setting)
        if value is not None and setting not in sampling.refuses:
            body[setting] = value
    if sampling.schema is not None and "schema" not in sampling.refuses:
        schema = {"type": "json_schema", "schema": sampling.schema.schema}
        body["output_config"] = {"format": schema}
    return body | dict(endpoint.extra_body)


def _joined(blocks: Sequence[Any], kind: str) -> str:
    texts = [b.get(kind) for b in blocks if isinstance(b, Mapping) and b.get("type") == kind]
    return "".join(text for text in texts if isinstance(text, str))


def _usage(usage: Any) -> Usage:
    """Read token counts: what was read from or written to the cache is part of the prompt."""
    if not isinstance(usage, Mapping):
        return Usage()
    details = usage.get("output_tokens_details")
    cached = read_count(usage, "cache_read_input_tokens")
    written = read_count(usage, "cache_creation_input_tokens")
    fresh = read_count(usage, "input_tokens")
    return Usage(
        input_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output_tokens=read_count(usage, "output_tokens"),
        reasoning_tokens=read_count(details, "thinking_tokens"),
        cached_tokens=cached,
    )


def _n_calls(entry: Mapping[str, Any]) -> int:
    counts = entry.get("request_counts")
    if not isinstance(counts, Mapping):
        raise FaultError("not-a-completion", "a batch job without the number of its calls")
    return sum(n for n in counts.values() if isinstance(n, int))


def _time(entry: Mapping[str, Any]) -> datetime:
    try:
        created_at = datetime.fromisoformat(str(entry.get("created_at")))
    except ValueError:
        raise FaultError("not-a-completion", "a job without the time of its creation") from None
    return created_at if created_at.tzinfo else created_at.replace(tzinfo=UTC)
