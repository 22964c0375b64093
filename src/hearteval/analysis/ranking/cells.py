"""Judgments as the headline weighs them, summed by item, rater, writer and pair of systems.

What breaks a ranking down again and again (strata, items, other rankers) starts from these sums:
whatever the number of orders and judges, an item has no more of them than pairs of systems, people
who judge and people who write.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearteval.analysis.columns import BoolArray, JudgmentColumns
from hearteval.analysis.ranking.comparisons import balance
from hearteval.domain import Item
from hearteval.stats.comparisons import (
    TIE_SCORE,
    FloatArray,
    IntArray,
    Packed,
    blocks_of_labels,
    pack,
)
from hearteval.stats.special import expit

SUMMED = (
    "item",
    "rater",
    "writer",
    "low",
    "high",
    "won",
    "weight",
    "n",
    "once",
    "once_won",
    "tied",
)
PANEL = -1
"""Stands for all LLM judges together: a fixed panel."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Sums of judgments by item, rater, writer and pair of systems; a row each, in that order."""

    systems: tuple[str, ...]
    """Names by index, sorted."""
    items: tuple[Item, ...]
    """By index; some may have no row."""
    item: Packed[IntArray] = Packed()
    rater: Packed[IntArray] = Packed()
    """`PANEL` for all judges."""
    writer: Packed[IntArray] = Packed()
    """Who wrote the completion by a person, -1 where neither is by one."""
    low: Packed[IntArray] = Packed()
    """The system of lower index."""
    high: Packed[IntArray] = Packed()
    won: Packed[FloatArray] = Packed()
    """Weight that the lower system won, ties half."""
    weight: Packed[FloatArray] = Packed()
    """Weight of all: strengths, 1 for a tie; people and judges half of a pair each."""
    n: Packed[IntArray] = Packed()
    """Judgments."""
    once: Packed[FloatArray] = Packed()
    """Weight of all where every judgment counts once; people and judges half of a pair each."""
    once_won: Packed[FloatArray] = Packed()
    """Of it won by the lower system, ties half."""
    tied: Packed[FloatArray] = Packed()
    """Weight of ties."""

    @cached_property
    def n_met(self) -> IntArray:
        """Return by item and system on how many rows it is, (items, systems)."""
        n, m = len(self.items), len(self.systems)
        keys = np.concatenate((self.item * m + self.low, self.item * m + self.high))
        return np.bincount(keys, minlength=n * m).reshape(n, m)

    def select(self, rows: BoolArray) -> "Cells":
        """Return some of the rows, systems and items kept."""
        kept: Any = {name: vars(self)[name][rows] for name in SUMMED}
        return Cells(systems=self.systems, items=self.items, **kept)

    def points(self) -> FloatArray:
        """Return the weight with which each system (row) won from each other (column)."""
        return self._square(self.won, self.weight - self.won)

    def counts(self) -> FloatArray:
        """Return the same with every judgment counting once."""
        return self._square(self.once_won, self.once - self.once_won)

    def _square(self, of_low: FloatArray, of_high: FloatArray) -> FloatArray:
        m = len(self.systems)
        keys = np.concatenate((self.low * m + self.high, self.high * m + self.low))
        sums = np.bincount(keys, weights=np.concatenate((of_low, of_high)), minlength=m * m)
        return sums.astype(np.float64).reshape(m, m)

    def residuals(self, theta: FloatArray) -> FloatArray:
        """Return by row what its lower system won above what strengths expect, by weight.

        Args:
            theta: Strength of each system, (systems,), or of the two of each row, (rows, 2).
        """
        pairs = np.stack((theta[self.low], theta[self.high]), 1) if theta.ndim == 1 else theta
        return np.asarray(self.won - self.weight * expit(pairs[:, 0] - pairs[:, 1]))

    def scores(self, theta: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
        """Return the score vectors of what each rater said of an item, their items and raters.

        A score is the derivative of the likelihood by the strengths, (cells, systems).
        """
        is_new = (np.diff(self.item, prepend=-1) != 0) | (np.diff(self.rater, prepend=-2) != 0)
        return self._scores(theta, is_new), self.item[is_new], self.rater[is_new]

    def scores_by_writer(
        self, theta: FloatArray
    ) -> tuple[FloatArray, IntArray, IntArray, IntArray]:
        """Return the same of what each rater said of each writer, and the writers."""
        is_new = (np.diff(self.item, prepend=-1) != 0) | (np.diff(self.rater, prepend=-2) != 0)
        is_new |= np.diff(self.writer, prepend=-2) != 0
        of_writers = self.writer[is_new]
        return self._scores(theta, is_new), self.item[is_new], self.rater[is_new], of_writers

    def _scores(self, theta: FloatArray, is_new: BoolArray) -> FloatArray:
        """Return the sums of scores of rows, a new one beginning where it says so."""
        found = self.residuals(theta)
        cell, m = np.cumsum(is_new) - 1, len(self.systems)
        keys = np.concatenate((cell * m + self.low, cell * m + self.high))
        values = np.concatenate((found, -found))
        sums = np.bincount(keys, weights=values, minlength=int(is_new.sum()) * m)
        return sums.astype(np.float64).reshape(-1, m)


def headline_cells(columns: JudgmentColumns, systems: Collection[str]) -> Cells:
    """Return the sums of the judgments among some systems, given by name.

    Args:
        columns: Judgments, none of a repeat.
        systems: Those of the headline's ranking.
    """
    names = tuple(sorted(systems))
    place = {name: k for k, name in enumerate(names)}
    known = np.array([place.get(one.name, -1) for one in columns.names.systems], dtype=np.int16)
    among = (known[columns.first] >= 0) & (known[columns.second] >= 0)
    columns = columns if among.all() else columns.select(among)
    parts = [
        _sum_cells(columns.select(rows), known, len(names))
        for rows, _ in blocks_of_labels(columns.item)
        if len(rows)
    ] or [_sum_cells(columns, known, len(names))]
    joined = map(np.concatenate, zip(*parts, strict=True))
    sums: Any = dict(zip(SUMMED, joined, strict=True))
    return Cells(systems=names, items=columns.names.items, **sums)


def _sum_cells(columns: JudgmentColumns, known: NDArray[np.int16], m: int) -> list[NDArray[Any]]:
    """Return the sums of some items, packed: m systems by their numbers in the cells."""
    first, second = known[columns.first], known[columns.second]
    low, high = np.minimum(first, second), np.maximum(first, second)
    rater, writer = columns.sampled_rater, columns.writer
    n_raters, n_writers = (int(who.max(initial=PANEL)) + 2 for who in (rater, writer))
    keys = columns.item
    for number, n in ((rater + 1, n_raters), (writer + 1, n_writers), (low, m), (high, m)):
        keys *= n
        keys += number
    found, row = np.unique(keys, return_inverse=True)

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(row, weights=values, minlength=len(found)).astype(np.float64)

    won = np.where(first == low, columns.score, 1 - columns.score)
    by_strength = np.where(columns.score == TIE_SCORE, 1.0, columns.strength)
    weight, once = (
        balance(columns.pair, columns.is_person, each) for each in (by_strength, np.ones(len(won)))
    )
    sums = (
        found // (m * m * n_writers * n_raters),
        found // (m * m * n_writers) % n_raters - 1,
        found // (m * m) % n_writers - 1,
        found // m % m,
        found % m,
        total(weight * won),
        total(weight),
        np.bincount(row, minlength=len(found)),
        total(once),
        total(once * won),
        total(np.where(columns.score == TIE_SCORE, weight, 0.0)),
    )
    return [*map(pack, sums)]
