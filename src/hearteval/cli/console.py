"""What the command line says: JSON on stdout, messages and progress on stderr.

Notes are for people and go to a terminal only; warnings go to stderr always.
"""

import json
import logging
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hearteval.cli.progress import LABEL, duration, shown_progress
from hearteval.domain.systems import SIMULATED
from hearteval.errors import HeartError, SettingsError, not_written
from hearteval.notices import SIMULATED_WORDS
from hearteval.version import __version__

if TYPE_CHECKING:
    from hearteval.analysis.coverage.missing import Failure
    from hearteval.api.shown import Shown
    from hearteval.config import StudySettings
    from hearteval.domain import Study
    from hearteval.study.session import Session

logger = logging.getLogger(__name__)
LOGGER = logging.getLogger("hearteval")
"""Of the whole package."""
NAMED = 8
"""Columns of the label of a line that says where something was written, or what is next."""


def without_keys(text: str) -> str:
    """Return a text without the keys that stand in the environment."""
    from hearteval.config import keys_at_hand
    from hearteval.models.failures import hide_known

    return hide_known(text, keys_at_hand())


def emit_json(name: str, body: Mapping[str, Any]) -> None:
    """Print the one versioned object of a command on stdout."""
    said = {SIMULATED: True} if _is_said_simulated() else {}
    document = {"schema": f"heart.{name}/1", **said, **body}
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    click.echo(json.dumps(document, ensure_ascii=not is_unicode, allow_nan=False))


def _is_said_simulated() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().meta.get(SIMULATED))


def show_result(name: str, result: "Shown", *, as_json: bool) -> None:
    """Print a result of the Python interface; where groups of it have none, exit with 1."""
    from hearteval.api.groups import GroupedResults
    from hearteval.report.text import printable

    if as_json:
        if result.is_simulated:
            Terminal().say_simulated()
        emit_json(name, result.to_dict())
    else:
        click.echo(result.to_text(terminal_width()))
    if isinstance(result, GroupedResults) and result.errors:
        value, error = next(iter(result.errors.items()))
        n = f"{len(result.errors)} of {len(result.groups)}"
        words = f"{n} groups have no result; {value}: {error}"
        say(f"heart: {printable(words.partition(chr(10))[0])}", err=True)
        raise click.exceptions.Exit(1)


def end_with(
    failures: "Sequence[Failure]", settings: "StudySettings", *, stopped: str | None = None
) -> None:
    """Exit with 1 where a study has failed, saying in one line of stderr why; else return.

    It has failed too where it `stopped` at its limit on spending. Call it last: what could be done
    is done and said by then.
    """
    from hearteval.report.coverage.missing import failure_words
    from hearteval.report.text import printable

    if failures or stopped:
        words = failure_words(failures, fail_on_missing=settings.fail_on_missing)
        words = "; ".join(filter(None, (stopped, words)))
        say(f"heart: {printable(words)}", err=True)
        raise click.exceptions.Exit(1)


def shorter(path: str) -> str:
    """Return a path as it is or relative to this folder, whichever is shorter."""
    try:
        return min(path, os.path.relpath(path), key=len)
    except ValueError:  # another drive
        return path


def open_page(path: str) -> None:
    """Open a report in the browser; say so where there is none, or no terminal to ask from."""
    import webbrowser

    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        Terminal().warn(f"the report is opened from a terminal only: {shorter(path)}")
    elif not webbrowser.open(Path(path).absolute().as_uri()):
        Terminal().warn(f"no browser opened; open the report yourself: {shorter(path)}")


def terminal_width() -> int:
    """Return the columns to write: at most 80, fewer where a terminal or COLUMNS has fewer."""
    from hearteval.report.text import WIDTH

    return min(shutil.get_terminal_size().columns, WIDTH)


def say(text: str = "", *, err: bool = False, indent: str = "  ") -> None:
    """Print text for a reader, folded to the terminal's width, or to 80 columns without one."""
    click.echo(_fitted(text, indent=indent), err=err)


def _fitted(text: str, *, indent: str = "  ") -> str:
    from hearteval.report.text import fitted

    return fitted(text, shutil.get_terminal_size().columns, indent=indent)


def labelled(label: str, words: str) -> str:
    """Write a line with its label before it; a command stays whole, to be copied."""
    from hearteval.report.text import wrapped

    text = f"{label:<{NAMED}}{words}"
    is_command = re.search("(^|: )heart ", words) or " " not in words
    return text if is_command else wrapped(text, terminal_width(), indent=" " * NAMED)


def labelled_lines(words: str) -> str:
    """Write a sentence that stands above everything, as wide as the terminal."""
    from hearteval.report.text import wrapped

    return wrapped(words, terminal_width(), indent="")


