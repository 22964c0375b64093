"""The German starter items keep the promises that the English ones make."""

import re
from collections import Counter
from importlib.resources import files
from itertools import combinations

from each_of import each_of

from hearteval.domain import Item
from hearteval.items import load_starter_items, starter_files
from hearteval.items.files import CANARY, format_items

ITEMS = load_starter_items("de")
ENGLISH = load_starter_items()
IDENTIFYING = re.compile(r"https?:|www\.|@|\d{4,}|\b(Herr|Frau) [A-ZÄÖÜ]")


def _name(item: Item) -> str:
    return item.dialogue_id


def _words(item: Item) -> set[str]:
    spoken = " ".join(turn.text for turn in item.context if turn.role == "seeker")
    return set(re.findall(r"\w+", spoken.lower()))


def test_there_are_20_regular_ones_from_three_countries() -> None:
    assert Counter(item.subset for item in ITEMS) == {"regular": 20}
    assert Counter(item.culture for item in ITEMS) == {"German": 15, "Austrian": 3, "Swiss": 2}
    assert {item.language for item in ITEMS} == {"de", "de-AT", "de-CH"}


def test_the_file_begins_with_the_canary_and_is_written_as_item_files_are() -> None:
    text = files("hearteval.items").joinpath(starter_files()["de"]).read_text(encoding="utf-8")
    assert CANARY in text.split("\n")[0]
    assert text == format_items(ITEMS)


@each_of(ITEMS, _name)
def test_an_item_says_where_it_is_from_and_what_is_at_its_edge(item: Item) -> None:
    assert (item.source, item.licence) == ("starter", "Apache-2.0")
    assert item.consent_basis == "Written for hearteval by a language model; no real person"
    assert item.edge is not None
    assert item.emotion in {other.emotion for other in ENGLISH}
    assert item.problem in {other.problem for other in ENGLISH}
    assert item.turn_index == len(item.context) - 1


def test_it_reads_like_chat_with_short_last_turns_and_several_of_them() -> None:
    last = sorted(len(item.context[-1].text.split()) for item in ITEMS)
    assert last[len(last) // 2] <= 30
    assert all(5 <= len(item.context) <= 9 for item in ITEMS)
    assert {item.context[0].role for item in ITEMS} == {"seeker", "supporter"}


@each_of(ITEMS, _name)
def test_a_reference_is_one_to_four_short_sentences(item: Item) -> None:
    assert item.reference is not None
    sentences = [part for part in re.split(r"[.!?]+(?:\s+|$)", item.reference) if part.strip()]
    assert 1 <= len(sentences) <= 4
    assert 15 <= len(item.reference.split()) <= 45


@each_of(ITEMS, _name)
def test_a_text_is_one_clean_line_that_identifies_nobody(item: Item) -> None:
    for text in (item.situation, item.reference or "", *(turn.text for turn in item.context)):
        assert text == " ".join(text.split())
        assert not IDENTIFYING.search(text)


def test_no_two_are_alike_and_no_two_references_open_alike() -> None:
    shares = [
        len(_words(a) & _words(b)) / len(_words(a) | _words(b)) for a, b in combinations(ITEMS, 2)
    ]
    assert max(shares) < 0.3
    openings = {" ".join((item.reference or "").split()[:2]) for item in ITEMS}
    assert len(openings) == len(ITEMS)
