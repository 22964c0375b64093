"""Which models were asked and what they cost: sums, names that differ, models that end."""

import pytest

from hearteval.analysis.calls import CallSum, is_same_model, sum_spending, warn_of_models
from hearteval.domain import InFlight, Rater, System
from hearteval.notices import Kind
from hearteval.report.coverage.spending import models_table, spending_words

MADE = "2026-03-01T00:00:00+00:00"
SYSTEM = System(
    name="ours", kind="model", family="gpt", settings={"model": "gpt-5", "provider": "openai"}
)
JUDGE = Rater(
    name="theirs", kind="llm", family="x", settings={"model": "x-1", "provider": "openrouter"}
)
ORIGINAL = System(name="original", kind="original", family="original", settings={})


def call(step: str, owner: System | Rater, n: int, usd: float, **effective: object) -> CallSum:
    return CallSum(
        step=step, owner_id=owner.id, requested={}, effective=effective, n_calls=n, usd=usd
    )


def test_costs_are_summed_by_model_and_step_and_the_rest_is_said() -> None:
    calls = [
        call("completions", SYSTEM, 3, 0.3, temperature=0.0, model="gpt-5"),
        call("completions", SYSTEM, 1, 0.1, temperature=1.0, model="gpt-5"),
        call("failed tries", SYSTEM, 1, 0.05),
        call("judgments", JUDGE, 6, 1.5, temperature=0.0, model="x-1"),
    ]

    found = sum_spending([ORIGINAL, SYSTEM], [JUDGE], calls, total_usd=2.0, made=MADE)

    assert [(s.role, s.name, s.step, s.n_calls, s.usd) for s in found.steps] == [
        ("system", "ours", "completions", 4, pytest.approx(0.4)),
        ("system", "ours", "failed tries", 1, 0.05),
        ("judge", "theirs", "judgments", 6, 1.5),
    ]
    assert found.other_usd == pytest.approx(2.0 - 1.95)
    assert [use.name for use in found.models] == ["ours", "theirs"]
    assert found.models[0].settings == ('{"temperature":0.0}', '{"temperature":1.0}')
    assert (found.models[1].route, found.models[1].served_as) == ("openrouter", ("x-1",))


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("gpt-5", "gpt-5-2025-08-07"),
        ("openai/gpt-5", "gpt-5"),
        ("anthropic/claude-sonnet-4", "claude-4-sonnet-20250522"),
        ("meta-llama/llama-3.1-8b-instruct", "Llama-3.1-8B-Instruct-FP8"),
        ("gemini-2.5-flash", "gemini-2.5-flash-preview"),
    ],
)
def test_release_and_packing_make_no_other_model(asked: str, served: str) -> None:
    assert is_same_model(asked, served)


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("gpt-5", "gpt-5-mini"),
        ("gpt-4o-mini", "gpt-4o"),
        ("claude-sonnet-4", "claude-sonnet-4.5"),
        ("llama-3.1-8b-instruct", "llama-3.1-70b-instruct"),
    ],
)
def test_other_size_or_version_is_another_model(asked: str, served: str) -> None:
    assert not is_same_model(asked, served)


def test_substitution_and_end_are_warned_of() -> None:
    ended = System(
        name="old",
        kind="model",
        family="gpt",
        settings={"model": "gpt-4o", "provider": "openai", "preset": "gpt-5"},
    )
    calls = [call("completions", SYSTEM, 2, 0.1, model="gpt-5-mini")]

    found = sum_spending(
        [SYSTEM, ended], [], calls, total_usd=0.1, made="2031-01-01T00:00:00+00:00"
    )

    warned = {notice.kind: str(notice) for notice in warn_of_models(found)}
    assert "was asked for as gpt-5" in warned[Kind.OTHER_MODEL]
    assert "of gpt-5-mini" in warned[Kind.OTHER_MODEL]
    assert "ended " in warned[Kind.MODEL_ENDS]


def test_model_at_home_may_have_a_name_of_its_own() -> None:
    home = System(
        name="home", kind="model", family="x", settings={"model": "a.gguf", "provider": "local"}
    )
    calls = [call("completions", home, 1, 0.0, model="tiny")]

    assert warn_of_models(sum_spending([home], [], calls, total_usd=0.0, made=MADE)) == ()


@pytest.mark.parametrize(
    ("total", "other", "words"),
    [
        (0.0, 0.0, "All runs on the store have cost $0.00"),
        (0.0036, 0.0, "All runs on the store have cost $0.0036"),
        (2.0, 0.05, "have cost $2.00, of it $0.05 for calls that left no reply here"),
    ],
)
def test_small_sums_are_no_zero(total: float, other: float, words: str) -> None:
    calls = [call("judgments", JUDGE, 6, total - other)]
    found = sum_spending([SYSTEM], [JUDGE], calls, total_usd=total, made=MADE)
    assert words in spending_words(found)


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (
            0.5,
            "; at most $0.50 more were set aside for about 3 calls in flight when a run was killed:"
            " perhaps billed, and asked again",
        ),
        (0.0, "; about 3 calls in flight when a run was killed: perhaps asked again"),
    ],
)
def test_what_was_in_flight_is_told_beside_what_was_paid(usd: float, words: str) -> None:
    lost, calls = InFlight(usd=usd, n_calls=3, n_processes=1), [call("judgments", JUDGE, 6, 2.0)]
    found = sum_spending([SYSTEM], [JUDGE], calls, total_usd=2.0, made=MADE, in_flight=lost)
    said = spending_words(found).replace("\N{NO-BREAK SPACE}", " ")
    assert said == f"All runs on the store have cost $2.00{words}"


def test_settings_are_told_in_words() -> None:
    calls = [call("judgments", JUDGE, 6, 1.0, temperature=0.0, max_tokens=1024)]
    found = sum_spending([SYSTEM], [JUDGE], calls, total_usd=1.0, made=MADE)
    assert "max_tokens 1024, temperature 0.0" in models_table(found).text()
