"""A study made here and one built only from its exported files: the same to the last digit."""

import csv
import json
import random
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart

from hearteval.config import load_study
from hearteval.domain import (
    Assignment,
    AxisMark,
    Choice,
    Completion,
    Item,
    Judgment,
    Label,
    Pair,
    Rater,
    System,
)
from hearteval.labels.safety import label_completion, label_reasons, safety_rater
from hearteval.store.sql import SqlStore
from hearteval.study.session import study_id

NOW = datetime(2026, 11, 23, tzinfo=UTC)
GROUPS = {"w1": "peer", "w2": "crowd", "r1": "clinician", **dict.fromkeys(["r2", "r3"], "crowd")}
SHARED = """
[items]
source = "{source}"
regular = 4
adversarial = 1
[people]
writers_per_item = 2
raters_per_pair = 3
protocol = "five-point"
"""
HERE = """
[study]
name = "here"
seed = 5
[[system]]
preset = "original"
[[system]]
preset = "generic"
[[system]]
preset = "reflective"
[judging]
judges = ["cue"]
"""
THERE = """
[study]
name = "there"
seed = 5
fail_on_missing = 1
[[system]]
name = "original"
model = "imported/original"
family = "original"
[[system]]
name = "generic"
model = "imported/generic"
family = "baseline"
[[system]]
name = "reflective"
model = "imported/reflective"
family = "baseline"
[[judge]]
name = "cue elsewhere"
model = "imported/cue"
[judging]
judges = ["cue elsewhere"]
"""
IDS = {
    *("completion_id", "system_id", "judgment_id", "rater_id", "label_id"),
    *("first_completion_id", "second_completion_id"),
}
"""Columns that hold another study's ids: systems and judges that are imported are other ones."""
OTHERWISE = {
    "systems": {"settings"},
    "raters": {"settings"},
    "labels": {"created_at"},
}
"""Columns that say that they were imported, or when."""


def write_and_judge(study: Path, heart: Heart) -> None:
    """Have two people write to every item, and three judge every pair, as the pages store it."""
    settings, draw = load_study(study), random.Random(4)
    with closing(SqlStore.open(settings.store)) as store:
        stored = store.latest_study(study_id(settings))
        assert stored is not None
        store.people.take_in(stored.id, GROUPS, now=NOW)
        (people,) = (one for one in store.iter(System, stored) if one.kind == "human")
        for item in store.iter(Item, stored):
            for writer in ("w1", "w2"):
                text = f"That sounds hard, says {writer}.\nWhat was the worst of it?"
                written = Completion(
                    item_id=item.id,
                    system_id=people.id,
                    writer_id=writer,
                    text=text,
                    total_ms=1000.5,
                    created_at=NOW,
                )
                label = label_completion(written, item, people, now=NOW)
                store.add([safety_rater(), written, label])
    assert heart("judge", study).code == 0
    with closing(SqlStore.open(settings.store)) as store:
        raters = [
            Rater(name=name, kind="human", family="human", group=GROUPS[name])  # type: ignore[arg-type]
            for name in ("r1", "r2", "r3")
        ]
        stress = {one.id for one in store.iter(System) if one.kind == "stress"}
        texts = {one.id: one for one in store.iter(Completion)}
        records: list[Assignment | Judgment | Label] = []
        for pair in store.iter(Pair, stored):
            if any(texts[id_].system_id in stress for id_ in pair.completion_ids):
                continue
            for rater in raters:
                assignment = Assignment(
                    study_id=stored.id,
                    pair_id=pair.id,
                    rater_id=rater.id,
                    first_completion_id=draw.choice(pair.completion_ids),
                )
                choice: Choice = draw.choice(("first", "second", "tie"))
                judgment = Judgment(
                    assignment_id=assignment.id,
                    choice=choice,
                    strength=None if choice == "tie" else draw.choice((2, 4)),
                    axes={"H": AxisMark(draw.choice(("first", "second")), None)},
                    rationale="It sounds more like a person.",
                    seconds=draw.random(),
                    created_at=NOW,
                )
                records += [assignment, judgment, label_reasons(judgment, now=NOW)]
        store.add([*raters, *records])


@pytest.fixture
def both(heart: Heart, tmp_path: Path) -> tuple[Path, Path]:
    """A study made here, its tables in ``out``, and one that was built from them."""
    here, there = tmp_path / "here.toml", tmp_path / "there.toml"
    here.write_text(HERE + SHARED.format(source="starter"), encoding="utf-8")
    assert heart("run", here).code == 0
    write_and_judge(here, heart)
    assert heart("export", here, "--to", "csv", "--out", tmp_path / "out").code == 0
    there.write_text(THERE + SHARED.format(source="out/items.jsonl"), encoding="utf-8")
    for kind in ("raters", "completions", "judgments"):
        words = [] if kind == "completions" else ["--rater", "who"]
        path = tmp_path / "out" / f"{kind}.csv"
        rename_judge(path, tmp_path / f"{kind}.csv")
        done = heart("import", there, tmp_path / f"{kind}.csv", "--kind", kind, *words, "--json")
        assert done.code == 0, done.err
    return here, there


