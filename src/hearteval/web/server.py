"""Serving a study: the process that answers, and the one thread that opens new tasks."""

import ipaddress
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from hearteval.errors import HeartError, SettingsError
from hearteval.study.people import Desk
from hearteval.study.people.joining import forget_old_details
from hearteval.study.people.paying.signed import keys_of
from hearteval.study.people.planning import describe_texts, open_tasks
from hearteval.web.app import create_app
from hearteval.web.guard import LOOPBACK, host_name
from hearteval.web.site import Site

logger = logging.getLogger(__name__)

KEEP_ALIVE_SECONDS = 75
PAUSE_SECONDS = 0.2
"""Between somebody's sending a text and looking what follows from it: several at once are one."""
REST = 9.0
"""After looking, times as long as it took: a large study is planned for a tenth of the time."""
EVERY_SECONDS = 60.0
"""After which is looked without a reason: others may have written through another process."""


class Planner:
    """Opens new tasks in a thread of its own, whenever somebody has written or reviewed.

    Attributes:
        when_broken: Called where a fault of ours has ended the thread.
        is_broken: Whether that has happened.
    """

    def __init__(self, desk: Desk, *, every: float = EVERY_SECONDS) -> None:
        self._desk, self._every = desk, every
        self.when_broken: Callable[[], None] = lambda: None
        self.is_broken = False
        self._texts: Mapping[str, Any] = {}
        self._wanted = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="planner", daemon=True)

    def wake(self) -> None:
        """Look soon what there is to do."""
        self._wanted.set()

    def texts(self, desk: Desk) -> Mapping[str, Any]:
        """Return what was last found of the texts: a page need not read all of them anew."""
        return self._texts or describe_texts(desk)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Work until the block ends."""
        self._texts = describe_texts(self._desk)
        self._thread.start()
        try:
            yield
        finally:
            self._ended.set()
            self._wanted.set()
            self._thread.join()

    def _run(self) -> None:
        self.is_broken = True
        try:
            self._work()
            self.is_broken = False
        finally:
            if self.is_broken:  # better no pages than pages on which nothing follows
                self.when_broken()

    def _work(self) -> None:
        pause = PAUSE_SECONDS
        while not self._ended.is_set():
            self._wanted.wait(self._every)
            if self._ended.wait(pause):
                return
            self._wanted.clear()
            began = time.monotonic()
            try:
                open_tasks(self._desk)
                self._texts = describe_texts(self._desk)
                forget_old_details(self._desk, now=self._desk.session.now())
            except HeartError as error:
                logger.warning("no new tasks could be opened: %s", error)
            pause = max(PAUSE_SECONDS, REST * (time.monotonic() - began))


def require_safe_host(host: str, *, is_exposed: bool) -> None:
    """Raise `SettingsError` for an address that others can reach, unless that is wanted."""
    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = host == "localhost"
    if not is_local and not is_exposed:
        raise SettingsError(
            f"others can reach {host}, and what they send travels in the clear; put a server that"
            " encrypts before 127.0.0.1 (docs/how-to/people.md), or add --expose if you mean it"
        )


def read_public_url(text: str) -> str:
    """Return an address at which people find pages, without a slash at its end.

    Raises:
        SettingsError: It is more or less than a scheme and a host.
    """
    try:
        parts = urlsplit(text)
        is_whole = bool(parts.hostname) and "@" not in text and parts.port != 0
    except ValueError:  # its port is none
        parts, is_whole = urlsplit(""), False
    has_more = parts.path not in ("", "/") or parts.query or parts.fragment
    if parts.scheme not in ("http", "https") or not is_whole or has_more:
        raise SettingsError(
            f"--public-url is https://HOST, where people find the pages, not {text!r}; pages are"
            " served at the root of a host only"
        )
    return f"{parts.scheme}://{parts.netloc}"


def allowed_hosts(host: str, *, public_url: str, is_https: bool) -> frozenset[str]:
    """Return the names that requests may be for; none where a server before this one says them."""
    if public_url:
        return LOOPBACK | {host_name(urlsplit(public_url).netloc)}
    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = host == "localhost"
    return LOOPBACK | {host} if is_local and not is_https else frozenset()


def serve(
    desk: Desk,
    *,
    host: str,
    port: int,
    is_https: bool,
    when_ready: Callable[[str], None],
    public_url: str = "",
) -> None:
    """Serve a study, whose tasks are open, until the process is told to stop.

    `when_ready` is told the address: `public_url`, where people find it, if it has one.

    Raises:
        SettingsError: The port is taken, or may not be used; or links are signed by keys that
            cannot be read.
    """
    planner = Planner(desk)
    site = Site(
        desk=desk,
        written=planner.wake,
        texts=planner.texts,
        is_https=is_https,
        public_url=public_url,
        hosts=allowed_hosts(host, public_url=public_url, is_https=is_https),
        keys=keys_of(desk, public_url),
    )
    app = create_app(site)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=True,
        proxy_headers=is_https,
        timeout_graceful_shutdown=int(timedelta(seconds=10).total_seconds()),
    )
    server = _Server(config)
    server.when_ready = lambda address: when_ready(public_url or address)
    planner.when_broken = server.stop
    with planner.working():
        _run(server)
    if planner.is_broken:
        raise RuntimeError("no new tasks could be opened; see the lines above")


class _Server(uvicorn.Server):
    """A server that says when it can be asked."""

    when_ready: Callable[[str], None]

    def stop(self) -> None:
        """Answer what is under way, then end."""
        self.should_exit = True

    async def startup(self, sockets: object = None) -> None:
        await super().startup()
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            scheme = "https" if self.config.proxy_headers else "http"
            self.when_ready(f"{scheme}://{self.config.host}:{port}")


def _is_no_failed_start(record: logging.LogRecord) -> bool:
    """Keep from the terminal what is said there in our own words."""
    return not isinstance(record.msg, OSError)


def _run(server: _Server) -> None:
    config = server.config
    log = logging.getLogger("uvicorn.error")
    log.addFilter(_is_no_failed_start)
    try:
        server.run()
    except SystemExit:
        raise SettingsError(
            f"nothing can be served at {config.host}:{config.port}; another program may be using"
            " that port: add --port with another number"
        ) from None
    finally:
        log.removeFilter(_is_no_failed_start)
    if not server.started:
        raise SettingsError(f"nothing can be served at {config.host}:{config.port}")
