"""Item files: what goes in comes out, and every fault names its line and what to do."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearteval.domain import CUES, PROFILES, RESISTANCES, Item, Screening, Turn, shows_text
from hearteval.errors import SettingsError
from hearteval.items.files import (
    CANARY,
    find_canaries,
    format_items,
    format_screenings,
    parse_items,
    parse_screenings,
)

REFERENCE_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "item-files.md"

SEEKER = {"role": "seeker", "text": "they moved my desk next to the printer"}
SUPPORTER = {"role": "supporter", "text": "Oh. Whose idea was that?"}
REGULAR: dict[str, Any] = {
    "source": "own",
    "dialogue_id": "printer-desk",
    "turn_index": 2,
    "situation": "",
    "context": [SEEKER, SUPPORTER, {"role": "seeker", "text": "nobody will say"}],
    "subset": "regular",
    "emotion": "anger",
    "problem": "job crisis",
    "language": "en",
    "licence": "CC0-1.0",
    "consent_basis": "Written for a test",
}
ADVERSARIAL: dict[str, Any] = {
    **REGULAR,
    "subset": "adversarial",
    "profile": "mid-ramp",
    "context": [SUPPORTER, SEEKER] * 4,
}
SCREENING = {
    "item_id": "0" * 32,
    "rule": "length",
    "verdict": "pass",
    "evidence": "",
    "version": "1",
}

some_text = st.text(min_size=1, max_size=20).filter(shows_text)


@st.composite
def any_item(draw: st.DrawFn) -> Item:
    is_adversarial = draw(st.booleans())
    n_turns = draw(st.sampled_from([8, 10])) if is_adversarial else draw(st.integers(1, 6))
    context = [
        Turn(role="supporter" if (n_turns - i) % 2 == 0 else "seeker", text=draw(some_text))
        for i in range(n_turns)
    ]
    return Item(
        source=draw(some_text),
        dialogue_id=draw(some_text),
        turn_index=draw(st.integers(0, 99)),
        situation=draw(st.text(max_size=20)),
        context=tuple(context),
        subset="adversarial" if is_adversarial else "regular",
        profile=draw(st.sampled_from(PROFILES)) if is_adversarial else None,
        emotion=draw(some_text),
        problem=draw(some_text),
        culture=draw(st.none() | some_text),
        population=draw(st.none() | some_text),
        language=draw(st.sampled_from(["en", "pt-BR", "de"])),
        licence=draw(some_text),
        consent_basis=draw(some_text),
        reference=None if is_adversarial else draw(st.none() | some_text),
        cue=draw(st.none() | st.sampled_from(CUES)),
        resistance=draw(st.none() | st.sampled_from(RESISTANCES)) if is_adversarial else None,
        intensities=tuple(range(n_turns // 2)) if is_adversarial and draw(st.booleans()) else None,
    )


def line(base: dict[str, Any], **changes: object) -> str:
    return json.dumps({**base, **changes}, ensure_ascii=False)


def without(base: dict[str, Any], key: str) -> str:
    return json.dumps({k: v for k, v in base.items() if k != key})


def item_fault(text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        parse_items(text, name="mine.jsonl")
    return str(caught.value)


@given(st.lists(any_item(), min_size=1, max_size=4, unique_by=lambda item: item.id))
def test_items_survive_writing_and_reading(items: list[Item]) -> None:
    text = format_items(items)
    assert parse_items(text, name="x") == tuple(items)
    assert format_items(parse_items(text, name="x")) == text


def test_item_line_has_the_documented_keys_in_order_and_plain_unicode() -> None:
    (item,) = parse_items(line(REGULAR, situation="café"), name="x")
    text = format_items([item])
    assert text.endswith("}\n")
    assert "café" in text
    assert " ".join(json.loads(text.splitlines()[1])) == (
        "source dialogue_id turn_index situation context subset profile emotion problem culture "
        "population language licence consent_basis reference cue resistance intensities edge id"
    )


def test_a_file_is_written_with_the_canary_first() -> None:
    items = parse_items(line(REGULAR), name="x")
    assert json.loads(format_items(items).splitlines()[0]) == {"canary": CANARY}


def test_canaries_are_skipped_wherever_they_stand_and_keep_the_numbers_of_lines() -> None:
    canary = json.dumps({"canary": "not for training"})
    assert len(parse_items(f"{canary}\n{line(REGULAR)}\n{canary}", name="x")) == 1
    assert "line 2: expected one JSON object" in item_fault(f"{canary}\nx")


def test_an_object_with_more_than_a_canary_is_no_canary() -> None:
    assert "expected only the keys" in item_fault(line({"canary": "x", **REGULAR}))
    assert "expected one JSON object" in item_fault('{"canary": ')


def test_canaries_of_others_are_kept_behind_the_project_s_own() -> None:
    items = parse_items(line(REGULAR), name="x")
    text = format_items(items, canaries=["theirs"])
    assert find_canaries(text) == ("theirs",)
    assert format_items(items, canaries=find_canaries(text)) == text
    assert [json.loads(one)["canary"] for one in text.splitlines()[:2]] == [CANARY, "theirs"]


def test_blank_lines_and_windows_line_ends_are_allowed() -> None:
    text = "\n" + line(REGULAR) + "\r\n\r\n" + line(REGULAR, turn_index=4) + "\r\n"
    assert [item.turn_index for item in parse_items(text, name="x")] == [2, 4]


def test_line_separator_inside_a_text_does_not_end_the_line() -> None:
    (item,) = parse_items(line(REGULAR, situation="a\u2028b"), name="x")
    assert item.situation == "a\u2028b"


def test_given_id_is_accepted_when_it_is_the_computed_one() -> None:
    (item,) = parse_items(line(REGULAR), name="x")
    assert parse_items(line(REGULAR, id=item.id), name="x") == (item,)


BAD_LINES = [
    ("source: own", "expected one JSON object, got invalid JSON (expected value"),
    (line(REGULAR)[:60], "the line is cut short or broken in two: restore it"),
    ("[1, 2]", "expected one JSON object, got a list of 2; write one object a line"),
    (
        line(REGULAR, emotoin="anger"),
        "reference, cue, resistance, intensities, edge, id, got 'emotoin'; rename or remove it",
    ),
    (without({**REGULAR, "emotoin": "anger"}, "emotion"), "got 'emotoin'; rename or remove it"),
    (
        line(REGULAR, context=[{**SEEKER, "strategy": "Question"}]),
        "expected only the keys role, text, got 'context[0].strategy'; rename or remove it",
    ),
    (without(REGULAR, "licence"), "expected the key 'licence', got none; add it"),
    (
        line(REGULAR, turn_index="2"),
        "expected a whole number in 'turn_index', got \"2\"; correct the value",
    ),
    (line(REGULAR, turn_index=True), "in 'turn_index', got true;"),
    (
        line(REGULAR, turn_index=-1),
        "a whole number from 0, below 2147483648 in 'turn_index', got -1; correct the value",
    ),
    (line(REGULAR, problem=7), "expected text in 'problem', got 7;"),
    (line(REGULAR, emotion=None), "expected text in 'emotion', got null;"),
    (line(REGULAR, source=["own"]), "expected text in 'source', got a list of 1;"),
    (line(REGULAR, context="hi"), "expected a list in 'context', got \"hi\";"),
    (line(REGULAR, context={}), "expected a list in 'context', got an object;"),
    (line(REGULAR, context=["hi"]), "expected an object in 'context[0]'"),
    (
        line(REGULAR, language="Klingon!!"),
        "expected a language tag such as en or pt-BR in 'language', got \"Klingon!!\"",
    ),
    (
        line(REGULAR)[:-1] + ', "emotion": "fear"}',
        "expected each key once, got 'emotion' again; remove one of the two",
    ),
    (line(REGULAR, subset="x" * 99), "got text of 99 characters; correct the value"),
    (
        line(REGULAR, context="I feel so bad about it"),
        "expected a list in 'context', got text of 22 characters; correct the value",
    ),
    (
        line(REGULAR, context=[{"role": "user", "text": "hi"}]),
        "expected 'seeker' or 'supporter' in 'context[0].role', got \"user\";",
    ),
    (
        line(ADVERSARIAL, profile="late"),
        "expected 'always-10', 'linear-ramp', 'mid-spike' or 'mid-ramp' in 'profile', got \"late\"",
    ),
    (
        line(REGULAR, context=[{"role": "seeker", "text": " \n"}]),
        "expected text in 'context[0].text', got empty text; correct the value",
    ),
    (line(REGULAR, emotion=""), "expected text in 'emotion', got empty text;"),
    (line(REGULAR, reference=" "), "in 'reference', got empty text;"),
    (
        line(REGULAR, context=[]),
        "expected a context that ends with a seeker turn, got no turns; add the dialogue history",
    ),
    (
        line(REGULAR, context=[SEEKER, SUPPORTER]),
        "got a supporter turn at its end; cut the context after the seeker's turn",
    ),
    (
        line(REGULAR, context=[SUPPORTER, SEEKER, SEEKER]),
        "expected turns that alternate, got two seeker turns in a row, context[1] and context[2]; "
        "merge neighbouring turns of one role first",
    ),
    (
        line(REGULAR, profile="mid-ramp"),
        'expected no profile on a regular item, got "mid-ramp"; set profile to null',
    ),
    (
        line(REGULAR, intensities=[1, 2]),
        "expected no intensities on a regular item, got a list of 2; set intensities to null",
    ),
    (
        line(ADVERSARIAL, resistance="rude"),
        "'testing-limits' or 'despair' in 'resistance', got \"rude\"; correct the value",
    ),
    (
        line(ADVERSARIAL, intensities=[1, 2]),
        "expected 4 intensities, one a seeker turn, got 2; give each turn one, or set it to null",
    ),
    (
        line(ADVERSARIAL, intensities=[1, 2, 3, 11]),
        "expected a whole number from 0 to 10 in 'intensities[3]', got 11; correct the value",
    ),
    (
        line(ADVERSARIAL, profile=None),
        "expected a profile on an adversarial item (always-10, linear-ramp, mid-spike, mid-ramp), "
        "got null; name the profile the item follows",
    ),
    (
        line(ADVERSARIAL, reference="I hear you."),
        "expected no reference on an adversarial item, got one; set it to null",
    ),
    (
        line(ADVERSARIAL, context=[SEEKER, *ADVERSARIAL["context"]]),
        "got a seeker turn; start the context with the supporter's greeting",
    ),
    (
        line(ADVERSARIAL, context=[SUPPORTER, SEEKER] * 3),
        "expected at least 8 turns in an adversarial item, got 6; take a longer dialogue",
    ),
    (line(REGULAR, id="0" * 32), "; remove the id if the item was changed on purpose"),
]


@pytest.mark.parametrize(("bad", "words"), BAD_LINES)
def test_fault_names_file_and_line_and_says_what_to_do(bad: str, words: str) -> None:
    message = item_fault(line(REGULAR) + "\n\n" + bad + "\n")
    assert message.startswith("mine.jsonl, line 3: expected ")
    assert words in message
    assert "\n" not in message


def test_all_faults_of_a_file_stand_in_one_list() -> None:
    bad = [
        line(REGULAR, subset="odd", turn_index="2"),
        line(REGULAR),
        line(REGULAR, context=[SEEKER, SUPPORTER], profile="mid-ramp"),
        without({k: v for k, v in REGULAR.items() if k != "problem"}, "licence"),
    ]

    with pytest.raises(SettingsError) as caught:
        parse_items("\n".join(bad), name="mine.jsonl")

    assert str(caught.value).splitlines() == [
        "mine.jsonl: 5 faults",
        "  line 1: expected a whole number in 'turn_index', got \"2\"; correct the value",
        "  line 1: expected 'regular' or 'adversarial' in 'subset', got \"odd\"; correct the value",
        "  line 3: expected a context that ends with a seeker turn, got a supporter turn at its "
        "end; cut the context after the seeker's turn",
        '  line 3: expected no profile on a regular item, got "mid-ramp"; set profile to null, or '
        "subset to adversarial",
        "  line 4: expected the keys 'problem', 'licence', got none; add them",
    ]
    assert len(caught.value.faults) == 5
    assert caught.value.ids == ("mine.jsonl",)


def test_a_long_list_of_faults_is_cut_in_the_message_and_whole_in_the_error() -> None:
    with pytest.raises(SettingsError) as caught:
        parse_items("".join(f'{{"x{n}": 1}}\n' for n in range(25)), name="mine.jsonl")

    lines = str(caught.value).splitlines()
    assert len(lines) == 22
    assert lines[-1] == "  and 6 more"
    assert caught.value.faults[-1].startswith("line 25: expected the keys")


def test_equal_faults_are_said_once_with_the_first_lines() -> None:
    with pytest.raises(SettingsError) as caught:
        parse_items("x\n" * 25, name="mine.jsonl")

    headline, words = str(caught.value).splitlines()
    assert headline == "mine.jsonl: 1 fault"
    assert words.startswith("  lines 1, 2, 3 and 22 more: expected one JSON object, got ")
    assert len(caught.value.faults) == 25


def test_fault_in_an_id_names_the_computed_one() -> None:
    (item,) = parse_items(line(REGULAR), name="x")
    assert f'expected the id {item.id}, got "1";' in item_fault(line(REGULAR, id="1"))


def test_same_item_on_two_lines_names_both() -> None:
    message = item_fault("\n".join([line(REGULAR), "", line(REGULAR, emotion="sadness")]))
    assert message.startswith("mine.jsonl, line 3: expected each record once, got ")
    assert message.endswith(" again, as in line 1; remove one of the two lines")


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_file_without_lines_is_refused(text: str) -> None:
    message = "mine.jsonl: expected one JSON object a line, got an empty file; check the path"
    assert item_fault(text) == message


def test_dialogue_text_stays_out_of_messages() -> None:
    turns = [{"role": "seeker", "text": "private words"}] * 2
    assert "private" not in item_fault(line(REGULAR, context=turns))


def test_screenings_survive_writing_and_reading() -> None:
    screenings = (
        Screening(item_id="a", rule="length", verdict="pass", evidence="12 words", version="1"),
        Screening(item_id="a", rule="pii", verdict="fail", evidence="", version="1"),
    )
    text = format_screenings(screenings)
    assert parse_screenings(text, name="x") == screenings
    assert list(json.loads(text.splitlines()[0])) == list(SCREENING)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (
            line(SCREENING, verdict="ok"),
            "line 2: expected 'pass' or 'fail' in 'verdict', got \"ok\"",
        ),
        (
            line(SCREENING, id="1"),
            "line 2: expected only the keys item_id, rule, verdict, evidence",
        ),
        (line(SCREENING, verdict="fail"), "again, as in line 1; remove one of the two lines"),
    ],
)
def test_fault_in_a_screening_file_names_its_line(bad: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_screenings(line(SCREENING) + "\n" + bad, name="mine.screening.jsonl")
    assert words in str(caught.value)


def test_reference_page_names_every_key() -> None:
    page = REFERENCE_PAGE.read_text(encoding="utf-8")
    (item,) = parse_items(line(REGULAR), name="x")
    keys = [*json.loads(format_items([item]).splitlines()[1]), "role", "text", *SCREENING]
    assert [key for key in keys if f"| `{key}` |" not in page] == []


def test_examples_on_the_reference_page_are_valid() -> None:
    page = REFERENCE_PAGE.read_text(encoding="utf-8")
    item_line, screening_line = re.findall(r"```json\n(.*?)\n```", page, re.DOTALL)
    (item,) = parse_items(item_line, name="item-files.md")
    (screening,) = parse_screenings(screening_line, name="item-files.md")
    assert format_items([item]).strip().endswith(f"\n{item_line}")
    assert screening.item_id == item.id
