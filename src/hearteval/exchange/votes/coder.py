"""Rows of votes -> columns of small integers, and what is left out.

Names, strengths and covariates are numbered as they come. In which vocabulary the winners are
written is known at the end only, so until then a row keeps the code of its label.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearteval.analysis.agreement.ratings import finite_number
from hearteval.exchange.tables.columns import (
    CodedColumn,
    FirstSeen,
    Int32Array,
    MissingWords,
    Names,
)
from hearteval.exchange.votes.meanings import OutcomeNames
from hearteval.exchange.votes.winner import WinnerColumn
from hearteval.stats.comparisons import BoolArray, IntArray
from hearteval.stats.tally import Tally

STRENGTH, ITEM, RATER, COVARIATES = "strength", "cluster", "rater", "covariates"
"""Roles of columns that need not be there."""
BY = "by"
"""Role of the column whose values are ranked apart."""
NO_GROUP = -1
LATE_REASONS = {ITEM: "missing cluster", RATER: "missing rater", COVARIATES: "bad covariate"}
"""Why a row with a winner is left out."""
NO_STRENGTH = 0
"""Code of a cell that holds no strength."""
MAX_ITEMS = 2048
MAX_ROWS = 4_000_000
"""Above both, in items and in rows read, items are put into `MAX_ITEMS` groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteColumns:
    """Which columns of a table hold what."""

    left: str
    """The system shown left, or first."""
    right: str
    winner: str
    strength: str | None = None
    """How strongly, a number above 0."""
    cluster: str | None = None
    """The item voted on."""
    rater: str | None = None
    covariates: tuple[str, ...] = ()
    by: str | None = None
    """Whose values part the votes."""

    def by_role(self) -> dict[str, str]:
        """Return the column of each role that has one; covariates and what parts votes apart."""
        columns = asdict(self)
        del columns["covariates"], columns[BY]
        return {role: name for role, name in columns.items() if name is not None}


class VoteCoder:
    """Codes votes, batch after batch; `names` is what somebody says the labels of winners mean.

    Attributes:
        roles: What the columns of `code` are.
        systems: Codes of systems, and of labels.
        groups: Codes of the values that part the votes; all are of group 0 where nothing does.
        lost_systems: Codes of the systems in rows that were left out, by group.
        bad_strength: Row and text of the first cell that holds something else than a strength.
        strengths: Codes of strengths, that of a cell without one among them.
        covariates: Codes of the covariates of a row, taken together.
        n_rows: Rows so far.
        n_rows_of: The same by group, `NO_GROUP` for rows that name none.
        n_dropped: Rows left out, by group and reason; of several reasons, the first counts.
    """

    def __init__(self, columns: VoteColumns, names: OutcomeNames) -> None:
        self._columns = columns
        self.systems = Names()
        self.groups = Names()
        self.lost_systems: defaultdict[int, set[int]] = defaultdict(set)
        self.winner = WinnerColumn(names, self.systems, (columns.left, columns.right))
        self.missing_words = MissingWords()
        self._meant = {*names.left, *names.right, *names.tie}
        self.bad_strength: tuple[int, str] | None = None
        self.strengths = FirstSeen({0.0: NO_STRENGTH})
        self.items = ItemGroups()
        self.raters = Names()
        self.covariates = FirstSeen[tuple[float, ...]]()
        more = [(COVARIATES, columns.covariates), (BY, columns.by)]
        self.roles = (*columns.by_role(), *(role for role, there_is in more if there_is))
        self.n_rows = 0
        self.n_rows_of: Counter[int] = Counter()
        self.n_dropped: defaultdict[int, Counter[str]] = defaultdict(Counter)

    def code(self, batch: Mapping[str, CodedColumn]) -> dict[str, Int32Array]:
        """Return the rows that are kept, as one column for each of `roles`."""
        rows = self._translate(batch)
        left, right = rows["left"], rows["right"]
        numbers = np.arange(self.n_rows + 1, self.n_rows + 1 + len(left))
        self.n_rows += len(left)
        self.n_rows_of.update(_count_groups(rows, slice(None)))
        is_kept = self._note_dropped(
            rows,
            *([(f"missing {self._columns.by}", rows[BY] < 0)] if BY in rows else []),
            ("missing system", (left < 0) | (right < 0)),
            ("same system twice", left == right),
            ("missing winner", rows["winner"] < 0),
        )
        rows = {role: column[is_kept] for role, column in rows.items()}
        rows["winner"] = self.winner.add(
            rows["winner"], rows["left"], rows["right"], numbers[is_kept]
        )
        late = [(why, rows[role] < 0) for role, why in LATE_REASONS.items() if role in rows]
        is_kept = self._note_dropped(rows, *late)
        rows = {role: column[is_kept] for role, column in rows.items()}
        if ITEM in rows:
            rows[ITEM] = self.items.place(rows[ITEM])
        return rows

    def _translate(self, batch: Mapping[str, CodedColumn]) -> dict[str, Int32Array]:
        columns = self._columns
        texts_of = {*columns.by_role().values(), columns.by} - {None, columns.strength}
        meant = {columns.winner: self._meant}
        batch = dict(batch) | {
            name: self.missing_words.drop(name, batch[name], meant=meant.get(name, ()))
            for name in filter(None, texts_of)
        }
        texts = dict.fromkeys(("left", "right", "winner"), self.systems)
        texts |= {ITEM: self.items.names, RATER: self.raters}
        cells = {role: batch[name] for role, name in columns.by_role().items()}
        rows = {role: texts[role].translate(cells[role]) for role in cells if role in texts}
        if STRENGTH in cells:
            rows[STRENGTH] = self._translate_strengths(cells[STRENGTH])
        if columns.covariates:
            rows[COVARIATES] = self._translate_covariates([batch[c] for c in columns.covariates])
        if columns.by is not None:
            rows[BY] = self.groups.translate(batch[columns.by])
        return rows

    def _translate_strengths(self, column: CodedColumn) -> Int32Array:
        # What is not above 0 has none, NaN too.
        found = [number if number > 0 else 0.0 for number in map(finite_number, column.values)]
        codes_of_texts = [*map(self.strengths.__getitem__, found), NO_STRENGTH]
        codes = np.array(codes_of_texts, dtype=np.int32)[column.codes]
        if self.bad_strength is None:
            bad = np.flatnonzero((codes == NO_STRENGTH) & (column.codes >= 0))[:1].tolist()
            for row in bad:
                self.bad_strength = (self.n_rows + 1 + row, column.values[column.codes[row]])
        return codes

    def _translate_covariates(self, columns: Sequence[CodedColumn]) -> Int32Array:
        cells = (np.array([*map(finite_number, c.values), math.nan])[c.codes] for c in columns)
        numbers = np.array(list(cells))
        is_good = ~np.isnan(numbers).any(axis=0)
        # One code for all: a code each would soon be more combinations than a tally can tell apart.
        keys = zip(*numbers[:, is_good].tolist(), strict=True)
        codes = np.full(len(is_good), -1, np.int32)
        codes[is_good] = np.fromiter(
            map(self.covariates.__getitem__, keys), np.int32, np.count_nonzero(is_good)
        )
        return codes

    def _note_dropped(
        self, rows: Mapping[str, Int32Array], *problems: tuple[str, BoolArray]
    ) -> BoolArray | slice:
        """Count the rows that have a problem, each once; return which have none."""
        is_dropped = np.zeros(len(rows["left"]), np.bool_)
        for reason, is_bad in problems:
            for group, n in _count_groups(rows, is_bad & ~is_dropped).items():
                self.n_dropped[group][reason] += n
            is_dropped |= is_bad
        if not is_dropped.any():
            return slice(None)
        groups = rows[BY][is_dropped] if BY in rows else np.zeros(int(is_dropped.sum()), np.int32)
        for group in np.unique(groups).tolist():
            is_of = groups == group
            self.note_lost(group, *(rows[side][is_dropped][is_of] for side in ("left", "right")))
        return ~is_dropped

    def note_lost(self, group: int, *columns: NDArray[np.integer]) -> None:
        """Note that rows of a group with these systems, or none (-1), are left out."""
        for column in columns:
            self.lost_systems[group].update(set(np.unique(column).tolist()) - {-1})


