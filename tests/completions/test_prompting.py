import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearteval.completions.prompting import support_messages, support_prompt_hash
from hearteval.domain import Item, Turn, shows_text
from hearteval.protocol import load_protocol

OPENING = load_protocol("support_prompt")["before_supporter"]


def make_item(*turns: tuple[str, str], reference: str | None = None) -> Item:
    return Item(
        source="invented-source",
        dialogue_id="dialogue-77",
        turn_index=len(turns) - 1,
        situation="The whole story beforehand.",
        context=tuple(Turn(role=role, text=text) for role, text in turns),  # type: ignore[arg-type]
        subset="regular",
        emotion="jealousy",
        problem="ongoing depression",
        licence="CC0-1.0",
        consent_basis="invented",
        reference=reference,
    )


def test_turns_become_user_and_assistant() -> None:
    messages = support_messages(
        make_item(("seeker", "Hi."), ("supporter", "Hello!"), ("seeker", "My cat died."))
    )
    assert messages[1:] == (
        ("user", "Hi."),
        ("assistant", "Hello!"),
        ("user", "My cat died."),
    )


def test_system_message_comes_first_and_once() -> None:
    messages = support_messages(make_item(("seeker", "Hi.")))
    assert [role for role, _ in messages] == ["system", "user"]
    assert messages[0][1] == load_protocol("support_prompt")["system"].strip()


@pytest.mark.parametrize(
    "asked", ["one to three sentences", "about 40 words", "how they feel", "no clinician"]
)
def test_system_message_asks_for_what_the_protocol_asks(asked: str) -> None:
    assert asked in load_protocol("support_prompt")["system"]


def test_a_dialogue_that_the_supporter_opens_still_starts_with_the_user() -> None:
    messages = support_messages(make_item(("supporter", "How are you?"), ("seeker", "Bad.")))
    assert messages[1:] == (("user", OPENING), ("assistant", "How are you?"), ("user", "Bad."))


def test_turns_of_one_speaker_in_a_row_become_one_message() -> None:
    messages = support_messages(
        make_item(
            ("seeker", "Hi. "), ("supporter", "Hey."), ("seeker", "I lost it."), ("seeker", "Why")
        )
    )
    assert messages[1:] == (("user", "Hi."), ("assistant", "Hey."), ("user", "I lost it.\nWhy"))


@given(
    st.lists(
        st.tuples(st.sampled_from(["seeker", "supporter"]), st.text(min_size=1).filter(shows_text)),
        max_size=8,
    )
)
def test_roles_alternate_from_user_to_user(turns: list[tuple[str, str]]) -> None:
    roles = [role for role, _ in support_messages(make_item(*turns, ("seeker", "So.")))[1:]]
    assert roles == [("user", "assistant")[index % 2] for index in range(len(roles))]
    assert roles[-1] == "user"


def test_nothing_but_the_dialogue_of_an_item_is_sent() -> None:
    item = make_item(("seeker", "Hi."), reference="The corpus's own words.")
    sent = "\n".join(content for _, content in support_messages(item))
    for hidden in (item.reference, item.situation, item.source, item.dialogue_id, item.id):
        assert hidden is not None
        assert hidden not in sent
    assert "jealousy" not in sent
    assert "depression" not in sent


def test_prompt_hash_does_not_change_unnoticed() -> None:
    assert support_prompt_hash()[:16] == "9559b698d7a11cb1"
