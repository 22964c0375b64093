"""The presets as data: what every route must say, and what none may hold."""

import dataclasses
import re
from datetime import date

import pytest
from each_of import each_of

from hearteval.models.base import Sampling
from hearteval.models.presets import (
    Route,
    end_words,
    is_known_to_think,
    load_inspect_providers,
    load_judge_presets,
    load_model_presets,
    price_provider,
)

PUBLISHED_MODELS = {  # HEART (arXiv 2601.19922), Figure 4; families as in SPEC section 1
    "GPT-5": "gpt",
    "Polaris 4.0": "polaris",
    "GPT-o3": "gpt",
    "Claude 4.5 Haiku": "claude",
    "Kimi K2": "kimi",
    "Claude 4.5 Sonnet": "claude",
    "GPT-4.1 Mini": "gpt",
    "Claude 3.7 Sonnet": "claude",
    "Claude 4 Opus": "claude",
    "GPT-4o": "gpt",
    "Gemini 2.5 Pro": "gemini",
    "Gemini 3 Pro Preview": "gemini",
    "Llama 4 Maverick": "llama",
    "Gemini 2.5 Flash": "gemini",
    "Llama 3.1 405B": "llama",
    "Llama 3.1 70B": "llama",
}
ROUTES = [route for preset in load_model_presets().values() for route in preset.routes]
LONGEST_PLAIN_WORD = 24


def name(route: Route) -> str:
    return f"{route.model} at {route.provider}"


