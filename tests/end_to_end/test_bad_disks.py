"""A full disk and a read-only folder: one clear line, nothing half-written, and on it goes."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from heart_command import Heart
from killable_study import content, finish_here, write_study

pytestmark = pytest.mark.server


def mount(folder: Path, options: str) -> None:
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"this machine lets nobody mount a small disk: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes, too small for a whole study."""
    if sys.platform != "linux":
        pytest.skip("small disks are made with Linux's tmpfs")
    folder = tmp_path / "disk"
    folder.mkdir()
    mount(folder, "size=2m")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def resize(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


def fail(heart: Heart, study: Path) -> str:
    done = heart("run", study, "--json")
    assert (done.code in (1, 2), done.json["schema"]) == (True, "heart.error/1")
    assert done.err.count("\n") == 1, done.err
    return done.err


def test_a_full_disk_is_one_clear_line_and_the_run_goes_on_later(
    heart: Heart, small_disk: Path, tmp_path: Path
) -> None:
    reference = write_study(tmp_path / "undisturbed")
    finish_here(reference)
    study = write_study(small_disk / "study")
    assert "full" in fail(heart, study)
    assert not list(study.parent.glob("*.html"))
    resize(small_disk, "size=100m")
    finish_here(study)
    assert content(study) == content(reference)


def test_a_read_only_folder_is_one_clear_line(heart: Heart, small_disk: Path) -> None:
    study = write_study(small_disk / "study", regular=2, adversarial=1)
    resize(small_disk, "ro")
    assert "cannot be written" in fail(heart, study)
    resize(small_disk, "rw,size=100m")
    finish_here(study)


def test_a_study_on_a_read_only_disk_is_planned_and_says_what_it_cannot_write(
    heart: Heart, small_disk: Path
) -> None:
    resize(small_disk, "size=100m")
    study = write_study(small_disk / "study", regular=2, adversarial=1)
    finish_here(study)
    resize(small_disk, "ro")
    plan = heart("run", study, "--dry-run")
    report = heart("report", study)
    resize(small_disk, "rw,size=100m")

    assert (plan.code, plan.err) == (0, "")
    assert report.code == 1
    assert ".leaderboard.csv: cannot be written (Read-only file system)" in report.err


def test_a_disk_that_turns_read_only_keeps_what_was_made(heart: Heart, small_disk: Path) -> None:
    resize(small_disk, "size=100m")
    study = write_study(small_disk / "study", regular=2, adversarial=1)
    finish_here(study)
    before = content(study)
    resize(small_disk, "ro")
    fail(heart, study)
    resize(small_disk, "rw,size=100m")
    finish_here(study)
    assert content(study) == before
