"""The pages served on a real port, and a real browser that visits them."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from people_site import Visitor, World
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    expect,
    sync_playwright,
)

from hearteval.web.app import create_app
from hearteval.web.site import COOKIE

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    # Else each page that follows about:blank begins a process, a third of what pages cost.
    *("--renderer-process-limit=1", "--disable-site-isolation-trials"),
)
PATIENCE_MS = 60_000
"""For which a page may take its time on a busy machine."""
expect.set_options(timeout=PATIENCE_MS)
WIDTHS = (390, 1280)
DESK: Any = {"width": 1280, "height": 800}
SCHEMES: Mapping[Literal["light", "dark"], Any] = {
    "light": {"rules": {"color-contrast": {"enabled": False}}},
    "dark": {"runOnly": ["link-in-text-block"]},
}
"""What axe looks for on a whole page, contrast apart: in the dark only colours differ."""
LOOKS = """(within) => {
  const holds_text = (one) => one.matches("input, select, textarea")
    || [...one.childNodes].some((part) => part.nodeType === 3 && part.data.trim());
  window.texts = [...document.querySelectorAll(within)]
    .flatMap((part) => [part, ...part.querySelectorAll("*")])
    .filter((one) => one.checkVisibility() && holds_text(one));
  return window.texts.map((one) => {
    const its = getComputedStyle(one), chain = [];
    const control = one.closest("label")?.control ?? one;
    for (let at = one; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (/absolute|fixed/.test(style.position)) return "";
      chain.push(style.color, style.backgroundColor, style.backgroundImage, style.opacity);
    }
    const is_off = !!control.closest(":disabled, [aria-disabled=true]");
    return [is_off, its.fontSize, its.fontWeight, its.textShadow, ...chain].join();
  });
}"""
"""All that contrast hangs on, of each text of a page; empty where it may lie upon something."""
CONTRAST = """(these) => axe.run(
  {include: these.map((k) => window.texts[k])},
  {resultTypes: ["violations"], runOnly: ["color-contrast"]},
).then((found) => found.violations)"""
SEEN = set[str]()
"""How texts looked whose contrast was measured: axe takes longest for that, so one of each look."""
IS_WIDER = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


@dataclass
class Served:
    """A world whose pages answer at an address."""

    world: World
    address: str

    def admit(self, context: BrowserContext, visitor: Visitor) -> None:
        """Have a browser be that of somebody who has consented."""
        secret = visitor.client.cookies[COOKIE]
        context.add_cookies([{"name": COOKIE, "value": secret, "url": self.address}])


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
        assert server.ready.wait(60)
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
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=list(FLAGS), timeout=PATIENCE_MS
        )
        try:
            yield browser
        finally:
            browser.close()


LISTENING = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error("policy: " + event.violatedDirective + " " + event.blockedURI));
"""
HARMLESS = ("Failed to load resource: ", "htmx:")
"""How Chromium and htmx begin what they say of each answer that is no success, or never comes."""


@dataclass
class Heard:
    """What a browser told while pages were open."""

    errors: list[str] = field(default_factory=list)
    """Of the console, those of the security policy among them."""
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    """Their addresses."""


def listen_to(context: BrowserContext) -> Heard:
    """Hear what pages of a browser run into from now on."""
    heard = Heard()

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(HARMLESS):
            heard.errors.append(message.text)

    def refuse(dialog: Dialog) -> None:
        heard.dialogs.append(dialog.message)
        dialog.dismiss()

    context.add_init_script(LISTENING)
    context.on("console", note)
    context.on("dialog", refuse)
    context.on("weberror", lambda error: heard.errors.append(str(error.error)))
    context.on("request", lambda request: heard.requests.append(request.url))
    return heard


def new_context(browser: Browser, **settings: Any) -> BrowserContext:
    """Return a browser that nobody has used."""
    context = browser.new_context(**{"locale": "en-GB", "viewport": DESK, **settings})
    context.set_default_timeout(PATIENCE_MS)
    return context


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


Opened = Callable[..., tuple[Page, Heard]]


def kept_pages(browser: Browser) -> Opened:
    """What opens an address in a browser of its kind, kept: to begin one costs as ten pages."""
    kept: dict[str, tuple[Page, Heard]] = {}

    def opened(address: str, **options: Any) -> tuple[Page, Heard]:
        if str(options) not in kept:
            context = new_context(browser, **options)
            heard = listen_to(context)
            kept[str(options)] = context.new_page(), heard
        page, heard = kept[str(options)]
        page.goto("about:blank")
        page.set_viewport_size(options.get("viewport", DESK))
        page.emulate_media(color_scheme="light", reduced_motion="no-preference")
        for said in (heard.errors, heard.dialogs, heard.requests):
            said.clear()
        page.goto(address)
        return page, heard

    return opened


def faults_of(page: Page, within: str = "html", *, widths: tuple[int, int] = WIDTHS) -> list[str]:
    """What is wrong with a part of a page: on a phone in light, in dark on a desk, and if wider."""
    page.evaluate(Axe().axe_script)
    found = []
    for width, (scheme, options) in zip(widths, SCHEMES.items(), strict=True):
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate(IS_WIDER):
            found.append(f"{width}: scrolls sideways")
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        run = "([within, options]) => axe.run(within, options).then(found => found.violations)"
        violations = page.evaluate(run, [within, {"resultTypes": ["violations"], **options}])
        for_contrast = []
        for k, look in enumerate(page.evaluate(LOOKS, within)):
            if look not in SEEN:
                for_contrast.append(k)
            if look:
                SEEN.add(look)
        if for_contrast:
            violations += page.evaluate(CONTRAST, for_contrast)
        found += [
            f"{width} {scheme}: {one['id']}: {node['html']} {node.get('failureSummary', '')}"
            for one in violations
            for node in one["nodes"]
        ]
    return found
