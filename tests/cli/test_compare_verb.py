"""``heart compare``: two studies, or two panels of one, side by side."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart

from hearteval.config import load_study
from hearteval.domain import Completion, Item, Judgment
from hearteval.store.sql import SqlStore
from hearteval.study import Quiet
from hearteval.study.grow import gather

NAMES = ("ash", "elm", "fir", "oak", "yew")
STUDY = """
[study]
name = "{name}"
seed = 5
fail_on_missing = 1
[items]
source = "starter"
regular = {n_items}
adversarial = 0
{systems}
[[judge]]
name = "strict"
model = "imported/strict"
family = "strict"
[[judge]]
name = "kind"
model = "imported/kind"
family = "kind"
[judging]
judges = {judges}
"""
SYSTEM = '[[system]]\nname = "{name}"\nmodel = "imported/{name}"\nfamily = "trees"\n'


def made(heart: Heart, folder: Path, name: str, **given: Any) -> Path:
    """A study in which ``strict`` likes the first names best and ``kind`` the last."""
    usual: dict[str, Any] = {
        "systems": NAMES,
        "judges": ("strict", "kind"),
        "n_items": 30,
        "words": "hears you",
        "n_late": 30,
    }
    systems, judges, n_items, words, n_late = (usual | given).values()
    path = folder / f"{name}.toml"
    described = "".join(SYSTEM.format(name=each) for each in systems)
    text = STUDY.format(
        name=name, n_items=n_items, systems=described, judges=json.dumps(["strict", "kind"])
    )
    path.write_text(text, encoding="utf-8")
    assert heart("run", path, "--dry-run").code == 0
    items: tuple[Item, ...] = gather(load_study(path), Quiet()).items
    replies = [
        {"item": item.id, "system": each, "text": f"{each} {words} in {item.dialogue_id}."}
        for item in items
        for each in systems
    ]
    votes = [
        {"item": item.id, "first": a, "second": b, "strength": 3, "rater": judge}
        | {"winner": a if ((n + i + j) % 4 > 0) == (judge == "strict") else b}
        for n, item in enumerate(items)
        for i, a in enumerate(systems)
        for j, b in enumerate(systems)
        if i < j and (b != "yew" or n < n_late)
        for judge in judges
    ]
    for kind, rows in (("completions", replies), ("judgments", votes)):
        table = folder / f"{name}.{kind}.jsonl"
        table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        own = ["--own-name"] if kind == "judgments" else []
        assert heart("import", path, table, "--kind", kind, *own).code == 0
    return path


def compared(heart: Heart, *words: str | Path) -> Any:
    done = heart("compare", *words, "--json")
    assert done.code == 0, done.err
    return done.json


def test_two_panels_of_one_study_stand_side_by_side(heart: Heart, tmp_path: Path) -> None:
    study = made(heart, tmp_path, "trees")
    found = compared(heart, study, "--first", "strict", "--second", "kind")
    assert found["schema"] == "heart.compare/1"
    assert found["concordance"]["spearman"]["value"] == pytest.approx(-1)
    assert found["concordance"]["kendall"]["value"] == pytest.approx(-1)
    assert (found["raters_only_first"], found["raters_only_second"]) == (["strict"], ["kind"])
    assert found["n_pairs_shared"] == 300
    assert found["n_same_majority"] == 0
    places = {row["system"]: (row["first_rank"], row["second_rank"]) for row in found["systems"]}
    assert (places["ash"], places["yew"]) == ((1, 5), (5, 1))
    assert {row["system"] for row in found["systems"] if row["is_apart"]} >= {"ash", "yew"}
    for row in found["systems"]:
        assert row["difference"] == pytest.approx(row["second_elo"] - row["first_elo"])
        assert row["low"] <= row["difference"] <= row["high"]


def test_the_text_fits_a_terminal_and_says_why(heart: Heart, tmp_path: Path) -> None:
    study = made(heart, tmp_path, "trees")
    said = heart("compare", study, "--first", "strict", "--second", "kind").out
    assert max(map(len, said.splitlines())) <= 80
    assert "4 of 5 systems have another place in trees by kind than in trees by strict" in (
        " ".join(said.split())
    )
    assert "Judges of trees by strict only: strict." in said
    assert "Spearman's \N{GREEK SMALL LETTER RHO}" in said


def test_a_study_against_itself_moves_nothing(heart: Heart, tmp_path: Path) -> None:
    study = made(heart, tmp_path, "trees", judges=("strict",))
    found = compared(heart, study, study)
    assert found["concordance"]["spearman"]["value"] == pytest.approx(1)
    assert {row["difference"] for row in found["systems"]} == {0}
    assert not any(row["is_apart"] for row in found["systems"])
    assert found["why"] == ["Nothing differs behind them but what the same raters said."]


def test_a_system_of_few_items_has_its_own_degrees_of_freedom_here_too(
    heart: Heart, tmp_path: Path
) -> None:
    """Two intervals of equal width and df give one that is wider by the root of two."""
    study = made(heart, tmp_path, "trees", judges=("strict",), n_late=5)
    found = {row["system"]: row for row in compared(heart, study, study)["systems"]}
    ranked = heart("analyze", study, "--json").json["leaderboard"]["rows"]
    own = {row["system"]: row["weighted"] for row in ranked}
    for name in ("ash", "yew"):
        assert found[name]["high"] == pytest.approx(2**0.5 * (own[name]["high"] - own[name]["elo"]))


def test_two_studies_are_compared_on_what_they_share(heart: Heart, tmp_path: Path) -> None:
    one = made(heart, tmp_path, "one", judges=("strict",))
    other = made(
        heart, tmp_path, "other", systems=NAMES[1:], n_items=20, judges=("strict",), words="asks"
    )
    found = compared(heart, one, other)
    assert {row["system"] for row in found["systems"]} == set(NAMES[1:])
    assert found["n_pairs_shared"] == 0
    assert found["on_shared"] is None
    assert (found["n_items_shared"], found["n_items_only_second"]) == (20, 0)
    why = " ".join(found["why"])
    assert "Items of one only: 10; of other only: 0; of both: 20." in why
    assert "Systems of one only, left out here: ash." in why
    assert "Says something else under the same name:" in why


def test_judges_that_the_file_no_longer_names_still_count(heart: Heart, tmp_path: Path) -> None:
    study = made(heart, tmp_path, "trees")
    text = study.read_text(encoding="utf-8").replace('["strict", "kind"]', '["kind"]')
    gone = text.index('[[judge]]\nname = "strict"'), text.index('[[judge]]\nname = "kind"')
    study.write_text(text[: gone[0]] + text[gone[1] :], encoding="utf-8")
    heart("run", study)
    found = compared(heart, study, "--first", "strict")
    assert found["first"]["raters"] == ["strict"]
    assert found["second"]["raters"] == ["kind"]
    with closing(SqlStore.open(load_study(study).store)) as store:
        assert len(list(store.iter(Judgment))) == 600
        assert list(store.iter(Completion))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name another study to compare with, or two panels of this one"),
        (["--first", "strickt"], "nobody called 'strickt' has judged (did you mean 'strict'?)"),
        (["--first", "people"], "nobody called 'people' has judged"),
        (["none.toml"], "there is no such study file"),
    ],
)
def test_wrong_words_say_what_to_type(
    heart: Heart, tmp_path: Path, words: list[str], said: str
) -> None:
    study = made(heart, tmp_path, "trees", n_items=4)
    done = heart("compare", study, *words)
    assert done.code == 2
    assert said in done.err


def test_studies_without_common_systems_are_not_compared(heart: Heart, tmp_path: Path) -> None:
    one = made(heart, tmp_path, "one", systems=("ash", "elm"), n_items=4)
    other = made(heart, tmp_path, "other", systems=("fir", "oak"), n_items=4)
    done = heart("compare", one, other)
    assert done.code == 1
    assert "the two share 0 systems, and it takes two: one has ash, elm; other has fir, oak" in (
        done.err
    )
