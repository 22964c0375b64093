"""What a command left behind, and the ways to run one, in process and beside it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

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
