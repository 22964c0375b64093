"""``heart items``: building and checking."""

import json
from pathlib import Path

import pytest
from heart_command import Heart

from hearteval.items import load_starter_items
from hearteval.items.files import format_items


def test_check_counts_and_hashes_a_good_file(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(format_items(load_starter_items()), encoding="utf-8")
    done = heart("items", "check", path, "--json")
    assert done.json["schema"] == "heart.items_check/1"
    assert done.json["n_by_subset"] == {"adversarial": 30, "regular": 114}
    assert done.json["n_references"] == 114
    assert heart("items", "check", path).out.startswith(f"{path}: 144 items")


def test_check_names_file_and_line_of_an_item_that_ends_with_a_supporter_turn(
    heart: Heart, tmp_path: Path
) -> None:
    good = [json.loads(line) for line in format_items(load_starter_items()).splitlines()]
    good = good[1:]
    good[2]["context"].append({"role": "supporter", "text": "And then?"})
    del good[2]["id"]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in good), encoding="utf-8")
    done = heart("items", "check", path)
    assert done.code == 2
    assert "mine.jsonl, line 3" in done.err
    assert "seeker" in done.err
    assert done.err.count("\n") == 1


def test_check_lists_all_faults_and_gives_them_one_by_one_in_json(
    heart: Heart, tmp_path: Path
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"source": "own"}\n[1]\n', encoding="utf-8")
    done = heart("items", "check", path, "--json")
    assert done.code == 2
    assert done.err.startswith(f"heart: {path}: 2 faults\n  line 1: expected the keys")
    assert [fault[:6] for fault in done.json["error"]["faults"]] == ["line 1", "line 2"]


def test_build_writes_items_with_their_evidence(
    heart: Heart, tmp_path: Path, small_corpus: Path
) -> None:
    out = tmp_path / "picked.jsonl"
    words = ["items", "build", "--source", "esconv", "--from", small_corpus, "--out", out]
    body = heart(*words, "--regular", "12", "--seed", "3", "--json").json
    assert body["schema"] == "heart.items/1"
    assert (body["n_selected"], body["n_requested"], body["shortfall"]) == (12, 12, 0)
    assert body["funnel"][-1]["n_out"] == 12
    evidence = (tmp_path / "picked.jsonl.screening.jsonl").read_text(encoding="utf-8")
    judged = {json.loads(line)["item_id"] for line in evidence.splitlines()}
    assert len(judged) == body["funnel"][0]["n_in"]
    checked = heart("items", "check", out, "--json").json
    assert checked["items_hash"] == body["items_hash"]
    assert checked["n_screenings"] == len(evidence.splitlines())


def test_build_replaces_other_content_only_when_forced(
    heart: Heart, tmp_path: Path, small_corpus: Path
) -> None:
    out = tmp_path / "picked.jsonl"
    words = ["items", "build", "--source", "esconv", "--from", small_corpus, "--out", out]
    assert heart(*words, "--regular", "12").code == 0
    assert heart(*words, "--regular", "12").code == 0
    before = out.read_bytes()
    refused = heart(*words, "--regular", "11")
    assert refused.code == 2
    assert "holds other content" in refused.err
    assert out.read_bytes() == before
    assert heart(*words, "--regular", "11", "--force").code == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 12


def test_a_shortfall_of_corpus_items_is_reported_and_never_filled(
    heart: Heart, tmp_path: Path, small_corpus: Path
) -> None:
    out = tmp_path / "picked.jsonl"
    done = heart(
        "items", "build", "--source", "esconv", "--from", small_corpus, "--out", out, "--json"
    )
    assert done.code == 0
    assert done.json["n_selected"] + done.json["shortfall"] == done.json["n_requested"] == 280
    assert done.json["shortfall"] > 0
    assert "items fewer than the 280 wanted" in done.err


