"""CSV, TSV and JSON Lines files, compressed or not -> coded columns, in batches of rows.

In CSV and TSV every cell is text, an empty one is missing, and every row is as long as the header.
JSON Lines hold one object a line; a key that a line lacks is a missing cell, and keys that nobody
asks for may hold anything. Empty lines are skipped. Damage is named with the line where it is.
"""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from hearteval.errors import InvalidVotesError, SettingsError
from hearteval.exchange.tables.columns import CellCoder, CodedColumn, Report, Table, code_cells

BATCH_ROWS = 1 << 16
MAX_CELL = 1 << 26
"""Characters in a cell. The limit is there so that one stray quotation mark takes no more memory.

Python has one for the whole process, 131,072, which dialogues in columns nobody asks for exceed. It
is raised once, and never lowered: rows are read in turns with other code, which may read CSV too.
"""
SEPARATORS = {",": "commas; name the file .csv", "\t": "tabs; name the file .tsv"} | {
    sign: f"{word}; save it with commas" for sign, word in ((";", "semicolons"), ("|", "bars"))
}
HEAD_ROWS = 1000
"""Rows whose keys are the columns, as far as can be told without reading the whole file."""

_Row = dict[str, Any]


class CsvTable(Table):
    """A CSV or TSV file with a header."""

    def __init__(self, path: Path, report: Report) -> None:
        self._path = path
        is_tsv = path.name.lower().removesuffix(".gz").endswith(".tsv")
        self._delimiter = "\t" if is_tsv else ","
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
        with _open_text(path, newline="") as (text, _):
            _, header = next(self._scan(text), (0, None))
        if header is None:
            raise SettingsError(f"{path} is empty; check the path")
        super().__init__(str(path), header, report)
        name = self.column_names[0]
        found = next((sign for sign in SEPARATORS if sign in name), None)
        if len(self.column_names) == 1 and found is not None:
            raise SettingsError(
                f"{self.label} has one column, {name!r}: its cells seem to be separated by "
                f"{SEPARATORS[found]}"
            )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Say when the file may be cut within its last cell, which nothing else would tell."""
        if not _has_open_end(self._path):
            return ()
        problem = "does not end: if the file was cut, its last row is wrong"
        return (f"the last line of {self.label} {problem}",)

    def batches(self, names: Sequence[str]) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield some of the columns, `BATCH_ROWS` rows at a time."""
        self.check_columns(names)
        places = {name: self.column_names.index(name) for name in names}
        with _open_text(self._path, newline="") as (text, raw):
            size = self._path.stat().st_size
            first_row = 1
            rows = filter(None, csv.reader(text, delimiter=self._delimiter, strict=True))
            next(rows)
            while batch := self._next_rows(rows):
                self._check_widths(batch, first_row)
                yield {
                    name: code_cells(map(itemgetter(place), batch), len(batch))
                    for name, place in places.items()
                }
                first_row += len(batch)
                self.report(raw.tell(), size)

    def place(self, row: int) -> str:
        """Say in which row and line something stands."""
        with _open_text(self._path, newline="") as (text, _):
            line, _ = next(islice(self._scan(text), row, None))
        return f"row {row} (line {line})"

    def _scan(self, text: TextIO) -> Iterator[tuple[int, list[str]]]:
        """Yield each row that is not empty, the header first, with the line on which it starts."""
        reader = csv.reader(text, delimiter=self._delimiter, strict=True)
        line = 1
        try:
            for row in reader:
                if row:
                    yield line, row
                line = reader.line_num + 1
        except csv.Error as error:
            reason = str(error)
            if reason == "unexpected end of data":
                reason = "a quoted cell has no end"
            advice = "a quotation mark is missing or not doubled, or the file is cut short"
            problem = f"line {line}: {reason}; {advice}"
            raise InvalidVotesError(f"{self._path}, {problem}") from None

    def _next_rows(self, rows: Iterator[list[str]]) -> list[list[str]]:
        try:
            return list(islice(rows, BATCH_ROWS))
        except csv.Error:
            # Rows may span lines, so where the faulty one starts takes a reading of its own.
            with _open_text(self._path, newline="") as (text, _):
                for _ in self._scan(text):
                    pass
            raise

    def _check_widths(self, rows: Sequence[Sequence[str]], first_row: int) -> None:
        width = len(self.column_names)
        widths = list(map(len, rows))
        if set(widths) == {width}:
            return
        bad = next(index for index, got in enumerate(widths) if got != width)
        raise InvalidVotesError(
            f"{self.label}: {self.place(first_row + bad)} has {widths[bad]} cells where the header "
            f"has {width}; correct the row, or fetch the file again if it ends there"
        )


