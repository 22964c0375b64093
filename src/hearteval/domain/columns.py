"""Columns of millions of rows: ids in few bytes (`Ids`), and words by their number (`Coded`)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hearteval.domain.ids import ID_HEX_DIGITS

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
Rows = BoolArray | IntArray | NDArray[np.int32] | slice
"""Which rows: a mark for each, or their places."""
ID_BYTES: Final = ID_HEX_DIGITS // 2
BLOCK: Final = 1 << 14
"""Ids that are text at once where all are walked over."""


class Ids(Sequence[str]):
    """Ids in the order given; each is text again when it is read.

    An id as records have it, 32 hexadecimal digits, lies in 16 bytes; where one is anything else,
    all lie as ASCII, which they have to be.
    """

    __slots__ = ("is_packed", "lie")

    def __init__(self, lie: NDArray[np.bytes_], *, is_packed: bool) -> None:
        self.lie, self.is_packed = lie, is_packed

    @classmethod
    def of(cls, ids: Collection[str]) -> "Ids":
        """Return ids in few bytes."""
        if isinstance(ids, Ids):
            return ids
        if {*map(len, ids)} <= {ID_HEX_DIGITS}:
            digits = "".join(ids)
            try:
                packed = bytes.fromhex(digits)
            except ValueError:
                packed = b""
            if packed.hex() == digits:
                return cls(np.frombuffer(packed, dtype=f"S{ID_BYTES}"), is_packed=True)
        return cls(np.array([*ids], dtype=np.bytes_), is_packed=False)

    @classmethod
    def joined(cls, parts: Sequence["Ids"]) -> "Ids":
        """Return ids after each other."""
        is_packed = all(part.is_packed for part in parts)
        alike = parts if is_packed else [part.as_text() for part in parts]
        return cls(np.concatenate([part.lie for part in alike]), is_packed=is_packed)

    def as_text(self) -> "Ids":
        """Return the same, each as ASCII."""
        if not self.is_packed:
            return self
        return Ids(np.array([*self], dtype=f"S{ID_HEX_DIGITS}"), is_packed=False)

    def __repr__(self) -> str:
        return f"Ids.of({[*self]})"

    def __len__(self) -> int:
        return len(self.lie)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice | NDArray[Any]) -> "Ids": ...
    def __getitem__(self, place: int | slice | NDArray[Any]) -> "str | Ids":
        if isinstance(place, slice | np.ndarray):
            return Ids(self.lie[place], is_packed=self.is_packed)
        (one,) = self._words(self.lie[[place]])
        return one

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self.lie), BLOCK):
            yield from self._words(self.lie[start : start + BLOCK])

    def _words(self, lie: NDArray[np.bytes_]) -> list[str]:
        if not self.is_packed:
            return [*map(bytes.decode, lie.tolist())]
        digits = lie.tobytes().hex()
        return [digits[k : k + ID_HEX_DIGITS] for k in range(0, len(digits), ID_HEX_DIGITS)]

    def are_in(self, others: Collection[str]) -> BoolArray:
        """Return which of them are among others."""
        others = others if isinstance(others, Ids) else [*filter(str.isascii, others)]
        if not others:
            return np.zeros(len(self), dtype=np.bool_)
        one, other = _alike(self, Ids.of(others))
        return np.isin(one.lie, other.lie)

    def in_order(self) -> "Ids":
        """Return each once, sorted."""
        return Ids(np.unique(self.lie), is_packed=self.is_packed)

    def places(self, wanted: "Ids") -> IntArray:
        """Return where among these, which are sorted, others stand; -1 where they do not."""
        if not len(self):
            return np.full(len(wanted), -1)
        own, wanted = _alike(self, wanted)
        found = np.minimum(np.searchsorted(own.lie, wanted.lie), len(own) - 1)
        return np.where(own.lie[found] == wanted.lie, found, -1)


class GrowingIds:
    """Ids that come a few thousand at a time, as `GrowingColumn`."""

    def __init__(self) -> None:
        self._packed = GrowingColumn(f"S{ID_BYTES}")
        self._others: list[Ids] = []

    def extend(self, ids: Ids) -> None:
        """Add ids after the others."""
        if ids.is_packed and not self._others:
            self._packed.extend(ids.lie)
        else:
            self._others.append(ids)

    def made(self) -> Ids:
        """Return all of them."""
        first = Ids(self._packed.made(), is_packed=True)
        return Ids.joined([first, *self._others]) if self._others else first


class GrowingColumn:
    """Numbers that come a few thousand at a time, in one place that grows.

    As many small arrays, joined at the end, leave hundreds of MiB that the process cannot give back
    where a study has ten million judgments.
    """

    def __init__(self, kind: DTypeLike) -> None:
        self._kind = np.dtype(kind)
        self._lie = bytearray()

    def extend(self, values: NDArray[Any]) -> None:
        """Add numbers after the others.

        Raises:
            ValueError: One is too large for the column.
        """
        lie = np.ascontiguousarray(values, dtype=self._kind)
        if lie.dtype != values.dtype and not np.array_equal(lie, values):
            raise ValueError("a number is too large for its column")
        self._lie += lie.data

    def made(self) -> NDArray[Any]:
        """Return all of them, as they lie."""
        return np.frombuffer(self._lie, dtype=self._kind)


def _alike(one: Ids, other: Ids) -> tuple[Ids, Ids]:
    if one.is_packed == other.is_packed:
        return one, other
    return one.as_text(), other.as_text()


class Numbered(dict[Any, int]):
    """The number of each value, in the order in which they first come."""

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self)
        return number

    def of(self, values: Collection[Any]) -> NDArray[np.int32]:
        """Return the numbers of some values."""
        return np.fromiter(map(self.__getitem__, values), np.int32, len(values))


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of which many rows say the same."""

    values: Sequence[Any]
    """Each once; some may stand in no row. `Ids` where there are very many."""
    codes: NDArray[np.int32]
    """Place of each row's value, in as few bytes as they need."""

    @classmethod
    def of(cls, values: Collection[Any]) -> "Coded":
        """Return a value for each row as a column."""
        number = Numbered()
        codes = number.of(values)
        return cls((*number,), codes)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Rows) -> "Coded":
        return Coded(self.values, self.codes[rows])

    def is_in(self, values: Collection[Any]) -> BoolArray:
        """Return which rows hold one of these."""
        if not values:
            return np.zeros(len(self.codes), dtype=np.bool_)
        if isinstance(self.values, Ids):
            return self.values.are_in(values)[self.codes]
        return np.array([one in values for one in self.values], dtype=np.bool_)[self.codes]

    def numbers(self, number_of: Mapping[Any, int]) -> IntArray:
        """Return a number for each row, -1 where its value has none."""
        table = [number_of.get(one, -1) for one in self.values]
        return np.array(table, dtype=np.int64)[self.codes]

    def known(self, number_of: Mapping[Any, int]) -> IntArray:
        """Return a number for each row.

        Raises:
            KeyError: The value of a row has none.
        """
        found = self.numbers(number_of)
        for row in np.flatnonzero(found < 0)[:1]:
            raise KeyError(self.values[self.codes[row]])
        return found

    @property
    def present(self) -> Sequence[Any]:
        """The values that stand in any row."""
        there = np.flatnonzero(np.bincount(self.codes, minlength=len(self.values)))
        if isinstance(self.values, Ids):
            return self.values[there]
        return [self.values[k] for k in there.tolist()]

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self.values, Ids):
            return iter(self.values[self.codes])
        return map(self.values.__getitem__, self.codes.tolist())


NO_IDS: Final = Ids.of(())
