"""Dialogues as people and programs write them: what is read, refused and not stated."""

import json
from itertools import permutations

import pytest

from hearteval.domain import Item
from hearteval.errors import SettingsError
from hearteval.items.dialogues import DialogueNames, parse_any
from hearteval.items.files import format_items, parse_items

TEXT = """# A comment.
licence: CC0-1.0
consent: Written by me, both sides.
language: de

id: desk
situation: My desk was moved.
Client: they moved my desk
and nobody will say why
Therapist: Whose idea was that?
Client: nobody knows.
Reference: What did you do then?

User: hello
"""


def read(text: str, name: str = "mine.txt", names: DialogueNames | None = None) -> tuple[Item, ...]:
    return parse_any(text, name=name, names=names).items


def notes(text: str, name: str = "mine.txt") -> str:
    return "\n".join(parse_any(text, name=name).notes)


def faults(text: str, name: str = "mine.txt", names: DialogueNames | None = None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        parse_any(text, name=name, names=names)
    return list(caught.value.faults) or [str(caught.value)]


def said(item: Item) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in item.context]


def test_a_text_gives_an_item_for_each_dialogue() -> None:
    desk, hello = read(TEXT)

    assert said(desk) == [
        ("seeker", "they moved my desk\nand nobody will say why"),
        ("supporter", "Whose idea was that?"),
        ("seeker", "nobody knows."),
    ]
    assert (desk.dialogue_id, desk.situation) == ("desk", "My desk was moved.")
    assert desk.reference == "What did you do then?"
    assert (desk.subset, desk.turn_index, desk.source) == ("regular", 2, "own")
    assert said(hello) == [("seeker", "hello")]
    assert hello.reference is None
    assert [(i.licence, i.language) for i in (desk, hello)] == [("CC0-1.0", "de")] * 2
    assert desk.consent_basis == "Written by me, both sides."


def test_what_nobody_has_said_is_not_stated_and_claims_no_consent() -> None:
    (item,) = read("Seeker: hello")

    assert (item.licence, item.emotion, item.problem) == ("not stated",) * 3
    assert item.consent_basis.startswith("Not stated")
    assert (item.language, item.situation) == ("und", "")
    assert (item.culture, item.population) == (None, None)
    assert "not stated: licence, consent, language, emotion, problem" in notes("Seeker: hello")


def test_an_item_is_the_same_wherever_its_dialogue_stands() -> None:
    blocks = ["Seeker: one", "Seeker: two\nSupporter: and?\nSeeker: three", "Client: four"]
    found = {frozenset(i.id for i in read("\n\n".join(order))) for order in permutations(blocks)}
    assert len(found) == 1
    assert read("Seeker: one", name="other.txt")[0].id in next(iter(found))


def test_items_survive_conversion_to_an_item_file() -> None:
    items = read(TEXT)
    assert parse_items(format_items(items), name="x") == items


def test_blank_lines_stand_anywhere_where_rules_part_the_dialogues() -> None:
    text = "Seeker: one\n\nSupporter: two\n\nthree\n\nSeeker: four\n\n---\n\nSeeker: five\n---\n"
    first, second = read(text)
    assert said(first) == [("seeker", "one"), ("supporter", "two\n\nthree"), ("seeker", "four")]
    assert said(second) == [("seeker", "five")]


def test_blank_lines_after_every_turn_are_one_fault_that_says_how_to_part_dialogues() -> None:
    (fault,) = faults("Seeker: one\n\nSupporter: two\n\nSeeker: three\n")
    assert "put --- between the dialogues" in fault


@pytest.mark.parametrize(
    "line",
    [
        *("**Seeker:** hello", "SEEKER: hello", "Help-seeker : hello", "[10:32] Seeker: hello"),
        *("Seeker (10:32): hello", "10:32 Seeker: hello", "- Seeker: hello", "Seeker:hello"),
        *("Patient: hello", "Human:\n  hello", "Seeker\N{FULLWIDTH COLON}hello"),
    ],
)
def test_speakers_are_known_as_chats_write_them(line: str) -> None:
    assert said(read(line)[0]) == [("seeker", "hello")]


def test_neighbouring_turns_of_one_side_are_one_turn() -> None:
    text = "Seeker: one\nSeeker: two\nHelper: so?\nSeeker: three"
    assert said(read(text)[0])[0] == ("seeker", "one\ntwo")
    assert "joined to the turn before, of the same side: 1" in notes(text)


