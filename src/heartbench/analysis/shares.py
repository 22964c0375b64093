"""Shares of judgments in which something won, an item being one value however often judged."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from heartbench.stats.proportions import wilson_interval

TIE = "tie"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of judgments, an item being one value.

    Attributes:
        n_items: Items judged.
        n_judgments: Judgments of these.
        rate: Mean over items; a tie counts half.
        low: Interval over items.
        high: Likewise.
    """

    n_items: int
    n_judgments: int
    rate: float
    low: float
    high: float


def share_over_items(values: Sequence[tuple[str, float]], *, level: float) -> Share:
    """Return the mean over items of each item's mean value, with Wilson's interval over items.

    Args:
        values: Item and value (1, 1/2 or 0) of each judgment; at least one.
        level: Nominal coverage.
    """
    means = means_by_item(values)
    rate = sum(means.values()) / len(means)
    low, high = wilson_interval(rate, len(means), level=level)
    return Share(n_items=len(means), n_judgments=len(values), rate=rate, low=low, high=high)


def means_by_item(values: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Return the mean value of each item, by item id."""
    by_item: dict[str, list[float]] = defaultdict(list)
    for item_id, value in values:
        by_item[item_id].append(value)
    return {item_id: sum(by_item[item_id]) / len(by_item[item_id]) for item_id in sorted(by_item)}


def score_of(winner: str, system_ids: Collection[str]) -> float:
    """Return 1 if the winner is among these systems, 1/2 for a tie, else 0."""
    return 0.5 if winner == TIE else float(winner in system_ids)
