"""Batch jobs as OpenAI runs them: a file of requests, a job about it, files of results.

The body of each request is that of the ordinary interface, and so is the reply. A job bears our id
in its metadata, so that one whose submission was cut off is found again.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

from heartbench.models.base import Message, Reply, Sampling
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
from heartbench.models.reply_parts import ReplyParts, parse_json
from heartbench.models.wire import Endpoint, build_body, effective_settings, requested_settings

MARK = "heartbench_job"
CALLS_AT = "/v1/chat/completions"
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
"""Any other status is waited on: to take a job for ended too early is to pay for it again."""
PAGE = 100
CLOCKS_APART = timedelta(hours=1)
REASONS: Mapping[str, Reason] = {"expired": "batch-expired", "cancelled": "batch-cancelled"}
"""By the end of a job; ``batch_`` before it is the code of a call that it left out."""


class OpenAIBatches:
    """Batch jobs of one model behind an OpenAI-like batch interface: a `BatchProvider`."""

    max_calls = 50_000
    max_bytes = 200_000_000

    def __init__(self, endpoint: Endpoint, client: Client, *, provider: str = "openai") -> None:
        self._endpoint = replace(endpoint, is_streamed=False)
        key = endpoint.api_key
        self._http = BatchHttp(
            endpoint, client, {} if key is None else {"Authorization": f"Bearer {key}"}
        )
        self.provider = provider

    @property
    def name(self) -> str:
        """What messages and logs call the model."""
        return self._endpoint.name

    def request(self, custom_id: str, messages: Sequence[Message], sampling: Sampling) -> str:
        """Return one line of the file of requests."""
        body = build_body(messages, sampling, self._endpoint)
        line = {"custom_id": custom_id, "method": "POST", "url": CALLS_AT, "body": body}
        return json.dumps(line, allow_nan=False)

    async def upload(self, requests: Sequence[str]) -> bytes:
        """Upload the file of requests; return its id."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        form.add_field(
            "file",
            "\n".join([*requests, ""]).encode(),
            filename="heartbench.jsonl",
            content_type="application/jsonl",
        )
        return id_of(await self._http.post("/files", form)).encode()

    async def create(self, job: BatchJob, uploaded: bytes) -> str:
        """Submit a job about an uploaded file."""
        body = {
            "input_file_id": uploaded.decode(),
            "endpoint": CALLS_AT,
            "completion_window": "24h",
            "metadata": {MARK: job.id},
        }
        return id_of(await self._http.post("/batches", json.dumps(body)))

    async def find(self, job: BatchJob) -> Sequence[str]:
        """Return the job that bears our id, else those since then of endpoints without metadata."""
        query = {"limit": str(PAGE)}
        oldest = (job.created_at - CLOCKS_APART).timestamp()
        unmarked: list[str] = []
        while True:
            page = await self._http.get("/batches", **query)
            found = listed_jobs(page)
            for entry in found:
                metadata = entry.get("metadata")
                marks = metadata if isinstance(metadata, Mapping) else {}
                if marks.get(MARK) == job.id:
                    return [id_of(entry)]
                if not marks and _seconds(entry) >= oldest:
                    unmarked.append(id_of(entry))
            if not found or not page.get("has_more") or _seconds(found[-1]) < oldest:
                return unmarked
            query["after"] = next_after(found, before=query.get("after"))

    async def poll(self, remote_id: str) -> EndedJob | None:
        """Return a job's end, or None while it is under way."""
        job = await self._http.get(f"/batches/{remote_id}")
        status = job.get("status")
        if not isinstance(status, str):
            raise FaultError("not-a-completion", "a batch job without a status")
        status = status.lower()
        if status not in ENDED:
            return None
        files = [job.get("output_file_id"), job.get("error_file_id")]
        return EndedJob(
            results=tuple(id_of({"id": file}) for file in files if file),
            missing=_refusal(job) if status == "failed" else left_out(REASONS.get(status)),
        )

    async def results(self, ended: EndedJob) -> AsyncIterator[str]:
        """Yield the lines of the files of results and of errors."""
        for file in ended.results:
            async for line in self._http.lines(f"/files/{file}/content"):
                yield line

    def read(self, result: str, sampling: Sampling) -> Reply:
        """Read one line; see `BatchProvider.read`."""
        line = parse_json(result)
        response, error = line.get("response"), line.get("error")
        sent = effective_settings(sampling, self._endpoint)
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
        parts.add_body(json.dumps(body), 0.0)
        reply = parts.to_reply(
            requested=requested_settings(sampling), effective={**sent, "batch": True}
        )
        return self._http.without_secrets(replace(reply, total_ms=None))

    def failure(
        self, fault: FaultError, messages: Sequence[Message], sampling: Sampling
    ) -> CallFailureError:
        """Return a call's failure; see `BatchProvider.failure`."""
        effective = {**effective_settings(sampling, self._endpoint), "batch": True}
        return self._http.failure(fault, messages, sampling, effective)


def _refusal(job: Mapping[str, Any]) -> FaultError:
    """Return why a whole job was refused."""
    errors = job.get("errors")
    listed = errors.get("data") if isinstance(errors, Mapping) else None
    error = read_error(listed or "the whole job was refused")
    if "token_limit" in error.code:
        return FaultError("rate-limited", error.said)
    return find_fault(400, error, sent=())


def _seconds(entry: Mapping[str, Any]) -> float:
    created = entry.get("created_at")
    return float(created) if isinstance(created, int | float) else datetime.now(UTC).timestamp()
