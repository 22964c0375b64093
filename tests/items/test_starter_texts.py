"""What the starter texts are held to, by the quantities of ``benchmarks/starter_texts.py``."""

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
