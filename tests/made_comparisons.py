"""Comparisons of which a test says what matters to it, and the rest is alike in every row."""

import csv
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from rating_tables import SHARED

from hearteval.stats.comparisons import Comparisons, FloatArray

REAL = ("score", "weight")


def made_comparisons(
    left: ArrayLike,
    right: ArrayLike,
    score: ArrayLike = 1.0,
    *,
    n_systems: int | None = None,
    **others: ArrayLike | None,
) -> Comparisons:
    """Return comparisons, left winning once in each, on one item and by one rater by default.

    What is one number is that of every row; systems are as many as the rows name.
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
    if n_systems is None:
        n_systems = 1 + int(max(columns["left"].max(), columns["right"].max()))
    return Comparisons(n_systems=n_systems, **columns)


def swapped(comparisons: Comparisons) -> Comparisons:
    """Return the same comparisons, each told from its other side."""
    left, right = comparisons.right, comparisons.left
    return replace(comparisons, left=left, right=right, score=1 - comparisons.score)


def ice_hockey() -> tuple[Comparisons, FloatArray, list[str]]:
    """Return 1,083 games of visitor against opponent, 1 where the opponent was home, and teams."""
    path = SHARED / "classic" / "icehockey2009.csv"
    if not path.exists():
        pytest.skip("reference data are not beside this checkout")
    with path.open() as file:
        games = list(csv.DictReader(file))
    teams = sorted({game["visitor"] for game in games} | {game["opponent"] for game in games})
    visitor, opponent = (
        [teams.index(game[column]) for game in games] for column in ("visitor", "opponent")
    )
    score = [float(game["result"]) for game in games]
    is_away = np.array([game["home.ice"] == "TRUE" for game in games], dtype=np.float64)
    comparisons = made_comparisons(visitor, opponent, score, item=np.arange(len(score)))
    return comparisons, is_away[:, None], teams
