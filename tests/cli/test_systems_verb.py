"""``heart systems`` and ``heart judges list``: what they print."""

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner

from hearteval.cli import systems
from hearteval.cli.study import judges
from hearteval.completions.baselines import BASELINES

PUBLISHED = {  # HEART (arXiv 2601.19922), Figure 4
    "GPT-5": "gpt",
    "Polaris 4.0": "polaris",
    "GPT-o3": "gpt",
    "Claude 4.5 Haiku": "claude",
    "Kimi K2": "kimi",
    "Claude 4.5 Sonnet": "claude",
    "GPT-4.1 Mini": "gpt",
    "Claude 3.7 Sonnet": "claude",
    "Best Human": "human",
    "Claude 4 Opus": "claude",
    "GPT-4o": "gpt",
    "Gemini 2.5 Pro": "gemini",
    "Gemini 3 Pro Preview": "gemini",
    "Llama 4 Maverick": "llama",
    "Gemini 2.5 Flash": "gemini",
    "Llama 3.1 405B": "llama",
    "Llama 3.1 70B": "llama",
    "Original Dataset Completions": "original",
}


def printed(command: Any, *words: str) -> str:
    done = CliRunner().invoke(command, list(words), catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


@pytest.fixture(scope="module")
def listed() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(printed(systems.command, "--json"))
    return document


def test_json_has_the_eighteen_published_rows_with_their_families(listed: dict[str, Any]) -> None:
    assert listed["schema"] == "heart.systems/1"
    published = {row["name"]: row["family"] for row in listed["systems"] if row["published"]}
    assert published == PUBLISHED


def test_the_eighteen_published_rows_come_first_and_the_table_says_so(
    listed: dict[str, Any],
) -> None:
    marks = [row["published"] for row in listed["systems"]]
    assert marks == sorted(marks, reverse=True)
    closing = " ".join(printed(systems.command).split())
    assert "the first 18 are the rows of the paper's table" in closing


def test_the_other_systems_are_the_baselines_and_living_models(listed: dict[str, Any]) -> None:
    others = [row for row in listed["systems"] if not row["published"]]
    baselines = [row for row in others if row["kind"] == "baseline"]
    assert [row["preset"] for row in baselines] == [n for n in BASELINES if n != "original"]
    living = [row["preset"] for row in others if row["kind"] == "model"]
    assert living == [
        *("gpt-6.1-sol", "gpt-6.1-terra", "claude-5.5-opus", "claude-5.5-sonnet"),
        *("claude-5.5-haiku", "gemini-4-argon", "gemini-3.8-flash", "kimi-k3.1-pro"),
        "muse-spark-1.3",
    ]
    prices = [route["price"] for row in others for route in row["routes"]]
    assert len(prices) >= len(living)
    assert None not in prices


def test_kinds_are_those_of_system_records(listed: dict[str, Any]) -> None:
    kinds = {row["preset"]: row["kind"] for row in listed["systems"]}
    assert (kinds["gpt-5"], kinds["best_human"], kinds["original"]) == (
        "model",
        "human",
        "original",
    )
    assert len(kinds) == len(listed["systems"])


def test_a_route_says_where_what_it_refuses_its_context_and_price(listed: dict[str, Any]) -> None:
    (row,) = [row for row in listed["systems"] if row["preset"] == "gpt-5"]
    native = row["routes"][1]
    assert native["provider"] == "openai"
    assert native["model"] == "gpt-5-2025-08-07"
    assert native["refuses"] == ["temperature", "top_p"]
    assert native["context"] == 400_000
    assert native["verified"] is False
    assert native["retires"] == "2026-12-11"
    assert native["price"] == {"input_usd": 1.25, "output_usd": 10.0}


def test_an_unknown_price_is_null_and_never_zero(listed: dict[str, Any]) -> None:
    prices = [route["price"] for row in listed["systems"] for route in row["routes"]]
    assert None in prices
    assert all(price["input_usd"] > 0 and price["output_usd"] > 0 for price in prices if price)


def test_what_cannot_be_called_has_no_routes_and_says_why(listed: dict[str, Any]) -> None:
    rows = {row["preset"]: row for row in listed["systems"]}
    assert rows["polaris-4.0"]["routes"] == rows["best_human"]["routes"] == []
    assert "base_url" in rows["polaris-4.0"]["note"]
    assert "analysis" in rows["best_human"]["note"]


@pytest.mark.parametrize(("command", "words"), [(systems.command, ()), (judges.command, ("list",))])
def test_the_table_fits_a_terminal_and_aligns_prices(command: Any, words: tuple[str, ...]) -> None:
    lines = printed(command, *words).splitlines()
    assert max(map(len, lines)) <= 80
    routes = [line for line in lines if line.startswith(("  openrouter", "  openai"))]
    ends = {match.end() for line in routes if (match := re.search(r"\d+\.\d\d +\d+\.\d\d", line))}
    assert len(ends) == 1


def test_the_table_names_whole_model_ids_refusals_and_ends() -> None:
    lines = printed(systems.command).splitlines()
    at = lines.index("gpt-5: GPT-5, family gpt")
    assert lines[at + 2].split() == [
        *("openai", "--J", "1.25", "10.00", "gpt-5-2025-08-07,", "until", "2026-12-11")
    ]
    assert any("meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8" in line for line in lines)
    assert "shuffled: family baseline, needs no key" in lines


def test_the_table_marks_what_is_unknown() -> None:
    lines = printed(systems.command).splitlines()
    (line,) = [line for line in lines if "google/gemini-3-pro-preview" in line]
    assert line.split()[1:4] == ["TPJ", "?", "?"]
    (line,) = [line for line in lines if "moonshotai/kimi-k2" in line]
    assert line.split()[1] == "TP?"


def test_judges_are_three_families_and_the_offline_baseline() -> None:
    document = json.loads(printed(judges.command, "list", "--json"))
    assert document["schema"] == "heart.judges/1"
    rows = document["judges"]
    *models, cue = rows
    names = ["gpt", "claude", "gemini", "paper-gpt", "paper-claude", "paper-gemini"]
    assert [row["name"] for row in models] == names
    assert [row["is_baseline"] for row in rows] == [False] * 6 + [True]
    assert {row["kind"] for row in rows} == {"llm"}
    assert all(row["routes"] for row in models)
    assert cue["routes"] == []
    assert (cue["name"], cue["model"]) == ("cue", None)


def test_models_past_their_end_are_named(listed: dict[str, Any]) -> None:
    endings = {
        route["model"]: route["ending"] for row in listed["systems"] for route in row["routes"]
    }
    assert endings["claude-3-7-sonnet-20250219"] == "ended 2026-02-19"
    assert endings["claude-sonnet-5-5"] is None
    text = " ".join(printed(systems.command).split())
    assert "Past or near their end:" in text
    assert "claude-3.7-sonnet (anthropic: ended 2026-02-19)" in text


def test_the_list_of_judges_says_that_the_cue_judge_measures_nothing_about_empathy() -> None:
    text = printed(judges.command, "list")
    assert "measures nothing about empathy" in " ".join(text.split())
    assert "cue: offline baseline" in text
