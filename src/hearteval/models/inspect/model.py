"""The Inspect back end: OpenAI Responses, Anthropic, Google and Bedrock, each a `ChatModel`.

One call is one request. Inspect's retries, its caches, its hidden probe for reasoning summaries and
its record of what was said are off. What was really sent is read from the request that Inspect
made, because it leaves settings out without an error. Needs the extra ``inspect``.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from aiobotocore.config import AioConfig
from botocore.tokens import ScopedEnvTokenProvider
from inspect_ai import model as ai
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.event import ModelEvent
from inspect_ai.log import Transcript, transcript
from inspect_ai.log._transcript import init_transcript
from inspect_ai.util import JSONSchema

from hearteval.errors import SettingsError
from hearteval.models.base import Message, Reply, Role, Sampling, Schema
from hearteval.models.failures import FaultError, call_failure, hide_secrets, redact_reply
from hearteval.models.http import (
    SHORTEST_SECRET,
    Endpoint,
    marked,
    read_echo,
    requested_settings,
    sent_settings,
    used_settings,
)
from hearteval.models.http.client import Stopwatch, Timeouts
from hearteval.models.inspect import (
    converted_fault,
    fault_of,
    read_output,
    retry_after_of,
    settings_in,
)

UNBOUNDED = 10_000
"""Connections that Inspect allows: how many calls run at once is for `Gate`."""
DEFAULT_REGION = "us-east-1"
TALKATIVE = ("anthropic", "aiobotocore", "botocore", "google_genai", "httpx", "httpx2", "openai")
MESSAGES: Mapping[Role, Callable[..., ai.ChatMessage]] = {
    "system": ai.ChatMessageSystem,
    "user": ai.ChatMessageUser,
    "assistant": ai.ChatMessageAssistant,
}


class InspectModel:
    """One model behind one of Inspect's providers: a `ChatModel`."""

    def __init__(self, model: ai.Model, endpoint: Endpoint, timeouts: Timeouts) -> None:
        """Wrap a model of Inspect's; `open_inspect_model` makes one."""
        self.name = endpoint.name
        self._model = model
        self._endpoint = endpoint
        self._timeouts = timeouts

    def __repr__(self) -> str:
        """Name the model and its address, and nothing secret."""
        return f"InspectModel({self.name!r}, {self._endpoint.address!r})"

    async def close(self) -> None:
        """Close its connections."""
        await self._model.api.aclose()

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Ask once; see `ChatModel.complete`."""
        if not messages:
            raise ValueError("a model needs at least one message")
        call, config = _Call(sampling), build_config(sampling, self._timeouts)
        first, *others = messages
        beginning: str | list[ai.Content] = first.content
        if marked(first.content, self._endpoint) != first.content:
            config = config.merge(ai.GenerateConfig(cache_prompt=True))
            beginning = [ai.ContentText(text=first.content, cache_breakpoint=True)]
        spoken = [MESSAGES[first.role](content=beginning)]
        spoken += [MESSAGES[m.role](content=m.content) for m in others]
        try:
            output = await self._generate(call, spoken, config)
            return redact_reply(call.to_reply(output), self._secrets())
        except FaultError as error:
            fault = error
        except Exception as error:  # noqa: BLE001 - four SDKs raise as they like; cancelling passes
            fault = fault_of(error, sent=call.sent)
            fault.retry_after_seconds = retry_after_of(error, now=datetime.now(UTC))
        # Out here the new error has no context: Inspect's errors repeat the whole request.
        raise call_failure(
            fault, call.to_reply(None), messages, endpoint=self._endpoint, secrets=self._secrets()
        )

    async def _generate(
        self, call: "_Call", spoken: list[ai.ChatMessage], config: ai.GenerateConfig
    ) -> ai.ModelOutput:
        with _own_transcript() as record:
            try:
                async with asyncio.timeout(self._timeouts.total_seconds):
                    output = await self._model.generate(
                        spoken,
                        config=config,
                        cache=False,
                        on_stream=call.note if call.sampling.is_streamed else None,
                    )
            finally:
                call.end(record)
        if call.recorded is not None and call.recorded.error:
            raise converted_fault(output.stop_reason, call.response, sent=call.sent)
        return output

    def _secrets(self) -> tuple[str, ...]:
        parts = (self._endpoint.api_key or "").split(":")  # of an AWS access key
        return (*self._endpoint.secrets, *(p for p in parts if len(p) >= SHORTEST_SECRET))


class _Call:
    """One call on its way: its times, and Inspect's record of its request and response."""

    def __init__(self, sampling: Sampling) -> None:
        self.stopwatch = Stopwatch()
        self.recorded: ai.ModelCall | None = None
        self.sampling = sampling
        self._first_text_ms: float | None = None
        self._first_reasoning_ms: float | None = None
        self._total_ms: float | None = None

    @property
    def sent(self) -> dict[str, Any]:
        """Settings in the request as Inspect made it; none before it made one."""
        if self.recorded is None:
            return {}
        schema = self.sampling.schema
        return settings_in(self.recorded.request, schema_name=schema.name if schema else None)

    @property
    def response(self) -> Mapping[str, Any] | None:
        return self.recorded.response if self.recorded else None

    async def note(self, event: ai.StreamEvent) -> None:
        """Note when the first text and the first reasoning come; a new start forgets them."""
        ms = self.stopwatch.elapsed_ms()
        if event.type == "retry":
            self._first_text_ms = self._first_reasoning_ms = None
        elif event.type == "text" and event.text and self._first_text_ms is None:
            self._first_text_ms = ms
        elif event.type == "reasoning" and event.reasoning and self._first_reasoning_ms is None:
            self._first_reasoning_ms = ms

    def end(self, record: Transcript) -> None:
        """Keep Inspect's record of the call and the time it took."""
        self._total_ms = self.stopwatch.elapsed_ms()
        events = [event for event in record.events if isinstance(event, ModelEvent)]
        self.recorded = events[-1].call if events else None

    def to_reply(self, output: ai.ModelOutput | None) -> Reply:
        """Return the reply, or of a failed call what is known of it."""
        reply = read_output(output, self.response)
        echo = read_echo(self.response)
        return replace(
            reply,
            requested=requested_settings(self.sampling),
            effective=used_settings(self.sent, echo=echo, usage=reply.usage),
            first_text_ms=self._first_text_ms,
            first_reasoning_ms=self._first_reasoning_ms,
            total_ms=self._total_ms,
            raw="" if self.response is None else json.dumps(self.response, ensure_ascii=False),
        )


