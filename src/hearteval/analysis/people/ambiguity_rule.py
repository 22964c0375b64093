"""When a comparison is ambiguous: the thresholds, which a study may set (SPEC section 7)."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguityRule:
    """When a comparison is ambiguous: both must hold."""

    consensus: float = 0.8
    """Fewer than this share of people's votes stand on one side; four of five by default."""
    split_axes: int = 1
    """At least so many axes have another winner among the judges, or none, than most axes have."""


DEFAULT_RULE: Final = AmbiguityRule()
