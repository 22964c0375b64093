"""A loopback endpoint in a thread of its own that counts tokens and calls, as a provider bills.

It answers judges by the schema they send and everyone else with a sentence of support. A token is
what a byte-pair vocabulary of English makes of about four characters; words are counted here, not
characters, so that it is another count than the estimate's.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from scripted_server import answering, in_a_thread

REPLY = (
    "That sounds really heavy, and it makes sense that it has been weighing on you. You do not"
    " have to sort all of it out today. What part of it feels hardest to carry right now?"
)
REASON = (
    "The first reply picks up what was said about the week and asks one open question, while the"
    " other stays with kind words that would fit any conversation and moves on too quickly."
)
TOKENS_PER_WORD = 1.3


@dataclass
class PayingServer:
    """What a provider knows: every prompt, and by model the tokens in and out that it bills."""

    url: str = ""
    prompts: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    used: dict[str, tuple[int, int]] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    """By model."""
    delay_seconds: float = 0.0
    thought: Callable[[str, int], int] = lambda model, n_before: 0
    """Tokens that a model thinks before a reply, after so many of its calls."""
    n_kept: int = 0
    """Tokens of each longer prompt, a model's first apart, that it says its cache held."""
    ignores_schemas: bool = False
    served_as: str | None = None
    """What it calls its model; None for what it was asked for."""
    winner_of: Callable[[str], str] = lambda prompt: "A"
    """Whom a judge prefers, A or B, by what the user's message shows."""
    reply_of: Callable[[str], str] = lambda prompt: REPLY
    """What it says to somebody, by what it is told first."""


def count_tokens(text: str) -> int:
    """Count tokens as 1.3 a word, marks of punctuation apart."""
    marks = sum(character in '{}[]":,.' for character in text) // 2
    return round(len(text.split()) * TOKENS_PER_WORD) + marks


@contextmanager
def paying_server() -> Iterator[PayingServer]:
    """Serve until the block ends."""
    server = PayingServer()
    with in_a_thread(answering(_application(server), shutdown_timeout=0.1)) as server.url:
        yield server


def _application(server: PayingServer) -> web.Application:
    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        text = REPLY if server.ignores_schemas else _answer(body, server)
        await asyncio.sleep(server.delay_seconds)
        prompt = json.dumps(body["messages"]) + json.dumps(body.get("response_format", ""))
        model = body["model"]
        n_before = server.calls[model]
        server.calls[model] += 1
        thought = server.thought(model, n_before)
        counted, written = count_tokens(prompt), count_tokens(text) + thought
        n_read = server.n_kept if n_before and counted > server.n_kept else 0
        usage: dict[str, Any] = {"prompt_tokens": counted, "completion_tokens": written}
        if thought:
            usage["completion_tokens_details"] = {"reasoning_tokens": thought}
        if server.n_kept:
            usage["prompt_tokens_details"] = {"cached_tokens": n_read}
        server.prompts.append(prompt)
        server.keys.append(request.headers.get("Authorization", ""))
        n_in, n_out = server.used.get(model, (0, 0))
        server.used[model] = (n_in + counted, n_out + written)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        name = server.served_as or model
        return web.json_response({"model": name, "choices": [choice], "usage": usage})

    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    return application


def _answer(body: Mapping[str, Any], server: PayingServer) -> str:
    if "response_format" not in body:
        told = body["messages"][0]["content"]
        return f"{server.reply_of(told)} ({len(body['messages'])})"
    schema = body["response_format"]["json_schema"]["schema"]
    if "colour" in schema["properties"]:
        return json.dumps({"colour": schema["properties"]["colour"]["enum"][0]})
    if "overall" not in schema["required"]:
        score = 1 + sum(json.dumps(body["messages"]).encode()) % 5
        return json.dumps({key: {"comment": REASON, "score": score} for key in schema["required"]})
    winner = server.winner_of(body["messages"][-1]["content"])
    mark = {"reason": REASON, "winner": winner, "strength": 3}
    return json.dumps(dict.fromkeys(schema["required"], mark))
