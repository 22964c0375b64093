"""What a verb prints, listened to, so that a run with nothing to do can say it again."""

import logging
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import IO, Any, cast

from hearteval.cli.console import LOGGER


@dataclass(slots=True)
class Heard:
    """What was printed on stdout so far, and whether anything was warned of."""

    text: str = ""
    has_warned: bool = False


class _Listener:
    """Stands in for stdout, and notes what is written to it."""

    def __init__(self, stream: IO[str], heard: Heard) -> None:
        self._stream, self._heard = stream, heard

    def write(self, text: str) -> int:
        self._heard.text += text
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _WarningListener(logging.Handler):
    def __init__(self, heard: Heard) -> None:
        super().__init__()
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        is_warning = record.levelno >= logging.WARNING or str(record.msg).startswith("warning:")
        self._heard.has_warned |= is_warning


@contextmanager
def listening() -> Iterator[Heard]:
    """Listen to what is printed and warned of."""
    heard = Heard()
    handler = _WarningListener(heard)
    LOGGER.addHandler(handler)
    try:
        with redirect_stdout(cast("IO[str]", _Listener(sys.stdout, heard))):
            yield heard
    finally:
        LOGGER.removeHandler(handler)


def how_shown(*said: str | bool) -> list[Any]:
    """Return all that makes the same results look another way, as JSON says it."""
    return [*said, sys.stdout.isatty(), sys.stdout.encoding, *shutil.get_terminal_size()]