def rename_judge(path: Path, to: Path) -> None:
    """Call the judge as the other study does; one that is imported is another judge."""
    rows = rows_of(path)
    with to.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "who"])
        writer.writeheader()
        for row in rows:
            name = row.get("rater", "")
            writer.writerow({**row, "who": "cue elsewhere" if name == "cue" else name})


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def results_of(heart: Heart, study: Path) -> dict[str, Any]:
    heart("analyze", study)
    found: dict[str, Any] = json.loads(
        study.with_suffix(".results.json").read_text(encoding="utf-8")
    )
    return found


def plain(value: Any) -> Any:
    """Results without what names them otherwise: ids, the judge's name."""
    left_out = ("pair_id", "assignment_ids", "item_id")
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key not in left_out}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return "cue" if value == "cue elsewhere" else value


def stress_apart(row: dict[str, str]) -> dict[str, str]:
    """Texts of the stress set are made by each study, the same at another time."""
    return {**row, "created_at": ""} if row.get("kind") == "stress" else row


def without(rows: Iterable[dict[str, str]], names: set[str]) -> list[dict[str, str]]:
    return [
        {k: plain(cell) for k, cell in stress_apart(row).items() if k not in names | IDS}
        for row in rows
    ]


def test_every_figure_is_equal_to_the_last_digit(heart: Heart, both: tuple[Path, Path]) -> None:
    here, there = (plain(results_of(heart, study)) for study in both)
    for part in (
        *("leaderboard", "leaderboard_problem", "win_rates", "stress", "consistency"),
        *("bias_audit", "judge_panel", "majorities", "rank_stability", "judge_audits", "funnel"),
        "people",
    ):
        assert here[part] == there[part], part
    assert here["leaderboard"]["judged_by"] == "both"
    assert here["people"]["rankings"]


def test_exported_again_the_tables_are_the_same(heart: Heart, both: tuple[Path, Path]) -> None:
    _, there = both
    before, after = there.parent / "out", there.parent / "again"
    assert heart("export", there, "--to", "csv", "--out", after).code == 0
    assert {path.name for path in before.iterdir()} == {path.name for path in after.iterdir()}
    for path in sorted(before.glob("*.csv")):
        names = OTHERWISE.get(path.stem, set())
        found = (without(rows_of(folder / path.name), names) for folder in (before, after))
        one, other = (sorted(map(str, rows)) for rows in found)
        assert one == other, path.name
    assert (before / "items.jsonl").read_bytes() == (after / "items.jsonl").read_bytes()


def test_the_same_files_again_add_nothing(heart: Heart, both: tuple[Path, Path]) -> None:
    here, there = both
    for kind in ("raters", "completions", "judgments"):
        words = [] if kind == "completions" else ["--rater", "who"]
        done = heart(
            "import", there, there.parent / f"{kind}.csv", "--kind", kind, *words, "--json"
        )
        assert (done.json["n_added"], done.json["n_new"]) == (0, 0), kind
        path = there.parent / "out" / f"{kind}.csv"
        at_home = heart("import", here, path, "--kind", kind, "--json").json
        assert (at_home["n_added"], at_home["left_out"]) == (0, {}), kind


def test_people_who_were_imported_are_people_and_may_withdraw(
    heart: Heart, both: tuple[Path, Path]
) -> None:
    _, there = both
    out = there.parent / "again"
    heart("export", there, "--to", "csv", "--out", out)
    people = {row["rater"]: row for row in rows_of(out / "raters.csv")}
    assert {name: row["rater_group"] for name, row in people.items() if name in GROUPS} == {
        name: group for name, group in GROUPS.items() if name.startswith("r")
    }
    with closing(SqlStore.open(load_study(there).store)) as store:
        (reader,) = (one for one in store.iter(Rater) if one.family == "rules")
        about_reasons = [
            Label(
                judgment_id=one.id,
                taxonomy="rationales",
                category="sounds_natural",
                verdict="present",
                evidence="like a person",
                rater_id=reader.id,
                created_at=NOW,
            )
            for one in store.iter(Judgment)
            if one.rationale
        ]
        store.add(about_reasons)
    assert heart("people", "withdraw", there, "w1", "--yes").code == 0
    assert heart("people", "withdraw", there, "r1", "--yes").code == 0
    heart("export", there, "--to", "csv", "--out", out, "--force")
    assert {row["writer"] for row in rows_of(out / "completions.csv")} == {"", "w2"}
    of_texts = [row for row in rows_of(out / "judgments.csv") if row["first_writer"] == "w1"]
    assert of_texts
    for row in rows_of(out / "judgments.csv"):
        is_gone = "w1" in (row["first_writer"], row["second_writer"]) or row["rater"] == "r1"
        assert bool(row["rationale"]) != is_gone
        assert row["choice"]
    kept = {
        row["judgment_id"]
        for row in rows_of(out / "judgments.csv")
        if row["rationale"] and row["rater_kind"] == "human"
    }
    quoted = [row for row in rows_of(out / "labels.csv") if row["taxonomy"] == "rationales"]
    assert {row["judgment_id"] for row in quoted if row["evidence"]} == kept
    assert len(quoted) == len(about_reasons) > len(kept)
    again = heart(
        "import", there, there.parent / "completions.csv", "--kind", "completions", "--json"
    )
    assert again.json["left_out"] == {"the person has withdrawn": 5}
    judged = heart(
        *("import", there, there.parent / "judgments.csv", "--kind", "judgments"),
        *("--rater", "who", "--json"),
    )
    assert judged.json["left_out"]["the person has withdrawn"] > 0
    assert judged.json["n_added"] == 0
