"""Streams that cannot hold every character, that nobody reads, or that are closed."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from study_files import entry, presets, study_text

from hearteval.cli.main import VERBS, main, run_command_line
from hearteval.report.text import display_width

C_LOCALE = {
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONIOENCODING": "ascii",
}
COMPLAINT = re.compile("Traceback|Exception ignored|fault of hearteval|the system refused")
ALL_OF_THEM = """
import json, os, sys
from hearteval.cli.main import run_command_line
for words in json.loads(sys.argv[1]):
    try:
        run_command_line([os.fsdecode(word.encode()) for word in words])
    except SystemExit:
        pass
"""
NAME = "Bücher 模型"
STUDY = study_text(
    "tiny",
    presets("original", "generic"),
    entry("system", preset="reflective", name=NAME),
    items=(4, 1),
    study={"seed": 5},
    judging={"stress_items": 1, "repeat_pairs": 50},
    end='[labels]\nlabelers = ["cues"]\n',
)
VOTES = "model_a,model_b,winner\n" + "".join(
    f"{NAME},b,{NAME if k % 3 else 'b'}\nb,c,{'b' if k % 3 else 'c'}\n" for k in range(6)
)
LABELS = "text,coder,label\n" + "".join(
    f"t{k},{coder},{1 + k % 3}\n" for k in range(6) for coder in (NAME, "Ben")
)
TABLE = f"system,elo,win_rate\n{NAME},1600,64\nb,1500,50\nc,1400,36\n"
COMMANDS = {
    "run": ("run", "study.toml"),
    "init": ("init", NAME),
    "simulate": (
        *("simulate", "--votes", "simulated.csv"),
        *("--set", "items=4", "--set", "adversarial=1"),
    ),
    "doctor": ("doctor", "study.toml"),
    "items new": ("items", "new", "new.txt"),
    "items build": ("items", "build", "--source", "starter", "--out", "built.jsonl"),
    "items check": ("items", "check", "own.txt"),
    "items review": ("items", "review", "study.toml"),  # has no candidates, which it says
    "items redact": ("items", "redact", "study.toml"),  # likewise
    "items accept": ("items", "accept", "study.toml"),  # likewise
    "items adversarial": (
        *("items", "adversarial", "--from", "own.txt"),
        *("--rewriter", "gpt", "--reader", "claude", "--dry-run"),
    ),
    "items convert": ("items", "convert", "own.txt", "--out", "converted.jsonl"),
    "complete": ("complete", "study.toml"),
    "judge": ("judge", "study.toml"),
    "label": ("label", "study.toml"),
    "latency": ("latency", "study.toml"),
    "work": ("work", "study.toml"),  # nothing is open, which it says
    "serve": ("serve", "study.toml"),  # asks nobody anything, so it ends at once
    "people withdraw": ("people", "withdraw", "study.toml", "P-23456789", "--yes"),
    "people list": ("people", "list", "study.toml"),
    "people pay": ("people", "pay", "study.toml", "--platform", "prolific", "--out", "paying"),
    "people paid": ("people", "paid", "study.toml", "study.toml"),  # names nobody
    "people quality": ("people", "quality", "study.toml"),
    "people exclude": ("people", "exclude", "study.toml", "P-23456789", "--why", "asked"),
    "people restore": ("people", "restore", "study.toml", "P-23456789", "--why", "asked"),
    "people purge": ("people", "purge", "study.toml", "--yes"),
    "import": ("import", "study.toml", "absent.eval"),
    "analyze": ("analyze", "study.toml"),
    "report": ("report", "study.toml"),
    "export": ("export", "study.toml", "--to", "inspect", "--out", "logs"),
    "rank": ("rank", "votes.csv"),
    "agree": ("agree", "labels.csv"),
    "systems": ("systems",),
    "judges list": ("judges", "list"),
    "judges audit": ("judges", "audit", "study.toml"),
    "judges calibrate": ("judges", "calibrate", "study.toml"),  # this one compares, which it says
    "judges halo": ("judges", "halo", "study.toml"),  # the cue judge has none, which it says
    "judges drift": ("judges", "drift", "study.toml"),  # it continues no board, which it says
    "compare": ("compare", "study.toml"),
    "plan": ("plan", "study.toml"),
    "gate": ("gate", "study.toml", "--baseline", "generic", "--candidate", "original"),
    "release": ("release", "study.toml", "released"),
    "verify": ("verify", "."),  # no release, which it says
    "site": ("site", "."),  # likewise
    "paper": ("paper",),
    "check": ("check", "table.csv"),
    "store settle": ("store", "settle", "study.toml", "0"),
    "store copy": ("store", "copy", "tiny.db", "copy.db"),
    "store verify": ("store", "verify", "tiny.db"),
}
OF_FILES = (
    *("run", "init", "simulate", "items new", "items build", "items check", "items convert"),
    *("items adversarial", "report", "export", "rank", "agree", "check"),
)
"""Verbs that read or write texts in a way of their own."""


class Narrow(io.TextIOWrapper):
    """A stream that lacks many characters, and what was to be written to it."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), "cp1252")
        self.said = ""

    def write(self, text: str) -> int:
        self.said += text
        return super().write(text)

    @property
    def shown(self) -> str:
        self.flush()
        self.seek(0)
        return self.read()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished study, in which a name is one that narrow encodings lack."""
    folder = tmp_path_factory.mktemp("made") / NAME
    folder.mkdir()
    for name, text in (
        ("study.toml", STUDY),
        ("votes.csv", VOTES),
        ("labels.csv", LABELS),
        ("table.csv", TABLE),
        ("own.txt", "Seeker: Ich fühle mich allein, 模型.\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    run_command_line(["run", str(folder / "study.toml")])
    return folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch, blank_figures: None) -> Path:
    monkeypatch.chdir(made)
    monkeypatch.delenv("HEART_STORE", raising=False)
    return made


def exit_code(*words: str) -> int:
    try:
        run_command_line(list(words))
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def told_narrowly(*words: str) -> tuple[Narrow, Narrow]:
    """Run a command whose stdout and stderr are no terminals and lack many characters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out := Narrow())
        patch.setattr(sys, "stderr", err := Narrow())
        exit_code(*words)
    assert not COMPLAINT.search(err.said), err.said
    return out, err


