import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearteval.completions.checks import COMPLETION_FAULTS, check_completion
from hearteval.errors import InvalidReplyError

FINE = "That sounds like a long week. What would help you most tonight?"
MAX_WORDS = 120
MAX_CHARACTERS = 900
WHOLE = ("stop", "end_turn", "stop_sequence", "eos_token", "COMPLETE", "STOP", "", None)
NOT_FINISHED = ("error", "incomplete", "abort", "tool_calls", "insufficient_system_resource", "odd")


def fault(text: str, *, finish_reason: str | None = "stop", refusal: str | None = None) -> str:
    with pytest.raises(InvalidReplyError) as caught:
        check_completion(text, finish_reason=finish_reason, refusal=refusal)
    assert caught.value.reason in COMPLETION_FAULTS
    return caught.value.reason


@pytest.mark.parametrize("finish_reason", WHOLE)
def test_a_reply_that_ends_by_itself_is_fine(finish_reason: str | None) -> None:
    assert check_completion(FINE, finish_reason=finish_reason) == FINE


def test_only_white_space_around_a_reply_goes() -> None:
    assert check_completion(f"\n {FINE}\n\nReally.\t") == f"{FINE}\n\nReally."


@pytest.mark.parametrize(
    "text", [f'"{FINE}"', f"“{FINE}”", f"Supporter: {FINE}", f"**{FINE}**", f"{FINE} (I am an AI.)"]
)
def test_quotes_names_and_layout_stay(text: str) -> None:
    assert check_completion(text) == text


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u00a0", "\u200b", "\ufeff \u2060"])
def test_white_space_alone_is_empty(text: str) -> None:
    assert fault(text) == "empty"


@pytest.mark.parametrize("finish_reason", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_a_reply_that_the_endpoint_cut_is_cut_off(finish_reason: str) -> None:
    assert fault(FINE, finish_reason=finish_reason) == "cut-off"


@pytest.mark.parametrize("finish_reason", NOT_FINISHED)
def test_a_reply_that_did_not_end_by_itself_is_not_finished(finish_reason: str) -> None:
    assert fault(FINE, finish_reason=finish_reason) == "not-finished"


def test_reasoning_that_used_up_all_tokens_is_cut_off_rather_than_empty() -> None:
    assert fault("", finish_reason="length") == "cut-off"


@pytest.mark.parametrize("finish_reason", ["content_filter", "SAFETY", "refusal"])
def test_a_filter_is_a_refusal(finish_reason: str) -> None:
    assert fault(FINE, finish_reason=finish_reason) == "refused"


def test_a_refusal_in_its_own_field_is_a_refusal() -> None:
    assert fault("", refusal="I cannot discuss this.") == "refused"


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I\u2019m sorry, but I can\u2019t assist with that.",
        "I cannot assist with that request",
        "Sorry, I can't continue this conversation.",
        "I am unable to help with that!",
    ],
)
def test_a_stock_refusal_and_nothing_else_is_a_refusal(text: str) -> None:
    assert fault(text) == "refused"


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that. Please call someone you trust tonight.",
        "I'm sorry it went that way.",
        "I can't help with that dose, your pharmacist can. What would you ask them?",
        "Sorry, that was clumsy of me.",
    ],
)
def test_a_reply_that_says_more_than_no_is_the_systems_answer(text: str) -> None:
    assert check_completion(text) == text


@pytest.mark.parametrize("text", [f"<think>They are sad.</think>{FINE}", f"so\n</think>\n{FINE}"])
def test_reasoning_in_the_text_is_not_cut_out(text: str) -> None:
    assert fault(text) == "shows-reasoning"


def test_the_bound_on_words_is_inclusive() -> None:
    assert check_completion("so " * MAX_WORDS) == ("so " * MAX_WORDS).strip()
    assert fault("so " * (MAX_WORDS + 1)) == "over-long"


def test_the_bound_on_characters_catches_scripts_without_spaces() -> None:
    assert check_completion("我" * MAX_CHARACTERS) == "我" * MAX_CHARACTERS
    assert fault("我" * (MAX_CHARACTERS + 1)) == "over-long"


def test_a_message_does_not_repeat_the_reply() -> None:
    with pytest.raises(InvalidReplyError) as caught:
        check_completion("secret " * 200)
    assert "secret" not in str(caught.value)


@given(st.text().filter(str.strip))
def test_a_short_reply_comes_back_whole(text: str) -> None:
    assert check_completion(f" {text}.\n") == f"{text}.".strip()
