from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hearteval.domain import Role, Turn
from hearteval.items.esconv import Dialogue, couplet_item, enumerate_couplets


def dialogue_of(roles: Sequence[Role]) -> Dialogue:
    return Dialogue(
        corpus="esconv",
        dialogue_id="made-0001",
        emotion="sadness",
        problem="job crisis",
        situation="An invented situation.",
        turns=tuple(Turn(role=role, text=f"turn {index}") for index, role in enumerate(roles)),
    )


def test_every_seeker_turn_with_an_answer_is_a_couplet() -> None:
    dialogue = dialogue_of(["supporter", "seeker", "supporter", "seeker", "supporter", "seeker"])
    assert [couplet.turn_index for couplet in enumerate_couplets(dialogue)] == [1, 3]


def test_dialogue_without_turns_has_no_couplet() -> None:
    assert enumerate_couplets(dialogue_of([])) == ()


@given(st.lists(st.sampled_from(["seeker", "supporter"]), max_size=12))
def test_context_ends_with_the_seeker_and_the_reply_is_the_supporters(roles: list[Role]) -> None:
    dialogue = dialogue_of(roles)
    couplets = enumerate_couplets(dialogue)
    assert all(couplet.context[-1].role == "seeker" for couplet in couplets)
    assert all(dialogue.turns[couplet.turn_index + 1].role == "supporter" for couplet in couplets)


def test_item_carries_context_reference_and_provenance() -> None:
    dialogue = dialogue_of(["seeker", "supporter", "seeker", "supporter"])
    item = couplet_item(enumerate_couplets(dialogue)[1])
    assert item.context == dialogue.turns[:3]
    assert item.reference == "turn 3"
    assert (item.source, item.dialogue_id, item.turn_index) == ("esconv", "made-0001", 2)
    assert (item.emotion, item.problem, item.subset) == ("sadness", "job crisis", "regular")
    assert item.licence == "CC BY-NC 4.0"
    assert "ESConv" in item.consent_basis


def test_items_of_one_dialogue_have_different_ids() -> None:
    dialogue = dialogue_of(["seeker", "supporter"] * 4)
    ids = {couplet_item(couplet).id for couplet in enumerate_couplets(dialogue)}
    assert len(ids) == 4
