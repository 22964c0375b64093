"""A file is written whole, and what a killed process left beside it goes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from heart_command import Heart

from hearteval.exchange.records.writing import DRAFTS
from hearteval.study import write_whole
from hearteval.study.report.folders import START


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that has ended."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def draft(path: Path, process: int, *, seconds: float) -> Path:
    left = path.with_name(f".{path.name}.{process}")
    left.write_text("half of it", encoding="utf-8")
    at = left.stat().st_mtime - seconds
    os.utime(left, (at, at))
    return left


def test_the_draft_of_a_killed_process_is_removed(tmp_path: Path, dead: int) -> None:
    path = tmp_path / "[x].report.html"
    left = draft(path, dead, seconds=3_600)
    others = [
        draft(path, os.getppid(), seconds=3_600),
        draft(path, dead + 1_000_000_000, seconds=1),
        draft(tmp_path / "y.html", dead, seconds=3_600),
        path.with_name(f".{path.name}.old"),
    ]
    others[-1].touch()
    write_whole(path, "all of it")
    assert path.read_text(encoding="utf-8") == "all of it"
    assert not left.exists()
    assert all(other.exists() for other in others)


def left_folder(folder: Path, name: str) -> Path:
    left = folder / name
    left.mkdir(parents=True)
    (left / "half.csv").write_text("half of it", encoding="utf-8")
    at = left.stat().st_mtime - 3_600
    os.utime(left, (at, at))
    return left


def test_the_folders_of_killed_processes_are_removed(
    heart: Heart, study: Path, tmp_path: Path, dead: int
) -> None:
    heart("run", study)
    pages, tables, logs = (tmp_path / "out" / name for name in ("pages", "tables", "logs"))
    left = [
        left_folder(pages.parent, f"{START}{dead}"),
        left_folder(pages.parent, f"{START}{dead}.old"),
        left_folder(tables, f"{DRAFTS}{dead}-q1_x"),
        left_folder(logs, f"{DRAFTS}{dead}-q1_x"),
    ]
    living = left_folder(tables, f"{DRAFTS}{os.getppid()}-q1_x")
    done = [
        heart("report", study, "--full", pages),
        heart("export", study, "--to", "csv", "--out", tables),
        heart("export", study, "--to", "inspect", "--out", logs),
    ]
    assert [one.code for one in done] == [0, 0, 0]
    assert not [folder for folder in left if folder.exists()]
    assert living.exists()
