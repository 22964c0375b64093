"""Choose what to read in a real browser: by whom, how it went, how clearly, by words and by key."""

import dataclasses
import re
from collections.abc import Iterator

import pytest
from browser_site import Opened, faults_of
from invented_replies import invented_item, invented_reading, invented_verdict
from invented_results import invented_results
from playwright.sync_api import Locator, Page, expect

from hearteval.domain import AxisMark, Choice
from hearteval.report.page import render_page
from hearteval.report.page.folder import folder_pages
from hearteval.report.page.links import ALL, pair_key
from hearteval.report.page.replies import Reading, Shown

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}
OTHER: dict[Choice, Choice] = {"first": "second", "second": "first", "tie": "tie"}
LEAST_TARGET = 44
"""Pixels that a finger needs."""


def reading(
    number: int,
    ends: tuple[str, str],
    choices: tuple[Choice, Choice],
    *,
    attunement: Choice = "tie",
    emotion: str = "sadness",
    reply: str = "Who used to sit there?",
) -> Reading:
    """Invent a comparison that one judge decides in both orders of its two systems."""
    verdicts = []
    for one, choice in zip((ends, ends[::-1]), choices, strict=True):
        verdict = invented_verdict("juniper", *one, choice, reason="Number one.")
        mark = attunement if one == ends else OTHER[attunement]
        judgment = dataclasses.replace(verdict.judgment, axes={"A": AxisMark(mark, None)})
        verdicts.append(dataclasses.replace(verdict, judgment=judgment))
    item = dataclasses.replace(invented_item(number), emotion=emotion)
    return invented_reading(*ends, number, item=item, texts=(reply, "Try it."), verdicts=verdicts)


def opposed(reading: Reading) -> Reading:
    return dataclasses.replace(
        reading, example=dataclasses.replace(reading.example, is_opposed=True)
    )


AB, AC, BC = ("generic", "original"), ("generic", "reflective"), ("original", "reflective")
LEFT: tuple[Choice, Choice] = ("first", "second")
RIGHT: tuple[Choice, Choice] = ("second", "first")
READINGS = [
    reading(0, AB, LEFT, attunement="second"),
    reading(1, AB, ("first", "first"), emotion="anger", reply="That\u2019s a KETTLE of fish."),
    opposed(reading(2, AC, RIGHT, attunement="first")),
    reading(3, BC, ("tie", "tie"), emotion="anger"),
    reading(4, AC, LEFT),
    reading(5, BC, LEFT, reply="<b>bold</b> and a kettle"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    results = dataclasses.replace(
        invented_results(), examples=tuple(one.example for one in READINGS)
    )
    page = render_page(results, Shown(readings=READINGS))
    (folder / "report.html").write_text(page, encoding="utf-8")
    items = [one.item for one in READINGS]
    shown = Shown(readings=READINGS, folder="all/")
    for name, text in folder_pages(results, shown, items, {}, {}):
        (folder / name).write_text(text, encoding="utf-8")
    return f"file://{folder}"


@pytest.fixture
def page(opened: Opened, address: str) -> Iterator[Page]:
    found, heard = opened(f"{address}/report.html")
    yield found
    assert (heard.errors, heard.dialogs) == ([], [])


def numbers(page: Page) -> list[int]:
    """Return which comparisons a reader sees, by the numbers of their dialogues."""
    seen = page.locator("details.reading:visible > .turn > p")
    return [int(text.partition(".")[0]) for text in seen.all_text_contents()]


def chooser(page: Page, name: str) -> Locator:
    return page.get_by_role("combobox", name=name, exact=True)


def status(page: Page) -> str:
    return page.get_by_role("status").inner_text()


def test_without_script_there_is_the_list_and_nothing_to_choose_by(
    opened: Opened, address: str
) -> None:
    page, _ = opened(f"{address}/report.html", java_script_enabled=False)
    expect(page.locator("form.filters")).to_be_hidden()
    expect(page.locator(".steps")).to_be_hidden()
    assert page.locator(".reply:visible").count() == 3 * 2
    page.get_by_text("3 more comparisons").click()
    assert page.locator("details.reading > summary:visible").count() == len(READINGS)


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ({}, [0, 1, 2]),
        ({"System": "generic"}, [0, 1, 2, 4]),
        ({"System": "reflective", "Against": "original"}, [3, 5]),
        ({"System": "original", "Result": "lost"}, [0]),
        ({"System": "original", "Result": "won"}, [5]),
        ({"System": "original", "Result": "undecided"}, [1, 3]),
        ({"Judged by": "Attunement"}, [0, 2]),
        ({"System": "original", "Result": "won", "Judged by": "Attunement"}, [0]),
        ({"How clear": "contested"}, [1]),
        ({"How clear": "clear"}, [0, 2, 4, 5]),
        ({"Kind of item": "anger"}, [1, 3]),
        ({"System": "generic", "Kind of item": "anger"}, [1]),
    ],
)
def test_what_is_chosen_is_what_is_there(
    page: Page, chosen: dict[str, str], found: list[int]
) -> None:
    for label, words in chosen.items():
        chooser(page, label).select_option(label=words)
    seen = page.locator("details.reading:visible")
    assert seen.count() == len(found)
    said = f"{len(found)} of {len(READINGS)} comparisons" if chosen else "6 comparisons"
    assert status(page) == said
    assert numbers(page)[:3] == found[:3]
    if chosen:
        page.get_by_role("button", name="Show all").click()
        assert status(page) == "6 comparisons"
        assert chooser(page, "Result").is_disabled()


