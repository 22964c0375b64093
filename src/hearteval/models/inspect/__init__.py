"""What Inspect's providers send, answer and raise, in the project's words.

Pure, and without an import of Inspect: requests and responses are read as the JSON they are, errors
by the attributes that the SDKs of OpenAI, Anthropic, Google and AWS give them.
"""

import json
import re
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from hearteval.models.base import JsonObject, Reply, Usage
from hearteval.models.failures import (
    ErrorBody,
    FaultError,
    Reason,
    find_fault,
    read_error,
    read_retry_after,
)

FINISH: Mapping[str, str | None] = {
    "max_tokens": "length",
    "model_length": "length",
    "unknown": None,
}
"""Inspect's words for why a reply ends, where the core client has another; None says nothing."""
ENDS = ("stop_reason", "stopReason", "finish_reason", "finishReason")
"""Providers' names for why a reply ends; of a Responses object, its status says it."""
PLACES = ("extra_body", "generation_config", "inferenceConfig", "additionalModelRequestFields")
"""Where providers keep settings, besides the top of the request."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "temperature": ("temperature",),
    "top_p": ("top_p", "topP"),
    "max_tokens": ("max_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"),
    "seed": ("seed",),
}
THINKING = ("reasoning", "reasoningConfig", "thinking", "thinkingConfig")
SCHEMAS = (
    ("text", "format", "schema"),
    ("output_format", "schema"),
    ("output_config", "format", "schema"),
    ("responseJsonSchema",),
)
"""Where providers keep the schema, from one of the places on."""
STATUS_OF_CODE: Mapping[str, int] = {
    "throttlingexception": 429,
    "modelnotreadyexception": 429,
    "servicequotaexceededexception": 429,
    "serviceunavailableexception": 503,
    "modeltimeoutexception": 504,
    "validationexception": 400,
}
"""AWS's errors inside a stream, which have no status."""
BY_CLASS: Mapping[Reason, str] = {
    "timeout": "Timeout",
    "cut-off-stream": "NoStreamData|RemoteProtocol|ReadError|Payload|Incomplete|Disconnected",
    "connection": "Connect|Connection|Transport|HTTPClient|OSError|NetworkError",
    "broken-body": "JSONDecode|UnknownApiResponse",
    "refused-settings": "Prerequisite",
}
"""What is wrong by the names of an error's classes, for errors without a status."""


def settings_in(request: JsonObject, *, schema_name: str | None) -> dict[str, Any]:
    """Return the settings in a request of a provider's SDK, as Inspect records it.

    They are named as in `Sampling`. A schema that was asked for may not have been sent.
    """
    places = [request, *(p for key in PLACES if isinstance(p := request.get(key), Mapping))]
    found = {
        setting: place[name]
        for setting, names in NAMES.items()
        for place in places
        for name in names
        if place.get(name) is not None
    }
    if schema_name and any(_at(place, path) for place in places for path in SCHEMAS):
        found["schema"] = schema_name
    for place in places:
        for name in THINKING:
            if place.get(name) is not None:
                found[name] = _without_none(place[name])
    return found


def read_usage(usage: Any) -> Usage:
    """Read Inspect's token counts: its input leaves cached tokens out, and 0 stands for "none"."""
    if usage is None:
        return Usage()
    cached = usage.input_tokens_cache_read
    return Usage(
        input_tokens=usage.input_tokens + (cached or 0) + (usage.input_tokens_cache_write or 0),
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cached_tokens=cached,
        cache_write_tokens=usage.input_tokens_cache_write or None,
    )


def read_output(output: Any, response: JsonObject | None) -> Reply:
    """Return a reply as far as Inspect has it: without settings and times.

    `response` is what the provider sent; None if unknown.
    """
    if output is None or not output.choices:
        usage, model = (None, "") if output is None else (output.usage, output.model)
        return Reply(text="", model=model, usage=read_usage(usage))
    text, reasoning, refusal = "", "", None
    if not has_no_candidate(response):
        text, reasoning, refusal = _read_content(output.message.content)
    return Reply(
        text=text,
        reasoning=reasoning,
        finish_reason=read_end(output.stop_reason, response),
        refusal=refusal,
        model=output.model,
        usage=read_usage(output.usage),
    )


def read_end(stop_reason: str, response: JsonObject | None) -> str | None:
    """Return why a reply ends, in the provider's own word where Inspect knows none for it.

    Of the Responses interface Inspect also calls a reply that failed or is incomplete a stop.
    """
    said = FINISH.get(stop_reason, stop_reason)
    if response is None or stop_reason not in ("stop", "unknown"):
        return said
    if response.get("object") == "response":
        return said if response.get("status") in (None, "completed") else str(response["status"])
    if stop_reason == "stop":
        return said
    choices = response.get("choices") or response.get("candidates") or ()
    places = (response, *(each for each in choices[:1] if isinstance(each, Mapping)))
    return next((str(place[name]) for place in places for name in ENDS if place.get(name)), said)


