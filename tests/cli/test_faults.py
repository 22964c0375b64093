"""What nobody foresaw: one object, one line, the right exit code, and no promise broken."""

import hashlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from heart_command import Heart


def test_a_fault_of_hearteval_is_an_object_and_exit_code_1(
    heart: Heart, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_words: object, **_options: object) -> None:
        raise ZeroDivisionError("one over nothing")

    monkeypatch.setattr("hearteval.study.grow.gather", fail)
    done = heart("run", study, "--json")
    assert done.code == 1
    assert done.json["error"]["kind"] == "internal"
    assert "Traceback" in done.err
    assert "ZeroDivisionError" in done.json["error"]["message"]


def test_doctor_changes_no_byte_of_a_database(heart: Heart, study: Path) -> None:
    database = study.parent / "tiny.db"
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE notes (words TEXT)")
    connection.commit()
    connection.close()
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    heart("doctor", study)
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before
    assert not (study.parent / "tiny.db-wal").exists()


@pytest.mark.parametrize("name", ["100% sure?.db", "a#b.db", "spåce d.db"])
def test_a_store_may_have_an_odd_name(heart: Heart, study: Path, name: str) -> None:
    text = study.read_text(encoding="utf-8").replace("seed = 5", f'seed = 5\nstore = "{name}"')
    study.write_text(text, encoding="utf-8")
    assert heart("run", study).code == 0
    assert (study.parent / name).is_file()
    assert "schema" in heart("doctor", study).out


def test_items_build_refuses_a_file_that_is_no_text(
    heart: Heart, tmp_path: Path, small_corpus: Path
) -> None:
    out = tmp_path / "items.jsonl"
    out.write_bytes(b"\xff\xfe\x00")
    done = heart("items", "build", "--source", "esconv", "--from", small_corpus, "--out", out)
    assert done.code == 2
    assert "holds other content" in done.err
    assert out.read_bytes() == b"\xff\xfe\x00"


def test_the_setting_at_fault_is_named_for_machines(heart: Heart, study: Path) -> None:
    study.write_text(study.read_text(encoding="utf-8") + 'desgin = "full"\n', encoding="utf-8")
    assert heart("run", study, "--json").json["error"]["ids"] == ["judging.desgin"]


def test_a_limit_holds_while_a_study_grows(heart: Heart, study: Path) -> None:
    text = study.read_text(encoding="utf-8") + "stress_items = 3\nrepeat_pairs = 2\n"
    for n in (4, 8, 16):
        study.write_text(text.replace("regular = 4", f"regular = {n}"), encoding="utf-8")
        done = heart("run", study, "--json").json
        assert done["plan"]["n_repeats"] == 2
        assert done["plan"]["n_stress_pairs"] == 3 * 6
        assert done["judgments"]["n_wanted"] == done["plan"]["n_assignments"]


REFUSED = """
import hearteval.study.grow
from hearteval.cli.main import run_command_line


def refuse(*_words, **_options):
    raise OSError(24, "Too many open files")


hearteval.study.grow.gather = refuse
run_command_line()
"""


@pytest.mark.server
def test_what_the_system_refuses_is_an_object_on_stdout(study: Path) -> None:
    words = [sys.executable, "-c", REFUSED, "run", str(study), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["kind"] == "system"
    assert "Too many open files" in done.stderr


@pytest.mark.server
def test_stdout_that_is_full_is_said_once() -> None:
    words = [sys.executable, "-m", "hearteval", "systems", "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr
