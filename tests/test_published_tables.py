"""`heart check` and `he.compare_rankings`: printed tables against themselves and each other."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from heart_command import Heart

import hearteval as he
from hearteval.errors import InvalidVotesError, SettingsError

# HEART (arXiv 2601.19922), Figure 4: overall win rate in percent and Elo of its 18 rows.
PAPER = """system,win_rate,elo
GPT-5,85.9,1611.8
Polaris 4.0,80.1,1604.0
GPT-o3,79.1,1587.5
Claude 4.5 Haiku,69.6,1561.8
Kimi K2,62.2,1552.7
Claude 4.5 Sonnet,62.9,1540.9
GPT-4.1 Mini,62.8,1539.1
Claude 3.7 Sonnet,59.4,1531.8
Best Human,53.0,1510.0
Claude 4 Opus,49.2,1504.0
GPT-4o,48.5,1495.9
Gemini 2.5 Pro,39.5,1477.7
Gemini 3 Pro Preview,45.2,1471.0
Llama 4 Maverick,28.4,1441.2
Gemini 2.5 Flash,25.1,1427.9
Llama 3.1 405B,24.2,1415.0
Llama 3.1 70B,13.8,1384.6
Original Dataset Completions,11.2,1343.1
"""


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "paper.csv"
    path.write_text(PAPER, encoding="utf-8")
    return path


def consistent() -> pd.DataFrame:
    """A table whose win rates are what its Elo imply, printed with one decimal."""
    elo = np.array([1620.0, 1540.0, 1500.0, 1450.0, 1390.0])
    wins = 1 / (1 + 10 ** ((elo[None, :] - elo[:, None]) / 400))
    rates = (wins.sum(axis=1) - 0.5) / 4
    return pd.DataFrame(
        {"model": list("abcde"), "Elo rating": elo, "Win %": (100 * rates).round(1)}
    )


def test_the_papers_table_does_not_agree_with_itself(heart: Heart, paper: Path) -> None:
    found = heart("check", paper, "--json").json

    assert found["schema"] == "heart.check/1"
    assert not found["agrees"]
    assert round(100 * found["rms_gap"], 1) == 11.7
    assert round(100 * found["max_gap"], 1) == 20.1
    assert found["largest"] == "GPT-5"
    assert round(found["factor"], 2) == 2.96
    assert round(100 * found["rms_gap_at_factor"], 1) == 2.3
    assert len(found["out_of_order"]) == 3
    assert found["systems"][0]["expected"] == pytest.approx(0.658, abs=5e-4)


def test_the_check_is_told_in_words(heart: Heart, paper: Path) -> None:
    said = heart("check", paper).out.replace("\N{NO-BREAK SPACE}", " ")
    words = " ".join(said.split())

    assert words.startswith("The table does not agree with itself. Its win rates are 11.7 points")
    assert "20.1 at most: GPT-5 has 85.9 %, and its Elo implies 65.8 %" in words
    assert "Strengths 2.96 times as far apart would leave 2.3 points" in words
    assert "Its Elo and its win rates may come from different raters" in words
    assert "that they do not match, not which is wrong" in words
    assert "3 pairs stand in another order by Elo than by win rate" in words
    assert max(map(len, said.splitlines())) <= 80


def test_a_table_that_agrees_is_said_to() -> None:
    found = he.check(consistent(), elo="Elo rating", win_rate="Win %")

    assert found.agrees
    assert found.max_gap < 0.0006
    assert found.factor == pytest.approx(1, abs=0.01)
    assert found.out_of_order == ()
    assert "agrees with itself" in str(found)
    assert "different raters" not in str(found)
    assert found.to_frame()["system"].tolist() == list("abcde")
    assert not he.check(consistent(), elo="Elo rating", win_rate="Win %", tolerance=1e-5).agrees


def test_columns_of_usual_names_are_found() -> None:
    table = consistent().rename(columns={"Elo rating": "Arena Score", "Win %": "Win Rate"})
    found = he.check(table)

    assert found.columns == {"system": "model", "elo": "Arena Score", "win_rate": "Win Rate"}


@pytest.mark.parametrize("write", [lambda x: x / 100, lambda x: [f"{each:.1f} %" for each in x]])
def test_win_rates_are_shares_or_percent(write: Any) -> None:
    table = consistent()
    shares = table.assign(**{"Win %": write(table["Win %"])})

    usual = he.check(table, elo="Elo rating", win_rate="Win %")
    assert he.check(shares, elo="Elo rating", win_rate="Win %").max_gap == pytest.approx(
        usual.max_gap
    )


def test_rows_that_lack_a_number_are_counted() -> None:
    table = consistent()
    table.loc[4, "Win %"] = None

    found = he.check(table, elo="Elo rating", win_rate="Win %")

    assert found.n_dropped == {"missing number": 1}
    assert len(found.systems) == 4
    assert "1 row left out (missing number: 1)." in str(found)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": ["a", "a", "b", "c", "d"]}, "row 2 names 'a' again"),
        ({"Win %": ["1", "x", "2", "3", "4"]}, "row 2 has 'x' in column 'Win %'"),
        ({"Win %": [101, 2, 3, 4, 5]}, "win rates are shares"),
        ({"Win %": [-0.1, 0.2, 0.3, 0.4, 0.5]}, "win rates are shares"),
        ({"Win %": [None] * 5}, "none of its 5 rows"),
        ({"Win %": [50, None, None, None, None]}, "two systems or more"),
        ({"model": ["a", "a ", "b", "c", "d"]}, "look the same"),
    ],
)
def test_what_cannot_be_checked_is_said(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidVotesError, match=words):
        he.check(consistent().assign(**change), elo="Elo rating", win_rate="Win %")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--elo", "elos"], "did you mean 'elo'"),
        (["--elo", "win_rate"], "one column has two roles"),
        (["--tolerance", "2"], "--tolerance"),
        (["--against", "none.csv"], "no file none.csv"),
        (["--against-elo", "e"], "no column 'e'"),
    ],
)
def test_wrong_use_of_check_exits_with_2(
    heart: Heart, paper: Path, options: list[str], words: str
) -> None:
    done = heart("check", paper, *options, "--json")

    assert done.code == 2
    assert words in done.json["error"]["message"]


def test_a_table_without_known_columns_is_asked_for_them(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("who,strength,share\na,1,2\n")

    done = heart("check", path)

    assert done.code == 2
    assert "--system, --elo, --win-rate; there are 'who', 'strength', 'share'" in done.err


def test_two_rankings_of_one_table_are_compared(heart: Heart, paper: Path) -> None:
    found = heart("check", paper, "--against-elo", "win_rate", "--json").json["against"]
    said = heart("check", paper, "--against-elo", "win_rate").out

    # Three of 153 pairs stand in another order.
    assert found["kendall"]["value"] == pytest.approx(1 - 2 * 3 / 153)
    assert found["spearman"]["value"] > 0.98
    assert found["n_systems"] == 18
    assert sorted(found["moves"][0]) == ["first", "first_rank", "second", "second_rank", "system"]
    assert "elo and win_rate" in said
    assert max(map(len, said.splitlines())) <= 80


def test_two_files_are_compared(heart: Heart, paper: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(PAPER.replace("Best Human", "Average Human"), encoding="utf-8")

    found = heart("check", paper, "--against", other, "--json").json["against"]

    assert found["names"] == ["paper.csv", "other.csv"]
    assert (found["only_first"], found["only_second"]) == (["Best Human"], ["Average Human"])
    assert found["lin"] == {
        "value": 1.0,
        "low": None,
        "high": None,
        "reason": "no interval: 1 is the end of the scale",
    }


def test_rankings_in_python_may_be_rankings_numbers_and_tables(paper: Path) -> None:
    votes = pd.DataFrame(
        {
            "left": ["a", "b", "c"] * 8,
            "right": ["b", "c", "a"] * 8,
            "winner": ["left", "left", "right"] * 5 + ["right", "left", "left"] * 3,
        }
    )
    ranking = he.rank(votes)
    numbers = {row.system: row.elo for row in ranking.systems}

    same = he.compare_rankings(ranking, numbers)
    assert same.lin.value == pytest.approx(1)
    assert "Every system has the same place in both." in str(same)
    turned = he.compare_rankings(ranking, {name: -value for name, value in numbers.items()})
    assert turned.kendall.value == pytest.approx(-1)
    assert turned.to_frame()["system"].tolist() == [move.system for move in turned.moves]
    both = he.compare_rankings(paper, pd.read_csv(paper), second_elo="win_rate")
    assert both.kendall.value == pytest.approx(1 - 2 * 3 / 153)
    with pytest.raises(InvalidVotesError, match="share 0 systems"):
        he.compare_rankings(ranking, paper)
    with pytest.raises(SettingsError, match="no column"):
        he.compare_rankings(paper, paper, elo="x")
