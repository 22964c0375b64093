import json
from typing import Any

import pytest

from hearteval.errors import SettingsError
from hearteval.items.esconv import Dialogue, corpus_files, parse_dialogues

LABELS = {"emotion_type": "anxiety", "problem_type": "job crisis", "situation": "A  new\nboss."}


def split_entry(*said: tuple[str, str], **labels: str) -> str:
    dialog = [{"speaker": speaker, "text": text} for speaker, text in said]
    return json.dumps({**LABELS, **labels, "dialog": dialog})


def array_entry(*said: tuple[str, str]) -> dict[str, Any]:
    dialog = [{"speaker": who, "content": text, "annotation": {}} for who, text in said]
    return {**LABELS, "survey_score": {}, "dialog": dialog}


def turns_of(dialogue: Dialogue) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in dialogue.turns]


def test_jsonl_shape_is_read() -> None:
    (dialogue,) = parse_dialogues(
        split_entry(("usr", "Hello there"), ("sys", "Hi")) + "\n", name="train.jsonl"
    )
    assert turns_of(dialogue) == [("seeker", "Hello there"), ("supporter", "Hi")]
    assert (dialogue.corpus, dialogue.dialogue_id) == ("esconv", "train-0000")
    assert (dialogue.emotion, dialogue.problem) == ("anxiety", "job crisis")
    assert dialogue.situation == "A new boss."


@pytest.mark.parametrize(
    ("seeker", "supporter"), [("seeker", "supporter"), ("speaker", "listener")]
)
def test_array_shape_is_read(seeker: str, supporter: str) -> None:
    text = json.dumps([array_entry((seeker, "Hello there\n"), (supporter, "Hi"))])
    (dialogue,) = parse_dialogues(text, name="ESConv.json")
    assert turns_of(dialogue) == [("seeker", "Hello there"), ("supporter", "Hi")]
    assert dialogue.dialogue_id == "ESConv-0000"


def test_both_shapes_give_the_same_turns() -> None:
    jsonl = split_entry(("usr", "one"), ("usr", "two"), ("sys", "three"))
    array = json.dumps([array_entry(("seeker", "one"), ("seeker", "two"), ("supporter", "three"))])
    assert turns_of(parse_dialogues(jsonl, name="a.jsonl")[0]) == turns_of(
        parse_dialogues(array, name="a.json")[0]
    )


def test_neighbours_of_one_speaker_are_merged() -> None:
    text = split_entry(("usr", "one"), ("usr", "two"), ("sys", "three"), ("usr", "four"))
    (dialogue,) = parse_dialogues(text, name="a.jsonl")
    assert turns_of(dialogue) == [("seeker", "one two"), ("supporter", "three"), ("seeker", "four")]


def test_empty_utterance_is_dropped_before_merging() -> None:
    text = split_entry(("usr", "one"), ("sys", "  \n"), ("usr", "two"))
    (dialogue,) = parse_dialogues(text, name="a.jsonl")
    assert turns_of(dialogue) == [("seeker", "one two")]


def test_white_space_and_quotes_are_normalised() -> None:
    text = split_entry(("usr", " I can\u2019t \u00a0 say \u201cno\u201d\t"))
    (dialogue,) = parse_dialogues(text, name="a.jsonl")
    assert turns_of(dialogue) == [("seeker", 'I can\'t say "no"')]


def test_line_separator_inside_a_text_does_not_end_the_line() -> None:
    entry = {**LABELS, "dialog": [{"speaker": "usr", "text": "one\u2028two"}]}
    (dialogue,) = parse_dialogues(json.dumps(entry, ensure_ascii=False), name="a.jsonl")
    assert turns_of(dialogue) == [("seeker", "one two")]


@pytest.mark.parametrize("label", ["Issues with Parents", "conflict with parents"])
def test_two_labels_for_conflict_with_parents_become_one(label: str) -> None:
    (dialogue,) = parse_dialogues(split_entry(("usr", "hm"), problem_type=label), name="a.jsonl")
    assert dialogue.problem == "conflict with parents"


def test_dialogues_are_numbered_in_order() -> None:
    text = "\n".join(split_entry(("usr", word)) for word in ("one", "two", "three"))
    ids = [dialogue.dialogue_id for dialogue in parse_dialogues(text, name="valid.jsonl")]
    assert ids == ["valid-0000", "valid-0001", "valid-0002"]


def test_byte_order_mark_is_ignored() -> None:
    assert len(parse_dialogues("\ufeff" + split_entry(("usr", "hm")), name="a.jsonl")) == 1


def error_message(text: str, name: str) -> str:
    with pytest.raises(SettingsError) as caught:
        parse_dialogues(text, name=name)
    assert "\n" not in str(caught.value)
    assert caught.value.ids == (name,)
    return str(caught.value)


def test_cut_jsonl_names_file_and_line() -> None:
    whole = split_entry(("usr", "hm"))
    assert error_message(f"{whole}\n{whole[:30]}", "train.jsonl").startswith("train.jsonl, line 2:")


def test_cut_array_names_file_and_line() -> None:
    whole = json.dumps([array_entry(("seeker", "hm")), array_entry(("seeker", "ha"))], indent=1)
    n_lines = 15
    cut = "\n".join(whole.split("\n")[:n_lines])
    assert error_message(cut, "ESConv.json").startswith(f"ESConv.json, line {n_lines}:")


def test_wrong_shape_names_line_and_field() -> None:
    message = error_message(f"{split_entry(('usr', 'hm'))}\n{{}}", "train.jsonl")
    assert message.startswith("train.jsonl, line 2: emotion_type:")


def test_wrong_shape_in_array_names_entry() -> None:
    message = error_message(json.dumps([array_entry(("seeker", "hm")), 7]), "ESConv.json")
    assert message.startswith("ESConv.json, entry 2:")


def test_unknown_speaker_is_named() -> None:
    message = error_message(split_entry(("usr", "hm"), ("bot", "ha")), "train.jsonl")
    assert "line 1: dialog.1.speaker" in message
    assert "'bot'" in message


def test_error_does_not_quote_the_dialogue() -> None:
    text = '{"secret words": 1}\n'
    assert "secret" not in error_message(text, "train.jsonl")


@pytest.mark.parametrize("text", ["", " \n\n", "[]"])
def test_file_without_dialogues_is_refused(text: str) -> None:
    assert "holds none" in error_message(text, "train.jsonl")


def test_file_that_is_no_json_is_refused() -> None:
    assert "line 1" in error_message("emotion,problem\nanxiety,job\n", "table.csv")


def test_splits_make_the_corpus() -> None:
    names = ["LICENSE", "failed.json", "test.jsonl", "valid.jsonl", "train.jsonl"]
    assert corpus_files(names) == ("train.jsonl", "valid.jsonl", "test.jsonl")


def test_array_makes_the_corpus() -> None:
    assert corpus_files(["failed.json", "ESConv.json", "train.jsonl"]) == ("ESConv.json",)


def test_missing_files_are_named() -> None:
    with pytest.raises(SettingsError, match=r"valid\.jsonl, test\.jsonl") as caught:
        corpus_files(["train.jsonl", "failed.json"])
    assert caught.value.ids == ("valid.jsonl", "test.jsonl")
