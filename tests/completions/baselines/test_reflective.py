import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearteval.completions.baselines.reflective import write_reflection
from hearteval.completions.baselines.reflective.clauses import find_clauses
from hearteval.completions.baselines.reflective.mirror import mirror_person, mirror_question
from hearteval.protocol import load_protocol

CORPUS = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "esconv"
WORDING = load_protocol("baselines")["reflective"]


def count_sentences(text: str) -> int:
    return len(re.findall(r"[.!?]\"?(?=\s|$)", text))


@pytest.mark.parametrize(
    ("said", "mirrored"),
    [
        ("I am tired", "you are tired"),
        ("i'm tired", "you're tired"),
        ("I've lost my keys", "you've lost your keys"),
        ("I'd rather stay", "you'd rather stay"),
        ("I'll wait", "you'll wait"),
        ("I don't trust myself", "you don't trust yourself"),
        ("he told me that it was mine", "he told you that it was yours"),
        ("I was told I wasn't ready", "you were told you weren't ready"),
        ("I really was hoping", "you really were hoping"),
        ("I went home and was sick", "you went home and were sick"),
        ("I know he left and was sick", "you know he left and was sick"),
        ("was furious", "was furious"),
        ("my boss was rude", "your boss was rude"),
        ("we were proud of ourselves", "you were proud of yourselves"),
        ("they lied to us about our house", "they lied to you about your house"),
        ("I moved to the US", "you moved to the US"),
        ("I woke up at 3 am", "you woke up at 3 am"),
        ("she is braver than I am", "she is braver than you are"),
        ("everyone ignores me", "everyone ignores you"),
        ("If I was braver", "If you were braver"),
        ("the mine is in my island", "the yours is in your island"),
    ],
)
def test_first_person_becomes_second(said: str, mirrored: str) -> None:
    assert mirror_person(said) == mirrored


@pytest.mark.parametrize(
    ("asked", "indirect"),
    [
        ("should I tell him", "whether you should tell him"),
        ("am I overreacting", "whether you are overreacting"),
        ("was I wrong", "whether you were wrong"),
        ("do I need help", "whether you need help"),
        ("does he love me", "whether he loves you"),
        ("does she have time", "whether she has time"),
        ("does he miss me", "whether he misses you"),
        ("does it ever get better", "whether it ever gets better"),
        ("did I ruin it", "whether you really did ruin it"),
        ("is it my fault", "whether it is your fault"),
        ("will they fire me", "whether they will fire you"),
        ("why can't I sleep", "why you can't sleep"),
        ("why do I feel so alone", "why you feel so alone"),
        ("why does she try", "why she tries"),
        ("what should I do", "what you should do"),
        ("what do I do", "what to do"),
        ("what do I have left", "what you have left"),
        ("how do I tell my mum", "how to tell your mum"),
        ("how long should I wait", "how long you should wait"),
        ("what if I fail again", "what happens if you fail again"),
        ("what's wrong with me", "what is wrong with you"),
        ("what is the point", "what the point is"),
        ("who would hire me", "who would hire you"),
    ],
)
def test_question_becomes_indirect(asked: str, indirect: str) -> None:
    assert mirror_question(asked) == indirect


@pytest.mark.parametrize(
    "asked", ["why did he leave me", "is my neighbour angry", "I should go", "why", "", "can they"]
)
def test_question_of_unknown_grammar_is_left(asked: str) -> None:
    assert mirror_question(asked) is None


@pytest.mark.parametrize(
    ("turn", "part"),
    [
        ("i dont know what to do anymore", "you don't know what to do anymore"),
        (
            "I\u2019m so tired of pretending that everything\u2019s fine 😢😢",
            "you're so tired of pretending",
        ),
        ("Should I call her?", "whether you should call her"),
        ("so maybe I should leave?", "whether you should leave"),
        ("cant sleep at all", "you can't sleep at all"),
        ("feeling really low lately", "you're feeling really low lately"),
        ("been crying all week :(", "you've been crying all week"),
        ("I AM SO ANGRY AT MYSELF", "you are so angry at yourself"),
        ("No, I don't, but my job scares me", "your job scares you"),
        ("me and my brother were fighting lol", "you and your brother were fighting"),
        ("When I try to study, my mind goes blank", "when you try to study, your mind goes blank"),
        ("lonely", '"lonely"'),
    ],
)
def test_turn_is_mirrored_in_the_second_person(turn: str, part: str) -> None:
    assert part in write_reflection(turn, key=(1,))


def test_feeling_in_the_first_person_is_preferred() -> None:
    turn = "We have two cats. I feel worthless since the move. The flat is on the third floor."
    assert "you feel worthless since the move" in write_reflection(turn, key=(1,))


def test_long_turn_is_mirrored_in_part() -> None:
    turn = (
        "I feel like I'm failing at everything, and my kids see it, and my husband says it will "
        "pass but I honestly can't remember the last time that I slept for more than four hours "
        "and I don't think that anyone in this house understands how hard it has been since May"
    )
    text = write_reflection(turn, key=(1,))
    assert "you feel like you're failing at everything" in text
    assert len(text.split()) < 30


@pytest.mark.parametrize(
    "turn",
    [
        "idk",
        "ok",
        ".",
        "😢",
        "You people do not care about me",
        "Thanks, bye!",
        "Don't label me like that",
        "idk thats it",
        "my mom and dad",
    ],
)
def test_turn_with_nothing_to_mirror_gets_a_neutral_prompt(turn: str) -> None:
    assert write_reflection(turn, key=(1,)) in WORDING["neutral"]


def test_neutral_prompts_vary_with_the_key() -> None:
    assert len({write_reflection("ok", key=(n,)) for n in range(60)}) == len(WORDING["neutral"])


@pytest.mark.parametrize(
    "turn", ["I want to die", "i think about ending my life", "I feel SUICIDAL"]
)
def test_talk_of_ending_ones_life_is_never_mirrored(turn: str) -> None:
    assert write_reflection(turn, key=(1,)) == WORDING["safety"]


@given(
    st.text(alphabet=st.sampled_from("iI'mywsadfeltbcaus?.,!:() \n\"-😢\u2019{}5"), max_size=300)
)
def test_any_turn_gets_one_or_two_sentences(turn: str) -> None:
    assert 1 <= count_sentences(write_reflection(turn, key=(1,))) <= 2


@given(
    st.lists(st.sampled_from(["i", "feel", "my", "mom", "was", "and", "so", "sad", ",", ".", "?"]))
)
def test_echo_is_never_longer_than_twenty_words(words: list[str]) -> None:
    assert all(len(clause.text.split()) <= 20 for clause in find_clauses(" ".join(words)))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the ESConv corpus is not beside the checkout")
def test_every_seeker_turn_of_the_corpus_gets_one_or_two_sentences() -> None:
    lines = (CORPUS / "valid.jsonl").read_text(encoding="utf-8").splitlines()
    turns = [
        t["text"] for line in lines for t in json.loads(line)["dialog"] if t["speaker"] == "usr"
    ]
    texts = [write_reflection(turn, key=(n,)) for n, turn in enumerate(turns)]
    assert turns
    assert {count_sentences(text) for text in texts} <= {1, 2}
    assert max(len(text.split()) for text in texts) <= 45
