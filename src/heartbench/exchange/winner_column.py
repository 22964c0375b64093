"""A winner column -> outcomes, the whole of it read in one vocabulary.

Each vocabulary stays a candidate until a row refutes it; none left, or two that differ on a row, is
an error. No label is guessed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from heartbench.errors import InvalidVotesError, SettingsError
from heartbench.exchange.columns import Int32Array, Names, Table
from heartbench.exchange.name_warnings import MISSING_WORDS
from heartbench.exchange.vocabulary import (
    LEFT,
    RIGHT,
    UNKNOWN,
    OutcomeNames,
    list_candidates,
)
from heartbench.stats.comparisons import IntArray

_SIDES = 3
_SHOWN_ROWS = 5
_OPTIONS = "--left-name, --right-name and --tie-name"


@dataclass(slots=True, kw_only=True)
class _Cells:
    """The cells with one label, or with any that no vocabulary knows, on one side.

    Attributes:
        label: The label; None for those that no vocabulary knows.
        side: Whose name it is in its row.
        count: How many cells.
        rows: Row and text code of the first few.
    """

    label: str | None
    side: int
    count: int = 0
    rows: list[tuple[int, int]] = field(default_factory=list)


class WinnerColumn:
    """Collects the cells of a winner column, batch after batch, then says what they mean.

    What a cell means depends on its label, if a vocabulary knows it, and on whose name that is.
    These few combinations are numbered as they come; rows are remembered for messages only.

    Args:
        names: What somebody says the labels mean.
        texts: Codes of labels and systems.
    """

    def __init__(self, names: OutcomeNames, texts: Names) -> None:
        self._candidates = list_candidates(names)
        known = sorted({label for v in self._candidates for label in v.outcomes})
        self._labels = (None, *known)
        self._number_of_label = {label: number for number, label in enumerate(self._labels)}
        self._texts = texts
        self._number_of_text = np.zeros(0, np.int32)
        self._cells: list[_Cells] = []
        self._place = np.full(_SIDES * len(self._labels), -1, np.int32)

    def add(
        self, winner: Int32Array, left: Int32Array, right: Int32Array, rows: IntArray
    ) -> Int32Array:
        """Note more cells; return the number of each one's combination.

        Args:
            winner: The label of each cell, by the code of its text.
            left: The left system of its row, by the code of its text.
            right: The right system, another one.
            rows: Where each cell stands, for messages.
        """
        new = islice(self._texts, len(self._number_of_text), None)
        numbers = [self._number_of_label.get(text, 0) for text in new]
        self._number_of_text = np.append(self._number_of_text, np.array(numbers, dtype=np.int32))
        codes = self._number_of_text[winner] * np.int32(_SIDES)
        codes += (winner == left) * np.int32(LEFT)
        codes += (winner == right) * np.int32(RIGHT)
        counts = np.bincount(codes, minlength=len(self._place))
        for code in np.flatnonzero(counts).tolist():
            cells = self._find_cells(code)
            cells.count += int(counts[code])
            n_lacking = _SHOWN_ROWS - len(cells.rows)
            if n_lacking > 0:
                found = np.flatnonzero(codes == code)[:n_lacking]
                cells.rows += zip(rows[found].tolist(), winner[found].tolist(), strict=True)
        places: Int32Array = self._place[codes]
        return places

    def decide(self, table: Table, column: str) -> IntArray:
        """Return the outcome that each combination means.

        Args:
            table: The table, for messages.
            column: The column's name, for messages.

        Raises:
            InvalidVotesError: No vocabulary knows the labels of all rows.
            SettingsError: Two vocabularies do, and differ on a row.
        """
        where = f"{table.label}, column {column!r}"
        readings = {
            v.title: [v.read(c.label, c.side) for c in self._cells] for v in self._candidates
        }
        fitting = [title for title, outcomes in readings.items() if UNKNOWN not in outcomes]
        if not fitting:
            raise InvalidVotesError(f"{where}: {self._describe_unknown(readings, table)}")
        for other in fitting[1:]:
            pairs = zip(readings[fitting[0]], readings[other], strict=True)
            differing = [c for c, (a, b) in zip(self._cells, pairs, strict=True) if a != b]
            if differing:
                raise SettingsError(
                    f"{where} can be read as {fitting[0]} and as {other}, which differ, as in "
                    f"{self._show(differing, table)[0]}; say what the labels mean with "
                    f"{_OPTIONS}, or, if they are systems' names, rename the systems"
                )
        return np.array(readings[fitting[0]], dtype=np.int64)

    def _find_cells(self, code: int) -> _Cells:
        if self._place[code] < 0:
            self._place[code] = len(self._cells)
            label, side = self._labels[code // _SIDES], code % _SIDES
            self._cells.append(_Cells(label=label, side=side))
        return self._cells[int(self._place[code])]

    def _describe_unknown(self, readings: Mapping[str, list[int]], table: Table) -> str:
        unknown = {
            title: [c for c, o in zip(self._cells, outcomes, strict=True) if o == UNKNOWN]
            for title, outcomes in readings.items()
        }
        n_rows = sum(cells.count for cells in self._cells)
        best = min(unknown, key=lambda title: sum(cells.count for cells in unknown[title]))
        n_unknown = sum(cells.count for cells in unknown[best])
        if n_unknown < n_rows:
            problem = f"{n_unknown:,} of {n_rows:,} rows are not in {best}, as the others are"
        else:
            problem = f"the labels of all {n_rows:,} rows are unknown"
        examples = ", ".join(self._show(unknown[best], table))
        more = ", ..." if n_unknown > _SHOWN_ROWS else ""
        known = ", ".join(readings)
        texts = {text for c in unknown[best] for _, text in c.rows}
        is_missing = not MISSING_WORDS.isdisjoint(list(self._texts)[text] for text in texts)
        empty = ", leave a cell empty if it means missing" if is_missing else ""
        return (
            f"{problem}: {examples}{more}. All must be in one vocabulary ({known}); correct the "
            f"labels{empty}, or say what they mean with {_OPTIONS}"
        )

    def _show(self, cells: Sequence[_Cells], table: Table) -> list[str]:
        """Say what the first rows among these cells hold."""
        texts = list(self._texts)
        rows = sorted(row for found in cells for row in found.rows)[:_SHOWN_ROWS]
        return [f"{table.place(row)} has {texts[text]!r}" for row, text in rows]
