"""A rubric of one's own names its axes; judges, reports, tables and figures use these names."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from paying_server import PayingServer, paying_server
from study_files import presets, served, study_text

from hearteval.config import load_study
from hearteval.errors import SettingsError
from hearteval.study.grow import study_raters

AXIS = """
[{axis}]
{name}
anchor = "Is it {axis}?"
criteria = [{{ name = "n", text = "t" }}]
seeker = "S."
high = "High {axis}."
low = "Low {axis}."
levels = ["1", "2", "3", "4", "5"]
"""
NAMES = {"H": "Clarity of Words", "E": "Warmth", "A": "共情"}


def rubric(**names: str) -> str:
    return "".join(
        AXIS.format(axis=axis, name=f'name = "{name}"' if name else "")
        for axis, name in names.items()
    )


def write(folder: Path, url: str = "http://127.0.0.1:9", *, more: str = "") -> Path:
    (folder / "mine.toml").write_text(rubric(**NAMES), encoding="utf-8")
    path = folder / "named.toml"
    text = study_text(
        "named",
        presets("generic", "reflective"),
        served("judge", "theirs", "their-judge", url, "theirs", price={"input": 1, "output": 4}),
        items=(6, 0),
        judging={"judges": ["theirs"], "rubric": "mine.toml", "axes": ["H", "E", "A"]},
        end=more,
    )
    path.write_text(text, encoding="utf-8")
    return path


def rater_of(path: Path) -> str:
    (rater,) = study_raters(load_study(path))
    return rater.id


def shown(provider: PayingServer) -> str:
    return "\n".join(provider.prompts)


def made(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "named.results.json").read_text("utf-8"))
    return found


@pytest.mark.server
@pytest.mark.parametrize("protocol", ["forced-strength", "rating"])
def test_judges_and_reports_use_the_names_of_the_rubric(
    heart: Heart, tmp_path: Path, protocol: str
) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url, more=f'protocol = "{protocol}"\n')
        done = heart("run", path, "--yes")
        heart("report", path, "--figures", tmp_path / "figures", "--full", tmp_path / "full")
        again = heart("run", path, "--yes", "--json")

    assert done.code == 0, done.err
    assert "Clarity of Words (key clarity_of_words). Is it H?" in shown(provider)
    assert "axis_a" in shown(provider)
    assert "Human Alignment" not in shown(provider)
    assert "human_alignment" not in shown(provider)
    page = (tmp_path / "named.report.html").read_text("utf-8")
    drawn = [one.read_text("utf-8") for one in (tmp_path / "figures").glob("*.svg")]
    tables = [one.read_text("utf-8") for one in (tmp_path / "named.tables").glob("*.csv")]
    assert "Clarity of Words" in page
    assert "Warmth" in page
    assert "共情" in page
    pages = [one.read_text("utf-8") for one in (tmp_path / "full").glob("*.html")]
    assert sum("Warmth" in text for text in pages) >= 2
    for text in (page, done.out, *drawn, *tables, *pages):
        for name in ("Human Alignment", "Empathic Responsiveness", "Attunement", "Resonance"):
            assert name not in text
    assert made(tmp_path)["axis_names"]["H"] == "Clarity of Words"
    given = again.json["ratings" if protocol == "rating" else "judgments"]
    assert given["n_before"] == given["n_wanted"] > 0


@pytest.mark.server
def test_reasons_come_back_under_their_axes_and_are_verified(heart: Heart, tmp_path: Path) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url)
        heart("run", path, "--yes")
        done = heart("store", "verify", path)

    assert done.code == 0, done.out + done.err
    with sqlite3.connect(tmp_path / "named.db") as store:
        ((reasons,),) = store.execute("SELECT DISTINCT reasons FROM judgments").fetchall()
    assert set(json.loads(reasons)) == {"H", "E", "A"}


def test_what_nobody_is_asked_of_a_rubric_with_names_makes_no_other_judge(tmp_path: Path) -> None:
    path = write(tmp_path)
    before = rater_of(path)
    mine = tmp_path / "mine.toml"
    mine.write_text("# A word.\n" + rubric(**NAMES, C="Hold", R="Move"), encoding="utf-8")
    assert rater_of(path) == before

    mine.write_text(rubric(**NAMES | {"E": "Kindness"}), encoding="utf-8")
    assert rater_of(path) != before


@pytest.mark.parametrize("names", [{"E": "Warmth", "A": "warmth!"}, {"E": "Overall", "A": "B"}])
def test_names_that_a_reply_cannot_tell_apart_are_refused(
    tmp_path: Path, names: dict[str, str]
) -> None:
    path = write(tmp_path)
    (tmp_path / "mine.toml").write_text(rubric(H="Clarity", **names), encoding="utf-8")

    with pytest.raises(SettingsError, match="name them apart"):
        load_study(path)


@pytest.mark.parametrize(
    ("judges", "people"),
    [
        ('protocol = "rating"\n', 'protocol = "rating"\n'),
        ("", 'protocol = "forced-strength"\naxis_marks = true\n'),
    ],
)
def test_people_are_not_asked_about_axes_that_results_would_call_otherwise(
    tmp_path: Path, judges: str, people: str
) -> None:
    with pytest.raises(SettingsError, match="names axes of its own, and people are asked"):
        load_study(write(tmp_path, more=f"{judges}[people]\n{people}"))
    load_study(write(tmp_path, more="[people]\n"))
    (tmp_path / "mine.toml").write_text(rubric(H="", E="", A=""), encoding="utf-8")
    load_study(tmp_path / "named.toml")
