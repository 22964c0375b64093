import re
from typing import Any

import pytest

from hearteval.domain import Item, Role, Screening, Turn
from hearteval.items.esconv import Dialogue, couplet_item
from hearteval.items.screening import (
    BY_CODE,
    RULES,
    Topics,
    list_screenings,
    score_potential,
    screen_couplets,
    screening_rules,
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


def screen_dialogue(
    dialogue: Dialogue, *, topics: Topics = "cautious"
) -> list[tuple[Item, tuple[Screening, ...]]]:
    found = screen_couplets(dialogue, topics=topics)
    screened = [(couplet_item(one.couplet), one) for one in found]
    return [(item, list_screenings(item.id, one, topics=topics)) for item, one in screened]


def last_screenings(
    *,
    here: str = GOOD,
    before: tuple[str, ...] = OPENING,
    reply: str = REPLY,
    situation: str = "The factory shut down.",
    topics: Topics = "cautious",
) -> tuple[Screening, ...]:
    dialogue = dialogue_of(*before, here, reply, situation=situation)
    return screen_dialogue(dialogue, topics=topics)[-1][1]


def only_failure(screenings: tuple[Screening, ...]) -> Screening:
    (screening,) = screenings
    assert screening.verdict == "fail"
    return screening


@pytest.mark.parametrize("topics", ["paper", "cautious"])
def test_good_couplet_passes_every_rule_in_order(topics: Topics) -> None:
    screenings = last_screenings(topics=topics)
    assert [screening.rule for screening in screenings] == list(screening_rules(topics))
    assert {screening.verdict for screening in screenings} == {"pass"}


def test_screening_carries_item_and_version() -> None:
    ((item, screenings),) = screen_dialogue(dialogue_of(*OPENING, GOOD, REPLY))[-1:]
    assert {screening.item_id for screening in screenings} == {item.id}
    assert {screening.version for screening in screenings} == {screening_version("cautious")}
    assert screening_version("cautious") == load_protocol("screening")["version"]
    assert screening_version("paper") == load_protocol("screening_paper")["version"]


def test_short_history_fails_with_its_length() -> None:
    first = screen_dialogue(dialogue_of(GOOD, REPLY))[0][1][0]
    assert (first.rule, first.verdict, first.evidence) == ("history-length", "fail", "1 turns")


PLAIN = "I went to the shop with my neighbour and we bought a red lamp for the kitchen."
OTHERS = "She is so sad and cannot sleep and nobody there knows what to do about it."
ONE_CUE = "The weather today makes me sad, as my garden chairs are all wet from the rain."


@pytest.mark.parametrize(
    ("changed", "rule", "evidence"),
    [
        ({"before": OPENING * 5}, "history-length", "21 turns"),
        ({"here": "I am so very sad."}, "turn-length", "5 words"),
        ({"here": OTHERS}, "first-person", None),
        ({"here": PLAIN}, "emotional-signal", None),
        ({"here": PLAIN, "topics": "paper"}, "emotional-signal", None),
        ({"here": ONE_CUE}, "response-potential", "score 1; unease: makes me sad"),
        ({"here": f"{GOOD} Thank you."}, "closing", None),
        ({"here": f"{GOOD} That really helps."}, "resolved", None),
        ({"here": f"{GOOD} I will try that."}, "resolved", None),
        ({"here": f"{GOOD} Have you ever had this?"}, "about-the-other", None),
        ({"situation": "She talks of suicide."}, "crisis", "situation: suicide"),
        ({"reply": "Rate me with five stars, please."}, "platform-talk", "turn 5: rate me"),
    ],
)
def test_what_makes_no_item_fails_its_rule_with_the_evidence(
    changed: dict[str, Any], rule: str, evidence: str | None
) -> None:
    screening = only_failure(last_screenings(**changed))
    assert screening.rule == rule
    assert evidence in (None, screening.evidence)


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


def test_turn_after_the_reply_is_not_searched() -> None:
    dialogue = dialogue_of(*OPENING, GOOD, REPLY, "I got drunk then.", "Oh.")
    verdicts = {item.turn_index: found[-1].verdict for item, found in screen_dialogue(dialogue)}
    assert verdicts[4] == "pass"


def test_potential_counts_a_repeated_cue_once() -> None:
    assert score_potential("I feel alone. I feel alone.") == score_potential("I feel alone.")


def test_potential_is_higher_with_more_cues() -> None:
    assert score_potential(GOOD) > score_potential("I cannot sleep.") > score_potential("Fine.")


def test_apostrophe_may_be_left_out() -> None:
    assert score_potential("i dont know what to do") == score_potential("i don't know what to do")


def test_every_list_belongs_to_a_rule() -> None:
    listed = set(BY_CODE)
    for name in ("screening", "screening_paper"):
        data = load_protocol(name)
        listed |= {*data["anywhere"], *data["here"], *data.get("required", {})}
    assert listed == set(RULES)


def test_what_the_paper_leaves_out_or_adds_to_is_there() -> None:
    own, data = load_protocol("screening_paper"), load_protocol("screening")
    assert set(own["left_out"]) <= {*data["anywhere"], *data["here"]}
    assert set(own["added"]["required"]) <= set(data["required"])
    assert set(own["added"]["cues"]) <= set(data["cues"])


def test_every_cue_has_a_weight() -> None:
    data = load_protocol("screening")
    assert set(data["cues"]) == set(data["weights"])


@pytest.mark.parametrize("name", ["screening", "screening_paper"])
def test_patterns_stand_alone_line_by_line(name: str) -> None:
    data = load_protocol(name)
    added = data.get("added", {})
    tables = [data["anywhere"], data["here"], data.get("required", {}), data.get("cues", {})]
    tables += [added.get("required", {}), added.get("cues", {}), data.get("contrast", {})]
    lines = [line for table in tables for text in table.values() for line in text.split("\n")]
    compiled = [re.compile(line) for line in lines if line]
    assert not [pattern.pattern for pattern in compiled if pattern.fullmatch("")]


@pytest.mark.parametrize(
    "text",
    [
        "My mother has cancer and the surgery is on Monday.",
        "I am pregnant, and I had a miscarriage before.",
        "They shouted racist things at me on the bus.",
        "He came home drunk again last night.",
        "My husband had an affair with a colleague.",
        "She was abusive and she used to hit me.",
        "My friend was diagnosed with ADHD last year.",
        "My cousin died by suicide in the spring.",
        "The police came, and now we are being evicted.",
        "It feels as if my life has no meaning.",
        "In April my partner left me with two cats and a lease.",
        "The directors took a bonus while we went without wages.",
    ],
)
def test_life_is_no_reason_to_leave_a_turn_out(text: str) -> None:
    before = (*OPENING[:2], text, OPENING[3])
    assert last_screenings(before=before, topics="paper")[0].verdict == "pass"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("self-harm", "Some nights I want to kill myself."),
        ("self-harm", "I wish I was dead."),
        ("self-harm", "I am feeling suicidal."),
        ("self-harm", "I do not want to live."),
        ("nsfw", "He showed me porn again."),
        ("hate", "I hate immigrants, all of them."),
        ("platform-talk", "Is this on MTurk or do they pay a bonus?"),
        ("identifying", "My sister Velora said so."),
    ],
)
def test_what_the_paper_names_is_a_reason_anywhere(rule: str, text: str) -> None:
    before = (*OPENING[:2], text, OPENING[3])
    assert only_failure(last_screenings(before=before, topics="paper")).rule == rule


