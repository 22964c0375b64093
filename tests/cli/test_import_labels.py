"""``heart import --kind labels``: what people or models said elsewhere that replies do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from record_tables import HEAD, JUDGING, PEOPLE, REPLIES, SYSTEMS, replies, stored, write

from hearteval.domain import Completion, Label
from hearteval.labels.taxonomy import load_taxonomy

KEYS = load_taxonomy("strategies").keys


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("labels")


@pytest.fixture(scope="module")
def study(folder: Path) -> Path:
    path = folder / "ours.toml"
    path.write_text(
        f'{HEAD}{SYSTEMS}{JUDGING}{PEOPLE}[labels]\nlabelers = ["cues"]\n', encoding="utf-8"
    )
    return path


@pytest.fixture
def answered(heart: Heart, study: Path) -> Path:
    """The study with four replies of each system; filled by the first test that asks for it."""
    if (study.parent / "ours.db").exists():
        return study
    rows = replies(study, "ours", "theirs")
    assert heart("import", study, write(study.parent / "replies.csv", rows), *REPLIES).code == 0
    return study


def marks(study: Path, rater: str, *, n: int = 8, keys: Sequence[str] = KEYS) -> list[Any]:
    """Return a spreadsheet of labels: replies of "ours" ask, nothing else is in any."""
    return [
        {
            "dialogue": row["dialogue"],
            "who": row["who"],
            "strategy": key,
            "there": int(key == "clarification" and row["who"] == "ours"),
            "person": rater,
        }
        for row in replies(study, "ours", "theirs")[:n]
        for key in keys
    ]


NAMED = ("--item", "dialogue", "--system", "who", "--category", "strategy", "--verdict", "there")
BY_PEOPLE = (*NAMED, "--rater", "person", "--rater-kind", "human")


def brought(heart: Heart, study: Path, rows: Sequence[Any], *words: str) -> Any:
    path = write(study.parent / "marks.csv", rows)
    return heart("import", study, path, "--kind", "labels", *words, "--json")


def test_two_people_who_labelled_in_a_spreadsheet_are_one_source_with_their_agreement(
    heart: Heart, answered: Path
) -> None:
    rows = [*marks(answered, "ann"), *marks(answered, "ben")]
    rows[0]["there"], rows[1]["there"] = "?", "yes"
    preview = brought(heart, answered, rows, *BY_PEOPLE, "--dry-run").json
    assert (preview["n_new"], preview["n_added"], preview["people"]) == (240, 0, ["ann", "ben"])
    assert preview["rows"][1]["verdict"] == "present"
    done = brought(heart, answered, rows, *BY_PEOPLE).json
    assert (done["n_added"], done["by"]) == (240, {"rater": {"ann": 120, "ben": 120}})
    again = brought(heart, answered, rows, *BY_PEOPLE).json
    assert (again["n_added"], again["n_there"]) == (0, 240)
    found = heart("analyze", answered, "--json").json["labels"]
    (one,) = [each for each in found if each["taxonomy"] == "strategies"]
    people = [each for each in one["sources"] if each["kind"] == "person"]
    # Of the eighth reply they differ, and nobody has decided.
    assert [(each["labeler"], each["n_completions"]) for each in people] == [("people", 7)]
    assert (one["people"]["n_people"], one["people"]["n_open"]) == (2, 1)
    (pair,) = [row for row in one["people"]["agreement"] if row["category"] == "clarification"]
    assert (pair["n_completions"], pair["f1"]["value"]) == (8, 1.0)


def test_a_model_that_labelled_elsewhere_is_a_source_and_a_baseline_stays_one(
    heart: Heart, answered: Path
) -> None:
    rows = [
        {**row, "rater_family": "cue" if row["person"] == "counts" else "theirs"}
        for name in ("reader", "counts")
        for row in marks(answered, name)
    ]
    done = brought(heart, answered, rows, *NAMED, "--rater", "person", "--rater-kind", "llm")
    assert done.json["n_added"] == 240
    found = heart("analyze", answered, "--json").json["labels"]
    kinds = {each["labeler"]: each["kind"] for each in found[0]["sources"]}
    assert kinds["reader"] == "model"
    assert kinds["counts"] == "baseline"


def test_what_heart_export_wrote_comes_in_as_it_is(
    heart: Heart, answered: Path, folder: Path
) -> None:
    assert heart("label", answered, "--json").code == 0
    assert heart("export", answered, "--to", "csv", "--out", folder / "out", "--force").code == 0
    other = folder / "other.toml"
    other.write_text(
        answered.read_text(encoding="utf-8").replace('name = "ours"\nseed', 'name = "copy"\nseed'),
        encoding="utf-8",
    )
    path = write(folder / "again.csv", replies(answered, "ours", "theirs"))
    assert heart("import", other, path, *REPLIES).code == 0
    done = heart("import", other, folder / "out" / "labels.csv", "--kind", "labels", "--json")
    assert done.code == 0, done.err
    there = [one for one in stored(answered, Label) if one.taxonomy == "strategies"]
    come = [one for one in stored(other, Label) if one.taxonomy == "strategies"]
    assert done.json["n_added"] == len(come) == len(there)
    assert sorted(one.evidence for one in come) == sorted(one.evidence for one in there)


FAULTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"strategy": "juggling"}, "there is no category 'juggling'; there are 'affirmation'"),
    ({"there": "maybe"}, "the verdict is 'maybe'; expected present, absent or uncertain"),
    ({"there": ""}, "no verdict is given"),
    ({"evidence": "never said"}, "the evidence 'never said' does not stand in the reply"),
    ({"probability": "3"}, "probability is '3'; expected a number from 0 to 1"),
    ({"person": "ann@example.org"}, "looks like an address"),
    ({"person": "kind judge"}, "is a judge or system of the study file"),
)


def test_rows_that_cannot_be_taken_are_listed_and_nothing_is_stored(
    heart: Heart, answered: Path
) -> None:
    before = len(stored(answered, Label))
    plain = {"evidence": "", "probability": ""}
    rows = [{**plain, **row} for row in marks(answered, "new", n=1)]
    for row, (change, _) in zip(rows, FAULTS, strict=False):
        row.update(change)
    done = brought(heart, answered, rows, *BY_PEOPLE)
    assert done.code == 2
    for n, (_, words) in enumerate(FAULTS, 1):
        (fault,) = [one for one in done.json["error"]["faults"] if one.startswith(f"row {n} ")]
        assert words in fault
    assert len(done.json["error"]["faults"]) == len(FAULTS)
    assert len(stored(answered, Label)) == before


def test_who_labelled_is_never_guessed_and_no_label_is_replaced(
    heart: Heart, answered: Path
) -> None:
    rows = marks(answered, "cleo", n=1)
    plain = (*NAMED, "--rater", "person")
    assert "is a person or a model" in brought(heart, answered, rows, *plain).err
    assert brought(heart, answered, rows, *BY_PEOPLE).json["n_added"] == len(KEYS)
    rows[0]["there"] = "?"
    done = brought(heart, answered, rows, *BY_PEOPLE)
    assert done.code != 0
    assert "cleo has said otherwise here, and verdicts are never replaced" in done.err


def test_evidence_that_stands_there_is_kept_and_what_is_of_no_reply_left_out(
    heart: Heart, answered: Path
) -> None:
    plain = {"evidence": "", "taxonomy": "", "taxonomy_version": ""}
    rows = [{**row, **plain} for row in marks(answered, "dee", n=1)]
    rows[0]["evidence"] = "hears  you"
    rows[1]["who"] = ""
    rows[2]["dialogue"] = "elsewhere"
    # Nobody releases a text by a table.
    rows.append({**rows[3], "strategy": "held", "taxonomy": "safety"})
    rows[4]["taxonomy_version"] = "0"
    rows[5]["taxonomy_version"] = load_taxonomy("strategies").version
    done = brought(heart, answered, rows, *BY_PEOPLE).json
    assert sum(done["left_out"].values()) == 4
    assert done["left_out"]["labels by another version of the taxonomy"] == 1
    assert done["left_out"]["labels of a taxonomy that is not of what replies do"] == 1
    texts = {one.id for one in stored(answered, Completion)}
    (kept,) = [one for one in stored(answered, Label) if one.evidence == "hears you"]
    assert kept.completion_id in texts


def test_a_column_for_each_strategy_says_the_same_and_an_empty_cell_says_nothing(
    heart: Heart, answered: Path
) -> None:
    rows = [
        {
            "dialogue": row["dialogue"],
            "who": row["who"],
            "Clarification": int(row["who"] == "ours"),
            "suggest_options": "" if n == 0 else "0",
            "remark": "none",
        }
        for n, row in enumerate(replies(answered, "ours", "theirs"))
    ]
    named = ("--item", "dialogue", "--system", "who", "--rater", "eve", "--rater-kind", "human")
    done = brought(heart, answered, rows, *named).json
    assert (done["n_rows"], done["n_added"], done["by"]) == (8, 15, {"rater": {"eve": 15}})
    verdicts = {one.id: one for one in stored(answered, Label)}
    mine = brought(heart, answered, rows, *named).json
    assert (mine["n_added"], mine["n_there"]) == (0, 15)
    present = [one for one in verdicts.values() if one.verdict == "present" and not one.evidence]
    assert sum(one.category == "clarification" for one in present) >= 4
    rows[0]["Clarification"] = "perhaps"
    assert "the verdict is 'perhaps'" in brought(heart, answered, rows, *named).err
    quoted = [{**row, "evidence": "hears"} for row in rows]
    assert "evidence is of one category" in brought(heart, answered, quoted, *named).err
