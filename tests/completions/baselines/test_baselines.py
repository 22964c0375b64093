import re
from collections.abc import Callable
from typing import Any

import pytest
from made_records import made_item

from hearteval.completions.baselines import BASELINES, baseline_system, baseline_texts
from hearteval.completions.baselines.borrowed import Missing
from hearteval.domain import Item, Turn
from hearteval.errors import SettingsError
from hearteval.protocol import load_protocol

STOCK = ("generic", "advice")
SEEDED = ("shuffled", "reflective", "generic", "advice")


def make_item(dialogue: int, turn: int = 3, *, problem: str = "job crisis", **fields: Any) -> Item:
    is_adversarial = fields.get("subset") == "adversarial"
    defaults: dict[str, Any] = {
        "dialogue_id": f"d{dialogue}",
        "turn_index": turn,
        "context": (
            Turn(role="supporter", text="Hello, what brings you here?"),
            Turn(role="seeker", text=f"I feel stuck with trouble number {dialogue} at turn {turn}"),
        ),
        "profile": "mid-spike" if is_adversarial else None,
        "problem": problem,
        "reference": None if is_adversarial else f"Reply of {dialogue} at {turn}.",
    }
    return made_item(**(defaults | fields))


@pytest.fixture
def items() -> list[Item]:
    regular = [make_item(dialogue, turn) for dialogue in range(30) for turn in (3, 5)]
    rewritten = [make_item(dialogue, 7, subset="adversarial") for dialogue in range(5)]
    return regular + rewritten


def lender_dialogue(text: str | Missing) -> str:
    assert isinstance(text, str)
    found = re.fullmatch(r"Reply of (\d+) at \d+\.", text)
    assert found is not None
    return f"d{found[1]}"


def test_names_are_the_issues_in_its_order() -> None:
    assert BASELINES == ("original", "shuffled", "retrieval", "reflective", "generic", "advice")


@pytest.mark.parametrize("name", BASELINES)
def test_system_names_its_preset_and_the_version_of_the_texts(name: str) -> None:
    system = baseline_system(name, seed=7)
    family = "original" if name == "original" else "baseline"
    assert (system.name, system.kind, system.family) == (name, family, family)
    assert system.settings["preset"] == name
    assert system.settings["version"] == load_protocol("baselines")["version"]


@pytest.mark.parametrize("name", BASELINES)
def test_seed_is_part_of_a_system_exactly_where_its_texts_depend_on_it(
    name: str, items: list[Item]
) -> None:
    texts_differ = baseline_texts(name, items, seed=7) != baseline_texts(name, items, seed=8)
    systems_differ = baseline_system(name, seed=7).id != baseline_system(name, seed=8).id
    assert texts_differ == systems_differ == (name in SEEDED)


@pytest.mark.parametrize(
    "make", [baseline_system, lambda name, seed: baseline_texts(name, [], seed=seed)]
)
def test_unknown_name_is_an_error_that_lists_the_known_ones(make: Callable[..., object]) -> None:
    with pytest.raises(SettingsError, match=r"'gpt-5'.*original, shuffled, retrieval, reflective"):
        make("gpt-5", seed=1)


@pytest.mark.parametrize("name", BASELINES)
def test_every_item_gets_a_text_or_a_reason(name: str, items: list[Item]) -> None:
    texts = baseline_texts(name, items, seed=7)
    assert set(texts) == {item.id for item in items}
    assert all(isinstance(text, Missing) or text.strip() for text in texts.values())


@pytest.mark.parametrize("name", BASELINES)
def test_texts_do_not_depend_on_the_order_of_the_items(name: str, items: list[Item]) -> None:
    forward = baseline_texts(name, items, seed=7)
    assert forward == baseline_texts(name, items, seed=7)
    assert forward == baseline_texts(name, items[::-1], seed=7)


@pytest.mark.parametrize("name", BASELINES)
def test_no_items_give_no_texts(name: str) -> None:
    assert baseline_texts(name, [], seed=7) == {}


def test_original_is_the_reference_and_missing_on_rewritten_items(items: list[Item]) -> None:
    texts = baseline_texts("original", items, seed=7)
    for item in items:
        assert texts[item.id] == (item.reference or Missing(reason="no-reference"))
    assert Missing(reason="no-reference") in texts.values()


@pytest.mark.parametrize("name", ["shuffled", "retrieval"])
def test_borrowed_reply_never_comes_from_the_same_dialogue(name: str, items: list[Item]) -> None:
    texts = baseline_texts(name, items, seed=7)
    assert all(lender_dialogue(texts[item.id]) != item.dialogue_id for item in items)


@pytest.mark.parametrize("name", ["shuffled", "retrieval"])
def test_same_dialogue_id_in_another_source_is_another_dialogue(name: str) -> None:
    one, other = make_item(1), make_item(1, source="elsewhere", reference="Reply of 2 at 3.")
    assert baseline_texts(name, [one, other], seed=7)[one.id] == other.reference


