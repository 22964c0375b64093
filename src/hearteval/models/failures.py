"""Why a model gave no reply: the words that are counted, and how an endpoint's answer maps to one.

Pure. Which of the reasons are worth another try is decided here; trying again is in `Gated`.
Endpoints repeat what they were sent: the key (whole, cut or starred), the address, the messages.
Error messages end in terminals, logs and databases, so all of that is taken out here.
"""

import logging
import re
from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from hearteval.domain.reasons import ADVICE
from hearteval.errors import ModelCallError
from hearteval.models.base import MAX_RAW, Message, Reply
from hearteval.models.http import OWN_KEYS, SHORTEST_SECRET, Endpoint

_log = logging.getLogger(__name__)
Reason = (
    Literal["rate-limited", "overloaded"]
    | Literal["server-error", "timeout", "connection", "cut-off-stream"]
    | Literal["bad-key", "no-credit", "unknown-model", "refused-settings"]
    | Literal["context-too-long", "content-filter", "bad-request"]
    | Literal["broken-body", "not-a-completion", "html", "too-large"]
    | Literal["batch-expired", "batch-cancelled"]
)
RETRYABLE: frozenset[str] = frozenset(
    {"rate-limited", "overloaded", "server-error", "timeout", "connection", "cut-off-stream"}
)
"""Reasons that another try may cure."""
UNKNOWN_END = frozenset({"timeout", "cut-off-stream"})
"""Reasons after which nobody here knows whether the endpoint charges for what it began."""
UNUSABLE = frozenset({"broken-body", "not-a-completion", "html", "too-large"})
"""Reasons that say what is wrong with an answer, which came."""
SPOILT: frozenset[str] = frozenset({"broken-body", "not-a-completion", "html"})
"""Answers that are none: of an endpoint that has given replies, another try may be one."""
BREAKING: frozenset[str] = (
    RETRYABLE
    | SPOILT
    | {"bad-key", "no-credit", "unknown-model", "refused-settings", "local-server-died"}
)
"""Reasons that lie with the endpoint or the study's settings, not with what was asked."""
DOUBTED = frozenset({401, 403, 404, 413})
"""Statuses that a proxy in trouble sends too: of a model that has answered, another try may do."""
NO_TRIES = frozenset({429, 529})
"""Statuses that refuse a call for now; so does 503 if it says when to come back."""
_BY_CODE: Mapping[Reason, str] = {
    "no-credit": r"insufficient[_ ](quota|credit|balance|funds)|billing_hard_limit",
    "content-filter": r"content_(filter|policy)|moderation|flagged|safety system",
    "bad-key": r"(invalid|incorrect|missing)[_ ]api[_ ]key|api key (is )?(not |in)valid",
    "context-too-long": r"context_length|maximum context|context (size|window)|prompt is too long",
    "refused-settings": r"requested parameters",
    "unknown-model": r"model_not_found|(unknown|invalid|no such|not a valid) model"
    r"|model\b.{0,100}\b(not found|(does|do) not exist)",
}
"""What providers say with a status that alone would mislead (OpenRouter, Azure, Google, Groq)."""
_BY_STATUS: Mapping[int, Reason] = {
    **dict.fromkeys((401, 403), "bad-key"),
    **dict.fromkeys((408, 504, 524), "timeout"),
    **dict.fromkeys((503, 529), "overloaded"),
    204: "not-a-completion",
    402: "no-credit",
    404: "unknown-model",
    429: "rate-limited",
}
_STREAM_STATUS = {
    429: r"rate.?limit|too_many_requests",
    503: r"overloaded|unavailable|capacity",
    400: r"invalid_request|bad_request",
}
HIDDEN = "[hidden]"
UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"
SPOKEN_LENGTH = 20
"""Characters in a row shared with a message that make an excerpt a quotation of it."""
LONGEST_EXCERPT = 300
LONGEST_SAID = 10_000
# Repetitions are bounded: an endpoint's answer may be one word of megabytes.
_CREDENTIAL = re.compile(
    r"""(?i:\bbearer\s+)[^\s"',;<>]{1,500}"""
    r"""|\b(?:sk|pk|rk|gsk|xai|fw|hf|csk|tgp|r8)[-_][\w*.-]{6,500}|\bAIza[\w*-]{8,100}"""
    r"""|(?<=://)[^\s/@]{1,200}(?=@)|[\w.-]{0,50}\*{3,100}[\w.-]{0,50}"""
)
_ESCAPE = re.compile(r"\\{1,8}u00([2-7][0-9a-fA-F])")
_WITH_ESCAPES = re.compile(rf"""(?:{_ESCAPE.pattern.replace("(", "(?:")}|[\w.*-]){{8,9000}}""")
TEXTS = ("raw", "text", "reasoning", "refusal", "model", "finish_reason")
"""Fields of a reply that an endpoint words."""


