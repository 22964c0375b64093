"""Judgments and a policy -> comparisons for `heartbench.stats`.

The policy: a tie is half a win for each side and counts with weight 1; a decided judgment counts
once, or with its strength (HEART 9.8). Items are indexed in sorted order, so the order of judgments
changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.domain import Axis
from heartbench.stats.comparisons import TIE_SCORE, Comparisons

SCORES: Mapping[str, float] = {"first": 1.0, "tie": TIE_SCORE, "second": 0.0}


def to_comparisons(
    columns: JudgmentColumns,
    *,
    axis: Axis | None = None,
    use_strength: bool,
    system_ids: Sequence[str],
    rater_ids: Sequence[str] = (),
) -> Comparisons:
    """Return the comparisons among some systems, the completion shown first on the left.

    Args:
        columns: Judgments.
        axis: Take the marks of this axis instead of the overall choice; judgments without one are
            left out.
        use_strength: Whether a decided judgment counts with its strength instead of once.
        system_ids: Systems in the order of their indices; judgments of others are left out.
        rater_ids: Raters in the order of their indices; all others are -1, a fixed panel.

    Raises:
        ValueError: `use_strength` is set and a decided judgment has no strength.
    """
    system = _positions(system_ids)
    first, second = columns.first_system_id, columns.second_system_id
    rows = [
        row
        for row, marks in enumerate(columns.axes)
        if first[row] in system and second[row] in system and (axis is None or axis in marks)
    ]
    if axis is None:
        marks = [(columns.choice[row], columns.strength[row]) for row in rows]
    else:
        marks = [columns.axes[row][axis] for row in rows]
    if use_strength:
        _require_strengths(columns, rows, marks)
    item = _positions(sorted(set(columns.item_id)))
    rater = _positions(rater_ids)
    return Comparisons(
        left=_integers(system[first[row]] for row in rows),
        right=_integers(system[second[row]] for row in rows),
        score=np.array([SCORES[choice] for choice, _ in marks], dtype=np.float64),
        weight=np.array(
            [strength if use_strength and strength else 1 for _, strength in marks],
            dtype=np.float64,
        ),
        count=np.ones(len(rows), dtype=np.int64),
        item=_integers(item[columns.item_id[row]] for row in rows),
        rater=_integers(rater.get(columns.rater_id[row], -1) for row in rows),
        n_systems=len(system_ids),
    )


def _require_strengths(
    columns: JudgmentColumns, rows: Sequence[int], marks: Sequence[tuple[str, int | None]]
) -> None:
    for row, (choice, strength) in zip(rows, marks, strict=True):
        if (strength is None) != (choice == "tie"):
            raise ValueError(
                f"assignment {columns.assignment_id[row]}: a decided judgment needs a strength to"
                f" be weighted, a tie has none; choice is {choice!r}, strength {strength!r}"
            )


def _positions(names: Sequence[str]) -> dict[str, int]:
    return {name: position for position, name in enumerate(names)}


def _integers(values: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.fromiter(values, dtype=np.int64)
