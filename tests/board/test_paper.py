"""``heart paper``: what the paper prints, computed again from what else it prints."""

import csv
from pathlib import Path

import pytest
import scipy.stats
from heart_command import Heart

from hearteval.analysis.ranking.checks.paper import check_paper, published_rows

TABLES = Path(__file__).resolve().parents[3] / "shared" / "paper"


def rows_of(name: str) -> list[dict[str, str]]:
    path = TABLES / name
    if not path.is_file():
        pytest.skip("the paper's tables are not at ../shared/paper beside the checkout")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_rows_are_those_of_the_paper() -> None:
    printed = rows_of("leaderboard.csv")
    found = published_rows()
    assert [*found] == [row["system"] for row in printed]
    for row in printed:
        elo, share = found[row["system"]]
        assert elo == float(row["elo"])
        assert share == pytest.approx(float(row["win_rate"]) / 100)


def test_correlations_are_those_of_another_library() -> None:
    found = {one.what: one for one in check_paper().claims}
    index = rows_of("intelligence_index.csv")
    r = scipy.stats.pearsonr(
        [float(row["elo"]) for row in index], [float(row["aa_index"]) for row in index]
    ).statistic
    assert found["r of Elo and the intelligence index"].found == pytest.approx(r)
    elo = {row["system"]: float(row["elo"]) for row in rows_of("leaderboard.csv")}
    times = rows_of("latency.csv")
    rho = scipy.stats.spearmanr(
        [elo[row["system"]] for row in times], [float(row["median_ttft_ms"]) for row in times]
    ).statistic
    assert found["rho of Elo and time to first token"].found == pytest.approx(rho)


def test_what_does_not_agree_is_said(heart: Heart) -> None:
    done = heart("paper", "--json").json
    bad = {one["what"] for one in done["claims"] if not one["agrees"]}
    assert bad == {"comparisons", "rho of Elo and time to first token"}
    assert round(100 * done["leaderboard"]["rms_gap"], 1) == 11.7
    said = heart("paper").out
    assert "agree, 2 do not" in said
    assert "may come from different raters" in said


def test_a_study_stands_beside_it_row_by_row(heart: Heart, tmp_path: Path, study: Path) -> None:
    text = study.read_text(encoding="utf-8")
    named = text.replace('preset = "generic"', 'preset = "generic"\nname = "GPT-4o"')
    study.write_text(named, encoding="utf-8")
    assert heart("run", study).code == 0
    done = heart("paper", study, "--json").json
    (row,) = done["study"]["systems"]
    assert (row["system"], row["paper_elo"], row["paper_win_rate"]) == ("GPT-4o", 1495.9, 0.485)
    own = heart("analyze", study, "--json").json["leaderboard"]["rows"]
    (same,) = [one for one in own if one["system"] == "GPT-4o"]
    assert (row["elo"], row["win_rate"]) == (same["weighted"]["elo"], same["win_rate"])
    assert "other dialogues, other raters" in heart("paper", study).out
    assert heart("paper", tmp_path / "nothing.toml").code == 2
