"""Three writers and five raters in real browsers, from links to a ranking beside systems."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser_site import new_context, press
from forked_heart import start
from heart_command import Heart
from playwright.sync_api import Browser, Page, expect
from study_files import presets, study_text

pytestmark = [pytest.mark.browser, pytest.mark.server]

PEOPLE = """
[people]
writers_per_item = 3
raters_per_pair = 5
overlap = 0.25
edge = ["risk", "medical", "abuse", "minor"]
"""
N_ITEMS, N_WRITERS, N_RATERS = 4, 3, 5
REPLIES = (
    "That is a lot to carry on your own. What was the hardest part of today?",
    "I hear how tired you are. Who could be with you this evening?",
    "No wonder it keeps you awake. What would make tonight a little easier?",
)
ENDINGS = ("Really?", "I am here.", "That is hard.", "Take your time.")
LABELS = ("A is slightly better", "B is slightly better", "A is significantly better")
PLATFORM_ID = "worker-{k}-of-a-recruiting-site"
MOST_LOOKS = 200
"""At the researcher's page, until all that was written is screened."""
SCREENED = re.compile(r"may be shown: (\d+)\. Waiting for a reviewer: (\d+).*Kept out: (\d+)\.")


@contextmanager
def heart_serve(study: Path) -> Iterator[str]:
    """Serve a study with a command of its own; its link for the researcher. Ctrl-C ends it."""
    server = start("serve", study, None, "--port", "0")
    try:
        line = server.line()
        assert line, server.wait()
        yield json.loads(line)["researcher"]
    finally:
        server.send(signal.SIGINT)
        server.wait()


def come(browser: Browser, link: str) -> Page:
    page = new_context(browser).new_page()
    page.goto(link)
    return page


def make_link(researcher: Page, name: str, kind: str, n: int) -> str:
    researcher.locator("#label").fill(name)
    researcher.get_by_role("checkbox", name=kind, exact=True).check()
    researcher.locator("#people").fill(str(n))
    press(researcher, "Make the link")
    return researcher.locator(".made code").inner_text()


def consent(page: Page, *, writes: bool) -> None:
    press(page, "I understand, go on")
    page.get_by_label("I am 18 or over.").check()
    page.get_by_label("I have read this").check()
    if writes:
        page.get_by_label("I will write every reply").check()
    press(page, "Take part")


def pseudonym(page: Page) -> str:
    page.goto("/".join([*page.url.split("/")[:3], "stopped"]))
    return page.locator("main .part p").first.inner_text().rpartition(" ")[2]


def write_all(page: Page, k: int) -> None:
    page.reload()
    page.get_by_role("link", name="Start").click()
    for i in range(N_ITEMS):
        page.get_by_label("The supporter says").fill(f"{REPLIES[k]} {ENDINGS[i]}")
        press(page, "Send")
        if i + 1 < N_ITEMS:
            expect(page.locator(".progress")).to_contain_text(f"{i + 1} sent")
    expect(page.get_by_role("heading", name="Nothing to do right now")).to_be_visible()


def wait_for_screening(researcher: Page) -> None:
    """Look until every reply is screened; a reference that names a crisis line waits."""
    for _ in range(MOST_LOOKS):
        researcher.reload()
        found = SCREENED.search(researcher.locator("main").inner_text())
        assert found is not None
        if sum(map(int, found.groups())) == 2 * N_ITEMS + N_ITEMS * N_WRITERS:
            return
    pytest.fail("what was written is never screened")


def judge_once(page: Page, k: int) -> bool:
    """Judge a pair, people in turn; say whether there is another."""
    done = int(page.locator(".progress").inner_text().split()[0])
    page.get_by_label(LABELS[(k + done) % len(LABELS)]).check()
    page.get_by_label("Why?").fill("It asks about this very evening.")
    press(page, "Send")
    nothing = page.get_by_role("heading", name="Nothing to do right now")
    expect(nothing.or_(page.get_by_text(f"{done + 1} sent"))).to_be_visible()
    return not nothing.is_visible()


def judge_all(pages: list[Page]) -> None:
    """Everybody judges in turn until nothing is left for anybody."""
    working = dict(enumerate(pages))
    while working:
        working = {k: page for k, page in working.items() if judge_once(page, k)}


def take_to_the_end(heart: Heart, browser: Browser, folder: Path) -> tuple[Path, list[str]]:
    """Have people do all that a study asks of them; return it with their pseudonyms."""
    study = folder / "small.toml"
    systems = presets("original", "generic")
    text = study_text("small", systems, items=(N_ITEMS, 0), study={"seed": 5}, end=PEOPLE)
    study.write_text(text, encoding="utf-8")
    assert heart("run", study, "--json").code == 0
    with heart_serve(study) as link:
        researcher = come(browser, link)
        researcher.locator("main button.send").click()
        writing = make_link(researcher, "Writers", "Write", N_WRITERS)
        judging = make_link(researcher, "Panel", "Compare", N_RATERS)
        writers = [
            come(browser, f"{writing}?participant={PLATFORM_ID.format(k=k)}")
            for k in range(N_WRITERS)
        ]
        for k, page in enumerate(writers):
            consent(page, writes=True)
            page.get_by_role("link", name="Start").click()
            page.get_by_label("The supporter says").fill(REPLIES[k])
            press(page, "Send")
            expect(page.get_by_role("heading", name="we have your reply")).to_be_visible()
        researcher.goto(link.partition("/join")[0] + "/researcher")
        for _ in writers:
            researcher.get_by_role("button", name="Can start").first.click()
        for k, page in enumerate(writers):
            write_all(page, k)
        wait_for_screening(researcher)
        raters = [
            come(browser, f"{judging}?participant={PLATFORM_ID.format(k=f'r{k}')}")
            for k in range(N_RATERS)
        ]
        for page in raters:
            consent(page, writes=False)
            page.get_by_role("link", name="Start").click()
        judge_all(raters)
        names = [pseudonym(page) for page in [*writers, *raters]]
        for context in browser.contexts:
            context.close()
    assert heart("run", study, "--json").code == 0
    return study, names


def test_people_stand_beside_the_systems_in_three_rankings_and_nobody_is_named(
    heart: Heart, browser: Browser, tmp_path: Path
) -> None:
    study, names = take_to_the_end(heart, browser, tmp_path)
    results = json.loads(study.with_suffix(".results.json").read_text(encoding="utf-8"))
    boards = {one["judged_by"]: one["leaderboard"] for one in results["people"]["rankings"]}
    assert set(boards) == {"people", "judges"}
    assert results["leaderboard"]["judged_by"] == "people"
    for board in (*boards.values(), results["leaderboard"]):
        assert board is not None, results["people"]["rankings"]
        assert {row["system"] for row in board["rows"]} == {"original", "generic", "People"}
    assert boards["people"]["interval_used"] == "two-way"
    assert boards["people"]["n_people"] == N_RATERS
    page = study.with_suffix(".report.html").read_text(encoding="utf-8")
    assert "People" in page
    told = [*names, "of-a-recruiting-site"]
    assert len(set(names)) == N_WRITERS + N_RATERS
    assert [name for name in told if name in page] == []
    assert "of-a-recruiting-site" not in json.dumps(results)
