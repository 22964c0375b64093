"""A study file whose models answer over HTTP, from a scripted server in a thread of its own."""

import asyncio
import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from scripted_server import Answer, ScriptedServer, in_a_thread, running_server, say

from hearteval.domain import OVERALL

REPLIES = (
    "That sounds like a lot to carry.",
    "What would help you most tonight?",
    "I am glad you wrote about it.",
)
KEY_NAME = "SERVED_KEY"
STUDY = """
[study]
name = "served"
seed = 4
[items]
source = "starter"
regular = {regular}
adversarial = 0
[[system]]
preset = "generic"
[[system]]
preset = "advice"
[[system]]
name = "ours"
model = "openai-compatible/our-model"
base_url = "{url}"
family = "ours"
{extra}
[[judge]]
name = "theirs"
model = "openai-compatible/their-judge"
base_url = "{url}"
family = "theirs"
{extra}
[judging]
judges = ["theirs"]
stress_items = 0
repeat_pairs = 0
[budget]
{limit}
"""
FREE = "concurrency = 1\nprice = { input = 0, output = 0 }"


def write_study(
    folder: Path, url: str, *, regular: int = 3, extra: str = FREE, limit: str = ""
) -> Path:
    """Write a study of two baselines and one model, judged by one model."""
    path = folder / "served.toml"
    text = STUDY.format(url=url, regular=regular, extra=extra, limit=limit)
    path.write_text(text, encoding="utf-8")
    return path


@contextmanager
def serving(*answers: Answer, host: str = "127.0.0.1") -> Iterator[ScriptedServer]:
    """Serve a script until the block ends."""
    with in_a_thread(running_server(*answers, host=host)) as server:
        yield server


def healthy(text: str = "", *, model: str | None = "tiny-1") -> Answer:
    """Answer judges by the schema they send, and everyone else with a sentence.

    It answers any name, and calls its model `model`; None repeats the name it is asked by.
    """

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        name = model or str(body["model"])
        return await say(text or fitting_reply(body), model=name)(request, body)

    return answer


def fitting_reply(body: Mapping[str, object]) -> str:
    """Return what a well-behaved model says; the same question has the same answer."""
    said = json.dumps(body["messages"])
    if "response_format" not in body:
        return REPLIES[sum(said.encode()) % len(REPLIES)]
    schema = body["response_format"]["json_schema"]["schema"]  # type: ignore[index]
    if "colour" in schema["properties"]:
        return json.dumps({"colour": schema["properties"]["colour"]["enum"][0]})
    if OVERALL not in schema["required"]:
        return fitting_rating(said, schema["required"])
    number = sum(said.encode())
    return json.dumps(
        {key: fitting_mark(schema["properties"][key], number) for key in schema["required"]}
    )


def fitting_mark(schema: Mapping[str, Any], number: int) -> dict[str, object]:
    """Return what a well-behaved judge says of an axis or overall, by what it may say."""
    marks: dict[str, object] = {"reason": "closer to what was said"}
    values = schema["properties"]
    name = "winner" if "winner" in values else "answer"
    marks[name] = values[name]["enum"][number % len(values[name]["enum"])]
    return marks | ({"strength": 3} if "strength" in values else {})


def fitting_rating(said: str, keys: Sequence[str]) -> str:
    """Return the scores of a well-behaved judge; the same question has the same ones."""
    number = sum(said.encode())
    marks = [{"comment": "stays with her", "score": 1 + (number + i) % 5} for i in range(len(keys))]
    return json.dumps(dict(zip(keys, marks, strict=True)))


def is_probe(body: Mapping[str, object]) -> bool:
    """Say whether a request is the question that shows whether a schema is enforced."""
    return "heart_probe" in json.dumps(body.get("response_format", ""))


def slowly(seconds: float = 0.05) -> Answer:
    """Answer well after a while, so that calls of several processes are under way together."""

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await healthy()(request, body)

    return answer


def once_two_ask(n_at_once: int, *, model: str = "") -> Answer:
    """Answer well; a model, or any, only once more calls are under way than one process makes."""
    n_asked, are_two = 0, asyncio.Event()

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        nonlocal n_asked
        if model in ("", body["model"]) and not is_probe(body):
            n_asked += 1
            if n_asked > n_at_once:
                are_two.set()
            await asyncio.wait_for(are_two.wait(), 600)
        return await slowly()(request, body)

    return answer


def asked_once(server: ScriptedServer) -> bool:
    """Say whether no question was asked twice."""
    asked = Counter(json.dumps([body["model"], body["messages"]]) for body in server.bodies)
    return set(asked.values()) == {1}


def by_model(**scripts: Sequence[Answer]) -> Answer:
    """Answer each model from its own script, `_` for `-`; when it ends, or for a probe, well."""
    left = {name.replace("_", "-"): deque(script) for name, script in scripts.items()}

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        script = left.get(str(body["model"]))
        chosen = healthy() if is_probe(body) or not script else script.popleft()
        return await chosen(request, body)

    return answer


def always(**answers: Answer) -> Answer:
    """Answer each model in one way; others, and probes, well."""
    named = {name.replace("_", "-"): given for name, given in answers.items()}

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        chosen = healthy() if is_probe(body) else named.get(str(body["model"]), healthy())
        return await chosen(request, body)

    return answer
