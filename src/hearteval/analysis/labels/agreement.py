"""How far two labelers agree on what completions do: Cohen's kappa and F1, by category.

What is present counts against all else: a labeler that cannot tell has not said present. Intervals
are over items, by what each completion does to a figure (linearization); those of F1, precision and
recall are made on the scale of log odds, where a rare category has one that holds.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearteval.analysis.data import LabelRow
from hearteval.analysis.estimates import Estimate, clustered_estimates
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.means import ROUNDING, wilson_interval

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAgreement:
    """How far two labelers agree on what is present.

    Attributes:
        category: Its key; ``all`` for the mean over the categories that have a figure.
        n_one: Completions of which the first says present; `n_other` likewise.
        same: Share of completions of which both say the same.
        kappa: Cohen's; None where either says the same of all.
        f1: Of what is present, the same whichever is taken as right; None where neither finds any.
        precision: Of what the second says is present, the share of which people say so too; None
            where it says so of none, and where the first is no person's. `recall` is the share
            that it finds of what people say is present.
        n_categories: Categories that have an F1: those of which the mean of ``all`` is.
    """

    one: str
    other: str
    category: str
    name: str
    n_completions: int
    n_items: int
    n_one: int
    n_other: int
    same: float
    kappa: Estimate | None
    f1: Estimate | None
    precision: Estimate | None = None
    recall: Estimate | None = None
    n_categories: int = 1


class _Figure(NamedTuple):
    """A figure of two columns of marks."""

    value: float
    moves: FloatArray
    """What each row moves it by."""
    counts: BoolArray
    """Rows that enter it."""
    parts: "tuple[_Figure, ...]" = ()
    """What it is the mean of."""


Column = Mapping[str, _Figure | None]
"""Figures of a category, by the names of the fields above."""
OF_TWO, OF_PEOPLE = ("kappa", "f1"), ("kappa", "f1", "precision", "recall")


class Marks(NamedTuple):
    """The labels of one source, a row a completion."""

    labeler: str
    item: IntArray
    system: IntArray
    present: FloatArray
    """1 or 0, (completions, categories)."""
    uncertain: FloatArray
    categories: tuple[str, ...]
    ids: tuple[str, ...]
    """Of the completions."""

    def among(self, rows: BoolArray) -> "Marks":
        """Return some of the rows."""
        return Marks(
            self.labeler,
            self.item[rows],
            self.system[rows],
            self.present[rows],
            self.uncertain[rows],
            self.categories,
            tuple(np.array(self.ids, dtype=object)[rows]),
        )


class Texts(NamedTuple):
    """Texts that may be labelled, in an order of content, with their item and system."""

    ids: Sequence[str]
    item: IntArray
    system: IntArray


def read_marks(
    labeler: str, categories: Iterable[str], rows: Iterable[LabelRow], texts: Texts
) -> Marks:
    """Return the texts that a labeler has labelled, in its rows, by every category it labels by."""
    of_text: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        of_text[row.text_id][row.category] = row.verdict
    said = {category for each in of_text.values() for category in each}
    keys = tuple(key for key in categories if key in said)
    whole = [k for k, id_ in enumerate(texts.ids) if len(of_text.get(id_, ())) == len(keys) > 0]
    ids = tuple(texts.ids[k] for k in whole)
    verdicts = np.array([[of_text[id_][key] for key in keys] for id_ in ids], dtype=object)
    verdicts = verdicts.reshape(len(ids), len(keys))
    return Marks(
        labeler=labeler,
        item=texts.item[whole],
        system=texts.system[whole],
        present=(verdicts == "present").astype(np.float64),
        uncertain=(verdicts == "uncertain").astype(np.float64),
        categories=keys,
        ids=ids,
    )


def agree(
    left: Marks, right: Marks, names: Mapping[str, str], *, level: float, are_people: bool = False
) -> list[SourceAgreement]:
    """Compare two labelers on the completions and by the categories that both have labelled.

    The first row is the mean over the categories. Where the first is what people say, the other's
    precision and recall are told too.
    """
    keys = [key for key in left.categories if key in right.categories]
    place = {id_: k for k, id_ in enumerate(right.ids)}
    shared = [(k, place[id_]) for k, id_ in enumerate(left.ids) if id_ in place]
    if not shared or not keys:
        return []
    at, other_at = (list(column) for column in zip(*shared, strict=True))
    a = left.present[at][:, [left.categories.index(key) for key in keys]]
    b = right.present[other_at][:, [right.categories.index(key) for key in keys]]
    item = left.item[at]
    columns = compare_marks(a, b, OF_PEOPLE if are_people else OF_TWO)
    return [
        SourceAgreement(
            one=left.labeler,
            other=right.labeler,
            category=key,
            name=names.get(key, key),
            n_completions=len(item),
            n_items=len(np.unique(item)),
            n_one=int(x.sum()),
            n_other=int(y.sum()),
            same=float((x == y).mean()),
            n_categories=sum(each["f1"] is not None for each in columns[1:])
            if key == "all"
            else int(column["f1"] is not None),
            **with_intervals(column, item, level=level),
        )
        for key, column, x, y in zip(("all", *keys), columns, (a, *a.T), (b, *b.T), strict=True)
    ]


def compare_marks(a: FloatArray, b: FloatArray, wanted: Sequence[str]) -> list[Column]:
    """Return figures of the marks of two labelers, (completions, categories).

    The first are the means over the categories that have one, then those of each category.
    """
    kappas = kappa_figures(a, b)
    columns: list[Column] = [
        {name: kappa if name == "kappa" else _figure(name, x, y) for name in wanted}
        for x, y, kappa in zip(a.T, b.T, kappas, strict=True)
    ]
    means: dict[str, _Figure | None] = dict.fromkeys(wanted)
    for name in wanted:
        there = [figure for column in columns if (figure := column[name]) is not None]
        if there:
            means[name] = _Figure(
                float(np.mean([one.value for one in there])),
                np.mean([one.moves for one in there], axis=0),
                np.any([one.counts for one in there], axis=0),
                tuple(there),
            )
    return [means, *columns]


def with_intervals(column: Column, item: IntArray, *, level: float) -> dict[str, Estimate | None]:
    """Return figures with their intervals over items, kept within their scale."""
    judges = np.full(len(item), -1)
    found: dict[str, Estimate | None] = {}
    for name, figure in column.items():
        if figure is None:
            found[name] = None
            continue
        if name == "kappa":
            moves = figure.moves
            found[name] = bounded(figure.value, moves, item, judges, low=-1.0, level=level)
        elif figure.parts:
            found[name] = _of_mean(figure, item, level=level)
        else:
            found[name] = _share(figure, item, level=level)
    return found


def _share(figure: _Figure, item: IntArray, *, level: float) -> Estimate:
    judges = np.full(len(item), -1)
    one = bounded(figure.value, figure.moves, item, judges, low=-math.inf, level=level)
    return _of_share(one, len(np.unique(item[figure.counts])), level=level)


def _of_mean(figure: _Figure, item: IntArray, *, level: float) -> Estimate:
    """Return the mean of shares with the interval that follows from theirs.

    Each share's distances to its own ends, joined as standard errors are (Zou and Donner 2008), by
    the correlations of what items do to them. A share of few that is 0 or 1 moves by nothing, yet
    its own interval is wide: the mean's is then wide too.
    """
    items, places = np.unique(item, return_inverse=True)
    if len(items) < 2:
        return Estimate(value=figure.value, low=None, high=None)
    each = [_share(part, item, level=level) for part in figure.parts]
    sums = np.stack([np.bincount(places, weights=part.moves) for part in figure.parts])
    lengths = np.sqrt((sums**2).sum(axis=1, keepdims=True))
    moves = sums / np.where(lengths > ROUNDING, lengths, 1.0)
    alike = moves @ moves.T
    np.fill_diagonal(alike, 1.0)
    # Of a share that rests on one item nothing is known but that it lies from 0 to 1.
    below = np.array([one.value - (0.0 if one.low is None else one.low) for one in each])
    above = np.array([(1.0 if one.high is None else one.high) - one.value for one in each])
    down, up = (math.sqrt(max(0.0, float(d @ alike @ d))) / len(each) for d in (below, above))
    return Estimate(
        value=figure.value, low=max(0.0, figure.value - down), high=min(1.0, figure.value + up)
    )


def _figure(name: str, x: FloatArray, y: FloatArray) -> _Figure | None:
    """Return a share of one category; None where there is nothing to divide by."""
    both = x * y
    above, below = {"f1": (2 * both, x + y), "precision": (both, y), "recall": (both, x)}[name]
    total = below.sum()
    if not total:
        return None
    value = float(above.sum() / total)
    return _Figure(value, (above - value * below) / total, below > 0)


def kappa_figures(x: FloatArray, y: FloatArray) -> list[_Figure | None]:
    """Return Cohen's kappa of each category; with every two people in both orders it is Fleiss'.

    Marks are 0 or 1, or shares of several raters; None where either says the same of all.
    """
    p, q = x.mean(axis=0), y.mean(axis=0)
    varies = (p > 0) & (p < 1) & (q > 0) & (q < 1)
    parts = zip(*(part.T for part in same_and_chance(x, y)), strict=True)
    return [kappa_figure(*each) if has else None for each, has in zip(parts, varies, strict=True)]


def same_and_chance(
    x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return how often two say the same, by category, and by chance, and what rows do to either."""
    n, same = len(x), x * y + (1 - x) * (1 - y)
    p, q = x.mean(axis=0), y.mean(axis=0)
    observed, expected = same.mean(axis=0), p * q + (1 - p) * (1 - q)
    moves_expected = ((x - p) * (2 * q - 1) + (y - q) * (2 * p - 1)) / n
    return observed, expected, (same - observed) / n, moves_expected


