import re

import pytest

from hearteval.domain import Item, Role, Screening, Turn
from hearteval.items.esconv import Dialogue, couplet_item
from hearteval.items.screening import (
    RULES,
    list_screenings,
    score_potential,
    screen_couplets,
    screening_version,
)
from hearteval.protocol import load_protocol

GOOD = (
    "I feel so lost since the layoff and I lie there every night and I cannot sleep, "
    "what should I do now?"
)
OPENING = (
    "Hello.",
    "Hello, what brings you here today?",
    "Work ended last month.",
    "That must weigh on you. Tell me more?",
)
REPLY = "That is a lot to carry on so little rest."


def dialogue_of(*texts: str, situation: str = "The factory shut down.") -> Dialogue:
    roles: tuple[Role, Role] = ("seeker", "supporter")
    turns = tuple(Turn(role=roles[k % 2], text=text) for k, text in enumerate(texts))
    return Dialogue(
        corpus="esconv",
        dialogue_id="made-0001",
        emotion="fear",
        problem="job crisis",
        situation=situation,
        turns=turns,
    )


def screen_dialogue(dialogue: Dialogue) -> list[tuple[Item, tuple[Screening, ...]]]:
    screened = [(couplet_item(one.couplet), one) for one in screen_couplets(dialogue)]
    return [(item, list_screenings(item.id, one)) for item, one in screened]


def last_screenings(
    *,
    here: str = GOOD,
    before: tuple[str, ...] = OPENING,
    reply: str = REPLY,
    situation: str = "The factory shut down.",
) -> tuple[Screening, ...]:
    return screen_dialogue(dialogue_of(*before, here, reply, situation=situation))[-1][1]


def only_failure(screenings: tuple[Screening, ...]) -> Screening:
    (screening,) = screenings
    assert screening.verdict == "fail"
    return screening


def test_good_couplet_passes_every_rule_in_order() -> None:
    screenings = last_screenings()
    assert [screening.rule for screening in screenings] == list(RULES)
    assert {screening.verdict for screening in screenings} == {"pass"}


def test_screening_carries_item_and_version() -> None:
    ((item, screenings),) = screen_dialogue(dialogue_of(*OPENING, GOOD, REPLY))[-1:]
    assert {screening.item_id for screening in screenings} == {item.id}
    assert {screening.version for screening in screenings} == {screening_version()}
    assert screening_version() == load_protocol("screening")["version"]


def test_short_history_fails_with_its_length() -> None:
    first = screen_dialogue(dialogue_of(GOOD, REPLY))[0][1][0]
    assert (first.rule, first.verdict, first.evidence) == ("history-length", "fail", "1 turns")


def test_long_history_fails() -> None:
    assert only_failure(last_screenings(before=OPENING * 5)).rule == "history-length"


def test_short_turn_fails_with_its_length() -> None:
    screening = only_failure(last_screenings(here="I am so very sad."))
    assert (screening.rule, screening.evidence) == ("turn-length", "5 words")


def test_turn_about_others_only_is_not_first_person() -> None:
    here = "She is so sad and cannot sleep and nobody there knows what to do about it."
    assert only_failure(last_screenings(here=here)).rule == "first-person"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("platform-talk", "Is this on MTurk or do they pay a bonus?"),
        ("platform-talk", "You must finish the chat before it counts."),
        ("crisis", "I do not want to live anymore."),
        ("crisis", "Some days I think of suicide."),
        ("abuse", "My ex hits me when I speak."),
        ("nsfw", "We stopped having sex."),
        ("hate", "They shouted racist things."),
        ("substance", "I got drunk again."),
        ("clinical-legal", "The psychiatrist changed my dosage."),
        ("clinical-legal", "My lawyer says wait."),
    ],
)
def test_unsuitable_earlier_turn_fails_its_rule(rule: str, text: str) -> None:
    screening = only_failure(last_screenings(before=(*OPENING[:2], text, OPENING[3])))
    assert screening.rule == rule
    assert screening.evidence.startswith("turn 2: ")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("link", "Look at www.example.org for that."),
        ("e-mail", "Write to someone@example.org please."),
        ("handle", "Add me on Skype tonight."),
        ("phone", "Call 555 010 9999 tonight."),
        ("address", "We are at 12 Elm Street now."),
        ("name-given", "By the way, my name is velora."),
        ("name", "My sister Velora said so."),
        ("place", "We moved to Springfield."),
        ("first-name", "It was Andrew all along."),
    ],
)
def test_identifying_text_is_named_by_kind_and_never_quoted(kind: str, text: str) -> None:
    screening = only_failure(last_screenings(before=(*OPENING[:2], text, OPENING[3])))
    assert (screening.rule, screening.evidence) == ("identifying", f"turn 2: {kind}")


