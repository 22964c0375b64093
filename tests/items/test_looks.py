"""What a file of dialogues looks like: what is proposed, and what never is."""

import pytest

from hearteval.errors import SettingsError
from hearteval.items.dialogues import DialogueNames, parse_bytes
from hearteval.items.dialogues.looks import (
    find_marks,
    part_turns,
    seem_columns,
    seem_sides,
    seems_encoded,
    seems_id,
)

GERMAN = "Grüße aus Köln, süß wie „Äpfel“"


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_the_encoding_of_western_spreadsheets_is_seen(encoding: str) -> None:
    assert seems_encoded(GERMAN.encode(encoding)) == encoding
    assert seems_encoded("Grüße aus Köln, süß wie Äpfel".encode("cp850")) == "cp850"


def test_what_is_no_text_seems_to_have_no_encoding() -> None:
    assert seems_encoded(b"\x81\x00\x8d") is None


def refusal(name: str, content: bytes, names: DialogueNames | None = None) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        parse_bytes([(name, content)], name=name, names=names)
    return caught.value


def proposed(name: str, text: str) -> tuple[str, ...]:
    (remedy,) = refusal(name, text.encode()).remedies
    return tuple(remedy.arguments["said"])


def test_a_spreadsheet_is_told_from_a_text() -> None:
    error = refusal("mine.csv", b"PK\x03\x04\xff\x81")
    assert "Save it as CSV or plain text" in str(error)
    assert not error.remedies


@pytest.mark.parametrize(
    ("texts", "marks"),
    [
        (["K: ja B: nein K: so", "K: na B: gut"], ("K", "B")),
        (["K: ja\nB: nein", "K: na\nB: gut"], ("K", "B")),
        (["ja, so: nein", "K: na B: gut"], ()),
        (["K: ja", "K: nein"], ()),
        (["Er sagt: K: ja B: nein"], ()),
        ([], ()),
    ],
)
def test_a_transcript_begins_with_a_mark_and_has_two(
    texts: list[str], marks: tuple[str, ...]
) -> None:
    assert find_marks(texts) == marks


def test_a_transcript_is_parted_at_marks_and_not_within_its_lines() -> None:
    assert part_turns("K: ich: so B: ja", ["K", "B"]) == ["K: ich: so", "B: ja"]
    assert part_turns("K: er sagt B: nie\nB: ja", ["K", "B"]) == ["K: er sagt B: nie", "B: ja"]


def test_columns_are_told_by_what_they_hold() -> None:
    columns = {
        "a": ["1", "2", "1", "2"],
        "b": ["x", "x", "y", "y"],
        "c": ["so lange Worte", "auch hier", "und dort", "nie"],
        "d": ["K", "B", "K", "B"],
        "thema": ["t", "t", "t", "u"],
    }
    assert seem_columns(columns, ("dialogue", "role", "text")) == {
        "role": "d",
        "text": "c",
        "dialogue": "b",
    }
    assert seem_columns({"a": ["1", "2", "1"]}, ("dialogue", "role")) == {}
    assert seems_id({"thema": ["t", "u"], "text": ["a b", "c"], "nr": ["f1", "f2"]}) == "nr"


@pytest.mark.parametrize(
    ("speakers", "known", "sides"),
    [
        ([["K", "B"], ["K", "B"]], (), {"K": "seeker", "B": "supporter"}),
        ([["T", "C"], ["T", "C"]], (), {"C": "seeker", "T": "supporter"}),
        ([["Ann", "Me"], ["Ann", "Me"]], (), {"Ann": "seeker", "Me": "supporter"}),
        ([["Ann"], ["Ann"]], ("supporter",), {"Ann": "seeker"}),
        ([["Ann"], ["Ann"]], ("seeker", "supporter"), {}),
        ([["a"], ["b"], ["c"]], (), {}),
    ],
)
def test_sides_are_told_by_marks_and_else_by_who_begins(
    speakers: list[list[str]], known: tuple[str, ...], sides: dict[str, str]
) -> None:
    assert seem_sides(speakers, known) == sides  # type: ignore[arg-type]


