"""Why a model gave no reply: the words that are counted, and how an endpoint's answer maps to one.

Pure. Which of the reasons are worth another try is decided here; trying again is in `retrying`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from heartbench.errors import ModelCallError
from heartbench.models.base import Message, Reply
from heartbench.models.redaction import excerpt, hide_secrets
from heartbench.models.wire import OWN_KEYS, Endpoint

Reason = Literal[
    "rate-limited",
    "overloaded",
    "server-error",
    "timeout",
    "connection",
    "cut-off-stream",
    "bad-key",
    "no-credit",
    "unknown-model",
    "refused-settings",
    "content-filter",
    "bad-request",
    "not-json",
    "not-a-completion",
    "html",
    "too-large",
    "batch-expired",
    "batch-cancelled",
]
THROTTLED: frozenset[str] = frozenset({"rate-limited", "overloaded"})
"""Reasons that ask for fewer calls at once."""
MAX_RAW_OF_FAILURE = 20_000
RETRYABLE: frozenset[str] = THROTTLED | {"server-error", "timeout", "connection", "cut-off-stream"}
"""Reasons that another try may cure."""
ADVICE: Mapping[Reason, str] = {
    "rate-limited": "lower the concurrency, or raise the account's limit",
    "overloaded": "try again later, or take another provider",
    "server-error": "try again later, or take another provider",
    "bad-key": "check that the key is right and may use this model",
    "no-credit": "top up the account, or raise its limit",
    "unknown-model": "check the model id and base_url",
    "refused-settings": "name it in what the model refuses",
    "html": "check base_url: an API ends in /v1 or the like",
    "not-a-completion": "check base_url: an OpenAI-compatible API, or that of the provider named",
    "batch-expired": "run again: the call was not made, and is made anew",
    "batch-cancelled": "run again: the call was not made, and is made anew",
}
_BY_CODE: tuple[tuple[Reason, re.Pattern[str]], ...] = (
    ("no-credit", re.compile(r"insufficient[_ ](quota|credit|balance|funds)|billing_hard_limit")),
    ("content-filter", re.compile(r"content_(filter|policy)|moderation|flagged|safety system")),
    (
        "bad-key",
        re.compile(r"(invalid|incorrect|missing)[_ ]api[_ ]key|api key (is )?(not |in)valid"),
    ),
    ("bad-request", re.compile(r"context_length|maximum context|context (size|window)")),
    ("refused-settings", re.compile(r"requested parameters")),
    (
        "unknown-model",
        re.compile(
            r"model_not_found|(unknown|invalid|no such|not a valid) model"
            r"|model\b.{0,100}\b(not found|(does|do) not exist)"
        ),
    ),
)
"""What providers say with a status that alone would mislead (OpenRouter, Azure, Google, Groq)."""
_BY_STATUS: Mapping[int, Reason] = {
    401: "bad-key",
    402: "no-credit",
    403: "bad-key",
    404: "unknown-model",
    408: "timeout",
    429: "rate-limited",
    503: "overloaded",
    504: "timeout",
    524: "timeout",
    529: "overloaded",
}
_STREAM_STATUS = (
    (429, re.compile(r"rate.?limit|too_many_requests")),
    (503, re.compile(r"overloaded|unavailable|capacity")),
    (400, re.compile(r"invalid_request|bad_request")),
)


class CallFailureError(ModelCallError):
    """A call of a model that came to nothing, with what is needed to go on.

    Attributes:
        retry_after_seconds: What the endpoint asked to wait; None if it did not.
        reply: What had come until then: text and usage of half a stream, `raw` without secrets,
            requested and effective settings.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: Reason,
        reply: Reply,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message, reason=reason)
        self.reply = reply
        self.retry_after_seconds = retry_after_seconds

    @property
    def kind(self) -> str:
        """Name of the error in ``heartbench.error/1``: that of its base, which is documented."""
        return "model_call"