@pytest.mark.parametrize("name", ["shuffled", "retrieval"])
def test_nothing_to_borrow_is_missing_with_its_reason(name: str) -> None:
    items = [make_item(1, 3), make_item(1, 5), make_item(2, 3, subset="adversarial")]
    texts = baseline_texts(name, items, seed=7)
    missing = Missing(reason="no-other-dialogue")
    assert [texts[item.id] == missing for item in items] == [True, True, False]


@pytest.mark.parametrize("name", ["shuffled", "retrieval"])
def test_borrowed_reply_is_never_the_items_own_reference(name: str) -> None:
    same = [make_item(n, reference="I see.") for n in range(3)]
    different = make_item(9, reference="Reply of 9 at 3.")
    texts = baseline_texts(name, [*same, make_item(4, reference=" i  SEE. "), different], seed=7)
    assert all(texts[item.id] == different.reference for item in same)


@pytest.mark.parametrize("name", ["shuffled", "retrieval"])
def test_contexts_without_words_still_borrow(name: str) -> None:
    items = [make_item(n, context=(Turn(role="seeker", text=":("),)) for n in range(3)]
    texts = baseline_texts(name, items, seed=7)
    assert all(lender_dialogue(texts[item.id]) != item.dialogue_id for item in items)


def test_retrieval_takes_the_nearest_context() -> None:
    def about(dialogue: int, text: str) -> Item:
        return make_item(dialogue, context=(Turn(role="seeker", text=text),))

    asked = about(1, "My landlord raised the rent and I cannot pay the rent")
    near = about(2, "the rent is due and my landlord wants it")
    far = about(3, "I cannot sleep and I cannot eat")
    assert baseline_texts("retrieval", [far, asked, near], seed=7)[asked.id] == near.reference


def test_retrieval_prefers_one_rare_shared_word_to_one_common_one() -> None:
    def about(dialogue: int, text: str) -> Item:
        return make_item(dialogue, context=(Turn(role="seeker", text=text),))

    asked = about(1, "sad tortoise")
    common, rare = about(2, "sad morning"), about(3, "my tortoise")
    others = [about(n, f"sad word{n}") for n in range(4, 12)]
    assert baseline_texts("retrieval", [asked, common, rare, *others], seed=7)[asked.id] == (
        rare.reference
    )


def test_equally_near_contexts_go_to_the_smaller_id() -> None:
    items = [make_item(n, context=(Turn(role="seeker", text="the same words"),)) for n in range(9)]
    by_id = sorted(items, key=lambda item: item.id)
    texts = baseline_texts("retrieval", items, seed=7)
    assert [texts[item.id] for item in by_id] == [by_id[1].reference] + [by_id[0].reference] * 8


def test_adding_an_item_changes_few_shuffled_replies(items: list[Item]) -> None:
    before = baseline_texts("shuffled", items, seed=7)
    added = make_item(99)
    after = baseline_texts("shuffled", [*items, added], seed=7)
    changed = [item_id for item_id, text in before.items() if after[item_id] != text]
    assert len(changed) <= 6
    assert all(after[item_id] == added.reference for item_id in changed)


def test_shuffled_spreads_over_the_lenders(items: list[Item]) -> None:
    lenders = set(baseline_texts("shuffled", items, seed=7).values())
    assert len(lenders) > len(items) / 3


@pytest.mark.parametrize(
    ("problem", "topic"),
    [
        ("Sleep Problems", "sleep"),
        ("job crisis", "job"),
        ("academic pressure", "study"),
        ("breakup with partner", "breakup"),
        ("problems with friends", "friends"),
        ("conflict with parents", "parents"),
        ("ongoing depression", "default"),
        ("School Bullying", "default"),
    ],
)
def test_advice_follows_the_problem_label(problem: str, topic: str) -> None:
    items = [make_item(n, problem=problem) for n in range(40)]
    sentences = load_protocol("baselines")["advice"][topic]
    assert set(baseline_texts("advice", items, seed=7).values()) <= set(sentences)


def stock_texts() -> list[str]:
    protocol = load_protocol("baselines")
    return [
        *protocol["generic"],
        *(text for topic in protocol["advice"].values() for text in topic),
    ]


def test_stock_has_at_least_ten_variants_of_each_and_none_twice() -> None:
    protocol = load_protocol("baselines")
    assert len(protocol["generic"]) >= 10
    assert len(protocol["advice"]["default"]) >= 10
    assert len(set(stock_texts())) == len(stock_texts())


@pytest.mark.parametrize("text", stock_texts())
def test_stock_is_one_to_three_sentences_of_fifteen_to_forty_five_words(text: str) -> None:
    assert 1 <= len(re.findall(r"[.!?](?=\s|$)", text)) <= 3
    assert 15 <= len(text.split()) <= 45


def test_every_topic_of_a_label_has_advice() -> None:
    protocol = load_protocol("baselines")
    assert {*protocol["topics"], "default"} == set(protocol["advice"])
