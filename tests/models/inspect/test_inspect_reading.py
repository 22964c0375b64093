"""Reading what Inspect's providers send and raise, without any of them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from hearteval.models.base import Usage
from hearteval.models.inspect import (
    converted_fault,
    fault_of,
    read_end,
    read_usage,
    retry_after_of,
    settings_in,
)

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


class SdkError(Exception):
    """An error with the attributes that an SDK gives it."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__("the SDK's own words")
        self.__dict__.update(attributes)


class ReadTimeoutError(Exception):
    pass


class RemoteProtocolError(Exception):
    pass


class EndpointConnectionError(Exception):
    pass


class SomethingElseError(Exception):
    pass


def test_setting_is_found_at_the_top_and_in_the_place_of_each_provider() -> None:
    requests: list[dict[str, Any]] = [
        {"temperature": 0.5, "top_p": 1.0, "max_output_tokens": 9},
        {"generation_config": {"temperature": 0.5, "topP": 1.0, "maxOutputTokens": 9}},
        {"inferenceConfig": {"temperature": 0.5, "topP": 1.0, "maxTokens": 9}},
    ]
    found = [settings_in(request, schema_name=None) for request in requests]
    assert found == [{"temperature": 0.5, "top_p": 1.0, "max_tokens": 9}] * 3


def test_schema_asked_for_and_not_in_the_request_is_not_sent() -> None:
    assert "schema" not in settings_in({"temperature": 0.0}, schema_name="mark")


def test_zero_is_a_setting_and_none_is_not() -> None:
    assert settings_in({"temperature": 0.0, "top_p": None}, schema_name=None) == {
        "temperature": 0.0
    }


def test_no_usage_is_unknown_and_not_zero() -> None:
    assert read_usage(None) == Usage()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ReadTimeoutError(), "timeout"),
        (TimeoutError(), "timeout"),
        (RemoteProtocolError(), "cut-off-stream"),
        (EndpointConnectionError(), "connection"),
        (ConnectionResetError(), "connection"),
        (SomethingElseError(), "not-a-completion"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_error_without_a_status_is_known_by_its_class(error: Exception, reason: str) -> None:
    fault = fault_of(error, sent=())
    assert (fault.reason, fault.status) == (reason, None)


def test_words_of_an_unknown_error_are_not_repeated() -> None:
    assert "key=secret" not in fault_of(SomethingElseError("key=secret"), sent=()).said


def test_error_inside_an_aws_stream_has_its_status_by_its_code() -> None:
    error = SdkError(response={"Error": {"Code": "throttlingException", "Message": "slow down"}})
    fault = fault_of(error, sent=())
    assert (fault.reason, fault.said) == ("rate-limited", "slow down")


def test_error_event_in_a_stream_is_known_by_its_type() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    assert fault_of(SdkError(body=body), sent=()).reason == "overloaded"


def test_setting_that_is_refused_is_named() -> None:
    error = SdkError(status_code=400, body={"message": "no", "param": "temperature"})
    fault = fault_of(error, sent={"temperature": 0.0})
    assert (fault.reason, fault.setting) == ("refused-settings", "temperature")


def test_quota_that_is_used_up_is_not_a_rate_limit() -> None:
    error = SdkError(status_code=429, body={"message": "no", "code": "insufficient_quota"})
    assert fault_of(error, sent=()).reason == "no-credit"


def test_wait_is_read_from_googles_error_body() -> None:
    detail = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
    error = SdkError(code=429, details={"error": {"code": 429, "details": [detail]}})
    assert retry_after_of(error, now=NOON) == 34.0


def test_no_wait_is_none() -> None:
    assert retry_after_of(SdkError(status_code=500), now=NOON) is None


def test_reply_made_of_an_unknown_error_is_a_bad_request() -> None:
    response = {"Error": {"Message": "no such thing", "Code": "ValidationException"}}
    fault = converted_fault("stop", response, sent=())
    assert (fault.reason, fault.said) == ("bad-request", "no such thing")


@pytest.mark.parametrize(
    ("stop_reason", "response", "end"),
    [
        ("stop", None, "stop"),
        ("unknown", None, None),
        ("max_tokens", {"stop_reason": "end_turn"}, "length"),
        ("unknown", {"stop_reason": "pause_turn"}, "pause_turn"),
        ("unknown", {"stopReason": "malformed_model_output"}, "malformed_model_output"),
        ("unknown", {"choices": [{"finish_reason": "error"}]}, "error"),
        ("unknown", {"candidates": [{"finishReason": "OTHER"}]}, "OTHER"),
        ("unknown", {"choices": [{"finish_reason": None}]}, None),
        ("stop", {"object": "response", "status": "incomplete"}, "incomplete"),
        ("stop", {"object": "response", "status": "failed"}, "failed"),
        ("stop", {"object": "response", "status": "completed"}, "stop"),
    ],
)
def test_the_end_is_the_providers_own_where_inspect_has_no_word_for_it(
    stop_reason: str, response: dict[str, Any] | None, end: str | None
) -> None:
    assert read_end(stop_reason, response) == end
