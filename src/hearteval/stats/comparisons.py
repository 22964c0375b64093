"""Pairwise comparisons as parallel arrays, and their sums.

Sums are taken in an order that depends on the values alone, and each pair of systems is turned the
same way round first. So the order of rows, and which system stands left, change nothing to the last
digit. What the rows mean (ties, strengths, exclusions) is decided in `hearteval.analysis`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Generic, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

TIE_SCORE = 0.5
COLUMNS = ("left", "right", "score", "weight", "count", "item", "rater")
FEW_ROWS = 10_000
"""A column of fewer is not packed: that would take time and save nothing."""
PART_ROWS, MAX_PARTS = 1 << 17, 64
"""Rows that are summed at once, some 10 MiB, and in how many parts at most."""
LABEL_ROWS = 1 << 16
"""Rows that are taken at once where labels are summed: some 15 MiB."""
PACKED = (np.int8, np.uint8, np.float32)
Column = TypeVar("Column", IntArray, FloatArray, IntArray | None)


class Packed(Generic[Column]):
    """A column that lies in as few bytes as its numbers need, int64 or float64 whenever read.

    So no sum overflows or rounds another way. Whoever loops takes the column out before the loop.
    """

    def __init__(self, *default: None) -> None:
        self.default = default

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __get__(self, columns: Any | None, owner: type[Any]) -> Column:
        if columns is None:
            for default in self.default:
                return cast("Column", default)
            raise AttributeError("a column has no default")
        lies: Any = columns.__dict__[self.name]
        return cast("Column", None if lies is None else widen(lies))

    def __set__(self, columns: Any, values: Column) -> None:
        columns.__dict__[self.name] = None if values is None else pack(values)


class LookedUp:
    """A packed column that holds where in a table of numbers each row's stands."""

    __slots__ = ("places", "table")

    def __init__(self, places: NDArray[Any], table: NDArray[Any]) -> None:
        self.places, self.table = places, table

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: Any) -> "LookedUp":
        return LookedUp(self.places[rows], self.table)


Lies = NDArray[Any] | LookedUp


def widen(lies: Lies) -> NDArray[Any]:
    """Return a packed column as int64 or float64, the caller's own to change."""
    values = lies.table[lies.places] if isinstance(lies, LookedUp) else lies
    return values.astype(np.float64 if values.dtype.kind == "f" else np.int64)


