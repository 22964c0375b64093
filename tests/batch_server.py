"""A loopback provider of batch jobs in a thread of its own, in OpenAI's dialect and Anthropic's.

It counts how often each call was submitted, keeps a job under way for as long as it is told, and
does what providers do to jobs: expire them, refuse single calls, lose the answer to a submission.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web
from scripted_server import answering, in_a_thread
from served_study import fitting_reply

TOKENS_IN, TOKENS_OUT = 1_000, 100
Fate = Callable[[str, Mapping[str, Any]], str]


@dataclass
class Job:
    """A job as its provider knows it."""

    id: str
    calls: dict[str, dict[str, Any]]
    metadata: dict[str, str]
    created_at: float


@dataclass
class BatchServer:
    """What a provider knows, and what it is told to do.

    Attributes:
        url: Address up to the version.
        jobs: By id, in the order of their submission.
        n_submitted: How often each call was submitted, by its custom id.
        n_direct: Calls of the ordinary interface.
        n_polls: Looks at a job.
        n_results: Files of results that were fetched.
        headers: Of every request.
        is_held: Whether jobs stay under way.
        status: How a job ends that is no longer held.
        lost_answers: Submissions still to be accepted whose answer is lost.
        refusals: Answers to the next submissions: HTTP status, error.
        poll_refusals: HTTP statuses of the next looks at a job.
        fate: What becomes of a call: ``ok``, ``error``, ``expired``, ``absent``, or a reply's text.
        is_forgetful: Whether it knows no job any more.
        drops_metadata: Whether jobs lose what they were marked with.
        page: Most jobs of one page of their list.
        listing: What it says instead of a page of that list.
        looks: What it says to the next looks at a job, instead of how the job is.
        answer_seconds: How long the answer to an accepted submission takes.
    """

    url: str = ""
    jobs: dict[str, Job] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    n_submitted: Counter[str] = field(default_factory=Counter)
    n_direct: int = 0
    n_polls: int = 0
    n_results: int = 0
    headers: list[dict[str, str]] = field(default_factory=list)
    is_held: bool = False
    status: str = "completed"
    lost_answers: int = 0
    refusals: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    poll_refusals: list[int] = field(default_factory=list)
    fate: Fate = lambda _custom_id, _body: "ok"
    is_forgetful: bool = False
    drops_metadata: bool = False
    page: int = 1_000
    listing: object = None
    looks: list[object] = field(default_factory=list)
    answer_seconds: float = 0.0

    @property
    def sizes(self) -> list[int]:
        """Calls of each job."""
        return [len(job.calls) for job in self.jobs.values()]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The body of every call of every job."""
        return [body for job in self.jobs.values() for body in job.calls.values()]

    async def accept(
        self,
        request: web.Request,
        calls: dict[str, dict[str, Any]],
        metadata: dict[str, str],
        show: Callable[[Job], dict[str, Any]],
    ) -> web.Response:
        """Begin a job, unless told otherwise."""
        if self.refusals:
            status, error = self.refusals.pop(0)
            return web.json_response({"error": error}, status=status)
        job = Job(f"batch_{len(self.jobs) + 1}", calls, metadata, time.time())
        self.jobs[job.id] = job
        self.n_submitted.update(list(calls))
        if self.lost_answers:
            self.lost_answers -= 1
            assert request.transport is not None
            request.transport.close()
        await asyncio.sleep(self.answer_seconds)
        return web.json_response(show(job))


@contextmanager
def batch_server() -> Iterator[BatchServer]:
    """Serve until the block ends."""
    server = BatchServer()
    with in_a_thread(answering(_application(server), shutdown_timeout=0.1)) as server.url:
        yield server


def _application(server: BatchServer) -> web.Application:
    @web.middleware
    async def note(request: web.Request, handler: Any) -> web.StreamResponse:
        server.headers.append(dict(request.headers))
        response: web.StreamResponse = await handler(request)
        return response

    application = web.Application(client_max_size=300_000_000, middlewares=[note])
    application.add_routes([*_openai_routes(server), *_anthropic_routes(server)])
    return application