def test_a_column_that_counts_turns_is_proposed_where_rows_stand_otherwise() -> None:
    text = "Fall,Nr,Wer,text\n1,2,B,b\n1,1,K,a\n1,3,K,c\n2,1,K,d\n"
    assert "turn_column=Nr" in proposed("mine.csv", text)
    assert "turn_column=Nr" not in proposed("mine.csv", text.replace("1,3,K", "1,7,K"))
    names = DialogueNames(dialogue="Fall", role="Wer", turn="Nr", seeker=("K",), supporter=("B",))
    first, _ = parse_bytes([("mine.csv", text.encode())], name="mine.csv", names=names).items
    assert [turn.text for turn in first.context] == ["a", "b", "c"]
    words = str(refusal("mine.csv", text.replace("1,3,K", "1,x,K").encode(), names))
    assert "line 4: no whole number in 'Nr', named as turn_column" in words


def test_a_topic_is_pointed_out_where_nothing_else_is_asked() -> None:
    text = "dialogue,role,text,Thema\n1,user,hallo,Trauer\n"
    read = parse_bytes([("mine.csv", text.encode())], name="mine.csv")
    assert read.items[0].problem == "not stated"
    assert 'not used: Thema; problem_column = "Thema"?' in read.notes


def test_lines_of_two_unknown_speakers_with_blank_lines_are_parted_turns() -> None:
    words = str(refusal("mine.txt", b"K: a\n\nB: b\n\nK: c\n"))
    assert "a blank line after every turn" in words
    assert 'seeker = ["K"]\n  supporter = ["B"]' in words


def test_an_item_with_a_misspelt_context_is_no_dialogue() -> None:
    text = b'{"source": "own", "subset": "regular", "contxt": [{"role": "seeker", "text": "a"}]}'
    assert "expected only the keys" in str(refusal("mine.jsonl", text))


@pytest.mark.parametrize("cell", ["", "K: a\n---\nB: b\nK: c"])
def test_a_cell_that_is_not_one_dialogue_is_refused(cell: str) -> None:
    names = DialogueNames(turns="Text", seeker=("K",), supporter=("B",))
    table = f'id,Text\n1,K: so B: ja K: gut\n2,"{cell}"\n'
    assert "line 3: " in str(refusal("mine.csv", table.encode(), names))


def test_two_replies_for_one_reference_are_refused() -> None:
    names = DialogueNames(last_reply="reference")
    text = b"Seeker: a\nHelper: b\nReference: c\n"
    assert "two replies for one reference" in str(refusal("mine.txt", text, names))


def test_a_column_of_references_is_read_where_it_is_named() -> None:
    names = DialogueNames(labels=(("reference", "Antwort"),))
    text = "dialogue,role,text,Antwort\n1,user,hallo,Ja?\n"
    (item,) = parse_bytes([("mine.csv", text.encode())], name="mine.csv", names=names).items
    assert item.reference == "Ja?"


def test_short_turns_of_a_small_table_are_no_speakers() -> None:
    assert proposed("mine.csv", "Fall,Wer,Was\n1,K,hallo\n1,B,ja?\n1,K,nein\n")[:3] == (
        "dialogue_column=Fall",
        "role_column=Wer",
        "text_column=Was",
    )


def test_neither_a_running_number_nor_a_topic_names_the_dialogue() -> None:
    columns = {"n": ["1", "2", "3", "4"], "thema": ["s", "t", "u", "u"], "b": ["x", "x", "y", "y"]}
    assert seem_columns(columns, ("dialogue",)) == {"dialogue": "b"}


def test_an_id_that_is_well_known_is_not_asked_for() -> None:
    text = '{"id": "a", "fall": "f", "log": ["Seeker: so"]}'
    assert proposed("mine.jsonl", text) == ("turns_key=log",)


def test_a_key_that_no_object_has_is_refused_where_it_is_named() -> None:
    names = DialogueNames(labels=(("problem", "Tema"),))
    text = b'{"turns": ["Seeker: so"], "Thema": "x"}'
    words = str(refusal("mine.jsonl", text, names))
    assert "no entry has the key 'Tema', named as problem_column" in words


def test_what_holds_for_all_dialogues_is_stated_once_and_each_may_say_otherwise() -> None:
    names = DialogueNames(stated=(("language", "de"), ("consent_basis", "Both sides by me.")))
    text = b"Seeker: so\n\nlanguage: nl\nSeeker: zo\n"
    read = parse_bytes([("mine.txt", text)], name="mine.txt", names=names)
    assert [(i.language, i.consent_basis) for i in read.items] == [
        ("de", "Both sides by me."),
        ("nl", "Both sides by me."),
    ]
    assert "not stated: licence, emotion, problem" in read.notes
