"""What every source of votes or ratings looks like: named columns that come coded, in batches.

A cell is text, a number, true or false, a date, a time of a date, or a UUID; anything else is
refused. Numbers become text (1 and 1.0
read "1"), so that every format gives the same names. One column holds one kind of cell: a text "1"
and a number 1 are never merged in silence. In votes and ratings a word for a missing cell is one,
and said; two names that look alike are said and not corrected: somebody may mean it.
"""

import difflib
import math
import numbers
import re
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, TypeVar, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hearteval.domain.systems import SIMULATED
from hearteval.errors import InvalidVotesError, SettingsError

Int32Array = NDArray[np.int32]
_Key = TypeVar("_Key", bound=Hashable)

Report = Callable[[int, int], None]
"""What hears how far the reading is: bytes or rows done, and how many there are."""

MISSING_WORDS = frozenset(
    {"NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"}
)
"""What other programs write for a missing cell; in votes and ratings it is one."""
_SHOWN_COLUMNS = 30
_SHOWN_ALIKE = 5
_INVISIBLE = re.compile(
    "[\\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]+"
)
"""White space, and characters that take no room or show nothing."""
_LIKE_LATIN = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u03bf\u03bd", "aeopcyxijsov"
)
"""Small letters of other scripts that look like Latin ones."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""JSON can spell out half a surrogate pair, which is no character."""


