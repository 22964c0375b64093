"""What the axes weigh in an overall choice, by kind of rater (HEART 4.4, SPEC 7). Exploratory.

The choice is regressed on the axis marks of the same judgment, by logistic regression: a mark is
+1/2 for the reply shown first, -1/2 for the other, 0 for a tie or none; a tie overall is half a
choice. An intercept takes up a lean to the reply shown first. Weights are coefficients divided by
their sum, so there are none where that sum may as well be 0: shares of nothing have no limit. They
say what a choice goes with, not what a rater meant: axes that are always marked alike share their
weight by chance.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.estimates import (
    EXPLORATORY,
    Estimate,
    clustered_estimates,
    clustered_tests,
    interval_name,
)
from hearteval.domain import AXES, Axis
from hearteval.stats import one_blas_thread
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray, pack
from hearteval.stats.means import q_where_tested
from hearteval.stats.special import expit

KINDS: Final = ("people", "judges")
MAX_STEPS, DONE = 40, 1e-10
MAX_COEFFICIENT: Final = 15.0
"""A coefficient beyond this, e^15 to one for a mark, is a fit that runs off to infinity."""
SEPARATED: Final = (
    "the marks foretell every choice, or some marks are always the same: no weights can be told"
)
NO_SUM: Final = (
    "it is not shown that the marks go with the choice, so there is nothing to divide among them"
)
_LEVELS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisWeight:
    """What one axis weighs in the overall choice."""

    axis: Axis
    weight: Estimate
    """Share of the five coefficients' sum; 1/5 where all weigh the same. It can be below 0."""
    coefficient: float
    """Log-odds of the choice that a mark adds, from the other reply to this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindWeights:
    """The weights of one kind of rater."""

    judged_by: str
    n_judgments: int
    """By raters who marked any axis."""
    n_raters: int
    n_items: int
    weights: tuple[AxisWeight, ...]
    """In the order of the axes; empty where there are none."""
    first: float | None
    """Log-odds by which the reply shown first is ahead, marks being equal."""
    total: Estimate | None
    """Sum of the five coefficients, what the weights are shares of; None where there is no fit."""
    problem: str | None
    interval_used: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightDifference:
    """How much more an axis weighs with people than with judges."""

    axis: Axis
    difference: Estimate
    p: float | None
    q: float | None
    """Benjamini-Hochberg over the five axes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisWeights:
    """Implied weights of the axes by kind of rater, and how they differ."""

    kinds: tuple[KindWeights, ...]
    """Those kinds that marked any axis."""
    differences: tuple[WeightDifference, ...]
    """Empty unless both kinds have weights."""
    level: float
    status: str = EXPLORATORY


class _Cells(NamedTuple):
    """Votes of one rater on one item, or of all judges on it, by their marks and choice."""

    item: IntArray
    rater: IntArray
    influence: FloatArray
    """Of each cell, (cells, 5): on the coefficients, or on the weights made from them."""


class _Fit(NamedTuple):
    result: KindWeights
    cells: _Cells | None


def weigh_axes(columns: JudgmentColumns, *, level: float) -> AxisWeights | None:
    """Regress overall choices on axis marks; None where nobody marked all five axes."""
    if any(axis not in columns.marks for axis in AXES):
        return None
    has_marks = np.any([~np.isnan(columns.marks[axis]) for axis in AXES], axis=0)
    marked = np.bincount(columns.rater[has_marks], minlength=len(columns.names.raters)) > 0
    fits = {}
    for kind, is_kind in zip(KINDS, (columns.is_person, ~columns.is_person), strict=True):
        rows = is_kind & marked[columns.rater]
        if rows.any():
            fits[kind] = _fit_kind(kind, columns, rows, level=level)
    if not fits:
        return None
    return AxisWeights(
        kinds=tuple(fit.result for fit in fits.values()),
        differences=_differences(fits, level=level),
        level=level,
    )


def _fit_kind(kind: str, columns: JudgmentColumns, rows: BoolArray, *, level: float) -> _Fit:
    """Fit one kind of rater, its rows merged by pattern of marks and choice."""
    x, y, counts, of_rows = _patterns(columns, rows)
    item, rater, _ = of_rows
    beta = fit_logistic(x, y, counts)
    cells = None if beta is None else _influence(x, y, counts, beta, of_rows)
    problem, total = (None if cells else SEPARATED), None
    shown: tuple[AxisWeight, ...] = ()
    if beta is not None and cells is not None:
        total = _sum_of(beta, cells, level=level)
        problem = None if total.low is not None and total.low > 0 else NO_SUM
    if beta is not None and cells is not None and problem is None:
        cells = _of_weights(cells, beta)
        weights = beta[:-1] / beta[:-1].sum()
        found = clustered_estimates(weights, cells.influence, cells.item, cells.rater, level=level)
        shown = tuple(
            AxisWeight(axis=axis, weight=one, coefficient=float(b))
            for axis, one, b in zip(AXES, found, beta[:-1], strict=True)
        )
    result = KindWeights(
        judged_by=kind,
        n_judgments=int(rows.sum()),
        n_raters=len(np.unique(columns.rater[rows])),
        n_items=len(np.unique(item)),
        weights=shown,
        first=float(beta[-1]) if beta is not None and shown else None,
        total=total,
        problem=problem,
        interval_used=interval_name(rater),
    )
    return _Fit(result, cells if shown else None)