class CallFailureError(ModelCallError):
    """A call of a model that came to nothing, with what is needed to go on.

    Attributes:
        reply: What had come until then: text and usage of half a stream, `raw` without secrets,
            requested and effective settings.
        said: The endpoint's own words, without secrets and dialogue; empty where it said nothing.
        may_be_charged: Whether the endpoint may charge for it: it began to answer, or nobody knows.
        is_refusal: Whether the endpoint wants no calls for now; nothing was tried.
        hold_seconds: For how long this call alone is not made again, after a refusal.
        is_doubtful: Whether what the status says need not be so; see `DOUBTED`.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: Reason,
        reply: Reply,
        said: str = "",
        may_be_charged: bool | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message, reason=reason)
        self.reply = reply
        self.said = said
        if may_be_charged is None:
            may_be_charged = reason in UNUSABLE
        self.may_be_charged = may_be_charged or reason in UNKNOWN_END
        self.is_refusal = self.is_doubtful = False
        self.hold_seconds = 0.0
        self.retry_after_seconds = retry_after_seconds

    @property
    def kind(self) -> str:
        """Name of the error in ``heart.error/1``: that of its base, which is documented."""
        return "model_call"


class FaultError(Exception):
    """What is wrong with one answer, before anyone knows whose it is.

    Attributes:
        said: The endpoint's own words; may hold secrets and dialogue.
        raw: The whole answer, where it was no reply; may hold secrets and dialogue.
        may_be_charged: Whether there was a good answer, which cannot be used, or nobody knows; None
            until known.
    """

    def __init__(
        self, reason: Reason, said: str = "", *, setting: str = "", status: int | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.said = said
        self.setting = setting
        self.status = status
        self.raw = ""
        self.may_be_charged: bool | None = None
        self.retry_after_seconds: float | None = None

    @property
    def is_refusal(self) -> bool:
        """Whether the endpoint wants no calls for now."""
        if self.reason == "rate-limited":
            return True
        is_timed = self.retry_after_seconds is not None
        return self.reason == "overloaded" and (self.status in NO_TRIES or is_timed)

    @property
    def is_doubtful(self) -> bool:
        """Whether the status is one of `DOUBTED`, and nothing else is said with it."""
        return self.status in DOUBTED and self.reason in {"bad-key", "unknown-model", "bad-request"}


class ErrorBody(NamedTuple):
    """An error object as an endpoint sends it."""

    said: str
    """Its message, with the inner provider's where there is one."""
    code: str = ""
    """Code and type, in lower case."""
    param: str = ""
    status: int | None = None


