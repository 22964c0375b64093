"""What OpenAI's Responses, Anthropic's, Google's and Bedrock's own endpoints answer, as bytes.

For `scripted_server`: each answer is streamed where the path or the body asks for a stream. Usage
is the same everywhere: 40 tokens of prompt, 30 of them cached; 12 of reply, 5 of them reasoning
where the provider counts those apart.
"""

import json
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from scripted_server import Answer, give, sse, stream

THOUGHT = "They sound alone."


def responses(text: str, **top: Any) -> Answer:
    """A response of OpenAI's Responses."""

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        whole = responses_body(text, **top)
        if not body.get("stream"):
            return await give(whole)(request, body)
        thought = {"type": "response.reasoning_summary_text.delta", "delta": THOUGHT}
        said = {"type": "response.output_text.delta", "delta": text}
        pieces: list[dict[str, Any]] = [
            {"type": "response.created", "response": whole | {"output": [], "usage": None}},
            {**thought, "item_id": "r1", "output_index": 0, "summary_index": 0},
            {**said, "item_id": "m1", "output_index": 1, "content_index": 0, "logprobs": []},
            {"type": "response.completed", "response": whole},
        ]
        numbered = [piece | {"sequence_number": n} for n, piece in enumerate(pieces)]
        return await stream(sse(*numbered))(request, body)

    return answer


def echo_responses() -> Answer:
    """Repeat the last message through Responses; refuse the key if it is the word ``fail``."""

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        said = body["input"][-1]["content"][0]["text"]
        chosen = refuse(401) if said == "fail" else responses(f"You said: {said}")
        return await chosen(request, body)

    return answer


def refuse(status: int, message: str = "no", code: str = "", **headers: str) -> Answer:
    """An error in the shape that all four read: theirs inside, AWS's outside."""
    body = {"error": {"message": message, "type": code, "code": status}, "message": message}
    return give(body, status=status, **headers)


def responses_body(text: str, **top: Any) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": THOUGHT}]
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed"}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "tiny-1",
        "output": [
            {"type": "reasoning", "id": "r1", "summary": summary},
            message | {"content": content},
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 40,
            "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 0},
            "output_tokens": 12,
            "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": 52,
        },
        **top,
    }


def anthropic(text: str, *, stop: str = "end_turn") -> Answer:
    """A message of Anthropic's, always streamed."""
    usage = {"input_tokens": 10, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 0}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "tiny-1"}
    rest: dict[str, Any] = {"content": [], "stop_reason": None, "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": head | rest | {"usage": usage | {"output_tokens": 1}}},
        _block(0, {"type": "thinking", "thinking": "", "signature": ""}),
        _delta(0, {"type": "thinking_delta", "thinking": THOUGHT}),
        {"type": "content_block_stop", "index": 0},
        _block(1, {"type": "text", "text": ""}),
        _delta(1, {"type": "text_delta", "text": text}),
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 12, "output_tokens_details": {"thinking_tokens": 5}},
        },
        {"type": "message_stop"},
    ]
    return stream("".join(_named(event) for event in events).encode())


def google(text: str, *, finish: str = "STOP") -> Answer:
    """Chunks of Google's `generateContent`."""
    usage = {
        "promptTokenCount": 40,
        "cachedContentTokenCount": 30,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 5,
        "totalTokenCount": 52,
    }
    thought = {"role": "model", "parts": [{"text": THOUGHT, "thought": True}]}
    said = {"role": "model", "parts": [{"text": text}]}
    last = {"index": 0, "content": said, "finishReason": finish}
    return stream(
        sse(
            {"candidates": [{"index": 0, "content": thought}], "modelVersion": "tiny-1"},
            {"candidates": [last], "modelVersion": "tiny-1", "usageMetadata": usage},
        )
    )


