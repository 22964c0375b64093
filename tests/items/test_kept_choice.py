"""A choice from a corpus that was kept: the same items without a second screening, or none."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hearteval.items.run as items_run
from hearteval.items.esconv import SPLIT_FILES
from hearteval.items.run import GatheredItems, gather_items
from hearteval.items.selection import build_items

OPEN_TURN = "I feel so lost since it ended and I cannot sleep, so what should I do now, honestly?"


class Memory:
    """Keeps one answer."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def read(self, key: str) -> Any | None:
        return self.kept.get(key)

    def write(self, key: str, body: Any) -> None:
        self.kept = {key: json.loads(json.dumps(body))}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for index, name in enumerate(SPLIT_FILES):
        lines = [_line(f"{index}.{number}") for number in range(4)]
        (tmp_path / name).write_text("\n".join(lines), "utf-8")
    return tmp_path


def _line(word: str) -> str:
    said = ["Hello.", "Hi, what is it?", f"I went there, {word}.", "And then?"]
    said += [OPEN_TURN, "That sounds heavy.", f"{OPEN_TURN} Caf\u0065\u0301 {word}.", "I see."]
    dialog = [{"speaker": ("usr", "sys")[i % 2], "text": text} for i, text in enumerate(said)]
    return json.dumps(
        {"emotion_type": "fear", "problem_type": "breakup", "situation": word, "dialog": dialog}
    )


def gather(corpus: Path, keep: Memory | None, *, regular: int = 5, seed: int = 7) -> GatheredItems:
    rng = np.random.default_rng(seed)
    return gather_items(
        "esconv", corpus, regular=regular, adversarial=0, seed=seed, rng=rng, keep=keep
    )


@pytest.fixture
def unscreened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the times that a corpus is screened."""
    times: list[int] = []

    def build_and_count(*arguments: Any, **more: Any) -> Any:
        times.append(1)
        return build_items(*arguments, **more)

    monkeypatch.setattr(items_run, "build_items", build_and_count)
    return times


def test_a_kept_choice_gives_the_same_without_screening(
    corpus: Path, unscreened: list[int]
) -> None:
    keep = Memory()
    first = gather(corpus, keep)
    assert len(first.items) == 5
    assert gather(corpus, keep) == first == gather(corpus, None)
    assert len(unscreened) == 2


def test_what_is_kept_holds_no_dialogue(corpus: Path) -> None:
    keep = Memory()
    gather(corpus, keep)
    assert "since it ended" not in json.dumps(keep.kept)


def test_another_corpus_number_or_seed_is_screened(corpus: Path, unscreened: list[int]) -> None:
    keep = Memory()
    gather(corpus, keep)
    gather(corpus, keep, regular=4)
    gather(corpus, keep, regular=4, seed=8)
    name = corpus / SPLIT_FILES[0]
    name.write_text(name.read_text("utf-8").replace("0.1", "new"), "utf-8")
    changed = gather(corpus, keep, regular=4, seed=8)
    assert len(unscreened) == 4
    assert changed == gather(corpus, None, regular=4, seed=8)


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: kept["items"][0].__setitem__(2, "0" * 32),
        lambda kept: kept["items"][0].__setitem__(1, 99),
        lambda kept: kept["items"][0].__setitem__(0, "other-0000"),
        lambda kept: kept["items"][0][3].pop(),
        lambda kept: kept["funnel"][0].pop(),
        lambda kept: kept.pop("n_dialogues"),
        lambda kept: kept.clear(),
    ],
)
def test_a_kept_choice_that_does_not_fit_counts_as_none(
    corpus: Path, unscreened: list[int], damage: Any
) -> None:
    keep = Memory()
    first = gather(corpus, keep)
    damage(next(iter(keep.kept.values())))
    assert gather(corpus, keep) == first
    assert len(unscreened) == 2


def test_a_cut_corpus_is_warned_of_every_time(
    corpus: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keep = Memory()
    for _ in range(2):
        caplog.clear()
        gather(corpus, keep)
        assert "holds 12 dialogues" in caplog.text
