"""On a phone what is to be compared stands near the question, and a fault beside its field."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_site import real_browser
from page_states import SETTINGS, Tour, tour_of
from people_site import STUDY, people_world
from playwright.sync_api import expect

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 800}
FORCED = SETTINGS["forced-strength"]
RATED = STUDY.replace('judges = ["cue"]', 'judges = []\nprotocol = "rating"')
BESIDE = [
    ("judge", SETTINGS["five-point"].partition("about_you")[0], ["choice", "reason"]),
    ("judge", FORCED.partition("[labels]")[0], ["choice", "strength", "reason"]),
    ("write", SETTINGS["limits"], ["text"]),
    ("rate", SETTINGS["rating"], [f"axis_{axis}" for axis in "HEART"]),
    ("label-micro-skills-3", FORCED, ["is_tension_naming"]),
]


@pytest.fixture
def tour(tmp_path: Path) -> Iterator[Tour]:
    with real_browser() as browser, tour_of(tmp_path, browser, "limits") as made:
        yield made
        made.leave()


@pytest.mark.browser
@pytest.mark.server
def test_the_last_turn_both_replies_and_the_question_fit_one_screen_and_a_half(tour: Tour) -> None:
    page = tour.somebody("judge", is_plain=True)
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    page.goto("/task/judge?begin=1")
    first = page.locator(".conversation > ol").bounding_box()
    last = page.locator("#field-choice").bounding_box()
    assert first is not None
    assert last is not None
    assert last["y"] + last["height"] - first["y"] <= 1.5 * PHONE["height"]
    earlier = page.locator(".earlier li").first
    expect(earlier).not_to_be_visible()
    page.locator(".earlier summary").click()
    expect(earlier).to_be_visible()
    page.set_viewport_size({"width": DESK["width"], "height": DESK["height"]})
    page.goto("/task/judge?begin=1")
    expect(page.locator(".earlier li").first).to_be_visible()


@pytest.mark.parametrize(("kind", "people", "fields"), BESIDE)
def test_a_fault_is_said_beside_its_field(
    tmp_path: Path, kind: str, people: str, fields: list[str]
) -> None:
    study = RATED if kind == "rate" else STUDY
    with people_world(tmp_path, people=people, study=study) as world:
        for _ in world.desk.study.item_ids:
            world.come("write").write()
        visitor = world.come(kind)
        visitor.get(kind)
        page = visitor.send(kind).text
    for field in fields:
        assert f'aria-describedby="fault-{field}' in page
        assert f'id="fault-{field}"' in page
