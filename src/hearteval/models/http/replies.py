"""What comes back from an OpenAI-compatible endpoint: events, chunks or a whole body -> a reply.

Pure. Strict: a part of the wrong type is a fault, never skipped. Nothing of the text is changed,
except that a character which a server cut into two escapes is put together again.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from hearteval.models.base import Reply, Usage
from hearteval.models.failures import FaultError, find_fault, read_error
from hearteval.models.http import ECHOED, read_echo, used_settings

MOST_TOKENS = 10**12
"""What is beyond this is no count, and may be beyond what a float or a database holds."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class ReplyParts:
    """Collects a reply.

    Attributes:
        sent: Keys of the request's body that are settings.
        finish_reason: Why it ends, once the endpoint has said so.
        raw: The body as it came; empty for a stream.
    """

    def __init__(self, sent: Collection[str]) -> None:
        self.sent = sent
        self.finish_reason: str | None = None
        self.raw = ""
        self._echo: dict[str, float] = {}
        self._head: dict[str, Any] = {}
        self._index: int | None = None
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._usage: Any = None
        self._model = ""
        self._is_done = False
        self._first_text_ms: float | None = None
        self._first_reasoning_ms: float | None = None
        self._last_ms: float | None = None

    @property
    def is_complete(self) -> bool:
        """Whether nothing of the text can be missing."""
        return self.finish_reason is not None or (self._is_done and bool(self._head))

    def add_events(self, events: Iterable[str], ms: float) -> bool:
        """Add the data of events of a stream; return whether the last has come.

        Raises:
            FaultError: One is no chunk of a completion, or an error.
        """
        for data in events:
            self._last_ms = ms
            if data.strip() == "[DONE]":
                self._is_done = True
                break
            try:
                self._add_chunk(parse_json(data), ms)
            except FaultError:
                self.raw = f"{self._merged()}\n{data}".lstrip()
                raise
        return self._is_done

    def add_body(self, text: str, ms: float | None) -> None:
        """Add a whole body.

        Raises:
            FaultError: It is no completion, or an error.
        """
        self.raw, self._last_ms = text, ms
        choice = self._open(parse_json(text))
        if choice is None or not choice.get("message"):
            raise FaultError("not-a-completion", "no choices[0].message in it")
        self._add(choice["message"], choice, None)

    def to_reply(self, *, requested: Mapping[str, Any], effective: Mapping[str, Any]) -> Reply:
        """Return the reply as far as it has come, with the settings that it shows were used."""
        usage = read_usage(self._usage)
        return Reply(
            text=_whole("".join(self._text)),
            reasoning=_whole("".join(self._reasoning)),
            finish_reason=self.finish_reason,
            refusal=_whole("".join(self._refusal)) or None,
            model=self._model,
            usage=usage,
            requested=requested,
            effective=used_settings(effective, echo=self._echo, usage=usage),
            first_text_ms=self._first_text_ms,
            first_reasoning_ms=self._first_reasoning_ms,
            total_ms=self._last_ms,
            raw=self.raw or self._merged(),
        )

    def _add_chunk(self, chunk: Any, ms: float) -> None:
        choice = self._open(chunk)
        if choice is not None:
            self._head = self._head or {k: v for k, v in chunk.items() if k != "choices"}
            self._add(choice.get("delta") or {}, choice, ms)

    def _open(self, body: Any) -> Mapping[str, Any] | None:
        """Take what stands beside the choices; return the choice that is read, if it is there.

        That is the lowest of the first that come: of several, one is the answer, and some endpoints
        count from 1.
        """
        if not isinstance(body, dict):
            raise FaultError("not-a-completion", "no JSON object")
        self._usage = body.get("usage") or self._usage
        if body.get("error"):
            fault = find_fault(None, read_error(body), sent=self.sent)
            # An error alone is a refusal, whatever the status of the answer that holds it.
            fault.may_be_charged = bool(body.get("choices") or self._head)
            raise fault
        self._model = self._model or _text_of(body, "model")
        if not body.keys().isdisjoint(ECHOED):
            self._echo |= read_echo(body)
        choices = body.get("choices")
        if choices is not None and not isinstance(choices, list):
            raise FaultError("not-a-completion", "choices is no list")
        if not choices:
            return None
        for choice in choices:
            if not isinstance(choice, dict):
                raise FaultError("not-a-completion", "a choice is no object")
        by_index = {read_count(choice, "index") or 0: choice for choice in reversed(choices)}
        if self._index is None:
            self._index = min(by_index)
        return by_index.get(self._index)

    def _add(self, part: Any, choice: Mapping[str, Any], ms: float | None) -> None:
        if not isinstance(part, dict):
            raise FaultError("not-a-completion", "the message is no object")
        text, thought = _read_content(part.get("content"))
        reasoning = _text_of(part, "reasoning") or _text_of(part, "reasoning_content") or thought
        if reasoning:
            self._reasoning.append(reasoning)
            if self._first_reasoning_ms is None:
                self._first_reasoning_ms = ms
        if text:
            self._text.append(text)
            if self._first_text_ms is None:
                self._first_text_ms = ms
        if refusal := _text_of(part, "refusal"):
            self._refusal.append(refusal)
        self.finish_reason = _text_of(choice, "finish_reason") or self.finish_reason
        if self.finish_reason == "error":
            raise FaultError("server-error", "finish_reason: error")

    def _merged(self) -> str:
        """Return the whole body that the chunks of a stream amount to."""
        if not self._head:
            return ""
        message = {"role": "assistant", "content": "".join(self._text)}
        for key, parts in (("reasoning", self._reasoning), ("refusal", self._refusal)):
            if parts:
                message[key] = "".join(parts)
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return json.dumps({**self._head, "choices": [choice], "usage": self._usage})


