"""Items on which people agree, and items on which they do not; agreement on each axis.

The less people agree with each other, the less any judge can agree with their majority: so their
own agreement stands beside the judges' wherever items are split by it. Exploratory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

import numpy as np

from hearteval.analysis.agreement.measures import AgreementMeasure
from hearteval.analysis.agreement.pair_votes import (
    PairVotes,
    agree,
    count_votes,
    majorities,
)
from hearteval.analysis.agreement.votes import Coefficients, measure_share, measure_votes
from hearteval.analysis.estimates import Estimate
from hearteval.domain import Axis
from hearteval.sections.people.judges.agreement import compare_majorities
from hearteval.sections.people.judges.each import measure_ceiling
from hearteval.stats.comparisons import FloatArray, number_labels

MIN_ITEMS: Final = 5
"""Of a third of the items; with fewer no thirds are made."""
THIRDS: Final = ("contested", "between", "consensus")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemConsensus:
    """How far people agree on the pairs of one item."""

    item_id: str
    subset: str
    third: str | None
    """One of `THIRDS`; None where items are too few."""
    n_pairs: int
    """Pairs with two votes of people."""
    same: float
    """Share of equal answers of two people, the mean over these pairs."""
    n_both: int
    """Pairs of the item with a majority of both kinds."""
    same_majority: float | None
    """Share of these on which the two majorities are one; None without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Third:
    """Items on which people agree least, in between, or most, and what judges do there."""

    third: str
    n_items: int
    lowest: float
    """People's agreement on an item, from `lowest` to `highest` in this third."""
    highest: float
    n_pairs_both: int
    """Pairs that people and judges judged."""
    n_pairs: int
    """Of these, with a majority of both kinds."""
    majorities: AgreementMeasure
    """How often the judges' majority is the people's, of `n_pairs`."""
    person: Estimate | None
    """How often one person says what most of the others say; None where nobody can be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """Items by how far people agree on them."""

    items: tuple[ItemConsensus, ...]
    """The most contested first."""
    thirds: tuple[Third, ...]
    """Empty under three times `MIN_ITEMS` items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisAgreement:
    """Agreement on one axis."""

    axis: Axis
    people: Coefficients | None
    """Among people who marked it; None where no pair has marks of two."""
    judges: Coefficients | None
    n_pairs_both: int
    """Pairs on which people and judges marked it."""
    n_pairs: int
    """Of these, with a majority of both kinds on this axis."""
    n_items: int
    same: AgreementMeasure
    """How often both are one, of `n_pairs`."""
    by_chance: float | None
    """The same by chance alone, as `chance_of_majorities` says."""
    same_of_all: AgreementMeasure
    """The same of `n_pairs_both`: that a kind has none counts as disagreement."""


def measure_consensus(votes: PairVotes, *, level: float, seed: int) -> Consensus | None:
    """Sort items by how far people agree on them; None where no pair has two votes of people.

    Args:
        votes: Pairs that people and judges answered.
        level: Nominal coverage.
        seed: Of the samples of items.
    """
    counts = count_votes(votes.of_people).astype(np.float64)
    n = counts.sum(axis=1)
    is_in = n >= 2
    if not is_in.any():
        return None
    same = ((counts[is_in] ** 2).sum(axis=1) - n[is_in]) / (n[is_in] * (n[is_in] - 1))
    item, n_items = number_labels(votes.item[is_in])
    n_pairs = np.bincount(item, minlength=n_items)
    means = np.bincount(item, weights=same, minlength=n_items) / n_pairs
    places = np.unique(votes.item[is_in])
    order = np.lexsort((places, means))
    third = _thirds(n_items)
    alike = agree(majorities(votes.of_people), majorities(votes.of_judges))
    rows = []
    for place, name in zip(order, third or repeat(None, n_items), strict=True):
        of_item = alike[votes.item == places[place]]
        of_item = of_item[~np.isnan(of_item)]
        found = votes.names.items[places[place]]
        rows.append(
            ItemConsensus(
                item_id=found.id,
                subset=found.subset,
                third=name,
                n_pairs=int(n_pairs[place]),
                same=float(means[place]),
                n_both=len(of_item),
                same_majority=float(of_item.mean()) if len(of_item) else None,
            )
        )
    thirds = []
    for name in THIRDS if third else ():
        among = places[order[[k for k, one in enumerate(third) if one == name]]]
        is_third = np.isin(votes.item, among)
        agreed = [row.same for row in rows if row.third == name]
        part = votes.select(is_third)
        thirds.append(_third(name, agreed, part, alike[is_third], level=level, seed=seed))
    return Consensus(items=tuple(rows), thirds=tuple(thirds))


def _thirds(n_items: int) -> list[str]:
    """Return the third of each item in their order, the middle one taking what is left over."""
    size = n_items // len(THIRDS)
    if size < MIN_ITEMS:
        return []
    sizes = (size, n_items - 2 * size, size)
    return [name for name, n in zip(THIRDS, sizes, strict=True) for _ in range(n)]


def _third(
    name: str,
    agreed: Sequence[float],
    votes: PairVotes,
    alike: FloatArray,
    *,
    level: float,
    seed: int,
) -> Third:
    ceiling = measure_ceiling(votes, level=level)
    return Third(
        third=name,
        n_items=len(agreed),
        lowest=min(agreed),
        highest=max(agreed),
        n_pairs_both=len(votes),
        n_pairs=int((~np.isnan(alike)).sum()),
        majorities=measure_share(alike, votes.item, level=level, seed=seed),
        person=ceiling.person if ceiling else None,
    )


def compare_axes(votes: PairVotes, *, level: float, seed: int) -> tuple[AxisAgreement, ...]:
    """Measure agreement on each axis that people marked; nothing where they gave no marks."""
    found = []
    for axis, given in votes.marks.items():
        people, judges = given[:, votes.is_person], given[:, ~votes.is_person]
        if (people >= 0).any():
            same = compare_majorities(
                people, judges, votes.item, level=level, seed=seed, where=" on this axis"
            )
            found.append(
                AxisAgreement(
                    axis=axis,
                    people=measure_votes(people, votes.item, level=level, seed=seed),
                    judges=measure_votes(judges, votes.item, level=level, seed=seed),
                    **same,
                )
            )
    return tuple(found)
