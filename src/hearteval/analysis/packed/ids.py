"""Many ids in few bytes: `Ids`, as which a study of millions of pairs and judgments holds its."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hearteval.domain.ids import ID_HEX_DIGITS
from hearteval.stats.comparisons import BoolArray, IntArray

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
        """Add numbers after the others."""
        self._lie += np.ascontiguousarray(values, dtype=self._kind).data

    def made(self) -> NDArray[Any]:
        """Return all of them, as they lie."""
        return np.frombuffer(self._lie, dtype=self._kind)


def _alike(one: Ids, other: Ids) -> tuple[Ids, Ids]:
    if one.is_packed == other.is_packed:
        return one, other
    return one.as_text(), other.as_text()


NO_IDS: Final = Ids.of(())
