"""Connections that all models of a process run share: timeouts, proxy, and when a request went out.

One aiohttp session for everything: connections are kept and used again. Nothing here limits how
many there are; that is `concurrency`.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp


class Stopwatch:
    """Milliseconds since a request went out; connecting before it is not counted."""

    __slots__ = ("_began",)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long a call may take.

    Attributes:
        connect_seconds: To connect, TLS included.
        idle_seconds: Without a byte, before the first one too.
        total_seconds: In all.
    """

    connect_seconds: float = 15.0
    idle_seconds: float = 180.0
    total_seconds: float = 900.0


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

    Args:
        timeouts: How long calls may take.
        proxy: Address of a proxy for every call.
        trust_env: Whether the usual variables (HTTPS_PROXY, NO_PROXY...) choose the proxy.
    """
    limits = timeouts or Timeouts()
    # aiohttp's own trust_env also reads ~/.netrc, in a thread for each call, and an entry there
    # makes every call with a key fail; so the proxy is looked up here, once for each model.
    session = aiohttp.ClientSession(
        connector=_TimedConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(
            total=limits.total_seconds,
            connect=limits.connect_seconds,
            sock_read=limits.idle_seconds,
        ),
        trust_env=False,
    )
    async with session:
        yield Client(session=session, timeouts=limits, proxy=proxy, trust_env=trust_env)
