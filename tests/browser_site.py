"""The pages served on a real port, and a real browser that visits them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from people_site import Visitor, World
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from hearteval.web.app import COOKIE, create_app

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
PATIENCE_MS = 20_000
"""For which a page may take its time on a busy machine."""


@dataclass
class Served:
    """A world whose pages answer at an address."""

    world: World
    address: str

    def admit(self, context: BrowserContext, visitor: Visitor) -> None:
        """Have a browser be that of somebody who has consented."""
        secret = visitor.client.cookies[COOKIE]
        context.add_cookies([{"name": COOKIE, "value": secret, "url": self.address}])

    def admitted(self, browser: Browser, *kinds: str, **settings: Any) -> BrowserContext:
        """Return the browser of somebody new who has consented."""
        context = new_context(browser)
        self.admit(context, self.world.come(*kinds, **settings))
        return context


class Listening(uvicorn.Server):
    """A server that says when it can be asked."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @property
    def port(self) -> int:
        found: int = self.servers[0].sockets[0].getsockname()[1]
        return found


@contextmanager
def listening(world: World, *, port: int = 0) -> Iterator[Served]:
    """Serve a world's pages until the block ends."""
    config = uvicorn.Config(
        create_app(world.site),
        host="127.0.0.1",
        port=port,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = Listening(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        assert server.ready.wait(20)
        yield Served(world, f"http://127.0.0.1:{server.port}")
    finally:
        server.should_exit = True
        thread.join(20)


@contextmanager
def real_browser() -> Iterator[Browser]:
    """Debian's Chromium; its own loop ends with the block, so that other tests may have theirs."""
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def new_context(browser: Browser, **settings: Any) -> BrowserContext:
    """Return a browser that nobody has used."""
    context = browser.new_context(
        **{"locale": "en-GB", "viewport": {"width": 1280, "height": 800}, **settings}
    )
    context.set_default_timeout(PATIENCE_MS)
    return context
