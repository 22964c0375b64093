"""Distinct votes, by code, on their way to `Votes`: named, sorted, and equal ones merged."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from heartbench.stats.comparisons import BoolArray, IntArray


class VoteRows:
    """Votes as columns of codes.

    Columns are replaced one by one, as they may be large.

    Attributes:
        columns: The columns by role, in the order by which rows are sorted.
        count: How many votes each row stands for.
    """

    def __init__(self, columns: dict[str, IntArray], count: IntArray) -> None:
        self.columns = columns
        self.count = count

    def keep(self, rows: BoolArray | IntArray) -> None:
        """Keep some of the rows."""
        for role in self.columns:
            self.columns[role] = self.columns[role][rows]
        self.count = self.count[rows]

    def rename(self, names: Sequence[Any], *roles: str) -> tuple[Any, ...]:
        """Make columns indices into the names they use, sorted; return these."""
        is_used = np.zeros(len(names), np.bool_)
        for role in roles:
            is_used[self.columns[role]] = True
        used = sorted(np.flatnonzero(is_used).tolist(), key=names.__getitem__)
        ranks = np.zeros(len(names), np.int64)
        ranks[used] = np.arange(len(used))
        for role in roles:
            self.columns[role] = ranks[self.columns[role]]
        return tuple(names[code] for code in used)

    def sort(self) -> None:
        """Sort the rows by their columns, and count those together that have become equal."""
        self.keep(self._order())
        is_first = np.zeros(len(self.count), np.bool_)
        is_first[0] = True
        for column in self.columns.values():
            is_first[1:] |= column[1:] != column[:-1]
        starts = np.flatnonzero(is_first)
        count = np.add.reduceat(self.count, starts)
        if len(starts) < len(is_first):
            self.keep(starts)
        self.count = count

    def _order(self) -> IntArray:
        columns = list(self.columns.values())
        sizes = [int(column.max()) + 1 for column in columns]
        if math.prod(sizes) > np.iinfo(np.int64).max:
            return np.lexsort(columns[::-1])
        # A single key sorts several times as fast.
        key = np.zeros(len(self.count), np.int64)
        for column, size in zip(columns, sizes, strict=True):
            key *= size
            key += column
        return np.argsort(key)