@overload
def pack(values: NDArray[Any]) -> NDArray[Any]: ...
@overload
def pack(values: LookedUp) -> LookedUp: ...
def pack(values: Lies) -> Lies:
    """Return the same numbers in fewer bytes; fractions that four do not hold stay as they are.

    Two hold halves, but are no number for the processor: it takes ten times as long to read them.
    """
    if isinstance(values, LookedUp) or len(values) < FEW_ROWS or values.dtype in PACKED:
        return values
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            narrow = values.astype(np.float32)
        return narrow if np.array_equal(narrow, values) else values
    low, high = int(values.min()), int(values.max())
    smallest = np.min_scalar_type(high if low >= 0 else min(low, -1 - high))
    return values.astype(smallest, copy=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparisons:
    """Comparisons of systems, a row for each or for several equal ones, as arrays of one length."""

    left: Packed[IntArray] = Packed()
    """Index of one system, 0 to `n_systems` - 1."""
    right: Packed[IntArray] = Packed()
    """Index of the other system."""
    score: Packed[FloatArray] = Packed()
    """1 where left won, 0 where right won, 1/2 for a tie."""
    weight: Packed[FloatArray] = Packed()
    """How much each comparison of the row weighs, above 0."""
    count: Packed[IntArray] = Packed()
    """How many equal comparisons the row stands for, 1 or more."""
    item: Packed[IntArray] = Packed()
    """Index of the cluster that intervals resample."""
    rater: Packed[IntArray] = Packed()
    n_systems: int
    """How many systems there are, compared or not."""
    writer: Packed[IntArray | None] = Packed(None)
    """Who wrote the completion by a person in it, -1 where neither is by one; None where writers
    are not known, or nobody's."""

    def __post_init__(self) -> None:
        lie = packed_columns(self)
        lengths = [len(column) for column in lie.values()]
        if len(set(lengths)) > 1:
            raise ValueError(f"columns must be of one length, not {lengths}")
        left, right, score, weight = lie["left"], lie["right"], lie["score"], lie["weight"]
        lower, upper = np.minimum(left, right), np.maximum(left, right)
        _reject((lower < 0) | (upper >= self.n_systems), "names no system")
        _reject(left == right, "compares a system with itself")
        is_score = (score == 0) | (score == TIE_SCORE) | (score == 1)
        _reject(~is_score, "has a score other than 0, 1/2 and 1")
        _reject(~(np.isfinite(weight) & (weight > 0)), "has no finite weight above 0")
        _reject(lie["count"] < 1, "stands for no comparison")

    def __len__(self) -> int:
        return len(vars(self)["left"])

    @property
    def total_weight(self) -> FloatArray:
        """Weight of each row: that of one comparison times how many it stands for."""
        return self.weight * self.count


def packed_columns(comparisons: Comparisons) -> dict[str, NDArray[Any]]:
    """Return the columns by name as they lie, `writer` only where there is one."""
    lie = ((name, vars(comparisons)[name]) for name in (*COLUMNS, "writer"))
    return {name: column for name, column in lie if column is not None}


def _reject(is_bad: BoolArray, problem: str) -> None:
    if is_bad.any():
        raise ValueError(f"row {np.argmax(is_bad)} {problem} ({is_bad.sum()} such rows)")


def in_parts(comparisons: Comparisons, *, n_cells: int = 1) -> Iterator[tuple[slice, Comparisons]]:
    """Yield rows a part at a time, for sums that are exact however they are taken.

    All at once where there are few, or where each part is to fill so many cells that it would cost
    more than it saves.
    """
    n_rows = len(comparisons)
    step = max(PART_ROWS, -(-n_rows // MAX_PARTS), n_cells)
    if n_rows <= step:
        yield slice(None), comparisons
        return
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        yield rows, select_comparisons(comparisons, rows)


def parts_of_runs(key: IntArray) -> list[slice]:
    """Return some hundred thousand rows at a time of a sorted key, none of a value in two parts."""
    n_rows = len(key)
    near = np.arange(PART_ROWS, n_rows, max(PART_ROWS, n_rows // MAX_PARTS))
    ends = np.unique([0, *np.searchsorted(key, key[near]), n_rows])
    return [slice(*each) for each in pairwise(ends.tolist())] or [slice(0)]


def blocks_of_labels(label: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield rows with their labels from 0, few labels at a time: `LABEL_ROWS`, or those of one.

    Labels are 0 or more; what is summed by label is the same as of all at once.
    """
    ends = np.cumsum(np.bincount(label))
    n_at_once = max(LABEL_ROWS, len(label) // MAX_PARTS)
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + n_at_once, side="right")))
        rows = np.flatnonzero((label >= start) & (label < stop))
        yield rows, label[rows] - start
        start = stop


def number_labels(labels: IntArray) -> tuple[IntArray, int]:
    """Number the labels (0 or more) that occur, from 0 in their order; also say how many."""
    occurs = np.bincount(labels) > 0
    return (np.cumsum(occurs) - 1)[labels], int(occurs.sum())


def run_starts(values: NDArray[Any]) -> IntArray:
    """Return the first row of each run of equal values."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])


def renumber(labels: NDArray[Any]) -> NDArray[Any]:
    """Number any labels from 0 in their order, packed."""
    return pack(np.searchsorted(np.unique(labels), labels))


def with_columns(comparisons: Comparisons, **columns: NDArray[Any]) -> Comparisons:
    """Return comparisons with other columns; those that stay are shared as they lie."""
    return Comparisons(
        n_systems=comparisons.n_systems, **{**packed_columns(comparisons), **columns}
    )


def sum_by(keys: IntArray, values: FloatArray, n_keys: int) -> FloatArray:
    """Sum values by key, the same to the last digit whatever the order of rows."""
    if not _are_halves(values):
        order = np.argsort(values)
        keys, values = keys[order], values[order]
    return _add_up(keys, values, n_keys)


def _add_up(keys: IntArray, values: FloatArray, n_keys: int) -> FloatArray:
    return np.bincount(keys, weights=values, minlength=n_keys).astype(np.float64)


def _are_halves(values: FloatArray) -> bool:
    """Say whether sums of these are exact, in any order: they are whole numbers and halves."""
    halves = values * 2
    return np.array_equal(halves, np.rint(halves))


def sum_scores(keys: IntArray, scores: FloatArray, n_keys: int) -> FloatArray:
    """Sum scores by key without sorting, the same to the last digit whatever the order of rows.

    Scores are first rounded, as by `round_scores`.
    """
    return _add_up(keys, round_scores(scores, len(scores)), n_keys)


def round_scores(scores: FloatArray, n_rows: int) -> FloatArray:
    """Return scores rounded to a power of two at which no sum of `n_rows` can lose a digit.

    The error of a sum is below n^2 2^-53 times the largest score, n the rows; it suits scores of
    one size, not weights of many.
    """
    return round_below(scores, float(np.abs(scores).max(initial=0.0)), n_rows)


def round_below(scores: FloatArray, largest: float, n_rows: int) -> FloatArray:
    """Do the same to some of many scores, of which `largest` is the largest in size."""
    if largest == 0:
        return np.zeros(len(scores))
    quantum = 2.0 ** (math.frexp(largest * n_rows)[1] - 53)
    exact = scores / quantum
    np.rint(exact, out=exact)
    exact *= quantum
    return exact


def win_matrix(comparisons: Comparisons) -> FloatArray:
    """Return the weight with which system i beat system j, as (n_systems, n_systems).

    A tie gives half its weight to each side; the diagonal is 0.
    """
    n = comparisons.n_systems
    found = np.zeros(n * n)
    for _, part in in_parts(comparisons):
        keys, turned, won, lost = _wins(part)
        if not (_are_halves(won) and _are_halves(lost)):
            break
        found += _add_up(keys, won, n * n) + _add_up(turned, lost, n * n)
    else:
        return found.reshape(n, n)
    keys, turned, won, lost = _wins(comparisons)
    return sum_by(np.append(keys, turned), np.append(won, lost), n * n).reshape(n, n)


def _wins(comparisons: Comparisons) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return the cell of each row and of its other side, and the weight that each of them won."""
    n, left, right = comparisons.n_systems, comparisons.left, comparisons.right
    weight, score = comparisons.total_weight, comparisons.score
    return left * n + right, right * n + left, weight * score, weight * (1 - score)


def order_pairs(comparisons: Comparisons) -> tuple[IntArray, IntArray, FloatArray]:
    """Return each row's lower and higher system, and the score of the lower one.

    Turned the same way round, a sum over rows does not depend on which system stood left.
    """
    is_turned = comparisons.left > comparisons.right
    low = np.where(is_turned, comparisons.right, comparisons.left)
    high = np.where(is_turned, comparisons.left, comparisons.right)
    return low, high, np.where(is_turned, 1 - comparisons.score, comparisons.score)


def count_comparisons(comparisons: Comparisons) -> IntArray:
    """Count the comparisons each system is part of, weights apart."""
    ends = np.concatenate((comparisons.left, comparisons.right))
    counts = np.tile(comparisons.count, 2)
    return np.bincount(ends, weights=counts, minlength=comparisons.n_systems).astype(np.int64)


def count_wins(comparisons: Comparisons) -> tuple[IntArray, FloatArray]:
    """Count by system its comparisons and the wins among them, a tie half, weights apart."""
    once = with_columns(comparisons, weight=np.ones(len(comparisons)))
    return count_comparisons(comparisons), win_matrix(once).sum(axis=1)


def select_comparisons(comparisons: Comparisons, rows: BoolArray | IntArray | slice) -> Comparisons:
    """Return some of the rows, all systems kept."""
    lie = packed_columns(comparisons)
    some: dict[str, Any] = {name: column[rows] for name, column in lie.items()}
    return with_columns(comparisons, **some)


def count_items(comparisons: Comparisons) -> IntArray:
    """Count, by system, the items on which it was compared."""
    return count_met(comparisons, comparisons.item)


def count_met(comparisons: Comparisons, labels: IntArray) -> IntArray:
    """Count, by system, the labels of the rows it is in; one below 0 counts nothing."""
    is_unlabelled = int(labels.min(initial=0) < 0)
    labels, n_labels = number_labels(labels + 1)
    number = pack(labels)
    del labels
    n_cells = comparisons.n_systems * n_labels
    ends = [vars(comparisons)[side] for side in ("left", "right")]
    if n_cells > 4 * len(comparisons):
        met = np.unique(np.concatenate([end.astype(np.int64) * n_labels + number for end in ends]))
    else:
        is_met = np.zeros(n_cells, dtype=np.bool_)
        for start in range(0, len(number), PART_ROWS):
            rows = slice(start, start + PART_ROWS)
            for end in ends:
                is_met[end[rows].astype(np.int64) * n_labels + number[rows]] = True
        met = np.flatnonzero(is_met)
    system, label = np.divmod(met, max(n_labels, 1))
    return np.bincount(system[label >= is_unlabelled], minlength=comparisons.n_systems)


def keep_compared(comparisons: Comparisons, *, min_items: int = 1) -> tuple[Comparisons, IntArray]:
    """Drop systems compared on fewer items; also return the former index of each that stays.

    Rows with a dropped system go too, until every system that stays has enough items.
    """
    kept = np.arange(comparisons.n_systems)
    while True:
        is_enough = count_items(comparisons) >= min_items
        if is_enough.all():
            return comparisons, kept
        stays = np.flatnonzero(is_enough)
        rows = is_enough[comparisons.left] & is_enough[comparisons.right]
        comparisons = select_comparisons(comparisons, rows)
        comparisons = replace(
            comparisons,
            left=np.searchsorted(stays, comparisons.left),
            right=np.searchsorted(stays, comparisons.right),
            n_systems=len(stays),
        )
        kept = kept[stays]
