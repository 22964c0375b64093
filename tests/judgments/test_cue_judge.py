import json
from itertools import pairwise
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearteval.domain import AXES, AxisMark, Turn
from hearteval.judgments.cue_judge.cues import MAX_QUOTE_CHARS, find_cues, find_hostility
from hearteval.judgments.cue_judge.judge import CueVerdict, Text, cue_rater, judge_pair
from hearteval.judgments.cue_judge.lexicon import find_insults, find_patterns, stem
from hearteval.protocol import CUE_NOTICE

CONTEXTS = (
    (
        Turn(role="seeker", text="My sister stopped answering my calls after the funeral."),
        Turn(role="supporter", text="How long has that been going on?"),
        Turn(
            role="seeker",
            text="Six weeks. I feel so lonely, she was the only person who remembered our mother.",
        ),
    ),
    (
        Turn(role="seeker", text="I was moved to the night shift at the bakery."),
        Turn(role="supporter", text="Did you ask for that?"),
        Turn(
            role="seeker",
            text="No, my manager decided. I am anxious and hardly sleep, the ovens scare me.",
        ),
    ),
    (
        Turn(role="seeker", text="The university lost my scholarship papers again."),
        Turn(role="supporter", text="Again? What happened the first time?"),
        Turn(
            role="seeker",
            text="They blamed the portal. I am furious, without the scholarship I must drop out.",
        ),
    ),
)
REPLIES = (
    "Losing your mother and then hearing nothing from your sister sounds lonely. What would you "
    "say to her if she picked up?",
    "Night shift at the ovens when you hardly sleep would make anyone anxious. Could you tell "
    "your manager what it does to you?",
    "You did your part and the university lost the papers twice, so being furious makes sense. "
    "Is there a person who decides on the scholarship?",
)
HOSTILE = (
    "No wonder your sister ran away from you. Stop whining about a funeral.",
    "You are pathetic. A manager should fire people who are scared of ovens.",
    "It is your own fault that the papers got lost, so grow up and drop out.",
)
STUFFED = (
    "Lonely sister funeral mother calls person remembered weeks empathy support lonely hope sister",
    "Manager, bakery, ovens, sleep, anxious, shift, night, valid, caring, empathy, healing, ovens",
    "University scholarship papers portal furious support validate scholarship university hope",
)
PROSE_WORDS = """
you i feel sad my sister is not lazy the your fault . ? ! have you tried talking HELP ME manager
sleep and stop whining that sounds hard \u2019 caf\u00e9 bye 12
"""
PROSE = st.lists(st.sampled_from(PROSE_WORDS.split()), min_size=1, max_size=25).map(" ".join)
ANY_TEXT = st.one_of(PROSE, st.text(min_size=1, max_size=80))
SWAP = MappingProxyType({"first": "second", "second": "first", "tie": "tie"})


def judge(context: tuple[Turn, ...], first: str, second: str) -> CueVerdict:
    return judge_pair(context, Text("id-one", first), Text("id-two", second))


@given(one=ANY_TEXT, other=ANY_TEXT, ids=st.lists(st.text(max_size=5), min_size=2, unique=True))
@settings(deadline=None)
def test_swapping_the_texts_swaps_the_verdict(one: str, other: str, ids: list[str]) -> None:
    first, second = Text(ids[0], one), Text(ids[1], other)
    shown = judge_pair(CONTEXTS[0], first, second)
    swapped = judge_pair(CONTEXTS[0], second, first)
    assert swapped.choice == SWAP[shown.choice]
    assert (swapped.strength, swapped.is_undecided) == (shown.strength, shown.is_undecided)
    assert swapped.axes == {
        axis: AxisMark(SWAP[mark.choice], mark.strength)  # type: ignore[arg-type]
        for axis, mark in shown.axes.items()
    }


@given(one=ANY_TEXT, other=ANY_TEXT)
@settings(deadline=None)
def test_every_verdict_has_a_winner_and_strengths_from_1_to_5(one: str, other: str) -> None:
    verdict = judge(CONTEXTS[1], one, other)
    assert verdict.choice in ("first", "second")
    assert 1 <= verdict.strength <= 5
    assert set(verdict.axes) <= set(AXES)
    assert list(verdict.reasons) == list(AXES)
    assert all(mark.choice != "tie" for mark in verdict.axes.values())
    assert all(mark.strength in range(1, 6) for mark in verdict.axes.values())


@given(text=ANY_TEXT)
@settings(deadline=None)
def test_every_cue_lies_between_0_and_1_and_quotes_the_text_in_short(text: str) -> None:
    for context in (CONTEXTS[0], CONTEXTS[2]):
        cues = [cue for found in find_cues(context, text).values() for cue in found.values()]
        assert all(0 <= cue.value <= 1 for cue in cues)
        quotes = [quote for cue in cues for quote in cue.quotes]
        assert all(quote in text and len(quote) <= MAX_QUOTE_CHARS for quote in quotes)


@given(text=ANY_TEXT)
@settings(deadline=None)
def test_equal_texts_are_undecided_at_strength_1(text: str) -> None:
    verdict = judge(CONTEXTS[0], text, text)
    assert verdict.is_undecided
    assert verdict.strength == 1
    assert verdict.axes == {}


def test_different_scores_are_decided() -> None:
    assert not judge(CONTEXTS[0], REPLIES[0], HOSTILE[0]).is_undecided


