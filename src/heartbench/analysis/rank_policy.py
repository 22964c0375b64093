"""How a table of votes is to be ranked."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

Ties = Literal["half", "davidson", "drop"]
IntervalName = Literal["two-way", "item-sandwich", "item-bootstrap", "published"]

DEFAULT_RESAMPLES = 1_000
MIN_RESAMPLES = 100
MAX_LEVEL = 0.999999


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPolicy:
    """How to rank.

    Attributes:
        ties: Half a win to each side, a parameter of their own (Davidson 1970), or dropped.
        prior: Half-won comparisons added to every pair of systems.
        interval: The interval wanted; None for the default.
        n_resamples: Bootstrap replicates.
        seed: Seed of the bootstrap.
        level: Nominal coverage.
    """

    ties: Ties = "half"
    prior: float = 0.0
    interval: IntervalName | None = None
    n_resamples: int = DEFAULT_RESAMPLES
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.ties not in get_args(Ties):
            raise ValueError(f"ties are one of {get_args(Ties)}, not {self.ties!r}")
        if self.interval is not None and self.interval not in get_args(IntervalName):
            raise ValueError(
                f"an interval is one of {get_args(IntervalName)}, not {self.interval!r}"
            )
        if not (math.isfinite(self.prior) and self.prior >= 0):
            raise ValueError(f"a prior is a finite weight of 0 or more, not {self.prior}")
        if self.n_resamples < MIN_RESAMPLES:
            raise ValueError(
                f"percentiles need at least {MIN_RESAMPLES} resamples, not {self.n_resamples}"
            )
        if self.seed < 0:
            raise ValueError(f"a seed is 0 or more, not {self.seed}")
        if not 0 < self.level <= MAX_LEVEL:
            raise ValueError(f"a level is above 0 and at most {MAX_LEVEL}, not {self.level}")
