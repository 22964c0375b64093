"""Labelling by keys in real Chromium: answers are kept, and the rest can be answered at once."""

from pathlib import Path

import pytest
from browser_site import listening, new_context, real_browser
from people_site import people_world

from hearteval.domain import Label
from hearteval.labels.taxonomy import load_taxonomy

KIND = "label-micro-skills-3"
PEOPLE = """writers_per_item = 0
raters_per_pair = 0
[labels]
people = 4
people_by = ["micro-skills"]
"""
MARK = """() => {
  const text = document.querySelector("[data-quotable]").firstChild;
  const range = document.createRange();
  range.setStart(text, 0);
  range.setEnd(text, 12);
  const chosen = document.getSelection();
  chosen.removeAllRanges();
  chosen.addRange(range);
}"""

pytestmark = [pytest.mark.browser, pytest.mark.server]


def test_keys_marked_words_and_the_rest_make_an_answer_that_survives_a_reload(
    tmp_path: Path,
) -> None:
    keys = load_taxonomy("micro-skills").keys
    with (
        people_world(tmp_path, people=PEOPLE) as world,
        listening(world) as served,
        real_browser() as browser,
    ):
        page = new_context(browser, base_url=served.address).new_page()
        served.admit(page.context, world.come(KIND))
        page.goto(f"/task/{KIND}?begin=1")
        count, rest = page.locator("[data-answered]"), page.locator("[data-rest]")
        page.keyboard.press("1")
        page.keyboard.press("3")
        assert count.text_content() == "2 of 6 answered"
        assert page.locator(f"[name=is_{keys[0]}]:checked").get_attribute("value") == "present"
        assert page.locator(f"[name=is_{keys[1]}]:checked").get_attribute("value") == "uncertain"
        take = page.locator(f"[data-take=words-{keys[0]}]")
        take.click()
        assert page.locator("[data-state]").text_content() == "Mark some words in the text first."
        page.evaluate(MARK)
        take.click()
        words = page.locator(f"#words-{keys[0]}").input_value()
        assert words
        assert words in str(page.locator("[data-quotable]").text_content())
        rest.click()
        assert count.text_content() == "6 of 6 answered"
        assert rest.text_content() == "Undo that"
        rest.click()
        assert count.text_content() == "2 of 6 answered"
        page.get_by_text("Draft saved").wait_for()
        page.reload()
        assert count.text_content() == "2 of 6 answered"
        assert page.locator(f"#words-{keys[0]}").input_value() == words
        rest.click()
        with page.expect_response(lambda response: response.request.method == "POST"):
            page.keyboard.press("Control+Enter")
        page.get_by_text("1 sent").wait_for()
        found = {one.category: one for one in world.store.iter(Label) if one.taxonomy != "safety"}
        assert [found[key].verdict for key in keys] == ["present", "uncertain", *["absent"] * 4]
        assert words.startswith(found[keys[0]].evidence)
        assert page.locator("fieldset.label :checked").count() == 0
