"""What every rater says of every pair, as one array: `PairVotes`, for all that is about agreement.

A pair of completions is the unit, and a vote is one of its two sides or a tie. Which side is which
a hash decides, and not the systems: with many systems, names would make agreement by chance look
rare, and raters who toss coins would seem to agree (`columns.pair_sides`). Both orders of one rater
are one vote, or none where they contradict each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hearteval.analysis.columns import JudgmentColumns, Names, PackedMarks
from hearteval.stats.comparisons import (
    BoolArray,
    FloatArray,
    IntArray,
    Packed,
    pack,
    parts_of_runs,
)

ABSENT: Final = -2
"""Not asked, or without an answer."""
FLIP: Final = -1
"""Contradicts itself between the orders: no vote."""
ONE, OTHER, TIE = 0, 1, 2
CATEGORIES: Final = (ONE, OTHER, TIE)
NO_MAJORITY: Final = -1
_NONE: Final = 9
_BY_PAIR: Final = ("item", "texts", "systems", "votes")
_SIDE_OF_ONE: Mapping[float, int] = {1.0: ONE, 0.5: TIE, 0.0: OTHER}


@dataclass(frozen=True, kw_only=True, eq=False)
class PairVotes:
    """Votes on the pairs that anyone judged, in an order of content."""

    names: Names
    item: Packed[IntArray] = Packed()
    """Item of each pair."""
    texts: Packed[IntArray] = Packed()
    """Both completions of each pair, side `ONE` first, (pairs, 2)."""
    systems: Packed[IntArray] = Packed()
    """Their systems."""
    votes: Packed[IntArray] = Packed()
    """A side, `TIE`, `FLIP` or `ABSENT`, (pairs, raters)."""
    marks: PackedMarks[IntArray]
    """The same by axis; axes with any mark only."""

    def __len__(self) -> int:
        return len(vars(self)["item"])

    @property
    def is_person(self) -> BoolArray:
        """Which raters are people, those who judged nothing among them."""
        return np.array([rater.kind == "human" for rater in self.names.raters], dtype=np.bool_)

    @property
    def of_people(self) -> IntArray:
        """Votes by people."""
        return self.votes[:, self.is_person]

    @property
    def of_judges(self) -> IntArray:
        """Votes by judges."""
        return self.votes[:, ~self.is_person]

    @property
    def is_judged(self) -> BoolArray:
        """Which pairs a judge has answered."""
        lie = vars(self)["votes"]  # there may be many people
        return np.asarray((lie[:, ~self.is_person] != ABSENT).any(axis=1))

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges, by name, in the order of `of_judges`."""
        return tuple(rater.name for rater in self.names.raters if rater.kind != "human")

    def select(self, pairs: BoolArray) -> "PairVotes":
        """Return some of the pairs."""
        some: Any = {name: vars(self)[name][pairs] for name in _BY_PAIR}
        return PairVotes(names=self.names, marks=self.marks.select(pairs), **some)


def merge_votes(columns: JudgmentColumns) -> PairVotes:
    """Merge both orders of each rater, overall and on each axis."""
    parts = [_merge(columns.select(rows)) for rows in parts_of_runs(columns.pair)]
    joined: Any = {name: np.concatenate([part[name] for part in parts]) for name in _BY_PAIR}
    marks = {axis: np.concatenate([part[axis] for part in parts]) for axis in columns.marks}
    return PairVotes(names=columns.names, marks=PackedMarks(marks), **joined)


def _merge(columns: JudgmentColumns) -> dict[str, NDArray[Any]]:
    """Return the fields of `PairVotes` of whole pairs, packed, and marks by axis."""
    n_raters = len(columns.names.raters)
    pairs, pair = np.unique(columns.pair, return_inverse=True)
    cell = pair * n_raters + columns.rater
    first_row, starts = (np.flatnonzero(np.diff(of, prepend=-1)) for of in (pair, cell))
    cells, shape = cell[starts], (len(pairs), n_raters)
    is_one_first = columns.first_text == columns.one_text

    def merged(score: FloatArray) -> NDArray[Any]:
        of_one = np.where(is_one_first, score, 1 - score)
        side = np.full(len(score), _NONE, dtype=np.int8)
        for of, own in _SIDE_OF_ONE.items():
            side[of_one == of] = own
        found = np.full(shape[0] * shape[1], ABSENT, dtype=np.int8)
        if len(starts):
            low = np.minimum.reduceat(side, starts)
            side[side == _NONE] = ABSENT
            high = np.maximum.reduceat(side, starts)
            found[cells] = np.where((low == high) | (high == ABSENT), high, FLIP)
        return found.reshape(shape)

    texts = _by_side(columns.first_text, columns.second_text, is_one_first, first_row)
    systems = _by_side(columns.first, columns.second, is_one_first, first_row)
    return {
        "item": pack(columns.item[first_row]),
        "texts": pack(texts),
        "systems": pack(systems),
        "votes": merged(columns.score),
        **{axis: merged(score) for axis, score in columns.marks.items()},
    }


def _by_side(first: IntArray, second: IntArray, is_one: BoolArray, rows: IntArray) -> IntArray:
    first, second, is_one = first[rows], second[rows], is_one[rows]
    return np.where(is_one, (first, second), (second, first)).T


def count_votes(votes: IntArray) -> IntArray:
    """Count the votes of each pair by category, (pairs, 3)."""
    return np.stack([(votes == category).sum(axis=1) for category in CATEGORIES], axis=1)


def majority_of_counts(counts: IntArray) -> IntArray:
    """Return the category with strictly more votes than any other, else `NO_MAJORITY`."""
    most = counts.max(axis=-1)
    is_strict = (counts == most[..., np.newaxis]).sum(axis=-1) == 1
    return np.where(is_strict, counts.argmax(axis=-1), NO_MAJORITY)


def majorities(votes: IntArray) -> IntArray:
    """Return the majority of each pair, as `judges.majorities.majority_of` decides it."""
    return majority_of_counts(count_votes(votes))


def is_vote(votes: IntArray) -> BoolArray:
    """Return where there is a vote or a majority."""
    return votes >= ONE


def agree(one: IntArray, other: IntArray) -> FloatArray:
    """Return 1 where two votes or majorities are the same, 0 where not, NaN where one is none."""
    return np.where(is_vote(one) & is_vote(other), (one == other).astype(np.float64), np.nan)