def test_a_colon_in_a_sentence_or_an_indented_line_is_no_speaker() -> None:
    text = "Seeker: hi\nso this is it: over\n  Monday: bad\nhttps://example.org"
    assert said(read(text)[0])[0][1] == (
        "hi\nso this is it: over\nMonday: bad\nhttps://example.org"
    )


FAULTS = {
    "mine.txt": [
        ("Seeker: a\nBob: b\nSeeker: c", "line 2: 'Bob' is no known role"),
        ("Seeker: a\nSuporter: b\nSeeker: c", "(did you mean 'supporter'?)"),
        ("Seeker: a\nHelper: b", "line 2: the dialogue ends with a supporter"),
        ("Seeker:\nHelper: b\nSeeker: c", "line 1: an empty turn of the seeker"),
        ("Seeker: \u200b\ufeff\nHelper: b\nSeeker: c", "line 1: an empty turn"),
        ("hello there", 'line 1: a turn begins with who speaks, e.g. "Seeker: …"'),
        ("Human: a\nClient: b", "'Human' and 'Client' in one dialogue"),
        ("Seeker: a\nReference: b\nSeeker: c", "is not the last turn"),
        ("Reference: b", "a dialogue without turns"),
        ("Seeker: a\n\nSeeker: b\n\nSeeker: a", "line 5: the same dialogue again"),
        ("id: x\nSeeker: a\n\nid: x\nSeeker: b", "line 4: the dialogue 'x' again"),
        ("Seeker: a\n\nemotion: fear\n\nSeeker: b", "line 3: labels without turns"),
        ("situation: x\n\nSeeker: b", "line 1: labels without turns"),
        ("emotion: a\nemotion: b\nSeeker: b", "line 2: 'emotion' is said twice"),
        ("language: Klingon!!\nSeeker: b", "no tag such as en"),
        (" \n", "is empty"),
        ("# nothing\n", "holds no dialogue"),
    ],
    "x.csv": [
        ("id,role,text\n1,user,a\n", "no column for the dialogue of a turn, among: id"),
        ("dialogue,role,text,message\n", "several columns for the text of a turn"),
        ("dialogue,role,text\n1,user\n", "2 cells where the header has 3"),
        ("dialogue,role,text\n,user,a\n", "no 'dialogue': which dialogue is it of?"),
        ("dialogue,role,text,turn\n1,user,a,1\n1,user,b,1\n", "line 3: the turn 1 of '1' again"),
        (
            "dialogue,role,text,licence\n1,user,a,x\n1,user,b,y\n1,user,c,z\n",
            "the rows of the dialogue that begins here differ in licence",
        ),
        ('dialogue,role,text\n1,user,"a\n', "line 2: unexpected end of data"),
        ("dialogue,role,text\n", "holds no dialogue"),
        (
            'dialogue,role,text\n1,user,"a\nb"\n1,bot,c\n',
            "line 4: the dialogue ends with a supporter turn",
        ),
    ],
    "x.json": [('[{"turns": ["Seeker: a"]}, {"turns": []}]', "entry 2: a dialogue without turns")],
    "x.jsonl": [
        ('{"turns": []}', "line 1: a dialogue without turns"),
        ('{"turns": ["Seeker: a"]}\n{"turn": []}', "line 2: expected an object with one"),
        ('{"turns": ["Seeker: a"]}\n{"turns": [', "line 2: is no JSON"),
        ('{"turns": ["Seeker: a"]}\n{"a": 1, "a": 2}', "line 2: is no JSON (one key"),
        ('{"turns": ["hello"]}', "line 1: turn 1 is neither"),
        ('{"turns": ["Seeker: a"], "reference": 3}', "in 'reference'"),
        ('{"turns": ["Seeker: a"], "emotion": []}', "in 'emotion'"),
        ('{"messages": [{"role": "tool", "content": "a"}]}', "'tool' is no known role"),
    ],
}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [(name, text, words) for name, cases in FAULTS.items() for text, words in cases],
)
def test_a_fault_says_where_it_is(name: str, text: str, words: str) -> None:
    (fault,) = faults(text, name)
    assert words in fault


def test_all_faults_of_a_text_stand_in_one_list_in_its_order() -> None:
    found = faults("Bob: a\n\nSeeker: b\nHelper: c\n\nSeeker: ok\n\nBob: d")
    assert [fault.split(":")[0] for fault in found] == ["line 1", "line 4"]
    assert "'Bob' is no known role (2 times)" in found[0]


