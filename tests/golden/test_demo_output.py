"""The demo's terminal output at 80 columns, word for word; look at it before you change it."""

from pathlib import Path

import pytest
from heart_command import Heart

GOLDEN = Path(__file__).parent / "demo-80-columns.txt"


def test_the_demo_prints_what_the_golden_file_shows(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert heart("init", "demo").code == 0
    done = heart("run", "demo/demo.toml")
    assert done.code == 0
    assert done.out == GOLDEN.read_text(encoding="utf-8")
    assert max(map(len, done.out.splitlines())) <= 80
    for columns in (60, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        again = heart("analyze", "demo/demo.toml")
        assert max(map(len, again.out.splitlines())) <= min(columns, 80)
        assert again.out.split()[:12] == done.out.split()[:12]
