import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import made_item

from hearteval.completions.prompting import Brief, brief_of, known_briefs
from hearteval.completions.prompting import support_messages as messages_under
from hearteval.domain import Item, System, Turn, shows_text
from hearteval.protocol import load_protocol

OPENING = load_protocol("support_prompt")["dialogue"]["before_supporter"]
PAPER, MATCHED = known_briefs()["paper"], known_briefs()["matched"]


def support_messages(item: Item, brief: Brief = PAPER) -> tuple[tuple[str, str], ...]:
    return messages_under(item, brief)


def make_item(*turns: tuple[str, str], reference: str | None = None) -> Item:
    return made_item(
        source="invented-source",
        dialogue_id="dialogue-77",
        turn_index=len(turns) - 1,
        situation="The whole story beforehand.",
        context=tuple(Turn(role=role, text=text) for role, text in turns),  # type: ignore[arg-type]
        emotion="jealousy",
        problem="ongoing depression",
        reference=reference,
    )


def test_turns_become_user_and_assistant() -> None:
    messages = support_messages(
        make_item(("seeker", "Hi."), ("supporter", "Hello!"), ("seeker", "My cat died."))
    )
    assert messages[1:] == (("user", "Hi."), ("assistant", "Hello!"), ("user", "My cat died."))


@pytest.mark.parametrize("brief", [PAPER, MATCHED, Brief(name="own", text="Be kind.")])
def test_system_message_is_the_brief_first_and_once(brief: Brief) -> None:
    messages = support_messages(make_item(("seeker", "Hi.")), brief)
    assert messages == (("system", brief.text), ("user", "Hi."))


def test_the_paper_s_brief_says_what_the_paper_says_and_no_more() -> None:
    # HEART 9.4: a supportive listener, in 1-3 sentences, who acknowledges feelings.
    words = ("supportive listener", "one to three sentences", "acknowledge how they feel")
    assert all(word in PAPER.text for word in words)
    coached = ("40", "spoken", "tone", "detail", "clinician", "diagnos", "boundar", "help")
    assert not [word for word in coached if word in PAPER.text]


def test_the_matched_brief_is_what_people_read() -> None:
    assert MATCHED.text == load_protocol("people_writing")["task"].strip()


def test_another_brief_is_another_system() -> None:
    own = Brief(name="own", text="Be kind.")
    briefs = (PAPER, MATCHED, own, Brief(name="own", text="Be kinder."))
    systems = [
        System(name="m", kind="model", family="f", settings={"model": "m", **brief.settings})
        for brief in briefs
    ]
    assert len({one.id for one in systems}) == len({one.prompt_hash for one in briefs}) == 4
    assert [brief_of(one) for one in systems] == list(briefs)
    assert brief_of(System(name="o", kind="original", family="original")) is None


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


def test_prompt_hashes_do_not_change_unnoticed() -> None:
    assert [brief.prompt_hash[:16] for brief in (PAPER, MATCHED)] == [
        "97f69be0a5d86d10",
        "2f6c45faa2cadb07",
    ]
