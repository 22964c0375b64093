"""What calls cost, and what calls not yet made will use.

Prices come from the snapshot inside the pinned `genai-prices`, or from the study file, which wins.
Nothing is looked up on the network. A price that is not known is None, never zero: whoever spends
asks for it. That a list price is what a bill says is the provider's business, not known here.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from importlib.metadata import version
from typing import Any

from hearteval.models.base import Message, Reply, Sampling, Usage

PER_MILLION = 1_000_000
ASCII_PER_TOKEN = 4
"""Of English prose; every other character counts as a token, so that a bound is not too low."""
TOKENS_PER_MESSAGE = 4
ADDED_TOKENS = 4_000
"""Most tokens that an endpoint adds to a prompt: its template, and rules of its own."""
LONGEST_REPLY = 200_000
"""More tokens than any model writes, where a call bounds them by nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice:
    """US dollars per million tokens of prompt and of reply, reasoning included."""

    input_usd: float
    output_usd: float
    cached_usd: float | None = None
    """Of a prompt, what a cache held; None for no other price."""

    def __post_init__(self) -> None:
        for usd in (self.input_usd, self.output_usd, self.cached_usd or 0.0):
            if not (math.isfinite(usd) and usd >= 0):
                raise ValueError(f"a price per million tokens is at least 0 dollars, not {usd!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """How the calls of one model are charged."""

    provider: str
    """Who charges, by the exact name that `genai-prices` has for it."""
    model: str
    own: TokenPrice | None = None
    """The study file's own price, which wins; 0 for a model that really costs nothing."""
    is_batch: bool = False
    """Whether the calls go through the provider's batch interface. Where the list has no batch
    price this is the ordinary one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What calls not yet made will use; sums with ``+``."""

    n_calls: int
    input_tokens: int
    output_tokens: int
    """Tokens of all replies of the expected length."""
    usd_low: float | None
    """US dollars if each call is made once and answers at the expected length; None if a price is
    unknown."""
    usd_high: float | None
    """US dollars if each call is made as often as allowed and each reply is as long as allowed;
    None likewise."""
    seconds: float
    """Time if each call takes the expected time; 0 where nothing is known of it."""
    n_batch_calls: int = 0
    """Of the calls, those that go through batch jobs; their time is not known."""
    n_undiscounted: int = 0
    """Of these, those that are counted at the ordinary price, because the list has no batch
    price."""
    usd_from: float | None = 0.0
    """The low end of what is expected, in US dollars: replies as short as they may well be, what
    prompts begin with always read from a cache that is known; None likewise."""
    usd_to: float | None = 0.0
    """Its high end: replies as long as they may well be, nothing read from a cache."""
    cached_tokens: int = 0
    """Of the prompts, those expected to be read from a cache."""
    n_measured: int = 0
    """Of the calls, those expected to use what calls of the same model have used."""
    n_unthought: int = 0
    """Of the calls, those of models that think, whose thoughts are in no figure but `usd_high`."""

    def __add__(self, other: "Estimate") -> "Estimate":
        """Add calls made after these; the price is unknown if either is."""
        sums: dict[str, Any] = {}
        for each in fields(self):
            one, two = getattr(self, each.name), getattr(other, each.name)
            sums[each.name] = None if one is None or two is None else one + two
        return Estimate(**sums)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlan:
    """What is assumed of calls not yet made."""

    output_tokens: int
    """Expected tokens of a reply, reasoning included."""
    max_tokens: int
    """Most tokens of a reply, reasoning included."""
    least_tokens: int | None = None
    """Tokens of a reply as short as it may well be; None for what is expected."""
    most_tokens: int | None = None
    """The same as long as it may well be."""
    kept_tokens: int = 0
    """Of each prompt, those that the provider keeps in a cache."""
    is_marked: bool = False
    """Whether it was asked to keep them, or does so when it likes."""
    max_attempts: int = 1
    """Most calls that are paid for one reply, retries and repair included."""
    seconds: float = 0.0
    concurrency: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.output_tokens <= self.max_tokens:
            raise ValueError(
                f"expected 0 to {self.max_tokens} (max_tokens) output tokens, "
                f"not {self.output_tokens}"
            )
        if self.max_attempts < 1 or self.concurrency < 1 or self.seconds < 0:
            raise ValueError("expected at least one attempt and one call at once, and no time < 0")


def money(usd: float) -> str:
    """Write dollars with cents, and of less than a dollar their parts."""
    if usd >= 1 or not usd:
        return f"{usd:.2f}"
    whole, _, parts = (f"{usd:.4f}" if usd >= 0.0001 else f"{usd:.10f}").partition(".")
    return f"{whole}.{parts[:2]}{parts[2:].rstrip('0')}"


def price_list() -> str:
    """Name the pinned list that prices come from, e.g. ``genai-prices 0.2.3``."""
    return f"genai-prices {version('genai-prices')}"


def price_per_million(tariff: Tariff, *, when: datetime) -> TokenPrice | None:
    """Return what a tariff charges for a short prompt; None if unknown.

    Some providers charge more for very long prompts; `price_call` knows of it.
    """
    if tariff.own is not None:
        return tariff.own
    listed = _listed(tariff, Usage(input_tokens=0, output_tokens=0), when=when)
    if listed is None:
        return None
    prices = (listed.model_price.input_mtok, listed.model_price.output_mtok)
    input_usd, output_usd = (float(_base_price(price)) for price in prices)
    return TokenPrice(input_usd=input_usd, output_usd=output_usd)


def price_call(tariff: Tariff, usage: Usage, *, when: datetime) -> float | None:
    """Return what one call cost in US dollars.

    Prompt tokens that a cache held, or was given to hold, are charged at the list's price for them,
    and reasoning as output, as `genai-prices` documents. None if the price at that time is unknown,
    or the endpoint did not say how many tokens it counted, or what it said cannot be (more cached
    tokens than prompt, more reasoning than output).
    """
    cached, reasoning = usage.cached_tokens or 0, usage.reasoning_tokens or 0
    written = usage.cache_write_tokens or 0
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    if min(cached, written, reasoning) < 0 or reasoning > usage.output_tokens:
        return None
    if cached + written > usage.input_tokens:
        return None
    own = tariff.own
    if own is not None:
        of_cached = own.input_usd if own.cached_usd is None else own.cached_usd
        dollars = (usage.input_tokens - cached) * own.input_usd + cached * of_cached
        return (dollars + usage.output_tokens * own.output_usd) / PER_MILLION
    listed = _listed(tariff, usage, when=when)
    return None if listed is None else float(listed.total_price)


def is_plausible(reply: Reply, messages: Sequence[Message], sampling: Sampling) -> bool:
    """Say whether a call can have used as many tokens as its endpoint counts.

    A token is at least a byte: of the prompt, which endpoints add a little to, or of the reply as
    it came, where that is longer than it was allowed to be. A prompt has tokens, and so has a text
    that came. Counts that are not there say nothing.
    """
    has_text = bool(reply.text or reply.reasoning or reply.refusal)
    if reply.usage.input_tokens == 0 or (has_text and reply.usage.output_tokens == 0):
        return False
    n_in, n_out = reply.usage.input_tokens or 0, reply.usage.output_tokens or 0
    if n_in > ADDED_TOKENS:
        schema = "" if sampling.schema is None else json.dumps(sampling.schema.schema)
        prompt = _n_bytes(schema, *(message.content for message in messages))
        if n_in > prompt + ADDED_TOKENS:
            return False
    is_bounded = sampling.max_tokens is not None and "max_tokens" not in sampling.refuses
    most = (sampling.max_tokens if is_bounded else None) or LONGEST_REPLY
    return n_out <= most or n_out <= _n_bytes(reply.text, reply.reasoning)


def _n_bytes(*texts: str) -> int:
    return sum(len(text.encode(errors="surrogatepass")) for text in texts)


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: four ASCII characters each, every other character one.

    English text has about four characters a token with the vocabularies in use; characters outside
    ASCII (curly quotes, other scripts) mostly take a token of their own. No vocabulary is read.
    """
    n_ascii = len(text.encode("ascii", "ignore"))
    return math.ceil(n_ascii / ASCII_PER_TOKEN) + len(text) - n_ascii


def estimate_prompt_tokens(messages: Sequence[Message], schema_text: str = "") -> int:
    """Estimate the tokens of a prompt: its messages, four more for each, and the schema if sent."""
    tokens = sum(estimate_tokens(message.content) + TOKENS_PER_MESSAGE for message in messages)
    return tokens + estimate_tokens(schema_text)


def estimate_calls(
    tariff: Tariff, prompt_tokens: Sequence[int], plan: CallPlan, *, when: datetime
) -> Estimate:
    """Estimate what calls at some time will use and cost, one for each number of prompt tokens."""
    n_calls, is_batch = len(prompt_tokens), tariff.is_batch
    price = partial(_price_all, tariff, sorted(prompt_tokens), plan, when=when)
    # A cache holds nothing before the first calls have been answered, which go out together.
    n_first = min(plan.concurrency, n_calls) if plan.is_marked else n_calls
    low, high = price(plan.output_tokens, n_first), price(plan.max_tokens, n_calls)
    least = plan.output_tokens if plan.least_tokens is None else plan.least_tokens
    most = plan.output_tokens if plan.most_tokens is None else plan.most_tokens
    return Estimate(
        n_calls=n_calls,
        input_tokens=sum(prompt_tokens),
        output_tokens=plan.output_tokens * n_calls,
        usd_low=low,
        usd_high=None if high is None else high * plan.max_attempts,
        seconds=0.0 if is_batch else math.ceil(n_calls / plan.concurrency) * plan.seconds,
        n_batch_calls=n_calls if is_batch else 0,
        n_undiscounted=n_calls if _is_undiscounted(tariff, when=when) else 0,
        usd_from=price(least, 0),
        usd_to=price(most, n_calls),
        cached_tokens=plan.kept_tokens * (n_calls - n_first),
    )


def _is_undiscounted(tariff: Tariff, *, when: datetime) -> bool:
    """Say whether batch calls are counted at the ordinary price for want of a better one."""
    if not tariff.is_batch or tariff.own is not None:
        return False
    ordinary = price_per_million(replace(tariff, is_batch=False), when=when)
    return price_per_million(tariff, when=when) == ordinary


def _price_all(
    tariff: Tariff,
    prompt_tokens: Sequence[int],
    plan: CallPlan,
    output_tokens: int,
    n_first: int,
    *,
    when: datetime,
) -> float | None:
    """Price calls of which the first read nothing from a cache, and write to it where asked to."""
    written = plan.kept_tokens if plan.is_marked else 0
    parts = ((prompt_tokens[:n_first], 0, written), (prompt_tokens[n_first:], plan.kept_tokens, 0))
    dollars = []
    for prompts, n_read, n_written in parts:
        for tokens, n_calls in sorted(Counter(prompts).items()):
            usage = Usage(
                input_tokens=tokens,
                output_tokens=output_tokens,
                cached_tokens=n_read,
                cache_write_tokens=n_written,
            )
            price = price_call(tariff, usage, when=when)
            if price is None:
                return None
            dollars.append(price * n_calls)
    return math.fsum(dollars)


def _listed(tariff: Tariff, usage: Usage, *, when: datetime) -> Any:
    """Return the list's calculation, or None if the list does not really know the price."""
    import genai_prices  # noqa: PLC0415 - reads 1.6 MB of prices: 0.8 s that `heart --help` saves

    counts = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_reasoning_tokens=usage.reasoning_tokens,
    )
    try:
        found = genai_prices.calc_price(
            counts,
            tariff.model,
            provider_id=tariff.provider,
            genai_request_timestamp=when,
            price_context={"processing": "batch"} if tariff.is_batch else None,
        )
    except LookupError:
        return None
    # The list finds providers by parts of their names ("openai-compatible" is "openai") and sums
    # prices it does not have to zero (models offered for nothing, or priced by the image).
    if found.provider.id != tariff.provider:
        return None
    prices = (found.model_price.input_mtok, found.model_price.output_mtok)
    return None if any(price is None or _base_price(price) == 0 for price in prices) else found


def _base_price(price: Any) -> Decimal:
    base: Decimal = getattr(price, "base", price)
    return base
