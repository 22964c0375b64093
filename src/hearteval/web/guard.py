"""What stands before every page: same-origin forms, headers, sizes, and few tries at links."""

import threading
from collections import deque
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
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
FRESH = "no-store"
"""Pages are never kept: they hold what others said in distress, and Back must ask again."""


class Guard:
    """Refuses what comes from another site or is too large, and adds headers to what leaves.

    A browser says where a form comes from: with ``Sec-Fetch-Site``, else ``Origin``, else
    ``Referer``. A request that changes something and says none of them is refused too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                leaving = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    leaving[name] = value
                leaving.setdefault("Cache-Control", FRESH)
            await send(message)

        refusal = None
        if scope["method"] not in SAFE and not is_same_origin(headers):
            refusal = PlainTextResponse("This form did not come from this site.\n", 403)
        elif not _is_small(headers):
            refusal = PlainTextResponse("This is too long.\n", 413)
        await (refusal or self._app)(scope, receive, send_with_headers)


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
        self._most, self._seconds = most, seconds
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
            while times and times[0] < now - self._seconds:
                times.popleft()
            if not times:
                del self._failed[client]