class JsonLinesTable(Table):
    """A file of JSON objects, one a line. One cut within a line is never read as whole."""

    def __init__(self, path: Path, report: Report) -> None:
        self._path = path
        with self._open() as (rows, _):
            keys = (key for _, row in islice(rows, HEAD_ROWS) for key in row)
            super().__init__(str(path), tuple(dict.fromkeys(keys)), report)
        if not self.column_names:
            raise SettingsError(f"{path} is empty; check the path")

    def batches(self, names: Sequence[str]) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield some of the columns, `BATCH_ROWS` rows at a time."""
        coders = {name: CellCoder(name, self) for name in names}
        keys = dict.fromkeys(self.column_names)
        first_row = 1
        with self._open() as (rows, raw):
            size = self._path.stat().st_size
            while batch := [row for _, row in islice(rows, BATCH_ROWS)]:
                for row in batch:
                    keys.update(row)
                yield {
                    name: coder.code([row.get(name) for row in batch], first_row)
                    for name, coder in coders.items()
                }
                first_row += len(batch)
                self.report(raw.tell(), size)
        self.column_names = tuple(keys)
        self.check_columns(names)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield each object."""
        with self._open() as (rows, _):
            yield from (row for _, row in rows)

    def place(self, row: int) -> str:
        """Say in which row and line something stands."""
        with self._open() as (rows, _):
            line, _ = next(islice(rows, row - 1, None))
        return f"row {row} (line {line})"

    @contextmanager
    def _open(self) -> Iterator[tuple[Iterator[tuple[int, _Row]], BinaryIO]]:
        """Give each object with its line number, and the file they are read from."""
        # Lines end at a line feed only: JSON text may hold the other characters that break lines.
        with _open_text(self._path, newline="\n") as (text, raw):
            lines = ((n, line) for n, line in enumerate(text, start=1) if not line.isspace())
            yield ((number, self._parse(number, line)) for number, line in lines), raw

    def _parse(self, number: int, line: str) -> _Row:
        try:
            row = _decode(line)
            got = f"a {type(row).__name__}"
            advice = ""
        except (ValueError, RecursionError) as error:
            row, got = None, str(error).replace("line 1 column", "column")
            advice = "; correct the line, or fetch the file again if it ends there"
        if not isinstance(row, dict):
            problem = f"expected one JSON object a line, got {got}{advice}"
            raise InvalidVotesError(f"{self._path}, line {number}: {problem}")
        return row


def _decode(line: str) -> Any:
    try:
        return _DECODER.decode(line)
    except ValueError:
        return _PATIENT_DECODER.decode(line)


def _read_integer(digits: str) -> int | str:
    """Leave an integer of more digits than Python reads (4,300) as text."""
    try:
        return int(digits)
    except ValueError:
        return digits


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> _Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("one key twice")
    return row


# Twice as fast as json.loads, which makes a decoder for each line.
_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeated_keys)
_PATIENT_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_repeated_keys, parse_int=_read_integer
)


@contextmanager
def _open_text(path: Path, *, newline: str) -> Iterator[tuple[TextIO, BinaryIO]]:
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


def _has_open_end(path: Path) -> bool:
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
        return next(n for n, line in lines if line.decode(errors="ignore").encode() != line)
