"""What the headers of an answer say of rate limits: how much is left, and until when. Pure.

Read are OpenAI's ``x-ratelimit-remaining-requests`` and ``-tokens`` with ``-reset-…`` (Groq,
Fireworks and others have taken them over), ``x-ratelimit-remaining`` with ``-reset``, Anthropic's
``anthropic-ratelimit-requests-remaining`` and the IETF's drafts, with three headers
(draft-ietf-httpapi-ratelimit-headers-03) and with one (-09, ``RateLimit: "name";r=50;t=30``). What
cannot be read, or names no moment, says nothing.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite

from hearteval.models.failures import read_date
from hearteval.models.wrappers.pace import Announced, Unit

PAIRS: tuple[tuple[Unit, str, str], ...] = (
    ("requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("requests", "anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("tokens", "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("requests", "x-ratelimit-remaining", "x-ratelimit-reset"),
    ("requests", "ratelimit-remaining", "ratelimit-reset"),
)
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
LONG_NAMES = {"r": "remaining", "t": "reset"}
_SPAN = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h|d))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_ITEM = re.compile(r"(?:;|^|,)\s*(r|remaining|t|reset)\s*=\s*(\d{1,15})")
EARLIEST = 1e9
"""Seconds above this are a moment, not a time to wait; above a thousand times it, milliseconds."""


def read_announced(headers: Mapping[str, str], *, now: datetime) -> list[Announced]:
    """Return what an answer's headers say is left; `now` counts where they have no date."""
    found: dict[Unit, Announced] = {}
    for unit, remaining, reset in PAIRS:
        left, when = headers.get(remaining), headers.get(reset)
        if left is None or when is None or not _NUMBER.fullmatch(left.strip()):
            continue
        seconds = _seconds(when.strip(), read_date(headers.get("Date")) or now)
        if seconds is not None and unit not in found:
            found[unit] = Announced(unit, float(left), seconds)
    whole = headers.get("ratelimit")
    if whole is not None and "requests" not in found:
        said: dict[str, float] = {}
        for name, value in _ITEM.findall(whole):
            said.setdefault(LONG_NAMES.get(name, name), float(value))
        if said.keys() == {"remaining", "reset"}:
            found["requests"] = Announced("requests", said["remaining"], said["reset"])
    return list(found.values())


def _seconds(text: str, now: datetime) -> float | None:
    """Read a time to wait, or a moment: seconds, ``1m30.5s``, Unix time, or RFC 3339."""
    if _NUMBER.fullmatch(text):
        number = float(text)
        if number > EARLIEST:
            number = (number / 1000 if number > 1000 * EARLIEST else number) - now.timestamp()
        return max(0.0, number) if isfinite(number) else None
    if _SPAN.fullmatch(text):
        return sum(float(number) * UNITS[unit] for number, unit in _PART.findall(text))
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - now).total_seconds())
    except (ValueError, OverflowError):
        return None
