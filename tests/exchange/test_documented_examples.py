"""The examples of docs/reference/vote-files.md are read as it says."""

import re
from pathlib import Path

import pytest
from heart_command import Heart

from hearteval.exchange.ratings import RatingColumns, read_ratings
from hearteval.exchange.tables import open_table
from hearteval.exchange.votes import OutcomeNames, VoteColumns, read_votes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "vote-files.md"


@pytest.fixture
def examples() -> list[str]:
    return re.findall(r"```\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_votes(examples: list[str], tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(examples[0], encoding="utf-8")
    columns = VoteColumns(
        left="shown_first",
        right="shown_second",
        winner="choice",
        strength="strength",
        cluster="item",
        rater="person",
    )

    votes = read_votes(open_table(path), columns, OutcomeNames())

    assert (votes.n_votes, votes.n_ties, votes.n_dropped) == (3, 1, {})


def test_battles(examples: list[str], tmp_path: Path) -> None:
    path = tmp_path / "battles.jsonl"
    path.write_text(examples[2], encoding="utf-8")
    columns = VoteColumns(left="model_a", right="model_b", winner="winner")

    votes = read_votes(open_table(path), columns, OutcomeNames())

    assert votes.comparisons.score.tolist() == [0.0, 0.5]


def test_what_zeros_and_ones_may_mean(
    examples: list[str], heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"p,q,{int(i < 523)},{i % 50}" for i in range(1000)]
    Path("votes.csv").write_text("left,right,winner,prompt\n" + "\n".join(rows) + "\n")
    command, _, message = examples[4].partition("\n")

    assert heart(*command.split()[2:]).err == message


def test_ratings(examples: list[str], tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(examples[6], encoding="utf-8")

    columns = RatingColumns("reply", "rater", "warmth")
    found = read_ratings(open_table(path), columns).ratings

    assert found.values == ("4", "5")
    assert found.value.tolist() == [0, 1, -1]


def test_wide_ratings(
    examples: list[str], heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wide.csv").write_text(examples[8], encoding="utf-8")

    found = heart(*examples[9].split()[1:], "--json").json

    assert (found["n_units"], found["n_values"], found["excluded"]) == (2, 3, {"missing": 1})


def test_columns_that_are_no_raters(
    examples: list[str], heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"t{i},{i % 2},{i % 3 % 2}" for i in range(9)]
    Path("labels.csv").write_text("text_id,ann,ben\n" + "\n".join(rows) + "\n")
    command, _, message = examples[10].partition("\n")

    assert heart(*command.split()[2:]).err == message
