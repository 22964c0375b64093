"""Who judges what, and in which order, as a study file says it: design, orders, stress set."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

Choosing = Literal["full", "balanced", "newcomers"]
"""How pairs are chosen: all, some in balance, or those that a new system of a board is in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPolicy:
    """How a study's judgments are planned; see the study file."""

    design: Choosing
    comparisons: int | None
    """Pairs of a balanced design; None for another one."""
    both_orders: bool
    exclude_own_family: bool
    stress_items: int
    """Items of the stress set, at most."""
    repeat_pairs: int
    """Pairs, or completions, that each judge is asked about again, at most."""
    opponents: int | None = None
    """Of each completion of a newcomer, on average; None for another design."""

    @property
    def settings(self) -> dict[str, Any]:
        """What of it stands in a study's design and makes its hash."""
        own = asdict(self)
        if self.opponents is None:
            del own["opponents"]
        return own


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
        "opponents": (before.opponents or 0, after.opponents or math.inf),
    }
    return tuple(name for name, (old, new) in numbers.items() if new < old)


def _n_comparisons(policy: PlanPolicy) -> float:
    return math.inf if policy.comparisons is None else policy.comparisons
