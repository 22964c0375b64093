"""Judgments in which a model's completion meets a person's, as parallel arrays: `Meetings`.

The corpus's own replies and baselines are neither model nor person here; two models, or two people,
are no meeting.
"""

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from hearteval.analysis.columns import JudgmentColumns, Names
from hearteval.analysis.estimates import Summed
from hearteval.domain import AXES
from hearteval.stats.comparisons import TIE_SCORE, BoolArray, FloatArray, IntArray

PEOPLE, JUDGES = "people", "judges"
KINDS: Final = (PEOPLE, JUDGES)
WON, LOST = 1.0, 0.0
MIN_ITEMS: Final = 5
"""Of fewer items there are counts and no shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meetings:
    """A row for each judgment of a model's completion and a person's."""

    names: Names
    item: IntArray
    rater: IntArray
    is_person: BoolArray
    """Whether a person judged."""
    model: IntArray
    """System of the model's completion."""
    text: IntArray
    """The person's completion."""
    score: FloatArray
    """What the model won: 1, 0.5 of a tie, 0."""
    is_marked: BoolArray
    """Whether every axis has a mark, of the five that anybody marked."""
    model_takes_all: BoolArray
    """Whether the model wins on every axis."""
    person_takes_all: BoolArray

    def __len__(self) -> int:
        return len(self.item)

    def select(self, rows: BoolArray) -> "Meetings":
        """Return some of the rows."""
        columns: dict[str, Any] = {
            field.name: getattr(self, field.name)[rows]
            for field in fields(self)
            if field.name != "names"
        }
        return Meetings(names=self.names, **columns)

    def by(self, kind: str) -> "Meetings":
        """Return what people said, or what judges said."""
        return self.select(self.is_person if kind == PEOPLE else ~self.is_person)

    @property
    def outcomes(self) -> FloatArray:
        """Return whether the model won, nobody did, or the person, (rows, 3)."""
        won = [self.score == one for one in (WON, TIE_SCORE, LOST)]
        return np.stack(won, axis=1).astype(np.float64)


def find_meetings(columns: JudgmentColumns) -> Meetings:
    """Return the judgments in which a model meets a person."""
    kinds = np.array([system.kind for system in columns.names.systems], dtype=np.str_)
    is_model, is_human = kinds == "model", kinds == "human"
    is_first = is_model[columns.first] & is_human[columns.second]
    met = is_first | (is_human[columns.first] & is_model[columns.second])
    columns, is_first = columns.select(met), is_first[met]
    marks = [
        np.where(is_first, mark, 1 - mark)
        for axis in AXES
        if (mark := columns.marks.get(axis)) is not None
    ]
    table = np.stack(marks, axis=1) if marks else np.full((len(columns), 1), np.nan)
    return Meetings(
        names=columns.names,
        item=columns.item,
        rater=columns.rater,
        is_person=columns.is_person,
        model=np.where(is_first, columns.first, columns.second),
        text=np.where(is_first, columns.second_text, columns.first_text),
        score=np.where(is_first, columns.score, 1 - columns.score),
        is_marked=~np.isnan(table).any(axis=1),
        model_takes_all=(table == WON).all(axis=1),
        person_takes_all=(table == LOST).all(axis=1),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What one kind of rater said, summed: sums of strata are then cheap.

    Halves add up exactly, in any order.
    """

    met: Meetings
    kind: str
    item: IntArray
    """Of each cell: what one rater said of one item."""
    rater: IntArray
    cell: IntArray
    """Cell of each row, a row being what one rater said of one item and one model."""
    model: IntArray
    """Of each row."""
    values: FloatArray
    """Of each row, (columns, rows): how many judgments; score, wins of the model, ties, losses;
    how many mark every axis, and of these how many the model and the person win on each."""

    def part(self, rows: BoolArray | None) -> FloatArray:
        """Return the sums of cells over some of the rows, (columns, cells)."""
        cell = self.cell if rows is None else self.cell[rows]
        return np.stack(
            [
                np.bincount(
                    cell, weights=one if rows is None else one[rows], minlength=len(self.item)
                )
                for one in self.values
            ]
        )

    def summed(self, sums: FloatArray) -> Summed:
        """Return cells for an estimate of score, wins, ties and losses."""
        return self._summed(sums[0], sums[1:5])

    def summed_marks(self, sums: FloatArray) -> Summed:
        """Return cells for an estimate of how often either side wins on every axis."""
        return self._summed(sums[5], sums[6:])

    def _summed(self, weight: FloatArray, shares: FloatArray) -> Summed:
        is_in = weight > 0
        rater = self.rater if self.kind == PEOPLE else np.full_like(self.rater, -1)
        return Summed(
            item=self.item[is_in],
            rater=rater[is_in],
            weight=weight[is_in],
            sums=shares[:, is_in].T,
        )


def tally_meetings(met: Meetings) -> list[Tally]:
    """Return what people said and what judges said, where they did."""
    return [_tally(rows, kind) for kind in KINDS if len(rows := met.by(kind))]


def _tally(met: Meetings, kind: str) -> Tally:
    n_raters, n_systems = len(met.names.raters), len(met.names.systems)
    keys, row = np.unique(
        (met.item * n_raters + met.rater) * n_systems + met.model, return_inverse=True
    )
    cells, cell = np.unique(keys // n_systems, return_inverse=True)
    columns = (
        np.ones(len(met)),
        met.score,
        *met.outcomes.T,
        met.is_marked,
        met.model_takes_all,
        met.person_takes_all,
    )
    return Tally(
        met=met,
        kind=kind,
        item=cells // n_raters,
        rater=cells % n_raters,
        cell=cell,
        model=keys % n_systems,
        values=np.stack(
            [np.bincount(row, weights=column, minlength=len(keys)) for column in columns]
        ),
    )
