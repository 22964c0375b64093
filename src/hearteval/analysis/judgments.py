"""Judgments by columns: `Judgments`, one immutable collection that is asked about all rows at once.

A column of ids or words is numbered (`Coded`): its values stand once, and each row holds the place
of its own. Whoever needs a few rows only may walk over them as `JudgmentRow`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Any, Final, Generic, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from hearteval.domain import (
    AXIS_NAMES,
    CHOICES,
    Axis,
    AxisMark,
    Choice,
    pack_marks,
    unpack_marks,
)
from hearteval.domain.columns import (
    NO_IDS,
    BoolArray,
    Coded,
    GrowingColumn,
    GrowingIds,
    Ids,
    IntArray,
    Numbered,
    Rows,
)
from hearteval.domain.judging import CHOICE_PLACES, MARK_STEP
from hearteval.stats.comparisons import FloatArray, run_starts

TIE: Final = "tie"
SmallArray = NDArray[np.int8]


class JudgmentRow(NamedTuple):
    """One judgment with what it is about; rows are in no order."""

    assignment_id: str
    pair_id: str
    item_id: str
    first_system_id: str
    """Who wrote the completion shown as A."""
    second_system_id: str
    first_completion_id: str
    """The one shown as A."""
    rater_id: str
    repeat: int
    choice: Choice
    strength: int | None
    """1 to 5; None for a tie."""
    axes: Mapping[Axis, AxisMark]
    """Marks by axis; empty where there are none."""
    finish_reason: str | None

    @property
    def winner(self) -> str:
        """The id of the system that is preferred, or ``tie``."""
        if self.choice == TIE:
            return TIE
        return self.first_system_id if self.choice == "first" else self.second_system_id

    def is_among(self, system_ids: Collection[str]) -> bool:
        """Return whether both systems are among these."""
        return self.first_system_id in system_ids and self.second_system_id in system_ids


WON: Final = np.array([0.0, 0.5, 1.0, np.nan])


def won(choice: SmallArray) -> FloatArray:
    """Return what A has won of choices, as places in `CHOICES`; NaN of -1, where there is none."""
    return WON[choice]


def last_rows(*keys: NDArray[Any]) -> IntArray:
    """Return the last row of each of those whose keys are all equal, in the order of the keys."""
    order: IntArray = np.lexsort(keys[::-1])
    is_last = np.ones(len(order), dtype=np.bool_)
    is_last[:-1] = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    return np.asarray(order[is_last])


def first_of_two(group: NDArray[Any]) -> IntArray:
    """Return the first row of each group that has two; rows of a group stand together."""
    starts = run_starts(group)
    return np.asarray(starts[np.diff(np.append(starts, len(group))) == 2])


Column = TypeVar("Column", NDArray[Any], Coded, Ids)


class _Of(Generic[Column]):
    """A column of judgments: that of the table, in the rows that are meant."""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __get__(self, judgments: "Judgments", owner: type[Any]) -> Column:
        column: Column = judgments.table[self.name]
        return column if judgments.rows is None else column[judgments.rows]


@dataclass(frozen=True, eq=False)
class Judgments(Sequence[JudgmentRow]):
    """Judgments with what they are about, in no order; the columns are of one length.

    A part of them holds no columns of its own but the places of its `rows` in the `table` of all,
    so that a column is made whenever it is asked for.
    """

    assignment = _Of[Ids]()
    """Each of one row."""
    pair = _Of[Coded]()
    item = _Of[Coded]()
    first_system = _Of[Coded]()
    """Who wrote the completion shown as A; numbered as `second_system` is."""
    second_system = _Of[Coded]()
    first_completion = _Of[Coded]()
    """The one shown as A."""
    rater = _Of[Coded]()
    finish_reason = _Of[Coded]()
    repeat = _Of[NDArray[np.int16]]()
    choice = _Of[SmallArray]()
    """Place in `CHOICES`: twice what A has won."""
    strength = _Of[SmallArray]()
    """1 to 5; 0 where there is none, as of a tie."""
    marks = _Of[SmallArray]()
    """By row and axis of `AXIS_NAMES`, as `pack_marks` has them; 0 where there is none."""
    table: Mapping[str, Any]
    rows: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.table["assignment"] if self.rows is None else self.rows)

    def select(self, rows: Rows) -> "Judgments":
        """Return some of the rows."""
        if isinstance(rows, np.ndarray) and rows.dtype == np.bool_ and rows.all():
            return self
        own = np.arange(len(self), dtype=np.int32) if self.rows is None else self.rows
        return Judgments(self.table, own[rows])

    def among(self, system_ids: Collection[str]) -> "Judgments":
        """Return the judgments of which both systems are among these."""
        return self.select(self.is_among(system_ids))

    def is_among(self, system_ids: Collection[str]) -> BoolArray:
        """Return of which judgments both systems are among these."""
        return self.first_system.is_in(system_ids) & self.second_system.is_in(system_ids)

    def names(self, system_ids: Collection[str]) -> BoolArray:
        """Return of which judgments one system or both are among these."""
        return self.first_system.is_in(system_ids) | self.second_system.is_in(system_ids)

    def by(self, rater_ids: Collection[str]) -> "Judgments":
        """Return the judgments by these raters."""
        return self.select(self.rater.is_in(rater_ids))

    def is_of(self, assignment_ids: Collection[str]) -> BoolArray:
        """Return which judgments answer one of these assignments."""
        return self.assignment.are_in(assignment_ids)

    @property
    def first_ones(self) -> "Judgments":
        """The judgments that repeat none."""
        return self.select(self.repeat == 0)

    @property
    def score(self) -> FloatArray:
        """What A has won: 1, 1/2 of a tie, 0."""
        return won(self.choice)

    @property
    def n_ties(self) -> int:
        """How many of them are ties."""
        return int((self.choice == CHOICES.index(TIE)).sum())

    @property
    def winner(self) -> IntArray:
        """The place of the system that is preferred among `first_system.values`; -1 of a tie."""
        first, second = self.first_system.codes, self.second_system.codes
        return np.where(self.choice == 1, -1, np.where(self.choice == 2, first, second))

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes with any mark."""
        return tuple(compress(AXIS_NAMES, self.marks.max(axis=0, initial=0)))

    def said(self, axis: Axis | None = None) -> tuple[SmallArray, SmallArray]:
        """Return choice and strength, overall or on an axis; -1 is the choice without a mark."""
        if axis is None:
            return self.choice, self.strength
        marks = self.marks[:, [*AXIS_NAMES].index(axis)] - 1
        return marks // MARK_STEP, marks % MARK_STEP

    def __add__(self, other: "Judgments") -> "Judgments":
        if not len(other):
            return self
        number = {name: _Numbering() for name in _CODED}
        pairs = Ids.joined([Ids.of(one.pair.values) for one in (self, other)]).in_order()
        parts: dict[str, list[Any]] = {name: [] for name in _KINDS}
        for one in (self, other):
            for name, found in parts.items():
                column = getattr(one, name)
                if name == "pair":
                    column = pairs.places(Ids.of(column.values))[column.codes]
                elif isinstance(column, Coded):
                    column = number[_ALIKE.get(name, name)].of(column.values)[column.codes]
                found.append(column)
        columns = {name: np.concatenate(found) for name, found in parts.items()}
        return _made(Ids.joined([self.assignment, other.assignment]), columns, number, pairs)

    def __iter__(self) -> Iterator[JudgmentRow]:
        columns = (
            self.assignment,
            self.pair,
            self.item,
            self.first_system,
            self.second_system,
            self.first_completion,
            self.rater,
            self.repeat.tolist(),
            map(CHOICES.__getitem__, self.choice.tolist()),
            (strength or None for strength in self.strength.tolist()),
            map(_unpacked, map(bytes, self.marks)),
            self.finish_reason,
        )
        return map(JudgmentRow, *columns)

    @overload
    def __getitem__(self, place: int) -> JudgmentRow: ...
    @overload
    def __getitem__(self, place: slice) -> "Judgments": ...
    def __getitem__(self, place: int | slice) -> "JudgmentRow | Judgments":
        if isinstance(place, slice):
            return self.select(place)
        return next(iter(self.select(np.arange(len(self))[[place]])))


