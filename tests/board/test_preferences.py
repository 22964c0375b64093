"""``heart export --to preferences``: whose choices become pairs for tuning, and which do not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from people_site import PEOPLE, World, people_world

from hearteval.domain import Assignment, Completion, Judgment, Pair
from hearteval.study.people.quality import decide_by_hand
from hearteval.study.records.preferences import CONDITIONS_FILE, Preferences, export_preferences


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path, people=PEOPLE + "practice = false\n") as made:
        yield made


def pairs_of(world: World, out: Path) -> tuple[Preferences, list[dict[str, Any]]]:
    done = export_preferences(world.desk.session, world.desk.study, out, replace=True)
    return done, [json.loads(line) for line in done.path.read_text("utf-8").splitlines()]


def test_a_row_says_what_people_chose_and_how_many(world: World, tmp_path: Path) -> None:
    raters = [world.come("judge") for _ in range(2)]
    for rater, choice in zip(raters, ("A significantly better", "A slightly better"), strict=True):
        for _ in range(3):
            rater.judge(choice)
    done, rows = pairs_of(world, tmp_path / "out")
    store, study = world.store, world.desk.study
    texts = {one.id: one.text for one in store.iter(Completion, study)}
    pairs = {one.id: one.completion_ids for one in store.iter(Pair, study)}
    asked = {one.id: one for one in store.iter(Assignment, study)}
    chosen: dict[frozenset[str], list[str]] = {}
    for one in store.iter(Judgment, study):
        of = asked[one.assignment_id]
        ends = frozenset(texts[id_] for id_ in pairs[of.pair_id])
        chosen.setdefault(ends, []).append(texts[of.first_completion_id])
    assert len(chosen) == done.n_rows + done.n_without.get("nobody is ahead", 0) > 0
    for row in rows:
        votes = chosen[frozenset((row["chosen"], row["rejected"]))]
        assert row["judged_by"] == "people"
        assert (row["n_for"], row["n_votes"]) == (votes.count(row["chosen"]), len(votes))
        assert row["n_for"] > votes.count(row["rejected"])
        assert row["prompt"][-1]["role"] == "user"
        assert row["licence"] == "Apache-2.0"
    words = (tmp_path / "out" / CONDITIONS_FILE).read_text("utf-8")
    assert "what these judges like" in words


def test_who_is_left_out_prefers_nothing(world: World, tmp_path: Path) -> None:
    one = world.come("judge")
    for _ in range(3):
        one.judge("A significantly better")
    session, study = world.desk.session, world.desk.study
    assert pairs_of(world, tmp_path / "out")[1]
    decide_by_hand(session, study, one.name, is_excluded=True, why="guessed", by="Ann")
    assert pairs_of(world, tmp_path / "out")[1] == []
    decide_by_hand(session, study, one.name, is_excluded=False, why="did not", by="Ann")
    assert pairs_of(world, tmp_path / "out")[1]


def test_what_nobody_has_released_gives_no_row(world: World, tmp_path: Path) -> None:
    writer = world.come("write")
    writer.write("Leave the harbour lights on for her tonight.")
    done, rows = pairs_of(world, tmp_path / "out")
    assert rows == []
    assert done.n_without == {}


def test_the_offline_judge_prefers_nothing(heart: Heart, ran: Path) -> None:
    done = heart("export", ran, "--to", "preferences", "--out", ran.parent / "out", "--json").json
    assert done["preferences"]["n_rows"] == 0
    assert sum(done["preferences"]["n_without"].values()) > 0
    said = heart("export", ran, "--to", "preferences", "--out", ran.parent / "out").out
    assert "only the offline judge compared them" in said


def test_nobody_prefers_anything_in_a_simulated_study(heart: Heart, tmp_path: Path) -> None:
    folder = tmp_path / "sim"
    assert heart("simulate", folder, "--set", "items=4", "--set", "adversarial=1").code == 0
    study = next(folder.glob("*.toml"))
    done = heart("export", study, "--to", "preferences", "--out", tmp_path / "out")
    assert done.code == 1
    assert "nobody prefers anything in it" in done.err
