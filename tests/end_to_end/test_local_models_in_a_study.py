"""A study whose systems and judges are the tiny local model: everything there, or missing by name.

The model is far too small to judge anything; what it says is as odd as replies get.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from study_files import entry, presets, study_text
from tiny_model import TINY_MODEL

from hearteval.config import load_study
from hearteval.domain import (
    AXES,
    Assignment,
    Attempt,
    Completion,
    Item,
    Judgment,
    Pair,
    Rater,
    Study,
    System,
)
from hearteval.store.sql import SqlStore
from hearteval.study.asking import opening

pytestmark = pytest.mark.server

LOCAL = f"local:{TINY_MODEL}"
JUDGE = {"model": LOCAL, "max_tokens": 2500, "concurrency": 2}
STUDY = study_text(
    "tiny",
    presets("original", "generic"),
    entry("system", name="short", model=LOCAL, family="small", max_tokens=60),
    entry("system", name="cut", model=LOCAL, family="smaller", max_tokens=4),
    entry("judge", name="outsider", family="outside", **JUDGE),
    entry("judge", name="relative", family="small", **JUDGE),
    items=(1, 1),
    study={"seed": 2},
    judging={"judges": ["outsider", "relative"]},
)


def latest(store: SqlStore) -> Study:
    (study,) = store.iter(Study)
    return study


def assert_completions_are_there_or_missing(store: SqlStore, counted: Any) -> None:
    study = latest(store)
    asked = {s.id for s in store.iter(System, study) if s.kind == "model"}
    items = {item.id for item in store.iter(Item, study)}
    given = {(c.system_id, c.item_id) for c in store.iter(Completion, study)}
    tried = {(a.system_id, a.item_id): a for a in store.iter(Attempt, study) if a.system_id}
    wanted = {(system, item) for system in asked for item in items}
    missing = wanted - given
    assert missing <= set(tried)
    assert Counter(tried[place].reason for place in missing) == {
        reason: n for reason, n in counted["missing"].items() if reason != "no-reference"
    }
    assert counted["missing"]["cut-off"] == len(items)
    assert wanted & given


def assert_completions_say_how_they_were_made(store: SqlStore) -> None:
    study = latest(store)
    (short,) = [s.id for s in store.iter(System, study) if s.name == "short"]
    for one in store.iter(Completion, study):
        if one.system_id != short:
            continue
        assert one.call.requested == {"temperature": 0.0, "top_p": 1.0, "max_tokens": 60}
        assert one.call.requested.items() <= one.call.effective.items()
        assert one.call.finish_reason == "stop"
        assert one.call.usage["output_tokens"] <= 60
        assert one.first_token_ms is not None
        assert one.total_ms is not None
        assert one.first_token_ms <= one.total_ms
        assert one.call.cost == 0.0


def assert_judgments_are_there_or_missing(store: SqlStore, found: Any) -> None:
    study = latest(store)
    assigned = {a.id for a in store.iter(Assignment, study)}
    given = {j.assignment_id for j in store.iter(Judgment, study)}
    tried = {a.assignment_id: a for a in store.iter(Attempt, study) if a.assignment_id}
    assert given <= assigned
    assert assigned - given <= set(tried)
    assert sum(found["missing"].values()) == len(assigned - given)
    assert found["n_before"] + found["n_added"] == len(given) > 0


def assert_judgments_are_what_the_schema_allows(store: SqlStore) -> None:
    for one in store.iter(Judgment, latest(store)):
        marks = json.loads(one.raw)
        assert set(one.axes) == set(AXES)
        assert {"first": "A", "second": "B"}[one.choice] == marks["overall"]["winner"]
        assert one.strength == marks["overall"]["strength"]
        assert one.rationale == marks["overall"]["reason"]
        assert one.call.requested["schema"] == one.call.effective["schema"] == "heart_judgment"
        assert one.seconds is not None


def assert_no_judge_decides_on_its_own_family(store: SqlStore) -> None:
    study = latest(store)
    families = {s.id: s.family for s in store.iter(System, study)}
    judges = {r.id: r.family for r in store.iter(Rater, study)}
    systems = {c.id: c.system_id for c in store.iter(Completion, study)}
    pairs = {p.id: p for p in store.iter(Pair, study)}
    seen = {
        (judges[a.rater_id], families[systems[completion]])
        for a in store.iter(Assignment, study)
        for completion in pairs[a.pair_id].completion_ids
    }
    assert ("outside", "small") in seen
    assert ("small", "baseline") in seen
    assert ("small", "small") not in seen


def refuse_to_start(*_words: object) -> None:
    raise AssertionError("a model was started for nothing")


def test_tiny_models_complete_and_judge_and_a_second_run_starts_none(
    one_thread: None, heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(STUDY, encoding="utf-8")

    done = heart("run", path, "--json")

    assert done.code == 1, done.err  # four tokens are no reply
    assert "cut" in {failure["name"] for failure in done.json["failures"]}
    first = "One model under two names: tiny answers as the judge outsider and as the system short."
    assert done.json["warnings"][0].startswith(first)
    store = SqlStore.open(load_study(path).store)
    assert_completions_are_there_or_missing(store, done.json["completions"])
    assert_completions_say_how_they_were_made(store)
    assert_judgments_are_there_or_missing(store, done.json["judgments"])
    assert_judgments_are_what_the_schema_allows(store)
    assert_no_judge_decides_on_its_own_family(store)
    store.close()
    monkeypatch.setattr(opening, "run_local_model", refuse_to_start)
    again = heart("run", path, "--json")
    assert again.code == 1
    assert again.json["failures"] == done.json["failures"]
    for step in ("completions", "judgments"):
        assert again.json[step]["missing"] == done.json[step]["missing"]
    assert again.json["leaderboard"] == done.json["leaderboard"]
