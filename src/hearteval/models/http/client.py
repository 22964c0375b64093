"""HTTP to endpoints: shared connections, one request with what may go wrong, and the chat client.

A request is made once: when it goes out, and how often, is for `Gated` and for the queue of batch
jobs. No key, address with a key, or dialogue leaves here in an error.
"""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from hearteval.models.base import HEED, Message, Reply, Sampling
from hearteval.models.failures import (
    CallFailureError,
    FaultError,
    call_failure,
    find_fault,
    read_date,
    read_error,
    read_retry_after,
    redact_reply,
)
from hearteval.models.http import Endpoint, build_body, effective_settings, requested_settings
from hearteval.models.http.replies import EventReader, ReplyParts, decode, parse_json

GOOD = frozenset({200, 201})
MAX_REPLY_BYTES = 10_000_000
"""Beyond any reply: an endpoint that never ends may not fill memory."""
MAX_ERROR_BYTES = 65_536
DRAIN_SECONDS = 1.0
"""How long the end of a body may follow ``[DONE]``: without reading it, no connection is reused."""
SILENT_SECONDS = 60
"""After which a silent connection is probed: routers forget one that is silent for minutes, as it
is while a model thinks."""
UNSENT_KEYS = frozenset({"messages", "model", "stream"})
LOST = (aiohttp.ClientError, TimeoutError, OSError)
AS_IT_COMES = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # a compressor holds the first text back
}
Body = str | bytes | aiohttp.FormData


