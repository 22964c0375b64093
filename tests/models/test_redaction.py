"""Secrets and dialogue in what endpoints say."""

import pytest

from hearteval.models.failures import LONGEST_EXCERPT, excerpt, hide_secrets, hide_speech

SECRET = "canary-4f1d-key-9b7e"
SPOKEN = "Nobody at home knows that I lost my job."


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"key {SECRET}.", "key [hidden]."),
        (f'{{"key":"{SECRET}"}}', '{"key":"[hidden]"}'),
        (f"key {SECRET[:10]}...", "key [hidden]"),
        (f"{SECRET}{SECRET}", "[hidden][hidden]"),
        ("Incorrect API key provided: sk-proj-abcd1234", "Incorrect API key provided: [hidden]"),
        ("can******9b7e is wrong", "[hidden] is wrong"),
        ("Authorization: Bearer other-key", "Authorization: [hidden]"),
        ("at https://anna:pass@host/v1", "at https://[hidden]@host/v1"),
        ("nothing secret here", "nothing secret here"),
    ],
)
def test_secrets_are_hidden_whole_and_cut(text: str, hidden: str) -> None:
    assert hide_secrets(text, [SECRET, ""]) == hidden


def test_short_secrets_are_hidden_whole() -> None:
    assert hide_secrets("k=abc123, abc", ["abc123"]) == "k=[hidden], abc"


def test_quoted_dialogue_is_hidden_and_the_rest_stays() -> None:
    text = "invalid content: 'home knows that I lost my job.' at messages[0]"
    assert hide_speech(text, [SPOKEN]) == "invalid content: '[…]' at messages[0]"


def test_common_words_are_no_quotation() -> None:
    assert hide_speech("that I lost", [SPOKEN]) == "that I lost"


def test_excerpt_is_one_short_line() -> None:
    said = excerpt(
        f"first\n\n  {SECRET}\tthen " + "x" * 5_000_000, secrets=[SECRET], spoken=[SPOKEN]
    )
    assert said.startswith("first [hidden] then xxx")
    assert len(said) == LONGEST_EXCERPT + 1
    assert said.endswith("…")


def test_excerpt_holds_nothing_that_a_terminal_obeys() -> None:
    said = excerpt("no \x1b[2J\x1b]0;owned\x07 \u202ekey", secrets=[], spoken=[])
    assert said == "no \ufffd[2J\ufffd]0;owned\ufffd \ufffdkey"