def call_failure(
    fault: FaultError,
    reply: Reply,
    messages: Sequence[Message],
    *,
    endpoint: Endpoint,
    secrets: Sequence[str],
    where: str = "",
) -> CallFailureError:
    """Return the error of a call that came to nothing, without secrets and dialogue.

    `reply` is what had come until then; `where` says how the call was made, if not directly.
    """
    spoken = [message.content for message in messages]
    said = excerpt(fault.said, secrets=secrets, spoken=spoken)
    words = fault.reason + (f" {fault.setting}" if fault.setting else "")
    words += "" if fault.status is None else f" ({fault.status})"
    words += f": {said}" if said else ""
    words += f"; {ADVICE[fault.reason]}" if fault.reason in ADVICE else ""
    came = _without_secrets(replace(reply, raw=reply.raw[: 2 * MAX_RAW]), secrets)
    failure = CallFailureError(
        f"{endpoint.name} at {endpoint.address}{where}: {words}",
        reason=fault.reason,
        reply=replace(came, raw=came.raw[:MAX_RAW]),
        said=f"{fault.setting}: {said}" if fault.setting else said,
        may_be_charged=fault.may_be_charged,
        retry_after_seconds=fault.retry_after_seconds,
    )
    failure.is_refusal, failure.is_doubtful = fault.is_refusal, fault.is_doubtful
    return failure


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
    """Return why there is no reply, from an answer's status and what it says.

    Without a status the error stands inside a good answer. `sent` are the keys of the request's
    body that are settings.
    """
    if status is None:
        named = (n for n, pattern in _STREAM_STATUS.items() if re.search(pattern, error.code))
        status = error.status or next(named, 500)
    words = f"{error.code} {error.said}".lower()
    for reason, pattern in _BY_CODE.items():
        if 400 <= status < 500 and status != 401 and re.search(pattern, words):
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

    It holds seconds or a date; `now` is the server's own time where it sent one, else ours.
    """
    if value is None:
        return None
    if re.fullmatch(r"\d{1,9}(\.\d+)?", value.strip()):
        return float(value)
    moment = read_date(value)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def read_date(value: str | None) -> datetime | None:
    """Return the moment that a header holds, UTC where it names no zone; None if unreadable."""
    try:
        moment = parsedate_to_datetime(value or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


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


@cache
def spellings(secret: str) -> tuple[str, ...]:
    """Return a secret as bodies and addresses may hold it, the longest first.

    Plain, with escaped slashes, in escapes of URLs, JSON and HTML, in base64 wherever it begins.
    """
    found = {secret, secret.replace("/", r"\/"), quote(secret, safe=""), quote(secret, safe="/")}
    escaped = "".join(c if c.isalnum() else f"\\u{ord(c):04x}" for c in secret)
    found |= {escaped, re.sub(r"u00..", lambda code: "u" + code[0][1:].upper(), escaped)}
    found |= {re.sub("%..", lambda code: code[0].lower(), each) for each in found}
    for signs in ("[/=]", "[+]", r"[^\w.-]"):  # which of them a page of HTML escapes differs
        for form in ("&#{};", "&#x{:X};", "&#x{:x};"):
            found.add(re.sub(signs, lambda sign, form=form: form.format(ord(sign[0])), secret))
    for n_before in range(3):
        encoded = b64encode(b"." * n_before + secret.encode()).decode().rstrip("=")
        # The first and the last digits depend on what stands beside the secret.
        n_own = (8 * (n_before + len(secret.encode()))) // 6
        part = encoded[-(-8 * n_before // 6) : n_own]
        found |= {part, part.translate(str.maketrans("+/", "-_")), part.replace("/", r"\/")}
    return tuple(sorted((f for f in found if len(f) >= SHORTEST_SECRET), key=len, reverse=True))


@cache
def _escaped(characters: str) -> str:
    """Return a pattern of a text of which any characters stand in JSON's escapes, others plain."""
    return "".join(
        rf"(?:{re.escape(c)}|\\+u(?i:{ord(c):04x}){'' if c != '/' else '|' + chr(92) * 2 + '+/'})"
        for c in characters
    )


def _holds(text: str, secret: str) -> bool:
    """Say whether a text holds a secret, in any spelling or once its escapes are read."""
    if any(each in text for each in spellings(secret)):
        return True
    return r"\u" in text and re.search(_escaped(secret), text) is not None


