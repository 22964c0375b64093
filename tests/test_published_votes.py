"""Published answers from votes anyone can download, through `he.rank` and from file to rating."""

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtrit

import hearteval as he
from hearteval.stats.means import mean_interval

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "data" / "reference"
needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason="the reference data are not at ../shared/data/reference"
)


@needs_reference
def test_crowd_votes_of_llmfao_give_their_published_strengths() -> None:
    """Ustalov, LLMFAO (2023): 8,931 votes of 124 workers on 59 models, ties half a win."""
    golden = pd.read_csv(REFERENCE / "llmfao" / "llmfao-golden.csv")
    golden = golden[golden.algorithm == "bradley_terry"].set_index("item").score

    ranking = he.rank(REFERENCE / "llmfao" / "crowd-comparisons.csv", cluster="prompt")

    assert ranking.fit.n_votes == 8_931
    assert len(ranking.systems) == 59
    strength = np.exp([row.theta for row in ranking.systems])
    expected = golden[[row.system for row in ranking.systems]]
    np.testing.assert_allclose(strength / strength.sum(), expected, rtol=1e-6)


def alpaca_preferences(annotator: str) -> dict[str, list[float]]:
    """Preferences for each model over the reference, 0 to 1, as AlpacaEval counts draws."""
    preferences = defaultdict(list)
    path = REFERENCE / "alpaca_eval" / "annotations_compact.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["annotator"] == annotator and row["preference"]:
                value = float(row["preference"])
                preferences[row["model"]].append(0.5 if value == 0 else value - 1)
    return preferences


def published(annotator: str) -> dict[str, tuple[float, float]]:
    path = REFERENCE / "alpaca_eval" / f"leaderboard_{annotator}.csv"
    with path.open(encoding="utf-8") as file:
        return {
            row[""]: (float(row["win_rate"]) / 100, float(row["standard_error"]) / 100)
            for row in csv.DictReader(file)
        }


@needs_reference
@pytest.mark.parametrize(
    ("annotator", "n_models"), [("alpaca_eval_gpt4", 52), ("weighted_alpaca_eval_gpt4_turbo", 57)]
)
def test_win_rates_and_standard_errors_of_alpaca_eval(annotator: str, n_models: int) -> None:
    preferences, board = alpaca_preferences(annotator), published(annotator)
    models = sorted(preferences.keys() & board.keys())
    assert len(models) == n_models
    # The reference against itself is .5 throughout; its interval is Wilson's, not t.
    models = [model for model in models if board[model][1] > 0]
    assert len(models) >= n_models - 1

    for model in models:
        shares = np.array(preferences[model])
        low, high = mean_interval(shares, level=0.5)
        win_rate, standard_error = board[model]
        assert shares.mean() == pytest.approx(win_rate, abs=5e-5)
        quantile = float(stdtrit(len(shares) - 1, 0.75))
        assert (high - low) / 2 / quantile == pytest.approx(standard_error, abs=5e-5)


@needs_reference
def test_ranking_holds_the_win_rates_of_alpaca_eval() -> None:
    votes = pd.read_csv(REFERENCE / "alpaca_eval" / "annotations_compact.csv.gz")
    votes = votes[(votes.annotator == "alpaca_eval_gpt4") & votes.preference.notna()]
    votes["winner"] = votes.preference.map({1.0: "left", 2.0: "right", 1.5: "tie", 0.0: "tie"})

    ranking = he.rank(votes, left="gen1", right="gen2", cluster="item", prior=1.0)

    board = published("alpaca_eval_gpt4")
    found = {row.system: row.win_rate for row in ranking.systems if row.system in board}
    del found["text_davinci_003"]  # the reference, which the leaderboard sets against itself
    assert len(found) == 50
    assert found == pytest.approx({name: board[name][0] for name in found}, abs=5e-5)


@needs_reference
def test_few_votes_of_people_beside_gpt_4_are_nearer_to_all_of_people() -> None:
    """Chatzi and others (2024): 26,919 comparisons, each by one person and by GPT-4."""
    votes = pd.read_csv(REFERENCE / "ppr2024" / "arena_people_and_gpt4.csv.gz")
    people, judge = (votes.rename(columns={by: "winner"}) for by in ("people", "gpt4"))
    truth = {row.system: row.elo for row in he.rank(people, cluster="question").systems}
    errors, alone, inside = [], [], []
    for seed in range(8):
        few = people.sample(600, random_state=seed)
        ranking = he.rank(few, cluster="question", judged_by={"gpt-4": judge}, assume_random=True)
        found = ranking.by_people_and_judges
        assert found is not None
        assert found.reason is None
        alone += [row.elo - truth[row.system] for row in ranking.systems]
        for row in found.systems:
            assert row.elo is not None
            assert row.low is not None
            assert row.high is not None
            errors.append(row.elo - truth[row.system])
            inside.append(row.low <= truth[row.system] <= row.high)
    assert len(errors) == 8 * 20
    assert np.square(errors).mean() < np.square(alone).mean() / 2
    assert np.mean(inside) >= 0.93
