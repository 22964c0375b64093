"""How OpenAI and Anthropic word their batch jobs and the results of these."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

from hearteval.domain import BatchJob
from hearteval.models.base import JsonObject, Message, Reply, Sampling, Usage
from hearteval.models.batch import BatchProvider, EndedJob, id_of, left_out
from hearteval.models.failures import FaultError, Reason, find_fault, read_error
from hearteval.models.http import Endpoint, build_body, marked, sent_settings
from hearteval.models.http.client import Client, authorization
from hearteval.models.http.replies import ReplyParts, read_count

REASONS: Mapping[str, Reason] = {
    "expired": "batch-expired",
    "cancelled": "batch-cancelled",
    "canceled": "batch-cancelled",
}
"""By how a job ended, or a call of it; OpenAI says ``batch_`` before it of a call."""
MARK = "hearteval_job"
CALLS_AT = "/v1/chat/completions"
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
"""Any other status is waited on: to take a job for ended too early is to pay for it again."""
VERSION = "2023-06-01"
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


class OpenAIBatches(BatchProvider):
    """A file of requests, a job about it, files of results.

    The body of each request is that of the ordinary interface, and so is the reply. A job bears our
    id in its metadata, so that one whose submission was cut off is found again.
    """

    max_calls = 50_000
    max_bytes = 200_000_000
    path = "/batches"
    cursor = "after"
    page = 100
    clocks_apart = timedelta(hours=1)
    status_key = "status"

    def __init__(self, endpoint: Endpoint, client: Client, *, provider: str = "openai") -> None:
        super().__init__(endpoint, client, authorization(endpoint))
        self.provider = provider

    def request(self, custom_id: str, messages: Sequence[Message], sampling: Sampling) -> str:
        """Return one line of the file of requests."""
        body = build_body(messages, replace(sampling, is_streamed=False), self._endpoint)
        line = {"custom_id": custom_id, "method": "POST", "url": CALLS_AT, "body": body}
        return json.dumps(line, allow_nan=False)

    async def prepare(self, job: BatchJob, requests: Sequence[str]) -> str:
        """Upload the file of requests; return a job about it."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        form.add_field(
            "file",
            "\n".join([*requests, ""]).encode(),
            filename="hearteval.jsonl",
            content_type="application/jsonl",
        )
        body = {
            "input_file_id": id_of(await self._send("POST", "/files", form)),
            "endpoint": CALLS_AT,
            "completion_window": "24h",
            "metadata": {MARK: job.id},
        }
        return json.dumps(body)

    def _is_marked(self, entry: Mapping[str, Any], job: BatchJob) -> bool:
        return _marks(entry).get(MARK) == job.id

    def _is_like(self, entry: Mapping[str, Any], _job: BatchJob) -> bool:
        """Say whether an endpoint that knows no metadata lists it."""
        return not _marks(entry)

    def _began(self, entry: Mapping[str, Any]) -> float:
        created = entry.get("created_at")
        return float(created) if isinstance(created, int | float) else datetime.now(UTC).timestamp()

    def _end(self, _remote_id: str, job: Mapping[str, Any], status: str) -> EndedJob | None:
        if status not in ENDED:
            return None
        files = [job.get("output_file_id"), job.get("error_file_id")]
        return EndedJob(
            paths=tuple(f"/files/{id_of({'id': file})}/content" for file in files if file),
            missing=_refusal(job) if status == "failed" else left_out(REASONS.get(status)),
        )

    def _read(self, result: Any, requested: JsonObject, sent: JsonObject) -> Reply:
        response, error = result.get("response"), result.get("error")
        if error:
            found = read_error(error)
            known = REASONS.get(found.code.strip().removeprefix("batch_"))
            raise left_out(known) if known else find_fault(None, found, sent=sent)
        if not isinstance(response, Mapping):
            raise left_out(None)
        body, status = response.get("body"), response.get("status_code")
        if status != 200:
            code = status if isinstance(status, int) else 500
            raise find_fault(code, read_error(body), sent=sent)
        parts = ReplyParts(sent.keys())
        parts.add_body(json.dumps(body), None)
        return parts.to_reply(requested=requested, effective=sent)


