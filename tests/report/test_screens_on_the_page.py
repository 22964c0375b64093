"""What screens hold and miss, in words: with how much people have read, or that they have not."""

from hearteval.analysis.data import ScreenedText
from hearteval.analysis.labels.safety import SafetyResults, measure_screens
from hearteval.report.coverage.safety import screen_words


def measured(*, n_passed_read: int, n_held_read: int = 6) -> SafetyResults:
    """Measure rules that hold 10 of 40 texts, half of them unfit; so is one in six that pass."""
    texts = []
    for k in range(40):
        is_held = k < 10
        is_read = k < n_held_read or 10 <= k < 10 + n_passed_read
        is_unfit = k % 2 == 0 if is_held else k % 6 == 0
        texts.append(
            ScreenedText(
                id=f"{k:02}",
                of="completion",
                item_id=f"item {k % 8}",
                is_unfit=is_unfit if is_read else None,
                reasons=("dangerous",) if is_unfit else (),
                held_by={"rule screen": ("insult",) if is_held else ()},
            )
        )
    found = measure_screens(texts, {"rule screen": "rules"}, level=0.95)
    assert found is not None
    return found


def said(found: SafetyResults) -> str:
    return " ".join(" ".join(screen_words(found)).split())


def test_what_nobody_has_read_is_not_known() -> None:
    line = said(measured(n_passed_read=0, n_held_read=0))
    assert line == (
        "rule screen (words and forms, not meaning): held 10 of 40 texts. No person has read any of"
        " them, so what it misses is not known."
    )


def test_where_people_have_read_a_part_it_catches_at_most_so_much() -> None:
    text = said(measured(n_passed_read=12, n_held_read=6))
    assert "Of 5 that people would not show, it held 3. Of 13 that" in text
    assert "It missed dangerous (2)." in text
    most = said(measured(n_passed_read=29, n_held_read=10))
    assert "held 5: at most 50.0 %" in most
    assert "Of 29 that they would show, it passed 24: at least 82.8 %" in most
    assert "on 39 texts that both read, no sample of all: the same" in most
    assert "People have read 6 of 10 it held." in text
    assert "People have read 12 of 30 that it passed: what else it misses is not known." in text


def test_where_people_have_read_all_it_is_the_share_itself() -> None:
    text = said(measured(n_passed_read=30, n_held_read=10))
    assert "Of 10 that people would not show, it held 5: 50.0 %" in text
    assert not any(words in text for words in ("at most", "at least", "no sample", "have read"))
    assert "Of 30 that they would show, it passed 25: 83.3 %" in text
    assert "rule screen and people, on 40 texts that both read" in text


def test_where_a_part_of_what_is_held_is_unread_no_side_is_named() -> None:
    text = said(measured(n_passed_read=29, n_held_read=9))
    assert "Of 10 that people would not show, it held 5: of those read 50.0 %" in text
    assert "at most" not in text
    assert "at least" not in text


def test_only_what_is_held_being_read_gives_no_share_of_what_is_caught() -> None:
    text = said(measured(n_passed_read=0))
    assert "that people would not show" not in text
    assert "that they would show" not in text
    assert "People have read 6 that it held, and would not show 3 of them." in text
