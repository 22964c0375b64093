"""Every page in real Chromium: no fault that axe-core knows, and nothing wider than the screen.

No page does anything that its security policy refuses. No pictures are taken here: Playwright's own
add a style to the page, which the policy refuses.
"""

from collections.abc import Callable, Iterator

import pytest
from browser_site import faults_of
from page_states import STATES, Tour, tours_of
from playwright.sync_api import Browser

PAGES = [(study, name) for study, states in STATES.items() for name in states]

pytestmark = [pytest.mark.browser, pytest.mark.server]


@pytest.fixture(scope="module")
def tours(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Tour]]:
    with tours_of(tmp_path_factory, browser) as made:
        yield made


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