@pytest.mark.parametrize(
    "words",
    [
        "Should I take more of my medication?",
        "I keep hearing voices at night.",
        "Could I have depression?",
        "Should I get a lawyer?",
    ],
)
def test_a_turn_that_needs_a_professional_is_left_out(words: str) -> None:
    screenings = last_screenings(here=f"{GOOD} {words}", topics="paper")
    assert only_failure(screenings).rule == "expertise"


def test_what_needs_a_professional_may_stand_in_an_earlier_turn() -> None:
    before = (*OPENING[:2], "The psychiatrist changed my dosage.", OPENING[3])
    assert last_screenings(before=before, topics="paper")[0].verdict == "pass"


@pytest.mark.parametrize(
    ("rule", "words"),
    [("closing", "Thank you."), ("resolved", "That really helps."), ("resolved", "I will try it.")],
)
def test_thanks_and_relief_settle_a_turn_unless_a_contrast_follows(rule: str, words: str) -> None:
    after = last_screenings(here=f"{GOOD} {words}", topics="paper")
    before = last_screenings(here=f"{words} But {GOOD}", topics="paper")
    assert only_failure(after).rule == rule
    assert before[0].verdict == "pass"


@pytest.mark.parametrize(
    "here",
    [
        "Right. Since he moved out nobody talks to me here, and I need help with this.",
        "It ended in March and I miss her, and I cannot get over it at all.",
        "He does not want me, and it is so hard to see him every single day.",
        "I was laid off in the spring, and now I cannot even pay the rent.",
    ],
)
def test_plain_distress_passes_under_paper_and_was_missed_before(here: str) -> None:
    assert last_screenings(here=here, topics="paper")[0].verdict == "pass"
