"""Judgments and a policy -> comparisons for `hearteval.stats`.

The policy: a tie is half a win for each side and counts with weight 1; a decided judgment counts
once, or with its strength (HEART 9.8). Where people and judges both judged a pair, each kind has
half of the pair's weight (SPEC section 5). Items are indexed in sorted order, so the order of
judgments changes nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearteval.analysis.judgments import Judgments, SmallArray, won
from hearteval.analysis.ranking.intervals import RankPolicy
from hearteval.analysis.ranking.rank import Ranked, rank_comparisons
from hearteval.domain import CHOICES, Axis, Rater, System
from hearteval.errors import NotIdentifiedError
from hearteval.stats.comparisons import (
    BoolArray,
    Comparisons,
    FloatArray,
    IntArray,
    keep_compared,
    pack,
    sum_by,
)
from hearteval.stats.tally import count_equal

MIN_ITEMS = 2
"""On one item a system's score is 0 at the fit, whatever was judged: it has no interval."""


def people_among(raters: Sequence[Rater]) -> list[str]:
    """Return the ids of the human raters, sorted: those that intervals treat as sampled."""
    return sorted(rater.id for rater in raters if rater.kind == "human")


def to_comparisons(
    judgments: Judgments,
    *,
    axis: Axis | None = None,
    use_strength: bool,
    system_ids: Sequence[str],
    rater_ids: Sequence[str] = (),
    writers: Mapping[str, str] | None = None,
) -> Comparisons:
    """Return the comparisons among some systems, the completion shown first on the left.

    Args:
        judgments: Judgments.
        axis: Take the marks of this axis instead of the overall choice; judgments without one are
            left out.
        use_strength: Whether a decided judgment counts with its strength instead of once.
        system_ids: Systems in the order of their indices; judgments of others are left out.
        rater_ids: Raters in the order of their indices, as a rule the people; all others are -1, a
            fixed panel. Where both judged a pair, their weights are scaled to equal totals.
        writers: Who wrote the completion by a person in a pair, by the pair's id.

    Raises:
        ValueError: `use_strength` is set and a decided judgment has no strength.
    """
    item = _positions(sorted(judgments.item.present))
    numbers = _positions(system_ids)
    left, right = (
        pack(of.numbers(numbers)) for of in (judgments.first_system, judgments.second_system)
    )
    is_used = (left >= 0) & (right >= 0) & (judgments.said(axis)[0] >= 0)
    rows, left, right = judgments.select(is_used), left[is_used], right[is_used]
    choice, strength = rows.said(axis)
    raters = pack(rows.rater.numbers(_positions(rater_ids)))
    weight = _strengths(rows, choice, strength) if use_strength else np.ones(len(rows))
    # Each is packed before the next is made.
    return Comparisons(
        left=left,
        right=right,
        score=pack(won(choice)),
        weight=pack(balance(rows.pair.codes, raters >= 0, weight)),
        count=np.ones(len(rows), dtype=np.int8),
        item=pack(rows.item.numbers(item)),
        rater=raters,
        n_systems=len(system_ids),
        writer=_find_writers(rows, writers) if writers else None,
    )


def keep_rankable(
    comparisons: Comparisons, systems: Sequence[System]
) -> tuple[Comparisons, list[System]]:
    """Return the comparisons among the systems with items enough for an interval, and these.

    Raises:
        NotIdentifiedError: Every system was compared on one item only.
    """
    among_kept, kept = keep_compared(comparisons, min_items=MIN_ITEMS)
    if len(comparisons) and not len(kept):
        raise NotIdentifiedError(
            "every system was compared on one item only; an interval needs at least two items"
        )
    return among_kept, [systems[i] for i in kept]


def rank_judgments(
    judgments: Judgments,
    systems: Sequence[System],
    *,
    use_strength: bool,
    rater_ids: Sequence[str] = (),
    writers: Mapping[str, str] | None = None,
    level: float,
) -> Ranked:
    """Rank the systems that have items enough for an interval, in the order given.

    `writers` are by pair, as `StudyData.writers` has them.

    Raises:
        NotIdentifiedError: The judgments do not determine one ranking.
    """
    comparisons = to_comparisons(
        judgments,
        use_strength=use_strength,
        system_ids=[system.id for system in systems],
        rater_ids=rater_ids,
        writers=writers,
    )
    comparisons = count_equal(comparisons)  # the long ones go before the fit
    return rank_field(comparisons, systems, level=level)


def rank_field(comparisons: Comparisons, systems: Sequence[System], *, level: float) -> Ranked:
    """Rank the systems that have items enough for an interval, as a vote file of them is ranked.

    Rows are distinct, as `count_equal` makes them.

    Raises:
        NotIdentifiedError: The comparisons do not determine one ranking.
    """
    enough, field = keep_rankable(comparisons, systems)
    names = [system.name for system in field]
    return rank_comparisons(enough, names, RankPolicy(level=level))


def count_pairs_of_one_kind(judgments: Judgments, people: Collection[str]) -> tuple[int, int]:
    """Count the pairs that only people or only judges judged, and all pairs."""
    is_person = judgments.rater.is_in(people)
    n = len(judgments.pair.values)
    by_people, by_judges = (
        np.bincount(judgments.pair.codes[kind], minlength=n) > 0 for kind in (is_person, ~is_person)
    )
    return int((by_people ^ by_judges).sum()), int((by_people | by_judges).sum())


def balance(pair: NDArray[Any], is_person: BoolArray, weight: FloatArray) -> FloatArray:
    """Scale the weights within each pair of two kinds to equal totals; the pair's total stays."""
    if is_person.all() or not is_person.any():
        return weight
    n = int(pair.max()) + 1
    people, judges = (sum_by(pair[kind], weight[kind], n)[pair] for kind in (is_person, ~is_person))
    scale = (people + judges) / (2 * np.where(is_person, people, judges))
    return np.where((people > 0) & (judges > 0), weight * scale, weight)


def _strengths(rows: Judgments, choice: SmallArray, strength: SmallArray) -> FloatArray:
    """Return the weight of each mark: its strength, 1 for a tie."""
    for i in np.flatnonzero((strength == 0) != (choice == 1))[:1]:
        raise ValueError(
            f"assignment {rows[i].assignment_id}: a decided judgment needs a strength to be"
            f" weighted, a tie has none; choice is {CHOICES[choice[i]]!r}, strength"
            f" {strength[i] or None!r}"
        )
    return np.maximum(strength, 1).astype(np.float64)


def _find_writers(rows: Judgments, writers: Mapping[str, str]) -> IntArray:
    """Return who wrote what each row is about, numbered by name; -1 where no person did."""
    place = _positions(sorted({*writers.values()}))
    return rows.pair.numbers({pair: place[name] for pair, name in writers.items()})


def _positions(names: Sequence[str]) -> dict[str, int]:
    return {name: position for position, name in enumerate(names)}
