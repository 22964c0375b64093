"""Comparisons of which a test says what matters to it, and the rest is alike in every row."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hearteval.stats.comparisons import Comparisons

REAL = ("score", "weight")


def made_comparisons(
    left: ArrayLike,
    right: ArrayLike,
    score: ArrayLike = 1.0,
    *,
    n_systems: int,
    **others: ArrayLike | None,
) -> Comparisons:
    """Return comparisons, left winning once in each, on one item and by one rater by default.

    What is one number is that of every row.
    """
    given: dict[str, Any] = {"weight": 1.0, "count": 1, "item": 0, "rater": 0, **others}
    given |= {"left": left, "right": right, "score": score}
    columns: dict[str, Any] = {
        name: np.array(values, dtype=np.float64 if name in REAL else np.int64)
        for name, values in given.items()
        if values is not None
    }
    shape = np.broadcast_shapes(*(column.shape for column in columns.values()))
    columns = {name: np.broadcast_to(column, shape).copy() for name, column in columns.items()}
    return Comparisons(n_systems=n_systems, **columns)
