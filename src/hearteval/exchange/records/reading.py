"""A table of records from elsewhere -> cells by what they are, whatever its columns are called.

Columns have the names under which `heart export` writes them unless somebody says otherwise. What
a cell means, whether its item exists and whether it may be stored, is decided where a study is
known; here is only what a file says, and where.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

import numpy as np

from hearteval.domain import AXIS_NAMES, Axis, Choice
from hearteval.errors import SettingsError, StoreError, first_few
from hearteval.exchange.arguments import check_roles
from hearteval.exchange.tables import open_table
from hearteval.exchange.tables.columns import (
    CodedColumn,
    Names,
    Report,
    Table,
    find_near,
    list_names,
    report_nothing,
)
from hearteval.exchange.votes import OutcomeNames
from hearteval.exchange.votes.winner import LEFT_WON, RIGHT_WON, WinnerColumn
from hearteval.labels.taxonomy import taxonomies_of_replies
from hearteval.models.failures import held_secrets, hide_known

Kind = Literal["completions", "judgments", "ratings", "labels", "raters"]
MAX_SHOWN, MAX_PLACES = 20, 3
"""Faults of a file that a message lists, and rows that it names of each."""
OF_RATER = ("rater", "rater_kind", "rater_family", "rater_group")
OF_CALL = ("seconds", "prompt_hash", "finish_reason", "created_at")
KNOWN: Mapping[Kind, tuple[str, ...]] = {
    "completions": (
        *("item", "system", "text", "writer", "writer_group", "repeat", "prompt_hash"),
        *("finish_reason", "first_token_ms", "first_reasoning_ms", "total_ms", "created_at"),
    ),
    "judgments": (
        *("item", "first", "first_completion_id", "first_writer", "first_repeat"),
        *("second", "second_completion_id", "second_writer", "second_repeat"),
        *OF_RATER,
        "rater_id",
        *("winner", "strength", "rationale", "repeat", "check"),
        *OF_CALL,
    ),
    "ratings": (
        *("item", "system", "system_completion_id", "system_writer", "system_repeat"),
        *OF_RATER,
        "rater_id",
        "repeat",
        *OF_CALL,
    ),
    "labels": (
        *("item", "system", "system_completion_id", "system_writer", "system_repeat"),
        *("taxonomy", "taxonomy_version", "category", "verdict", "probability", "evidence"),
        *OF_RATER,
        "created_at",
    ),
    "raters": (*OF_RATER, "pool"),
}
"""What a table of each kind may say, marks and words about axes apart."""
NEEDED: Mapping[Kind, tuple[str, ...]] = {
    "completions": ("item", "system", "text"),
    "judgments": ("item", "first", "second", "winner", "rater"),
    "ratings": ("item", "system", "rater"),
    "labels": ("item", "system", "category", "verdict", "rater"),
    "raters": ("rater",),
}
OF_LABEL = ("category", "verdict")
"""What the columns of categories say by themselves."""
OTHER_NAMES = {
    "item": ("item_id", "dialogue_id"),
    "winner": ("choice",),
    "system_completion_id": ("completion_id",),
}
"""Names of columns that are looked for before the one that says what it is."""
OF_AXIS: Mapping[Kind, tuple[str, ...]] = {
    "judgments": ("", "_strength", "_reason"),
    "ratings": ("", "_comment"),
}
"""Endings of columns about an axis, after its letter."""
CONSTANTS = frozenset({"system", "rater", "rater_kind", "rater_group", "strength", "taxonomy"})
"""What may also be said once for the whole file."""
AS_SHOWN = OutcomeNames(left=("first",), right=("second",), tie=("tie",))
"""How exported tables say who won."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumns:
    """What somebody says of a table's columns.

    Attributes:
        named: Columns, or values that hold for all rows, by what they are; as in `KNOWN`.
        axes: The column of each axis's winner, or score, by axis.
        axis_strengths: Likewise of how clear it is.
        axis_words: Likewise of what was said about it.
        outcomes: What labels of the columns of winners mean.
    """

    named: Mapping[str, str] = field(default_factory=dict)
    axes: Mapping[Axis, str] = field(default_factory=dict)
    axis_strengths: Mapping[Axis, str] = field(default_factory=dict)
    axis_words: Mapping[Axis, str] = field(default_factory=dict)
    outcomes: OutcomeNames = field(default_factory=OutcomeNames)