_unpacked = lru_cache(maxsize=4_096)(unpack_marks)
_CODED: Mapping[str, str] = {
    "pair": "pair_id",
    "item": "item_id",
    "first_system": "first_system_id",
    "second_system": "second_system_id",
    "first_completion": "first_completion_id",
    "rater": "rater_id",
    "finish_reason": "finish_reason",
}
"""Columns that are numbered, and what the fields of a row are called."""
_KINDS: Mapping[str, type[np.integer[Any]]] = {
    **dict.fromkeys(_CODED, np.int32),
    "repeat": np.int16,
    **dict.fromkeys(("choice", "strength", "marks"), np.int8),
}
"""Of numbers in the columns, as they come."""
_ALIKE: Mapping[str, str] = {"second_system": "first_system"}
"""Columns that are numbered with another."""


def judgment_columns(batches: Iterable[Mapping[str, Any]], pairs: Ids = NO_IDS) -> Judgments:
    """Return the judgments of batches of parallel columns, as `Store.judgment_table` has them.

    `pairs` are the ids of those that judgments may be about, sorted; others are there, too.

    Raises:
        ValueError: The columns of a batch are not of one length.
    """
    number = {name: _Numbering() for name in _CODED}
    ids, columns = GrowingIds(), {name: GrowingColumn(kind) for name, kind in _KINDS.items()}
    named: Sequence[Any] = ()
    place = np.empty(0, dtype=np.int32)
    for batch in batches:
        if len({*map(len, batch.values())}) > 1:
            raise ValueError("a column of judgments is shorter than another")
        ids.extend(batch["assignment_id"])
        found: dict[str, Any] = {
            name: number[_ALIKE.get(name, name)].of_column(batch[of_row])
            for name, of_row in _CODED.items()
            if name != "pair"
        }
        found["marks"], of_pair = batch["axes"], batch["pair_id"]
        if named is not of_pair.values:  # which many batches have in common
            named, place = of_pair.values, pairs.places(Ids.of(of_pair.values)).astype(np.int32)
        found["pair"] = place[of_pair.codes]
        is_other = found["pair"] < 0
        found["pair"][is_other] = len(pairs) + number["pair"].of([*of_pair[is_other]])
        for name, column in columns.items():
            column.extend(found[name] if name in found else batch[name])
    made = {name: columns.pop(name).made() for name in _KINDS}
    made["marks"] = made["marks"].reshape(-1, len(AXIS_NAMES))
    return _made(ids.made(), made, number, Ids.joined([pairs, Ids.of(number["pair"])]))


