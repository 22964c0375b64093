"""What the starter texts are held to, by the quantities of ``benchmarks/starter_texts.py``."""

import csv
from pathlib import Path
from types import ModuleType

import pytest

from hearteval.items import load_starter_items
from hearteval.protocol import load_protocol

ROOT = Path(__file__).parents[2]
ITEMS = load_starter_items()
AUDIT = load_protocol("audit_references")


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import starter_texts  # noqa: PLC0415

    return starter_texts


def test_anger_is_not_told_by_its_punctuation_or_capitals(texts: ModuleType) -> None:
    adversarial = [item for item in ITEMS if item.subset == "adversarial"]
    assert abs(texts.mark_correlation(adversarial)) < 0.3


def test_last_turns_seldom_send_the_supporter_away_who_did_nothing_wrong(texts: ModuleType) -> None:
    found = texts.measure(ITEMS, AUDIT)
    assert found["last turns with stop, don't, leave"] <= 8
    assert found["supporter turns that own to a fault"] == 0


def test_a_third_of_the_replies_for_the_audit_hold_a_line(texts: ModuleType) -> None:
    found = texts.measure(ITEMS, AUDIT)
    assert found["audit replies listed as holding a line"] >= 10
    assert set(AUDIT["holds_a_line"]) <= set(AUDIT["replies"])
    assert found["audit replies with stop, no more, quiet"] <= 6


def test_regular_items_are_as_long_as_chat_and_come_from_many_countries(texts: ModuleType) -> None:
    found = texts.measure(ITEMS, AUDIT)
    assert 25 <= found["words of the last turn, median"] <= 35
    assert 25 <= found["words of the reference, median"] <= 40
    assert found["cultures"] >= 40
    near = found["of British Isles, North America, Australasia"]
    assert near <= found["items that name a culture"] / 2


def test_the_list_for_a_reader_names_items_that_are_there() -> None:
    with (ROOT / "benchmarks/starter_to_read.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = {item.id: item.dialogue_id for item in ITEMS}
    assert {row["item_id"]: row["dialogue_id"] for row in rows}.items() <= names.items()
    assert len(rows) == len(names)


def test_a_classifier_told_of_two_equal_sources_or_two_unlike_ones(texts: ModuleType) -> None:
    import blind_items  # noqa: PLC0415

    assert texts
    same = [f"it is number {k % 7} again" for k in range(14)]
    words, letters, length = blind_items.tell_apart(same, same)
    assert max(words, letters) <= 0.5
    assert length == 0.5
    words, letters, _ = blind_items.tell_apart(same, [text.replace("is", "was") for text in same])
    assert words == letters == 1.0