def _openai_routes(server: BatchServer) -> list[web.RouteDef]:
    def show(job: Job) -> dict[str, Any]:
        status = "in_progress" if server.is_held else server.status
        files = {} if server.is_held or status == "failed" else {"output_file_id": f"out-{job.id}"}
        errors = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit"}]}
        return {
            "id": job.id,
            "status": status,
            "metadata": None if server.drops_metadata else job.metadata,
            "created_at": job.created_at,
            **files,
            **({"error_file_id": f"err-{job.id}"} if files else {}),
            **({"errors": errors} if status == "failed" else {}),
        }

    async def upload(request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        assert isinstance(file, web.FileField)
        assert form["purpose"] == "batch"
        file_id = f"file-{len(server.files)}"
        server.files[file_id] = file.file.read().decode()
        return web.json_response({"id": file_id})

    async def create(request: web.Request) -> web.Response:
        body = await request.json()
        lines = [json.loads(line) for line in server.files[body["input_file_id"]].splitlines()]
        calls = {line["custom_id"]: line["body"] for line in lines}
        assert len(calls) == len(lines)
        return await server.accept(request, calls, body.get("metadata") or {}, show)

    async def poll(request: web.Request) -> web.Response:
        server.n_polls += 1
        return _found(server, request, show)

    async def listed(request: web.Request) -> web.Response:
        return _listed(server, request.query.get("after"), show)

    async def content(request: web.Request) -> web.Response:
        server.n_results += 1
        kind, _, job_id = request.match_info["file"].partition("-")
        lines = []
        for custom_id, body in server.jobs[job_id].calls.items():
            line = _openai_line(server.fate(custom_id, body), body)
            if line is not None and (line.get("error") is None) == (kind == "out"):
                lines.append(json.dumps({"custom_id": custom_id, **line}))
        return web.Response(text="\n".join(lines) + "\n")

    async def answer(request: web.Request) -> web.Response:
        server.n_direct += 1
        body = await request.json()
        return web.json_response(_openai_completion(fitting_reply(body), body))

    return [
        web.post("/v1/files", upload),
        web.post("/v1/batches", create),
        web.get("/v1/batches", listed),
        web.get("/v1/batches/{id}", poll),
        web.get("/v1/files/{file}/content", content),
        web.post("/v1/chat/completions", answer),
    ]


def _anthropic_routes(server: BatchServer) -> list[web.RouteDef]:
    def show(job: Job) -> dict[str, Any]:
        return {
            "id": job.id,
            "processing_status": "in_progress" if server.is_held else "ended",
            "request_counts": {"processing": len(job.calls), "succeeded": 0},
            "created_at": datetime.fromtimestamp(job.created_at, UTC).isoformat(),
        }

    async def create(request: web.Request) -> web.Response:
        requests = (await request.json())["requests"]
        calls = {one["custom_id"]: one["params"] for one in requests}
        assert len(calls) == len(requests)
        return await server.accept(request, calls, {}, show)

    async def poll(request: web.Request) -> web.Response:
        server.n_polls += 1
        return _found(server, request, show)

    async def listed(request: web.Request) -> web.Response:
        return _listed(server, request.query.get("after_id"), show)

    async def results(request: web.Request) -> web.Response:
        server.n_results += 1
        calls = server.jobs[request.match_info["id"]].calls
        lines = [
            json.dumps({"custom_id": custom_id, "result": result})
            for custom_id, body in reversed(calls.items())
            if (result := _anthropic_result(server.fate(custom_id, body), body)) is not None
        ]
        return web.Response(text="\n".join(lines))

    return [
        web.post("/v1/messages/batches", create),
        web.get("/v1/messages/batches", listed),
        web.get("/v1/messages/batches/{id}", poll),
        web.get("/v1/messages/batches/{id}/results", results),
    ]


def _listed(
    server: BatchServer, after: str | None, show: Callable[[Job], dict[str, Any]]
) -> web.Response:
    """List jobs, newest first, a page at a time."""
    if server.listing is not None:
        return web.json_response(server.listing)
    ids = list(reversed(server.jobs))
    start = 0 if after is None else ids.index(after) + 1
    page = ids[start : start + server.page]
    has_more = start + server.page < len(ids)
    data = [show(server.jobs[job_id]) for job_id in page]
    return web.json_response({"data": data, "has_more": has_more})


def _found(
    server: BatchServer, request: web.Request, show: Callable[[Job], dict[str, Any]]
) -> web.Response:
    if server.poll_refusals:
        return web.json_response({"error": {"message": "No."}}, status=server.poll_refusals.pop(0))
    if server.looks:
        return web.json_response(server.looks.pop(0))
    job = server.jobs.get(request.match_info["id"])
    if job is None or server.is_forgetful:
        error = {"type": "not_found_error", "message": "No such job."}
        return web.json_response({"error": error}, status=404)
    return web.json_response(show(job))


def _openai_line(fate: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
    if fate == "absent":
        return None
    if fate == "expired":
        return {"response": None, "error": {"code": "batch_expired", "message": "Too late."}}
    if fate == "error":
        error = {"message": "Flagged.", "code": "content_filter"}
        return {"response": {"status_code": 400, "body": {"error": error}}, "error": None}
    text = fitting_reply(body) if fate == "ok" else fate
    answer = _openai_completion(text, body)
    return {"response": {"status_code": 200, "body": answer}, "error": None}


def _openai_completion(text: str, body: Mapping[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT}
    return {"model": body["model"], "choices": [choice], "usage": usage}


def _anthropic_result(fate: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
    if fate == "absent":
        return None
    if fate == "expired":
        return {"type": "expired"}
    if fate == "error":
        error = {"type": "invalid_request_error", "message": "Bad."}
        return {"type": "errored", "error": {"type": "error", "error": error}}
    asked: dict[str, Any] = {"messages": body["messages"]}
    if "output_config" in body:
        asked["response_format"] = {"json_schema": body["output_config"]["format"]}
    text = fitting_reply(asked) if fate == "ok" else fate
    message = {
        "model": body["model"],
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": TOKENS_IN - 400,
            "cache_read_input_tokens": 300,
            "cache_creation_input_tokens": 100,
            "output_tokens": TOKENS_OUT,
            "output_tokens_details": {"thinking_tokens": 7},
        },
    }
    return {"type": "succeeded", "message": message}
