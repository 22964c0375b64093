"""Judgments in which a model's completion meets a person's, as parallel arrays: `Meetings`.

The corpus's own replies and baselines are neither model nor person here; two models, or two people,
are no meeting. Where people and judges are set side by side, it is on one mix of models: `Mix`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

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
MIN_ITEMS_OF_MODEL: Final = MIN_ITEMS
"""On fewer its own share varies in a way that t with the items of all models does not allow for."""


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
    writer: IntArray
    """Who wrote it."""
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
        writer=columns.writer,
        score=np.where(is_first, columns.score, 1 - columns.score),
        is_marked=~np.isnan(table).any(axis=1),
        model_takes_all=(table == WON).all(axis=1),
        person_takes_all=(table == LOST).all(axis=1),
    )


class Mix(NamedTuple):
    """The models whose judgments make a figure, each with the same weight.

    Judges are kept from their own family's models and people are not: shares of all judgments would
    differ between the two by which models they are of. None stands for each judgment once.
    """

    judged: BoolArray | None = None
    """By system, whether both kinds of rater judged it, on five items or more."""
    marked: BoolArray | None = None
    """Whether both marked every axis there."""
    left_out: tuple[str, ...] = ()
    """Models that were judged otherwise, by name."""


EVERY_JUDGMENT: Final = Mix()
SCORES, MARKS = slice(0, 5), slice(5, 8)
"""Columns of a tally: how many judgments, then the shares among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What one kind of rater said, summed: sums of strata are then cheap.

    Halves add up exactly, in any order.
    """

    met: Meetings
    kind: str
    item: IntArray
    """Of each cell: what one rater said of one writer's completion of one item."""
    rater: IntArray
    writer: IntArray
    cell: IntArray
    """Cell of each row, a row being a cell's judgments of one model."""
    model: IntArray
    """Of each row."""
    values: FloatArray
    """Of each row, (columns, rows): how many judgments; score, wins of the model, ties, losses;
    how many mark every axis, and of these how many the model and the person win on each."""

    def part(self, rows: BoolArray | None, mix: Mix = EVERY_JUDGMENT) -> FloatArray:
        """Return the sums of cells over some of the rows, (columns, cells).

        In a mix the shares are the mean over its models of each model's own, and the sums are of
        what judgments move these by: about its own model's share, weighted as that model is.
        """
        kept = slice(None) if rows is None else rows
        cell, model, values = self.cell[kept], self.model[kept], self.values[:, kept]
        for columns, models in ((SCORES, mix.judged), (MARKS, mix.marked)):
            if models is not None and (n_items := self.n_items(rows, columns)).any():
                values = values.copy()
                values[columns] = _in_equal_parts(values[columns], model, models, n_items)
        n = len(self.item)
        return np.stack([np.bincount(cell, weights=one, minlength=n) for one in values])

    def n_items(self, rows: BoolArray | None, columns: slice) -> IntArray:
        """Return on how many items each system was judged, or was with a mark on every axis."""
        kept = slice(None) if rows is None else rows
        is_said, n = self.values[columns.start, kept] > 0, len(self.met.names.systems)
        item, model = self.item[self.cell[kept]][is_said], self.model[kept][is_said]
        return np.bincount(np.unique(item * n + model) % n, minlength=n)

    def summed(self, sums: FloatArray) -> Summed:
        """Return cells for an estimate of score, wins, ties and losses."""
        return self._summed(sums[SCORES])

    def summed_marks(self, sums: FloatArray) -> Summed:
        """Return cells for an estimate of how often either side wins on every axis."""
        return self._summed(sums[MARKS])

    def _summed(self, sums: FloatArray) -> Summed:
        is_in = sums[0] > 0
        rater = self.rater if self.kind == PEOPLE else np.full_like(self.rater, -1)
        return Summed(
            item=self.item[is_in],
            rater=rater[is_in],
            writer=self.writer[is_in],
            weight=sums[0, is_in],
            sums=sums[1:, is_in].T,
        )


def _in_equal_parts(
    values: FloatArray, model: IntArray, models: BoolArray, n_items: IntArray
) -> FloatArray:
    """Return judgments and shares of rows, (columns, rows), as they count in a mix of models.

    Their sum over that of the judgments is the mean over models m of share_m; what a row adds
    beyond it is N / (M n_m) (its wins - its judgments share_m), n_m of the N judgments being of m,
    of M models. That varies over the items of m about their own share, so it has the root of their
    own G/(G - 1) for that of all items.
    """
    n, is_in = values[0], models[model]
    of_model = [np.bincount(model, weights=one, minlength=len(models))[models] for one in values]
    shares = np.stack(of_model[1:]) / of_model[0]
    at = np.where(is_in, (np.cumsum(models) - 1)[model], 0)
    weight = np.where(is_in, of_model[0].sum() / (models.sum() * of_model[0])[at], 0.0)
    own, most = n_items[models], n_items[models].max()
    stretch = np.sqrt(own / (own - 1) * (most - 1) / most)[at]
    moved = weight * stretch * (values[1:] - n * shares[:, at])
    return np.concatenate(((weight * n)[None], moved + weight * n * shares.mean(axis=1)[:, None]))


def tally_meetings(met: Meetings) -> list[Tally]:
    """Return what people said and what judges said, where they did."""
    return [_tally(rows, kind) for kind in KINDS if len(rows := met.by(kind))]


def find_mix(parts: Sequence[tuple[Tally, BoolArray | None]]) -> Mix:
    """Return the models that are judged in each of some parts of what both kinds of rater said.

    Where one kind alone said something, every judgment counts; so it does where no model is left.

    Args:
        parts: Tallies, and which of their rows are meant.
    """
    if len({tally.kind for tally, _ in parts}) < len(KINDS):
        return EVERY_JUDGMENT

    def by_each(columns: slice) -> IntArray:
        return np.stack([tally.n_items(rows, columns) for tally, rows in parts])

    judged, marked = by_each(SCORES), by_each(MARKS)
    if not judged.any(axis=1).all():
        return EVERY_JUDGMENT
    both = np.asarray((judged >= MIN_ITEMS_OF_MODEL).all(axis=0))
    # Where one kind alone is asked for axes, its marks are on the mix of its choices.
    marked = marked[marked.any(axis=1)]
    both_marked = both & (marked >= MIN_ITEMS_OF_MODEL).all(axis=0) & bool(len(marked))
    left_out = np.flatnonzero(judged.any(axis=0) & ~both)
    return Mix(
        judged=both if both.any() else None,
        marked=both_marked if both_marked.any() else None,
        left_out=tuple(parts[0][0].met.names.systems[k].name for k in left_out),
    )


def _tally(met: Meetings, kind: str) -> Tally:
    n_raters, n_systems = len(met.names.raters), len(met.names.systems)
    n_writers = int(met.writer.max()) + 1
    keys, row = np.unique(
        ((met.item * n_raters + met.rater) * n_writers + met.writer) * n_systems + met.model,
        return_inverse=True,
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
        item=cells // n_writers // n_raters,
        rater=cells // n_writers % n_raters,
        writer=cells % n_writers,
        cell=cell,
        model=keys % n_systems,
        values=np.stack(
            [np.bincount(row, weights=column, minlength=len(keys)) for column in columns]
        ),
    )
