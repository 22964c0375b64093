import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from made_records import made_item

from hearteval.analysis.words import count_formatting
from hearteval.domain import Item, Turn
from hearteval.judgments.stress_set import (
    AUDIT_KINDS,
    STRESS_KINDS,
    StressText,
    stress_systems,
    stress_texts,
)
from hearteval.protocol import load_protocol

REPLIES = (
    "That sounds exhausting, two jobs and a newborn. Who helps you?",
    "Being left out of the wedding hurts. Did your cousin say why?",
    "A failed exam is hard to carry. What would the next attempt need?",
    "You miss the harbour town. What do you miss most?",
)
WORRIES = (
    "Two jobs and a newborn, the laundry never ends and I snap at everybody.",
    "My cousin marries without inviting me, the photographs are everywhere.",
    "Anatomy again, the professor read my mark aloud in the lecture.",
    "Since the removal I dream of ferries, gulls, the lighthouse.",
)


def make_item(index: int, *, dialogue_id: str | None = None, reference: str | None = "") -> Item:
    return made_item(
        source="invented",
        dialogue_id=dialogue_id or f"dialogue-{index}",
        turn_index=2 * index,
        context=(Turn(role="seeker", text=WORRIES[index]),),
        problem="other",
        reference=REPLIES[index] if reference == "" else reference,
    )


ITEMS = tuple(make_item(index) for index in range(4))


def text_of(texts: Sequence[StressText], kind: str, item: Item) -> str:
    return next(t.text for t in texts if (t.kind, t.item_id) == (kind, item.id))


def test_every_item_with_a_reference_gets_every_kind() -> None:
    texts = stress_texts(ITEMS, seed=1)
    assert {(t.kind, t.item_id) for t in texts} == {
        (kind, item.id) for kind in STRESS_KINDS for item in ITEMS
    }


def test_item_without_a_reference_gets_none() -> None:
    bare = make_item(3, reference=None)
    assert bare.id not in {t.item_id for t in stress_texts([*ITEMS[:3], bare], seed=1)}


def test_no_items_give_no_texts() -> None:
    assert stress_texts([], seed=1) == ()


def test_order_of_the_items_changes_nothing() -> None:
    assert stress_texts(ITEMS, seed=1) == stress_texts(ITEMS[::-1], seed=1)


def test_another_seed_gives_other_texts() -> None:
    assert stress_texts(ITEMS, seed=1) != stress_texts(ITEMS, seed=2)


def test_reference_kind_is_the_reference() -> None:
    assert text_of(stress_texts(ITEMS, seed=1), "reference", ITEMS[2]) == REPLIES[2]


@pytest.mark.parametrize("seed", range(5))
def test_other_reply_comes_from_another_dialogue(seed: int) -> None:
    items = [make_item(index, dialogue_id=f"pair-{index // 2}") for index in range(4)]
    texts = stress_texts(items, seed=seed)
    assert text_of(texts, "other-reply", items[0]) in REPLIES[2:]
    assert text_of(texts, "other-reply", items[3]) in REPLIES[:2]


def test_other_reply_is_left_out_where_there_is_no_other_dialogue() -> None:
    items = [make_item(index, dialogue_id="the-only-one") for index in range(3)]
    assert "other-reply" not in {t.kind for t in stress_texts(items, seed=1)}


def test_other_reply_is_never_the_reference_again() -> None:
    items = [make_item(0), make_item(1, reference=REPLIES[0]), make_item(2)]
    assert text_of(stress_texts(items, seed=3), "other-reply", items[0]) == REPLIES[2]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["hostile", "keyword-stuffed"])
def test_made_texts_use_the_words_of_their_seeker(kind: str, seed: int) -> None:
    texts = stress_texts(ITEMS, seed=seed)
    for item, worry in zip(ITEMS, WORRIES, strict=True):
        made = set(re.findall(r"[a-z]{4,}", text_of(texts, kind, item).lower()))
        own = set(re.findall(r"[a-z]{4,}", worry.lower()))
        assert made & own


@pytest.mark.parametrize("seed", range(20))
def test_no_placeholder_is_left(seed: int) -> None:
    assert not any(re.search(r"[{}]", text.text) for text in stress_texts(ITEMS, seed=seed))


