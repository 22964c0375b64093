"""How the offline strategy labels are measured: mapping, folds and figures, on invented talk."""

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from hearteval.labels.taxonomy import load_taxonomy

ROOT = Path(__file__).parents[2]
TALK = (
    ("What happened then?", "Question"),
    ("Can you tell me more?", "Question"),
    ("I once lost my job too.", "Self-disclosure"),
    ("You could try to call him.", "Providing Suggestions"),
    ("Hello there!", "Others"),
    ("I see.", "Others"),
)


@pytest.fixture
def fallback(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import strategy_fallback  # noqa: PLC0415

    return strategy_fallback


def dialogues(n: int) -> str:
    turns = [{"speaker": "sys", "text": text, "strategy": label} for text, label in TALK]
    turns.insert(1, {"speaker": "usr", "text": "He left."})
    turns.append({"speaker": "sys", "text": "No strategy here."})
    return "\n".join(json.dumps({"dialog": turns}) for _ in range(n))


def test_every_strategy_has_its_place_in_the_mapping_and_in_the_documentation(
    fallback: ModuleType,
) -> None:
    assert set(fallback.MAPPING) == set(load_taxonomy("strategies").keys)
    assert {label for label in fallback.MAPPING.values() if label} <= set(fallback.ESCONV)
    text = (ROOT / "docs/reference/labels.md").read_text(encoding="utf-8")
    for category in load_taxonomy("strategies").categories:
        nearest = fallback.MAPPING[category.key] or "none"
        assert f"| {category.name} | {nearest} |" in text


def test_what_cues_find_is_scored_by_hand(fallback: ModuleType) -> None:
    said = fallback.read([dialogues(2), dialogues(1)])
    assert len(said.texts) == 3 * len(TALK)
    assert np.bincount(said.dialogue).tolist() == [len(TALK)] * 3
    f1 = fallback.by_label(said, fallback.mapped(fallback.cue_marks(said.texts)))
    values = {label: at.value for label, at in f1.items() if at is not None}
    # "Hello" of two others, both questions, the suggestion; nothing finds self-disclosure.
    assert values.pop("all") == pytest.approx((1 + 1 + 2 / 3 + 0) / 4)
    assert values == {
        "Question": 1.0,
        "Providing Suggestions": 1.0,
        "Others": pytest.approx(2 / 3),
        "Self-disclosure": 0.0,
    }


def test_no_dialogue_is_trained_on_and_tested(fallback: ModuleType) -> None:
    dialogue = np.repeat(np.arange(23), 4)
    fold = fallback.folds(dialogue, 5, seed=1)
    assert sorted(np.bincount(fold[::4]).tolist()) == [4, 4, 5, 5, 5]
    assert all(len(set(fold[dialogue == one])) == 1 for one in range(23))


def test_the_most_frequent_label_is_of_the_other_folds(fallback: ModuleType) -> None:
    said = fallback.Utterances(["x"] * 4, np.array([0, 1, 1, 1]), np.array([0, 1, 2, 3]))
    found = fallback.most_frequent(said, np.array([0, 1, 1, 0]))
    assert found.argmax(axis=1).tolist() == [1, 0, 0, 1]


def test_without_the_corpus_it_is_skipped_with_a_message(
    fallback: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["strategy_fallback.py", "--from", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"skipped: .* has no train\.jsonl"):
        fallback.main()
