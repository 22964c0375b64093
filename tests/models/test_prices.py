"""Prices: arithmetic by hand on the pinned list, and never a zero for what is not known.

List prices used below, US dollars per million tokens in genai-prices 0.2.3: gpt-4o 2.50 in (cached
1.25) and 10 out; gpt-5 1.25 and 10; claude-sonnet-4-5 3 and 15, above 200,000 prompt tokens 6 and
22.50, half of that in batches, .30 read from a cache and 3.75 written to it; gpt-6.1-sol 2 and 10,
.10 read and 2.50 written; Llama 3.1 70B at Together .88 and .88 without a price for cached.
"""

import math
from datetime import UTC, datetime
from typing import Any

import genai_prices
import pytest
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from hearteval.models.base import Message, Usage
from hearteval.models.presets import load_model_presets
from hearteval.models.prices import (
    CallPlan,
    Estimate,
    Tariff,
    TokenPrice,
    estimate_calls,
    estimate_prompt_tokens,
    estimate_tokens,
    money,
    price_call,
    price_list,
    price_per_million,
)

NOW = datetime(2026, 11, 22, tzinfo=UTC)
GPT_4O = Tariff(provider="openai", model="gpt-4o")
SONNET = Tariff(provider="anthropic", model="claude-sonnet-4-5-20250929")
TOGETHER = Tariff(provider="together", model="meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo")
OWN_SERVER = Tariff(provider="openai-compatible", model="gpt-4o")


def test_a_call_costs_its_tokens_at_the_list_price() -> None:
    usage = Usage(input_tokens=1000, output_tokens=100)
    assert price_call(GPT_4O, usage, when=NOW) == pytest.approx(0.0025 + 0.0010, rel=1e-12)


def test_cached_tokens_of_the_prompt_cost_the_price_for_cached_ones() -> None:
    usage = Usage(input_tokens=1000, output_tokens=100, cached_tokens=400)
    expected = 0.0006 * 2.5 + 0.0004 * 1.25 + 0.0001 * 10
    assert price_call(GPT_4O, usage, when=NOW) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        # Anthropic's example of its usage: what is fresh, read and written makes the prompt.
        (
            "claude-sonnet-4-5-20250929",
            Usage(input_tokens=100_050, output_tokens=503, cached_tokens=100_000),
            50 * 3 + 100_000 * 0.3 + 503 * 15,
        ),
        (
            "claude-sonnet-4-5-20250929",
            Usage(input_tokens=2_500, output_tokens=400, cache_write_tokens=1_900),
            600 * 3 + 1_900 * 3.75 + 400 * 15,
        ),
        # OpenAI's: from GPT-5.6 on a write costs a quarter more, before that nothing more.
        (
            "gpt-6.1-sol",
            Usage(input_tokens=2_006, output_tokens=300, cache_write_tokens=1_920),
            86 * 2 + 1_920 * 2.5 + 300 * 10,
        ),
        (
            "gpt-4o",
            Usage(input_tokens=2_006, output_tokens=300, cache_write_tokens=1_920),
            2_006 * 2.5 + 300 * 10,
        ),
    ],
)
def test_what_a_cache_gives_or_takes_costs_its_own_price(
    model: str, usage: Usage, dollars: float
) -> None:
    tariff = Tariff(provider="anthropic" if "claude" in model else "openai", model=model)
    assert price_call(tariff, usage, when=NOW) == pytest.approx(dollars / 1e6, rel=1e-12)


def test_own_price_may_have_one_for_what_a_cache_held() -> None:
    own = TokenPrice(input_usd=4.0, output_usd=20.0, cached_usd=0.5)
    tariff = Tariff(provider="openai-compatible", model="ours", own=own)
    usage = Usage(input_tokens=1000, output_tokens=100, cached_tokens=400)
    expected = 0.0006 * 4 + 0.0004 * 0.5 + 0.0001 * 20
    assert price_call(tariff, usage, when=NOW) == pytest.approx(expected, rel=1e-12)


def test_cached_tokens_cost_the_ordinary_price_where_the_list_has_no_other() -> None:
    usage = Usage(input_tokens=1000, output_tokens=100, cached_tokens=400)
    assert price_call(TOGETHER, usage, when=NOW) == pytest.approx(0.0011 * 0.88, rel=1e-12)


def test_reasoning_is_part_of_the_output_and_charged_once() -> None:
    tariff = Tariff(provider="openai", model="gpt-5-2025-08-07")
    usage = Usage(input_tokens=1000, output_tokens=100, reasoning_tokens=60)
    assert price_call(tariff, usage, when=NOW) == pytest.approx(0.00125 + 0.001, rel=1e-12)


def test_a_very_long_prompt_costs_the_higher_tier_for_all_its_tokens() -> None:
    short = price_call(SONNET, Usage(input_tokens=200_000, output_tokens=100), when=NOW)
    long = price_call(SONNET, Usage(input_tokens=200_001, output_tokens=100), when=NOW)
    assert short == pytest.approx(0.2 * 3 + 0.0001 * 15, rel=1e-12)
    assert long == pytest.approx(0.200001 * 6 + 0.0001 * 22.5, rel=1e-12)


