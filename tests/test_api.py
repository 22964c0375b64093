"""`hb.rank` and `hb.agree`: any source, the fields of the JSON, dataframes of the input's kind."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import heartbench as hb
from heartbench import api
from heartbench.errors import InvalidVotesError, NotIdentifiedError, SettingsError

VOTES: dict[str, Any] = {
    "model_a": ["ash", "birch", "cedar", "ash", "birch", "cedar", "ash", "birch"] * 6,
    "model_b": ["birch", "cedar", "ash", "cedar", "ash", "birch", "birch", "cedar"] * 6,
    "winner": ["model_a", "model_b", "tie", "model_a", "tie", "model_b"] * 8,
    "prompt": [f"p{i % 12}" for i in range(48)],
    "voter": [f"v{i % 7}" for i in range(48)],
    "strength": [1, 2, 3, 4, 5, 1, 2, 3] * 6,
}
RATINGS: dict[str, Any] = {
    "text": [f"t{i}" for i in range(12) for _ in range(2)],
    "coder": ["ann", "bob"] * 12,
    "label": [3, 3, 1, 2, 5, 5, 4, 4, 2, 2, 1, 1, 5, 4, 3, 3, 2, 3, 4, 4, 1, 1, 2, 2],
}
FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.fixture
def votes_file(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    pd.DataFrame(VOTES).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("frame", FRAMES)
def test_rank_of_a_frame_is_that_of_a_file(frame: Any, votes_file: Path) -> None:
    of_frame = hb.rank(frame(VOTES), cluster="prompt", rater="voter", strength="strength")
    of_file = hb.rank(votes_file, cluster="prompt", rater="voter", strength="strength")

    assert of_frame.to_dict() == of_file.to_dict()


@pytest.mark.parametrize("frame", FRAMES)
def test_results_come_as_the_kind_of_frame_that_went_in(frame: Any) -> None:
    ranking = hb.rank(frame(VOTES), cluster="prompt")
    agreement = hb.agree(frame(RATINGS), unit="text", rater="coder", value="label", level="ordinal")

    assert type(ranking.to_frame()) is type(frame(VOTES))
    assert type(ranking.differences_frame()) is type(frame(VOTES))
    assert type(agreement.to_frame()) is type(frame(VOTES))


def test_frame_holds_the_systems_of_the_result() -> None:
    ranking = hb.rank(pd.DataFrame(VOTES), cluster="prompt")

    frame = ranking.to_frame()

    assert frame["system"].tolist() == [row.system for row in ranking.systems]
    assert frame["elo"].tolist() == [row.elo for row in ranking.systems]
    assert "elo_weighted" not in frame.columns


def test_frame_of_a_path_is_of_a_library_that_is_installed(
    votes_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(hb.rank(votes_file, cluster="prompt").to_frame(), pd.DataFrame)

    monkeypatch.setattr(api, "find_spec", lambda name: name != "pandas")
    assert isinstance(hb.rank(votes_file, cluster="prompt").to_frame(), pl.DataFrame)

    monkeypatch.setattr(api, "find_spec", lambda _name: None)
    with pytest.raises(SettingsError, match="pandas, polars, pyarrow"):
        hb.rank(votes_file, cluster="prompt").to_frame()


def test_dictionary_is_the_contract(votes_file: Path) -> None:
    """DESIGN.md section 2: the keys of ``heartbench.rank/1``; it may gain some, never lose one."""
    found = hb.rank(votes_file, cluster="prompt", rater="voter", strength="strength").to_dict()

    assert found["schema"] == "heartbench.rank/1"
    assert json.loads(json.dumps(found, allow_nan=False)) == json.loads(json.dumps(found))
    system = {"system", "elo", "low", "high", "theta", "se", "win_rate", "n_comparisons"}
    system |= {"rank_low", "rank_high", "elo_weighted", "low_weighted", "high_weighted"}
    assert system <= set(found["systems"][0])
    fit = {"converged", "n_votes", "n_ties", "n_dropped", "rms_gap", "max_gap", "components"}
    assert fit | {"system_rms_gap", "system_max_gap"} <= set(found["fit"])
    made = {"interval", "interval_used", "df", "level", "ties", "prior", "resamples", "seed"}
    assert made | {"columns", "n_items", "n_raters"} <= set(found["settings"])
    assert found["settings"]["columns"]["cluster"] == "prompt"
    assert found["settings"]["n_items"] == 12
    assert found["settings"]["n_raters"] == 7
    assert found["fit"]["components"] == (("ash", "birch", "cedar"),)


def test_weighted_ratings_are_there_with_strengths_only(votes_file: Path) -> None:
    found = hb.rank(votes_file, cluster="prompt").to_dict()["systems"][0]

    assert not {"elo_weighted", "low_weighted", "high_weighted"} & set(found)


def test_agreement_has_every_measure_of_the_contract() -> None:
    found = hb.agree(
        pd.DataFrame(RATINGS), unit="text", rater="coder", value="label", level="interval"
    ).to_dict()

    measures = {"percent_agreement", "cohen_kappa", "cohen_kappa_weighted_value"}
    measures |= {"cohen_kappa_weighted_index", "fleiss_kappa", "krippendorff_alpha"}
    measures |= {"gwet_ac1", "gwet_ac2", "icc_c1", "icc_a1"}
    assert found["schema"] == "heartbench.agree/1"
    assert {"n_units", "n_raters", "n_values", "excluded"} | measures <= set(found)
    assert all({"value", "low", "high", "reason"} <= set(found[name]) for name in measures)
    assert found["percent_agreement"]["value"] == pytest.approx(9 / 12)


def test_results_show_as_text_and_as_a_table_of_a_notebook(votes_file: Path) -> None:
    ranking = hb.rank(votes_file, cluster="prompt", strength="strength")
    agreement = hb.agree(
        pd.DataFrame(RATINGS), unit="text", rater="coder", value="label", level="nominal"
    )

    assert "3 systems: 48 votes" in str(ranking)
    assert "conditional on these raters" in str(ranking)
    assert ranking._repr_html_().count("<tr>") == 4
    assert "Fleiss" in str(agreement)
    assert agreement._repr_html_().count("<tr>") == 11


def test_names_in_a_notebook_are_text_and_no_markup() -> None:
    votes = {**VOTES, "model_a": [name.replace("ash", "<b>ash") for name in VOTES["model_a"]]}
    votes["model_b"] = [name.replace("ash", "<b>ash") for name in VOTES["model_b"]]

    assert "<b>" not in hb.rank(pd.DataFrame(votes), cluster="prompt")._repr_html_()


def test_columns_that_cannot_be_guessed_must_be_named() -> None:
    with pytest.raises(SettingsError, match="--right, --winner; there are model_a, prompt"):
        hb.rank(pd.DataFrame({"model_a": ["a"], "prompt": ["p"]}))


def test_own_words_for_the_outcome_are_understood() -> None:
    votes = pd.DataFrame({**VOTES, "winner": ["left won", "right won", "even"] * 16})

    ranking = hb.rank(votes, left_name="left won", right_name=["right won"], tie_name="even")

    assert ranking.fit.n_ties == 16


def test_bad_rows_and_open_rankings_are_named_errors() -> None:
    with pytest.raises(InvalidVotesError, match="row 1"):
        hb.rank(pd.DataFrame({**VOTES, "winner": ["modela", *VOTES["winner"][1:]]}))
    with pytest.raises(NotIdentifiedError, match="ash"):
        hb.rank(pd.DataFrame({"left": ["ash"], "right": ["birch"], "winner": ["ash"]}))


def test_missing_names_are_counted_in_agreement() -> None:
    ratings = pd.DataFrame({**RATINGS, "coder": [None, *RATINGS["coder"][1:]]})

    found = hb.agree(ratings, unit="text", rater="coder", value="label", level="nominal")

    assert found.excluded["missing rater"] == 1


def test_unknown_names_of_the_package_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="rankk"):
        hb.rankk  # noqa: B018


def test_public_names_are_listed() -> None:
    assert dir(hb) == hb.__all__
