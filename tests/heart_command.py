"""What a command left behind, and the ways to run one, in process and beside it."""

import fcntl
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hearteval.cli.main import run_command_line


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


Heart = Callable[..., Done]
"""Runs ``heart`` with the given words, in process."""


class FirstStudy(NamedTuple):
    """What a newcomer's first commands leave, at 80 columns; to be copied, not changed."""

    folder: Path
    commands: list[str]
    """As the package's page has them."""
    out: str
    """What the last of them printed."""


def make_first_study(page: str, place: Path) -> FirstStudy:
    """Type the first two commands of a page in a folder, unless a worker beside has done so."""
    place.mkdir(exist_ok=True)
    commands = console_commands(page)[1:3]
    said = place / "said.txt"
    with (place / "lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        patch.chdir(place)
        patch.setenv("COLUMNS", "80")
        if not said.exists():
            _, done = [run_heart(*line.split()[1:]) for line in commands]
            assert done.code == 0, done.err
            said.write_text(done.out, encoding="utf-8")
    return FirstStudy(place / commands[0].split()[-1], commands, said.read_text(encoding="utf-8"))


def run_heart(*words: object) -> Done:
    """Run a command outside of a test: what it makes is shared by several."""
    out, err = (TextIOWrapper(BytesIO(), "utf-8", newline="") for _ in range(2))
    code = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.delenv("HEART_STORE", raising=False)
        try:
            run_command_line([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
    out.seek(0)
    err.seek(0)
    return Done(code, out.read(), err.read())


def console_commands(page: str) -> list[str]:
    """Return the commands of a page of documents that a reader types."""
    blocks = re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@contextmanager
def undrawn() -> Iterator[None]:
    """Let releases hold their figures as blanks: to draw them takes most of their time."""

    def blank(_: object, figure: Any, kinds: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        for width in ("column", "page"):
            yield from ((f"{figure.name}-{width}.{kind}", b"<svg/>") for kind in kinds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hearteval.study.release.making.figure_files", blank)
        yield


def start(verb: str, study: Path, store: str, *words: str) -> subprocess.Popen[str]:
    """Begin a verb of a study in a process of its own, to be ended by `end`."""
    return subprocess.Popen(
        [sys.executable, "-m", "hearteval", verb, str(study), "--yes", "--json", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HEART_STORE": store},
    )


def end(process: subprocess.Popen[str]) -> Any:
    """Wait for a verb to end well; return the object that it printed."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return json.loads(out)
