"""Whole sessions in real Chromium: by keyboard, without JavaScript, over a bad connection."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from browser_site import listening
from page_states import MANY, Tour, send
from people_site import World, people_world
from playwright.sync_api import Browser, Locator, Page, expect

from hearteval.domain import Completion, Judgment

pytestmark = [pytest.mark.browser, pytest.mark.server]

MOST_TABS = 60
REPLY = "I hear you. What would help tonight?"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("sessions")
    with people_world(folder, people=MANY + 'about_you = ["age"]\n') as made:
        for _ in made.desk.study.item_ids:
            made.come("write").write()
        yield made


@pytest.fixture(scope="module")
def all_tours(world: World, browser: Browser) -> Iterator[Tour]:
    with listening(world) as served:
        yield Tour("sessions", browser, served)


@pytest.fixture
def tour(all_tours: Tour) -> Iterator[Tour]:
    yield all_tours
    all_tours.leave()


def judgments(world: World, reason: str) -> list[Judgment]:
    return [one for one in world.store.iter(Judgment) if one.rationale == reason]


def written(world: World, text: str) -> list[Completion]:
    return [one for one in world.store.iter(Completion) if one.text == text]


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until something has the focus."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if wanted.evaluate("it => it === document.activeElement"):
            return
    raise AssertionError(f"no Tab leads to {wanted}")


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def press(page: Page, name: str) -> None:
    tab_to(page, button(page, name))
    page.keyboard.press("Enter")


def test_a_whole_session_by_keyboard_alone(tour: Tour) -> None:
    page = tour.nobody()
    page.goto(f"/join/{tour.world.invite('judge')}")
    press(page, "I understand, go on")
    for label in ("I am 18 or over.", "I have read this"):
        tab_to(page, page.get_by_label(label))
        page.keyboard.press("Space")
    press(page, "Take part")
    tab_to(page, page.get_by_label("How old are you?"))
    page.keyboard.press("ArrowDown")
    press(page, "Send")
    tab_to(page, page.get_by_role("link", name="Start"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("radio").first)
    page.keyboard.press("ArrowDown")
    tab_to(page, page.get_by_label("Why?"))
    page.keyboard.type("By keyboard, first.")
    press(page, "Send")
    expect(page.locator(".progress")).to_contain_text("1 sent")
    expect(page.locator("#main")).to_be_focused()  # the new page is whole, as a person sees it
    page.keyboard.press("4")
    tab_to(page, page.get_by_label("Why?"))
    page.keyboard.type("By keyboard, 2nd.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".progress")).to_contain_text("2 sent")
    before = page.locator(".replies").inner_text()
    press(page, "Skip this one")
    expect(page.locator(".replies")).not_to_have_text(before)
    press(page, "Stop")
    expect(page.get_by_role("heading", name="You have stopped")).to_be_visible()
    (first,) = judgments(tour.world, "By keyboard, first.")
    assert (first.choice, first.strength) == ("first", 2)
    (second,) = judgments(tour.world, "By keyboard, 2nd.")
    assert (second.choice, second.strength) == ("second", 2)


def test_a_whole_session_without_javascript(tour: Tour) -> None:
    page = tour.nobody(java_script_enabled=False)
    page.goto(f"/join/{tour.world.invite('write', 'judge')}")
    button(page, "I understand, go on").click()
    for label in ("I am 18 or over.", "I have read this", "I will write every reply"):
        page.get_by_label(label).check()
    button(page, "Take part").click()
    button(page, "Skip all of this").click()
    page.get_by_role("link", name="Write what comes next").click()
    page.get_by_role("link", name="Start").click()
    button(page, "Send").click()
    assert "There is no text yet" in page.locator("#faults").inner_text()
    page.get_by_label("The supporter says").fill("Without any script.")
    button(page, "Send").click()
    assert "1 sent" in page.locator(".progress").inner_text()
    button(page, "Skip this one").click()
    page.goto("/work")
    page.get_by_role("link", name="Compare two replies").click()
    page.get_by_role("link", name="Start").click()
    page.get_by_label("They are about the same").check()
    button(page, "Send").click()
    assert page.get_by_label("They are about the same").is_checked()
    page.get_by_label("Why?").fill("Without any script.")
    button(page, "Send").click()
    button(page, "Stop").click()
    assert len(judgments(tour.world, "Without any script.")) == 1
    assert len(written(tour.world, "Without any script.")) == 1
    page.get_by_role("link", name="Withdraw from the study").click()
    page.get_by_role("checkbox").check()
    button(page, "Withdraw now").click()
    assert page.get_by_role("heading", name="You have withdrawn").is_visible()
    assert written(tour.world, "Without any script.") == []


def test_a_lost_server_leaves_the_text_where_it_is_and_takes_it_later(
    world: World, browser: Browser
) -> None:
    with ExitStack() as first:
        tour = Tour("sessions", browser, first.enter_context(listening(world)))
        page = tour.task("write")
        port = int(tour.served.address.rpartition(":")[2])
    page.get_by_label("The supporter says").fill("Typed while nobody listened.")
    button(page, "Send").click()
    expect(page.locator(".state.lost")).to_contain_text("Your text is still here")
    expect(page.get_by_label("The supporter says")).to_have_value("Typed while nobody listened.")
    with listening(world, port=port):
        button(page, "Send").click()
        expect(page.locator(".progress")).to_contain_text("1 sent")
        tour.leave()
    assert len(written(world, "Typed while nobody listened.")) == 1


def test_a_lost_connection_says_so_while_somebody_types(tour: Tour) -> None:
    page = tour.task("write")
    page.context.set_offline(True)
    page.get_by_label("The supporter says").press_sequentially("Typed on a train.")
    expect(page.locator(".state.lost")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_label("The supporter says").press_sequentially(" Back again.")
    expect(page.locator(".state")).to_have_text("Draft saved")
    expect(page.locator(".state.lost")).to_have_count(0)


def test_a_draft_is_there_after_a_reload_and_on_another_device(tour: Tour) -> None:
    visitor = tour.world.come("write")
    for _ in range(2):
        page = tour.nobody()
        tour.served.admit(page.context, visitor)
        page.goto("/task/write?begin=1")
        box = page.get_by_label("The supporter says")
        if not box.input_value():
            box.press_sequentially("Half a reply")
            expect(page.locator(".state")).to_have_text("Draft saved")
            page.reload()
        expect(box).to_have_value("Half a reply")


def test_a_choice_is_there_after_a_reload_and_on_another_device(tour: Tour) -> None:
    visitor = tour.world.come("judge")
    page = tour.nobody()
    tour.served.admit(page.context, visitor)
    page.goto("/task/judge?begin=1")
    page.get_by_label("A is slightly better").check()
    expect(page.locator(".state")).to_have_text("Draft saved")
    for there in (page, tour.nobody()):
        tour.served.admit(there.context, visitor)
        there.goto("/task/judge?begin=1")
        expect(there.get_by_label("A is slightly better")).to_be_checked()


def test_a_choice_by_key_survives_a_reload_before_any_draft_was_kept(tour: Tour) -> None:
    page = tour.task("judge")
    page.route("**/draft", lambda route: route.abort())
    page.keyboard.press("4")
    expect(page.get_by_label("B is slightly better")).to_be_checked()
    page.reload()
    expect(page.get_by_label("B is slightly better")).to_be_checked()


def test_what_was_typed_before_a_draft_was_kept_survives_a_reload(tour: Tour) -> None:
    page = tour.task("write")
    page.route("**/draft", lambda route: route.abort())
    page.get_by_label("The supporter says").press_sequentially("Never sent")
    page.reload()
    expect(page.get_by_label("The supporter says")).to_have_value("Never sent")


def test_the_practice_survives_a_reload_and_is_nobody_elses(tour: Tour) -> None:
    page = tour.nobody()
    for typed in ("Half a practice reply", ""):
        tour.served.admit(page.context, tour.world.come("write", is_vetted=False))
        page.goto("/practice")
        box = page.get_by_label("The supporter says")
        expect(box).to_have_value("")
        if typed:
            box.press_sequentially(typed)
            page.reload()
        expect(box).to_have_value(typed)


def judge(page: Page, label: str, reason: str) -> None:
    page.get_by_label(label).check()
    page.get_by_label("Why?").fill(reason)
    button(page, "Send").click()


@pytest.mark.parametrize("is_plain", [False, True], ids=["script", "plain"])
def test_back_after_sending_shows_nothing_old_and_sends_nothing_twice(
    tour: Tour, *, is_plain: bool
) -> None:
    page, reason = tour.somebody("judge", is_plain=is_plain), f"Before Back, {is_plain}."
    page.goto("/task/judge")
    page.get_by_role("link", name="Start").click()
    shown = page.locator("input[name=ticket]").get_attribute("value")
    judge(page, "A is slightly better", reason)
    expect(page.locator(".progress")).to_contain_text("1 sent")
    page.go_back()
    expect(page.locator(".progress")).to_contain_text("1 sent")
    assert page.locator("input[name=ticket]").get_attribute("value") != shown
    assert len(judgments(tour.world, reason)) == 1


def test_two_tabs_with_one_pair_make_one_judgment(tour: Tour) -> None:
    first = tour.task("judge")
    same, other = first.context.new_page(), first.context.new_page()
    for page in (same, other):
        page.goto("/task/judge?begin=1")
    judge(first, "A is slightly better", "Two tabs.")
    expect(first.locator(".progress")).to_contain_text("1 sent")
    judge(same, "A is slightly better", "Two tabs.")
    expect(same.locator(".progress")).to_contain_text("1 sent")
    judge(other, "B is slightly better", "Two tabs.")
    expect(other.get_by_role("heading", name="You have answered this one")).to_be_visible()
    (found,) = judgments(tour.world, "Two tabs.")
    assert found.choice == "first"


def test_a_browser_that_is_known_no_more_says_so_and_keeps_the_text(tour: Tour) -> None:
    page = tour.task("judge")
    page.context.clear_cookies()
    judge(page, "A is slightly better", "Who am I?")
    expect(page.locator(".state.lost")).to_contain_text("no longer known here")
    expect(page.get_by_label("Why?")).to_have_value("Who am I?")
    page.reload()
    expect(page.get_by_role("heading")).to_have_text("Please open your link")


def test_a_draft_of_what_was_sent_already_is_not_said_to_be_the_databases_fault(tour: Tour) -> None:
    visitor = tour.world.come("judge")
    page = tour.nobody()
    tour.served.admit(page.context, visitor)
    page.goto("/task/judge?begin=1")
    visitor.judge()
    page.get_by_label("Why?").fill("Sent in another window.")
    expect(page.locator(".state.lost")).to_contain_text("This page is out of date")


def test_pastes_and_times_away_are_counted_and_refused_nowhere(tour: Tour) -> None:
    visitor = tour.world.come("write")
    page = tour.nobody()
    tour.served.admit(page.context, visitor)
    page.goto("/task/write?begin=1")
    box = page.get_by_label("The supporter says")
    box.fill("Pasted, and then some.")
    box.press("Control+a")
    box.press("Control+x")
    box.press("Control+v")
    expect(box).to_have_value("Pasted, and then some.")
    for state in ("hidden", "visible"):
        page.evaluate(
            """state => {
              const shown = { value: state, configurable: true };
              Object.defineProperty(document, "visibilityState", shown);
              document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
            }""",
            state,
        )
    button(page, "Send").click()
    expect(page.locator(".progress")).to_contain_text("1 sent")
    researcher = tour.at("/researcher", "research")
    table = researcher.locator("table:has(th:has-text('Pasted, left'))")
    row = table.get_by_role("row", name=visitor.name)
    head = table.locator("thead th").all_text_contents()
    cells = dict(zip(head, row.locator("th, td").all_text_contents(), strict=True))
    assert [text for name, text in cells.items() if "Pasted" in name] == ["1, 1"]


def test_words_are_counted_while_somebody_writes(tour: Tour) -> None:
    page = tour.task("write")
    for text, said in (
        ("I hear you.", "Words: 3"),
        ("word " * 61, "61 words"),
        ("word " * 61, "You can still send it"),
        ("word " * 121, "Please say it more briefly"),
        ("One. Two. Three. Four.", "4 sentences"),
    ):
        page.get_by_label("The supporter says").fill(text)
        expect(page.locator("[data-count-here]")).to_contain_text(said)


def test_a_long_reply_is_taken_all_the_same(tour: Tour) -> None:
    page, text = tour.task("write"), f"Long: {'word ' * 61}".strip()
    page.get_by_label("The supporter says").fill(text)
    send(page)
    expect(page.locator(".progress")).to_contain_text("1 sent")
    assert len(written(tour.world, text)) == 1