def test_people_against_judges_are_found(page: Page) -> None:
    page.get_by_label("People against judges").check()
    assert (status(page), numbers(page)) == ("1 of 6 comparisons", [2])


def test_words_are_sought_in_texts_and_not_in_what_stands_around_them(page: Page) -> None:
    search = page.get_by_role("searchbox")
    search.fill("kettle")
    assert numbers(page) == [1, 5]
    search.fill("that's KETTLE")
    assert numbers(page) == [1]
    search.fill("<b>bold</b>")
    assert numbers(page) == [5]
    search.fill("earlier turns")
    assert status(page) == "No comparison is like that."
    search.press("Enter")
    assert page.url.endswith("report.html")


def test_keys_lead_to_the_next_and_the_previous_but_not_while_one_types(page: Page) -> None:
    summaries = page.locator("details.reading > summary")
    summaries.nth(0).focus()
    for number in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        expect(summaries.nth(number)).to_be_focused()
        assert status(page) == f"{number + 1} of 6"
    expect(page.locator("details.reading").nth(3)).to_have_attribute("open", "")
    page.keyboard.press("ArrowLeft")
    expect(summaries.nth(2)).to_be_focused()
    page.get_by_role("searchbox").fill("ab")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("x")
    assert page.get_by_role("searchbox").input_value() == "axb"


def test_the_last_one_is_said_to_be_the_last(page: Page) -> None:
    chooser(page, "System").select_option("reflective")
    page.get_by_role("button", name="Previous").click()
    assert status(page) == "This is the first."
    for _ in range(5):
        page.get_by_role("button", name="Next").click()
    assert status(page) == "This is the last."
    expect(page.locator("details.reading").nth(5)).to_have_attribute("open", "")
    expect(page.locator("details.reading").nth(5)).to_be_in_viewport()


def test_a_result_can_be_chosen_of_a_system_only_and_says_so(page: Page) -> None:
    result = chooser(page, "Result")
    expect(result).to_be_disabled()
    expect(result.locator("option").first).to_have_text("choose a system first")
    chooser(page, "System").select_option("reflective")
    expect(result).to_be_enabled()
    expect(result.locator("option").first).to_have_text("any")


def test_keys_do_nothing_where_nobody_reads(page: Page) -> None:
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("ArrowRight")
    assert status(page) == "6 comparisons"
    assert page.evaluate("document.activeElement === document.body")


def test_a_cell_of_the_matrix_leads_to_its_two_systems(page: Page) -> None:
    key = pair_key(*BC)
    page.locator(f"a[href='#{key}']").first.click()
    assert (status(page), numbers(page)) == ("2 of 6 comparisons", [3, 5])
    expect(page.locator(f"#{key}")).to_be_in_viewport()
    page.reload()
    assert numbers(page) == [3, 5]


def test_the_folder_has_the_same_filters_over_all(page: Page, address: str) -> None:
    page.goto(f"{address}/{ALL}")
    assert status(page) == "6 comparisons"
    page.get_by_role("searchbox").fill("kettle")
    assert numbers(page) == [1, 5]
    page.goto(f"{address}/{pair_key(*AB)}.html")
    chooser(page, "How clear").select_option("contested")
    assert numbers(page) == [1]


@pytest.mark.parametrize("name", ["report.html", ALL])
def test_the_chapter_has_no_fault_in_any_width_or_scheme(
    page: Page, address: str, name: str
) -> None:
    page.goto(f"{address}/{name}")
    within = "#replies" if name == "report.html" else "html"
    assert faults_of(page, within) == []
    chooser(page, "How clear").select_option("contested")
    assert faults_of(page, within) == []


def test_what_is_touched_is_large_enough_on_a_phone(opened: Opened, address: str) -> None:
    page, _ = opened(f"{address}/report.html", viewport=PHONE, has_touch=True)
    chooser(page, "How clear").select_option("contested")
    parts = ".filters select, .filters input:not([type=checkbox]), .filters .tick, .steps button"
    touched = page.locator(f":is({parts}, .reading > summary):visible").all()
    heights = [box["height"] for one in touched if (box := one.bounding_box())]
    assert len(heights) > 8
    assert min(heights) >= LEAST_TARGET
    assert re.search("Previous.*Next", page.locator(".steps").inner_text(), re.DOTALL)