def open_inspect_model(
    provider: str, endpoint: Endpoint, *, timeouts: Timeouts | None = None
) -> InspectModel:
    """Open a model through one of Inspect's providers; `InspectModel.close` closes it.

    The provider is ``openai``, ``anthropic``, ``google`` or ``bedrock``. Nothing of the endpoint is
    looked up elsewhere, so the address and the key must be given; for Bedrock the key is a Bedrock
    key, or ``ID:SECRET`` of an AWS access key, with ``:TOKEN`` for a session's. `extra_body` holds
    fields of Inspect's `GenerateConfig`, such as ``reasoning_effort``.

    Raises:
        SettingsError: There is no key, the provider's package is missing, `extra_body` has a field
            unknown to Inspect, or the environment sends the calls elsewhere.
    """
    limits = timeouts or Timeouts()
    if not endpoint.api_key:
        raise SettingsError(f"{endpoint.name}: {provider} through Inspect needs a key")
    for name in TALKATIVE:
        # They log requests, with the dialogue, one level down.
        logging.getLogger(name).setLevel(logging.WARNING)
    # It warns of every setting it leaves out; here that is in what a reply says was used.
    logging.getLogger("inspect_ai").setLevel(logging.ERROR)
    try:
        model = ai.get_model(
            f"{provider}/{endpoint.model}",
            config=ai.GenerateConfig(**endpoint.extra_body),
            base_url=endpoint.base_url,
            api_key=None if provider == "bedrock" else endpoint.api_key,
            memoize=False,
            **_model_args(provider, endpoint, limits),
        )
    except (PrerequisiteError, ValueError) as error:
        said = hide_secrets(str(error), [endpoint.api_key])
        raise SettingsError(f"{endpoint.name}: Inspect: {said}", ids=(endpoint.name,)) from None
    if provider == "bedrock":
        _prepare_bedrock(model, endpoint.api_key)
    _check_account(model, endpoint)
    return InspectModel(model, endpoint, limits)


