"""What is sent to an OpenAI-compatible endpoint, and the settings asked for, sent and really used.

Pure. A setting that the model refuses is left out. What was really used is read from the reply
itself, as far as it shows it: an endpoint that repeats its settings, or that writes more tokens
than it was allowed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from hearteval.models.base import CacheMark, JsonObject, Message, Sampling, Usage
from hearteval.models.prices import estimate_tokens

SHORTEST_SECRET = 6
"""Header and query values below this length are words like "true", not secrets."""
OWN_KEYS = frozenset(
    {"messages", "model", "response_format", "stream", "stream_options"}
    | {"max_completion_tokens", "max_tokens", "seed", "temperature", "top_p"}
)
"""Keys of the body that come from messages, sampling and the endpoint's own settings."""
MARKS: Mapping[CacheMark, JsonObject] = {
    "cache_control": {"type": "ephemeral"},
    "prompt_cache_breakpoint": {"mode": "explicit"},
}
ECHOED = ("temperature", "top_p")
"""Settings that some endpoints repeat beside their replies, by these names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where and how one model is called."""

    name: str
    model: str
    base_url: str = field(repr=False)
    """Address up to ``/v1``; a user, password or query in it is never said again."""
    api_key: str | None = field(default=None, repr=False)
    """None for endpoints without keys."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request; may hold secrets."""
    extra_body: JsonObject = field(default_factory=dict, repr=False)
    """Further keys of every request, e.g. OpenRouter's ``provider``; no setting that `Sampling`
    has."""
    max_tokens_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    cache_mark: CacheMark | None = None
    """What marks, in the provider's words, the end of what every prompt begins with."""
    cache_from: int = 0
    """Tokens from which the provider keeps such a beginning; a shorter one is not marked."""

    def __post_init__(self) -> None:
        """Check what would otherwise fail later, in a message that repeats the secret."""
        if not is_http(self.base_url):
            raise ValueError(f"{self.name}: base_url: expected http://HOST/… or https://HOST/…")
        if self.api_key is not None and not (
            self.api_key and _is_header(self.api_key) and " " not in self.api_key
        ):
            raise ValueError(
                f"{self.name}: api_key: expected visible ASCII characters; look for a line break, "
                "a space or a quotation mark that was copied with it"
            )
        unfit = [key for key, value in self.headers.items() if not _is_header(key + value)]
        if unfit:
            raise ValueError(
                f"{self.name}: headers: no visible ASCII: {', '.join(map(ascii, unfit))}"
            )
        taken = sorted(OWN_KEYS.intersection(self.extra_body))
        if taken:
            raise ValueError(f"{self.name}: extra_body: set {', '.join(taken)} through Sampling")

    @property
    def address(self) -> str:
        """Host, port and path: what of the base URL may be said."""
        url = urlsplit(self.base_url)
        return url.netloc.rpartition("@")[2] + url.path.rstrip("/")

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message, log line or stored error may hold."""
        url = urlsplit(self.base_url)
        values = [url.password or "", *self.headers.values()]
        values += [value for _, value in parse_qsl(url.query)]
        long = {value for value in values if len(value) >= SHORTEST_SECRET}
        return tuple(sorted(long | ({self.api_key} if self.api_key else set())))


def build_body(
    messages: Sequence[Message], sampling: Sampling, endpoint: Endpoint
) -> dict[str, Any]:
    """Build the JSON body of a request.

    Raises:
        ValueError: There are no messages.
    """
    if not messages:
        raise ValueError("a model needs at least one message")
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [
            {"role": m.role, "content": marked(m.content, endpoint) if not i else m.content}
            for i, m in enumerate(messages)
        ],
    }
    if endpoint.cache_mark == "prompt_cache_breakpoint":
        # Left to itself the endpoint writes whole prompts, at a quarter more than their price.
        body["prompt_cache_options"] = MARKS["prompt_cache_breakpoint"]
    names = {"max_tokens": endpoint.max_tokens_key}
    for setting, value in sent_settings(sampling).items():
        if setting != "schema":
            body[names.get(setting, setting)] = value
        elif sampling.schema:
            # Nested: llama.cpp takes the flat form without a word and constrains nothing.
            schema = sampling.schema
            strict = {"name": schema.name, "strict": True, "schema": schema.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": strict}
    if sampling.is_streamed:
        body["stream"] = True
        if "stream_options" not in sampling.refuses:
            body["stream_options"] = {"include_usage": True}
    return body | dict(endpoint.extra_body)


def marked(beginning: str, endpoint: Endpoint) -> str | list[dict[str, Any]]:
    """Return a prompt's first message, its end marked where the provider keeps it if it is."""
    mark = endpoint.cache_mark
    if mark is None or estimate_tokens(beginning) < endpoint.cache_from:
        return beginning
    return [{"type": "text", "text": beginning, mark: MARKS[mark]}]


def requested_settings(sampling: Sampling) -> dict[str, Any]:
    """Return the settings asked for, by `Sampling`'s names; a schema by its own name."""
    schema = None if sampling.schema is None else sampling.schema.name
    settings = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": sampling.seed,
        "schema": schema,
    }
    return {key: value for key, value in settings.items() if value is not None}


def effective_settings(sampling: Sampling, endpoint: Endpoint) -> dict[str, Any]:
    """Return the settings really sent: what was asked for without what is refused, and extras."""
    return sent_settings(sampling) | dict(endpoint.extra_body)


def sent_settings(sampling: Sampling) -> dict[str, Any]:
    """Return the settings asked for that the model does not refuse."""
    requested = requested_settings(sampling)
    return {key: value for key, value in requested.items() if key not in sampling.refuses}


def read_echo(body: Any) -> dict[str, float]:
    """Return the settings that a body repeats at its top; what is no number is no setting."""
    if not isinstance(body, Mapping):
        return {}
    return {name: body[name] for name in ECHOED if type(body.get(name)) in {int, float}}


def used_settings(sent: JsonObject, *, echo: JsonObject, usage: Usage) -> dict[str, Any]:
    """Return the settings really used: those sent, corrected by what the reply shows.

    What the endpoint repeats wins. A limit that the tokens of the reply pass was none: left out.
    """
    used = {**sent, **echo}
    limit = used.get("max_tokens")
    if limit is not None and usage.output_tokens is not None and usage.output_tokens > limit:
        del used["max_tokens"]
    return used


def find_dropped(
    requested: JsonObject, effective: JsonObject, *, refuses: Collection[str]
) -> dict[str, Any]:
    """Return the settings that were not kept, with what was used instead; None if unknown.

    That a setting was not sent which the model is known to refuse is no news.
    """
    return {
        name: effective.get(name)
        for name, asked in requested.items()
        if (effective[name] != asked if name in effective else name not in refuses)
    }


def is_http(address: str) -> bool:
    """Say whether an address is one of HTTP, with a host."""
    try:
        url = urlsplit(address)
        return url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        return False


def lacks_path(address: str) -> bool:
    """Say whether an address names a host alone, where APIs of models stand under a path."""
    return urlsplit(address).path in {"", "/"}


def _is_header(text: str) -> bool:
    return text.isascii() and text.isprintable()
