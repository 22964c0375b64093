"""A log file for each run: what was done and when, with ids and counts and no dialogue text."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from heartbench import __version__
from heartbench.cli.console import utc_now, warn
from heartbench.config import StudySettings
from heartbench.errors import HeartbenchError, StoreError

logger = logging.getLogger("heartbench")


class _UtcFormatter(logging.Formatter):
    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


class _LogFile(logging.FileHandler):
    """A log that says once when it cannot be written, and lets the run go on."""

    _is_broken = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        if not self._is_broken:
            self._is_broken = True
            warn(f"the log {self.baseFilename} cannot be written; the run goes on without it")


@contextmanager
def run_log(settings: StudySettings, verb: str) -> Iterator[Path]:
    """Write what happens meanwhile to ``NAME.logs/TIME-VERB.log``, and warnings to stderr too.

    Raises:
        StoreError: The folder cannot be written.
    """
    time = utc_now().strftime("%Y%m%dT%H%M%S.%fZ")
    path = settings.file.parent / f"{settings.name}.logs" / f"{time}-{verb}.log"
    try:
        path.parent.mkdir(exist_ok=True)
        handler = _LogFile(path, encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror}); check the folder and its permissions"
        ) from error
    handler.setFormatter(_UtcFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    to_terminal = logging.StreamHandler(sys.stderr)
    to_terminal.setLevel(logging.WARNING)
    to_terminal.setFormatter(logging.Formatter("warning: %(message)s"))
    logger.addHandler(handler)
    logger.addHandler(to_terminal)
    logger.setLevel(logging.INFO)
    logger.info("heart %s %s, heartbench %s", verb, settings.file.name, __version__)
    try:
        yield path
        logger.info("done")
    except HeartbenchError as error:
        logger.info("failed: %s %s", error.kind, " ".join(error.ids))
        raise
    except KeyboardInterrupt:
        logger.info("stopped by the user")
        raise
    finally:
        logger.removeHandler(handler)
        logger.removeHandler(to_terminal)
        handler.close()
