"""CSV and TSV files -> coded columns, in batches of rows.

Every cell is text, an empty one is missing, and every row is as long as the header.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TextIO

import numpy as np

from heartbench.errors import InvalidVotesError, SettingsError
from heartbench.exchange.columns import (
    CodedColumn,
    FirstSeen,
    Report,
    check_columns,
    check_unique,
    code_values,
    report_nothing,
)
from heartbench.exchange.text_files import has_open_end, open_text

BATCH_ROWS = 1 << 16
MAX_CELL = 1 << 26
"""Characters in a cell. The limit is there so that one stray quotation mark takes no more memory.

Python has one for the whole process, 131,072, which dialogues in columns nobody asks for exceed. It
is raised once, and never lowered: rows are read in turns with other code, which may read CSV too.
"""
SEPARATORS = {",": "commas; name the file .csv", "\t": "tabs; name the file .tsv"} | {
    sign: f"{word}; save it with commas" for sign, word in ((";", "semicolons"), ("|", "bars"))
}


class CsvTable:
    """A CSV or TSV file with a header; empty lines are skipped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        is_tsv = path.name.lower().removesuffix(".gz").endswith(".tsv")
        self._delimiter = "\t" if is_tsv else ","
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
        with open_text(path, newline="") as (text, _):
            _, header = next(self._scan(text), (0, None))
        if header is None:
            raise SettingsError(f"{path} is empty; check the path")
        self.column_names = tuple(header)
        self._check_separator()
        check_unique(self.label, self.column_names)

    @property
    def label(self) -> str:
        """The file's name, with its folder."""
        return str(self._path)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Say when the file may be cut within its last cell, which nothing else would tell."""
        if not has_open_end(self._path):
            return ()
        problem = "does not end: if the file was cut, its last row is wrong"
        return (f"the last line of {self.label} {problem}",)

    def batches(
        self, names: Sequence[str], report: Report = report_nothing
    ) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield some of the columns, `BATCH_ROWS` rows at a time."""
        check_columns(self.label, names, self.column_names)
        with open_text(self._path, newline="") as (text, raw):
            size = self._path.stat().st_size
            first_row = 1
            rows = filter(None, csv.reader(text, delimiter=self._delimiter, strict=True))
            next(rows)
            while batch := self._next_rows(rows):
                self._check_widths(batch, first_row)
                yield {name: self._code(batch, name) for name in names}
                first_row += len(batch)
                report(raw.tell(), size)

    def place(self, row: int) -> str:
        """Say in which row and line something stands."""
        with open_text(self._path, newline="") as (text, _):
            line, _ = next(islice(self._scan(text), row, None))
        return f"row {row} (line {line})"

    def _check_separator(self) -> None:
        """Raise `SettingsError` when one column is all there is because cells end otherwise."""
        name = self.column_names[0]
        found = next((sign for sign in SEPARATORS if sign in name), None)
        if len(self.column_names) == 1 and found is not None:
            raise SettingsError(
                f"{self.label} has one column, {name!r}: its cells seem to be separated by "
                f"{SEPARATORS[found]}"
            )

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
            raise InvalidVotesError(f"{self.label}, {problem}") from None

    def _next_rows(self, rows: Iterator[list[str]]) -> list[list[str]]:
        try:
            return list(islice(rows, BATCH_ROWS))
        except csv.Error:
            # Rows may span lines, so where the faulty one starts takes a reading of its own.
            with open_text(self._path, newline="") as (text, _):
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

    def _code(self, rows: Sequence[Sequence[str]], name: str) -> CodedColumn:
        seen = FirstSeen[str]()
        cells = map(itemgetter(self.column_names.index(name)), rows)
        codes = np.fromiter(map(seen.__getitem__, cells), np.int32, len(rows))
        return code_values(codes, list(seen))
