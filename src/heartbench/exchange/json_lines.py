"""JSON Lines files -> coded columns, in batches of rows: one object a line, empty lines skipped.

A key that a line lacks is a missing cell. Keys that nobody asks for may hold anything.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from heartbench.errors import InvalidVotesError, SettingsError
from heartbench.exchange.columns import (
    CellCoder,
    CodedColumn,
    Report,
    check_columns,
    report_nothing,
)
from heartbench.exchange.text_files import open_text

BATCH_ROWS = 1 << 16
HEAD_ROWS = 1000
"""Rows whose keys are the columns, as far as can be told without reading the whole file."""

_Row = dict[str, Any]


class JsonLinesTable:
    """A file of JSON objects, one a line. One cut within a line is never read as whole."""

    warnings = ()

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as (rows, _):
            keys = (key for _, row in islice(rows, HEAD_ROWS) for key in row)
            self.column_names = tuple(dict.fromkeys(keys))
        if not self.column_names:
            raise SettingsError(f"{path} is empty; check the path")

    @property
    def label(self) -> str:
        """The file's name, with its folder."""
        return str(self._path)

    def batches(
        self, names: Sequence[str], report: Report = report_nothing
    ) -> Iterator[Mapping[str, CodedColumn]]:
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
                report(raw.tell(), size)
        check_columns(self.label, names, tuple(keys))

    def place(self, row: int) -> str:
        """Say in which row and line something stands."""
        with self._open() as (rows, _):
            line, _ = next(islice(rows, row - 1, None))
        return f"row {row} (line {line})"

    @contextmanager
    def _open(self) -> Iterator[tuple[Iterator[tuple[int, _Row]], BinaryIO]]:
        """Give each object with its line number, and the file they are read from."""
        # Lines end at a line feed only: JSON text may hold the other characters that break lines.
        with open_text(self._path, newline="\n") as (text, raw):
            lines = ((n, line) for n, line in enumerate(text, start=1) if not line.isspace())
            yield ((number, self._parse(number, line)) for number, line in lines), raw

    def _parse(self, number: int, line: str) -> _Row:
        try:
            row = _decode(line)
        except (ValueError, RecursionError) as error:
            reason = str(error).replace("line 1 column", "column")
            advice = "correct the line, or fetch the file again if it ends there"
            problem = f"expected one JSON object a line, got {reason}; {advice}"
            raise InvalidVotesError(f"{self.label}, line {number}: {problem}") from None
        if not isinstance(row, dict):
            problem = f"expected one JSON object a line, got a {type(row).__name__}"
            raise InvalidVotesError(f"{self.label}, line {number}: {problem}")
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