class RecordTable:
    """A table that was read: cells by what they are, None where one is missing.

    Attributes:
        label: What messages call it.
        n_rows: Its rows.
        used: The column of each thing it says.
        marked: Columns of a table of labels that are a category each, where none names categories.
        sha256: Of the file.
        is_simulated: Whether it says so of itself.
        warnings: What may be wrong with it although it can be read.
    """

    def __init__(
        self, path: Path, kind: Kind, columns: TableColumns, report: Report = report_nothing
    ) -> None:
        table = open_table(path, report)
        self._table = table
        self.label, self.name = table.label, path.name
        self.is_simulated = table.says_simulated()
        self.marked = _marked_columns(table, columns) if kind == "labels" else ()
        self.used, self._constants = _find_columns(table, kind, columns, self.marked)
        check_roles(dict(self.used))
        self._read: dict[str, list[str | None]] = {name: [] for name in self.used.values()}
        self._repeated: dict[str, list[str | None]] = {}
        for batch in table.batches(tuple(self._read)):
            for name, coded in batch.items():
                self._read[name] += _cells(coded)
        self.n_rows = len(next(iter(self._read.values()), []))
        if not self.n_rows:
            raise SettingsError(f"{table.label} holds no rows, only the names of its columns")
        self.warnings = table.warnings
        self.sha256 = hashlib.sha256(path.read_bytes()).hexdigest()

    def hide(self, secrets: Sequence[str]) -> None:
        """Replace secrets in cells: what endpoints said elsewhere may repeat a key."""
        for name, cells in self._read.items():
            found = held_secrets(["\n".join(filter(None, cells))], secrets)
            if found:
                self._read[name] = [cell and hide_known(cell, found) for cell in cells]

    def says(self, what: str) -> bool:
        """Say whether the table says this at all."""
        return what in self.used or what in self._constants

    def column(self, what: str) -> Sequence[str | None]:
        """Return the cells of what the table says, one a row; None for each where it does not."""
        if what in self.used:
            return self._read[self.used[what]]
        if what not in self._repeated:
            self._repeated[what] = [self._constants.get(what)] * self.n_rows
        return self._repeated[what]

    def choices(self, what: str, names: OutcomeNames) -> list[Choice | None]:
        """Return who won, by a column; None where its cell is missing.

        Raises:
            SettingsError: Nothing says what its labels mean.
            InvalidVotesError: Some of its labels are not as the others.
        """
        winners = self.column(what)
        labels = {label for label in winners if label is not None}
        texts, sides = Names(), [self.column(side) for side in ("first", "second")]
        is_as_shown = labels <= {"first", "second", "tie"} and not labels & {*sides[0], *sides[1]}
        if is_as_shown and not (names.left or names.own_name):
            names = AS_SHOWN
        rows = np.array([n for n, label in enumerate(winners) if label is not None], dtype=np.int64)
        found: list[Choice | None] = [None] * self.n_rows
        if not len(rows):
            return found
        # A missing system is a fault of its row, said elsewhere; here it is nobody's name.
        won, first, second = (
            np.array([texts[column[row] or "\0"] for row in rows], dtype=np.int32)
            for column in (winners, *sides)
        )
        winner = WinnerColumn(names, texts)
        numbers = winner.add(won, first, second, rows + 1)
        outcomes = winner.decide(self._table, self.used[what])[numbers]
        said: dict[int, Choice] = {LEFT_WON: "first", RIGHT_WON: "second"}
        for row, outcome in zip(rows.tolist(), outcomes.tolist(), strict=True):
            found[row] = said.get(outcome, "tie")
        return found

    def place(self, row: int) -> str:
        """Say where a row is, counted from 0, as in "row 3 (line 4)"."""
        return self._table.place(row + 1)


