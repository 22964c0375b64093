"""The frame: help, usage errors, errors as JSON, whole files."""

import errno
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from heart_command import Heart

from hearteval.cli.main import FIRST, VERBS, run_command_line
from hearteval.errors import StoreError
from hearteval.study import write_whole


def test_the_first_help_lists_ten_verbs_in_three_groups(heart: Heart) -> None:
    done = heart("--help")
    assert done.out == heart("help").out
    listed = [verb for verbs in FIRST.values() for verb in verbs]
    assert len(listed) <= 10
    assert [line for line in done.out.splitlines() if line in {f"{name}:" for name in FIRST}] == [
        f"{name}:" for name in FIRST
    ]
    assert {verb for verb in VERBS if f"\n  {verb} " in done.out} == set(listed)
    assert "heart help all" in done.out


def test_help_of_a_verb_is_its_own(heart: Heart) -> None:
    assert heart("help", "rank").out == heart("rank", "--help").out
    assert heart("help", "judges", "audit").out == heart("judges", "audit", "--help").out
    assert "there are init, plan, doctor, run" in heart("help", "xyz").err


def test_help_all_lists_every_verb(heart: Heart) -> None:
    done = heart("help", "all")
    assert done.code == 0
    for verb, words in VERBS.items():
        assert verb in done.out
        assert words in done.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(heart: Heart, verb: str) -> None:
    done = heart(verb, "--help")
    assert done.code == 0
    assert "--help" in done.out


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from hearteval.cli.main import run_command_line\n"
        "try:\n"
        "    run_command_line(['--help'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = ('numpy', 'scipy', 'sqlalchemy', 'pydantic', 'rich', 'jinja2')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "Usage: heart" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_unknown_verb_is_a_usage_error_that_lists_those_most_people_need(heart: Heart) -> None:
    done = heart("xyz")
    assert done.code == 2
    listed = ", ".join(verb for verbs in FIRST.values() for verb in verbs)
    assert f"there are {listed}, and more: `heart help all`." in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("items", "accept", "s.toml", "--topics", "cautious"), "file says it: items.topics."),
        (("run", "s.toml", "--seed", "3"), "The study file says it: study.seed."),
        (("judge", "s.toml", "--max-tokens", "9"), "system.max_tokens or judge.max_tokens"),
        (("simulate", "new", "--item-sd", "1"), "Say it with --set item_sd=VALUE."),
        (("items", "check", "f.txt", "--role-column", "R"), "--set role_column=VALUE."),
        (("rank", "v.csv", "--seeds", "3"), "No such option '--seeds'."),
    ],
)
def test_an_option_that_a_key_stands_for_is_answered_with_the_key(
    heart: Heart, words: tuple[str, ...], said: str
) -> None:
    done = heart(*words)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("word", "meant"),
    [("rnk", "rank"), ("analyse", "analyze"), ("s.toml", "run s.toml"), ("judg", "judge")],
)
def test_a_wrong_verb_is_answered_with_the_right_one(heart: Heart, word: str, meant: str) -> None:
    done = heart(word)
    assert done.code == 2
    assert f"No such command {word!r}; did you mean `heart {meant}`?" in done.err


def test_a_folder_stands_for_the_one_study_file_in_it(heart: Heart, tmp_path: Path) -> None:
    made = heart("init", tmp_path / "demo", "--json").json["path"]
    (tmp_path / "demo" / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    named = heart("run", made, "--dry-run", "--json").json
    assert heart("run", tmp_path / "demo", "--dry-run", "--json").json == named


def test_a_folder_with_two_studies_or_none_says_what_to_name(heart: Heart, tmp_path: Path) -> None:
    none = heart("run", tmp_path)
    assert none.code == 2
    assert "is a folder without a study file; make one: heart init DIR" in none.err
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text("[study]\n", encoding="utf-8")
    two = heart("run", tmp_path)
    assert two.code == 2
    assert f"several study files: {tmp_path / 'a.toml'}, {tmp_path / 'b.toml'}; name" in two.err


def test_a_missing_study_file_is_asked_for_with_those_there_are(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "Name a study file; make one: heart init DIR." in heart("run").err
    heart("init", "demo")
    done = heart("analyze", "--json")
    assert done.code == 2
    assert "Name a study file; there are demo/demo.toml." in done.json["error"]["message"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("heart ra", "plain,rank"),
        ("heart items c", "plain,check\nplain,convert"),
        ("heart run --dr", "plain,--dry-run"),
        ("heart run dem", "file,dem"),
        ("heart items check my", "file,my"),
    ],
)
def test_a_shell_is_told_what_may_come_next(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, offered: str
) -> None:
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    monkeypatch.setenv("_HEART_COMPLETE", "bash_complete")
    with pytest.raises(SystemExit) as ended:
        run_command_line([])
    assert ended.value.code == 0
    assert capsys.readouterr().out.rstrip() == offered


def test_no_arguments_show_the_help(heart: Heart) -> None:
    done = heart()
    assert done.code == 2
    assert "Usage: heart" in done.err


def test_a_faulty_study_file_is_one_line_and_exit_code_2(heart: Heart, study: Path) -> None:
    study.write_text("[study\n", encoding="utf-8")
    done = heart("run", study)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(f"heart: {study}: is not valid TOML")
    assert done.err.count("\n") == 1
    assert [path.name for path in study.parent.iterdir()] == ["tiny.toml"]


def test_an_error_with_json_is_one_object(heart: Heart, study: Path) -> None:
    study.write_text("[study\n", encoding="utf-8")
    body = heart("run", study, "--json").json
    assert body["schema"] == "heart.error/1"
    assert sorted(body["error"]) == ["ids", "kind", "message"]
    assert body["error"]["kind"] == "settings"


def test_a_store_that_cannot_be_opened_is_exit_code_1(heart: Heart, study: Path) -> None:
    text = study.read_text(encoding="utf-8").replace("seed = 5", 'seed = 5\nstore = "no/x.db"')
    study.write_text(text, encoding="utf-8")
    done = heart("run", study, "--json")
    assert done.code == 1
    assert done.json["error"]["kind"] == "store"
    assert "no/x.db" in done.json["error"]["message"]


def test_writing_into_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        write_whole(tmp_path / "absent" / "x.html", "text")


def test_a_full_disk_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "x.html"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(StoreError, match="No space left on device"):
        write_whole(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.html"]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    path.write_text("old", encoding="utf-8")
    write_whole(path, "new")
    assert path.read_text(encoding="utf-8") == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["x.html"]


def test_a_path_that_is_no_text_leaves_a_file_of_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    write_whole(path, "caf\udce9/study.toml, 模型")
    assert path.read_text(encoding="utf-8") == "caf?/study.toml, 模型"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
@pytest.mark.parametrize("style", [(), ("--json",)])
def test_a_narrow_encoding_gets_plain_characters_and_whole_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, style: tuple[str, ...]
) -> None:
    votes = tmp_path / "votes.csv"
    rows = ["模型,b,模型", "b,模型,b", "模型,b,b"] * 4
    votes.write_text("left,right,winner\n" + "\n".join(rows), encoding="utf-8")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding))
    run_command_line(["rank", str(votes), *style])
    told = written.getvalue().decode(encoding)
    if style:
        assert "模型" in {row["system"] for row in json.loads(told)["systems"]}
    else:
        assert "--o--" in told
