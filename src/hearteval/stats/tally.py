"""Count equal rows of small integers as they stream in, in memory that follows the distinct rows.

Votes come in any order and number; what a ranking needs of them is how often each distinct row
(systems, outcome, strength, item, rater) occurs. Counts are integers, so the order of rows cannot
change a digit of what is computed from them.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearteval.stats.comparisons import (
    Comparisons,
    IntArray,
    pack,
    packed_columns,
    run_starts,
    with_columns,
)

CodeArray = NDArray[np.integer]

BATCH_ROWS = 1 << 22
"""Most rows held before they are counted."""
MIN_ROWS = 1 << 17
"""Rows that are always worth counting at once: they still lie in the processor's cache."""
MAX_CELLS = 1 << 24
"""Distinct rows possible (128 MiB of counts) up to which a count is a table, and no sort."""


class Tally:
    """Counts of equal rows."""

    def __init__(self, n_columns: int) -> None:
        self._waiting: list[tuple[CodeArray, ...]] = []
        self._sizes = [1] * n_columns
        self._n_waiting = 0
        self._columns: tuple[CodeArray, ...] = (np.empty(0, np.int32),) * n_columns
        self._counts: IntArray = np.empty(0, np.int64)

    def add(self, *columns: CodeArray) -> None:
        """Add rows, given as columns of equal length with values from 0 to 2^31 - 1."""
        if len(columns) != len(self._columns) or len({len(column) for column in columns}) != 1:
            raise ValueError(f"expected {len(self._columns)} columns of one length")
        self._waiting.append(columns)
        self._n_waiting += len(columns[0])
        self._sizes = [
            max(size, int(column.max(initial=0)) + 1)
            for size, column in zip(self._sizes, columns, strict=True)
        ]
        # Counting in a table is cheap while rows lie in the cache; sorting is best done seldom.
        n_enough = BATCH_ROWS
        if math.prod(self._sizes) <= MAX_CELLS:
            n_enough = min(BATCH_ROWS, max(MIN_ROWS, 4 * len(self._counts)))
        if self._n_waiting >= n_enough:
            self._count()

    def relabel(self, column: int, names: CodeArray) -> None:
        """Give the values of one column new names; rows that become equal are counted together."""
        self._waiting = [_renamed(rows, column, names) for rows in self._waiting]
        self._sizes[column] = int(names.max(initial=0)) + 1
        self._columns, self._counts = _merge(_renamed(self._columns, column, names), self._counts)

    def rows(self) -> tuple[tuple[IntArray, ...], IntArray]:
        """Return the distinct rows as columns in lexicographic order, and how often each came."""
        self._count()
        return tuple(column.astype(np.int64) for column in self._columns), self._counts

    def _count(self) -> None:
        if not self._n_waiting:
            return
        waiting, self._waiting, self._n_waiting = self._waiting, [], 0
        columns = tuple(
            np.concatenate([before, *(rows[i] for rows in waiting)], dtype=np.int32)
            for i, before in enumerate(self._columns)
        )
        self._columns, self._counts = _merge(columns, self._counts)


def count_equal(comparisons: Comparisons) -> Comparisons:
    """Return distinct rows, sorted, each standing for so many.

    Sums round per row, so comparisons have the same last digit only if they are counted alike.
    """
    lie: dict[str, Any] = packed_columns(comparisons)
    weights = np.unique(lie["weight"])
    lie["weight"] = pack(np.searchsorted(weights, lie["weight"]))
    lie["score"] = (2 * lie["score"]).astype(np.int8)
    people = [name for name in ("rater", "writer") if name in lie]
    for name in people:  # -1 where there is none
        lie[name] = pack(lie[name].astype(np.int64) + 1)
    names = ("left", "right", "score", "weight", "item", *people)
    distinct, count = _merge(tuple(lie[name] for name in names), lie["count"])
    found: dict[str, Any] = dict(zip(names, distinct, strict=True))
    found["score"], found["weight"] = found["score"] / 2, weights[found["weight"]]
    found |= {name: found[name].astype(np.int64) - 1 for name in people}
    return with_columns(comparisons, **found, count=count)


def _renamed(
    columns: tuple[CodeArray, ...], column: int, names: CodeArray
) -> tuple[CodeArray, ...]:
    renamed = names[columns[column]]
    return (*columns[:column], renamed, *columns[column + 1 :])


def _merge(
    columns: tuple[CodeArray, ...], counts: CodeArray
) -> tuple[tuple[CodeArray, ...], IntArray]:
    """Count equal rows; the first ones stand for `counts` rows each, those after them for one."""
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    n_cells = math.prod(sizes)
    if n_cells > np.iinfo(np.int64).max:  # no single key can hold a row
        return _count_by_columns(columns, counts)
    count = _count_in_table if n_cells <= MAX_CELLS else _count_by_sorting
    distinct, totals = count(_keys(columns, sizes), counts, n_cells)
    found: list[CodeArray] = []
    for size in reversed(sizes):
        found.append((distinct % size).astype(np.min_scalar_type(size - 1)))
        distinct //= size
    return tuple(reversed(found)), totals


def _keys(columns: tuple[CodeArray, ...], sizes: list[int]) -> IntArray:
    """Return a number for each row, of which equal rows have the same; in the order of the rows."""
    keys = np.zeros(len(columns[0]), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        keys *= size
        keys += column
    return keys


def _count_in_table(keys: IntArray, counts: CodeArray, n_cells: int) -> tuple[IntArray, IntArray]:
    table = np.bincount(keys, minlength=n_cells)
    more = np.flatnonzero(counts > 1)
    np.add.at(table, keys[more], counts[more].astype(np.int64) - 1)  # of its own kind, or slowly
    distinct = np.flatnonzero(table)
    return distinct, table[distinct]


def _count_by_sorting(keys: IntArray, counts: CodeArray, _: int) -> tuple[IntArray, IntArray]:
    n_rows = len(keys)
    if (counts == 1).all():
        keys.sort()
        starts = run_starts(keys)
        keys = keys[starts]  # nobody else holds those of all rows, which may be ten million
        totals = np.full(len(starts), n_rows)
        totals[:-1] = starts[1:]
        totals -= starts
        return keys, totals
    order = np.argsort(keys)
    keys = keys[order]
    starts = run_starts(keys)
    all_counts = np.ones(n_rows, np.int64)
    all_counts[: len(counts)] = counts
    return keys[starts], np.add.reduceat(all_counts[order], starts)


def _count_by_columns(
    columns: tuple[CodeArray, ...], counts: CodeArray
) -> tuple[tuple[CodeArray, ...], IntArray]:
    rows, row = np.unique(np.stack(columns), axis=1, return_inverse=True)
    totals = np.zeros(rows.shape[1], np.int64)
    np.add.at(totals, row, np.concatenate((counts, np.ones(len(row) - len(counts), np.int64))))
    return tuple(rows), totals
