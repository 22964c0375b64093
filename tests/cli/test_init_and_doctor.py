"""``heart init``, ``heart doctor`` and shell completion: how a newcomer starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from heart_command import Heart

from hearteval.cli.init import PRESETS
from hearteval.config import load_study
from hearteval.items.dialogues import DialogueNames
from hearteval.store.version import VERSION


def test_init_makes_a_study_that_runs(heart: Heart, tmp_path: Path) -> None:
    done = heart("init", tmp_path / "my first study", "--json").json
    path = tmp_path / "my first study" / "my-first-study.toml"
    assert done == {
        "schema": "heart.init/1",
        "study": "my-first-study",
        "preset": "starter",
        "path": str(path),
        "notes": [],
    }
    assert load_study(path).name == "my-first-study"
    assert heart("run", path, "--dry-run").code == 0


def test_init_with_own_items_makes_a_study_that_runs(heart: Heart, tmp_path: Path) -> None:
    items = tmp_path / 'my "own".txt'
    items.write_text("\n\n".join(f"Seeker: hello {n}" for n in range(9)), encoding="utf-8")
    path = heart("init", tmp_path / "deep" / "mine", "--items", items, "--json").json["path"]
    settings = load_study(Path(path))
    assert [system.preset for system in settings.systems] == ["reflective", "generic", "advice"]
    assert "starter items" not in Path(path).read_text(encoding="utf-8")
    done = heart("run", path, "--json")
    assert done.json["n_items"] == 9
    assert done.json["completions"]["n_missing"] == 0


def test_init_keeps_systems_of_references_where_there_are_some(
    heart: Heart, tmp_path: Path
) -> None:
    items = tmp_path / "mine.txt"
    items.write_text("Seeker: hello\nReference: Hello.\n", encoding="utf-8")
    path = heart("init", tmp_path / "mine", "--items", items, "--json").json["path"]
    assert len(load_study(Path(path)).systems) == 6


def test_init_says_how_it_read_own_dialogues(heart: Heart, tmp_path: Path) -> None:
    items = tmp_path / "mine.csv"
    items.write_text("dialogue,role,text\n1,K,hello\n1,B,hi\n1,K,no\n", encoding="utf-8")
    names = ("--set", "seeker=K", "--set", "supporter=B")
    said = heart("init", tmp_path / "mine", "--items", items, *names).out
    assert f"1 item of {items}, read so:" in said
    assert "seeker: K (2)" in said
    assert said.splitlines()[-1].startswith("next: heart run ")


GERMAN = "Seeker: Ich weiß nicht mehr weiter, seit meine Mutter nicht mehr bei uns ist, {n}.\n"
NOT_ENGLISH = "reflective, generic and advice write English, and 3 of 3 dialogues are in another"


@pytest.mark.parametrize(
    ("text", "said"),
    [(GERMAN, ()), ("Seeker: Hallo {n}\n", ("--set", "language=de"))],
    ids=["seen", "stated"],
)
def test_systems_that_write_english_are_left_out_of_other_languages(
    heart: Heart, tmp_path: Path, text: str, said: tuple[str, ...]
) -> None:
    items = tmp_path / "mine.txt"
    whole = "\n".join(f"{text.format(n=n)}Reference: Ja, {n}.\n" for n in range(3))
    items.write_text(whole, encoding="utf-8")
    done = heart("init", tmp_path / "mine", "--items", items, *said)
    assert f"{NOT_ENGLISH} language: left out" in " ".join(done.out.split())
    presets = [one.preset for one in load_study(tmp_path / "mine" / "mine.toml").systems]
    assert presets == ["original", "retrieval", "shuffled"]


def test_where_nothing_else_would_be_compared_english_stays_and_is_warned_of(
    heart: Heart, tmp_path: Path
) -> None:
    items = tmp_path / "mine.txt"
    items.write_text("\n".join(GERMAN.format(n=n) for n in range(3)), encoding="utf-8")
    where = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    done = heart("init", tmp_path / "mine", "--items", items, *where)
    assert f"{NOT_ENGLISH} language: put another model" in " ".join(done.out.split())
    done = heart("run", tmp_path / "mine", "--dry-run")
    assert f"{NOT_ENGLISH} language; take them out" in " ".join(done.err.split())
    done = heart("init", tmp_path / "two", "--items", items, *where, "--model", "n")
    assert [one.name for one in load_study(tmp_path / "two" / "two.toml").systems] == ["m", "n"]


def test_what_dialogues_do_not_state_is_asked_for_before_the_first_run(
    heart: Heart, tmp_path: Path
) -> None:
    items, path = tmp_path / "mine.txt", tmp_path / "mine" / "mine.toml"
    items.write_text("language: en\nemotion: sad\nSeeker: hello\n", encoding="utf-8")
    said = " ".join(heart("init", tmp_path / "mine", "--items", items).out.split())
    assert f"state licence and consent in {path}, problem in {items} next: heart run" in said
    text = path.read_text(encoding="utf-8")
    assert '\n# licence = "' in text
    assert '\n# language = "' not in text


def test_init_with_faulty_items_makes_nothing(heart: Heart, tmp_path: Path) -> None:
    items = tmp_path / "mine.txt"
    items.write_text("Seeker: hello\nBob: hi\n\nSeeker:\n", encoding="utf-8")
    done = heart("init", tmp_path / "mine", "--items", items)
    assert done.code == 2
    assert "3 faults" in done.err
    assert not (tmp_path / "mine").exists()


def test_items_and_a_corpus_exclude_each_other(heart: Heart, tmp_path: Path) -> None:
    items = tmp_path / "mine.txt"
    items.write_text("Seeker: hello", encoding="utf-8")
    done = heart("init", tmp_path / "mine", "--items", items, "--preset", "esconv")
    assert done.code == 2
    assert "give one" in done.err


def test_a_study_without_references_names_the_systems_that_stay_silent(
    heart: Heart, tmp_path: Path
) -> None:
    path = heart("init", tmp_path / "mine", "--json").json["path"]
    (tmp_path / "mine" / "own.txt").write_text("Seeker: hello", encoding="utf-8")
    text = Path(path).read_text(encoding="utf-8").replace('"starter" ', '"own.txt" ')
    Path(path).write_text(text, encoding="utf-8")
    assert "no replies of original, retrieval, shuffled" in heart("run", path, "--dry-run").err


def test_init_replaces_nothing(heart: Heart, tmp_path: Path) -> None:
    heart("init", tmp_path / "mine")
    path = tmp_path / "mine" / "mine.toml"
    path.write_text("# my own", encoding="utf-8")
    done = heart("init", tmp_path / "mine")
    assert done.code == 2
    assert "already there" in done.err
    assert path.read_text(encoding="utf-8") == "# my own"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_commented_and_names_the_study(
    heart: Heart, tmp_path: Path, preset: str
) -> None:
    heart("init", tmp_path / "mine", "--preset", preset)
    text = (tmp_path / "mine" / "mine.toml").read_text(encoding="utf-8")
    assert text.count("#") > 10
    assert 'name = "mine"' in text
    assert "NAME" not in text
    assert "KNOWN" not in text
    assert ("measures nothing about empathy" in text) == ('judges = ["cue"]' in text)


def test_doctor_finds_nothing_missing_and_makes_nothing(heart: Heart, study: Path) -> None:
    done = heart("doctor", study, "--json")
    assert done.code == 0
    assert done.json["ok"] is True
    names = {check["name"] for check in done.json["checks"]}
    assert {"hearteval", "keys", "extra postgres", "items", "store"} <= names
    assert [path.name for path in study.parent.iterdir()] == ["tiny.toml"]


@pytest.mark.usefixtures("ran")
def test_doctor_knows_the_store_of_a_study_that_ran(heart: Heart, study: Path) -> None:
    assert f"schema {VERSION}" in heart("doctor", study).out


def test_doctor_says_how_to_get_a_missing_corpus(heart: Heart, tmp_path: Path) -> None:
    heart("init", tmp_path / "mine", "--preset", "esconv")
    done = heart("doctor", tmp_path / "mine" / "mine.toml")
    assert done.code == 1
    assert "MISSING   study file" in done.out
    assert "there is no folder" in done.out
    (tmp_path / "mine" / "esconv").mkdir()
    done = heart("doctor", tmp_path / "mine" / "mine.toml")
    assert done.code == 1
    assert "MISSING   items" in done.out
    assert "train.jsonl" in done.out


def test_doctor_names_a_store_that_cannot_be_reached(
    heart: Heart, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEART_STORE", "postgresql://someone:hunter2@127.0.0.1:1/x")
    done = heart("doctor", study)
    assert done.code == 1
    assert "MISSING   store" in done.out
    assert "hunter2" not in done.out + done.err


def test_doctor_without_a_study_looks_at_the_installation(heart: Heart) -> None:
    done = heart("doctor")
    assert done.code == 0
    assert done.out.startswith("ok        hearteval")


def test_the_shell_completes_verbs() -> None:
    environment = os.environ | {
        "_HEART_COMPLETE": "bash_complete",
        "COMP_WORDS": "heart rep",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [str(Path(sys.executable).parent / "heart")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["plain,report"]


def test_doctor_names_a_model_that_has_ended(heart: Heart, study: Path) -> None:
    ended = '[[system]]\npreset = "claude-3.7-sonnet"\nprovider = "anthropic"\n[judging]\n'
    study.write_text(study.read_text().replace("[judging]\n", ended))

    checks = heart("doctor", study, "--json").json["checks"]

    (check,) = [check for check in checks if check["name"].endswith(": end")]
    assert check["name"] == "system Claude 3.7 Sonnet: end"
    assert check["detail"] == "claude-3-7-sonnet-20250219: ended 2026-02-19"
    assert check["state"] == "optional"


def test_doctor_misses_llama_cpp_where_a_model_is_local(
    heart: Heart, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (study.parent / "tiny.gguf").write_bytes(b"GGUF")
    local = '[[system]]\nname = "l"\nmodel = "local:tiny.gguf"\nfamily = "l"\n[judging]\n'
    study.write_text(study.read_text().replace("[judging]\n", local))
    monkeypatch.setattr("hearteval.models.local.importlib.util.find_spec", lambda _: None)

    checks = heart("doctor", study, "--json").json["checks"]

    assert [check["name"] for check in checks if check["state"] == "missing"] == ["system l"]


def test_names_that_the_check_took_go_into_the_study_file(heart: Heart, tmp_path: Path) -> None:
    items = tmp_path / "mine.txt"
    items.write_text("Ann: I am lost.\nMe: I hear you.\nAnn: Nobody else does.\n", encoding="utf-8")
    names = ["--set", "seeker=Ann", "--set", "supporter=Me"]
    (following,) = heart("items", "check", items, *names).out.splitlines()[-1:]
    assert following.endswith(f"--items {items} --set seeker=Ann --set supporter=Me")
    done = heart("init", tmp_path / "mine", "--items", items, *names, "--json")
    assert load_study(Path(done.json["path"])).items[0].names == DialogueNames(
        seeker=("Ann",), supporter=("Me",)
    )


def test_names_without_items_are_refused(heart: Heart, tmp_path: Path) -> None:
    done = heart("init", tmp_path / "mine", "--set", "seeker=Ann")
    assert done.code == 2
    assert "--items" in done.err
