"""The application: opens, registers, grows, asks and analyzes a study, for any front end.

Everything is a function of one `Session`, which tells what it does through a `Tell`: a terminal, a
page, a test. Nothing here knows a terminal or a browser.
"""

import logging
import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Protocol

from hearteval.errors import SettingsError, not_written
from hearteval.notices import SIMULATED_WORDS

DRAFT_SECONDS = 60.0
"""After which a draft is left behind by a process that is no more."""

logger = logging.getLogger(__name__)

Advance = Callable[[int, int | None], None]
"""Is told how many of how many are done; None where nobody knows how many."""


class Tell(Protocol):
    """Where a study says what it does, and asks before money is spent."""

    def note(self, message: str) -> None:
        """Say what is done: for a person who watches."""

    def detail(self, message: str) -> None:
        """Say what only who wants to know everything reads."""

    def warn(self, message: str) -> None:
        """Say what must not be missed."""

    def say_simulated(self) -> None:
        """Say once, before anything else, that all of this is simulated."""

    def progress(
        self, label: str, *, cost: Callable[[], float] | None = None
    ) -> AbstractContextManager[Advance]:
        """Show how far something is.

        Args:
            label: What is going on.
            cost: Gives the US dollars spent so far; None where nothing costs anything.
        """
        ...

    def confirm(self, words: str, *, study: str) -> None:
        """Ask whether a study may spend money; return when it may.

        Args:
            words: What is to come, and what it costs.
            study: The study file.

        Raises:
            SettingsError: Nobody is there to be asked, and nobody has said yes.
        """


class Quiet:
    """A `Tell` that only logs, and lets nothing cost money."""

    def note(self, message: str) -> None:
        """Log it."""
        logger.info(message)

    def detail(self, message: str) -> None:
        """Log it."""
        logger.info(message)

    def warn(self, message: str) -> None:
        """Log it."""
        logger.warning(message)

    def say_simulated(self) -> None:
        """Log it."""
        logger.warning(SIMULATED_WORDS)

    @contextmanager
    def progress(self, label: str, *, cost: Callable[[], float] | None = None) -> Iterator[Advance]:
        """Show nothing."""
        yield lambda _done, _total: None

    def confirm(self, words: str, *, study: str) -> None:
        """Refuse."""
        raise SettingsError(f"{study}: this asks models and costs money ({words})")


def write_whole(
    path: Path, text: str, *, outlasts_power: bool = True, is_private: bool = False
) -> None:
    """Write a file so that at every moment it is either the old one or the whole new one.

    Without `outlasts_power` a power cut may lose it: for many small files that a command makes
    again. A private one, which holds dialogues, is its owner's alone to read. It is UTF-8 always: a
    byte of a path that is none is a question mark.

    Raises:
        StoreError: The folder cannot be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        remove_left_drafts(path.parent, f".{path.name}.")
        mode = 0o600 if is_private else 0o666
        opener = partial(os.open, mode=mode)
        with open(draft, "w", encoding="utf-8", errors="replace", opener=opener) as file:
            file.write(text)
            file.flush()
            if outlasts_power:
                os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):  # a disk that may not be written refuses this too
            draft.unlink(missing_ok=True)
        raise not_written(path, error) from error


def remove_left_drafts(folder: Path, start: str) -> None:
    """Delete the files and folders that killed processes were writing in a folder.

    Their names begin so, and then with the number of their process. Old ones only: a process of
    another machine may write here now.
    """
    name = re.compile(rf"{re.escape(start)}([0-9]+)(\.old|-\w+)?")
    for other in folder.iterdir() if folder.is_dir() else ():
        found = name.fullmatch(other.name)
        if found is None or time.time() - other.stat().st_mtime < DRAFT_SECONDS:
            continue
        if int(found[1]) != os.getpid() and not _is_alive(int(found[1])):
            if other.is_dir():
                shutil.rmtree(other, ignore_errors=True)
            else:
                other.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def quoted(path: Path) -> str:
    """Write a path as a shell takes it, also one that begins like an option."""
    return shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))