def test_a_study_names_its_own_roles() -> None:
    text = "Human: a\nKlientin: b\nHuman: c\nKlientin: d"
    names = DialogueNames(seeker=("Klientin",), supporter=("human",))
    assert [role for role, _ in said(read(text, names=names)[0])] == ["supporter", "seeker"] * 2
    both = DialogueNames(seeker=("x",), supporter=("X",))
    assert "'x' is named as seeker and as supporter" in faults("x: a", names=both)[0]


CSV = '''dialogue_id,role,text,licence
a,user,"hello, ""you""",CC0-1.0
b,client,"two
lines",
a,assistant,hm,
a,user,bye,CC0-1.0
'''


def test_a_table_gives_an_item_for_each_dialogue() -> None:
    one, two = read(CSV, "mine.csv")
    assert said(one) == [("seeker", 'hello, "you"'), ("supporter", "hm"), ("seeker", "bye")]
    assert said(two) == [("seeker", "two\nlines")]
    assert [(i.dialogue_id, i.licence) for i in (one, two)] == [
        ("a", "CC0-1.0"),
        ("b", "not stated"),
    ]


@pytest.mark.parametrize(("separator", "name"), [(";", "x.csv"), ("\t", "x.tsv"), (",", "x.csv")])
def test_a_table_may_be_parted_as_spreadsheets_do(separator: str, name: str) -> None:
    text = "Conversation ID,Speaker,Message,when\n1,Client,hello,3\n".replace(",", separator)
    assert said(read(text, name)[0]) == [("seeker", "hello")]
    assert "not used: when" in notes(text, name)


def test_numbered_turns_are_put_in_order() -> None:
    text = "dialogue,turn,role,text\n1,2,user,c\n1,0,user,a\n1,1,bot,b\n"
    assert [text for _, text in said(read(text, "x.csv")[0])] == ["a", "b", "c"]


def test_columns_may_have_any_name_that_is_given() -> None:
    names = DialogueNames(dialogue="Fall", role="wer", text="Satz", seeker=("K",))
    assert said(read("Fall,wer,Satz\n1,K,hallo\n", "x.csv", names)[0]) == [("seeker", "hallo")]


CHAT = {
    "messages": [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "yo"},
        {"role": "user", "content": [{"type": "text", "text": "sad"}]},
    ]
}
SAID = [("seeker", "hi"), ("supporter", "yo"), ("seeker", "sad")]


@pytest.mark.parametrize(
    "value",
    [
        CHAT,
        {"turns": ["Seeker: hi", "Supporter: yo", "Seeker: sad"]},
        {
            "turns": [
                {"role": "seeker", "text": "hi"},
                {"role": "supporter", "text": "yo"},
                {"role": "seeker", "text": "sad"},
            ]
        },
        {
            "conversations": [
                {"from": "human", "value": "hi"},
                {"from": "gpt", "value": "yo"},
                {"from": "human", "value": "sad"},
            ]
        },
    ],
)
def test_json_is_read_as_chat_programs_write_it(value: object) -> None:
    assert said(read(json.dumps(value) + "\n", "x.jsonl")[0]) == SAID
    assert said(read(json.dumps([value]), "x.json")[0]) == SAID
    assert said(read(json.dumps(value, indent=1), "x.json")[0]) == SAID


def test_json_names_what_it_leaves_out_and_takes_labels() -> None:
    text = json.dumps({**CHAT, "id": 7, "model": "x", "reference": "Oh.", "emotion": "fear"})
    (item,) = read(text, "x.jsonl")
    assert (item.dialogue_id, item.reference, item.emotion) == ("7", "Oh.", "fear")
    assert "left out: system messages (1)" in notes(text, "x.jsonl")
    assert "not used: model" in notes(text, "x.jsonl")


def test_long_turns_and_repeated_words_are_said() -> None:
    text = f"id: a\nSeeker: {'x' * 10_001}\n\nid: b\nSeeker: {'x' * 10_001}"
    assert "over 10,000 characters: 2 turns" in notes(text)
    assert "the same words as another dialogue, under another id: 1" in notes(text)


def test_words_of_a_dialogue_stay_out_of_messages() -> None:
    text = "Seeker: private words\nHelper: private too\n\nprivate prose here"
    assert "private" not in "".join(faults(text))


def test_a_canary_before_objects_with_turns_is_no_dialogue() -> None:
    turns = {"turns": [{"role": "seeker", "text": "it is over"}]}
    text = f"{json.dumps({'canary': 'theirs'})}\n{json.dumps(turns)}\n"
    assert len(parse_any(text, name="own.jsonl").items) == 1
