"""``heart people quality``, ``exclude`` and ``restore``: who is found, left out, and back."""

import json
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart, run_heart

import hearteval as he
from hearteval.domain import Study
from hearteval.store.sql import SqlStore

COINS = ["simulated person 7", "simulated person 8"]
OWN_RULES = '\n[people.quality]\nexcludes = ["agreement"]\n'


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drawn study of eight people, two of whom toss coins."""
    folder = tmp_path_factory.mktemp("once") / "drawn"
    plan = ("random_raters=2", "pool=8", "people=8", "items=20", "judges=0", "systems=4")
    run_heart("simulate", folder, *(word for one in plan for word in ("--set", one)))
    return folder


@pytest.fixture
def study(drawn: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(drawn, tmp_path / "drawn") / "drawn.toml"


def said(heart: Heart, *words: str | Path) -> Any:
    done = heart("people", *words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def ranked(heart: Heart, study: Path) -> Sequence[Any]:
    done = heart("analyze", study, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    return [(row["system"], row["weighted"]["elo"]) for row in found["leaderboard"]["rows"]]


def test_it_lists_whom_rules_find_and_leaves_nobody_out(heart: Heart, study: Path) -> None:
    before = ranked(heart, study)
    found = said(heart, "quality", study)
    assert sorted(name for name, by in found["found"].items() if "agreement" in by) == COINS
    assert (found["left_out"], found["to_leave_out"], found["is_rejection"]) == ([], [], False)
    told = heart("people", "quality", study)
    assert "A rule says what was seen" in told.out + told.err
    assert ranked(heart, study) == before


def test_without_rules_of_its_own_nobody_is_left_out_by_a_rule(heart: Heart, study: Path) -> None:
    done = heart("people", "quality", study, "--apply")
    assert done.code == 2
    assert "has no [people.quality]" in done.err
    assert said(heart, "quality", study)["left_out"] == []


def test_the_studys_own_rules_leave_out_once_and_not_whom_somebody_let_back_in(
    heart: Heart, study: Path
) -> None:
    study.write_text(study.read_text("utf-8") + OWN_RULES, encoding="utf-8")
    before = ranked(heart, study)
    assert said(heart, "quality", study)["to_leave_out"] == COINS
    first = said(heart, "quality", study, "--apply", "--by", "ann")
    assert (first["left_out_now"], first["left_out"]) == (COINS, COINS)
    assert ranked(heart, study) != before
    assert said(heart, "restore", study, COINS[0], "--why", "she was ill")["is_new"]
    again = said(heart, "quality", study, "--apply")
    assert (again["left_out_now"], again["left_out"]) == ([], COINS[1:])
    with closing(SqlStore.open(str(study.with_suffix(".db")))) as store:
        (of_study,) = {one.id for one in store.iter(Study)}
        records = store.people.exclusions(of_study)
    assert [(one.person, one.is_excluded, one.rules, one.by) for one in records] == [
        (COINS[0], True, ("agreement",), "ann"),
        (COINS[1], True, ("agreement",), "ann"),
        (COINS[0], False, (), "researcher"),
    ]
    # These rules came after the answers, which the record says.
    assert "these rules were set when people had answered already" in records[0].why
    assert heart("store", "verify", study).code == 0


def test_by_hand_and_back_gives_the_same_numbers(heart: Heart, study: Path) -> None:
    before = ranked(heart, study)
    assert said(heart, "exclude", study, COINS[0], "--why", "guessed")["is_new"]
    assert not said(heart, "exclude", study, COINS[0], "--why", "guessed")["is_new"]
    assert ranked(heart, study) != before
    done = heart("people", "restore", study, COINS[0], "--why", "a mistake")
    assert "counted in every number" in done.out + done.err
    assert ranked(heart, study) == before


def test_tables_and_frames_mark_their_answers(heart: Heart, study: Path, tmp_path: Path) -> None:
    said(heart, "exclude", study, COINS[0], "--why", "guessed")
    assert heart("export", study, "--to", "jsonl", "--out", tmp_path / "out").code == 0
    lines = (tmp_path / "out" / "judgments.jsonl").read_text("utf-8").splitlines()
    with he.open_study(study) as opened:
        frame = opened.judgments.to_dict("records")
    for rows in (list(map(json.loads, lines)), frame):
        assert {row["rater"] for row in rows if row["is_left_out"]} == {COINS[0]}
        assert COINS[0] not in {row["rater"] for row in rows if not row["is_left_out"]}


def test_plans_and_comparisons_leave_them_out_too(heart: Heart, study: Path) -> None:
    def by_votes() -> tuple[Any, Any]:
        done = [heart(*words, "--json") for words in (("plan", study), ("compare", study, study))]
        assert [one.code for one in done] == [0, 0], done
        plan, moved = (one.json for one in done)
        return plan["basis"], [row["first_elo"] for row in moved["systems"]]

    before = by_votes()
    for name in COINS:
        said(heart, "exclude", study, name, "--why", "guessed")
    after = by_votes()
    assert after[0] != before[0]
    assert after[1] != before[1]
    for name in COINS:
        said(heart, "restore", study, name, "--why", "a mistake")
    assert by_votes() == before


@pytest.mark.parametrize(
    ("words", "fault", "code"),
    [
        (("exclude", "Nobody", "--why", "x"), "nobody in the study", 1),
        (("exclude", COINS[0], "--why", "  "), "say why in words", 2),
    ],
)
def test_what_cannot_be_is_refused(
    heart: Heart, study: Path, words: tuple[str, ...], fault: str, code: int
) -> None:
    verb, *others = words
    done = heart("people", verb, study, *others)
    assert done.code == code
    assert fault in done.err