def test_seeker_without_content_words_still_gets_texts() -> None:
    item = made_item(
        source="invented",
        dialogue_id="short",
        turn_index=0,
        context=(Turn(role="seeker", text="I am at it. So so."),),
        problem="other",
        reference="What is it?",
    )
    assert "this" in text_of(stress_texts([item], seed=1), "hostile", item).lower()


def test_systems_are_stress_systems_and_say_what_they_bear() -> None:
    systems = stress_systems(seed=1)
    assert [system.name for system in systems] == [f"stress-{kind}" for kind in STRESS_KINDS]
    assert {system.kind for system in systems} == {"stress"}


def test_only_the_reference_is_original() -> None:
    families = [system.family for system in stress_systems(seed=1)]
    assert families == ["original"] + ["baseline"] * (len(STRESS_KINDS) - 1)


def test_the_seed_is_part_of_a_system_whose_texts_depend_on_it() -> None:
    one, other = stress_systems(seed=1), stress_systems(seed=2)
    assert one[0] == other[0]
    assert all(a.id != b.id for a, b in zip(one[1:], other[1:], strict=True))


def test_own_words_are_the_words_of_the_reference_in_another_order() -> None:
    texts = stress_texts(ITEMS, seed=1)
    for item in ITEMS:
        text = text_of(texts, "own-words", item)
        assert sorted(text.split()) == sorted((item.reference or "").split())
        assert text != item.reference


def test_a_single_word_has_no_other_order() -> None:
    short = make_item(0, reference="Really?")
    assert "own-words" not in {text.kind for text in stress_texts([short], seed=1)}


def test_padding_adds_words_around_the_whole_reference() -> None:
    texts = stress_texts(ITEMS, seed=1)
    for item in ITEMS:
        text = text_of(texts, "padded", item)
        assert f" {item.reference} " in text
        assert len(text.split()) > len((item.reference or "").split()) + 20


def test_generic_warmth_takes_up_nothing_of_the_seeker() -> None:
    texts = stress_texts(ITEMS, seed=1)
    warm = {text_of(texts, "generic-warmth", item) for item in ITEMS}
    assert warm <= set(load_protocol("stress")["generic-warmth"]["templates"])


@pytest.mark.parametrize("seed", range(5))
def test_formatting_adds_marks_and_no_word(seed: int) -> None:
    for item in ITEMS:
        (formatted,) = stress_texts([item], seed=seed, kinds=["formatted"])
        assert count_formatting(formatted.text) > count_formatting(item.reference or "")
        marks = {"-", "###", "1."}
        words = [w.strip("*") for w in formatted.text.split() if w not in marks]
        assert words == (item.reference or "").split()


@pytest.mark.parametrize(
    ("said", "formal", "non_native"),
    [
        (
            "I don't think it's the job. You've said he can't sleep, and mum's worried.",
            "I do not think it is the job. You have said he cannot sleep, and mother's worried.",
            "I don't think it's job. You've said he can't sleep, and mum's worried.",
        ),
        (
            "What's up? He's been kind, and he'd gone by then. That sounds like a lot.",
            "What is up? He has been kind, and he had gone by then. That sounds like a lot.",
            "What's up? He's been kind, and he'd gone by then. That sound like lot.",
        ),
        ("The dog matters to you.", None, "Dog matter to you."),
        ("Tell me more.", None, None),
    ],
)
def test_probes_change_the_form_and_not_the_content(
    said: str, formal: str | None, non_native: str | None
) -> None:
    item = replace(ITEMS[0], reference=said, id="")
    texts = {t.kind: t.text for t in stress_texts([item], seed=1, kinds=AUDIT_KINDS)}
    assert texts["asking"].startswith(f"{said} ")
    assert texts["asking"].endswith("?")
    assert (texts.get("formal"), texts.get("non-native")) == (formal, non_native)


def test_texts_in_another_form_are_for_the_audit_alone() -> None:
    assert not set(AUDIT_KINDS) & set(STRESS_KINDS)
    assert {text.kind for text in stress_texts(ITEMS, seed=1)} == set(STRESS_KINDS)
