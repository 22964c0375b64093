"""What headers announce, in the forms that providers document."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from multidict import CIMultiDict

from hearteval.models.wrappers.pace import Announced
from hearteval.models.wrappers.rate_limits import read_announced

NOW = datetime(2026, 11, 22, 10, 0, 0, tzinfo=UTC)
FORMS: dict[str, tuple[Mapping[str, str], list[Announced]]] = {
    "OpenAI": (
        {
            "x-ratelimit-limit-requests": "60",
            "x-ratelimit-limit-tokens": "150000",
            "x-ratelimit-remaining-requests": "59",
            "x-ratelimit-remaining-tokens": "149984",
            "x-ratelimit-reset-requests": "1s",
            "x-ratelimit-reset-tokens": "6m0s",
        },
        [Announced("requests", 59, 1), Announced("tokens", 149984, 360)],
    ),
    "Groq": (
        {"X-RateLimit-Remaining-Requests": "14370", "X-RateLimit-Reset-Requests": "2m59.56s"},
        [Announced("requests", 14370, 179.56)],
    ),
    "milliseconds": (
        {"x-ratelimit-remaining-requests": "499", "x-ratelimit-reset-requests": "120ms"},
        [Announced("requests", 499, 0.12)],
    ),
    "Anthropic": (
        {
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": "2026-11-22T10:00:30Z",
            "anthropic-ratelimit-tokens-remaining": "8000",
            "anthropic-ratelimit-tokens-reset": "2026-11-22T09:59:00Z",
        },
        [Announced("requests", 0, 30), Announced("tokens", 8000, 0)],
    ),
    "the server's own clock": (
        {
            "Date": "Sun, 22 Nov 2026 12:00:00 GMT",
            "anthropic-ratelimit-requests-remaining": "3",
            "anthropic-ratelimit-requests-reset": "2026-11-22T12:00:05Z",
        },
        [Announced("requests", 3, 5)],
    ),
    "Unix time": (
        {"X-RateLimit-Remaining": "7", "X-RateLimit-Reset": str(int(NOW.timestamp()) + 20)},
        [Announced("requests", 7, 20)],
    ),
    "OpenRouter": (
        {"X-RateLimit-Remaining": "7", "X-RateLimit-Reset": f"{int(NOW.timestamp()) + 20}000"},
        [Announced("requests", 7, 20)],
    ),
    "IETF, three headers": (
        {"RateLimit-Limit": "100", "RateLimit-Remaining": "50", "RateLimit-Reset": "30"},
        [Announced("requests", 50, 30)],
    ),
    "IETF, one header": (
        {"RateLimit-Policy": '"default";q=100;w=60', "RateLimit": '"default";r=50;t=30'},
        [Announced("requests", 50, 30)],
    ),
    "IETF, one header in words": (
        {"RateLimit": "limit=100, remaining=50, reset=30"},
        [Announced("requests", 50, 30)],
    ),
    "nothing": ({"Content-Type": "application/json"}, []),
    "no moment": ({"x-ratelimit-remaining-requests": "59"}, []),
    "words": ({"ratelimit-remaining": "few", "ratelimit-reset": "30"}, []),
    "a moment that is none": ({"ratelimit-remaining": "5", "ratelimit-reset": "tomorrow"}, []),
    "a number beyond floats": ({"ratelimit-remaining": "9" * 400, "ratelimit-reset": "30"}, []),
    "negative": ({"ratelimit-remaining": "-1", "ratelimit-reset": "-5"}, []),
}


@pytest.mark.parametrize(("headers", "announced"), FORMS.values(), ids=FORMS)
def test_announcement_is_read_or_says_nothing(
    headers: Mapping[str, str], announced: list[Announced]
) -> None:
    found = read_announced(CIMultiDict(headers), now=NOW)

    assert [(a.unit, a.left) for a in found] == [(a.unit, a.left) for a in announced]
    assert [a.seconds for a in found] == pytest.approx([a.seconds for a in announced])
