"""One set of comparisons -> ratings with both intervals, named errors included.

Shared by the overall ranking and the axes, so that both mean the same by a rating.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from heartbench.analysis.leaderboard_results import EloEstimate
from heartbench.analysis.vote_intervals import MIN_RATERS
from heartbench.analysis.vote_results import Difference
from heartbench.errors import NotIdentifiedError
from heartbench.stats.bradley_terry import ELO_PER_THETA, elo_from_theta, fit_bradley_terry
from heartbench.stats.clustered_variance import (
    ClusteredVariance,
    InfluenceOf,
    vary_over_items,
    vary_over_items_and_raters,
)
from heartbench.stats.comparisons import Comparisons, FloatArray, IntArray, count_comparisons
from heartbench.stats.contrasts import PairwiseDifferences, pairwise_differences, rank_bounds
from heartbench.stats.intervals import clustered, influence_on_strengths, published

REMEDY = "Add items, or judge more pairs across them."
SHOWN_NAMES, SHOWN_GROUPS = 8, 6
ELO_DECIMALS_OF_RANK = 6
"""Ratings equal to this many decimals share a rank; the fit itself is good to about 1e-8 Elo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EloTable:
    """Ratings of systems from one set of comparisons.

    Attributes:
        estimates: One per system, by index.
        differences: Every two systems, best first.
        interval_used: ``two-way`` or ``item-sandwich``.
        df: Degrees of freedom of t.
    """

    estimates: tuple[EloEstimate, ...]
    differences: tuple[Difference, ...]
    interval_used: str
    df: int


def estimate_elo(comparisons: Comparisons, names: Sequence[str], *, level: float) -> EloTable:
    """Rate systems by Bradley-Terry, with the intervals of `vary_as_sampled` and the paper's.

    Args:
        comparisons: Comparisons; every system is in at least one. Rater -1 stands for a judge of a
            fixed panel.
        names: Names by index.
        level: Nominal coverage of the intervals.

    Raises:
        NotIdentifiedError: The strengths or their intervals are not determined; it names systems.
    """
    try:
        fit = fit_bradley_terry(comparisons)
        variance, used = vary_as_sampled(influence_on_strengths(comparisons, fit), comparisons)
    except NotIdentifiedError as error:
        raise name_components(error, names, remedy=REMEDY) from error
    sound = clustered(fit.theta, variance, level=level)
    narrow = published(fit.theta, count_comparisons(comparisons), level=level)
    bounds = rank_bounds(fit.theta, variance.of_differences(), variance.df, level=level)
    elo = elo_from_theta(fit.theta)
    rounded = elo.round(ELO_DECIMALS_OF_RANK)
    rank = 1 + (rounded[None, :] > rounded[:, None]).sum(axis=1)

    def end(theta: FloatArray, system: int) -> float:
        return float(elo[system] + ELO_PER_THETA * (theta[system] - fit.theta[system]))

    estimates = tuple(
        EloEstimate(
            elo=float(elo[i]),
            low=end(sound.low, i),
            high=end(sound.high, i),
            published_low=end(narrow.low, i),
            published_high=end(narrow.high, i),
            theta=float(fit.theta[i]),
            se=float(sound.se[i]),
            rank=int(rank[i]),
            rank_low=int(bounds.low[i]),
            rank_high=int(bounds.high[i]),
        )
        for i in range(len(names))
    )
    order = np.lexsort((np.arange(len(names)), rank))
    found = pairwise_differences(fit.theta, variance.of_differences(), variance.df, level=level)
    return EloTable(
        estimates=estimates,
        differences=list_differences(found, names, order),
        interval_used=used,
        df=variance.df,
    )


def vary_as_sampled(
    influence_of: InfluenceOf, comparisons: Comparisons
) -> tuple[ClusteredVariance, str]:
    """Return the variance over items and people, or over items alone, and its name.

    Over both (``two-way``) with at least five people; else raters are taken as given
    (``item-sandwich``; SPEC section 6). Rater -1 is a judge of a fixed panel, never sampled.

    Raises:
        NotIdentifiedError: Under two items.
    """
    people = np.unique(comparisons.rater[comparisons.rater >= 0])
    if len(people) < MIN_RATERS:
        return vary_over_items(influence_of, comparisons.item), "item-sandwich"
    variance = vary_over_items_and_raters(influence_of, comparisons.item, comparisons.rater)
    return variance, "two-way"


def list_differences(
    found: PairwiseDifferences, names: Sequence[str], order: IntArray
) -> tuple[Difference, ...]:
    """Return every two systems once, in Elo; no end where the comparisons do not determine one.

    Args:
        found: Differences in theta's units.
        names: Names by index.
        order: Indices, best first.
    """

    def end(value: float) -> float | None:
        return float(ELO_PER_THETA * value) if np.isfinite(value) else None

    return tuple(
        Difference(
            system=names[i],
            other=names[j],
            elo=float(ELO_PER_THETA * found.difference[i, j]),
            low=end(found.low[i, j]),
            high=end(found.high[i, j]),
            p=float(found.p[i, j]),
            q=float(found.q[i, j]),
        )
        for position, i in enumerate(order)
        for j in order[position + 1 :]
    )


def percentiles(values: FloatArray) -> FloatArray:
    """Return the share of the other values below each one, ties half, times 100.

    There are at least two values.
    """
    below = (values[None, :] < values[:, None]).sum(axis=1)
    ties = (values[None, :] == values[:, None]).sum(axis=1) - 1
    return np.asarray((below + ties / 2) / (len(values) - 1) * 100)


def name_components(
    error: NotIdentifiedError, names: Sequence[str], *, remedy: str
) -> NotIdentifiedError:
    """Return the error with names for indices, saying what would help."""
    components = [[names[cast("int", i)] for i in group] for group in error.components]
    message = str(error)
    if len(components) > 1:
        groups = list_groups(components)
        message = (
            "the comparisons do not determine one ranking: wins and ties do not lead both ways"
            f" between these groups: {groups}. {remedy}"
        )
    return NotIdentifiedError(
        message, components=components, ids=[name for group in components for name in group]
    )


def list_groups(groups: Sequence[Sequence[str]]) -> str:
    """List groups of systems in a message; of many, the first few."""
    shown = [
        ", ".join(group[:SHOWN_NAMES]) + (f" and {rest} more" if rest > 0 else "")
        for group in groups[:SHOWN_GROUPS]
        for rest in (len(group) - SHOWN_NAMES,)
    ]
    more = len(groups) - SHOWN_GROUPS
    return " | ".join(shown) + (f" | and {more} more groups" if more > 0 else "")
