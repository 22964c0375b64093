"""`he.rank` and `he.agree`: any source, the fields of the JSON, dataframes of the input's kind."""

import inspect
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hearteval as he
from hearteval.errors import InvalidVotesError, NotIdentifiedError, SettingsError
from hearteval.exchange.tables import frames

VOTES: dict[str, Any] = {
    "model_a": ["ash", "birch", "cedar", "ash", "birch", "cedar", "ash", "birch"] * 6,
    "model_b": ["birch", "cedar", "ash", "cedar", "ash", "birch", "birch", "cedar"] * 6,
    "winner": ["model_a", "model_b", "tie", "model_a", "tie", "model_b"] * 8,
    "prompt": [f"p{i % 12}" for i in range(48)],
    "voter": [f"v{i % 7}" for i in range(48)],
    "strength": [1, 2, 3, 4, 5, 1, 2, 3] * 6,
}
CONTROLLED: dict[str, Any] = {
    **VOTES,
    "words_a": [10 + 7 * i % 31 for i in range(48)],
    "words_b": [10 + 5 * i % 23 for i in range(48)],
    "below": [-1] * 48,
    "judge": [f"j{i * i % 5 % 2}" for i in range(48)],
}
RATINGS: dict[str, Any] = {
    "text": [f"t{i}" for i in range(12) for _ in range(2)],
    "coder": ["ann", "bob"] * 12,
    "label": [3, 3, 1, 2, 5, 5, 4, 4, 2, 2, 1, 1, 5, 4, 3, 3, 2, 3, 4, 4, 1, 1, 2, 2],
}
NAMED: dict[str, Any] = {"unit": "text", "rater": "coder", "value": "label"}
FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.fixture
def votes_file(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    pd.DataFrame(VOTES).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("frame", FRAMES)
def test_rank_of_a_frame_is_that_of_a_file(frame: Any, votes_file: Path) -> None:
    of_frame = he.rank(frame(VOTES), cluster="prompt", rater="voter", strength="strength")
    of_file = he.rank(votes_file, cluster="prompt", rater="voter", strength="strength")

    assert of_frame.to_dict() == of_file.to_dict()


@pytest.mark.parametrize("frame", FRAMES)
def test_results_come_as_the_kind_of_frame_that_went_in(frame: Any) -> None:
    ranking = he.rank(frame(VOTES), cluster="prompt")
    agreement = he.agree(frame(RATINGS), **NAMED, level="ordinal")

    assert type(ranking.to_frame()) is type(frame(VOTES))
    assert type(ranking.differences_frame()) is type(frame(VOTES))
    assert type(agreement.to_frame()) is type(frame(VOTES))


def test_frame_holds_the_systems_of_the_result() -> None:
    ranking = he.rank(pd.DataFrame(VOTES), cluster="prompt")

    frame = ranking.to_frame()

    assert frame["system"].tolist() == [row.system for row in ranking.systems]
    assert frame["elo"].tolist() == [row.elo for row in ranking.systems]
    assert "elo_weighted" not in frame.columns


def test_frame_of_a_path_is_of_a_library_that_is_installed(
    votes_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(he.rank(votes_file, cluster="prompt").to_frame(), pd.DataFrame)

    monkeypatch.setattr(frames, "find_spec", lambda name: name != "pandas")
    assert isinstance(he.rank(votes_file, cluster="prompt").to_frame(), pl.DataFrame)

    monkeypatch.setattr(frames, "find_spec", lambda _name: None)
    with pytest.raises(SettingsError, match="pandas, polars, pyarrow"):
        he.rank(votes_file, cluster="prompt").to_frame()


def test_dictionary_is_the_contract(votes_file: Path) -> None:
    """DESIGN.md section 2: the keys of ``heart.rank/1``; it may gain some, never lose one."""
    found = he.rank(votes_file, cluster="prompt", rater="voter", strength="strength").to_dict()

    assert found["schema"] == "heart.rank/1"
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
    found = he.rank(votes_file, cluster="prompt").to_dict()["systems"][0]

    assert not {"elo_weighted", "low_weighted", "high_weighted"} & set(found)


def test_agreement_has_every_measure_of_the_contract() -> None:
    found = he.agree(pd.DataFrame(RATINGS), **NAMED, level="interval").to_dict()

    measures = {"percent_agreement", "cohen_kappa", "cohen_kappa_weighted_value"}
    measures |= {"cohen_kappa_weighted_index", "fleiss_kappa", "krippendorff_alpha"}
    measures |= {"gwet_ac1", "gwet_ac2", "icc_c1", "icc_a1"}
    assert found["schema"] == "heart.agree/1"
    assert {"n_units", "n_raters", "n_values", "excluded"} | measures <= set(found)
    assert all({"value", "low", "high", "reason"} <= set(found[name]) for name in measures)
    assert found["percent_agreement"]["value"] == pytest.approx(9 / 12)


def test_results_show_as_text_and_as_a_table_of_a_notebook(votes_file: Path) -> None:
    ranking = he.rank(votes_file, cluster="prompt", strength="strength")
    agreement = he.agree(pd.DataFrame(RATINGS), **NAMED, level="nominal")

    assert "3 systems: 48 votes" in str(ranking)
    assert "how far Elo would move" in " ".join(str(ranking).split())
    assert ranking._repr_html_().count("<tr>") == 4 + 4  # the ranking, and head to head
    assert "Fleiss" in str(agreement)
    assert agreement._repr_html_().count("<tr>") == 15


def test_results_are_short_where_they_are_looked_at() -> None:
    """A ranking of 59 systems was 448,928 characters."""
    n = 59
    pairs = [(f"s{i}", f"s{(i + k) % n}") for i in range(n) for k in range(1, 6)]
    frame = pd.DataFrame(pairs * 2, columns=["left", "right"])
    frame["winner"] = ["left"] * len(pairs) + ["right"] * len(pairs)
    frame["item"] = [f"i{k % 20}" for k in range(len(frame))]
    frame["judge"] = ["ann", "bob"] * len(pairs)
    ranking = he.rank(frame, cluster="item")
    results = [
        ranking,
        he.rank_controlled(frame, cluster="item"),
        he.agree(pd.DataFrame(RATINGS), **NAMED, level="nominal"),
    ]

    for result in results:
        assert len(repr(result)) < 300, repr(result)
        assert repr(result).startswith(f"<{type(result).__name__}: ")
    assert "s0 1500, s1 1500, s10 1500 and 56 more" in repr(ranking)
    assert len(str(ranking)) > 1000
    assert len(ranking.differences) == len(list(ranking.differences)) == n * (n - 1) / 2


@pytest.mark.parametrize("prior", [1e308, 10**400, 1e7])
def test_a_prior_that_drowns_all_votes_is_refused(prior: float) -> None:
    with pytest.raises(
        ValueError, match=r"prior is (a weight of 0 to 1,000,000|too large a number)"
    ):
        he.rank(pd.DataFrame(VOTES), prior=prior)


def test_names_in_a_notebook_are_text_and_no_markup() -> None:
    votes = {**VOTES, "model_a": [name.replace("ash", "<b>ash") for name in VOTES["model_a"]]}
    votes["model_b"] = [name.replace("ash", "<b>ash") for name in VOTES["model_b"]]

    assert "<b>" not in he.rank(pd.DataFrame(votes), cluster="prompt")._repr_html_()


def test_columns_that_cannot_be_guessed_must_be_named() -> None:
    with pytest.raises(SettingsError, match="--right, --winner; there are 'model_a', 'prompt'"):
        he.rank(pd.DataFrame({"model_a": ["a"], "prompt": ["p"]}))


def test_own_words_for_the_outcome_are_understood() -> None:
    votes = pd.DataFrame({**VOTES, "winner": ["left won", "right won", "even"] * 16})

    ranking = he.rank(votes, left_name="left won", right_name=["right won"], tie_name="even")

    assert ranking.fit.n_ties == 16


def test_bad_rows_and_open_rankings_are_named_errors() -> None:
    with pytest.raises(InvalidVotesError, match="row 1"):
        he.rank(pd.DataFrame({**VOTES, "winner": ["modela", *VOTES["winner"][1:]]}))
    with pytest.raises(NotIdentifiedError, match="ash"):
        he.rank(pd.DataFrame({"left": ["ash"], "right": ["birch"], "winner": ["ash"]}))


def test_missing_names_are_counted_in_agreement() -> None:
    ratings = pd.DataFrame({**RATINGS, "coder": [None, *RATINGS["coder"][1:]]})

    found = he.agree(ratings, **NAMED, level="nominal")

    assert found.excluded["missing rater"] == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"cluster": 3}, "cluster must be the name of a column, as text, not 3; write it as '3'"),
        ({"left": 0}, "left must be the name of a column, as text, not 0; write it as '0'"),
        ({"rater": ["voter"]}, "rater must be the name of a column"),
        ({"left_name": None, "right_name": "b"}, "left_name must be a value of the winner column"),
        ({"tie_name": [["tie"]]}, "tie_name must be a value of the winner column"),
        ({"resamples": 100.5}, "resamples must be an integer, not 100.5"),
        ({"seed": "a"}, "seed must be an integer, not 'a'"),
        ({"level": ".95"}, "level must be a number, not '.95'"),
        ({"prior": "1"}, "prior must be a number, not '1'"),
    ],
)
def test_arguments_of_a_wrong_kind_are_named(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        he.rank(pd.DataFrame(VOTES), **arguments)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"level": 95}, "a level is between 0 and 1, not 95"),
        ({"level": float("nan")}, "level must be finite"),
        ({"seed": -1}, "a seed is 0 or more, not -1"),
        ({"resamples": 1}, "at least 100 resamples, not 1"),
    ],
)
def test_values_that_can_never_be_are_value_errors(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        he.rank(pd.DataFrame(VOTES), cluster="prompt", **arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "problem"),
    [
        ({"level": "Ordinal"}, ValueError, "a level of measurement is one of"),
        ({"seed": -1}, ValueError, "a seed is 0 or more, not -1"),
        ({"resamples": 1}, ValueError, "at least 100 resamples, not 1"),
        ({"minimum": float("inf")}, ValueError, "minimum must be finite"),
        ({"minimum": "1"}, TypeError, "minimum must be a number, not '1'"),
        ({"seed": 1.5}, TypeError, "seed must be an integer"),
        ({"unit": 0}, TypeError, "unit must be the name of a column"),
        ({"minimum": 5, "maximum": 1}, SettingsError, "in that order"),
        ({"rater": "text"}, SettingsError, "'text' is named both as unit and as rater"),
    ],
)
def test_agreement_checks_its_arguments_as_ranking_does(
    arguments: dict[str, Any], error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        he.agree(pd.DataFrame(RATINGS), **{**NAMED, "level": "ordinal", **arguments})


@pytest.mark.parametrize("values", [(1, 2, 0), ([1], [2.0], [np.int64(0)]), ("1", "2", "0")])
def test_values_of_a_column_of_numbers_may_be_numbers(values: Any) -> None:
    left, right, tie = values
    numbers = {"model_a": 2, "model_b": 1, "tie": 0}
    votes = pd.DataFrame(VOTES)
    swapped = votes.assign(winner=votes.winner.map(numbers))

    ranking = he.rank(swapped, cluster="prompt", left_name=right, right_name=left, tie_name=tie)

    assert ranking.systems == he.rank(votes, cluster="prompt").systems


def test_values_of_a_column_of_truths_may_be_truths() -> None:
    votes = pd.DataFrame(VOTES)
    votes = votes[votes.winner != "tie"]
    truths = votes.assign(winner=votes.winner == "model_a")

    ranking = he.rank(truths, cluster="prompt", left_name=True, right_name=False)

    assert ranking.systems == he.rank(votes, cluster="prompt").systems


def test_numbers_of_numpy_can_be_written_as_json() -> None:
    numbers: dict[str, Any] = {"resamples": np.int64(100), "seed": np.int64(3)}
    limits: dict[str, Any] = {"minimum": np.int64(1), "maximum": np.float32(5)}
    prior: Any = np.float32(1)
    ranking = he.rank(pd.DataFrame(VOTES), prior=prior, **numbers)
    agreement = he.agree(pd.DataFrame(RATINGS), **NAMED, level="ordinal", **numbers, **limits)

    assert json.loads(json.dumps(ranking.to_dict()))["settings"]["seed"] == 3
    assert json.loads(json.dumps(agreement.to_dict()))["settings"]["min"] == 1


@pytest.mark.parametrize(
    ("roles", "named"),
    [
        ({"cluster": "voter", "rater": "voter"}, "as cluster and as rater"),
        ({"left": "model_a", "right": "model_a"}, "as left and as right"),
        ({"cluster": "winner"}, "as winner and as cluster"),
    ],
)
def test_one_column_has_one_role(roles: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        he.rank(pd.DataFrame(VOTES), **roles)  # type: ignore[call-overload]
    with pytest.raises(SettingsError, match="as judge and as cluster"):
        he.rank_judge_aware(pd.DataFrame(VOTES), judge="voter", cluster="voter")


def test_columns_of_another_case_are_suggested() -> None:
    votes = pd.DataFrame({"Left": ["a"], "right": ["b"], "Winner": ["left"]})

    with pytest.raises(SettingsError, match=r"did you mean:\n.*: left='Left', winner='Winner'"):
        he.rank(votes)


def test_frame_after_one_of_another_library_is_of_one_that_is_installed() -> None:
    frame = pd.DataFrame(VOTES)
    relation = duckdb.from_df(frame)
    batch = pa.RecordBatch.from_pydict(VOTES)

    assert isinstance(he.rank(relation, cluster="prompt").to_frame(), pd.DataFrame)
    assert isinstance(he.rank(batch, cluster="prompt").to_frame(), pa.Table)


def test_what_was_noticed_in_reading_is_said_with_what_cannot_be_ranked(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("winner,left,right\nleft,ash,birch\nright,ash,birch\nleft,ash,bir")

    with pytest.raises(NotIdentifiedError, match=r"bir.*Noticed in reading: the last line"):
        he.rank(path)


def test_values_that_look_alike_are_warned_of_where_they_are_names() -> None:
    frame = pd.DataFrame({**RATINGS, "label": ["3 ", "3", *["4"] * 22]})

    def warnings_at(level: Any) -> str:
        found = he.agree(frame, **NAMED, level=level)
        return "; ".join(found.warnings)

    assert "values that differ only in case, white space or encoding (1): '3' and '3 '" in (
        warnings_at("nominal")
    )
    assert "white space" not in warnings_at("ordinal")


@pytest.mark.parametrize(
    ("controls", "error", "problem"),
    [
        (["words_a", "words_b"], TypeError, "controls must map a name to two columns"),
        ({"words": "ab"}, TypeError, "controls must map a name to two columns"),
        ({"words": ("words_a", 1)}, TypeError, "controls must map a name to two columns"),
        ({"words": ("words_a", "words_a")}, SettingsError, "names 'words_a' for both sides"),
        ({"position": ("words_a", "words_b")}, SettingsError, "cannot be called 'position'"),
        ({"words": ("words_a", "below")}, SettingsError, "'below' holds -1; controls are lengths"),
    ],
)
def test_controls_that_cannot_be_are_explained(
    controls: Any, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        he.rank_controlled(pd.DataFrame(CONTROLLED), cluster="prompt", controls=controls)


def test_nothing_to_control_for_is_an_error() -> None:
    with pytest.raises(SettingsError, match="there is nothing to control for"):
        he.rank_controlled(pd.DataFrame(CONTROLLED), cluster="prompt", position=False)


@pytest.mark.parametrize("level", [0, 1, 1.5])
def test_adjusted_ratings_check_their_level_as_rank_does(level: float) -> None:
    with pytest.raises(ValueError, match="a level is between 0 and 1"):
        he.rank_controlled(pd.DataFrame(VOTES), cluster="prompt", level=level)
    with pytest.raises(ValueError, match="a level is between 0 and 1"):
        he.rank_judge_aware(pd.DataFrame(VOTES), judge="voter", cluster="prompt", level=level)


def adjusted(frame: Any, kind: str) -> Any:
    if kind == "controlled":
        return he.rank_controlled(
            frame, cluster="prompt", controls={"words <b>": ("words_a", "words_b")}, rater="voter"
        )
    return he.rank_judge_aware(frame, judge="judge", cluster="prompt")


@pytest.mark.parametrize("kind", ["controlled", "judge_aware"])
def test_adjusted_ratings_say_what_went_in(kind: str) -> None:
    frame = pd.DataFrame(CONTROLLED).astype({"winner": object, "prompt": object})
    frame.loc[0, "winner"] = None
    frame.loc[1, "prompt"] = "NA"

    found = adjusted(frame, kind).to_dict()

    assert json.loads(json.dumps(found))["schema"] == f"heart.rank_{kind}/1"
    assert (found["n_votes"], found["n_ties"]) == (46, 16)
    assert found["n_dropped"] == {"missing winner": 1, "missing cluster": 1}
    assert any("'NA' (1)" in warning for warning in found["warnings"])
    assert found["settings"]["level"] == 0.95
    assert found["settings"]["n_items"] == 12
    assert found["settings"]["columns"]["cluster"] == "prompt"
    pairs = {"words <b>": ("words_a", "words_b")} if kind == "controlled" else {}
    assert found["settings"]["controls"] == pairs


@pytest.mark.parametrize("kind", ["controlled", "judge_aware"])
@pytest.mark.parametrize("frame", FRAMES)
def test_adjusted_ratings_come_as_frame_text_and_table(frame: Any, kind: str) -> None:
    found = adjusted(frame(CONTROLLED), kind)

    assert type(found.to_frame()) is type(frame(VOTES))
    assert "3 systems: 48 votes, 16 ties, 12 items" in str(found)
    assert max(map(len, str(found).splitlines())) <= 80
    assert "Elo" in str(found)
    assert found._repr_html_().count("<table>") == 2
    assert "<b>" not in found._repr_html_()


def test_unknown_names_of_the_package_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="rankk"):
        he.rankk  # noqa: B018


def test_public_names_are_listed() -> None:
    assert dir(he) == he.__all__


def test_arguments_have_the_defaults_and_words_of_the_command_line() -> None:
    arguments = inspect.signature(he.rank).parameters

    assert [*arguments][:4] == ["votes", "by", "report", "left"]
    assert (arguments["prior"].default, arguments["position"].default) == (0.0, False)
    assert "    rater: Column of the person who voted; not for judges.\n" in str(he.rank.__doc__)
    assert inspect.signature(he.agree).parameters["level"].default is inspect.Parameter.empty
    with pytest.raises(TypeError, match="'lft'"):
        he.rank(VOTES, lft="model_a")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="'level'"):
        he.agree(RATINGS, unit="text", rater="coder", value="label")  # type: ignore[call-overload]
