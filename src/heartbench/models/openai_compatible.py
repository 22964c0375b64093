"""The client for every endpoint that speaks OpenAI's chat completions: one call, one reply.

A call is tried once: trying again is `retrying`, how many at once is `concurrency`. What is sent
and what comes back are `wire` and `reply_parts`. No key, address with a key, or dialogue leaves
here in an error.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit, urlunsplit

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from heartbench.models.base import Message, Reply, Sampling
from heartbench.models.connections import Client, Stopwatch, Timeouts
from heartbench.models.events import EventReader
from heartbench.models.failures import (
    CallFailureError,
    FaultError,
    call_failure,
    find_fault,
    read_error,
    read_retry_after,
)
from heartbench.models.redaction import redact_reply
from heartbench.models.reply_parts import ReplyParts, parse_json
from heartbench.models.wire import (
    Endpoint,
    build_body,
    effective_settings,
    requested_settings,
)

MAX_REPLY_BYTES = 10_000_000
MAX_ERROR_BYTES = 65_536
DRAIN_SECONDS = 1.0
"""How long the end of a body may follow ``[DONE]``: without reading it, no connection is reused."""
UNSENT_KEYS = frozenset({"messages", "model", "stream"})
LOST = (aiohttp.ClientError, TimeoutError, OSError)


class OpenAICompatibleModel:
    """One model behind an OpenAI-compatible endpoint: a `ChatModel`."""

    def __init__(self, endpoint: Endpoint, client: Client) -> None:
        self._endpoint = endpoint
        self._client = client
        self._url = _completions_url(endpoint.base_url)
        self._headers = _headers(endpoint)
        self._proxy = client.proxy_for(endpoint.base_url)

    def __repr__(self) -> str:
        """Name the model and its address, and nothing secret."""
        return f"OpenAICompatibleModel({self.name!r}, {self._endpoint.address!r})"

    @property
    def name(self) -> str:
        """What messages and logs call it."""
        return self._endpoint.name

    async def complete(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        repeat: int = 0,
    ) -> Reply:
        """Ask once; see `ChatModel.complete`."""
        body = build_body(messages, sampling, self._endpoint)
        call = _Call(body)
        try:
            await self._exchange(call, body)
            return redact_reply(self._reply(call, sampling), self._secrets())
        except LOST as error:
            fault = _fault_of_loss(error, call, self._client.timeouts)
        except FaultError as error:
            fault = error
        # Out here the new error has no context: aiohttp's errors know headers and addresses.
        raise self._failure(fault, call, messages, sampling)

    async def _exchange(self, call: "_Call", body: Mapping[str, Any]) -> None:
        async with self._client.session.post(
            self._url,
            data=json.dumps(body, allow_nan=False).encode(),
            headers=self._headers,
            proxy=self._proxy,
            allow_redirects=False,
        ) as response:
            call.response = response
            if response.status != 200:
                await _read_failure(response, call)
            elif response.content_type == "text/event-stream":
                await _read_stream(response, call)
            else:
                call.parts.add_body(await _read_text(response), call.stopwatch.elapsed_ms())

    def _reply(self, call: "_Call", sampling: Sampling) -> Reply:
        return call.parts.to_reply(
            requested=requested_settings(sampling),
            effective=effective_settings(sampling, self._endpoint),
        )

    def _secrets(self) -> tuple[str, ...]:
        sent = self._headers.get("Authorization", "").rpartition(" ")[2]
        of_proxy = urlsplit(self._proxy or "").password or ""
        return tuple(filter(None, (*self._endpoint.secrets, sent, of_proxy)))

    def _failure(
        self, fault: FaultError, call: "_Call", messages: Sequence[Message], sampling: Sampling
    ) -> CallFailureError:
        return call_failure(
            fault,
            self._reply(call, sampling),
            endpoint=self._endpoint,
            secrets=self._secrets(),
            messages=messages,
            retry_after_seconds=call.retry_after(),
        )


class _Call:
    """One call on its way: its stopwatch, its answer, and what has come of the reply."""

    __slots__ = ("parts", "response", "stopwatch")

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.parts = ReplyParts(body.keys() - UNSENT_KEYS)
        self.response: aiohttp.ClientResponse | None = None
        self.stopwatch = Stopwatch()

    def retry_after(self) -> float | None:
        if self.response is None:
            return None
        headers = self.response.headers
        now = datetime.now(UTC)
        with suppress(ValueError, KeyError):
            now = parsedate_to_datetime(headers["Date"])
        return read_retry_after(headers.get("Retry-After"), now=now)


async def _read_stream(response: aiohttp.ClientResponse, call: _Call) -> None:
    """Read events until the last; a connection lost after the finish reason loses nothing."""
    try:
        await _read_events(response, call)
    except LOST:
        if not call.parts.is_complete:
            raise
    if not call.parts.is_complete:
        raise FaultError("cut-off-stream", "it ended without a finish reason")


async def _read_events(response: aiohttp.ClientResponse, call: _Call) -> None:
    reader, n_bytes = EventReader(), 0
    async for piece in response.content.iter_any():
        n_bytes += len(piece)
        if n_bytes > MAX_REPLY_BYTES:
            raise FaultError("too-large", f"more than {MAX_REPLY_BYTES:,} bytes")
        if call.parts.add_events(reader.feed(piece), call.stopwatch.elapsed_ms()):
            if not response.content.at_eof():
                await _drain(response)
            return
    call.parts.add_events(reader.finish(), call.stopwatch.elapsed_ms())


async def _drain(response: aiohttp.ClientResponse) -> None:
    with suppress(*LOST):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in response.content.iter_any():
                pass


async def _read_failure(response: aiohttp.ClientResponse, call: _Call) -> NoReturn:
    """Raise what an answer other than 200 says."""
    text = ""
    with suppress(*LOST):  # the status alone says enough
        text = (await _read_bytes(response, MAX_ERROR_BYTES)).decode(errors="replace")
    call.parts.raw = text
    try:
        error = read_error(parse_json(text))
    except FaultError as fault:
        error = read_error(fault.said if fault.reason == "html" else text)
    raise find_fault(response.status, error, sent=call.parts.sent)


async def _read_text(response: aiohttp.ClientResponse) -> str:
    body = await _read_bytes(response, MAX_REPLY_BYTES + 1)
    if len(body) > MAX_REPLY_BYTES:
        raise FaultError("too-large", f"more than {MAX_REPLY_BYTES:,} bytes")
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise FaultError("not-json", "it is not UTF-8") from None


async def _read_bytes(response: aiohttp.ClientResponse, most: int) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) >= most:
            break
    return bytes(body[:most])


def _fault_of_loss(error: Exception, call: _Call, timeouts: Timeouts) -> FaultError:
    """Say what was lost without the library's own words, which may hold an address with a key."""
    if isinstance(error, TimeoutError):
        said = f"not done within {timeouts.total_seconds:g} s"
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            said = f"no connection within {timeouts.connect_seconds:g} s"
        elif isinstance(error, aiohttp.SocketTimeoutError):
            said = f"nothing came for {timeouts.idle_seconds:g} s"
        return FaultError("timeout", said)
    if call.response is not None:
        return FaultError("cut-off-stream", "the connection was lost in the middle")
    said = type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        said = str(error.certificate_error)
    elif isinstance(error, aiohttp.ClientConnectorError):
        said = error.os_error.strerror or said
    elif isinstance(error, aiohttp.ClientResponseError):  # a proxy's refusal, or not HTTP at all
        said = f"{said} {error.status}"
    return FaultError("connection", said)


def _completions_url(base_url: str) -> URL:
    url = urlsplit(base_url)
    path = f"{url.path.rstrip('/')}/chat/completions"
    address = urlunsplit((url.scheme, url.netloc.rpartition("@")[2], path, url.query, ""))
    return URL(address, encoded=True)


def _headers(endpoint: Endpoint) -> CIMultiDict[str]:
    headers = CIMultiDict(
        {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",  # a compressor holds the first text back
        }
    )
    url = urlsplit(endpoint.base_url)
    if endpoint.api_key is not None:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    elif url.username is not None:
        user, password = unquote(url.username), unquote(url.password or "")
        headers["Authorization"] = aiohttp.encode_basic_auth(user, password)
    headers.update(endpoint.headers)
    return headers