def _count_groups(rows: Mapping[str, Int32Array], chosen: BoolArray | slice) -> dict[int, int]:
    """Count some of the rows by group; all are of group 0 where nothing parts them."""
    if BY not in rows:
        n = len(rows["left"]) if isinstance(chosen, slice) else np.count_nonzero(chosen)
        return {0: int(n)}
    groups, counts = np.unique(rows[BY][chosen], return_counts=True)
    return dict(zip(groups.tolist(), counts.tolist(), strict=True))


class ItemGroups:
    """The items of votes, numbered as they come; when they are too many, they are put into groups.

    The group of an item follows from its name alone, so neither the order of rows nor the process
    changes it.
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
        The columns of the tally are `roles`; `n_rows` rows were read.
        """
        if self._groups is not None or n_rows <= MAX_ROWS or self.n_used <= MAX_ITEMS:
            return False
        self._groups = self._extend(np.zeros(0, np.int64))
        tally.relabel(roles.index(ITEM), self._groups)
        return True

    def _extend(self, groups: IntArray) -> IntArray:
        """Add the groups of the items named since."""
        names = islice(self.names, len(groups), None)
        digests = (blake2b(name.encode(), digest_size=8).digest() for name in names)
        new = [int.from_bytes(digest, "big") % MAX_ITEMS for digest in digests]
        return np.append(groups, np.array(new, dtype=np.int64))


class VoteRows:
    """Distinct votes as columns of codes on their way to `Votes`: named, sorted, equal ones merged.

    The columns stand by role, in the order by which rows are sorted, and are replaced one by one,
    as they may be large; `count` is how many votes each row stands for.
    """

    def __init__(self, columns: dict[str, IntArray], count: IntArray) -> None:
        self.columns = columns
        self.count = count

    def part(self, role: str) -> "dict[int, VoteRows]":
        """Return the rows of each code of a column, without that column."""
        codes = self.columns[role]
        if not len(codes):
            return {}
        others = {name: column for name, column in self.columns.items() if name != role}
        order = np.argsort(codes, kind="stable")
        found, starts = np.unique(codes[order], return_index=True)
        parts = np.split(order, starts[1:])
        return {
            code: VoteRows({name: column[at] for name, column in others.items()}, self.count[at])
            for code, at in zip(found.tolist(), parts, strict=True)
        }

    def none(self) -> "VoteRows":
        """Return no rows of the same columns."""
        nothing = np.zeros(0, np.int64)
        return VoteRows(dict.fromkeys(self.columns, nothing), nothing)

    def keep(self, rows: BoolArray | IntArray) -> None:
        """Keep some of the rows."""
        for role in self.columns:
            self.columns[role] = self.columns[role][rows]
        self.count = self.count[rows]

    def rename(
        self, names: Sequence[Any], *roles: str, absent: tuple[Any, ...] = ()
    ) -> tuple[Any, ...]:
        """Make columns indices into the names they use, sorted; return these, or `absent`."""
        if roles[0] not in self.columns:
            return absent
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
