"""One set of comparisons -> ratings with both intervals, named errors included.

Shared by the overall ranking and the axes, so that both mean the same by a rating.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from heartbench.analysis.results import EloEstimate
from heartbench.errors import NotIdentifiedError
from heartbench.stats.bradley_terry import ELO_PER_THETA, elo_from_theta, fit_bradley_terry
from heartbench.stats.comparisons import Comparisons, FloatArray, count_comparisons
from heartbench.stats.intervals import item_sandwich, published

ELO_DECIMALS_OF_RANK = 6
"""Ratings equal to this many decimals share a rank; the fit itself is good to about 1e-8 Elo."""


def estimate_elo(
    comparisons: Comparisons, names: Sequence[str], *, level: float
) -> tuple[EloEstimate, ...]:
    """Rate systems by Bradley-Terry, with item-sandwich intervals and the paper's.

    Args:
        comparisons: Comparisons; every system is in at least one.
        names: Names by index, for errors.
        level: Nominal coverage of the intervals.

    Raises:
        NotIdentifiedError: The strengths or their intervals are not determined; it names systems.
    """
    try:
        fit = fit_bradley_terry(comparisons)
        sandwich = item_sandwich(comparisons, fit, level=level)
    except NotIdentifiedError as error:
        raise _with_names(error, names) from error
    narrow = published(fit.theta, count_comparisons(comparisons), level=level)
    elo = elo_from_theta(fit.theta)
    rounded = elo.round(ELO_DECIMALS_OF_RANK)
    rank = 1 + (rounded[None, :] > rounded[:, None]).sum(axis=1)

    def end(theta: FloatArray, system: int) -> float:
        return float(elo[system] + ELO_PER_THETA * (theta[system] - fit.theta[system]))

    return tuple(
        EloEstimate(
            elo=float(elo[i]),
            low=end(sandwich.low, i),
            high=end(sandwich.high, i),
            published_low=end(narrow.low, i),
            published_high=end(narrow.high, i),
            theta=float(fit.theta[i]),
            se=float(sandwich.se[i]),
            rank=int(rank[i]),
        )
        for i in range(len(names))
    )


def percentiles(values: FloatArray) -> FloatArray:
    """Return the share of the other values below each one, ties half, times 100.

    There are at least two values.
    """
    below = (values[None, :] < values[:, None]).sum(axis=1)
    ties = (values[None, :] == values[:, None]).sum(axis=1) - 1
    return np.asarray((below + ties / 2) / (len(values) - 1) * 100)


def _with_names(error: NotIdentifiedError, names: Sequence[str]) -> NotIdentifiedError:
    components = [[names[cast("int", i)] for i in group] for group in error.components]
    message = str(error)
    if len(components) > 1:
        groups = " | ".join(", ".join(group) for group in components)
        message = (
            "the judgments do not determine one ranking: wins and ties do not lead both ways"
            f" between these groups: {groups}. Add items, or judge more pairs across them."
        )
    return NotIdentifiedError(
        message, components=components, ids=[name for group in components for name in group]
    )
