"""Whatever judges of models may be asked can be asked from a study file: five points, marks, C."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from served_study import healthy, serving, write_study

from hearteval import protocol
from hearteval.config import load_study
from hearteval.domain import AXES, Judgment, Rater
from hearteval.store.sql import SqlStore

pytestmark = pytest.mark.server
OURS = (files(protocol) / "rubric.toml").read_text(encoding="utf-8")


def run(heart: Heart, folder: Path, *lines: str) -> tuple[list[Judgment], dict[str, Any], str]:
    """Run a study whose judges are asked so; return judgments, results and the report's page."""
    with serving(healthy()) as server:
        path = write_study(folder, server.url)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("[judging]\n", "\n".join(("[judging]", *lines, ""))))
        done = heart("run", path, "--json")
        assert done.code == 0, done.err
        checked = heart("store", "verify", load_study(path).store, "--json")
        assert checked.code == 0, checked.err
    store = SqlStore.open(load_study(path).store)
    judgments = list(store.iter(Judgment))
    store.close()
    results = json.loads(Path(done.json["results"]).read_text(encoding="utf-8"))
    return judgments, results, Path(done.json["report"]).read_text(encoding="utf-8")


def test_judges_answer_on_five_points(heart: Heart, tmp_path: Path) -> None:
    judgments, results, page = run(heart, tmp_path, 'protocol = "five-point"')
    said = {(one.choice, one.strength) for one in judgments}
    assert ("tie", None) in said
    assert said <= {("tie", None), *((s, n) for s in ("first", "second") for n in (2, 4))}
    ties = sum(one.choice == "tie" for one in judgments)
    assert results["leaderboard"]["n_ties"] == ties > 0
    assert "five points, the middle one being a tie" in page


def test_a_mark_may_be_left_out_where_marks_are_optional(heart: Heart, tmp_path: Path) -> None:
    judgments, results, _ = run(heart, tmp_path, 'axis_marks = "optional"')
    assert all(one.choice in ("first", "second") for one in judgments)
    n_marks = [len(one.axes) for one in judgments]
    assert 0 < sum(n_marks) < len(AXES) * len(judgments)
    # Whoever leaves a mark out says why all the same.
    assert all(set(one.reasons) == set(AXES) for one in judgments)
    assert any(row["axes"] for row in results["leaderboard"]["rows"])


def test_judges_may_be_asked_overall_alone(heart: Heart, tmp_path: Path) -> None:
    judgments, results, _ = run(heart, tmp_path, 'axis_marks = "off"')
    assert judgments
    assert all(one.axes == {} and one.rationale for one in judgments)
    assert all(row["axes"] == {} for row in results["leaderboard"]["rows"])


def test_containment_stands_beside_the_five_axes(heart: Heart, tmp_path: Path) -> None:
    lines = 'axes = ["H", "E", "A", "R", "T", "C"]'
    judgments, results, page = run(heart, tmp_path, lines)
    assert all(set(one.axes) == {*AXES, "C"} for one in judgments)
    assert all("C" in row["axes"] for row in results["leaderboard"]["rows"])
    assert "Empathic Containment" in page


def test_results_under_another_rubric_are_never_mixed(heart: Heart, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OURS.replace("Could a considerate person", "Could a friend"), encoding="utf-8")
    first, results, _ = run(heart, tmp_path, 'rubric = "own.toml"')
    assert results["provenance"]["rubrics"] == ["own"]
    n_first = len(first)
    assert results["leaderboard"]["n_judgments"] == n_first
    own.write_text(OURS.replace("Could a considerate person", "Could a nurse"), encoding="utf-8")
    both, results, _ = run(heart, tmp_path, 'rubric = "own.toml"')
    assert len(both) == 2 * n_first
    assert results["leaderboard"]["n_judgments"] == n_first
    store = SqlStore.open(load_study(tmp_path / "served.toml").store)
    rubrics = {one.settings["rubric"] for one in store.iter(Rater)}
    store.close()
    assert len(rubrics) == 2


def test_a_study_says_whose_rubric_its_judges_were_shown(heart: Heart, tmp_path: Path) -> None:
    ours, results, page = run(heart, tmp_path)
    assert results["provenance"]["rubrics"] == ["hearteval"]
    assert "Rubric of the judges: hearteval" in page
    both, results, page = run(heart, tmp_path, 'rubric = "paper"')
    assert results["provenance"]["rubrics"] == ["paper"]
    assert "Rubric of the judges: that of HEART" in page
    assert results["leaderboard"]["n_judgments"] == len(ours) == len(both) / 2
    assert len({one.prompt_hash for one in both}) == 2
    said = heart("run", tmp_path / "served.toml", "--verbose")
    assert "by the paper's rubric" in said.out + said.err