def _patterns(
    columns: JudgmentColumns, rows: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Return marks, choice and number of each pattern; item, rater and pattern of each row."""
    columns = columns.select(rows)
    pattern = np.rint(2 * columns.score).astype(np.int16)
    for axis in AXES:
        mark = np.nan_to_num(columns.marks[axis], nan=0.5)
        pattern = pattern * _LEVELS + np.rint(2 * mark).astype(np.int16)
    n_of = np.bincount(pattern)
    seen = np.flatnonzero(n_of)
    pattern = np.searchsorted(seen, pattern).astype(np.int16)
    digits = seen[:, np.newaxis] // _LEVELS ** np.arange(len(AXES), -1, -1) % _LEVELS
    y, marks = digits[:, 0] / 2, digits[:, 1:] / 2 - 0.5
    x = np.column_stack((marks, np.ones(len(seen))))
    counts = n_of[seen].astype(np.float64)
    return x, y, counts, (pack(columns.item), pack(columns.sampled_rater), pattern)


def fit_logistic(x: FloatArray, y: FloatArray, counts: FloatArray) -> FloatArray | None:
    """Return the coefficients of a logistic regression; None where they are not determined.

    Newton's steps, halved while the likelihood falls. `y` is a share from 0 to 1.
    """
    beta = np.zeros(x.shape[1])
    with one_blas_thread():
        for _ in range(MAX_STEPS):
            p = expit(x @ beta)
            gradient = x.T @ (counts * (y - p))
            information = (x * (counts * p * (1 - p))[:, np.newaxis]).T @ x
            if np.linalg.cond(information) > 1 / DONE:
                return None
            step = np.linalg.solve(information, gradient)
            size = 1.0
            while size > DONE and _log_likelihood(x, y, counts, beta + size * step) < (
                _log_likelihood(x, y, counts, beta) - DONE * counts.sum()
            ):
                size /= 2
            beta = beta + size * step
            if np.abs(beta).max() > MAX_COEFFICIENT:
                return None
            if np.abs(step).max() < DONE:
                return beta
    return None


def _log_likelihood(x: FloatArray, y: FloatArray, counts: FloatArray, beta: FloatArray) -> float:
    eta = x @ beta
    return float((counts * (y * eta - np.logaddexp(0, eta))).sum())


def _influence(
    x: FloatArray,
    y: FloatArray,
    counts: FloatArray,
    beta: FloatArray,
    of_rows: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
) -> _Cells:
    """Return what each cell moves the coefficients of the axes by.

    That of a row is its score times the inverse information (Liang and Zeger 1986).
    """
    item, rater, pattern = of_rows
    p = expit(x @ beta)
    with one_blas_thread():
        information = (x * (counts * p * (1 - p))[:, np.newaxis]).T @ x
        of_beta = np.linalg.solve(information, (x * (y - p)[:, np.newaxis]).T).T[:, :-1]
    n_raters = int(rater.max()) + 2
    labels = item.astype(np.int64)
    labels *= n_raters
    labels += rater
    labels += 1
    keys = np.unique(labels)
    cell = pack(np.searchsorted(keys, labels))
    del labels
    influence: FloatArray = np.stack(
        [np.bincount(cell, weights=column[pattern], minlength=len(keys)) for column in of_beta.T],
        axis=1,
    )
    return _Cells(keys // n_raters, keys % n_raters - 1, influence)


def _sum_of(beta: FloatArray, cells: _Cells, *, level: float) -> Estimate:
    """Return the sum of the axes' coefficients."""
    influence = cells.influence.sum(axis=1, keepdims=True)
    (total,) = clustered_estimates(
        [float(beta[:-1].sum())], influence, cells.item, cells.rater, level=level
    )
    return total


def _of_weights(cells: _Cells, beta: FloatArray) -> _Cells:
    """Return what each cell moves the weights by: w_j = b_j / s, so dw = (db - w ds) / s."""
    total = beta[:-1].sum()
    of_sum = cells.influence.sum(axis=1, keepdims=True)
    return cells._replace(influence=(cells.influence - of_sum * (beta[:-1] / total)) / total)


def _differences(fits: Mapping[str, _Fit], *, level: float) -> tuple[WeightDifference, ...]:
    if len(fits) < len(KINDS):
        return ()
    people, judges = (fits[kind] for kind in KINDS)
    if people.cells is None or judges.cells is None:
        return ()
    item = np.concatenate((people.cells.item, judges.cells.item))
    rater = np.concatenate((people.cells.rater, judges.cells.rater))
    influence = np.concatenate((people.cells.influence, -judges.cells.influence))
    pairs = zip(people.result.weights, judges.result.weights, strict=True)
    values = [one.weight.value - other.weight.value for one, other in pairs]
    found, p = clustered_tests(values, influence, item, rater, level=level)
    return tuple(
        WeightDifference(axis=axis, difference=one, p=at, q=q)
        for axis, one, at, q in zip(AXES, found, p, q_where_tested(p), strict=True)
    )
