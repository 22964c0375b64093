"""What stands before every page: same-origin forms, headers, sizes, and few tries at links."""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import ContextVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE = frozenset({"GET", "HEAD"})
MOST_BYTES = 200_000
"""Of a form: many times what any task holds."""
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
HSTS = "max-age=31536000"
"""A browser that has come encrypted comes so for a year."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""What machines ask for by any name of this one; nothing there is anybody's."""
FRESH = "no-store"
"""Pages are never kept: they hold what others said in distress, and Back must ask again."""


TRIAL: ContextVar[str | None] = ContextVar("trial", default=None)
"""Of the site that answers a request: whether nothing counts there, for every page of it."""


class Guard:
    """Refuses what comes from another site or is too large, and adds headers to what leaves.

    A browser says where a form comes from: with ``Sec-Fetch-Site``, else ``Origin``, else
    ``Referer``. A request that changes something and says none of them is refused too. So is one
    for another name than `hosts`, with which a page of another site could read what is served here.

    Args:
        app: What stands behind it.
        refuse: The page that says why, by the request, the name of its words and its status.
        hosts: Names that requests may be for; none for any.
        is_https: Whether browsers are told to come encrypted only.
        trial: What every page says of itself: that nothing counts, if that is so.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        refuse: Callable[[Scope, str, int], Response],
        hosts: frozenset[str] = frozenset(),
        is_https: bool = False,
        trial: str | None = None,
    ) -> None:
        self._app, self._refuse, self._hosts, self._is_https = app, refuse, hosts, is_https
        self._trial = trial

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        TRIAL.set(self._trial)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                leaving = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    leaving[name] = value
                leaving.setdefault("Cache-Control", FRESH)
                if self._is_https:
                    leaving["Strict-Transport-Security"] = HSTS
            await send(message)

        refusal = None
        is_ours = scope["path"] in PROBES or host_name(headers.get("host", "")) in self._hosts
        if self._hosts and not is_ours:
            refusal = self._refuse(scope, "other_host", 421)
        elif scope["method"] not in SAFE and not is_same_origin(headers):
            refusal = self._refuse(scope, "other_site", 403)
        elif not _is_small(headers):
            refusal = self._refuse(scope, "too_long", 413)
        await (refusal or self._app)(scope, receive, send_with_headers)


def host_name(host: str) -> str:
    """Return the name of a host without its port."""
    name, _, port = host.rpartition(":")
    return (name if name and not port.endswith("]") else host).lower()


def is_same_origin(headers: Headers) -> bool:
    """Say whether a request was made by a page of this site."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    source = headers.get("origin") or headers.get("referer") or ""
    host = headers.get("host")
    # Parted by hand: the standard library raises on addresses that no browser sends.
    return bool(host) and source.partition("://")[2].partition("/")[0] == host


def _is_small(headers: Headers) -> bool:
    if "transfer-encoding" in headers:
        return False  # its length is known at its end, whatever else it says
    length = headers.get("content-length")
    if length is None:
        return True
    return length.isascii() and length.isdigit() and len(length) < 12 and int(length) <= MOST_BYTES


class Tries:
    """Counts failed tries, so that nobody can try many links: 128 bits need no help, logs do.

    Args:
        most: Failed tries of one client within the time; and a hundred times as many of all.
        seconds: For which a try counts.
    """

    def __init__(self, *, most: int = 20, seconds: float = 600) -> None:
        self._most, self.seconds = most, seconds
        self._lock = threading.Lock()
        self._failed: dict[str, deque[float]] = {}

    def may_try(self, client: str, *, now: float) -> bool:
        """Say whether a client may try once more."""
        with self._lock:
            self._forget(now)
            n_all = sum(map(len, self._failed.values()))
            return len(self._failed.get(client, ())) < self._most and n_all < 100 * self._most

    def note_failure(self, client: str, *, now: float) -> None:
        """Count a failed try."""
        with self._lock:
            self._failed.setdefault(client, deque()).append(now)

    def _forget(self, now: float) -> None:
        for client, times in list(self._failed.items()):
            while times and times[0] < now - self.seconds:
                times.popleft()
            if not times:
                del self._failed[client]
