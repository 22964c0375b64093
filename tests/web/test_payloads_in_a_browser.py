"""Two hundred scripts in every text that a page shows: in real Chromium none of them runs."""

import json
from collections.abc import Iterator
from html import unescape
from urllib.parse import urlencode

import pytest
from browser_site import Heard, listening
from page_states import MANY, Tour
from payloads import payloads
from people_site import STUDY, World, people_world
from playwright.sync_api import Browser, Page, expect

from hearteval.study.people.paying.platforms import MOST_ID

pytestmark = [pytest.mark.browser, pytest.mark.server]

PAYLOADS = payloads()
PIECES = ["\n".join(PAYLOADS[k : k + 10]) for k in range(0, len(PAYLOADS), 10)]
"""As many as one reply may hold."""
TURNS = ["\n".join(PAYLOADS[k : k + 20]) for k in range(0, len(PAYLOADS), 20)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Two items whose turns hold all payloads, to which people reply with all of them."""
    folder = tmp_path_factory.mktemp("payloads")
    turns = [
        {"role": "supporter" if k % 2 else "seeker", "text": text}
        for k, text in enumerate(TURNS[:5])
    ]
    others = [{**turn, "text": text} for turn, text in zip(turns, TURNS[5:], strict=True)]
    lines = "".join(json.dumps({"turns": found}) + "\n" for found in (turns, others))
    (folder / "items.jsonl").write_text(lines, encoding="utf-8")
    study = STUDY.replace(
        'source = "starter"\nregular = 2\nadversarial = 1', 'source = "items.jsonl"'
    )
    study = study.replace('[[system]]\npreset = "original"\n', "")
    with people_world(folder, people=MANY, study=study) as made:
        for first, second in zip(PIECES[:10], PIECES[10:], strict=True):
            writer = made.come("write")
            for piece in (first, second):
                assert writer.write(piece).status_code == 303
        yield made


@pytest.fixture(scope="module")
def all_tours(world: World, browser: Browser) -> Iterator[Tour]:
    with listening(world) as served:
        yield Tour("payloads", browser, served)


@pytest.fixture
def tour(all_tours: Tour) -> Iterator[Tour]:
    yield all_tours
    for heard in all_tours.heard:
        assert_nothing_ran(heard, all_tours.served.address)
    all_tours.leave()


def assert_nothing_ran(heard: Heard, address: str) -> None:
    assert heard.dialogs == []
    assert heard.errors == []
    assert [url for url in heard.requests if not url.startswith(f"{address}/")] == []


def shown_in(page: Page, *selectors: str) -> set[str]:
    """The payloads that some parts of a page show as text, letter by letter."""
    assert page.evaluate("window.__hit") is None
    texts = [text for one in selectors for text in page.locator(one).all_text_contents()]
    return {line for text in texts for line in text.split("\n")} & set(PAYLOADS)


def test_histories_and_completions_show_payloads_as_text(tour: Tour) -> None:
    page = tour.task("review")
    histories, completions = set[str](), set[str]()
    while page.locator("input[name=ticket]").count():
        histories |= shown_in(page, ".conversation p")
        completions |= shown_in(page, ".replies p")
        page.get_by_label("It is fit to be shown").check()
        go_on(page)
    reviewed = completions
    page = tour.task("judge")
    while page.locator("input[name=ticket]").count():
        histories |= shown_in(page, ".conversation p")
        completions |= shown_in(page, ".replies p")
        page.get_by_label("They are about the same").check()
        page.get_by_label("Why?").fill("Neither says anything.")
        go_on(page)
    assert reviewed
    assert histories == set(PAYLOADS)
    assert completions == set(PAYLOADS)


def go_on(page: Page) -> None:
    """Send, and wait for what comes next."""
    ticket = page.locator("input[name=ticket]").get_attribute("value")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(f"input[value='{ticket}']")).to_have_count(0)


@pytest.mark.parametrize("is_plain", [False, True], ids=["script", "posted"])
def test_reasons_come_back_as_text(tour: Tour, *, is_plain: bool) -> None:
    reviewer = tour.world.come("review")
    reviewer.get("review")
    reviewer.send("review", verdict="fit")
    page = tour.task("judge")
    for piece in PIECES:
        page.get_by_label("Why?").fill(piece)
        if is_plain:
            with page.expect_navigation():
                page.evaluate("document.querySelector('form.task').submit()")
        else:
            page.evaluate("document.getElementById('faults')?.remove()")  # of the one before
            page.get_by_role("button", name="Send").click()
        expect(page.locator("#faults")).to_contain_text("Please choose one of the five.")
        expect(page.get_by_label("Why?")).to_have_value(piece)
        assert page.evaluate("window.__hit") is None


def test_names_of_links_and_practice_replies_are_text_to_the_researcher(tour: Tour) -> None:
    for payload in PAYLOADS:
        tour.world.invite("judge", label=payload)
    for piece in PIECES:
        writer = tour.world.come("write", is_vetted=False)
        sent = writer.client.post("/practice", data={"text": piece})
        assert sent.status_code == 303
    page = tour.at("/researcher", "research")
    assert shown_in(page, "blockquote") == set(PAYLOADS)
    labels = set(page.locator("section[aria-labelledby=links] th.long").all_text_contents())
    assert {" ".join(payload.split())[:100] for payload in PAYLOADS} <= labels


def packed() -> list[str]:
    """All payloads, as many together as an id may be long."""
    found = [""]
    for payload in PAYLOADS:
        longer = f"{found[-1]} {payload}".strip()
        found[-1:] = [longer] if len(longer) <= MOST_ID else [found[-1], payload.strip()]
    return found


def test_ids_of_recruiting_sites_are_text(tour: Tour) -> None:
    page, client = tour.nobody(), tour.world.client()
    link = f"/join/{tour.world.invite('judge')}"
    addresses = {pid: f"{link}?{urlencode({'pid': pid})}" for pid in packed()}
    for pid, address in addresses.items():
        answer = client.get(address)
        assert answer.status_code == 400  # it is no id, and stands nowhere on the page
        assert pid not in unescape(answer.text)
    page.goto(address)
    assert page.evaluate("window.__hit") is None


def test_payloads_do_run_where_nobody_escapes_them(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("".join(payload for payload in PAYLOADS if "onerror" in payload))
    page.wait_for_function("window.__hit === 1")
    page.close()
