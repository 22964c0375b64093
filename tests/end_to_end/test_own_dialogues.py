"""Somebody's own dialogues, in four shapes, to a report: one refusal, and nothing edited."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from heart_command import Done, Heart
from own_dialogues import DIALOGUES, SHAPES, as_cells, as_folder, as_objects, as_table

from hearteval.config import load_study
from hearteval.domain import Item
from hearteval.items.dialogues import DialogueNames
from hearteval.items.run import read_item_file

Shape = Callable[[Path], Path]


def proposed(refusal: Done) -> list[str]:
    """Return the arguments of the command that a refusal ends with."""
    assert refusal.code == 2
    *_, heart, command = refusal.err.splitlines()
    assert heart == "or run"
    return shlex.split(command)[1:]


@pytest.mark.parametrize("shape", SHAPES)
def test_own_dialogues_come_to_a_report_in_three_commands_and_one_refusal(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: Shape
) -> None:
    monkeypatch.chdir(tmp_path)
    file = shape(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    refused = heart("init", "mine", "--items", file.name)
    made = heart(*proposed(refused))
    done = heart("run", "mine", "--json")

    assert (made.code, done.code) == (0, 0)
    assert done.json["n_items"] == len(DIALOGUES) == 12
    assert Path("mine/mine.report.html").exists()
    assert {path: path.read_bytes() for path in before} == before


def items_of(heart: Heart, file: Path) -> tuple[Item, ...]:
    words = proposed(heart("init", file.parent / f"of-{file.stem}", "--items", file))
    (items,) = load_study(Path(heart(*words, "--json").json["path"])).items
    return read_item_file(file, items.names).items


def test_the_four_shapes_hold_the_same_items(heart: Heart, tmp_path: Path) -> None:
    found = [items_of(heart, shape(tmp_path)) for shape in SHAPES]

    texts = [(tuple(t.text for t in i.context), i.reference) for i in found[0]]
    assert texts == [(said[:-1], said[-1]) for _, said in DIALOGUES]
    for items in found[1:]:
        assert [(i.context, i.reference) for i in items] == [
            (i.context, i.reference) for i in found[0]
        ]
    table, cells, objects, folder = ([(i.dialogue_id, i.problem) for i in each] for each in found)
    assert table == cells == objects
    assert table[0] == ("F01", "Arbeit")
    assert {problem for _, problem in folder} == {"not stated"}


def test_the_first_refusal_says_everything_in_lines_to_paste(heart: Heart, tmp_path: Path) -> None:
    refused = heart("items", "check", as_table(tmp_path))

    lines = refused.err.splitlines()
    assert lines[0].endswith("turns.csv: 5 faults")
    assert "cp1252 its letters besides a to z are ß ä ö ü" in lines[1]
    assert "the dialogue, the role of a turn, among: Fall, Nr, Wer, Text, Thema" in lines[2]
    assert "'K' is no known role (25 times, first in 12 of 12 dialogues)" in lines[3]
    assert "'B' is no known role (25 times, first in 0 of 12 dialogues)" in lines[4]
    assert lines[5].startswith("  lines 5, 9, 13 and 9 more: the dialogue ends with a supporter")
    assert lines[7:15] == [
        '  encoding = "cp1252"',
        '  dialogue_column = "Fall"',
        '  turn_column = "Nr"',
        '  role_column = "Wer"',
        '  problem_column = "Thema"',
        '  seeker = ["K"]',
        '  supporter = ["B"]',
        '  last_reply = "reference"',
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_lines_of_a_refused_run_can_be_pasted_into_the_study_file(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: Shape
) -> None:
    monkeypatch.chdir(tmp_path)
    file = shape(tmp_path)
    study = f'[study]\nname = "s"\nseed = 1\n[[items]]\nsource = "{file.name}"\n'
    rest = (
        '[[system]]\npreset = "generic"\n[[system]]\npreset = "advice"\n'
        '[judging]\njudges = ["cue"]\n'
    )
    Path("s.toml").write_text(study + rest, encoding="utf-8")
    refused = heart("run", "s.toml")
    lines = [line for line in refused.err.splitlines() if " = " in line and ":" not in line]
    Path("s.toml").write_text("\n".join((study, *lines, rest)), encoding="utf-8")

    done = heart("run", "s.toml", "--json")

    assert refused.code == 2
    assert done.json["n_items"] == 12


def test_who_seeks_support_is_proposed_and_never_taken(heart: Heart, tmp_path: Path) -> None:
    file = as_objects(tmp_path)
    swap = {"seeker=K": "seeker=B", "supporter=B": "supporter=K"}
    words = [
        swap.get(word, word) for word in proposed(heart("init", tmp_path / "a", "--items", file))
    ]
    swapped = heart(*words, "--json")
    (items,) = load_study(Path(swapped.json["path"])).items

    assert items.names is not None
    assert (items.names.seeker, items.names.supporter) == (("B",), ("K",))
    assert read_item_file(file, items.names).items[0].context[0].role == "supporter"


def reading(**more: object) -> DialogueNames:
    said = {"seeker": ("K",), "supporter": ("B",), "encoding": "cp1252", **more}
    return DialogueNames(**said)  # type: ignore[arg-type]


def test_a_last_reply_is_kept_dropped_or_refused(heart: Heart, tmp_path: Path) -> None:
    folder = as_folder(tmp_path)
    kept = read_item_file(folder, reading(last_reply="reference"))
    dropped = read_item_file(folder, reading(last_reply="drop"))
    options = ["encoding=cp1252", "seeker=K", "supporter=B", "last_reply=refuse"]
    refused = heart("items", "check", folder, *(w for o in options for w in ("--set", o)))

    assert {item.id for item in kept.items} == {item.id for item in dropped.items}
    assert {item.reference for item in dropped.items} == {None}
    assert "last turn of the supporter, as the reference reply: 12" in kept.notes
    assert "left out: last turns of the supporter (12)" in dropped.notes
    assert refused.code == 2
    assert "F01.txt line 7, F02.txt line 7, F03.txt line 7 and 9 more" in refused.err
    assert "these lines belong" not in refused.err


WRONG = {
    "a misspelt column": ("role_column=Wehr", "no column named 'Wehr' for the role of a turn"),
    "a misspelt label": ("problem_column=Tema", "no column named 'Tema' for the problem"),
    "a key that is none": ("colour=red", "expected KEY=VALUE once, the key one of encoding"),
    "a value that is none": ("last_reply=keep", "--set: Input should be 'reference', 'drop' or"),
    "no value": ("encoding=", "expected KEY=VALUE once"),
    "no encoding": ("encoding=cp9999", "there is no encoding 'cp9999'"),
    "another encoding": ("encoding=ascii", "is not ascii text (byte 0xfc in line 2)"),
    "one for both sides": ("supporter=K", "'k' is named as seeker and as supporter"),
}


@pytest.mark.parametrize(("said", "words"), WRONG.values(), ids=WRONG.keys())
def test_what_is_said_wrongly_of_a_file_is_refused(
    heart: Heart, tmp_path: Path, said: str, words: str
) -> None:
    refused = heart("items", "check", as_table(tmp_path), "--set", "seeker=K", "--set", said)
    assert refused.code == 2
    assert words in refused.err


def test_a_transcript_without_a_mark_is_a_fault_of_its_row(heart: Heart, tmp_path: Path) -> None:
    file = as_cells(tmp_path)
    words = proposed(heart("items", "check", file))
    file.write_bytes(file.read_bytes() + b"F13;Ruhe;nobody is marked here\r\n")
    refused = heart(*words)
    assert refused.code == 2
    assert "line 14: a turn begins with who speaks" in refused.err


def test_a_file_of_the_folder_in_utf_8_is_read_as_that(tmp_path: Path) -> None:
    folder = as_folder(tmp_path)
    first = folder / "F01.txt"
    before = read_item_file(folder, reading(last_reply="drop")).items
    first.write_text(first.read_text(encoding="cp1252"), encoding="utf-8")
    assert read_item_file(folder, reading(last_reply="drop")).items == before


def test_a_folder_without_texts_is_refused(heart: Heart, tmp_path: Path) -> None:
    done = heart("items", "check", tmp_path)
    assert done.code == 2
    assert "holds no .txt or .md file" in done.err


def test_a_list_of_turns_that_is_missing_later_is_a_fault(heart: Heart, tmp_path: Path) -> None:
    file = as_objects(tmp_path)
    words = proposed(heart("items", "check", file))
    text = file.read_text(encoding="utf-8") + json.dumps({"fall": "F13", "logs": []}) + "\n"
    file.write_text(text, encoding="utf-8")
    refused = heart(*words)
    assert refused.code == 2
    assert "line 13: expected an object with one list of log" in refused.err


def test_licence_and_consent_of_a_table_are_said_in_the_command(
    heart: Heart, tmp_path: Path
) -> None:
    file = as_table(tmp_path)
    words = proposed(heart("init", tmp_path / "mine", "--items", file))
    stated = ("language=de", "licence=CC0-1.0", "consent=Both sides by a language model.")
    made = heart(*words, *(word for each in stated for word in ("--set", each)), "--json")
    (items,) = load_study(Path(made.json["path"])).items

    (first, *_) = read_item_file(file, items.names).items
    assert (first.language, first.licence) == ("de", "CC0-1.0")
    assert first.consent_basis == "Both sides by a language model."
