"""What judges are like: audited, alone, together, on their own family.

Here stands what these share: how often something won, and whether a judge says the same twice. All
judgments of one item are one value, so that both orders or many texts of an item narrow no
interval.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hearteval.analysis.judgments import TIE, JudgmentRow, Judgments, first_of_two, last_rows
from hearteval.stats.comparisons import IntArray
from hearteval.stats.means import mean_interval, wilson_interval

REFERENCE = "reference"
Values = Sequence[tuple[str, float]]
"""The item of each judgment, and 1, 1/2 or 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of judgments, an item being one value."""

    n_items: int
    n_judgments: int
    rate: float
    """Mean over items; a tie counts half."""
    low: float
    """Wilson's interval over items."""
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StressResult:
    """How often one judge put the reference reply above one kind of stress text."""

    rater: str
    kind: str
    """Kind of stress text, e.g. ``hostile``."""
    n_items: int
    reference_rate: float
    """Mean over items of each item's mean of 1, 1/2 and 0."""
    low: float
    """Wilson's interval over items."""
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """How often one judge gives the same answer twice."""

    rater: str
    check: str
    """``order``: the same pair shown the other way round. ``repeat``: asked again."""
    n_pairs: int
    """Pairs answered twice."""
    n_items: int
    """Items these pairs are of."""
    rate: float
    """Mean over items of the share of pairs with the same winner both times."""
    low: float
    """t interval over items; Wilson's where all items say the same."""
    high: float


def means_by_id(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the mean value of each item or pair, sorted by its id."""
    by_id: dict[str, list[float]] = defaultdict(list)
    for id_, value in values:
        by_id[id_].append(value)
    return {id_: sum(by_id[id_]) / len(by_id[id_]) for id_ in sorted(by_id)}


def share_over_items(values: Values, *, level: float) -> Share:
    """Return the mean over items of each item's mean value; there must be a value."""
    means = means_by_id(values)
    rate = sum(means.values()) / len(means)
    low, high = wilson_interval(rate, len(means), level=level)
    return Share(n_items=len(means), n_judgments=len(values), rate=rate, low=low, high=high)


def score_of(winner: str, system_ids: Collection[str]) -> float:
    """Return 1 if the winner is among these systems, 1/2 for a tie, else 0."""
    return 0.5 if winner == TIE else float(winner in system_ids)


def stress_results(
    values: Mapping[tuple[str, str], Values], *, level: float
) -> tuple[StressResult, ...]:
    """Return how often the reference won, by judge and kind, from what `stress_wins` gathered."""
    shares = {key: share_over_items(values[key], level=level) for key in sorted(values)}
    return tuple(
        StressResult(
            rater=rater,
            kind=kind,
            n_items=share.n_items,
            reference_rate=share.rate,
            low=share.low,
            high=share.high,
        )
        for (rater, kind), share in shares.items()
    )


def stress_wins(
    judgments: Iterable[JudgmentRow], kinds: Mapping[str, str], raters: Mapping[str, str]
) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """Return how often the reference won, by the judge's name and the kind of stress text.

    `kinds` holds the kind by the system that bears it, ``reference`` among them.
    """
    values: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for row in judgments:
        first, second = kinds[row.first_system_id], kinds[row.second_system_id]
        reference_id = row.second_system_id if second == REFERENCE else row.first_system_id
        kind = first if second == REFERENCE else second
        won = score_of(row.winner, {reference_id})
        values[raters[row.rater_id], kind].append((row.item_id, won))
    return values


def consistency_results(
    judgments: Judgments, *, raters: Mapping[str, str], level: float
) -> tuple[Consistency, ...]:
    """Return, by judge, how often a pair has one winner in both orders, and when asked again."""
    ids_of: dict[str, set[str]] = defaultdict(set)
    for id_ in judgments.rater.present:
        ids_of[raters[id_]].add(id_)
    return tuple(
        _consistency(name, check, values, level=level)
        for name, ids in sorted(ids_of.items())
        for check, values in _asked_twice(judgments.by(ids)).items()
        if values
    )


def _asked_twice(judgments: Judgments) -> dict[str, list[tuple[str, float]]]:
    """Return where one rater saw a pair in both orders, or again, what `_same_winner` has."""
    last = last_rows(judgments.pair.codes, judgments.first_system.codes, judgments.repeat)
    rows = judgments.select(last)
    # One number for each pair as it was shown.
    pair, first = rows.pair.codes, rows.first_system
    both = pair.astype(np.int64) * len(first.values) + first.codes
    is_first = rows.repeat == 0
    firsts = np.flatnonzero(is_first)
    of_two = first_of_two(pair[firsts])
    one, other = firsts[of_two], firsts[of_two + 1]
    again = np.flatnonzero(~is_first)
    before = np.searchsorted(both[firsts], both[again])
    is_known = before < len(firsts)
    is_known[is_known] = both[firsts[before[is_known]]] == both[again[is_known]]
    return {
        "order": _same_winner(rows, one, other),
        "repeat": _same_winner(rows, again[is_known], firsts[before[is_known]]),
    }


def _same_winner(rows: Judgments, one: IntArray, other: IntArray) -> list[tuple[str, float]]:
    """Return the item of each two rows, and 1 where one system won both."""
    is_same = rows.winner[one] == rows.winner[other]
    return list(zip(rows.item[one], is_same.astype(float).tolist(), strict=True))


def _consistency(rater: str, check: str, values: Values, *, level: float) -> Consistency:
    means = list(means_by_id(values).values())
    low, high = mean_interval(np.array(means), level=level)
    return Consistency(
        rater=rater,
        check=check,
        n_pairs=len(values),
        n_items=len(means),
        rate=sum(means) / len(means),
        low=low,
        high=high,
    )
