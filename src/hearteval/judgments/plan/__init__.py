"""Who judges what, and in which order, as a study file says it: design, orders, stress set."""

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPolicy:
    """How a study's judgments are planned; see the study file."""

    design: Literal["full", "balanced"]
    comparisons: int | None
    """Pairs of a balanced design; None for a full one."""
    both_orders: bool
    exclude_own_family: bool
    stress_items: int
    """Items of the stress set, at most."""
    repeat_pairs: int
    """Pairs, or completions, that each judge is asked about again, at most."""


def shrunk_settings(before: PlanPolicy, after: PlanPolicy) -> tuple[str, ...]:
    """Name the settings by which a plan would lose what it has.

    A plan can only grow: what was judged under it would otherwise count in a result whose design
    no longer says so.
    """
    numbers = {
        "comparisons": (_n_comparisons(before), _n_comparisons(after)),
        "both_orders": (before.both_orders, after.both_orders),
        "exclude_own_family": (not before.exclude_own_family, not after.exclude_own_family),
        "stress_items": (before.stress_items, after.stress_items),
        "repeat_pairs": (before.repeat_pairs, after.repeat_pairs),
    }
    return tuple(name for name, (old, new) in numbers.items() if new < old)


def _n_comparisons(policy: PlanPolicy) -> float:
    return math.inf if policy.comparisons is None else policy.comparisons