def bedrock(text: str, *, stop: str = "end_turn") -> Answer:
    """A reply of Bedrock's Converse."""
    usage = {
        "inputTokens": 10,
        "outputTokens": 12,
        "totalTokens": 52,
        "cacheReadInputTokens": 30,
        "cacheWriteInputTokens": 0,
    }
    thought = {"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": "s"}}}

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        if not request.path.endswith("converse-stream"):
            content = [thought, {"text": text}]
            whole = {"output": {"message": {"role": "assistant", "content": content}}}
            end = {"stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}}
            return await give(whole | end)(request, body)
        frames = [
            ("messageStart", {"role": "assistant"}),
            ("contentBlockDelta", _converse(0, {"reasoningContent": {"text": THOUGHT}})),
            ("contentBlockDelta", _converse(0, {"reasoningContent": {"signature": "s"}})),
            ("contentBlockStop", {"contentBlockIndex": 0}),
            ("contentBlockDelta", _converse(1, {"text": text})),
            ("contentBlockStop", {"contentBlockIndex": 1}),
            ("messageStop", {"stopReason": stop}),
            ("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}),
        ]
        payload = b"".join(event_frame(name, value) for name, value in frames)
        kind = "application/vnd.amazon.eventstream"
        return await give(payload, kind=kind)(request, body)

    return answer


def event_frame(name: str, value: Mapping[str, Any]) -> bytes:
    """One event in AWS's binary framing: lengths, checksum, headers, payload, checksum."""
    payload = json.dumps(value).encode()
    headers = b"".join(
        struct.pack("!B", len(key))
        + key.encode()
        + struct.pack("!BH", 7, len(word))
        + word.encode()
        for key, word in {
            ":event-type": name,
            ":content-type": "application/json",
            ":message-type": "event",
        }.items()
    )
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack("!I", zlib.crc32(message))


def _block(index: int, block: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, delta: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _converse(index: int, delta: Mapping[str, Any]) -> dict[str, Any]:
    return {"contentBlockIndex": index, "delta": delta}


def _named(event: Mapping[str, Any]) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


@dataclass(frozen=True)
class Kind:
    """One provider: a model of it, its answer, and where it has things in a request."""

    provider: str
    model: str
    path: str
    answer: Callable[[str], Answer]
    key_header: str
    system: Callable[[Mapping[str, Any]], str]
    limit: Callable[[Mapping[str, Any]], int]
    schema: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    settings: Callable[[Mapping[str, Any]], Mapping[str, Any]]


OPENAI = Kind(
    provider="openai",
    model="gpt-4o",
    path="/v1",
    answer=responses,
    key_header="Authorization",
    system=lambda body: str(body["input"][0]["content"]),
    limit=lambda body: int(body["max_output_tokens"]),
    schema=lambda body: dict(body["text"]["format"]["schema"]),
    settings=dict,
)
ANTHROPIC = Kind(
    provider="anthropic",
    model="claude-haiku-4-5",
    path="",
    answer=anthropic,
    key_header="Authorization",
    system=lambda body: str(body["system"]),
    limit=lambda body: int(body["max_tokens"]),
    schema=lambda body: dict(body["output_format"]["schema"]),
    settings=dict,
)
GOOGLE = Kind(
    provider="google",
    model="gemini-2.5-pro",
    path="",
    answer=google,
    key_header="x-goog-api-key",
    system=lambda body: str(body["systemInstruction"]),
    limit=lambda body: int(body["generationConfig"]["maxOutputTokens"]),
    schema=lambda body: dict(body["generationConfig"]["responseJsonSchema"]),
    settings=lambda body: dict(body["generationConfig"]),
)
BEDROCK = Kind(
    provider="bedrock",
    model="us.anthropic.claude-haiku-4-5-20251001-v1:0",
    path="",
    answer=bedrock,
    key_header="Authorization",
    system=lambda body: str(body["system"]),
    limit=lambda body: int(body["inferenceConfig"]["maxTokens"]),
    schema=lambda body: dict(
        body["additionalModelRequestFields"]["output_config"]["format"]["schema"]
    ),
    settings=lambda body: dict(body["inferenceConfig"]),
)