def in_shell(
    folder: Path, line: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash, in which ``heart`` is this one."""
    script = f'heart() {{ "{sys.executable}" -m hearteval "$@"; }}; {line}'
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, **(env or {})},
        capture_output=True,
        check=False,
    )


def test_no_verb_is_left_out() -> None:
    leaves = set()
    for verb in VERBS:
        command = main.get_command(click.Context(main), verb)
        if isinstance(command, click.Group):
            leaves |= {f"{verb} {name}" for name in command.commands}
        else:
            leaves.add(verb)
    assert set(COMMANDS) == leaves


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("folder")
def test_a_narrow_encoding_leaves_json_whole(name: str) -> None:
    out, _ = told_narrowly(*COMMANDS[name], "--json")
    assert json.loads(out.shown)["schema"].startswith("heart.")


@contextmanager
def reader_gone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let stdout be a pipe that nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as gone, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", gone)
        patch.setattr(sys, "stderr", sys.stderr)  # click wraps both
        yield
        os.dup2(os.open(os.devnull, os.O_WRONLY), gone.fileno())


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("folder")
def test_a_reader_that_has_gone_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    with reader_gone(monkeypatch):
        code = exit_code(*COMMANDS[name])
    told = capsys.readouterr().err
    assert not COMPLAINT.search(told), told
    assert code in (1, 2)


@pytest.mark.server
def test_an_ascii_locale_is_no_fault_and_files_are_utf_8(folder: Path) -> None:
    words = json.dumps([COMMANDS[name] for name in OF_FILES])
    done = subprocess.run(
        [sys.executable, "-c", ALL_OF_THEM, words],
        cwd=folder,
        env={**os.environ, **C_LOCALE},
        capture_output=True,
        check=True,
    )
    assert not COMPLAINT.search(done.stderr.decode()), done.stderr
    assert NAME in done.stdout.decode("utf-8")
    for name in ("tiny.leaderboard.csv", "tiny.results.json", "tiny.report.html"):
        assert NAME in (folder / name).read_text(encoding="utf-8")


@pytest.mark.server
@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("heart rank votes.csv", 1, ""),
        ("heart rank absent.csv --json", 2, "heart: there is no file"),
        ("heart --help", 1, ""),
        ("heart rank votes.csv 2>&1", 1, ""),
        ("heart 2>&1", 2, ""),
    ],
)
def test_a_pipe_closed_early_leaves_an_exit_code_and_no_traceback(
    folder: Path, line: str, code: int, told: str
) -> None:
    done = in_shell(folder, f"mkfifo p; : <p & exec 3>p; wait; rm p; {line} >&3")
    assert done.returncode == code
    assert told in done.stderr.decode()
    assert not COMPLAINT.search(done.stderr.decode()), done.stderr


@pytest.mark.server
@pytest.mark.parametrize("words", ["rank votes.csv", "run absent.toml"])
def test_a_closed_stream_is_as_dev_null(
    capsys: pytest.CaptureFixture[str], folder: Path, words: str
) -> None:
    code = exit_code(*words.split(), "--json")
    told = capsys.readouterr().out.encode()
    closed = in_shell(folder, f"heart {words} --json >&- <&-")
    silent = in_shell(folder, f"heart {words} --json 2>&-")
    assert (silent.returncode, silent.stdout) == (code, told)
    assert (closed.returncode, closed.stdout) == (code, b"")
    assert not COMPLAINT.search(closed.stderr.decode()), closed.stderr


KEPT_WHOLE = re.compile(r"\s*(\S+|(?:[a-z]+:? +)?(?:→ )?`?heart .*)")
"""What may be wider than a terminal: one path or name, or a command to copy."""
WRONG = (
    ("init", "new", "--model", "m", "--items", "faulty.csv"),
    ("run", "no-such-study.toml"),
    ("run", "study.toml", "--jzon"),
    ("run", "faulty.toml"),
    ("doctor", "missing.toml"),
    ("doctor", "faulty.toml"),
    ("run", "missing.toml", "--dry-run"),
    ("run", "missing.toml"),
    ("run", "study.toml", "--verbose"),
    ("items", "check", "faulty.jsonl"),
    ("items", "check", "faulty.csv"),
    ("items", "check", "no-such-file-of-dialogues-in-a-folder-with-a-long-name.jsonl"),
    ("rank", "labels.csv"),
    ("rank", "numbers.csv"),
    ("agree", "votes.csv"),
    ("import", "study.toml", "votes.csv"),
    ("export", "study.toml", "--to", "nowhere"),
    ("compare", "study.toml", "faulty.toml"),
    ("check", "votes.csv"),
    ("judges", "audit", "missing.toml"),
    ("store", "copy", "no-such.db", "copy.db"),
    ("help", "all"),
    ("people", "withdraw", "study.toml", "Ann"),
)
MISSING = (
    STUDY.replace('judges = ["cue"]', 'judges = ["gpt", "claude", "our judge"]')
    + """
[[system]]
preset = "gpt-5"
[[system]]
name = "a model whose name is long enough to fill a line of a terminal by itself"
model = "openai-compatible/our-model"
base_url = "http://127.0.0.1:9/a/path/that/is/long/enough/to/fill/a/line/of/a/terminal/v1"
family = "ours"
[[judge]]
name = "our judge"
model = "openai-compatible/our-judge"
base_url = "http://127.0.0.1:9/v1"
family = "judges"
"""
)
FAULTY = MISSING.replace("seed = 5", "sead = 5").replace("regular = 4", 'regular = "four"')


@pytest.fixture
def faulty(folder: Path) -> None:
    for name, text in (
        ("faulty.toml", FAULTY),
        ("missing.toml", MISSING),
        ("faulty.jsonl", '{"id": "one"}\n' * 3),
        ("faulty.csv", "Gespräch,Rolle,Nachricht\n1,K,Hallo\n1,B,Ja?\n1,X,Nein\n"),
        ("numbers.csv", "model_a,model_b,winner\na,b,0\nb,c,1\na,c,2\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("words", [*COMMANDS.values(), *WRONG], ids=" ".join)
@pytest.mark.usefixtures("faulty")
def test_lines_fit_eighty_columns_and_a_narrow_encoding_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.delenv("COLUMNS")
    out, err = told_narrowly(*words)
    wide = [line for line in (out.said + err.said).splitlines() if display_width(line) > 80]
    assert out.shown + err.shown
    assert [line for line in wide if not KEPT_WHOLE.fullmatch(line)] == []