def test_sentence_starter_after_a_greeting_is_no_name() -> None:
    before = ("Hello There", "Hi How are things?", *OPENING[2:])
    assert last_screenings(before=before)[0].verdict == "pass"


def test_situation_is_searched() -> None:
    assert (
        only_failure(last_screenings(situation="She talks of suicide.")).evidence
        == "situation: suicide"
    )


def test_reply_is_searched() -> None:
    screening = only_failure(last_screenings(reply="Rate me with five stars, please."))
    assert (screening.rule, screening.evidence) == ("platform-talk", "turn 5: rate me")


def test_turn_after_the_reply_is_not_searched() -> None:
    dialogue = dialogue_of(*OPENING, GOOD, REPLY, "I got drunk then.", "Oh.")
    verdicts = {item.turn_index: found[-1].verdict for item, found in screen_dialogue(dialogue)}
    assert verdicts[4] == "pass"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("closing", "Thank you."),
        ("resolved", "That really helps."),
        ("resolved", "I will try that."),
        ("about-the-other", "Have you ever had this?"),
    ],
)
def test_turn_that_needs_no_answer_fails_its_rule(rule: str, words: str) -> None:
    assert only_failure(last_screenings(here=f"{GOOD} {words}")).rule == rule


def test_turn_without_feeling_has_no_emotional_signal() -> None:
    here = "I went to the shop with my neighbour and we bought a red lamp for the kitchen."
    assert only_failure(last_screenings(here=here)).rule == "emotional-signal"


def test_single_cue_of_unease_is_not_enough() -> None:
    here = "The weather today makes me sad, as my garden chairs are all wet from the rain."
    screening = only_failure(last_screenings(here=here))
    assert screening.rule == "response-potential"
    assert screening.evidence == "score 1; unease: makes me sad"


def test_potential_counts_a_repeated_cue_once() -> None:
    assert score_potential("I feel alone. I feel alone.") == score_potential("I feel alone.")


def test_potential_is_higher_with_more_cues() -> None:
    assert score_potential(GOOD) > score_potential("I cannot sleep.") > score_potential("Fine.")


def test_apostrophe_may_be_left_out() -> None:
    assert score_potential("i dont know what to do") == score_potential("i don't know what to do")


def test_every_list_belongs_to_a_rule() -> None:
    data = load_protocol("screening")
    listed = {*data["anywhere"], *data["here"], *data["required"]}
    by_code = {"history-length", "turn-length", "identifying", "response-potential"}
    assert listed | by_code == set(RULES)


def test_every_cue_has_a_weight() -> None:
    data = load_protocol("screening")
    assert set(data["cues"]) == set(data["weights"])


def test_patterns_stand_alone_line_by_line() -> None:
    data = load_protocol("screening")
    tables = (data["anywhere"], data["here"], data["required"], data["cues"])
    lines = [line for table in tables for text in table.values() for line in text.split("\n")]
    compiled = [re.compile(line) for line in lines if line]
    assert not [pattern.pattern for pattern in compiled if pattern.fullmatch("")]
