"""``heart`` in processes of its own, forked from one in which it has run already.

To start a process costs five times the processor that a small run needs. A kill, a signal and a
lock meet a forked one as any other; that a new process has all it needs, tests of the command line
say.
"""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from multiprocessing import forkserver
from multiprocessing.reduction import DupFd
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hearteval.cli.main import run_command_line

DEADLINE_SECONDS = 600
"""For which nothing hangs that works, however busy the machine."""
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["warmed_heart"])


class Running:
    """A function that runs in a process, and what the process says."""

    def __init__(self, what: Callable[..., None], *words: str, store: str | None = None) -> None:
        ensure_forks()
        kept = {k: v for k, v in os.environ.items() if k != "HEART_STORE"}
        env = kept if store is None else {**kept, "HEART_STORE": store}
        pipes = [os.pipe() for _ in range(2)]
        args = (what, words, env, [DupFd(write) for _, write in pipes])
        self._process = FORKS.Process(target=_run, args=args, daemon=True)
        self._process.start()
        self._said: list[list[str]] = [[], []]
        self._readers = [
            Thread(target=_read, args=it) for it in zip(pipes, self._said, strict=True)
        ]
        for reader, (_, write) in zip(self._readers, pipes, strict=True):
            os.close(write)
            reader.start()

    @property
    def id(self) -> int:
        """Of the process."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def code(self) -> int | None:
        """By which it ended, or less the signal that ended it; None while it runs."""
        return self._process.exitcode

    def send(self, number: signal.Signals) -> None:
        os.kill(self.id, number)

    def kill(self) -> None:
        """End it as a machine that loses power does."""
        self._process.kill()
        self._process.join()

    def line(self) -> str:
        """Return the first line that it says, or nothing where it ends without one."""
        while not self._said[0] and self._readers[0].is_alive():
            time.sleep(0.01)
        return "".join(self._said[0][:1])

    @property
    def complaint(self) -> str:
        """What it has said on stderr so far."""
        return "".join(self._said[1])

    def wait(self, seconds: float = DEADLINE_SECONDS) -> tuple[str, str]:
        """Wait until it has ended; return what it said and what it said on stderr."""
        self._process.join(seconds)
        if self.code is None:
            raise subprocess.TimeoutExpired("heart", seconds)
        for reader in self._readers:
            reader.join()
        return "".join(self._said[0]), self.complaint

    def end(self) -> Any:
        """Wait until it has ended well; return the object that it printed."""
        out, err = self.wait()
        assert self.code == 0, err
        return json.loads(out)


def start(verb: str, study: Path, store: str | None = None, *words: str) -> Running:
    """Begin a verb of a study that prints JSON."""
    return Running(heart, verb, str(study), "--json", *words, store=store)


def heart(*words: str) -> None:
    run_command_line(list(words))


def at_once(work: Callable[..., int], words: Sequence[Sequence[str]]) -> list[int]:
    """Do a work once with each words, each in a process; return what they say in any order.

    Each work is told by what to wait until all others are ready.
    """
    ensure_forks()
    ready, said = FORKS.Barrier(len(words)), FORKS.SimpleQueue()
    started = [FORKS.Process(target=_say, args=(said, work, ready, each)) for each in words]
    for process in started:
        process.start()
    for process in started:
        process.join(DEADLINE_SECONDS)
        assert process.exitcode == 0
    return [said.get() for _ in started]


def _say(said: Any, work: Callable[..., int], ready: Any, words: Sequence[str]) -> None:
    said.put(work(partial(ready.wait, DEADLINE_SECONDS / 2), *words))


def ensure_forks() -> None:
    """See to it that the process is there that others are forked from."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        forkserver.ensure_running()


def _read(pipe: tuple[int, int], said: list[str]) -> None:
    with os.fdopen(pipe[0], encoding="utf-8") as file:
        while line := file.readline():
            said.append(line)


def _run(
    what: Callable[..., None], words: tuple[str, ...], env: Mapping[str, str], said: list[Any]
) -> None:
    for number, (name, pipe) in enumerate(zip(("stdout", "stderr"), said, strict=True), start=1):
        os.dup2(pipe.detach(), number)
        setattr(sys, name, os.fdopen(number, "w", encoding="utf-8"))
    os.environ.clear()
    os.environ.update(env)
    what(*words)
