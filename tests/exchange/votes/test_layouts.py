"""Layouts of votes that are known by their columns, and the commands that are proposed."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart

import hearteval as he
from hearteval.errors import InvalidVotesError, SettingsError

# By hand: ash beats elm 40 times, loses 20 times and ties 30 times: a win rate of 55 / 90.
ONE_HOT = [(1, 0, 0)] * 40 + [(0, 1, 0)] * 20 + [(0, 0, 1)] * 30
HEAD = "id,model_a,model_b,prompt,winner_model_a,winner_model_b,winner_tie\n"


def write_one_hot(path: Path, cells: Sequence[Sequence[Any]] = ONE_HOT) -> Path:
    rows = [f"{i},ash,elm,p{i // 3},{','.join(map(str, flags))}\n" for i, flags in enumerate(cells)]
    path.write_text(HEAD + "".join(rows), encoding="utf-8")
    return path


def game(score: str | None) -> dict[str, Any]:
    return {"user_prompt": "made up", "judgment": "made up", "score": score}


def write_games(path: Path, scores: Sequence[Sequence[Any]], **more: Any) -> Path:
    rows = [
        {"question_id": f"q{i}", "model": "ash", "judge": "j", **more, "games": [*map(game, pair)]}
        for i, pair in enumerate(scores)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_three_columns_of_winners_are_one_layout(heart: Heart, tmp_path: Path) -> None:
    path = write_one_hot(tmp_path / "train.csv")
    found = heart("rank", path, "--cluster", "prompt", "--json").json
    assert (found["fit"]["n_votes"], found["fit"]["n_ties"]) == (90, 30)
    rates = {row["system"]: round(row["win_rate"], 4) for row in found["systems"]}
    assert rates == {"ash": 0.6111, "elm": 0.3889}


@pytest.mark.parametrize("column", ["winner_model_a", "winner_model_b", "winner_tie"])
def test_naming_one_of_them_loses_no_tie(tmp_path: Path, column: str) -> None:
    path = write_one_hot(tmp_path / "train.csv")
    assert he.rank(path, winner=column, cluster="prompt").fit.n_ties == 30


def test_labels_of_one_of_them_are_refused(heart: Heart, tmp_path: Path) -> None:
    path = write_one_hot(tmp_path / "train.csv")
    words = ("--winner", "winner_model_a", "--left-name", "1", "--right-name", "0")
    refused = heart("rank", path, *words)
    assert refused.code == 2
    ready = refused.err.splitlines()[-1].split()
    assert ready == ["heart", "rank", str(path), "--cluster", "prompt"]
    assert heart(*ready[1:], "--json").json["fit"]["n_ties"] == 30


def test_flags_may_be_written_as_decimals_or_words(tmp_path: Path) -> None:
    rows = [tuple(map(float, flags)) for flags in ONE_HOT]
    assert he.rank(write_one_hot(tmp_path / "a.csv", rows), cluster="prompt").fit.n_ties == 30
    words = [tuple("true" if flag else "false" for flag in flags) for flags in ONE_HOT]
    assert he.rank(write_one_hot(tmp_path / "b.csv", words), cluster="prompt").fit.n_ties == 30


@pytest.mark.parametrize("flags", [(1, 1, 0), (0, 0, 0), (0.2, 0.7, 0.1), (1, "", ""), (2, 0, 0)])
def test_a_row_without_exactly_one_winner_stops_the_reading(tmp_path: Path, flags: Any) -> None:
    path = write_one_hot(tmp_path / "train.csv", [*ONE_HOT[:2], flags, *ONE_HOT[2:]])
    with pytest.raises(InvalidVotesError, match=r"they do not in row 3 \(line 4\)$"):
        he.rank(path, cluster="prompt")


def test_a_row_with_three_empty_cells_has_no_winner(tmp_path: Path) -> None:
    path = write_one_hot(tmp_path / "train.csv", [*ONE_HOT, ("", "", "")])
    assert he.rank(path, cluster="prompt").fit.n_dropped == {"missing winner": 1}


VERDICTS = ["A>>B"] * 4 + ["A>B"] * 3 + ["A=B"] * 2 + ["B>A"] * 2 + ["B>>A"]


def verdict_rows(left: str, right: str) -> list[dict[str, Any]]:
    return [{left: "ash", right: "elm", "winner": v, "item": i} for i, v in enumerate(VERDICTS)]


def test_verdicts_have_one_meaning_beside_model_a_and_model_b() -> None:
    found = he.rank(verdict_rows("model_a", "model_b"), cluster="item")
    rates = {row.system: row.win_rate for row in found.systems}
    assert rates == {"ash": pytest.approx(8 / 12), "elm": pytest.approx(4 / 12)}
    assert any("5 verdicts say >> or <<" in warning for warning in found.warnings)


@pytest.mark.parametrize(("left", "right"), [("first", "second"), ("model_b", "model_a")])
def test_verdicts_are_asked_about_beside_other_columns(left: str, right: str) -> None:
    with pytest.raises(SettingsError, match="nothing says what its labels mean"):
        he.rank(verdict_rows(left, right), left=left, right=right, cluster="item")


# In the first game A is the baseline, in the second the model. So of ash: a win and a clear win;
# two losses, one clear; a tie and a win; and a game without a score beside a loss.
GAMES = [("B>A", "A>>B"), ("A>>B", "B>A"), ("A=B", "A>B"), (None, "B>A")]


def test_games_are_read_in_both_orders(heart: Heart, tmp_path: Path) -> None:
    path = write_games(tmp_path / "ash.jsonl", GAMES)
    words = ("--baseline", "base", "--cluster", "question_id", "--json")
    found = heart("rank", path, *words).json
    assert (found["fit"]["n_votes"], found["fit"]["n_ties"]) == (7, 1)
    assert found["fit"]["n_dropped"] == {"missing winner": 1}
    rates = {row["system"]: row["win_rate"] for row in found["systems"]}
    assert rates == {"ash": pytest.approx(3.5 / 7), "base": pytest.approx(3.5 / 7)}
    assert found["settings"]["n_items"] == 4


def test_strength_counts_clear_wins_as_arena_hard_does(tmp_path: Path) -> None:
    path = write_games(tmp_path / "ash.jsonl", [("B>>A", "A>B"), ("A>B", "B>A"), ("A=B", "A=B")])
    found = he.rank(path, baseline="base", cluster="question_id", strength="strength")
    ash = next(row for row in found.systems if row.system == "ash")
    assert ash.win_rate == pytest.approx(0.5)
    # Weights: ash 3 + 1, base 1 + 1, two ties: theta = ln(5 / 3), of mean 0 half of it each.
    assert ash.elo_weighted == pytest.approx(1500 + 400 / 2.302585093 * 0.510825624 / 2, abs=0.01)


def test_a_baseline_is_asked_for_with_the_command(heart: Heart, tmp_path: Path) -> None:
    path = write_games(tmp_path / "ash.jsonl", GAMES)
    refused = heart("rank", path)
    assert refused.code == 2
    ready = refused.err.splitlines()[-1].split()
    assert ready == [
        *("heart", "rank", str(path), "--baseline", "gpt-4-0314", "--cluster", "question_id")
    ]
    assert heart(*ready[1:]).code == 0


def test_games_without_a_known_version_name_no_baseline(tmp_path: Path) -> None:
    rows = [{"uid": "u", "model": "ash", "games": [game("A>B"), game("B>A")]}]
    with pytest.raises(SettingsError) as caught:
        he.rank(rows)
    assert caught.value.remedies[0].arguments == {"baseline": "NAME", "cluster": ("uid",)}


def test_a_baseline_without_games_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="leave it out"):
        he.rank(write_one_hot(tmp_path / "train.csv"), baseline="elm")


@pytest.mark.parametrize("games", [None, [game("A>B")], "A>B", ["A>B", "B>A"]])
def test_a_row_without_two_games_stops_the_reading(games: Any) -> None:
    rows = [{"question_id": "q", "model": "ash", "games": games}]
    with pytest.raises(InvalidVotesError, match="row 1"):
        he.rank(rows, baseline="base")


def test_categories_with_two_baselines_are_not_ranked_as_one() -> None:
    rows = [
        {"uid": kind, "model": "ash", "category": kind, "games": [game("A>B"), game("B>A")]}
        for kind in ("hard_prompt", "creative_writing")
    ]
    with pytest.raises(SettingsError, match="rank each from a file of its own"):
        he.rank(rows, baseline="base")


@pytest.mark.parametrize("items", ["question_id", "Prompt", "instruction", "item", "promptId"])
def test_proposed_commands_carry_the_column_of_the_prompt(
    heart: Heart, tmp_path: Path, items: str
) -> None:
    path = tmp_path / "votes.csv"
    rows = "".join(f"p{i // 2},ash,elm,{i % 2}\n" for i in range(20))
    path.write_text(f"{items},left,right,winner\n{rows}", encoding="utf-8")
    ready = [line for line in heart("rank", path).err.splitlines() if line.startswith("    heart")]
    assert len(ready) == 2
    assert all(line.endswith(f"--cluster {items}") for line in ready)
    typed = heart("rank", path, "--cluster", items).err
    assert typed.count(f"--cluster {items}") == 2


def test_columns_that_are_asked_for_carry_it_too(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("instruction,system_1,system_2,preference\np,ash,elm,1\n", encoding="utf-8")
    ready = heart("rank", path).err.splitlines()[-1]
    assert ready.endswith(
        "--left system_1 --right system_2 --winner preference --cluster instruction"
    )


def test_columns_whose_cells_say_who_won_are_proposed(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    rows = "".join(f"q{i},ash,elm,{s},tie,{s},{i % 2}\n" for i, s in enumerate("ABBA" * 3))
    path.write_text(f"question,model_a,model_b,people,note,gpt4,seen\n{rows}", encoding="utf-8")
    ready = [line for line in heart("rank", path).err.splitlines() if line.startswith("    heart")]
    said = [line.split("--winner ")[1] for line in ready]
    assert said == ["people --cluster question", "gpt4 --cluster question"]
