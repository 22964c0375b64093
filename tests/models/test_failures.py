"""What endpoints say when there is no reply, and what it is counted as."""

from datetime import UTC, datetime

import pytest

from hearteval.models.failures import find_fault, read_error, read_retry_after

NOW = datetime(2026, 11, 22, 10, 0, 0, tzinfo=UTC)
SENT = {"temperature", "top_p", "max_tokens", "response_format", "provider", "user"}


def fault(status: int | None, body: object) -> tuple[str, str]:
    found = find_fault(status, read_error(body), sent=SENT)
    return found.reason, found.setting


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (429, {"error": {"code": "insufficient_quota", "message": "Quota."}}, "no-credit"),
        (402, {"error": {"code": 402, "message": "Insufficient credits"}}, "no-credit"),
        (400, {"error": {"code": "content_filter", "message": "Filtered."}}, "content-filter"),
        (403, {"error": {"message": "no", "metadata": {"reasons": ["flagged"]}}}, "content-filter"),
        (400, [{"error": {"message": "API key not valid. Pass a valid one."}}], "bad-key"),
        (400, {"error": {"message": "x-1 is not a valid model ID"}}, "unknown-model"),
        (400, {"error": {"message": "The model `x` does not exist"}}, "unknown-model"),
        (400, {"error": {"code": "model_not_found", "message": "?"}}, "unknown-model"),
        (404, {"error": "model 'x' not found"}, "unknown-model"),
        (404, {"message": "No endpoints found for the requested parameters."}, "refused-settings"),
        (
            400,
            {"error": {"code": "context_length_exceeded", "message": "max_tokens"}},
            "context-too-long",
        ),
        (400, {"object": "error", "message": "maximum context length is 8"}, "context-too-long"),
        (503, {"error": {"message": "Loading model", "code": 503}}, "overloaded"),
        (None, {"error": {"code": 502, "message": "Bad gateway"}}, "server-error"),
        (None, {"error": {"code": "rate_limit_exceeded"}}, "rate-limited"),
        (None, {"error": {"type": "invalid_request_error", "message": "?"}}, "bad-request"),
        (None, {"error": {"code": 400, "message": "?"}}, "bad-request"),
        (500, None, "server-error"),
        (500, [], "server-error"),
        (400, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "bad-request"),
    ],
)
def test_providers_words_decide_where_the_status_misleads(
    status: int | None, body: object, reason: str
) -> None:
    assert fault(status, body)[0] == reason


@pytest.mark.parametrize(
    ("error", "setting"),
    [
        ({"param": "temperature", "message": "Unsupported."}, "temperature"),
        ({"param": "response_format.json_schema", "message": "Bad."}, "response_format"),
        ({"message": "`temperature` and `top_p` cannot both be set"}, "temperature"),
        ({"message": "Unsupported parameter: 'top_p'."}, "top_p"),
        ({"message": "unknown field provider"}, ""),
        ({"message": "unknown field 'provider'"}, "provider"),
        ({"message": "the user said no"}, ""),
        ({"message": "my_temperature is wrong"}, ""),
        ({"param": "messages", "message": "too many"}, ""),
    ],
)
def test_refused_setting_is_found(error: dict[str, str], setting: str) -> None:
    expected = ("refused-settings", setting) if setting else ("bad-request", "")
    assert fault(400, {"error": error}) == expected


def test_inner_provider_is_heard() -> None:
    inner = {"raw": "`top_p` is not supported", "provider_name": "X"}
    body = {"error": {"code": 400, "message": "Provider returned error", "metadata": inner}}
    assert fault(400, body) == ("refused-settings", "top_p")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        (" 12 ", 12.0),
        ("1.5", 1.5),
        ("-3", None),
        ("nan", None),
        ("inf", None),
        ("9" * 400, None),
        ("Sun, 22 Nov 2026 10:01:00 GMT", 60.0),
        ("Sun, 22 Nov 2026 10:01:00 -0000", 60.0),
        ("Sun, 22 Nov 2026 09:00:00 GMT", 0.0),
        ("tomorrow", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert read_retry_after(value, now=NOW) == seconds