def report_nothing(done: int, total: int) -> None:
    """Let progress pass unseen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedColumn:
    """The cells of one column in one batch, as indices into a table of texts, -1 if missing.

    Of the texts some may occur twice or belong to no cell of the batch.
    """

    codes: Int32Array
    values: tuple[str, ...]


class Table(ABC):
    """A source of named columns that can be read more than once.

    Messages call it by its label. Of JSON Lines, the columns are those of the first lines; `report`
    is told how far a reading is.
    """

    def __init__(self, label: str, column_names: Sequence[str], report: Report) -> None:
        self.label = label
        self.column_names = tuple(column_names)
        self.report = report
        for name in filter(str.strip, self.column_names):  # spreadsheets leave many blank ones
            self._check_single(name)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong with the source although it can be read."""
        return ()

    @abstractmethod
    def batches(self, names: Sequence[str]) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield the rows in their order, some of the columns only, each named once.

        Raises:
            SettingsError: A column is missing or holds what is no cell, or the text is not UTF-8.
            InvalidVotesError: The source is cut short or damaged, or a column mixes types.
        """

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield each row with all that it holds, lists and objects too.

        Raises:
            SettingsError: The source has columns and no such rows.
        """
        raise SettingsError(
            f"{self.label}: nested rows are read from .jsonl files and lists of dictionaries only"
        )

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise `SettingsError` when a column that is asked for is not there, or there twice."""
        for name in names:
            if name not in self.column_names:
                near = find_near(name, self.column_names)
                hint = f"; did you mean {near!r}?" if near is not None else ""
                there_are = list_names(self.column_names)
                raise SettingsError(f"{self.label} has no column {name!r}, only {there_are}{hint}")
            self._check_single(name)

    def says_simulated(self) -> bool:
        """Say whether a row says of itself that it is simulated, as all that is made of such do."""
        if SIMULATED not in self.column_names:
            return False
        batches = (batch[SIMULATED] for batch in self.batches((SIMULATED,)))
        return any("true" in {str(v).lower() for v in coded.values} for coded in batches)

    def _check_single(self, name: str) -> None:
        if self.column_names.count(name) > 1:
            raise SettingsError(
                f"{self.label} has two columns named {name!r}; rename or remove one"
            )

    def place(self, row: int) -> str:
        """Say where a row is, counted from 1, as in "row 3 (line 4)"."""
        return f"row {row}"

    def refuse_type(self, name: str, kind: object) -> SettingsError:
        """Return the error for a column of lists or the like."""
        expected = "text, numbers, true and false, dates or UUIDs"
        return SettingsError(f"{self.label}: column {name!r} holds {kind}; expected {expected}")


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
        codes = np.array([*map(self.__getitem__, column.values), -1], dtype=np.int32)
        self._last = (column.values, codes)
        return codes[column.codes]


def sort_values(texts: Iterable[str]) -> list[str]:
    """Sort the values of a column: numbers as such where all of them are, else as texts."""
    texts = sorted(texts)
    try:
        return sorted(texts, key=float)
    except ValueError:
        return texts


def find_near(name: str, present: Sequence[str]) -> str | None:
    """Return the name there is that may have been meant, None for none; case does not count."""
    folded = {other.casefold().strip(): other for other in reversed(present)}
    near = difflib.get_close_matches(name.casefold().strip(), folded, n=1)
    return folded[near[0]] if near else None


def list_names(names: Sequence[str]) -> str:
    """List columns for a message, the first of very many."""
    more = f", ... ({len(names):,} in all)" if len(names) > _SHOWN_COLUMNS else ""
    return ", ".join(map(repr, names[:_SHOWN_COLUMNS])) + more


def is_blank(text: str) -> bool:
    """Say whether a cell shows nothing: it is empty, or blanks and invisible characters."""
    return not text or text.isspace() or _INVISIBLE.fullmatch(text) is not None


def has_blank(texts: Iterable[object]) -> bool:
    """Say whether a text among these shows nothing."""
    return any(is_blank(text) for text in texts if isinstance(text, str))


def cell_kind(cell: object) -> str | None:
    """Name the kind of a cell; None when it is missing, "" when it can be no cell."""
    match cell:
        case None:
            return None
        case str():
            return None if is_blank(cell) else "text"
        case bool() | np.bool_():
            return "true or false"
        case numbers.Integral():  # also one that is too large for a float
            return "numbers"
        case Decimal() | numbers.Real():
            return None if math.isnan(cell) else "numbers"
    return _kind_of_name(cell)


def _kind_of_name(cell: object) -> str | None:
    if isinstance(cell, date | np.datetime64):
        return "dates" if cell == cell else None  # noqa: PLR0124 - what is no date is not itself
    return "UUIDs" if isinstance(cell, UUID) else ""


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
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def list_kinds(cells: Sequence[object]) -> set[str]:
    """Return the kinds of cells among these, "" for what can be no cell; missing ones apart."""
    examples = {type(cell): cell for cell in cells}
    kinds = map(cell_kind, cells if len(examples) > 1 else examples.values())
    return {kind for kind in kinds if kind is not None}


def code_cells(cells: Iterable[object], n_cells: int) -> CodedColumn:
    """Make a column of cells that are given as Python values."""
    seen = FirstSeen[Any]()
    codes = np.fromiter(map(seen.__getitem__, cells), np.int32, n_cells)
    return code_values(codes, list(seen))


def code_values(codes: Int32Array, cells: Sequence[object]) -> CodedColumn:
    """Make a column of cells that are given as indices into a table, -1 being missing."""
    is_text = set(map(type, cells)) <= {str} and not has_blank(cells)
    texts = cells if is_text else [cell_text(cell) for cell in cells]
    if not is_text and None in texts:
        present = [code if text is not None else -1 for code, text in enumerate(texts)]
        codes = np.array([*present, -1], dtype=np.int32)[codes]
        texts = [text or "" for text in texts]
    return CodedColumn(codes=codes, values=cast("tuple[str, ...]", tuple(texts)))


class CellCoder:
    """Codes one column of Python values, batch after batch, and refuses mixed types."""

    def __init__(self, name: str, table: Table) -> None:
        self.name = name
        self._table = table
        self._first_rows: dict[str, int] = {}

    def code(self, cells: Sequence[object], first_row: int) -> CodedColumn:
        """Code the next cells, of which the first stands in row `first_row`."""
        self._check_kinds(cells, first_row)
        column = code_cells(cells, len(cells))
        bad = next(filter(_LONE_SURROGATE.search, column.values), None)
        if bad is not None:
            row = first_row + list(cells).index(bad)
            raise self._refuse(row, "has half a character (a lone surrogate)", "correct the text")
        return column

    def _check_kinds(self, cells: Sequence[object], first_row: int) -> None:
        if set(self._first_rows) == {"text"} and set(map(type, cells)) <= {str, type(None)}:
            return
        kinds = [cell_kind(cell) for cell in cells]
        for kind in set(kinds) - {None} - set(self._first_rows):
            self._first_rows[str(kind)] = first_row + kinds.index(kind)
        if "" in self._first_rows:
            row = self._first_rows[""]
            held = f"holds a {type(cells[row - first_row]).__name__}"
            raise self._refuse(
                row, held, "expected text, a number, true or false, a date or a UUID"
            )
        if len(self._first_rows) > 1:
            rows = sorted((row, kind) for kind, row in self._first_rows.items())
            firsts = ", ".join(f"{kind} first in {self._table.place(row)}" for row, kind in rows)
            raise InvalidVotesError(
                f"{self._table.label}: column {self.name!r} mixes types ({firsts}); "
                "write all its cells as one type"
            )

    def _refuse(self, row: int, problem: str, advice: str) -> InvalidVotesError:
        place = f"{self._table.label}: {self._table.place(row)}"
        return InvalidVotesError(f"{place} {problem} in column {self.name!r}; {advice}")


class MissingWords:
    """Takes words for a missing cell as such, and counts them by column."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)

    def drop(self, name: str, column: CodedColumn, *, meant: Collection[str] = ()) -> CodedColumn:
        """Return a column without such cells; words that somebody said are `meant` stay."""
        words = MISSING_WORDS.intersection(column.values).difference(meant)
        if not words:
            return column
        codes = column.codes.copy()
        for code, text in enumerate(column.values):
            if text in words:
                is_word = column.codes == code
                self._counts[name][text] += int(np.count_nonzero(is_word))
                codes[is_word] = -1
        return CodedColumn(codes=codes, values=column.values)

    def warnings(self) -> list[str]:
        """Return a warning for each column with such cells."""
        warnings = []
        for name, counts in sorted(self._counts.items()):
            words = ", ".join(f"{word!r} ({n:,})" for word, n in sorted(counts.items()) if n)
            if words:
                warnings.append(
                    f"column {name!r} has cells that read {words}: they count as missing; write"
                    " another word where that is a name or a value"
                )
        return warnings