class _Numbering(Numbered):
    """The number of each value, and of the places of values that many batches have in common."""

    def __init__(self) -> None:
        self._values: Sequence[Any] = ()
        self._of_place = np.empty(0, dtype=np.int32)

    def of_column(self, column: Coded) -> NDArray[np.int32]:
        """Return the numbers of a batch; those of new values come after the others."""
        values, known = column.values, self._of_place
        if values is not self._values:
            known = known[:0]
        known = np.append(known, np.full(len(values) - len(known), -1, dtype=np.int32))
        if len(new := np.unique(column.codes[known[column.codes] < 0])):
            known[new] = self.of([values[k] for k in new.tolist()])
        self._values, self._of_place = values, known
        return known[column.codes]


def judgments_of(rows: Iterable[JudgmentRow]) -> Judgments:
    """Return rows as columns."""
    found = dict(zip(JudgmentRow._fields, map(list, zip(*rows, strict=True)), strict=False))
    if not found:
        return judgment_columns([])
    numbers = {
        "repeat": found["repeat"],
        "choice": [CHOICE_PLACES[one] for one in found["choice"]],
        "strength": [one or 0 for one in found["strength"]],
        "axes": [[*pack_marks(one)] for one in found["axes"]],
    }
    return judgment_columns(
        [
            {
                "assignment_id": Ids.of(found["assignment_id"]),
                **{name: Coded.of(found[name]) for name in _CODED.values()},
                **{name: np.array(one) for name, one in numbers.items()},
            }
        ]
    )


def _made(
    assignment: Ids, columns: dict[str, Any], number: dict[str, _Numbering], pairs: Ids
) -> Judgments:
    """Return the judgments of columns, which this uses up."""
    values: dict[str, Sequence[Any]] = {
        name: tuple(number[_ALIKE.get(name, name)]) for name in _CODED
    } | {"pair": pairs}
    for name, own in values.items():
        number.pop(name, None)
        small = np.min_scalar_type(-1 - len(own))
        columns[name] = Coded(own, columns[name].astype(small))
    return Judgments({"assignment": assignment, **columns})


NO_JUDGMENTS = judgment_columns([])