def has_no_candidate(response: JsonObject | None) -> bool:
    """Whether Google gave no candidate: the text that Inspect then gives is its own."""
    return response is not None and "candidates" in response and not response["candidates"]


def _read_content(content: Any) -> tuple[str, str, str | None]:
    """Return the text, the reasoning and the refusal in the content of a message."""
    if isinstance(content, str):
        return content, "", None
    texts = [part for part in content if part.type == "text"]
    text = "".join(part.text for part in texts if not part.refusal)
    refusal = "".join(part.text for part in texts if part.refusal)
    thoughts = [part for part in content if part.type == "reasoning"]
    # What is redacted is a cipher.
    reasoning = [("" if p.redacted else p.reasoning) or p.summary or "" for p in thoughts]
    return text, "".join(reasoning), refusal or None


def fault_of(error: BaseException, *, sent: Collection[str]) -> FaultError:
    """Return what is wrong, for an error that Inspect or an SDK raised, or one that wraps it."""
    cause = _cause(error)
    status, body = _status(cause), _error_body(cause)
    if status is None and body.code:
        status = STATUS_OF_CODE.get(body.code.split()[0])
    if status is not None or body.code:
        return find_fault(status, body, sent=sent)
    words = " ".join(cls.__name__ for cls in type(cause).__mro__)
    for reason, pattern in BY_CLASS.items():
        if re.search(pattern, words):
            # Not the SDK's own words: they may hold an address with a key.
            return FaultError(reason, type(cause).__name__)
    return FaultError("not-a-completion", f"{type(cause).__name__} while the answer was read")


def converted_fault(
    stop_reason: str, response: JsonObject | None, *, sent: Collection[str]
) -> FaultError:
    """Return what is wrong where Inspect made a reply of its own out of a provider's error."""
    body = read_error(_lowered(response or {}))
    if stop_reason == "content_filter":
        return FaultError("content-filter", body.said, status=body.status or 400)
    if stop_reason == "model_length":
        return FaultError("context-too-long", body.said, status=body.status or 400)
    return find_fault(body.status or 400, body, sent=sent)


def retry_after_of(error: BaseException, *, now: datetime) -> float | None:
    """Return the seconds that a provider asked to wait: in a header, or in Google's error body."""
    cause = _cause(error)
    response = getattr(cause, "response", None)
    headers = getattr(response, "headers", None)
    if headers is None and isinstance(response, Mapping):
        headers = response.get("ResponseMetadata", {}).get("HTTPHeaders")
    found = {str(name).lower(): str(value) for name, value in dict(headers or {}).items()}
    seconds = read_retry_after(found.get("retry-after"), now=now)
    if seconds is None:
        details = json.dumps(getattr(cause, "details", None), default=str)
        delay = re.search(r'"retryDelay": "(\d+(?:\.\d+)?)s"', details)
        seconds = float(delay[1]) if delay else None
    return seconds


def _cause(error: BaseException) -> BaseException:
    """Return the SDK's own error, from inside tenacity's and Inspect's."""
    seen: list[BaseException] = []
    while error not in seen:
        seen.append(error)
        attempt = getattr(error, "last_attempt", None)
        inner = attempt.exception() if attempt is not None else None
        if inner is None and type(error).__name__ == "ModelGenerateError":
            inner = error.__cause__
        error = inner or error
    return error


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    of_aws = response.get("ResponseMetadata", {}) if isinstance(response, Mapping) else {}
    candidates = (
        getattr(error, "status_code", None),
        getattr(error, "code", None),
        of_aws.get("HTTPStatusCode"),
    )
    return next((c for c in candidates if isinstance(c, int) and 400 <= c < 600), None)


def _error_body(error: BaseException) -> ErrorBody:
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        return read_error(_lowered(response))
    body = getattr(error, "body", None) or getattr(error, "details", None)
    if body:
        return read_error(body)
    code = getattr(error, "code", None)
    return ErrorBody(said=str(getattr(error, "message", "") or ""), code=str(code or "").lower())


def _lowered(response: JsonObject) -> JsonObject:
    """Return an error of AWS's with the keys that everybody else uses."""
    error = response.get("Error")
    if not isinstance(error, Mapping):
        return response
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return {"error": {"message": error.get("Message"), "type": error.get("Code"), "code": status}}


def _at(place: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        place = place.get(key) if isinstance(place, Mapping) else None
    return place


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    return value
