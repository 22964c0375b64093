"""How much more often one group of systems does something than another (HEART 4.8).

Rates are means over items, so a difference is paired over the items that both sides have: a t
interval over them, these labels given, and Benjamini-Hochberg over the tests of one kind.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hearteval.analysis.estimates import with_q
from hearteval.analysis.labels.agreement import Marks
from hearteval.domain import System
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.means import ROUNDING
from hearteval.stats.special import stdtr, t_quantile

PEOPLE, MODELS, OTHERS = "people", "models", "the others"
Comparison = Literal["models-people", "family-people", "system-others"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateDifference:
    """How much more often one group does something than another, on items that both have.

    Attributes:
        comparison: ``models-people``, ``family-people``, or a system with all others.
        p: Two-sided, t over items; None where nothing varies.
        q: Benjamini-Hochberg over the tests of one comparison; of systems, over all of them.
    """

    comparison: Comparison
    group: str
    against: str
    category: str
    name: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    q: float | None
    n_items: int


def item_means(item: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the items of some rows, and the mean of their values on each."""
    items, place = np.unique(item, return_inverse=True)
    sums = np.zeros((len(items), values.shape[1]))
    np.add.at(sums, place, values)
    return items, sums / np.bincount(place)[:, None]


def differences_of_rates(
    marks: Marks,
    systems: Sequence[System],
    families: Mapping[str, list[int]],
    names: Mapping[str, str],
    *,
    level: float,
) -> tuple[RateDifference, ...]:
    """Compare models with people, each family of models with people, each system with the rest.

    Systems are named by their places in the marks; `names` are the categories', by key.
    """
    present = set(marks.system.tolist())
    people = [k for k in families.get(PEOPLE, []) if k in present]
    models = {
        family: [k for k in members if systems[k].kind == "model" and k in present]
        for family, members in families.items()
    }
    models = {family: members for family, members in models.items() if members}
    every = [k for members in models.values() for k in members]
    wanted: dict[Comparison, list[tuple[str, list[int], str, list[int]]]] = {
        "models-people": [(MODELS, every, PEOPLE, people)],
        "family-people": [(family, own, PEOPLE, people) for family, own in models.items()],
        "system-others": _each_and_others(systems, sorted(present)),
    }
    found: list[RateDifference] = []
    for comparison, pairs in wanted.items():
        rows = [
            row
            for group, own, against, others in pairs
            if own and others
            for row in _compare(
                comparison, (group, own), (against, others), marks, names, level=level
            )
        ]
        found += with_q(rows)
    return tuple(found)


def _each_and_others(
    systems: Sequence[System], present: Sequence[int]
) -> list[tuple[str, list[int], str, list[int]]]:
    """Return each system and the others; of two only the first, whose mirror the second is."""
    if len(present) == 2:
        one, other = present
        return [(systems[one].name, [one], systems[other].name, [other])]
    return [
        (systems[k].name, [k], OTHERS, [other for other in present if other != k]) for k in present
    ]


def _compare(
    comparison: Comparison,
    one: tuple[str, list[int]],
    other: tuple[str, list[int]],
    marks: Marks,
    names: Mapping[str, str],
    *,
    level: float,
) -> list[RateDifference]:
    sides = []
    for _, members in (one, other):
        rows = np.isin(marks.system, members)
        sides.append(item_means(marks.item[rows], marks.present[rows]))
    (items, left), (other_items, right) = sides
    both, at, other_at = np.intersect1d(items, other_items, return_indices=True)
    n = len(both)
    if not n:
        return []
    apart = left[at] - right[other_at]
    means = apart.mean(axis=0)
    errors = apart.std(axis=0, ddof=1) / math.sqrt(n) if n > 1 else np.zeros_like(means)
    reach = t_quantile(n - 1, level=level) if n > 1 else 0.0
    return [
        RateDifference(
            comparison=comparison,
            group=one[0],
            against=other[0],
            category=key,
            name=names[key],
            difference=float(mean),
            low=max(-1.0, float(mean - reach * se)) if se > ROUNDING else None,
            high=min(1.0, float(mean + reach * se)) if se > ROUNDING else None,
            p=2 * float(stdtr(n - 1, -abs(mean) / se)) if se > ROUNDING else None,
            q=None,
            n_items=n,
        )
        for key, mean, se in zip(marks.categories, means, errors, strict=True)
    ]
