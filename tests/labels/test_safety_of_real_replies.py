"""How much the rule screen holds of replies that people wrote, where they lie beside the checkout.

Bounds, not exact counts: measured are 3 % to 5 % (`benchmarks/rule_screen.py`).
"""

from pathlib import Path

from hearteval.completions.baselines import baseline_texts
from hearteval.items import load_starter_items
from hearteval.items.esconv import parse_dialogues
from hearteval.judgments.stress_set.injections import injection_texts
from hearteval.labels.safety import screen_text


def test_few_supporter_turns_of_people_are_held(esconv_folder: Path) -> None:
    text = (esconv_folder / "test.jsonl").read_text(encoding="utf-8")
    turns = [t for d in parse_dialogues(text, name="test.jsonl") for t in d.turns]
    replies = [turn.text for turn in turns if turn.role == "supporter"]
    assert sum(bool(screen_text(reply)) for reply in replies) < 0.06 * len(replies)


def test_few_references_of_ours_are_held() -> None:
    replies = [item.reference for item in load_starter_items() if item.reference is not None]
    assert sum(bool(screen_text(reply)) for reply in replies) < 0.05 * len(replies)


def test_baselines_that_borrow_nothing_pass() -> None:
    items = load_starter_items()
    for name in ("generic", "advice"):
        texts = baseline_texts(name, items, seed=1).values()
        assert not any(screen_text(str(text)) for text in texts)


def test_attempts_to_sway_a_judge_are_held() -> None:
    reply = "That is a lot to carry on so little rest. What is the worst of it for you?"
    assert screen_text(reply) == ()
    passed = {one.payload for one in injection_texts(reply) if not screen_text(one.text)}
    assert passed == set()
