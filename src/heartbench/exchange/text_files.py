"""Text files, compressed or not, that say where they are damaged."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from heartbench.errors import InvalidVotesError, SettingsError


@contextmanager
def open_text(path: Path, *, newline: str) -> Iterator[tuple[TextIO, BinaryIO]]:
    """Open a file as UTF-8 text; also give the file itself, whose position tells the progress.

    Raises:
        SettingsError: The file cannot be opened, or is not UTF-8.
        InvalidVotesError: The compressed file is cut short or damaged.
    """
    try:
        with (
            path.open("rb") as raw,
            io.TextIOWrapper(_decompress(path, raw), encoding="utf-8-sig", newline=newline) as text,
        ):
            yield text, raw
    except UnicodeDecodeError as error:
        line = _first_undecodable_line(path)
        byte = f"byte 0x{error.object[error.start]:02x}"
        problem = f"line {line} is not UTF-8 text ({byte}); save the file as UTF-8"
        raise SettingsError(f"{path}: {problem}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidVotesError(
            f"{path} is cut short or damaged ({error}); fetch or write it again"
        ) from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}") from None


def has_open_end(path: Path) -> bool:
    """Say whether the last line of a text file lacks its end, as it does where a file is cut."""
    last = b""
    with path.open("rb") as raw:
        text = _decompress(path, raw)
        if text is raw:
            raw.seek(-1, io.SEEK_END)
        while block := text.read(1 << 20):
            last = block[-1:]
    return last not in b"\r\n"


def _decompress(path: Path, raw: BinaryIO) -> BinaryIO:
    if path.suffix.lower() == ".gz":
        return cast("BinaryIO", gzip.GzipFile(fileobj=raw))
    return raw


def _first_undecodable_line(path: Path) -> int:
    with path.open("rb") as raw:
        lines = enumerate(_decompress(path, raw), start=1)
        return next(number for number, line in lines if not _is_text(line))


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
