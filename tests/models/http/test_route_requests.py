"""What really goes over the wire for every route of every preset, at a loopback server."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest
from inspect_answers import ANTHROPIC, BEDROCK, GOOGLE, OPENAI
from scripted_server import ScriptedServer, running_server, say

from hearteval.models.base import ChatModel, Message, Reply, Sampling, Schema
from hearteval.models.http import Endpoint
from hearteval.models.http.client import OpenAICompatibleModel, open_client
from hearteval.models.inspect.model import open_inspect_model
from hearteval.models.presets import Route, load_model_presets

KEY = "canary-5f2d9a7c41"
HELLO = [Message(role="system", content="Listen."), Message(role="user", content="Hello.")]
SCHEMA = {
    "type": "object",
    "properties": {"choice": {"type": "string", "enum": ["first", "second"]}},
    "required": ["choice"],
    "additionalProperties": False,
}
ASKED = {"temperature": 0.0, "top_p": 1.0, "seed": 7}
KINDS = {f"inspect/{kind.provider}": kind for kind in (OPENAI, ANTHROPIC, GOOGLE, BEDROCK)}
DIRECT, THROUGH_INSPECT = (
    [
        pytest.param(route, id=f"{preset.id} at {route.provider}")
        for preset in load_model_presets().values()
        for route in preset.routes
        if route.backend == backend
    ]
    for backend in ("openai-compatible", "inspect")
)


def endpoint_of(route: Route, server: ScriptedServer) -> Endpoint:
    return Endpoint(
        name=route.model,
        model=route.model,
        base_url=server.url.removesuffix("/v1") + urlsplit(route.base_url).path,
        api_key=KEY,
        extra_body=route.extra_body,
        max_tokens_key=route.max_tokens_key,
    )


async def complete(model: ChatModel, route: Route) -> Reply:
    sampling = Sampling(
        temperature=0.0,
        top_p=1.0,
        seed=7,
        max_tokens=300,
        schema=Schema(name="choice", schema=SCHEMA),
        refuses=route.refuses,
    )
    return await model.complete(HELLO, sampling)


def call_directly(route: Route) -> tuple[Reply, ScriptedServer]:
    async def main() -> tuple[Reply, ScriptedServer]:
        async with running_server(say("Hi.")) as server, open_client() as client:
            model = OpenAICompatibleModel(endpoint_of(route, server), client)
            return await complete(model, route), server

    return asyncio.run(main())


def call_through_inspect(route: Route) -> tuple[Reply, ScriptedServer]:
    async def main() -> tuple[Reply, ScriptedServer]:
        async with running_server(KINDS[route.provider].answer("Hi.")) as server:
            provider = route.provider.removeprefix("inspect/")
            model = open_inspect_model(provider, endpoint_of(route, server))
            try:
                return await complete(model, route), server
            finally:
                await model.close()

    return asyncio.run(main())


def kept(values: Mapping[str, Any], route: Route) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in route.refuses}


@pytest.mark.parametrize("route", DIRECT)
def test_request_holds_what_the_route_takes_and_nothing_that_it_refuses(route: Route) -> None:
    reply, server = call_directly(route)
    (body,) = server.bodies
    assert {name: body[name] for name in ASKED if name in body} == kept(ASKED, route)
    assert ("response_format" in body) == ("schema" not in route.refuses)
    assert {key: body[key] for key in body if key.startswith("max_")} == {route.max_tokens_key: 300}
    assert body["model"] == route.model
    assert {key: body[key] for key in route.extra_body} == dict(route.extra_body)
    sent = {**ASKED, "max_tokens": 300, "schema": "choice"}
    assert reply.effective == {**kept(sent, route), **route.extra_body}
    assert server.targets[0].endswith(f"{urlsplit(route.base_url).path}/chat/completions")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("route", THROUGH_INSPECT)
def test_request_through_inspect_holds_the_same_in_the_providers_form(route: Route) -> None:
    reply, server = call_through_inspect(route)
    (body,) = server.bodies
    kind = KINDS[route.provider]
    settings = kind.settings(body)
    found = {"temperature": settings.get("temperature"), "seed": settings.get("seed")}
    found["top_p"] = settings.get("top_p", settings.get("topP"))
    assert {name: value for name, value in found.items() if value is not None} == kept(ASKED, route)
    assert kind.limit(body) == 300
    assert ('"enum"' in json.dumps(body)) == ("schema" not in route.refuses)
    assert route.model in json.dumps(body) + server.targets[0].replace("%3A", ":")
    assert KEY in server.headers[0][kind.key_header]
    sent = kept({**ASKED, "max_tokens": 300, "schema": "choice"}, route)
    assert {name: reply.effective[name] for name in sent} == sent
    assert len(reply.effective) == len(sent) + bool(reply.effective.keys() & HOW_MUCH_TO_REASON)


HOW_MUCH_TO_REASON = {"reasoning", "thinkingConfig"}


@pytest.mark.parametrize(
    ("preset", "provider", "sent"),
    [
        ("gpt-5", "inspect/openai", {"reasoning": {"effort": "minimal"}}),
        ("gpt-o3", "inspect/openai", {"reasoning": {"effort": "low"}}),
        ("gemini-2.5-pro", "inspect/google", {"thinking_budget": 128}),
        ("gemini-2.5-flash", "inspect/google", {"thinking_budget": 0}),
        ("gemini-3-pro-preview", "inspect/google", {"thinking_level": "LOW"}),
    ],
)
def test_as_little_reasoning_as_the_model_allows_is_asked_for(
    preset: str, provider: str, sent: Mapping[str, Any]
) -> None:
    (route,) = [r for r in load_model_presets()[preset].routes if r.provider == provider]
    _, server = call_through_inspect(route)
    body = server.bodies[0]
    place = body.get("generationConfig", {}).get("thinkingConfig", body)
    assert {name: place[name] for name in sent} == sent