def test_batches_cost_half_where_the_list_says_so() -> None:
    batch = Tariff(provider=SONNET.provider, model=SONNET.model, is_batch=True)
    usage = Usage(input_tokens=1000, output_tokens=100)
    ordinary = price_call(SONNET, usage, when=NOW)
    assert ordinary == pytest.approx(0.0045, rel=1e-12)
    assert price_call(batch, usage, when=NOW) == pytest.approx(0.00225, rel=1e-12)


@pytest.mark.parametrize(
    "tariff",
    [
        Tariff(provider="openai", model="gpt-none-such"),
        Tariff(provider="no-such-provider", model="gpt-4o"),
        Tariff(provider="moonshot.local", model="kimi-k2-0711-preview"),
        OWN_SERVER,
    ],
    ids=["model", "provider", "a name like a provider's", "own server of a listed model"],
)
def test_what_is_not_on_the_list_has_no_price(tariff: Tariff) -> None:
    assert price_call(tariff, Usage(input_tokens=10, output_tokens=10), when=NOW) is None
    assert price_per_million(tariff, when=NOW) is None


def test_a_model_that_the_list_offers_for_nothing_has_no_price_until_the_study_says_so() -> None:
    free = Tariff(provider="openrouter", model="deepseek/deepseek-chat:free")
    usage = Usage(input_tokens=10, output_tokens=10)
    listed = genai_prices.calc_price(
        genai_prices.Usage(input_tokens=10, output_tokens=10), free.model, provider_id=free.provider
    )
    assert listed.total_price == 0
    assert price_call(free, usage, when=NOW) is None
    own = TokenPrice(input_usd=0.0, output_usd=0.0)
    assert price_call(Tariff(provider="local", model="tiny", own=own), usage, when=NOW) == 0.0


def test_no_model_of_the_whole_list_is_priced_at_zero() -> None:
    usage = Usage(input_tokens=100, output_tokens=50, cached_tokens=20, reasoning_tokens=10)
    prices = [
        price_call(Tariff(provider=provider.id, model=model.id), usage, when=NOW)
        for provider in get_snapshot().providers
        for model in provider.models
    ]
    known = [price for price in prices if price is not None]
    assert len(known) > 1000
    assert min(known) > 0


def test_the_study_files_own_price_wins_over_the_list() -> None:
    own = TokenPrice(input_usd=4.0, output_usd=20.0)
    tariff = Tariff(provider="openai", model="gpt-4o", own=own)
    usage = Usage(input_tokens=1000, output_tokens=100, cached_tokens=400, reasoning_tokens=10)
    assert price_call(tariff, usage, when=NOW) == pytest.approx(0.004 + 0.002, rel=1e-12)
    assert price_per_million(tariff, when=NOW) == own


@pytest.mark.parametrize(
    "usage",
    [
        Usage(input_tokens=None, output_tokens=10),
        Usage(input_tokens=10, output_tokens=None),
        Usage(input_tokens=10, output_tokens=10, cached_tokens=11),
        Usage(input_tokens=10, output_tokens=10, cached_tokens=6, cache_write_tokens=5),
        Usage(input_tokens=10, output_tokens=10, reasoning_tokens=11),
        Usage(input_tokens=-1, output_tokens=10),
        Usage(input_tokens=10, output_tokens=-1),
    ],
)
@pytest.mark.parametrize("own", [None, TokenPrice(input_usd=1.0, output_usd=1.0)])
def test_a_count_that_is_missing_or_cannot_be_has_no_price(
    usage: Usage, own: TokenPrice | None
) -> None:
    assert price_call(Tariff(provider="openai", model="gpt-4o", own=own), usage, when=NOW) is None


@pytest.mark.parametrize("usd", [-1.0, math.nan, math.inf])
def test_a_price_is_a_number_of_dollars(usd: float) -> None:
    with pytest.raises(ValueError, match="at least 0 dollars"):
        TokenPrice(input_usd=usd, output_usd=1.0)


def test_a_price_per_million_is_the_one_for_short_prompts() -> None:
    assert price_per_million(SONNET, when=NOW) == TokenPrice(input_usd=3.0, output_usd=15.0)


def test_every_published_model_with_a_route_has_a_known_price() -> None:
    for preset in load_model_presets().values():
        prices = [
            price_per_million(Tariff(provider=route.provider, model=route.model), when=NOW)
            for route in preset.routes
        ]
        assert any(prices) or not preset.routes, preset.id