def kappa_figure(
    observed: float, chance: float, moves: FloatArray, moves_chance: FloatArray
) -> _Figure:
    """Return kappa of an agreement and its chance, below 1."""
    rest = 1 - chance
    moved = (moves * rest - (1 - observed) * moves_chance) / rest**2
    return _Figure(float((observed - chance) / rest), moved, np.ones(len(moves), dtype=bool))


def bounded(
    value: float,
    moves: FloatArray,
    item: IntArray,
    judges: IntArray,
    *,
    low: float,
    level: float,
) -> Estimate:
    """Return a figure with its interval over items, kept within its scale."""
    one = clustered_estimates([value], moves[:, None], item, judges, level=level)[0]
    if one.low is None or one.high is None:
        return one
    return Estimate(value=value, low=max(low, one.low), high=min(1.0, one.high))


def _of_share(one: Estimate, n_items: int, *, level: float) -> Estimate:
    """Return a share with an interval made in log odds; where nothing varies, Wilson's."""
    value = one.value
    if n_items < 2:
        return Estimate(value=value, low=None, high=None)
    if one.low is None or not 0 < value < 1:
        low, high = wilson_interval(value, n_items, level=level)
        return Estimate(value=value, low=low, high=high)
    reach = (value - one.low) / (value * (1 - value))
    odds = math.log(value / (1 - value))
    low, high = ((1 + math.tanh((odds + side * reach) / 2)) / 2 for side in (-1, 1))
    return Estimate(value=value, low=low, high=high)
