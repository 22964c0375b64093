"""The page in a browser: short until unfolded, and whole by link, by keyboard and on paper."""

import re
from pathlib import Path
from typing import Any

import pytest
from browser_site import faults_of
from heart_command import FirstStudy
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

SEEN_WORDS = """() => {
  let n = 0;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const box = texts.currentNode.parentElement;
    if (box.closest("script, style, svg, .hidden")) continue;
    if (box.checkVisibility({ contentVisibilityAuto: true })) {
      n += texts.currentNode.data.split(/\\s+/).filter(Boolean).length;
    }
  }
  return n;
}"""
HIDDEN = """() => [...document.querySelectorAll("main table, main dl, main p")]
  .filter((one) => !one.closest(".standings details, .steps") && !one.checkVisibility())
  .map((one) => one.outerHTML.slice(0, 80))"""
SHUT = """() => {
  window.shut = [...document.querySelectorAll("main details:not([open]) > summary")]
    .filter((one) => !one.closest(".standings"))
    .filter((one) => one.checkVisibility({ visibilityProperty: true }));
  return window.shut.length;
}"""
HEIGHT = "() => document.documentElement.scrollHeight"
FIRST_ROW = "() => document.querySelector('.standings tbody tr').getBoundingClientRect().top"


@pytest.fixture(scope="module")
def demo(first_study: FirstStudy) -> Path:
    return first_study.folder / "my-study.report.html"


def opened(browser: Browser, path: Path, *, width: int = 1280, **options: Any) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 800}, **options)
    page.goto(path.as_uri())
    return page


def test_the_demo_is_short_until_it_is_unfolded(browser: Browser, demo: Path) -> None:
    page = opened(browser, demo)
    assert page.evaluate(HEIGHT) <= 8_000
    assert page.evaluate(SEEN_WORDS) <= 2_500
    assert demo.stat().st_size < 300_000
    phone = opened(browser, demo, width=390)
    assert phone.evaluate(FIRST_ROW) <= 500


def test_a_link_into_what_is_folded_opens_it(browser: Browser, demo: Path) -> None:
    page = opened(browser, demo)
    table = page.get_by_role("region", name="Replies by system")
    assert not page.locator("#coverage").evaluate("(one) => one.open")
    page.locator(".chips a[href='#coverage']").click()
    assert page.locator("#coverage").evaluate("(one) => one.open")
    page.locator("#coverage details summary").click()
    assert table.is_visible()
    straight = opened(browser, demo)
    straight.goto(f"{demo.as_uri()}#glossary")
    assert straight.locator("#glossary dl").is_visible()


def test_everything_is_reached_by_keyboard_alone(browser: Browser, demo: Path) -> None:
    page = opened(browser, demo)
    while n := page.evaluate(SHUT):
        for k in range(n):
            page.evaluate("(k) => window.shut[k].focus()", k)
            page.keyboard.press("Enter")
    assert page.evaluate(HIDDEN) == []


def test_paper_holds_the_whole_page(browser: Browser, demo: Path) -> None:
    page = opened(browser, demo)
    assert page.evaluate(HIDDEN) != []
    page.emulate_media(media="print")
    assert page.evaluate(HIDDEN) == []
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 25


def test_no_barrier_is_found_folded_or_open(browser: Browser, demo: Path) -> None:
    page = opened(browser, demo)
    assert faults_of(page, widths=(1280, 1280)) == []
    page.evaluate("() => document.querySelectorAll('main details').forEach((d) => d.open = true)")
    assert faults_of(page, widths=(1280, 1280)) == []
