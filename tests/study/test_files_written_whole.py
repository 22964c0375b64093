"""A file is written whole, and what a killed process left beside it goes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hearteval.study import write_whole


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
