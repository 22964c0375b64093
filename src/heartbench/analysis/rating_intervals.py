"""Intervals of z-scores over items, the raters' own means and deviations estimated with them.

A z-score moves with its rater's mean and standard deviation, and these with every item: what an
item does to all of them at once is its influence. Taken as given, they would make intervals that
cover up to .999 of a nominal .95 where items differ in how much any reply can get (simulated).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heartbench.domain import Axis
from heartbench.stats.means import influence_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ZPart:
    """One z-score that a mean is made of.

    Attributes:
        rater_id: Whose.
        axis: On which axis.
        item_id: Of which item.
        z: Its value.
        share: How much of its rating it is: 1 for an axis, its weight's share overall.
    """

    rater_id: str
    axis: Axis
    item_id: str
    z: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSums:
    """One rater's z-scores on one axis, summed by item.

    Attributes:
        n: How many there are.
        z: Sum of z by item; what the item does to the mean, in deviations, times `n`.
        excess: Sum of z squared minus 1 by item; likewise to the variance.
    """

    n: int
    z: Mapping[str, float]
    excess: Mapping[str, float]


def sum_by_item(parts: Iterable[ZPart]) -> Mapping[tuple[str, Axis], ItemSums]:
    """Sum the z-scores of all systems, by rater and axis; all of those that normalised them."""
    n: dict[tuple[str, Axis], int] = defaultdict(int)
    z: dict[tuple[str, Axis], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    excess: dict[tuple[str, Axis], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for part in parts:
        key = (part.rater_id, part.axis)
        n[key] += 1
        z[key][part.item_id] += part.z
        excess[key][part.item_id] += part.z**2 - 1
    return {key: ItemSums(n=n[key], z=z[key], excess=excess[key]) for key in sorted(n)}


def z_interval(
    ratings: Mapping[str, Sequence[Sequence[ZPart]]],
    sums: Mapping[tuple[str, Axis], ItemSums],
    *,
    level: float,
) -> tuple[float | None, float | None]:
    """Return the interval of a system's mean z-score, an item being one value.

    With m the mean over n items of each item's mean over ratings, w the weight in m of a rater's
    z-scores on an axis and v their part of m, the influence of an item is its own mean / n - m / n
    (0 where it has none), less, by rater and axis, (w sum z + v sum (z^2 - 1) / 2) / N over all N
    z-scores that normalised them.

    Args:
        ratings: The system's ratings by item, each as its parts.
        sums: From `sum_by_item`.
        level: Nominal coverage.
    """
    n_items = len(ratings)
    own: dict[str, float] = {}
    weight: dict[tuple[str, Axis], float] = defaultdict(float)
    value: dict[tuple[str, Axis], float] = defaultdict(float)
    for item_id, of_item in ratings.items():
        each = 1 / (n_items * len(of_item))
        own[item_id] = sum(each * part.share * part.z for parts in of_item for part in parts)
        for part in (part for parts in of_item for part in parts):
            weight[part.rater_id, part.axis] += each * part.share
            value[part.rater_id, part.axis] += each * part.share * part.z
    mean = sum(own.values())
    influence: dict[str, float] = defaultdict(float)
    for item_id, of_own in own.items():
        influence[item_id] += of_own - mean / n_items
    for key, of_rater in weight.items():
        for item_id, total in sums[key].z.items():
            pull = of_rater * total + value[key] * sums[key].excess[item_id] / 2
            influence[item_id] -= pull / sums[key].n
    moved = np.array([influence[item_id] for item_id in sorted(influence)])
    return influence_interval(mean, moved, df=n_items - 1, level=level) or (None, None)