class EventReader:
    """Reads server-sent events in pieces cut anywhere, inside a character or a line end too.

    Follows the HTML standard's event-stream format as far as chat endpoints use it: ``data`` lines
    joined by line feeds, comments and other fields skipped.
    """

    def __init__(self) -> None:
        self._buffer = b""
        self._data: list[bytes] = []
        self._is_first = True

    def feed(self, piece: bytes) -> list[str]:
        """Return the data of the events that this piece completes.

        Raises:
            FaultError: An event is not UTF-8.
        """
        # A line feed after this may still belong to a carriage return at the end of the piece.
        cut = max(piece.rfind(b"\n"), piece.rfind(b"\r", 0, -1)) + 1
        if not cut and not self._buffer.endswith(b"\r"):
            self._buffer += piece
            return []
        ready, self._buffer = self._buffer + piece[:cut], piece[cut:]
        return self._read(ready)

    def finish(self) -> list[str]:
        """Return the event that the end of the stream completes; half a line is dropped."""
        is_line = self._buffer.endswith(b"\r")
        events = self._read(self._buffer) if is_line else []
        return events + self._read(b"\n")

    def _read(self, ready: bytes) -> list[str]:
        if self._is_first:
            self._is_first = False
            ready = ready.removeprefix(BYTE_ORDER_MARK)
        events: list[str] = []
        for line in ready.splitlines():
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                data, self._data = b"\n".join(self._data), []
                events += [decode(data)] if data else []
        return events


def decode(data: bytes) -> str:
    """Decode UTF-8.

    Raises:
        FaultError: It is something else.
    """
    try:
        return data.removeprefix(BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError:
        raise FaultError("broken-body", "it is not UTF-8") from None


def parse_json(text: str) -> Any:
    """Parse JSON strictly: no NaN, no infinities.

    Raises:
        FaultError: It is not JSON.
    """
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):  # too deep, too many digits
        pass
    if text.lstrip()[:1] == "<":
        title = re.search(r"<title>([^<]*)", text, re.IGNORECASE)
        raise FaultError("html", title[1] if title else "")
    # Not a word of it: it may be what a model said.
    raise FaultError("broken-body", f"{len(text):,} characters")


def read_usage(usage: Any) -> Usage:
    """Read token counts; what is absent or no count is None, never zero.

    Prompts include what a cache held. Replies of some (Gemini, Grok) leave out what was thought,
    which is charged as output: then it stands in the total alone.
    """
    if not isinstance(usage, dict):
        return Usage()
    prompt, output = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    cached = (
        read_count(prompt, "cached_tokens"),
        read_count(usage, "prompt_cache_hit_tokens"),  # DeepSeek
        read_count(usage, "cached_tokens"),  # Moonshot
    )
    written = (
        read_count(prompt, "cache_write_tokens"),
        read_count(usage, "cache_creation_input_tokens"),  # LiteLLM's proxy
    )
    n_in, n_out = read_count(usage, "prompt_tokens"), read_count(usage, "completion_tokens")
    total, reasoning = read_count(usage, "total_tokens"), read_count(output, "reasoning_tokens")
    unsaid = (total or 0) - (n_in or 0) - (n_out or 0)
    if n_in is not None and n_out is not None and unsaid > 0:
        reasoning = unsaid if reasoning is None else reasoning
        n_out += unsaid
    return Usage(
        input_tokens=n_in,
        output_tokens=n_out,
        reasoning_tokens=reasoning,
        cached_tokens=next((count for count in cached if count is not None), None),
        cache_write_tokens=next((count for count in written if count is not None), None),
    )


def read_count(table: Any, key: str) -> int | None:
    """Return the count at a key; None where there is no table, no key or no count."""
    value = table.get(key) if isinstance(table, dict) else None
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def _read_content(content: Any) -> tuple[str, str]:
    """Return the text and the thinking of a message's content: a text, or a list of parts."""
    if not isinstance(content, list):
        return _text_of({"content": content}, "content"), ""
    said = {"text": "", "thinking": ""}
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in said:
            raise FaultError("not-a-completion", "content has a part that is no text")
        inner = part.get(kind)
        is_nested = kind == "thinking" and isinstance(inner, list)  # Mistral
        said[kind] += _read_content(inner)[0] if is_nested else _text_of(part, kind)
    return said["text"], said["thinking"]


def _text_of(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FaultError("not-a-completion", f"{key} is no text")
    return value


def _whole(text: str) -> str:
    """Join the halves of characters beyond 16 bits that came in two escapes, in two chunks."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)  # made once: it is half of the time
