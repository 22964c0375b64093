"""Serving a study: the process that answers, and the one thread that opens new tasks."""

import ipaddress
import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from hearteval.config import has_key, read_key
from hearteval.domain import Completion, Label
from hearteval.errors import HeartError, SettingsError
from hearteval.store.serving import Serving, Turn
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
LOOK_SECONDS = 1.0
"""After which is looked whose turn it is, and whether another process has brought a text."""
SAID: Mapping[Turn, tuple[int, str]] = {
    "mine": (logging.INFO, "this server opens the tasks of the study"),
    "others": (logging.INFO, "another server opens the tasks of the study"),
    "outdated": (
        logging.WARNING,
        "another server serves a later version of the study, so this one opens no tasks and is not"
        " ready: start it again with that study file",
    ),
}
METRICS_TOKEN = "HEART_METRICS_TOKEN"  # noqa: S105 - the name of an environment variable
"""Whoever sends this reads the metrics; where it is not set, nobody does."""


class Planner:
    """Opens new tasks in a thread of its own, whenever somebody has written or reviewed.

    Of several servers of a study one does: the others only look what there is, and whether it is
    their turn now.

    Attributes:
        when_broken: Called where a fault of ours has ended the thread.
        is_broken: Whether that has happened.
        n_failed: How often the database could not be asked, or not as it should.
    """

    def __init__(self, desk: Desk, *, every: float = EVERY_SECONDS) -> None:
        self._desk, self._every = desk, every
        self.when_broken: Callable[[], None] = lambda: None
        self.is_broken = False
        self.n_failed = 0
        self._texts: Mapping[str, Any] = {}
        self._seen: tuple[Turn, Hashable] = "others", None
        """Whose turn it was, and the stamp of the texts, when it was last followed."""
        self._told: Turn | None = None
        self._next_at = self._rests_until = 0.0
        self._said = ""
        self._wanted = threading.Event()
        self._ended = threading.Event()

    def wake(self) -> None:
        """Look soon what there is to do."""
        self._wanted.set()

    def texts(self, desk: Desk) -> Mapping[str, Any]:
        """Return what was last found of the texts: a page need not read all of them anew."""
        return self._texts or describe_texts(desk)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Open the tasks that there are, if it is our turn, and work until the block ends."""
        with closing(self._desk.session.store.serving(self._desk.study)) as serving:
            tell = self._desk.session.tell
            with tell.progress("tasks"):
                self._follow(serving.look(is_ready=False), self._stamp())
            if self._desk.reading is None:
                n: Mapping[str, int] = self._texts["texts"]
                tell.note(
                    f"texts: {n.get('released', 0):,} may be shown, {n.get('waiting', 0):,} wait"
                    f" for a person to read them, {n.get('kept-out', 0):,} kept out"
                )
            thread = threading.Thread(
                target=self._run, args=(serving,), name="planner", daemon=True
            )
            thread.start()
            try:
                yield
            finally:
                self._ended.set()
                self._wanted.set()
                thread.join()

    def _run(self, serving: Serving) -> None:
        self.is_broken = True
        try:
            self._work(serving)
            self.is_broken = False
        finally:
            if self.is_broken:  # better no pages than pages on which nothing follows
                self.when_broken()

    def _work(self, serving: Serving) -> None:
        while not self._ended.is_set():
            is_resting = time.monotonic() < self._rests_until
            self._wanted.wait(LOOK_SECONDS)
            if self._ended.wait(LOOK_SECONDS if is_resting else PAUSE_SECONDS):
                return
            try:
                self._look(serving)
                self._said = ""
            except HeartError as error:
                self.n_failed += 1
                if str(error) != self._said:  # once, though it is tried every second
                    logger.warning("no new tasks could be opened: %s", error)
                self._said = str(error)

    def _look(self, serving: Serving) -> None:
        """See whose turn it is and what has come; follow it, unless that was done just now."""
        turn, stamp, now = serving.look(), self._stamp(), time.monotonic()
        is_due = self._wanted.is_set() or (turn, stamp) != self._seen or now >= self._next_at
        is_new = turn != self._seen[0]  # who takes over rests not
        if is_due and (is_new or now >= self._rests_until):
            self._wanted.clear()
            self._follow(turn, stamp)

    def _follow(self, turn: Turn, stamp: Hashable) -> None:
        if turn != self._told:
            logger.log(*SAID[turn])
            self._told = turn
        began = time.monotonic()
        try:
            if turn == "mine":
                open_tasks(self._desk)
                forget_old_details(self._desk, now=self._desk.session.now())
            self._texts = describe_texts(self._desk)
            self._seen = turn, stamp
        finally:
            ended = time.monotonic()
            self._next_at = ended + self._every
            self._rests_until = ended + REST * (ended - began)

    def _stamp(self) -> Hashable:
        return self._desk.session.store.stamp(Completion, Label)


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
    """Serve a study until the process is told to stop; its tasks are opened first.

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
        metrics_token=read_key(METRICS_TOKEN if has_key(METRICS_TOKEN) else None, who="/metrics"),
        n_failed_plans=lambda: planner.n_failed,
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
