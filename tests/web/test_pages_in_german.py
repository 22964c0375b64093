"""Every page of those who take part, in German: no English but what is marked as English."""

import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from browser_site import faults_of
from page_states import SCALE, STATES, Tour, tours_of
from playwright.sync_api import Browser, Page

from hearteval.protocol import load_protocol
from hearteval.protocol.translations import OF_PEOPLE

pytestmark = [pytest.mark.browser, pytest.mark.server]

PAGES = [(s, n) for s, states in STATES.items() for n in states if not n.startswith("researcher")]
LOOKED_AT_WHOLE = {"consent", "write", "judge", "ending", "rate", "help", "practice-sent"}
"""Pages that axe reads: their faults are those of their English twins, but for words."""
# What the study brings is in its own language: conversations, replies, reasons, its scale.
OWN = ".conversation, .replies, .task textarea, .code, [lang=en], .lines, form [name=locale]"
ENGLISH = re.compile(r"\b(?:[Tt]he|[Yy]ou|your|and|of|is|are|[Ww]hat|not|[Pp]lease|with|have)\b")
LEAST_WORDS = 3


@pytest.fixture(scope="module")
def tours(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Tour]]:
    with tours_of(tmp_path_factory, browser, language="de") as made:
        yield made


def shown_words(page: Page) -> str:
    """What a page says in its own words: what the study brings is taken out of it first."""
    page.evaluate("own => document.querySelectorAll(own).forEach(it => it.remove())", OWN)
    said = page.locator("body").inner_text()
    for text in re.findall(r'"([^"]+)"', SCALE):
        said = said.replace(text, "")
    return " ".join(said.split())


OF_THE_STUDY = ("How well do you read English?", "Very well", "A little")


@cache
def english_sentences() -> set[str]:
    def read(data: object) -> Iterator[str]:
        if isinstance(data, str):
            yield " ".join(data.split())
        elif isinstance(data, dict | list):
            for one in data.values() if isinstance(data, dict) else data:
                yield from read(one)

    texts = {text for name in OF_PEOPLE for text in read(load_protocol(name))}
    return {text for text in texts if len(text.split()) >= LEAST_WORDS and "{" not in text}


@pytest.mark.parametrize(("study", "name"), PAGES)
def test_a_page_is_german_and_says_who_wrote_it(
    tours: Callable[[str], Tour], study: str, name: str
) -> None:
    tour = tours(study)
    page = STATES[study][name](tour)
    try:
        assert page.locator("html").get_attribute("lang") == "de"
        if name in LOOKED_AT_WHOLE:
            assert faults_of(page) == []
        said = shown_words(page)
        assert "Diese Übersetzung hat ein Sprachmodell geschrieben." in said
        assert [text for text in english_sentences() if text in said] == []
        for own in OF_THE_STUDY:  # asked as the study file has it
            said = said.replace(own, "")
        assert ENGLISH.findall(said) == [], said
    finally:
        tour.leave()
