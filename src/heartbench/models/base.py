"""What a model is to the rest of heartbench: messages and sampling in, one reply out.

A `ChatModel` is anything with `complete`. Retries, the reply cache, the budget and recording are
wrappers that are `ChatModel`s themselves. Replies carry what was asked and what was really used: a
model may refuse a setting, and a provider may drop one without a word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

JsonObject = Mapping[str, Any]
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of what a model is sent."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """A strict JSON schema that the reply must follow.

    Attributes:
        name: Letters, digits, ``_`` and ``-``, as endpoints require.
        schema: The JSON schema. Enums only: some back ends strip bounds (DESIGN section 5).
    """

    name: str
    schema: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How to sample.

    Attributes:
        temperature: None leaves it to the model.
        top_p: None leaves it to the model.
        max_tokens: Most tokens of a reply, reasoning included where the endpoint counts it.
        seed: For endpoints that take one.
        schema: What the reply must follow; None for free text.
        refuses: Settings this model does not take, by name; they are not sent.
    """

    temperature: float | None = 0.0
    top_p: float | None = 1.0
    max_tokens: int | None = None
    seed: int | None = None
    schema: Schema | None = None
    refuses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the endpoint counted them; None where it did not say.

    Attributes:
        input_tokens: Tokens of the prompt, cached ones included.
        output_tokens: Tokens of the reply, reasoning included.
        reasoning_tokens: Of these, reasoning.
        cached_tokens: Of the prompt, read from the provider's cache.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered.

    Attributes:
        text: The answer, without reasoning; may be empty (then say so to whoever asked).
        reasoning: Reasoning that the endpoint showed, else empty.
        finish_reason: Why it ends, as the endpoint says: ``stop``, ``length``,
            ``content_filter``...; None where it did not say.
        refusal: A refusal in the endpoint's own field, else None.
        model: The model that answered, as the endpoint names it.
        usage: Tokens.
        cost: US dollars, None if unknown.
        requested: Settings asked for.
        effective: Settings really sent, after what the model refuses.
        first_text_ms: Milliseconds to the first text; None if not streamed, or cached.
        first_reasoning_ms: Milliseconds to the first reasoning; None likewise.
        total_ms: Milliseconds for the call; None if cached.
        n_attempts: Calls this took, failed ones included.
        cached: Whether it came from the reply cache.
        raw: The body as it came.
    """

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    refusal: str | None = None
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    requested: JsonObject = field(default_factory=dict)
    effective: JsonObject = field(default_factory=dict)
    first_text_ms: float | None = None
    first_reasoning_ms: float | None = None
    total_ms: float | None = None
    n_attempts: int = 1
    cached: bool = False
    raw: str = ""


class ChatModel(Protocol):
    """Anything that answers messages."""

    @property
    def name(self) -> str:
        """What messages and logs call it; never a key or an address with one."""

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Answer messages.

        Args:
            messages: What was said, oldest first.
            sampling: How to sample.
            repeat: Number of the deliberate repetition; a cached reply serves its own repeat only.

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


class Ledger(Protocol):
    """What calls cost, against a limit."""

    async def reserve(self, usd: float) -> None:
        """Set money aside for a call about to be made; wait for calls under way if it is short.

        Raises:
            BudgetError: The limit would be passed, with no call under way.
        """

    def settle(self, reserved: float, spent: float) -> None:
        """Replace what was set aside by what the call cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModel:
    """A model as a study asks it.

    Attributes:
        model: Who is asked.
        sampling: How it samples.
        n_at_once: Most calls under way at once.
    """

    model: ChatModel
    sampling: Sampling
    n_at_once: int