class Stopwatch:
    """Milliseconds since a request went out; connecting before it is not counted."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        _current.set(self)

    def start(self) -> None:
        """Set it to zero: the connection stands."""
        self._began = time.perf_counter()

    def elapsed_ms(self) -> float:
        """Return the milliseconds since the start."""
        return 1000 * (time.perf_counter() - self._began)


_current: ContextVar[Stopwatch] = ContextVar("_current")
"""The stopwatch of the call that this task makes."""


class _TimedConnector(aiohttp.TCPConnector):
    """Starts the stopwatch once a request has its connection.

    aiohttp's own tracing would say the same for a quarter of the time that a call takes.
    """

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Any], timeout: aiohttp.ClientTimeout
    ) -> Any:
        connection = await super().connect(req, traces, timeout)
        stopwatch = _current.get(None)
        if stopwatch is not None:
            stopwatch.start()
        return connection


def _probed_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name in ("TCP_KEEPIDLE", "TCP_KEEPALIVE", "TCP_KEEPINTVL"):  # systems know two of these
        if hasattr(socket, name):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), SILENT_SECONDS)
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long a call may take."""

    connect_seconds: float = 15.0
    """To connect, TLS included."""
    idle_seconds: float = 180.0
    """Without a byte, before the first one too; a reply that comes whole is silence to its end."""
    total_seconds: float = 900.0

    def within(self, seconds: float) -> "Timeouts":
        """Return these for calls that may take so long in all."""
        return Timeouts(
            connect_seconds=min(self.connect_seconds, seconds),
            idle_seconds=min(self.idle_seconds, seconds),
            total_seconds=seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """The connections that all models of a process run share; made by `open_client`."""

    session: aiohttp.ClientSession = field(repr=False)
    timeouts: Timeouts
    proxy: str | None = field(repr=False)
    trust_env: bool

    def proxy_for(self, address: str) -> str | None:
        """Return the proxy on the way to an address, or None."""
        url, proxy = urlsplit(address), self.proxy
        if proxy is None and self.trust_env and not proxy_bypass(url.hostname or ""):
            proxies = getproxies()
            proxy = proxies.get(url.scheme) or proxies.get("all")
        if not proxy:
            return None
        if "://" not in proxy:
            proxy = f"http://{proxy}"
        if urlsplit(proxy).scheme not in {"http", "https"}:
            raise ValueError("the proxy: expected http://HOST:PORT; no other kind is supported")
        return proxy


@asynccontextmanager
async def open_client(
    *, timeouts: Timeouts | None = None, proxy: str | None = None, trust_env: bool = False
) -> AsyncIterator[Client]:
    """Open the shared connections, and close them at the end.

    With `trust_env` the usual variables (HTTPS_PROXY, NO_PROXY...) choose the proxy.
    """
    # aiohttp's own trust_env also reads ~/.netrc, in a thread for each call, and an entry there
    # makes every call with a key fail; so the proxy is looked up here, once for each model.
    session = aiohttp.ClientSession(
        connector=_TimedConnector(limit=0, socket_factory=_probed_socket),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )
    limits = timeouts or Timeouts()
    async with session:
        yield Client(session=session, timeouts=limits, proxy=proxy, trust_env=trust_env)


class Caller:
    """Makes requests to one endpoint, and says what went wrong with them.

    The endpoint's own headers win over those given here.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        client: Client,
        headers: Mapping[str, str],
        *,
        timeouts: Timeouts | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._session = client.session
        self._limits = timeouts or client.timeouts
        self._timeouts = {
            is_whole: aiohttp.ClientTimeout(
                total=self._limits.total_seconds,
                connect=self._limits.connect_seconds,
                sock_read=None if is_whole else self._limits.idle_seconds,
            )
            for is_whole in (False, True)
        }
        self._proxy = client.proxy_for(endpoint.base_url)
        self._headers = CIMultiDict(headers)
        self._headers.update(endpoint.headers)
        self._json_headers = CIMultiDict({"Content-Type": "application/json"})
        self._json_headers.update(self._headers)
        of_proxy = urlsplit(self._proxy or "").password or ""
        sent = self._headers.get("Authorization", "").rpartition(" ")[2]
        self._secrets = tuple(filter(None, (*endpoint.secrets, sent, of_proxy)))

    def url(self, path: str, query: Mapping[str, str] | None = None) -> URL:
        """Return the address of a path below the base URL, whose own query stays."""
        url = urlsplit(self._endpoint.base_url)
        bare = f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path.rstrip('/')}{path}"
        whole = URL(f"{bare}?{url.query}" if url.query else bare, encoded=True)
        return whole.update_query(dict(query)) if query else whole

    @asynccontextmanager
    async def open(
        self,
        method: str,
        url: URL,
        body: Body | None = None,
        *,
        sent: Collection[str] = (),
        is_whole: bool = False,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Make a request; give a good answer while the block runs.

        `sent` names the settings in the body, one of which the endpoint may refuse. An answer that
        `is_whole` comes at the end of a silence, which only the whole call's time bounds.

        Raises:
            FaultError: There is no good answer, or it was lost while the block read it.
        """
        response: aiohttp.ClientResponse | None = None
        try:
            async with self._session.request(
                method,
                url,
                data=body.encode() if isinstance(body, str) else body,
                headers=self._json_headers if isinstance(body, str | bytes) else self._headers,
                proxy=self._proxy,
                allow_redirects=False,
                timeout=self._timeouts[is_whole],
            ) as response:
                heed = HEED.get(None)
                if heed is not None:
                    heed(response.headers)
                if response.status not in GOOD:
                    raise await _fault_of_answer(response, sent)
                yield response
            return
        except LOST as error:
            fault = _fault_of_loss(error, self._limits, is_answered=response is not None)
        except FaultError as error:
            fault = error
        if fault.may_be_charged is None:
            fault.may_be_charged = response is not None and response.status in GOOD
        if response is not None:
            fault.retry_after_seconds = _asked_wait(response.headers)
        raise fault

    def without_secrets(self, reply: Reply) -> Reply:
        """Hide the secrets that an endpoint repeats beside its reply."""
        return redact_reply(reply, self._secrets)

    def failure(
        self, fault: FaultError, reply: Reply, messages: Sequence[Message], *, where: str = ""
    ) -> CallFailureError:
        """Return the error of a call that came to nothing; see `call_failure`."""
        return call_failure(
            fault, reply, messages, endpoint=self._endpoint, secrets=self._secrets, where=where
        )


class OpenAICompatibleModel:
    """One model behind an OpenAI-compatible endpoint: a `ChatModel`."""

    def __init__(
        self, endpoint: Endpoint, client: Client, *, timeouts: Timeouts | None = None
    ) -> None:
        self.name = endpoint.name
        self._endpoint = endpoint
        headers = {**AS_IT_COMES, **authorization(endpoint)}
        self._caller = Caller(endpoint, client, headers, timeouts=timeouts)
        self._url = self._caller.url("/chat/completions")
        self._shared: dict[str, Any] = {}
        self._written = ""
        """What many requests share, and as JSON."""

    def __repr__(self) -> str:
        """Name the model and its address, and nothing secret."""
        return f"OpenAICompatibleModel({self.name!r}, {self._endpoint.address!r})"

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Ask once; see `ChatModel.complete`."""
        body = build_body(messages, sampling, self._endpoint)
        parts = ReplyParts(body.keys() - UNSENT_KEYS)
        try:
            await self._exchange(body, parts, is_whole=not sampling.is_streamed)
            return self._caller.without_secrets(self._reply(parts, sampling))
        except FaultError as error:
            fault = error
        parts.raw = parts.raw or fault.raw
        # Out here the new error has no context: aiohttp's errors know headers and addresses.
        raise self._caller.failure(fault, self._reply(parts, sampling), messages)

    async def _exchange(
        self, body: Mapping[str, Any], parts: ReplyParts, *, is_whole: bool
    ) -> None:
        stopwatch = Stopwatch()
        sent = self._as_json(body)
        async with self._caller.open(
            "POST", self._url, sent, sent=parts.sent, is_whole=is_whole
        ) as response:
            if response.content_type == "text/event-stream":
                await _read_stream(response, parts, stopwatch)
            else:
                parts.add_body(await read_text(response), stopwatch.elapsed_ms())

    def _as_json(self, body: Mapping[str, Any]) -> str:
        """Write a body; its settings and first message, which many share, once.

        Settings that are equal are the same, `True` and 1 too; none may be changed in place.
        """
        first, *others = body["messages"]
        shared = {key: value for key, value in body.items() if key != "messages"}
        shared["messages"] = [first]  # last, for the others to follow
        if shared != self._shared:
            self._shared, self._written = shared, json.dumps(shared, allow_nan=False)
        return ", ".join((self._written[:-2], *map(json.dumps, others))) + "]}"

    def _reply(self, parts: ReplyParts, sampling: Sampling) -> Reply:
        return parts.to_reply(
            requested=requested_settings(sampling),
            effective=effective_settings(sampling, self._endpoint),
        )


def authorization(endpoint: Endpoint) -> dict[str, str]:
    """Return the header that carries an endpoint's key, or the user and password of its address."""
    url = urlsplit(endpoint.base_url)
    if endpoint.api_key is not None:
        return {"Authorization": f"Bearer {endpoint.api_key}"}
    if url.username is not None:
        user, password = unquote(url.username), unquote(url.password or "")
        return {"Authorization": aiohttp.encode_basic_auth(user, password)}
    return {}


async def read_text(response: aiohttp.ClientResponse) -> str:
    """Return a whole answer.

    Raises:
        FaultError: It is too large, or no UTF-8.
    """
    body = await _read_bytes(response, MAX_REPLY_BYTES + 1)
    if len(body) > MAX_REPLY_BYTES:
        raise FaultError("too-large", f"more than {MAX_REPLY_BYTES:,} bytes")
    return decode(body)


async def _read_stream(
    response: aiohttp.ClientResponse, parts: ReplyParts, stopwatch: Stopwatch
) -> None:
    """Read events until the last; a connection lost after the finish reason loses nothing."""
    reader, n_bytes = EventReader(), 0
    try:
        async for piece in response.content.iter_any():
            n_bytes += len(piece)
            if n_bytes > MAX_REPLY_BYTES:
                raise FaultError("too-large", f"more than {MAX_REPLY_BYTES:,} bytes")
            if parts.add_events(reader.feed(piece), stopwatch.elapsed_ms()):
                if not response.content.at_eof():
                    await _drain(response)
                break
        else:
            parts.add_events(reader.finish(), stopwatch.elapsed_ms())
    except LOST:
        if not parts.is_complete:
            raise
    if not parts.is_complete:
        raise FaultError("cut-off-stream", "it ended without a finish reason")


async def _drain(response: aiohttp.ClientResponse) -> None:
    with suppress(*LOST):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in response.content.iter_any():
                pass


async def _fault_of_answer(response: aiohttp.ClientResponse, sent: Collection[str]) -> FaultError:
    text = ""
    with suppress(*LOST):  # the status alone says enough
        text = (await _read_bytes(response, MAX_ERROR_BYTES)).decode(errors="replace")
    try:
        said = parse_json(text)
    except FaultError as error:
        said = error.said if error.reason == "html" else text
    fault = find_fault(response.status, read_error(said), sent=sent)
    fault.raw = text
    return fault


async def _read_bytes(response: aiohttp.ClientResponse, most: int) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) >= most:
            break
    return bytes(body[:most])


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    now = read_date(headers.get("Date")) or datetime.now(UTC)
    return read_retry_after(headers.get("Retry-After"), now=now)


def _fault_of_loss(error: Exception, limits: Timeouts, *, is_answered: bool) -> FaultError:
    """Say what was lost without the library's own words, which may hold an address with a key."""
    if isinstance(error, TimeoutError):
        said = f"not done within {limits.total_seconds:g} s"
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return FaultError("connection", f"none within {limits.connect_seconds:g} s")
        if isinstance(error, aiohttp.SocketTimeoutError):
            said = f"nothing came for {limits.idle_seconds:g} s"
        return FaultError("timeout", said)
    if is_answered:
        return FaultError("cut-off-stream", "the connection was lost in the middle")
    said = type(error).__name__
    is_connected = not isinstance(error, aiohttp.ClientConnectorError)
    if is_connected and isinstance(error, aiohttp.ServerDisconnectedError | OSError):
        fault = FaultError("connection", said)
        fault.may_be_charged = True  # the request may have arrived, and be answered to nobody
        return fault
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        said = str(error.certificate_error)
    elif isinstance(error, aiohttp.ClientConnectorError):
        said = error.os_error.strerror or said
    elif isinstance(error, aiohttp.ClientResponseError):  # a proxy's refusal, or not HTTP at all
        said = f"{said} {error.status}"
    return FaultError("connection", said)