def all_text(value: object) -> list[str]:
    """Every string in a record, at any depth."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in all_text(part)]
    if isinstance(value, frozenset | list | tuple):
        return [text for part in value for text in all_text(part)]
    return []


def test_the_models_are_those_of_the_published_table() -> None:
    published = [preset for preset in load_model_presets().values() if preset.published]
    assert {preset.name: preset.family for preset in published} == PUBLISHED_MODELS
    assert len(published) == 16


def test_a_preset_is_found_under_its_own_id() -> None:
    assert {key: preset.id for key, preset in load_model_presets().items()} == {
        key: key for key in load_model_presets()
    }


@pytest.mark.parametrize("route", ROUTES)
def test_what_is_marked_to_be_kept_has_a_known_least_length(route: Route) -> None:
    assert route.cache_mark is None or route.cache_from in {1024, 4096}


def test_models_that_think_are_known_by_their_ids_at_any_provider() -> None:
    think = ["openai/o3", "gpt-5-2025-08-07", "google/gemini-2.5-flash", "claude-sonnet-5-5"]
    assert all(map(is_known_to_think, think))
    plain = ["gpt-4o", "claude-sonnet-4-5-20250929", "openai/gpt-4.1-mini", "our-model", "o365"]
    assert not any(map(is_known_to_think, plain))


def test_preset_thinks_as_its_routes_ask_it_to() -> None:
    presets = load_model_presets()
    assert {id_ for id_, one in presets.items() if one.thinks} == {
        *("gpt-5", "gpt-o3", "gemini-2.5-pro", "gemini-3-pro-preview"),
        *("gpt-6.1-sol", "claude-5.5-sonnet", "gemini-3.8-flash"),
    }
    off = [route.extra_body for route in presets["gemini-2.5-flash"].routes]
    assert {"reasoning_effort": "none"} in off


def test_all_but_polaris_can_be_reached_through_openrouter() -> None:
    missing = [
        preset.id
        for preset in load_model_presets().values()
        if "openrouter" not in [route.provider for route in preset.routes]
    ]
    assert missing == ["polaris-4.0"]
    assert load_model_presets()["polaris-4.0"].routes == ()


def test_no_preset_has_two_routes_at_one_provider() -> None:
    for preset in load_model_presets().values():
        providers = [route.provider for route in preset.routes]
        assert len(set(providers)) == len(providers)


def test_no_model_of_a_provider_is_two_presets() -> None:
    ids = [(route.provider, route.model) for route in ROUTES]
    assert len(set(ids)) == len(ids)


@each_of(ROUTES, name)
def test_an_address_is_https_and_holds_no_user_query_or_trailing_slash(route: Route) -> None:
    assert re.fullmatch(r"https://[a-z0-9.-]+(/[a-z0-9]+)*", route.base_url)


@each_of(ROUTES, name)
def test_a_route_names_its_key_and_holds_none(route: Route) -> None:
    assert re.fullmatch(r"[A-Z]+_API_KEY|AWS_BEARER_TOKEN_BEDROCK", route.key_name or "")
    values = [getattr(route, field.name) for field in dataclasses.fields(route)]
    words = [word for text in all_text(values) for word in re.split(r"[^A-Za-z0-9]", text)]
    assert len(words) > 5
    assert max(map(len, words)) < LONGEST_PLAIN_WORD
    assert not {"sk", "Bearer", "AIza"} & set(words)


@each_of(ROUTES, name)
def test_refusals_are_settings_that_can_be_sent(route: Route) -> None:
    settings = {field.name for field in dataclasses.fields(Sampling)} - {"refuses"}
    assert route.refuses <= settings


@each_of(ROUTES, name)
def test_a_schema_is_sent_unless_it_is_known_to_be_ignored(route: Route) -> None:
    assert ("schema" in route.refuses) == (route.strict_schema is False)


@each_of(ROUTES, name)
def test_extra_keys_are_no_settings_that_have_a_place_of_their_own(route: Route) -> None:
    settings = {field.name for field in dataclasses.fields(Sampling)}
    assert not settings & set(route.extra_body)
    assert not {"model", "messages", "stream", "response_format"} & set(route.extra_body)


def test_prices_are_listed_under_who_serves_a_model() -> None:
    providers = {route.provider for route in ROUTES}
    assert {price_provider(provider) for provider in providers} == {
        "openrouter", "openai", "anthropic", "google", "moonshotai", "together", "aws",
    }  # fmt: skip


def test_a_provider_of_inspect_has_an_address_and_a_key_for_models_of_ones_own() -> None:
    providers = load_inspect_providers()
    assert list(providers) == ["openai", "anthropic", "google", "bedrock"]
    assert providers["anthropic"].key_name == "ANTHROPIC_API_KEY"
    assert providers["anthropic"].base_url == "https://api.anthropic.com"


@each_of(ROUTES, name)
def test_a_route_says_what_it_rests_on_and_that_nobody_has_called_it(route: Route) -> None:
    assert len(route.source) > 10
    assert route.verified is False


@each_of(ROUTES, name)
def test_contexts_hold_a_dialogue_where_they_are_known(route: Route) -> None:
    assert route.context is None or route.context >= 100_000


@pytest.mark.parametrize("preset_id", ["gpt-5", "gpt-o3"])
def test_reasoning_models_of_openai_refuse_temperature_on_every_route(preset_id: str) -> None:
    for route in load_model_presets()[preset_id].routes:
        assert route.refuses - {"seed"} == {"temperature", "top_p"}


def test_openai_itself_is_sent_the_name_that_its_reasoning_models_take() -> None:
    limits = {
        route.provider: route.max_tokens_key
        for preset in load_model_presets().values()
        for route in preset.routes
    }
    assert limits["openai"] == "max_completion_tokens"
    assert limits["openrouter"] == "max_tokens"


def test_the_router_may_not_drop_settings_without_a_word() -> None:
    for preset in load_model_presets().values():
        for route in preset.routes:
            if route.provider == "openrouter":
                assert route.extra_body["provider"] == {"require_parameters": True}


def test_keys_of_a_route_come_on_top_of_those_of_its_provider() -> None:
    route = load_model_presets()["gpt-5"].routes[0]
    assert route.extra_body == {
        "provider": {"require_parameters": True},
        "reasoning": {"effort": "minimal"},
    }


def test_an_end_of_service_is_a_day() -> None:
    (_, route) = load_model_presets()["claude-4-opus"].routes
    assert route.retires == date(2026, 6, 15)


def test_presets_cannot_be_changed_by_those_who_read_them() -> None:
    with pytest.raises(TypeError):
        load_model_presets()["mine"] = load_model_presets()["gpt-5"]  # type: ignore[index]


def test_there_is_a_judge_of_each_of_three_families_and_the_offline_baseline() -> None:
    judges = load_judge_presets()
    families = ["gpt", "claude", "gemini"]
    assert list(judges) == [*families, *(f"paper-{family}" for family in families), "cue"]
    assert [judge.name for judge in judges.values()] == list(judges)
    assert [judge.family for judge in judges.values()] == [*families, *families, "cue"]
    assert [judge.is_baseline for judge in judges.values()] == [False] * 6 + [True]


def test_default_judges_are_models_of_which_no_end_is_known_and_the_paper_s_are_kept() -> None:
    judges = load_judge_presets()
    for name in ("gpt", "claude", "gemini"):
        model, published = judges[name].model, judges[f"paper-{name}"].model
        assert model is not None
        assert published is not None
        assert (model.published, published.published) == (False, True)
        assert not any(route.retires or route.verified for route in model.routes)
        assert any(route.retires for route in published.routes)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (date(2026, 11, 21), "ended 2026-11-21"),
        (date(2026, 11, 22), "ended 2026-11-22"),
        (date(2026, 11, 30), "ends 2026-11-30, in 8 days"),
        (date(2027, 1, 22), ""),
        (None, ""),
    ],
)
def test_an_end_is_said_where_it_is_past_or_near(end: date | None, words: str) -> None:
    assert end_words(end, today=date(2026, 11, 22)) == words


def test_a_judge_asks_a_model_of_its_own_family_that_is_held_to_the_schema() -> None:
    for judge in load_judge_presets().values():
        if judge.model is not None:
            assert judge.model.family == judge.family
            assert judge.model.routes[0].strict_schema is not False
