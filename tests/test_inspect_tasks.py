"""The task ``hearteval/completions``: it asks what a study asks, and its log goes into a study.

``inspect eval`` runs as a user runs it, in a process of its own, against a loopback endpoint.
Inspect's ``mockllm`` is not used: it counts tokens with a table that it fetches from the network.
"""

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelName, ModelOutput, StopReason
from inspect_ai.scorer import Target
from inspect_ai.solver import TaskState
from inspect_runs import answered
from served_study import healthy, serving
from study_files import entry, presets, study_text

from hearteval.completions.prompting import known_briefs, support_messages
from hearteval.errors import SettingsError
from hearteval.inspect_tasks import completions, usable_reply
from hearteval.items import load_starter_items
from hearteval.items.files import format_items

STUDY = study_text(
    "joined",
    presets("generic", "reflective"),
    entry("system", name="ours", model="imported/openai-api/ours/our-model", family="ours"),
    items=(8, 1),
    study={"seed": 9},
)
TASK = ("hearteval/completions", "-T", "regular=8", "-T", "adversarial=1", "-T", "seed=9")
KEY = "sk-canary-0123456789"


@dataclass(frozen=True)
class Run:
    """What ``inspect eval`` sent and wrote."""

    bodies: list[dict[str, Any]]
    path: Path

    @property
    def log(self) -> EvalLog:
        return read_eval_log(self.path)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run of the task by Inspect's own command."""
    folder = tmp_path_factory.mktemp("inspect")
    hidden = ("inspect", "http_proxy", "https_proxy", "all_proxy")
    environment = {k: v for k, v in os.environ.items() if not k.lower().startswith(hidden)}
    command = [str(Path(sys.executable).with_name("inspect")), "eval", *TASK, "--display", "none"]
    with serving(healthy()) as server:
        done = subprocess.run(
            [*command, "--model", "openai-api/ours/our-model", "--log-dir", str(folder / "logs")],
            cwd=folder,
            env={
                **environment,
                "HOME": str(folder),
                "XDG_DATA_HOME": str(folder),
                "XDG_CACHE_HOME": str(folder),
                "OURS_API_KEY": KEY,
                "OURS_BASE_URL": server.url,
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (folder / "logs").glob("*.eval")
    return Run(server.bodies, path)


def dataset_ids(**arguments: Any) -> set[str]:
    return {str(sample.id) for sample in completions(**arguments).dataset}


@pytest.mark.server
def test_inspect_sends_what_a_study_sends(run: Run) -> None:
    items = {item.id: item for item in load_starter_items()}
    assert run.log.samples is not None
    wanted = {
        support_messages(items[str(sample.id)], known_briefs()["paper"])
        for sample in run.log.samples
    }
    sent = {tuple((m["role"], m["content"]) for m in body["messages"]) for body in run.bodies}
    assert sent == wanted
    assert len(sent) == 9
    settings = [{k: body[k] for k in ("temperature", "top_p", "max_tokens")} for body in run.bodies]
    assert settings == [{"temperature": 0.0, "top_p": 1.0, "max_tokens": 1024}] * 9


@pytest.mark.server
def test_its_log_says_no_more_than_that_replies_are_usable(run: Run) -> None:
    assert run.log.results is not None
    (score,) = run.log.results.scores
    assert (score.name, score.metrics["mean"].value) == ("usable_reply", 1.0)


@pytest.mark.server
def test_its_log_goes_into_a_study_that_ranks_it(run: Run, heart: Heart, tmp_path: Path) -> None:
    study = tmp_path / "joined.toml"
    study.write_text(STUDY, encoding="utf-8")
    done = heart("import", study, run.path, "--system", "ours", "--json").json
    assert (done["n_items"], done["n_stored"]) == (9, 9)
    assert (done["unusable"], done["other_prompt"], done["unknown"]) == ({}, [], [])
    assert KEY.encode() not in (tmp_path / "joined.db").read_bytes()
    ran = heart("run", study, "--json")
    assert "ours" in {row["system"] for row in ran.json["leaderboard"]}


def test_every_item_is_a_sample_with_its_labels_and_no_target() -> None:
    items = {item.id: item for item in load_starter_items()}
    for sample in completions().dataset:
        item = items.pop(str(sample.id))
        assert sample.target == ""
        assert sample.metadata is not None
        assert sample.metadata["emotion"] == item.emotion
        assert sample.metadata["profile"] == item.profile
        assert item.reference is None or item.reference not in str(sample)
    assert items == {}


def test_items_of_a_file_and_counts_are_those_of_a_study(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(format_items(load_starter_items()), encoding="utf-8")
    counts = {"regular": 3, "adversarial": 0, "seed": 4}
    ids = dataset_ids(items=str(path), **counts)
    assert len(ids) == 3
    assert ids == dataset_ids(**counts)


def test_a_folder_is_read_as_the_corpus(small_corpus: Path) -> None:
    (first, *_) = completions(items=str(small_corpus), regular=2).dataset
    assert first.metadata is not None
    assert first.metadata["source"] == "esconv"


def test_items_that_are_not_there_are_named() -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.jsonl"):
        completions(items="nowhere.jsonl")


def scored(output: ModelOutput) -> Any:
    (item, *_) = load_starter_items()
    state = TaskState(
        model=ModelName("openai/x"),
        sample_id=item.id,
        epoch=1,
        input="",
        messages=[],
        output=output,
    )
    return asyncio.run(usable_reply()(state, Target("")))


@pytest.mark.parametrize(
    ("text", "stop", "value", "reason"),
    [
        ("That is hard.", "stop", 1, "not judged here"),
        ("", "stop", 0, "empty"),
        ("That is", "max_tokens", 0, "cut-off"),
        ("That is hard.", "content_filter", 0, "refused"),
        ("word " * 200, "stop", 0, "over-long"),
    ],
)
def test_a_reply_is_usable_when_a_study_could_store_it(
    text: str, stop: StopReason, value: int, reason: str
) -> None:
    score = scored(answered(text, stop=stop))
    assert score.value == value
    assert reason in score.explanation


def test_no_reply_is_not_usable() -> None:
    assert scored(ModelOutput(model="x")).value == 0
