"""What every source of votes or ratings looks like: named columns that come coded, in batches.

A cell is text, a number, or true or false; anything else is refused. Numbers become text (1 and 1.0
read "1"), so that every format gives the same names. One column holds one kind of cell: a text "1"
and a number 1 are never merged in silence.
"""

import difflib
import math
import numbers
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from heartbench.errors import InvalidVotesError, SettingsError

Int32Array = NDArray[np.int32]
_Key = TypeVar("_Key", bound=Hashable)

_SHOWN_NAMES = 30

Report = Callable[[int, int], None]
"""What hears how far the reading is: bytes or rows done, and how many there are."""


def report_nothing(done: int, total: int) -> None:
    """Let progress pass unseen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedColumn:
    """The cells of one column in one batch, as indices into a table of texts.

    Attributes:
        codes: Index of each cell's text, -1 for a missing cell.
        values: The texts. Some may occur twice or belong to no cell of the batch.
    """

    codes: Int32Array
    values: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)


class Table(Protocol):
    """A source of named columns that can be read more than once."""

    @property
    def label(self) -> str:
        """What messages call the source."""

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns there are; of JSON Lines those of the first lines."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong with the source although it can be read."""

    def batches(
        self, names: Sequence[str], report: Report = report_nothing
    ) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield the rows in their order, some of the columns only, each named once.

        Raises:
            SettingsError: A column is missing or holds what is no cell, or the text is not UTF-8.
            InvalidVotesError: The source is cut short or damaged, or a column mixes types.
        """

    def place(self, row: int) -> str:
        """Say where a row is, counted from 1, as in "row 3 (line 4)"."""


class FirstSeen(dict[_Key, int]):
    """Codes of values, 0, 1, 2... in the order in which they are first looked up."""

    def __missing__(self, value: _Key) -> int:
        code = self[value] = len(self)
        return code


class Names(FirstSeen[str]):
    """Codes of texts that come in several batches or columns."""

    def __init__(self) -> None:
        super().__init__()
        self._last: tuple[tuple[str, ...], Int32Array] | None = None

    def translate(self, column: CodedColumn) -> Int32Array:
        """Return the codes that the cells of a column have here, -1 for a missing cell."""
        if self._last is not None and self._last[0] is column.values:
            return self._last[1][column.codes]
        codes = np.empty(len(column.values) + 1, np.int32)
        codes[:-1] = np.fromiter(map(self.__getitem__, column.values), np.int32, len(codes) - 1)
        codes[-1] = -1
        self._last = (column.values, codes)
        return codes[column.codes]


def check_columns(label: str, names: Sequence[str], present: Sequence[str]) -> None:
    """Raise `SettingsError` when a column that was asked for is not there, or there twice."""
    for name in names:
        if name not in present:
            near = find_near(name, present)
            hint = f"; did you mean {near!r}?" if near is not None else ""
            raise SettingsError(f"{label} has no column {name!r}, only {list_names(present)}{hint}")
        _check_single(label, name, present)


def check_unique(label: str, names: Sequence[str]) -> None:
    """Raise `SettingsError` when two columns have one name; spreadsheets leave many blank ones."""
    for name in filter(str.strip, names):
        _check_single(label, name, names)


def find_near(name: str, present: Sequence[str]) -> str | None:
    """Return the name there is that may have been meant, None for none; case does not count."""
    folded = {other.casefold().strip(): other for other in reversed(present)}
    near = difflib.get_close_matches(name.casefold().strip(), folded, n=1)
    return folded[near[0]] if near else None


def list_names(names: Sequence[str]) -> str:
    """List columns for a message, the first of very many."""
    more = f", ... ({len(names):,} in all)" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(map(repr, names[:_SHOWN_NAMES])) + more


def _check_single(label: str, name: str, names: Sequence[str]) -> None:
    if names.count(name) > 1:
        raise SettingsError(f"{label} has two columns named {name!r}; rename or remove one")


def cell_kind(cell: object) -> str | None:
    """Name the kind of a cell; None when it is missing, "" when it can be no cell."""
    match cell:
        case None:
            return None
        case str():
            return "text" if cell else None
        case bool() | np.bool_():
            return "true or false"
        case Decimal() | numbers.Real():
            return None if math.isnan(cell) else "numbers"
    return ""


def cell_text(cell: object) -> str | None:
    """Write a cell as text, None when it is missing."""
    if cell_kind(cell) is None:
        return None
    match cell:
        case bool() | np.bool_():
            return "true" if cell else "false"
        case numbers.Integral():
            return str(int(cell))
        case Decimal():
            return f"{cell:f}".rstrip("0").rstrip(".") if cell % 1 else f"{cell:.0f}"
        case numbers.Real():
            # Adding 0 turns -0.0 into 0.0.
            return repr(float(cell) + 0.0).removesuffix(".0")
    return str(cell)


def list_kinds(cells: Sequence[object]) -> set[str]:
    """Return the kinds of cells among these, "" for what can be no cell; missing ones apart."""
    examples = {type(cell): cell for cell in cells}
    kinds = map(cell_kind, cells if len(examples) > 1 else examples.values())
    return {kind for kind in kinds if kind is not None}


def code_values(codes: Int32Array, cells: Sequence[object]) -> CodedColumn:
    """Make a column of cells that are given as indices into a table, -1 being missing."""
    is_text = set(map(type, cells)) <= {str} and "" not in cells
    texts = cells if is_text else [cell_text(cell) for cell in cells]
    if not is_text and None in texts:
        present = [code if text is not None else -1 for code, text in enumerate(texts)]
        codes = np.array([*present, -1], dtype=np.int32)[codes]
        texts = [text or "" for text in texts]
    return CodedColumn(codes=codes, values=cast("tuple[str, ...]", tuple(texts)))


class CellCoder:
    """Codes one column of Python values, batch after batch, and refuses mixed types.

    Args:
        name: The column, for messages.
        table: The table it belongs to, for messages.
    """

    def __init__(self, name: str, table: Table) -> None:
        self.name = name
        self._table = table
        self._first_rows: dict[str, int] = {}

    def code(self, cells: Sequence[object], first_row: int) -> CodedColumn:
        """Code the next cells, of which the first stands in row `first_row`."""
        self._check_kinds(cells, first_row)
        seen = FirstSeen[Any]()
        codes = np.fromiter(map(seen.__getitem__, cells), np.int32, len(cells))
        for cell in seen:
            if isinstance(cell, str) and not _is_writable(cell):
                self._refuse_character(first_row + list(cells).index(cell))
        return code_values(codes, list(seen))

    def _check_kinds(self, cells: Sequence[object], first_row: int) -> None:
        if set(self._first_rows) == {"text"} and set(map(type, cells)) <= {str, type(None)}:
            return
        kinds = [cell_kind(cell) for cell in cells]
        for kind in set(kinds) - {None} - set(self._first_rows):
            self._first_rows[str(kind)] = first_row + kinds.index(kind)
        if "" in self._first_rows:
            self._refuse_cell(cells, first_row)
        if len(self._first_rows) > 1:
            self._refuse_mixture()

    def _refuse_character(self, row: int) -> None:
        raise InvalidVotesError(
            f"{self._table.label}: {self._table.place(row)} has half a character (a lone "
            f"surrogate) in column {self.name!r}; correct the text"
        )

    def _refuse_cell(self, cells: Sequence[object], first_row: int) -> None:
        row = self._first_rows[""]
        kind = type(cells[row - first_row]).__name__
        raise InvalidVotesError(
            f"{self._table.label}: {self._table.place(row)} holds a {kind} in column "
            f"{self.name!r}; expected text, a number, or true or false"
        )

    def _refuse_mixture(self) -> None:
        rows = sorted((row, kind) for kind, row in self._first_rows.items())
        firsts = ", ".join(f"{kind} first in {self._table.place(row)}" for row, kind in rows)
        raise InvalidVotesError(
            f"{self._table.label}: column {self.name!r} mixes types ({firsts}); "
            "write all its cells as one type"
        )


def _is_writable(text: str) -> bool:
    """Say whether a text is all characters: JSON can spell out half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
