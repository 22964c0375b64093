"""``heart init --from``: a stranger joins a board, pays for their own rows, and passes it on."""

import json
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart, run_heart
from paying_server import PayingServer, paying_server
from study_files import FREE, presets, served, study_text

N_ITEMS = 4
POOL = ("one", "two", "three", "four", "original", "generic")
NEWCOMER = "five"
LEFT_OUT = "http://left-out.invalid/v1"


@pytest.fixture(scope="module")
def server() -> Iterator[PayingServer]:
    with paying_server() as serving:
        numbers = count()
        serving.reply_of = lambda told: f"I hear you. What hurts most? {next(numbers)}"
        serving.winner_of = lambda prompt: "AB"[sum(map(ord, prompt)) % 2]
        yield serving


def model(name: str, url: str, **more: Any) -> str:
    return served("system", name, f"m-{name}", url, f"of-{name}", price=FREE, **more)


def judge(url: str, name: str = "j") -> str:
    return served("judge", name, "judge-1", url, "theirs", price=FREE)


@pytest.fixture(scope="module")
def board(server: PayingServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of A's study of six systems, which is nowhere else any more."""
    folder = tmp_path_factory.mktemp("a")
    study = folder / "board.toml"
    text = study_text(
        "board",
        *(model(name, server.url) for name in POOL[:4]),
        presets(*POOL[4:]),
        judge(server.url),
        items=(N_ITEMS, 0),
        judging={"judges": ["j"], "stress_items": 2, "repeat_pairs": 4},
    )
    study.write_text(text, encoding="utf-8")
    done = run_heart("run", study)
    assert done.code == 0, done.err
    done = run_heart("release", study, folder / "out")
    assert done.code == 0, done.err
    return shutil.copytree(folder / "out", tmp_path_factory.mktemp("b") / "board")


def join(heart: Heart, board: Path, folder: Path, url: str, **changes: str) -> Path:
    """Do what the study file says: add a system, and say where the judge is."""
    done = heart("init", folder, "--from", board, "--json")
    assert done.code == 0, done.err
    study = Path(done.json["path"])
    text = study.read_text(encoding="utf-8")
    head, found, tail = text.partition("[[judge]]")
    text = head + model(NEWCOMER, url, mine=True) + found + tail.replace(LEFT_OUT, url)
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    study.write_text(text, encoding="utf-8")
    return study


def test_three_strangers_and_a_board(
    heart: Heart, board: Path, server: PayingServer, tmp_path: Path
) -> None:
    # B checks the folder, and adds a system of their own.
    assert heart("verify", board).code == 0
    study = join(heart, board, tmp_path / "b", server.url)
    planned = heart("run", study, "--dry-run", "--json").json["ceiling"]
    n_pairs = N_ITEMS * len(POOL)
    assert planned["max_completions"] == N_ITEMS
    assert planned["max_judgments"] == 2 * n_pairs
    server.calls.clear()
    server.prompts.clear()
    done = heart("run", study, "--yes", "--json")
    assert done.code == 0, done.err
    # Only the newcomer was asked, and the judge about it alone: what was there is not paid again.
    n_probe = 1
    assert server.calls == {f"m-{NEWCOMER}": N_ITEMS, "judge-1": 2 * n_pairs + n_probe}
    assert done.json["completions"]["n_added"] == N_ITEMS
    assert {one["system"] for one in done.json["leaderboard"]} == {*POOL, NEWCOMER}
    server.calls.clear()
    assert heart("run", study, "--yes").code == 0
    assert heart("judge", study, "--yes").code == 0
    assert not server.calls
    # B releases the grown board: old rows stand first, byte for byte.
    grown = tmp_path / "grown"
    done = heart("release", study, grown, "--add", board, "--json")
    assert done.code == 0, done.err
    assert done.json["previous"] == json.loads((board / "manifest.json").read_text())["id"]
    for old in (board / "records").iterdir():
        new = (grown / "records" / old.name).read_bytes()
        assert new.startswith(old.read_bytes())
    # C verifies that, changes one vote, and is told which.
    alone = shutil.copytree(grown, tmp_path / "c")
    assert heart("verify", alone).code == 0
    path = alone / "records" / "judgment.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    row = json.loads(lines[-1])
    row["choice"] = {"first": "second", "second": "first"}[row["choice"]]
    lines[-1] = json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n"
    path.write_text("".join(lines), encoding="utf-8")
    done = heart("verify", alone, "--json")
    assert done.code == 1
    assert f"judgment {row['id']}" in {one["where"] for one in done.json["faults"]}