class FaultError(Exception):
    """What is wrong with one answer, before anyone knows whose it is.

    Attributes:
        reason: Why there is no reply.
        said: The endpoint's own words; may hold secrets and dialogue.
        setting: The setting that was refused, if one was.
        status: HTTP status, None for what is no matter of status.
    """

    def __init__(
        self, reason: Reason, said: str = "", *, setting: str = "", status: int | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.said = said
        self.setting = setting
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """An error object as an endpoint sends it.

    Attributes:
        said: Its message, with the inner provider's where there is one.
        code: Code and type, in lower case.
        param: The parameter it names, or nothing.
        status: The HTTP status that it names, or None.
    """

    said: str
    code: str = ""
    param: str = ""
    status: int | None = None


def call_failure(
    fault: FaultError,
    reply: Reply,
    *,
    endpoint: Endpoint,
    secrets: Sequence[str],
    messages: Sequence[Message],
    retry_after_seconds: float | None,
) -> CallFailureError:
    """Return the error of a call that came to nothing, without secrets and dialogue.

    Args:
        fault: What is wrong with the answer.
        reply: What had come until then.
        endpoint: Who was called.
        secrets: What may not be said.
        messages: What was sent; no more of it is said either.
        retry_after_seconds: What the endpoint asked to wait; None if it did not.
    """
    words = fault_words(fault, secrets=secrets, messages=messages)
    raw = hide_secrets(reply.raw[: 2 * MAX_RAW_OF_FAILURE], secrets)[:MAX_RAW_OF_FAILURE]
    return CallFailureError(
        f"{endpoint.name} at {endpoint.address}: {words}",
        reason=fault.reason,
        reply=replace(reply, raw=raw),
        retry_after_seconds=retry_after_seconds,
    )


def fault_words(fault: FaultError, *, secrets: Sequence[str], messages: Sequence[Message]) -> str:
    """Say what is wrong and what to do, without these secrets and what the messages hold."""
    said = excerpt(fault.said, secrets=secrets, spoken=[m.content for m in messages])
    status = "" if fault.status is None else f" ({fault.status})"
    setting = f" {fault.setting}" if fault.setting else ""
    advice = ADVICE.get(fault.reason)
    return (
        f"{fault.reason}{setting}{status}"
        + (f": {said}" if said else "")
        + (f"; {advice}" if advice else "")
    )


def read_error(value: Any) -> ErrorBody:
    """Read an error object in any of the shapes that OpenAI-compatible endpoints use."""
    while isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, Mapping):
        value = value.get("error") or value.get("detail") or value
    if not isinstance(value, Mapping):
        return ErrorBody(said=str(value or ""))
    code, inner = value.get("code"), value.get("metadata")
    said = str(value.get("message") or value.get("msg") or "")
    if isinstance(inner, Mapping):
        said += "".join(f" {inner[key]}" for key in ("raw", "reasons") if inner.get(key))
    is_status = isinstance(code, int) and 400 <= code < 600
    return ErrorBody(
        said=said,
        code=f"{code or ''} {value.get('type') or ''}".lower(),
        param=str(value.get("param") or ""),
        status=code if is_status else None,
    )


def find_fault(status: int | None, error: ErrorBody, *, sent: Collection[str]) -> FaultError:
    """Return why there is no reply.

    Args:
        status: HTTP status of the answer; None for an error inside a good one.
        error: The error object.
        sent: Keys of the request's body that are settings.
    """
    if status is None:
        status = error.status or _status_in_words(error.code)
    words = f"{error.code} {error.said}".lower()
    for reason, pattern in _BY_CODE:
        if 400 <= status < 500 and status != 401 and pattern.search(words):
            setting = "a setting" if reason == "refused-settings" else ""
            return FaultError(reason, error.said, setting=setting, status=status)
    if status in {400, 422}:
        setting = _refused_setting(error, sent)
        if setting:
            return FaultError("refused-settings", error.said, setting=setting, status=status)
    unnamed: Reason = "server-error" if status >= 500 else "bad-request"
    return FaultError(_BY_STATUS.get(status, unnamed), error.said, status=status)


def read_retry_after(value: str | None, *, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for; None if absent or unreadable.

    Args:
        value: Seconds, or an HTTP date.
        now: The server's own time where it sent one, else ours.
    """
    if value is None:
        return None
    if re.fullmatch(r"\d{1,9}(\.\d+)?", value.strip()):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _refused_setting(error: ErrorBody, sent: Collection[str]) -> str:
    """Return the setting that the endpoint names: in its own field, else in its words."""
    named = re.split(r"[.\[]", error.param)[0]
    if named in sent:
        return named
    for setting in sorted(sent, key=len, reverse=True):
        # Extras have names like "user" and "provider", which are words: those must be quoted.
        around = r"[\w.]" if setting in OWN_KEYS else r"[^'\"`]"
        if re.search(rf"(?<!{around}){re.escape(setting)}(?!{around})", error.said):
            return setting
    return ""


def _status_in_words(code: str) -> int:
    return next((status for status, pattern in _STREAM_STATUS if pattern.search(code)), 500)
