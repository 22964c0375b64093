"""Replies that say whose they are are found, and people who are called Claude are not."""

import pytest

from hearteval.analysis.coverage.naming import find_name
from hearteval.domain import Item, System, Turn


def item_about(text: str) -> Item:
    return Item(
        source="test",
        dialogue_id="d",
        turn_index=0,
        situation="",
        context=(Turn(role="seeker", text=text),),
        subset="regular",
        emotion="anxiety",
        problem="job crisis",
        licence="Apache-2.0",
        consent_basis="invented",
    )


def model_of(family: str, model: str = "m", name: str = "candidate") -> System:
    return System(name=name, kind="model", family=family, settings={"model": model})


PLAIN = item_about("I cannot sleep.")


@pytest.mark.parametrize(
    ("family", "text", "named"),
    [
        ("gpt", "As ChatGPT, I cannot feel, but I hear you.", "ChatGPT"),
        ("gpt", "I'm GPT-4o, and I am here.", "GPT-4o"),
        ("claude", "I'm Claude, made by Anthropic.", "Claude"),
        ("gemini", "I was trained by Google. How are you?", "Google"),
        ("llama", "As a model of meta, I listen.", "meta"),
        ("own", "I am chatgpt, and I listen.", "chatgpt"),
        ("own", "You are talking to ember-7b.", "ember-7b"),
        ("gpt", "That sounds heavy. What keeps you awake?", None),
        ("llama", "Claude from next door may help.", None),
        ("gpt", "A Gemini like you may see it so.", None),
        ("own", "My own view: rest first.", None),
        ("llama", "That is metaphor enough.", None),
    ],
)
def test_names_of_makers_and_models_are_found(family: str, text: str, named: str | None) -> None:
    assert find_name(text, PLAIN, model_of(family, "org/ember-7b")) == named


def test_what_the_seeker_has_named_is_no_sign() -> None:
    item = item_about("My brother Claude works at OpenAI.")
    assert find_name("How is Claude doing at OpenAI?", item, model_of("claude")) is None
    assert find_name("Claude and Anthropic", item, model_of("claude")) == "Anthropic"


def test_a_name_of_ordinary_words_is_no_sign() -> None:
    assert find_name("Be kind to yourself.", PLAIN, model_of("own", "kind", "kind")) is None
    assert find_name("I am kind_2.", PLAIN, model_of("own", "m", "kind_2")) == "kind_2"
