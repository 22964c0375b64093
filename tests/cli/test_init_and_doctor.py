"""``heart init``, ``heart doctor`` and shell completion: how a newcomer starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from heart_command import Heart

from hearteval.cli.init import PRESETS
from hearteval.config import load_study
from hearteval.store.migrations import VERSIONS


def test_init_makes_a_study_that_runs(heart: Heart, tmp_path: Path) -> None:
    done = heart("init", tmp_path / "my first study", "--json").json
    path = tmp_path / "my first study" / "my-first-study.toml"
    assert done == {
        "schema": "heart.init/1",
        "study": "my-first-study",
        "preset": "starter",
        "path": str(path),
    }
    assert load_study(path).name == "my-first-study"
    assert heart("run", path, "--dry-run").code == 0


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
    assert "measures nothing about empathy" in text


def test_doctor_finds_nothing_missing_and_makes_nothing(heart: Heart, study: Path) -> None:
    done = heart("doctor", study, "--json")
    assert done.code == 0
    assert done.json["ok"] is True
    names = {check["name"] for check in done.json["checks"]}
    assert {"hearteval", "keys", "extra postgres", "items", "store"} <= names
    assert [path.name for path in study.parent.iterdir()] == ["tiny.toml"]


def test_doctor_knows_the_store_of_a_study_that_ran(heart: Heart, study: Path) -> None:
    heart("run", study)
    assert f"schema {VERSIONS[-1]}" in heart("doctor", study).out


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
        "COMP_WORDS": "heart re",
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
