"""What the command line says: JSON on stdout, messages and progress on stderr, files whole or not.

Progress and notes are for people and go to a terminal only; warnings go to stderr always.
"""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from heartbench.errors import StoreError

logger = logging.getLogger(__name__)


def emit_json(name: str, body: Mapping[str, Any]) -> None:
    """Print the one versioned object of a command on stdout."""
    document = {"schema": f"heartbench.{name}/1", **body}
    click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))


def note(message: str) -> None:
    """Tell a person at a terminal something, and the log of the run."""
    logger.info(message)
    if sys.stderr.isatty():
        click.echo(message, err=True)


def warn(message: str) -> None:
    """Say what must not be missed, on stderr, terminal or not, and in the log of the run."""
    logger.info("warning: %s", message)
    click.echo(f"warning: {message}", err=True)


def utc_now() -> datetime:
    """Return the time; the one clock of the command line."""
    return datetime.now(UTC)


@contextmanager
def progress_bar(
    label: str, *, cost: Callable[[], float] | None = None
) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar with rate, cost so far and time left on a terminal; elsewhere nothing.

    Args:
        label: What is going on.
        cost: Gives the US dollars spent so far; None where nothing costs anything.

    Yields:
        A function to be told how many of how many are done.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description:<12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    ) as progress:
        task = progress.add_task(label, total=None, rate="")

        def advance(done: int, total: int | None) -> None:
            speed = progress.tasks[0].speed
            rate = f"{speed:,.1f}/s" if speed else ""
            if cost is not None:
                rate = f"{rate}  ${cost():.2f}"
            progress.update(task, completed=done, total=total, rate=rate)

        yield advance


def write_whole(path: Path, text: str) -> None:
    """Write a file so that at every moment it is either the old one or the whole new one.

    Raises:
        StoreError: The folder cannot be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: cannot be written ({error.strerror}); check the folder, its permissions and "
            "the free space"
        ) from error
