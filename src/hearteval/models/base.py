"""What a model is to the rest of hearteval: messages and sampling in, one reply out.

A `ChatModel` is anything with `complete`. Retries, the reply cache, the budget and recording are
wrappers that are `ChatModel`s themselves. Replies carry what was asked and what was really used: a
model may refuse a setting, and a provider may drop one without a word.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

_log = logging.getLogger(__name__)
JsonObject = Mapping[str, Any]
Role = Literal["system", "user", "assistant"]
CacheMark = Literal["cache_control", "prompt_cache_breakpoint"]
"""What tells a provider where the part of a prompt ends that is the same in every call: Anthropic's
key, or OpenAI's from GPT-5.6 on."""
FIRST_QUESTIONS = 8
"""Of a model, until one of its replies can be used."""
MAX_RAW = 20_000
"""Characters of a reply that an attempt keeps."""
VLLM_FILES = (".yaml", ".yml")
"""Endings of local models that vLLM serves; others are GGUF files, for llama.cpp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of what a model is sent."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """A strict JSON schema that the reply must follow."""

    name: str
    """Letters, digits, ``_`` and ``-``, as endpoints require."""
    schema: JsonObject
    """The JSON schema. Enums only: some back ends strip bounds (DESIGN section 5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How to sample."""

    temperature: float | None = 0.0
    """None leaves it to the model, as for `top_p`."""
    top_p: float | None = 1.0
    max_tokens: int | None = None
    """Most tokens of a reply, reasoning included where the endpoint counts it."""
    seed: int | None = None
    schema: Schema | None = None
    """What the reply must follow; None for free text."""
    refuses: frozenset[str] = frozenset()
    """Settings this model does not take, by name; they are not sent."""
    is_streamed: bool = True
    """Whether the reply comes in pieces, so that its first text can be timed; no other reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the endpoint counted them; None where it did not say."""

    input_tokens: int | None = None
    """Tokens of the prompt, cached ones included."""
    output_tokens: int | None = None
    """Tokens of the reply, reasoning included."""
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    """Of the prompt, read from the provider's cache."""
    cache_write_tokens: int | None = None
    """Of the prompt, written to that cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    """The answer, without reasoning; may be empty (then say so to whoever asked)."""
    reasoning: str = ""
    """Reasoning that the endpoint showed, else empty."""
    finish_reason: str | None = None
    """Why it ends, as the endpoint says: ``stop``, ``length``, ``content_filter``...; None where it
    did not say."""
    refusal: str | None = None
    """A refusal in the endpoint's own field, else None."""
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    """US dollars, None if unknown."""
    requested: JsonObject = field(default_factory=dict)
    effective: JsonObject = field(default_factory=dict)
    """Settings really sent, after what the model refuses."""
    first_text_ms: float | None = None
    """Milliseconds to the first text; None if not streamed, or cached."""
    first_reasoning_ms: float | None = None
    total_ms: float | None = None
    """Milliseconds for the call; None if cached."""
    n_attempts: int = 1
    """Calls this took, failed ones included."""
    cached: bool = False
    raw: str = ""
    """The body as it came."""


HEED: ContextVar[Callable[[Mapping[str, str]], None]] = ContextVar("HEED")
"""Who listens to the headers of the answer to this task's call; they may announce limits."""


class ChatModel(Protocol):
    """Anything that answers messages."""

    @property
    def name(self) -> str:
        """What messages and logs call it; never a key or an address with one."""

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Answer messages, oldest first; a cached reply serves its own `repeat` only.

        Raises:
            ModelCallError: No reply, after whatever retries the model has; its `reason` is a word
                that can be counted.
        """
        ...


class ReplyCache(Protocol):
    """Replies as JSON, by a hash of all that was asked; kept in the study's store."""

    def find(self, key: str) -> JsonObject | None:
        """Return the reply kept under a key (32 hexadecimal digits), or None."""

    async def keep(self, key: str, reply: JsonObject, *, cost: float | None) -> None:
        """Keep a reply; it is durable when this returns. Of two under one key the first stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModel:
    """A model as a study asks it, with so many calls under way at once."""

    model: ChatModel
    sampling: Sampling
    n_at_once: int
    n_first: int = FIRST_QUESTIONS
    """Questions after which it is asked no more if no reply to them can be used."""
    say: Callable[[str], None] = _log.warning
    """Is told of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedReply:
    """One reply of a model that was asked elsewhere, as a log tells it."""

    item_id: str
    """What the log calls that which was answered."""
    repeat: int
    """0 for the first; higher for deliberate repetitions."""
    messages: tuple[tuple[str, str], ...]
    """What was sent, as (role, content), oldest first; empty where the log does not say."""
    tools: tuple[str, ...]
    reply: Reply
    """What came, as far as it came; its cost is not this project's and stays unknown."""
    failure: str
    """Why there is no whole reply, in a short fixed word; empty where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyLog:
    """Replies of one model, in the order of the log, and where they come from."""

    name: str
    """Of the file, without its folder."""
    sha256: str
    log_id: str
    task: str
    model: str
    status: str
    """How the log ends: ``success``, ``error``, ``cancelled`` or ``started``."""
    is_simulated: bool = False
    """Whether a simulated study was exported to it."""
    replies: tuple[LoggedReply, ...]
