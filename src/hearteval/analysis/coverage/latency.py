"""How long systems take to their first text, from what `heart latency` measured (HEART 4.5).

Every call is one value; calls about one item are no less alike than others as far as the network
goes. Nothing is tested here, and no interval given: quartiles describe.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hearteval.domain import LatencyProbe, System


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median and quartiles of the times of n calls, in ms (linear between order statistics)."""

    n: int
    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemLatency:
    """How fast one system answered."""

    system: str
    family: str
    n_calls: int
    n_items: int
    first_text: Spread | None
    """To the first text; None if none was streamed."""
    first_reasoning: Spread | None
    """To the first reasoning; None if none was shown."""
    total: Spread | None
    n_without_first_text: int
    """Calls whose reply came whole, or without text."""


def latency_by_system(
    probes: Sequence[LatencyProbe], systems: Sequence[System], *, concurrency: int
) -> tuple[SystemLatency, ...]:
    """Return the times of each system that was measured at a concurrency, the quickest first.

    Systems without a streamed text stand last, by name.
    """
    rows = []
    for system in systems:
        own = [p for p in probes if p.system_id == system.id and p.concurrency == concurrency]
        if own:
            rows.append(_latency_of(system, own))
    return tuple(sorted(rows, key=_order))


def _latency_of(system: System, probes: Sequence[LatencyProbe]) -> SystemLatency:
    return SystemLatency(
        system=system.name,
        family=system.family,
        n_calls=len(probes),
        n_items=len({probe.item_id for probe in probes}),
        first_text=_spread([probe.first_token_ms for probe in probes]),
        first_reasoning=_spread([probe.first_reasoning_ms for probe in probes]),
        total=_spread([probe.total_ms for probe in probes]),
        n_without_first_text=sum(probe.first_token_ms is None for probe in probes),
    )


def _spread(times: Sequence[float | None]) -> Spread | None:
    known = [time for time in times if time is not None]
    if not known:
        return None
    low, median, high = (float(value) for value in np.quantile(known, [0.25, 0.5, 0.75]))
    return Spread(n=len(known), median=median, low=low, high=high)


def _order(row: SystemLatency) -> tuple[bool, float, str]:
    median = row.first_text.median if row.first_text is not None else 0.0
    return row.first_text is None, median, row.system