def build_config(sampling: Sampling, timeouts: Timeouts) -> ai.GenerateConfig:
    """Return how to sample as Inspect has it, with everything off that would make a second request.

    Raises:
        ValueError: The schema has keywords that Inspect would drop.
    """
    asked = sent_settings(sampling)
    if asked.pop("schema", None) and sampling.schema:
        asked["response_schema"] = _response_schema(sampling.schema)
    return ai.GenerateConfig(
        **asked,
        max_retries=0,
        max_connections=UNBOUNDED,
        stream_idle_timeout=round(timeouts.idle_seconds),
        # Of its own it would mark what is asked once, too, and a cache that is written to costs
        # more; on Bedrock it knows no other way.
        cache_prompt=False,
        # Unset, the first call asks the model to say "hello, world".
        reasoning_summary="none",
    )


def _response_schema(schema: Schema) -> ai.ResponseSchema:
    converted = JSONSchema.model_validate(schema.schema)
    if converted.model_dump(exclude_none=True) != schema.schema:
        raise ValueError(f"schema {schema.name}: Inspect cannot send every keyword in it")
    return ai.ResponseSchema(name=schema.name, json_schema=converted, strict=True)


def _model_args(provider: str, endpoint: Endpoint, timeouts: Timeouts) -> dict[str, Any]:
    if provider != "bedrock":
        args = {"responses_api": True} if provider == "openai" else {}
        return args if provider == "google" else {**args, "max_retries": 0}
    host = (urlsplit(endpoint.base_url).hostname or "").split(".")
    is_aws = host[-2:] == ["amazonaws", "com"] and len(host) == 4
    region = {
        "region_name": host[1] if is_aws else DEFAULT_REGION,
        "connect_timeout": round(timeouts.connect_seconds),
        "read_timeout": round(timeouts.idle_seconds),
    }
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    parts = (endpoint.api_key or "").split(":")
    # Without an access key AWS's library would look for one all over the machine.
    return region | dict(zip(names, parts if len(parts) > 1 else ("none", "none"), strict=False))


def _prepare_bedrock(model: ai.Model, key: str) -> None:
    """Have AWS's library send this key and no other, and try once."""
    session = getattr(model.api, "session")  # noqa: B009 - of a class that Inspect does not export
    session.set_config_variable("max_attempts", 1)
    is_access_key = ":" in key
    scheme = "sigv4" if is_access_key else "httpBearerAuth"
    session.set_default_client_config(AioConfig(auth_scheme_preference=scheme))
    environ = {} if is_access_key else {"AWS_BEARER_TOKEN_BEDROCK": key}
    session.register_component("token_provider", ScopedEnvTokenProvider(session, environ))


def _check_account(model: ai.Model, endpoint: Endpoint) -> None:
    """Refuse what the environment would silently put in the place of the study's own settings."""
    client = getattr(model.api, "client", None)
    strays = {
        "ANTHROPIC_AUTH_TOKEN": getattr(client, "auth_token", None),
        "OPENAI_ORG_ID": getattr(client, "organization", None),
        "OPENAI_PROJECT_ID": getattr(client, "project", None),
        "OPENAI_SAFETY_IDENTIFIER": getattr(model.api, "safety_identifier", None),
        "OPENAI_CUSTOM_HEADERS or ANTHROPIC_CUSTOM_HEADERS": getattr(
            client, "_custom_headers", None
        ),
    }
    sent = [name for name, value in strays.items() if value and isinstance(value, str | Mapping)]
    service, would = getattr(model.api, "service", None), ""
    if sent:
        would = f"send what the environment says in {', '.join(sent)}; unset it"
    elif service is not None:
        would = (
            f"call {service}; take a model id without a slash, and unset GOOGLE_GENAI_USE_VERTEXAI"
        )
    if would:
        raise SettingsError(f"{endpoint.name}: Inspect would {would}", ids=(endpoint.name,))


@contextmanager
def _own_transcript() -> Iterator[Transcript]:
    """Let Inspect keep its record of a call in a place that is thrown away after it."""
    before, own = transcript(), Transcript(log_model_api=True)
    init_transcript(own)
    try:
        yield own
    finally:
        init_transcript(before)
