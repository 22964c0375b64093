"""What a store holds and tells: records, replies that were paid for, claims and money."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from hearteval.domain import (
    Assignment,
    Attempt,
    Completion,
    InFlight,
    Item,
    Judgment,
    Label,
    LatencyProbe,
    Pair,
    Rater,
    Rating,
    Screening,
    Study,
    System,
)

Record = (
    Item
    | Screening
    | System
    | Rater
    | Completion
    | Pair
    | Study
    | Assignment
    | Attempt
    | Judgment
    | Rating
    | LatencyProbe
    | Label
)
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReply:
    """What a model answered, under a hash of all that was asked."""

    id: str
    """Hash of endpoint family, model, messages, settings and repeat, 32 hexadecimal digits."""
    reply: Mapping[str, Any]
    """The reply as JSON."""
    cost: float | None
    """US dollars; None if unknown."""
    created_at: datetime
    """UTC."""


class Claimed(NamedTuple):
    """What a process has claimed."""

    keys: frozenset[str]
    """Of the questions it asked for, those that are its own now."""
    is_shared: bool
    """Whether another process is there."""


class SetAside(NamedTuple):
    """What a process wants to have set aside for its calls under way, in US dollars."""

    owner: str
    until: datetime
    """End of its lease."""
    limit_usd: float | None
    """What all processes together may spend; None is no limit."""
    held_usd: float
    """What it has set aside already and still needs, which nobody takes from it."""
    least_usd: float
    """Less than this is of no use beyond what is held: not even one call more could begin."""
    wanted_usd: float
    later_usd: float
    """Of it, that of batch jobs, which outlive the process."""
    n_calls: int
    """Under way now, those of batch jobs apart."""


class Balance(NamedTuple):
    """The money of all processes on a store, in US dollars, as one of them finds it."""

    granted_usd: float
    """What is set aside for it now."""
    booked_usd: float
    """What all replies that were kept have cost."""
    in_flight_usd: float
    """What processes had set aside that are gone: perhaps billed."""
    n_others: int
    """Other processes that are there and pay."""


class Found(NamedTuple):
    """What others have left on a store, or do on it now."""

    others: frozenset[str]
    """Owners who are there."""
    n_claims: int
    """Questions that are claimed by processes that are gone."""
    in_flight: InFlight | None


class AssignedCount(NamedTuple):
    """How many assignments one rater has, the first time or again."""

    rater_id: str
    repeat: int
    n: int
    n_judged: int
    """Of these, with a judgment."""
