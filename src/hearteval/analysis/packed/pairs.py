"""Pairs by columns: `Pairs`, one immutable collection of what a study compares."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, overload

import numpy as np

from hearteval.domain import Pair
from hearteval.domain.columns import NO_IDS, Coded, GrowingColumn, GrowingIds, Ids, Numbered, Rows
from hearteval.stats.comparisons import BoolArray, IntArray

CHUNK: Final = 1 << 14
"""Pairs that are records at once while columns are made of them."""


@dataclass(frozen=True, eq=False)
class Pairs(Sequence[Pair]):
    """Pairs in the order of their ids; the columns are of one length.

    Whoever needs a few may walk over them as `Pair`.
    """

    ids: Ids
    item: Coded
    low: Coded
    """The completion whose id comes first."""
    high: Coded
    """The other; numbered as `low` is."""

    def __len__(self) -> int:
        return len(self.ids)

    def select(self, rows: Rows) -> "Pairs":
        """Return some of them."""
        return Pairs(self.ids[rows], self.item[rows], self.low[rows], self.high[rows])

    def names(self, completion_ids: Collection[str]) -> BoolArray:
        """Return which of them are of one of these completions, or of two."""
        return self.low.is_in(completion_ids) | self.high.is_in(completion_ids)

    def are_of(self, completion_ids: Collection[str]) -> BoolArray:
        """Return which of them are of two of these completions."""
        return self.low.is_in(completion_ids) & self.high.is_in(completion_ids)

    def named(self, ids: Collection[str]) -> "Pairs":
        """Return those with these ids."""
        return self.select(self.ids.are_in(ids))

    def known(self, numbers: IntArray, column: Coded) -> IntArray:
        """Return the number of each row's pair, of those of these pairs.

        Raises:
            KeyError: A pair is none of these, or its number is below 0.
        """
        place = self.ids.places(Ids.of(column.values))
        found = np.where(place < 0, -1, np.append(numbers, -1)[place])[column.codes]
        for row in np.flatnonzero(found < 0)[:1]:
            raise KeyError(column.values[column.codes[row]])
        return found

    @property
    def ends(self) -> dict[str, tuple[str, str]]:
        """Both completions of each, by its id."""
        return {pair.id: pair.completion_ids for pair in self}

    def __iter__(self) -> Iterator[Pair]:
        for id_, item, *both in zip(self.ids, self.item, self.low, self.high, strict=True):
            yield Pair(id=id_, item_id=item, completion_ids=(both[0], both[1]))

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> "Pairs": ...
    def __getitem__(self, place: int | slice) -> "Pair | Pairs":
        if isinstance(place, slice):
            return self.select(place)
        return next(iter(self.select(np.arange(len(self))[[place]])))


def pairs_of(records: Iterable[Pair]) -> Pairs:
    """Return pairs as columns."""
    items, texts = Numbered(), Numbered()
    ids, columns = GrowingIds(), [GrowingColumn(np.int32) for _ in range(3)]
    rest = iter(records)
    while some := [*islice(rest, CHUNK)]:
        ids.extend(Ids.of([pair.id for pair in some]))
        columns[0].extend(items.of([pair.item_id for pair in some]))
        for side in (0, 1):
            columns[1 + side].extend(texts.of([pair.completion_ids[side] for pair in some]))
    own, there = ids.made(), (*texts,)
    item, low, high = (column.made() for column in columns)
    made = Pairs(own, Coded((*items,), item), Coded(there, low), Coded(there, high))
    return made.select(np.argsort(own.lie))


NO_PAIRS: Final = Pairs(NO_IDS, *(Coded((), np.zeros(0, dtype=np.int32)) for _ in range(3)))
