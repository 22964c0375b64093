"""Every page in real Chromium: no fault that axe-core knows, and nothing wider than the screen.

No page does anything that its security policy refuses. No pictures are taken here: Playwright's own
add a style to the page, which the policy refuses.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser_site import real_browser
from page_states import STATES, Tour, tour_of
from playwright.sync_api import Browser, Page

WIDTHS = (390, 1280)
SCHEMES: Mapping[Literal["light", "dark"], Any] = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast", "link-in-text-block"]},
}
"""What axe looks for: in the dark only colours differ."""
PAGES = [(study, name) for study, states in STATES.items() for name in states]
IS_WIDER = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"

pytestmark = [pytest.mark.browser, pytest.mark.server]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with real_browser() as found:
        yield found


@pytest.fixture(scope="module")
def tours(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Tour]]:
    """The tour of each study, made once. A parametrized fixture is made anew for each page."""
    with ExitStack() as stack:

        @cache
        def tour(study: str) -> Tour:
            return stack.enter_context(tour_of(tmp_path_factory.mktemp("tour"), browser, study))

        yield tour


@pytest.mark.parametrize(("study", "name"), PAGES)
def test_a_page_has_no_fault_keeps_its_policy_and_never_scrolls_sideways(
    tours: Callable[[str], Tour], study: str, name: str
) -> None:
    tour = tours(study)
    page = STATES[study][name](tour)
    try:
        assert [error for heard in tour.heard for error in heard.errors] == []
        assert faults_of(page) == []
    finally:
        tour.leave()


def faults_of(page: Page) -> list[str]:
    """What is wrong with a page: on a phone in light, in dark on a desk, and wider than either."""
    page.evaluate(Axe().axe_script)
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate(IS_WIDER):
            found.append(f"{width}: scrolls sideways")
        for scheme, options in SCHEMES.items():
            if (scheme == "dark") != (width == WIDTHS[-1]):
                continue
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            violations = page.evaluate("options => axe.run(options)", options)["violations"]
            found += [
                f"{width} {scheme}: {one['id']}: {node['html']} {node.get('failureSummary', '')}"
                for one in violations
                for node in one["nodes"]
            ]
    return found