def hide_secrets(text: str, secrets: Sequence[str]) -> str:
    """Replace secrets in a text, as `hide_known` does, and whatever looks like a credential."""
    text = hide_known(text, secrets)
    if r"\u" in text:
        text = _WITH_ESCAPES.sub(_without_credential, text)
    return _CREDENTIAL.sub(HIDDEN, text)


def hide_known(text: str, secrets: Sequence[str]) -> str:
    """Replace secrets in a text, whole or cut off, in any spelling."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        if r"\u" in text and len(secret) >= SHORTEST_SECRET:
            beginning = _escaped(secret[: max(8, len(secret) // 2)])
            text = re.sub(rf"""{_escaped(secret)}|{beginning}[^\s"',;<>]*""", HIDDEN, text)
        for spelling in spellings(secret) or (secret,):
            beginning = re.escape(spelling[: max(8, len(spelling) // 2)])
            text = re.sub(rf"""{re.escape(spelling)}|{beginning}[^\s"',;<>]*""", HIDDEN, text)
    return text


def _without_credential(word: re.Match[str]) -> str:
    """Return a word with JSON's escapes in it, read and hidden where it looks like a credential."""
    read = _ESCAPE.sub(lambda code: chr(int(code[1], 16)), word[0])
    return _CREDENTIAL.sub(HIDDEN, read) if _CREDENTIAL.search(read) else word[0]


def _without_secrets(reply: Reply, secrets: Sequence[str]) -> Reply:
    """Hide secrets, and whatever looks like one, in every text of a reply that an endpoint made."""
    texts: dict[str, Any] = {name: getattr(reply, name) for name in TEXTS}
    texts = {name: text and hide_secrets(text, secrets) for name, text in texts.items()}
    return replace(reply, **texts)


def held_secrets(texts: Sequence[str], secrets: Sequence[str]) -> list[str]:
    """Return the secrets that stand in one of some texts; words too short to be any are none."""
    long = [secret for secret in secrets if len(secret) >= SHORTEST_SECRET]
    return [s for s in long if any(_holds(text, s) for text in texts)]


def redact_reply(reply: Reply, secrets: Sequence[str]) -> Reply:
    """Hide secrets that an endpoint repeats in its reply or beside it; nothing else is changed."""
    found = held_secrets([getattr(reply, name) or "" for name in TEXTS], secrets)
    if not found:
        return reply
    if any(_holds(reply.text, secret) for secret in found):
        _log.warning(
            "%s: a reply held the key that it was asked with; it reads %s there now",
            *(hide_secrets(reply.model, found) or "a model", HIDDEN),
        )
    return _without_secrets(reply, found)


def hide_speech(text: str, spoken: Sequence[str]) -> str:
    """Replace every run of `SPOKEN_LENGTH` characters or more that one of the messages holds."""
    kept: list[str] = []
    start = 0
    while start < len(text):
        end = start + SPOKEN_LENGTH
        if end > len(text) or not any(text[start:end] in message for message in spoken):
            kept.append(text[start])
            start += 1
            continue
        while end < len(text) and any(text[start : end + 1] in message for message in spoken):
            end += 1
        kept.append("[…]")
        start = end
    return "".join(kept)


def excerpt(text: str, *, secrets: Sequence[str], spoken: Sequence[str]) -> str:
    """Return one short line of what an endpoint said, without secrets and dialogue.

    What a terminal would obey is taken out too: it ends in logs and tables that people print.
    """
    line = " ".join(hide_secrets(text[:LONGEST_SAID], secrets).split())
    flat = [" ".join(message.split()) for message in spoken]
    line = hide_speech(line[: 2 * LONGEST_EXCERPT], flat)
    line = "".join(c if c.isprintable() else UNPRINTABLE for c in line)
    return line if len(line) <= LONGEST_EXCERPT else f"{line[:LONGEST_EXCERPT]}…"