def _marks(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = entry.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _refusal(job: Mapping[str, Any]) -> FaultError:
    """Return why a whole job was refused."""
    errors = job.get("errors")
    listed = errors.get("data") if isinstance(errors, Mapping) else None
    error = read_error(listed or "the whole job was refused")
    if "token_limit" in error.code:
        return FaultError("rate-limited", error.said)
    return find_fault(400, error, sent=())


class AnthropicBatches(BatchProvider):
    """The Message Batches of Anthropic's own interface.

    Other than its OpenAI-compatible endpoint, it holds replies to a JSON schema. A job bears no
    mark of ours: one whose submission was cut off is recognised by the ids of its results, once it
    has ended.
    """

    provider = "anthropic"
    max_calls = 100_000
    max_bytes = 256_000_000
    path = "/messages/batches"
    cursor = "after_id"
    page = 1_000
    clocks_apart = timedelta(minutes=5)
    status_key = "processing_status"

    def __init__(self, endpoint: Endpoint, client: Client) -> None:
        key = {} if endpoint.api_key is None else {"x-api-key": endpoint.api_key}
        super().__init__(endpoint, client, {**key, "anthropic-version": VERSION})

    def request(self, custom_id: str, messages: Sequence[Message], sampling: Sampling) -> str:
        """Return one request of a job."""
        body = build_message_body(messages, sampling, self._endpoint)
        return json.dumps({"custom_id": custom_id, "params": body}, allow_nan=False)

    async def prepare(self, _job: BatchJob, requests: Sequence[str]) -> bytes:
        """Return the job: there is nothing to upload."""
        return f'{{"requests": [{",".join(requests)}]}}'.encode()

    def _is_like(self, entry: Mapping[str, Any], job: BatchJob) -> bool:
        """Say whether it has as many calls."""
        counts = entry.get("request_counts")
        if not isinstance(counts, Mapping):
            raise FaultError("not-a-completion", "a batch job without the number of its calls")
        return sum(n for n in counts.values() if isinstance(n, int)) == len(job.custom_ids)

    def _began(self, entry: Mapping[str, Any]) -> float:
        try:
            created_at = datetime.fromisoformat(str(entry.get("created_at")))
        except ValueError:
            raise FaultError("not-a-completion", "a job without the time of its creation") from None
        return (created_at if created_at.tzinfo else created_at.replace(tzinfo=UTC)).timestamp()

    def _end(self, remote_id: str, _job: Mapping[str, Any], status: str) -> EndedJob | None:
        # Not the address that the provider gives for them: the key goes to no other host.
        paths = (f"{self.path}/{remote_id}/results",)
        return EndedJob(paths=paths, missing=left_out(None)) if status == "ended" else None

    def _read(self, result: Any, requested: JsonObject, sent: JsonObject) -> Reply:
        found = result.get("result")
        kind = str(found.get("type")) if isinstance(found, Mapping) else ""
        if kind in REASONS:
            raise left_out(REASONS[kind])
        if kind == "errored":
            error = read_error(found.get("error") or {})
            status = next((n for name, n in STATUSES.items() if name in error.code), 500)
            raise find_fault(status, error, sent=sent)
        message = found.get("message") if kind == "succeeded" else None
        if not isinstance(message, Mapping) or not isinstance(message.get("content"), list):
            raise FaultError("not-a-completion", "no message with content in it")
        end = message.get("stop_reason")
        if not isinstance(end, str | None):
            raise FaultError("not-a-completion", "stop_reason is no text")
        return Reply(
            text=_joined(message["content"], "text"),
            reasoning=_joined(message["content"], "thinking"),
            finish_reason=end,
            model=str(message.get("model") or ""),
            usage=_read_usage(message.get("usage")),
            requested=requested,
            effective=sent,
            raw=json.dumps(message),
        )

    def _sent(self, sampling: Sampling) -> dict[str, Any]:
        """Return the settings sent: this interface knows no seed."""
        return {k: v for k, v in super()._sent(sampling).items() if k != "seed"}


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
        body["system"] = marked(system, endpoint)
    sent = sent_settings(sampling)
    body |= {name: sent[name] for name in ("temperature", "top_p") if name in sent}
    if sampling.schema is not None and "schema" in sent:
        schema = {"type": "json_schema", "schema": sampling.schema.schema}
        body["output_config"] = {"format": schema}
    return body | dict(endpoint.extra_body)


def _joined(blocks: Sequence[Any], kind: str) -> str:
    texts = [b.get(kind) for b in blocks if isinstance(b, Mapping) and b.get("type") == kind]
    return "".join(text for text in texts if isinstance(text, str))


def _read_usage(usage: Any) -> Usage:
    """Read token counts: what was read from or written to the cache is part of the prompt."""
    if not isinstance(usage, Mapping):
        return Usage()
    cached = read_count(usage, "cache_read_input_tokens")
    written = read_count(usage, "cache_creation_input_tokens")
    fresh = read_count(usage, "input_tokens")
    return Usage(
        input_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output_tokens=read_count(usage, "output_tokens"),
        reasoning_tokens=read_count(usage.get("output_tokens_details"), "thinking_tokens"),
        cached_tokens=cached,
        cache_write_tokens=written,
    )