def test_build_prints_the_funnel_as_a_table(
    heart: Heart, tmp_path: Path, small_corpus: Path
) -> None:
    out = tmp_path / "picked.jsonl"
    words = ["items", "build", "--source", "esconv", "--from", small_corpus, "--out", out]
    lines = heart(*words, "--regular", "12").out.splitlines()
    assert lines[0].split() == ["rule", "in", "out", "rejected"]
    assert lines[1].split()[1] == "833"
    assert lines[-2] == f"12 items: {out}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"emotion_type": "fear", "dial', "train.jsonl, line 1: not whole JSON"),
        ("", "train.jsonl: expected ESConv dialogues"),
    ],
)
def test_a_corpus_file_cut_in_the_middle_leaves_nothing_behind(
    heart: Heart, tmp_path: Path, content: str, message: str
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("train.jsonl", "valid.jsonl", "test.jsonl"):
        (corpus / name).write_text(content, encoding="utf-8")
    out = tmp_path / "items.jsonl"
    done = heart("items", "build", "--source", "esconv", "--from", corpus, "--out", out)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert not out.exists()


def test_a_folder_without_the_corpus_names_what_is_missing(heart: Heart, tmp_path: Path) -> None:
    done = heart("items", "build", "--source", "esconv", "--from", tmp_path)
    assert done.code == 2
    assert "train.jsonl" in done.err


def test_a_missing_folder_is_a_usage_error(heart: Heart, tmp_path: Path) -> None:
    done = heart("items", "build", "--source", "esconv", "--from", tmp_path / "absent", "--json")
    assert done.code == 2
    assert done.json["schema"] == "heart.error/1"
    assert done.json["error"]["kind"] == "usage"
    assert "absent" in done.json["error"]["message"]


DIALOGUES = """Client: they moved my desk
Therapist: Whose idea was that?
Client: nobody knows

Client: my sister has stopped calling
"""


def test_check_says_how_dialogues_were_read_and_what_they_lack(
    heart: Heart, tmp_path: Path
) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(DIALOGUES, encoding="utf-8")
    done = heart("items", "check", path)
    assert done.code == 0
    first, *notes, end = done.out.splitlines()
    assert first.startswith(f"{path}: 2 items (2 regular), 0 with a reference reply; hash ")
    assert "- read as seeker: Client (3)" in notes
    assert "- read as supporter: Therapist (1)" in notes
    assert end == f"next: heart init my-study --items {path}"
    body = heart("items", "check", path, "--json").json
    assert (body["form"], body["n_items"]) == ("text", 2)
    assert "not stated: licence, consent, language, emotion, problem" in body["notes"]


def test_people_and_columns_of_a_file_may_be_named(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("Fall,wer,Satz\n1,Klientin,hallo\n", encoding="utf-8")
    named = ("dialogue_column=Fall", "role_column=wer", "text_column=Satz")
    columns = [word for each in named for word in ("--set", each)]
    refused = heart("items", "check", path, *columns)
    assert refused.code == 2
    assert "'Klientin' is no known role" in refused.err
    done = heart("items", "check", path, *columns, "--set", "seeker=Klientin", "--json")
    assert (done.code, done.json["form"]) == (0, "table")


def test_convert_keeps_the_canary_of_another_file(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    text = format_items(load_starter_items()[:1], canaries=["theirs"])
    path.write_text(text, encoding="utf-8")
    assert heart("items", "convert", path, "--out", tmp_path / "other.jsonl").code == 0
    assert (tmp_path / "other.jsonl").read_text(encoding="utf-8") == text


def test_convert_writes_the_same_items_and_replaces_only_when_forced(
    heart: Heart, tmp_path: Path
) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(DIALOGUES, encoding="utf-8")
    body = heart("items", "convert", path, "--json").json
    assert body["schema"] == "heart.items_convert/1"
    assert body["path"] == str(tmp_path / "mine.items.jsonl")
    checked = heart("items", "check", body["path"], "--json").json
    assert (checked["form"], checked["items_hash"]) == ("items", body["items_hash"])
    path.write_text(DIALOGUES + "\nClient: more\n", encoding="utf-8")
    refused = heart("items", "convert", path)
    assert refused.code == 2
    assert "holds other content" in refused.err
    assert heart("items", "convert", path, "--force").code == 0
    assert heart("items", "check", body["path"], "--json").json["n_items"] == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Seeker: ok\nSeeker: caf\u00e9".encode("latin-1"), "(byte 0xe9 in line 2); as cp1252 its"),
        ("Seeker: ok".encode("utf-16"), "--set encoding=utf-16\n"),
        ("Seeker: \u00fcber die Stra\u00dfe".encode("cp850"), '  encoding = "cp850"\n'),
        (b"Seeker: ok\0", "is no text"),
    ],
)
def test_a_file_in_another_encoding_is_refused_with_what_to_do(
    heart: Heart, tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(content)
    done = heart("items", "check", path)
    assert done.code == 2
    assert message in done.err


def test_a_byte_order_mark_and_windows_line_ends_change_no_item(
    heart: Heart, tmp_path: Path
) -> None:
    hashes = set()
    for content in (DIALOGUES.encode(), DIALOGUES.replace("\n", "\r\n").encode("utf-8-sig")):
        path = tmp_path / "mine.txt"
        path.write_bytes(content)
        hashes.add(heart("items", "check", path, "--json").json["items_hash"])
    assert len(hashes) == 1


def test_a_study_takes_its_items_from_a_text(heart: Heart, tmp_path: Path) -> None:
    blocks = "\n\n".join(f"Klientin: i lost my job, again, {n}" for n in range(12))
    (tmp_path / "mine.txt").write_text(blocks, encoding="utf-8")
    study = tmp_path / "s.toml"
    study.write_text(
        """[study]
name = "s"
seed = 3
[[items]]
source = "mine.txt"
seeker = ["Klientin"]
regular = 8
[[system]]
preset = "reflective"
[[system]]
preset = "generic"
[judging]
judges = ["cue"]
""",
        encoding="utf-8",
    )
    body = heart("run", study, "--json").json
    assert body["n_items"] == 8
    assert body["completions"]["n_added"] == 16
    assert body["consent_bases"] == [
        "Not stated who wrote the dialogues, nor why they may be used."
    ]


def test_new_makes_a_file_that_check_reads(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = heart("items", "new")
    assert done.out == (
        "my-dialogues.txt\nnext: write into it, then  heart items check my-dialogues.txt\n"
    )
    assert "heart items check my-dialogues.txt" in Path("my-dialogues.txt").read_text("utf-8")
    checked = heart("items", "check", "my-dialogues.txt", "--json").json
    assert (checked["n_items"], checked["n_references"]) == (2, 1)
    assert "not stated: licence, emotion, problem" in checked["notes"]


def test_new_replaces_only_when_forced(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("Seeker: my own words\n", encoding="utf-8")
    refused = heart("items", "new", path)
    assert refused.code == 2
    assert "is already there" in refused.err
    assert path.read_text(encoding="utf-8") == "Seeker: my own words\n"
    body = heart("items", "new", path, "--force", "--json").json
    assert (body["schema"], body["path"]) == ("heart.items_new/1", str(path))


def test_new_makes_no_table(heart: Heart, tmp_path: Path) -> None:
    done = heart("items", "new", tmp_path / "mine.csv")
    assert done.code == 2
    assert "give it the ending .txt" in done.err
    assert not (tmp_path / "mine.csv").exists()


def test_new_in_a_folder_that_is_not_there_is_one_line(heart: Heart, tmp_path: Path) -> None:
    done = heart("items", "new", tmp_path / "absent" / "mine.txt")
    assert done.code == 1
    assert done.err.count("\n") == 1
