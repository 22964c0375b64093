"""What the steps share when they ask models: failures that end a run, and attempts as records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from heartbench.domain import Attempt
from heartbench.errors import InvalidReplyError, ModelCallError
from heartbench.models.base import AskedModel, Message, Reply
from heartbench.models.failures import CallFailureError

FATAL = frozenset(
    {"bad-key", "no-credit", "unknown-model", "refused-settings", "html", "not-a-completion"}
)
"""Reasons for which every further call of the model would fail too."""
WORKERS_PER_CALL = 4
"""While replies wait for their commits, other workers make the next calls."""
MAX_RAW = 20_000
MAX_END = 100
UNREADABLE = "unreadable"


def to_messages(turns: Sequence[tuple[Any, str]]) -> tuple[Message, ...]:
    """Return a prompt's (role, content) pairs as messages."""
    return tuple(Message(role=role, content=content) for role, content in turns)


def used(reply: Reply) -> dict[str, Any]:
    """Return what a reply says of how it was made, as records hold it."""
    return {
        "requested": dict(reply.requested),
        "effective": dict(reply.effective),
        "usage": known_usage(reply),
        "cost": reply.cost,
    }


def known_usage(reply: Reply) -> dict[str, int]:
    """Return the token counts that the endpoint gave."""
    return {name: count for name, count in asdict(reply.usage).items() if count is not None}


def n_workers(asked: Iterable[AskedModel | None]) -> int:
    """Return how many workers keep these models busy; how many call at once is for the models."""
    return WORKERS_PER_CALL * sum(model.n_at_once for model in asked if model is not None)


def end_of(reply: Reply) -> str | None:
    """Return why a reply ends, as the endpoint says; what is no printable word is not repeated."""
    end = reply.finish_reason
    return end if end is None or (end.isprintable() and len(end) <= MAX_END) else UNREADABLE


def failed_call(
    error: ModelCallError, target: Mapping[str, Any], *, attempt: int, now: datetime
) -> Attempt:
    """Return the record of a call that gave no reply."""
    reply = error.reply if isinstance(error, CallFailureError) else None
    return Attempt(
        **target,
        attempt=attempt,
        reason=error.reason,
        raw=reply.raw[:MAX_RAW] if reply else "",
        **(used(reply) if reply else {}),
        created_at=now,
    )


def invalid_reply(
    error: InvalidReplyError,
    reply: Reply,
    target: Mapping[str, Any],
    *,
    attempt: int,
    now: datetime,
) -> Attempt:
    """Return the record of a reply that cannot be used."""
    return Attempt(
        **target,
        attempt=attempt,
        reason=error.reason,
        raw=reply.text[:MAX_RAW],
        **used(reply),
        created_at=now,
    )