class Terminal:
    """A `hearteval.study.Tell` that speaks to a person at a terminal, and to the run's log.

    Args:
        yes: Whether money may be spent without asking.
        is_verbose: Whether notes are shown too, not only logged.
    """

    def __init__(self, *, yes: bool = False, is_verbose: bool = False) -> None:
        self._yes, self.is_verbose = yes, is_verbose
        self._took: dict[str, float] = {}
        """Seconds of the steps whose counts are still to be said."""
        self.warnings: list[str] = []
        """What was warned of."""

    def note(self, message: str) -> None:
        """Tell a person at a terminal something, and the log of the run."""
        self._say(message, is_shown=self.is_verbose or sys.stderr.isatty())

    def detail(self, message: str) -> None:
        """Tell the log of the run something, and who asked for everything."""
        self._say(message, is_shown=self.is_verbose)

    def _say(self, message: str, *, is_shown: bool) -> None:
        message = _printable_lines(message)
        logger.info("%s", message)
        if is_shown:
            label, colon, words = message.partition(": ")
            is_label = colon and len(label) < LABEL and "\n" not in message
            seconds = self._took.pop(label, 0.0)
            took = f", {duration(seconds)}" if seconds >= 1 else ""
            text = f"{label:<{LABEL}}{words}{took}" if is_label else message
            say(text, err=True, indent=" " * LABEL if is_label else "  ")

    def warn(self, message: str) -> None:
        """Say what must not be missed, on stderr, terminal or not, and in the log of the run."""
        message = _printable_lines(message)
        logger.info("warning: %s", message)
        self.warnings.append(message)
        say(f"warning: {message}", err=True)

    def say_simulated(self) -> None:
        """Say it in the first line of stdout, or in the JSON object that the command prints."""
        context = click.get_current_context()
        if not _is_said_simulated() and not context.params.get("as_json"):
            click.echo(labelled_lines(SIMULATED_WORDS))
        root = context.find_root()
        root.meta[SIMULATED] = True
        if root.obj is not None:  # what is left of a command that ends with an error
            root.obj[SIMULATED] = True

    @contextmanager
    def progress(
        self, label: str, *, cost: Callable[[], float] | None = None
    ) -> Iterator[Callable[[int, int | None], None]]:
        """Show a bar with rate, cost so far and time left; elsewhere a line now and then."""
        began = time.monotonic()
        with shown_progress(label, cost=cost) as advance:
            yield advance
        self._took[label] = self._took.get(label, 0.0) + time.monotonic() - began

    def confirm(self, words: str, *, study: str) -> None:
        """Ask before money is spent.

        Raises:
            SettingsError: Nobody is there to be asked, and nobody has said yes.
            click.Abort: The answer was no.
        """
        if self._yes:
            return
        if not sys.stdin.isatty():
            raise SettingsError(
                f"{study}: this asks models and costs money ({words}); add --yes to go ahead"
            )
        if not sys.stderr.isatty():  # where it is one, the plan has just been noted
            say(words, err=True)
        click.confirm("Go ahead?", abort=True, err=True)


def _printable_lines(message: str) -> str:
    """Replace keys, and what a terminal would obey, in what providers say; lines stay."""
    from hearteval.report.text import printable

    return "\n".join(map(printable, without_keys(message).split("\n")))


@contextmanager
def working_on(
    settings: "StudySettings",
    verb: str,
    *,
    yes: bool = False,
    patience_seconds: float | None = None,
) -> Iterator[tuple["Session", "Study"]]:
    """Open a study to add to it, in the version that its file describes, with a log of the run.

    A database that goes away is waited for as long as stores do, or `patience_seconds`.
    """
    from hearteval.study.grow import open_grown

    with (
        run_log(settings, verb),
        open_grown(settings, Terminal(yes=yes), patience_seconds=patience_seconds) as opened,
    ):
        yield opened


class _WithoutKeys(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return without_keys(super().format(record))


class _FittedFormatter(_WithoutKeys):
    def format(self, record: logging.LogRecord) -> str:
        return _fitted(super().format(record))


class _UtcFormatter(_WithoutKeys):
    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


class _LogFile(logging.FileHandler):
    """A log that says once when it cannot be written, and lets the run go on."""

    _is_broken = False
    has_trouble = False
    """Whether anything went wrong that may not go wrong again: a database away for a while."""

    def emit(self, record: logging.LogRecord) -> None:
        self.has_trouble |= record.levelno >= logging.WARNING
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        if not self._is_broken:
            self._is_broken = True
            Terminal().warn(
                f"the log {self.baseFilename} cannot be written; the run goes on without it"
            )


@contextmanager
def run_log(settings: "StudySettings", verb: str) -> Iterator[_LogFile]:
    """Write what happens meanwhile to ``NAME.logs/TIME-VERB.log``, and warnings to stderr too.

    Raises:
        StoreError: The folder cannot be written.
    """
    time = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    path = settings.file.parent / f"{settings.name}.logs" / f"{time}-{verb}.log"
    try:
        path.parent.mkdir(exist_ok=True)
        path.touch(mode=0o600)  # warnings may repeat a provider's words
        handler = _LogFile(path, encoding="utf-8", errors="replace")
    except OSError as error:
        raise not_written(path, error) from error
    handler.setFormatter(_UtcFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    to_terminal = logging.StreamHandler(sys.stderr)
    to_terminal.setLevel(logging.WARNING)
    to_terminal.setFormatter(_FittedFormatter("warning: %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.addHandler(to_terminal)
    LOGGER.setLevel(logging.INFO)
    # What it warns of when a connection is lost, the store says itself, in words of its own.
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)
    LOGGER.info("heart %s %s, hearteval %s", verb, settings.file.name, __version__)
    try:
        yield handler
        LOGGER.info("done")
    except HeartError as error:
        LOGGER.info("failed: %s %s", error.kind, " ".join(error.ids))
        raise
    except KeyboardInterrupt:
        LOGGER.info("stopped by the user")
        raise
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.removeHandler(to_terminal)
        handler.close()