def test_the_list_is_the_one_inside_the_installed_package() -> None:
    assert price_list() == f"genai-prices {genai_prices.__version__}"
    assert not get_snapshot().from_auto_update


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("word", 1), ("words", 2), ("It\N{RIGHT SINGLE QUOTATION MARK}s", 2), ("你好", 2)],
)
def test_tokens_are_a_quarter_of_ascii_and_the_whole_of_the_rest(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_a_longer_text_never_has_fewer_estimated_tokens(first: str, second: str) -> None:
    assert estimate_tokens(first + second) >= max(estimate_tokens(first), estimate_tokens(second))


def test_a_prompt_counts_its_messages_and_its_schema() -> None:
    messages = [Message(role="system", content="12345678"), Message(role="user", content="1234")]
    assert estimate_prompt_tokens(messages) == (2 + 4) + (1 + 4)
    assert estimate_prompt_tokens(messages, schema_text="12345678") == 13


def test_an_estimate_adds_up_calls_tokens_dollars_and_time() -> None:
    plan = CallPlan(output_tokens=50, max_tokens=200, max_attempts=2, seconds=2.0, concurrency=2)
    estimate = estimate_calls(GPT_4O, [1000, 1000, 2000], plan, when=NOW)
    assert (estimate.n_calls, estimate.input_tokens, estimate.output_tokens) == (3, 4000, 150)
    assert estimate.usd_low == pytest.approx(0.0040 * 2.5 + 0.00015 * 10, rel=1e-12)
    assert estimate.usd_high == pytest.approx(2 * (0.0040 * 2.5 + 0.0006 * 10), rel=1e-12)
    assert estimate.seconds == 4.0


def test_an_estimate_prices_each_prompt_in_its_own_tier() -> None:
    plan = CallPlan(output_tokens=0, max_tokens=0)
    estimate = estimate_calls(SONNET, [100_000, 300_000], plan, when=NOW)
    assert estimate.usd_low == pytest.approx(0.1 * 3 + 0.3 * 6, rel=1e-12)


def test_a_marked_beginning_is_written_by_the_first_calls_and_read_by_the_others() -> None:
    plan = CallPlan(
        output_tokens=400,
        least_tokens=200,
        most_tokens=600,
        max_tokens=4_000,
        kept_tokens=1_600,
        is_marked=True,
        concurrency=3,
    )
    found = estimate_calls(SONNET, [2_000] * 10, plan, when=NOW)
    written, read = 400 * 3 + 1_600 * 3.75, 400 * 3 + 1_600 * 0.3
    assert found.cached_tokens == 7 * 1_600
    dollars = [found.usd_low, found.usd_from, found.usd_to, found.usd_high]
    assert dollars == pytest.approx(
        [
            (3 * written + 7 * read + 10 * 400 * 15) / 1e6,
            (10 * read + 10 * 200 * 15) / 1e6,
            (10 * written + 10 * 600 * 15) / 1e6,
            (10 * written + 10 * 4_000 * 15) / 1e6,
        ],
        rel=1e-12,
    )


def test_a_cache_that_promises_nothing_is_expected_to_give_nothing() -> None:
    plan = CallPlan(output_tokens=0, max_tokens=0, kept_tokens=1_600)
    found = estimate_calls(GPT_4O, [2_000] * 10, plan, when=NOW)
    assert (found.cached_tokens, found.usd_low) == (0, found.usd_to)
    assert found.usd_low == pytest.approx(0.02 * 2.5, rel=1e-12)
    assert found.usd_from == pytest.approx(0.004 * 2.5 + 0.016 * 1.25, rel=1e-12)


def test_calls_of_an_unknown_price_make_the_whole_sum_unknown() -> None:
    plan = CallPlan(output_tokens=50, max_tokens=200)
    known = estimate_calls(GPT_4O, [100], plan, when=NOW)
    unknown = estimate_calls(OWN_SERVER, [100], plan, when=NOW)
    assert (unknown.usd_low, unknown.usd_high) == (None, None)
    both = known + unknown
    assert (both.usd_low, both.usd_high, both.n_calls, both.output_tokens) == (None, None, 2, 100)


def test_no_calls_cost_nothing() -> None:
    plan = CallPlan(output_tokens=50, max_tokens=200, seconds=1.0)
    assert estimate_calls(OWN_SERVER, [], plan, when=NOW) == Estimate(
        n_calls=0, input_tokens=0, output_tokens=0, usd_low=0.0, usd_high=0.0, seconds=0.0
    )


def test_estimates_of_the_same_prompts_in_any_order_are_equal() -> None:
    plan = CallPlan(output_tokens=50, max_tokens=200)
    prompts = [311, 17, 1999, 17, 640]
    forward = estimate_calls(GPT_4O, prompts, plan, when=NOW)
    assert estimate_calls(GPT_4O, prompts[::-1], plan, when=NOW) == forward


@pytest.mark.parametrize(
    "settings",
    [
        {"output_tokens": 201, "max_tokens": 200},
        {"output_tokens": -1, "max_tokens": 200},
        {"output_tokens": 1, "max_tokens": 200, "max_attempts": 0},
        {"output_tokens": 1, "max_tokens": 200, "concurrency": 0},
    ],
)
def test_a_plan_whose_ceiling_lies_below_what_it_expects_is_refused(
    settings: dict[str, Any],
) -> None:
    with pytest.raises(ValueError, match="expected"):
        CallPlan(**settings)


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (40, "40.00"),
        (0, "0.00"),
        (0.02, "0.02"),
        (0.5, "0.50"),
        (0.0042, "0.0042"),
        (3e-5, "0.00003"),
    ],
)
def test_no_amount_is_written_as_nothing(usd: float, words: str) -> None:
    assert money(usd) == words
