"""Items of votes: numbered as they come, and put into groups when they are too many.

The group of an item follows from its name alone, so neither the order of rows nor the process
changes it.
"""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import islice

import numpy as np

from heartbench.exchange.columns import Int32Array, Names
from heartbench.stats.comparisons import IntArray
from heartbench.stats.tally import Tally

ITEM = "item"
"""What a column of items is called."""
MAX_ITEMS = 2048
MAX_ROWS = 4_000_000
"""Above both, in items and in rows read, items are put into `MAX_ITEMS` groups."""


class ItemGroups:
    """The items of votes, each its own group until `fold`.

    Attributes:
        names: The items, with their codes.
    """

    def __init__(self) -> None:
        self.names = Names()
        self._is_used = np.zeros(0, np.bool_)
        self._groups: IntArray | None = None

    @property
    def n_used(self) -> int:
        """Items that a row has."""
        return int(np.count_nonzero(self._is_used))

    @property
    def is_folded(self) -> bool:
        """Whether `place` returns groups of items."""
        return self._groups is not None

    @property
    def group_names(self) -> Sequence[str] | range:
        """What the values that `place` returns stand for."""
        return tuple(self.names) if self._groups is None else range(MAX_ITEMS)

    def place(self, items: Int32Array) -> Int32Array:
        """Note that rows have these items, given by code; return the group of each."""
        n_new = len(self.names) - len(self._is_used)
        self._is_used = np.append(self._is_used, np.zeros(n_new, np.bool_))
        self._is_used[items] = True
        if self._groups is None:
            return items
        self._groups = self._extend(self._groups)
        return self._groups[items].astype(np.int32)

    def fold_above(self, tally: Tally, roles: Sequence[str], n_rows: int) -> bool:
        """Put the items into groups, also in the tally, if there are too many; say if so.

        Items and rows can only become more, so the result does not depend on when this is called.

        Args:
            tally: Votes so far.
            roles: What its columns are.
            n_rows: Distinct rows in it.
        """
        if self._groups is not None or n_rows <= MAX_ROWS or self.n_used <= MAX_ITEMS:
            return False
        self._groups = self._extend(np.zeros(0, np.int64))
        tally.relabel(roles.index(ITEM), self._groups)
        return True

    def _extend(self, groups: IntArray) -> IntArray:
        """Add the groups of the items named since."""
        new = [_group_of(name) for name in islice(self.names, len(groups), None)]
        return np.append(groups, np.array(new, dtype=np.int64))


def _group_of(item: str) -> int:
    digest = blake2b(item.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % MAX_ITEMS