class Faults:
    """What is wrong with the rows of a table, each with what it is a fault of."""

    def __init__(self, table: RecordTable) -> None:
        self._table = table
        self._rows: list[tuple[int, str]] = []
        self.contradicts = False
        """Whether a row says otherwise than what is stored."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: int, words: str, *, contradicts: bool = False) -> None:
        """Note a fault of a row."""
        self._rows.append((row, words))
        self.contradicts |= contradicts

    def raise_if_any(self) -> None:
        """Raise the faults as one error, which lists the first with their rows.

        Raises:
            StoreError: A row contradicts what is stored.
            SettingsError: A row cannot be stored.
        """
        if not self._rows:
            return
        rows = sorted(self._rows)
        by_words: dict[str, list[int]] = defaultdict(list)
        for row, words in rows:
            by_words[words].append(row)
        # The file is read anew for each line that is named, so only those shown are.
        faults = [
            f"{self._rows_words(rows, has_line=n < MAX_SHOWN)}: {words}"
            for n, (words, rows) in enumerate(by_words.items())
        ]
        n_rows = len({row for row, _ in rows})
        lines = [
            f"{self._table.label}: nothing is imported; {n_rows:,} of {self._table.n_rows:,} rows"
            " cannot be taken",
            *(f"  {fault}" for fault in faults[:MAX_SHOWN]),
        ]
        if len(faults) > MAX_SHOWN:
            lines.append(f"  and {len(faults) - MAX_SHOWN:,} more")
        ids = [f"row {row + 1}" for row, _ in rows[:MAX_SHOWN]]
        if self.contradicts:
            error = StoreError(lines[0], ids=ids)
            error.ways = tuple(lines[1:])
            raise error
        raise SettingsError("\n".join(lines), ids=ids, faults=faults)

    def _rows_words(self, rows: Sequence[int], *, has_line: bool) -> str:
        """Name the first rows of a fault, the first with its line."""
        first = self._table.place(rows[0]) if has_line else f"row {rows[0] + 1}"
        places = [first, *(f"row {row + 1}" for row in rows[1:])]
        return first_few(places, MAX_PLACES)


def read_time(cell: str | None) -> datetime | None:
    """Return a time that a cell holds; None where it is missing.

    Raises:
        ValueError: It is no time with a time zone.
    """
    if cell is None:
        return None
    found = datetime.fromisoformat(cell)
    if found.tzinfo is None:
        raise ValueError("it has no time zone")
    return found


def _cells(coded: CodedColumn) -> list[str | None]:
    values: list[str | None] = [*coded.values, None]
    return [values[code] for code in coded.codes.tolist()]


def _marked_columns(table: Table, columns: TableColumns) -> tuple[str, ...]:
    """Return the columns that are called as a category is, by its key or name."""
    if "category" in columns.named or "category" in table.column_names:
        return ()
    known = {
        name.lower()
        for taxonomy in taxonomies_of_replies()
        for category in taxonomy.categories
        for name in (category.key, category.name)
    }
    return tuple(name for name in table.column_names if name.strip().lower() in known)


def _find_columns(
    table: Table, kind: Kind, columns: TableColumns, marked: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the column of each thing that a table says, and what is said for all of its rows."""
    there = table.column_names
    used: dict[str, str] = {name: name for name in marked}
    constants: dict[str, str] = {}
    for what in KNOWN[kind]:
        given = columns.named.get(what)
        if given is None:
            known = next((n for n in (*OTHER_NAMES.get(what, ()), what) if n in there), None)
            if known is not None:
                used[what] = known
        elif given in there or what not in CONSTANTS:
            used[what] = given
        else:
            constants[what] = given
    for ending, given_for in zip(OF_AXIS.get(kind, ()), _by_axis(kind, columns), strict=False):
        for axis in AXIS_NAMES:
            name = given_for.get(axis, f"{axis}{ending}")
            if axis in given_for or name in there:
                used[f"{axis}{ending}"] = name
    table.check_columns(list(used.values()))
    needed = [what for what in NEEDED[kind] if not (marked and what in OF_LABEL)]
    lacking = [what for what in needed if what not in used and what not in constants]
    if lacking:
        raise SettingsError(_lacking_words(table, lacking), ids=lacking)
    return used, constants


def _by_axis(kind: Kind, columns: TableColumns) -> tuple[Mapping[Axis, str], ...]:
    if kind == "judgments":
        return columns.axes, columns.axis_strengths, columns.axis_words
    return columns.axes, columns.axis_words


def _lacking_words(table: Table, lacking: Sequence[str]) -> str:
    near = {what: find_near(what, table.column_names) for what in lacking}
    is_clear = None not in near.values() and len(set(near.values())) == len(near)
    meant = " ".join(f"--{what} {name}" for what, name in near.items()) if is_clear else ""
    return (
        f"{table.label}: name its columns: {', '.join(f'--{what} COL' for what in lacking)}; there"
        f" are {list_names(table.column_names)}" + (f"; did you mean {meant}?" if meant else "")
    )


def named_first(names: Sequence[str], n: int = 5) -> str:
    """List names in a message, each in quotes."""
    return first_few([repr(name) for name in names], n)