def list_hidden(names: Iterable[str]) -> str | None:
    """List names that look the same: they differ in blanks or invisible characters; None for none.

    Each name is given once.
    """
    # Only what is not plain can look like something else, and names may be very many.
    names = list(names)
    odd = [name for name in names if not (name.isascii() and " ".join(name.split()) == name)]
    keys = {_visible(name) for name in odd}
    groups = defaultdict(list)
    for name in names if keys else ():
        key = _visible(name)
        if key in keys:
            groups[key].append(name)
    return _list_alike([sorted(group) for group in groups.values() if len(group) > 1])


def warn_of_look_alikes(kind: str, names: Iterable[str]) -> list[str]:
    """Return a warning that names those that differ only in case, white space or encoding.

    `kind` says what they are, e.g. "systems"; each name is given once.
    """
    groups = defaultdict(list)
    for name in names:
        plain = unicodedata.normalize("NFKC", _INVISIBLE.sub(_one_blank, name)).casefold()
        groups[" ".join(plain.translate(_LIKE_LATIN).split())].append(name)
    alike = _list_alike([sorted(group) for group in groups.values() if len(group) > 1])
    if alike is None:
        return []
    text = f"{kind} that differ only in case, white space or encoding {alike}"
    return [f"{text}; write them alike if they are one"]


def warn_of_hidden(kind: str, names: Iterable[str]) -> list[str]:
    """Return a warning that names those that look the same, as `list_hidden`."""
    hidden = list_hidden(names)
    if hidden is None:
        return []
    text = f"{kind} that differ only in blanks or invisible characters {hidden}"
    return [f"{text}; write them alike if they are one"]


def _visible(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(_INVISIBLE.sub(_one_blank, name).split()))


def _one_blank(found: re.Match[str]) -> str:
    return " " if any(map(str.isspace, found[0])) else ""


def _list_alike(groups: list[list[str]]) -> str | None:
    if not groups:
        return None
    shown = "; ".join(map(_show_alike, sorted(groups)[:_SHOWN_ALIKE]))
    return f"({len(groups):,}): {shown}" + ("; ..." if len(groups) > _SHOWN_ALIKE else "")


def _show_alike(group: list[str]) -> str:
    # Two encodings of one letter look the same unless they are spelled out.
    bare = {unicodedata.normalize("NFKC", name) for name in group}
    is_clear = len(bare) == len(group) and not any(map(_may_mislead, group))
    return " and ".join(map(repr if is_clear else ascii, group))


def _may_mislead(name: str) -> bool:
    folded = name.casefold()
    return not name.isascii() and (
        _INVISIBLE.search(name) is not None or folded.translate(_LIKE_LATIN) != folded
    )
