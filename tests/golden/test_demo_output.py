"""The demo's terminal output at 80 columns, word for word; look at it before you change it."""

import shutil
from pathlib import Path

import pytest
from heart_command import FirstStudy, Heart

GOLDEN = Path(__file__).parent / "demo-80-columns.txt"


def test_the_demo_prints_what_the_golden_file_shows(
    heart: Heart, first_study: FirstStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert first_study.out == GOLDEN.read_text(encoding="utf-8")
    assert max(map(len, first_study.out.splitlines())) <= 80
    shutil.copytree(first_study.folder, tmp_path / "my-study")
    monkeypatch.chdir(tmp_path)
    for columns in (60, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        again = heart("analyze", "my-study")
        assert max(map(len, again.out.splitlines())) <= min(columns, 80)
        assert again.out.split()[:12] == first_study.out.split()[:12]
