"""The paper's design: judges mark axes, people on five points do not; every axis cell is there."""

import csv
import re
from pathlib import Path

import pytest
from heart_command import Heart

from hearteval.cli.main import run_command_line
from hearteval.domain import AXES

# 18 models and the people who write; fewer pairs than a study would have, for time.
DESIGN = ("systems=18", "judges=3", "people=5", "comparisons=700", "seed=5")
N_SYSTEMS = 19


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("papers") / "design"
    run_command_line(["simulate", str(made), *(f"--set={key}" for key in DESIGN)])
    return made


def test_the_terminal_has_every_share(heart: Heart, folder: Path) -> None:
    done = heart("analyze", folder / "design.toml")
    assert done.code == 0, done.err
    said = done.out
    rows = re.findall(r"^\d+\S*\s+(?:system-\w|simulated people) .*$", said, re.MULTILINE)
    assert len(rows) == N_SYSTEMS
    for row in rows:
        assert re.search(r"\d+(?:\s+\d+){5}$", row), row
    told = " ".join(said.split())
    assert "Axes marked by the judges judge-a, judge-b and judge-c; people were not asked" in told


def test_the_page_and_the_file_have_every_share(heart: Heart, folder: Path) -> None:
    assert heart("report", folder / "design.toml").code == 0
    page = (folder / "design.report.html").read_text(encoding="utf-8")
    shares = re.findall(r'<td class="ax (\w+)"><details name="mark"><summary>([^<]*)<', page)
    assert len(shares) == N_SYSTEMS * (1 + len(AXES))  # of all comparisons, and on each axis
    assert [one for one in shares if one[0] == "few" or not one[1].isdigit()] == []
    assert "others no difference was marked" not in page
    assert "people were not asked" in page
    assert "people marked H" not in page
    with (folder / "design.leaderboard.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == N_SYSTEMS
    for row in rows:
        for axis in AXES:
            assert all(row[f"{axis}_{field}"] for field in ("win_rate", "elo", "low", "high"))
            assert row[f"{axis}_n_comparisons"] == row[f"{axis}_n_asked"]
