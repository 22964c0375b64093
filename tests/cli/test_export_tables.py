"""``heart export --to csv|jsonl|parquet``: every kind of record as a table."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart

from hearteval.items.run import read_item_file

KINDS = ["items", "systems", "raters", "completions", "judgments"]


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of an exported table of any format, a missing cell as an empty one."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    if path.suffix == ".jsonl":
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
    parquet = pytest.importorskip("pyarrow.parquet")
    found: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return found


def as_texts(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    words = {True: "true", False: "false", None: ""}
    return [
        {k: words[v] if v is None or isinstance(v, bool) else str(v) for k, v in row.items()}
        for row in rows
    ]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_every_kind_of_record_is_a_table(heart: Heart, ran: Path, form: str) -> None:
    out = ran.parent / "out"
    done = heart("export", ran, "--to", form, "--out", out, "--json").json
    assert done["schema"] == "heart.export/1"
    assert [one["kind"] for one in done["tables"]] == KINDS
    for one in done["tables"]:
        path = Path(one["path"])
        n_lines = len(rows_of(path)) - (form == "jsonl" and one["kind"] == "items")
        assert n_lines == one["n_rows"] > 0
        assert path.stat().st_mode & 0o077 == 0
    assert done["logs"] == []


def test_all_formats_say_the_same(heart: Heart, ran: Path) -> None:
    found = {}
    for form in ("csv", "jsonl", "parquet"):
        out = ran.parent / form
        heart("export", ran, "--to", form, "--out", out)
        found[form] = [as_texts(rows_of(out / f"{kind}.{form}")) for kind in KINDS[1:]]
    assert found["csv"] == found["jsonl"] == found["parquet"]


def test_a_judgment_says_who_ran_what_and_how(heart: Heart, ran: Path) -> None:
    out = ran.parent / "out"
    heart("export", ran, "--to", "jsonl", "--out", out)
    texts = {row["completion_id"]: row for row in rows_of(out / "completions.jsonl")}
    rows = [row for row in rows_of(out / "judgments.jsonl") if not row["is_stress"]]
    assert {row["rater"] for row in rows} == {"cue"}
    for row in rows:
        assert row["winner"] == row[row["choice"]]
        assert 1 <= row["strength"] <= 5
        assert row["rationale"]
        for side in ("first", "second"):
            text = texts[row[f"{side}_completion_id"]]
            assert (text["system"], text["item_id"]) == (row[side], row["item_id"])
        assert {"H", "H_strength", "H_reason", "seconds", "repeat", "created_at"} <= row.keys()


def test_items_are_an_item_file_beside_any_table(heart: Heart, ran: Path) -> None:
    for form in ("csv", "jsonl"):
        out = ran.parent / form
        heart("export", ran, "--to", form, "--out", out)
        assert len(read_item_file(out / "items.jsonl").items) == 5


def test_the_same_again_is_fine_and_other_content_needs_force(heart: Heart, ran: Path) -> None:
    out = ran.parent / "out"
    words = ("export", ran, "--to", "csv", "--out", out)
    assert heart(*words).code == heart(*words).code == 0
    (out / "systems.csv").write_text("mine\n", encoding="utf-8")
    (out / "items.csv").unlink()
    refused = heart(*words)
    assert refused.code == 2
    assert "systems.csv: holds other content" in refused.err
    assert not (out / "items.csv").exists()
    assert heart(*words, "--force").code == 0
    assert (out / "systems.csv").read_text(encoding="utf-8").startswith("system_id,")


def test_parquet_without_its_extra_says_what_to_install(
    heart: Heart, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = heart("export", ran, "--to", "parquet", "--out", ran.parent / "out")
    assert done.code == 2
    assert "pip install 'hearteval[parquet]'" in done.err
    assert not (ran.parent / "out").exists()
