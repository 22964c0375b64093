"""Kept files: used only by the software that wrote them, for the same key, and undamaged."""

from pathlib import Path

import pytest

import hearteval.study.kept as kept_module
from hearteval.config import load_study
from hearteval.study.kept import KeptFile

BODY = {"items": [["a", 1, "caf\u0065\u0301 \ud800"]], "n": 2.5}


def kept_file(folder: Path, *, is_written: bool = True) -> KeptFile:
    study = folder / "made.toml"
    if not study.exists():
        study.write_text(
            '[study]\nname = "made"\nseed = 1\n[items]\nsource = "starter"\nregular = 2\n'
            '[[system]]\npreset = "original"\n[[system]]\npreset = "generic"\n'
            '[judging]\njudges = ["cue"]\ndesign = "full"\n',
            "utf-8",
        )
    return KeptFile(load_study(study), "items", is_written=is_written)


def test_what_is_kept_comes_back_and_under_its_key_alone(tmp_path: Path) -> None:
    kept_file(tmp_path).write("one", BODY)
    assert kept_file(tmp_path).read("one") == BODY
    assert kept_file(tmp_path).read("other") is None
    assert [path.name for path in (tmp_path / "made.cache").iterdir()] == ["items.json"]


def test_what_other_software_kept_counts_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_file(tmp_path).write("one", BODY)
    monkeypatch.setattr(kept_module, "_software_hash", lambda: "other")
    assert kept_file(tmp_path).read("one") is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("2.5", "2.6"),
        lambda text: text[:-5],
        lambda text: text.replace("heart.kept/1", "heart.kept/0"),
        lambda _text: "",
        lambda _text: "[]\n[]\n",
        lambda _text: "[" * 100_000 + "\n1\n",
    ],
)
def test_a_damaged_file_counts_as_none(tmp_path: Path, damage: object) -> None:
    kept_file(tmp_path).write("one", BODY)
    path = tmp_path / "made.cache" / "items.json"
    path.write_text(damage(path.read_text("utf-8")), "utf-8")  # type: ignore[operator]
    assert kept_file(tmp_path).read("one") is None


def test_nothing_is_kept_where_nothing_may_be_or_can_be(tmp_path: Path) -> None:
    kept_file(tmp_path, is_written=False).write("one", BODY)
    assert not (tmp_path / "made.cache").exists()
    (tmp_path / "made.cache").write_text("a file in the place of the folder", "utf-8")
    kept_file(tmp_path).write("one", BODY)
    assert kept_file(tmp_path).read("one") is None