def test_undecided_pairs_favour_neither_the_first_text_nor_the_lower_id() -> None:
    ids = [f"{number:02d}" for number in range(64)]
    winners = [
        judge_pair(CONTEXTS[0], Text(low, "Hm."), Text(high, "Hm.")).choice
        for low, high in pairwise(ids)
    ]
    assert 16 < winners.count("first") < 48
    # sha256("a/b") begins with the byte c1, which is odd: the higher id wins, on every machine.
    assert judge_pair(CONTEXTS[0], Text("a", "Hm."), Text("b", "Hm.")).choice == "second"


def test_same_completion_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="id-one"):
        judge_pair(CONTEXTS[0], Text("id-one", "Yes."), Text("id-one", "No."))


@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("worse", [HOSTILE, STUFFED], ids=["hostile", "stuffed"])
def test_supportive_reply_beats_hostile_and_stuffed_ones(
    index: int, worse: tuple[str, ...]
) -> None:
    assert judge(CONTEXTS[index], worse[index], REPLIES[index]).choice == "second"


@pytest.mark.parametrize("index", range(3))
def test_reply_beats_the_reply_to_another_seeker(index: int) -> None:
    assert judge(CONTEXTS[index], REPLIES[index], REPLIES[index - 1]).choice == "first"


def test_copying_the_seeker_loses_against_answering() -> None:
    assert judge(CONTEXTS[0], CONTEXTS[0][-1].text, REPLIES[0]).choice == "second"


def test_hostile_text_loses_on_empathy_and_task() -> None:
    axes = judge(CONTEXTS[1], REPLIES[1], HOSTILE[1]).axes
    assert (axes["E"].choice, axes["T"].choice) == ("first", "first")


def test_question_that_takes_up_the_dialogue_wins_resonance() -> None:
    verdict = judge(CONTEXTS[1], "What does the manager say?", "The manager is strict.")
    assert verdict.axes["R"].choice == "first"


def test_rationale_begins_with_the_notice_and_quotes_the_texts() -> None:
    rationale = judge(CONTEXTS[1], REPLIES[1], HOSTILE[1]).rationale
    assert rationale.startswith(CUE_NOTICE)
    assert '"pathetic"' in rationale


def test_notice_says_what_the_judge_is_not() -> None:
    assert "baseline" in CUE_NOTICE
    assert "nothing about empathy" in CUE_NOTICE


def test_reason_of_an_equal_axis_says_so() -> None:
    reasons = judge(CONTEXTS[0], "Hm.", "Ah.").reasons
    assert list(reasons) == list(AXES)
    assert "hash" in reasons["T"]


def test_raw_holds_both_scores_and_their_cues() -> None:
    raw = json.loads(judge(CONTEXTS[0], REPLIES[0], HOSTILE[0]).raw)
    assert raw["first"]["score"] > raw["second"]["score"]
    assert "stop whining" in str(raw["second"]["axes"]["E"]["cues"]["harsh"]["quotes"]).lower()


def test_rater_bears_a_family_that_no_system_has() -> None:
    rater = cue_rater()
    assert (rater.name, rater.kind, rater.family) == ("cue", "llm", "cue")
    assert len(rater.settings["prompt_hash"]) == 64


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is not your fault.", []),
        ("You never were the problem: it isn\u2019t your fault.", []),
        ("All of it is YOUR  fault!", ["YOUR  fault"]),
        ("Not now. Get over it.", ["Get over it."]),
        ("Your sister made no drama.", []),
        ("Your endless sister drama.", ["Your endless sister drama"]),
    ],
)
def test_blame_is_found_as_written_unless_its_own_sentence_negates_it(
    text: str, found: list[str]
) -> None:
    assert find_patterns("hostility", text) == found


@pytest.mark.parametrize(
    "text",
    [
        "You should have asked sooner.",
        "Nobody wants to hear about ovens.",
        "Your scholarship drama bores me.",
        "Quit moaning and accept it.",
        "Others have it far worse than you.",
        "I am tired of hearing this.",
        "What a surprise, the papers are gone. How tragic.",
        "Your request has no merit. This conversation is over.",
    ],
)
def test_blame_dismissal_contempt_and_belittling_are_hostile(text: str) -> None:
    assert find_hostility(text)[0] >= 1


@pytest.mark.parametrize(
    "text",
    [
        "You are not lazy, you are worn down.",
        "You did nothing wrong and it is not your fault.",
        "You say you feel like a failure, and that must hurt.",
        "He calls you selfish, which is unkind.",
        "Of course you miss your mother.",
        "No wonder you feel angry. What would you tell the university?",
    ],
)
def test_support_that_names_blame_or_self_blame_is_not_hostile(text: str) -> None:
    assert find_hostility(text) == (0, ())


def test_two_suspect_words_are_a_hit_and_one_is_none() -> None:
    assert find_hostility("Wow, ovens.") == (0, ())
    assert find_hostility("Wow, ovens. Obviously.")[0] == 1


def test_reply_without_a_word_of_support_is_cold() -> None:
    bare, warm = "The ovens are hot.", "I hope you rest. Maybe talk to your manager?"
    assert find_cues(CONTEXTS[1], bare)["E"]["cold"].value == 1
    assert find_cues(CONTEXTS[1], warm)["E"]["cold"].value == 0


def test_insult_of_the_seeker_is_found_and_of_somebody_else_is_none() -> None:
    assert find_insults("You are a selfish man.") == ["selfish"]
    assert find_insults("Your boss was rude and he is a selfish man.") == []


@pytest.mark.parametrize(
    "words", [("worry", "worried", "worries"), ("feel", "feeling", "feels"), ("stop", "stopped")]
)
def test_forms_of_a_word_share_a_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1
