"""`by`: one result for each value of a column, each as the rows with that value alone give it."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from heart_command import Heart
from rating_tables import SHARED

import hearteval as he
from hearteval.errors import InvalidVotesError, NotIdentifiedError, SettingsError
from hearteval.exchange.votes import coder

SYSTEMS = ("ash", "birch", "cedar")
PAIRS = [(a, b) for a in SYSTEMS for b in SYSTEMS if a != b]


def votes_of_axes() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = [
        (a, b, rng.choice(["model_a", "model_b", "tie"]), f"p{k}", axis, shift)
        for shift, axis in enumerate(("H", "E"))
        for k in range(12)
        for a, b in PAIRS
    ]
    return pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "prompt", "axis", "turn"])


def ratings_of_axes() -> pd.DataFrame:
    rows = [
        (f"t{k}", coder, 1 + (k + (k % (3 + shift) == 0) * step) % 4, axis)
        for shift, axis in enumerate(("H", "E"))
        for k in range(14)
        for step, coder in enumerate(("ann", "bob", "cyd"))
    ]
    return pd.DataFrame(rows, columns=["text", "coder", "label", "axis"])


@pytest.mark.parametrize("ties", ["half", "drop"])
def test_ranking_of_a_group_is_that_of_its_rows(ties: Any) -> None:
    votes = votes_of_axes()
    found = he.rank(votes, cluster="prompt", ties=ties, by="axis")

    assert [group.value for group in found.groups] == ["E", "H"]
    for axis in ("H", "E"):
        alone = he.rank(votes[votes.axis == axis], cluster="prompt", ties=ties)
        assert found[axis].to_dict() == alone.to_dict()


def test_agreement_of_a_group_is_that_of_its_rows() -> None:
    ratings = ratings_of_axes()
    options: dict[str, Any] = {"unit": "text", "rater": "coder", "value": "label"}
    found = he.agree(ratings, **options, level="ordinal", by="axis")

    for axis in ("H", "E"):
        alone = he.agree(ratings[ratings.axis == axis], **options, level="ordinal")
        assert found[axis].to_dict() == alone.to_dict()


def test_groups_are_one_object_for_json() -> None:
    body = he.rank(votes_of_axes(), cluster="prompt", by="axis").to_dict()

    assert {key: body[key] for key in ("schema", "by", "n_dropped")} == {
        "schema": "heart.rank_by/1",
        "by": "axis",
        "n_dropped": {},
    }
    assert [sorted(group) for group in body["groups"]] == [["result", "value"]] * 2
    assert body["groups"][0]["result"]["schema"] == "heart.rank/1"


def test_values_that_are_numbers_stand_in_their_order() -> None:
    votes = pd.concat([votes_of_axes().assign(week=week) for week in (10, 9, 1)])

    found = he.rank(votes, cluster="prompt", by="week")

    assert [group.value for group in found.groups] == ["1", "9", "10"]


def test_frame_of_groups_names_the_group_of_each_row() -> None:
    frame = he.rank(votes_of_axes(), cluster="prompt", by="axis").to_frame()

    assert frame.columns[:2].tolist() == ["axis", "system"]
    assert frame.axis.tolist() == ["E"] * 3 + ["H"] * 3


def test_rows_without_a_value_are_in_no_group_and_counted() -> None:
    votes = votes_of_axes()
    votes.loc[[0, 5], "axis"] = None

    found = he.rank(votes, cluster="prompt", by="axis")

    assert found.n_dropped == {"missing axis": 2}
    assert sum(found[axis].fit.n_votes for axis in ("H", "E")) == len(votes) - 2


def test_what_is_left_out_is_counted_in_its_group() -> None:
    votes = votes_of_axes()
    votes.loc[votes.index[votes.axis == "H"][:3], "winner"] = None

    found = he.rank(votes, cluster="prompt", by="axis")

    assert found["H"].fit.n_dropped == {"missing winner": 3}
    assert found["E"].fit.n_dropped == {}


def test_a_group_that_cannot_be_ranked_keeps_its_error_and_the_others_stand() -> None:
    votes = votes_of_axes()
    lone = pd.DataFrame([("ash", "birch", "model_a", "p0", "X", 0)], columns=votes.columns)

    found = he.rank(pd.concat([votes, lone]), cluster="prompt", by="axis")

    assert list(found.errors) == ["X"]
    assert found.to_dict()["groups"][2]["error"]["kind"] == "not_identified"
    assert found["H"].fit.n_votes == 72
    with pytest.raises(NotIdentifiedError):
        found["X"]
    with pytest.raises(KeyError):
        found["Y"]


def test_winners_are_read_in_one_vocabulary_over_all_groups() -> None:
    votes = votes_of_axes()
    votes.loc[votes.axis == "H", "winner"] = "left"

    with pytest.raises(InvalidVotesError, match="left"):
        he.rank(votes, cluster="prompt", by="axis")


def test_a_column_of_groups_must_be_there_and_have_no_other_role() -> None:
    with pytest.raises(SettingsError, match="no column 'axes'"):
        he.rank(votes_of_axes(), cluster="prompt", by="axes")
    with pytest.raises(SettingsError, match="both as cluster and as by"):
        he.rank(votes_of_axes(), cluster="prompt", by="prompt")
    with pytest.raises(InvalidVotesError, match="none of its"):
        he.rank(votes_of_axes().assign(axis=None), cluster="prompt", by="axis")
    with pytest.raises(InvalidVotesError, match="none of its"):
        he.agree(
            ratings_of_axes().assign(axis=""),
            unit="text",
            rater="coder",
            value="label",
            level="nominal",
            by="axis",
        )


def test_rank_by_on_the_command_line(heart: Heart, tmp_path: Path) -> None:
    votes_of_axes().to_csv(tmp_path / "votes.csv", index=False)
    words = ("rank", tmp_path / "votes.csv", "--cluster", "prompt", "--by", "axis")

    found = heart(*words, "--confidence", ".9", "--json")
    said = heart(*words)

    assert (found.code, said.code) == (0, 0)
    assert found.json["schema"] == "heart.rank_by/1"
    assert found.json["groups"][0]["result"]["settings"]["level"] == 0.9
    assert "2 rankings by axis" in said.out.replace("\N{NO-BREAK SPACE}", " ")
    assert max(map(len, said.out.splitlines())) <= 80


def test_agree_by_on_the_command_line(heart: Heart, tmp_path: Path) -> None:
    ratings_of_axes().to_csv(tmp_path / "ratings.csv", index=False)
    columns = ("--unit", "text", "--rater", "coder", "--value", "label", "--level", "ordinal")
    words = ("agree", tmp_path / "ratings.csv", *columns, "--by", "axis")

    found = heart(*words, "--json")
    said = heart(*words)

    assert found.json["schema"] == "heart.agree_by/1"
    assert found.json["groups"][1]["value"] == "H"
    assert "2 tables of ratings by axis" in said.out.replace("\N{NO-BREAK SPACE}", " ")
    assert said.out.count("Only 14 units have two values") == 1  # of both, said once
    assert max(map(len, said.out.splitlines())) <= 80


def test_a_group_without_a_result_is_exit_code_1(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    votes_of_axes().to_csv(path, index=False)
    with path.open("a", encoding="utf-8") as file:
        file.write("ash,birch,model_a,p0,X,0\n")

    done = heart("rank", path, "--cluster", "prompt", "--by", "axis", "--json")

    assert done.code == 1
    assert done.json["groups"][2]["result"] is None
    assert done.err.startswith("heart: 1 of 3 groups have no result; X: the comparisons do not")


def test_confidence_widens_the_intervals_of_agreement(heart: Heart, tmp_path: Path) -> None:
    ratings_of_axes().query("axis == 'H'").to_csv(tmp_path / "ratings.csv", index=False)
    columns = ("--unit", "text", "--rater", "coder", "--value", "label", "--level", "ordinal")
    words = ("agree", tmp_path / "ratings.csv", *columns, "--confidence")

    usual, wide = (heart(*words, level, "--json").json for level in (".95", ".99"))

    assert wide["settings"]["confidence"] == 0.99
    assert wide["krippendorff_alpha"]["value"] == usual["krippendorff_alpha"]["value"]
    assert wide["krippendorff_alpha"]["low"] < usual["krippendorff_alpha"]["low"]
    assert "99 % interval" in heart(*words, ".99").out.replace("\N{NO-BREAK SPACE}", " ")
    assert heart(*words, "95").code == 2


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data/reference")
def test_alpha_of_each_dimension_is_that_of_kumar_2025() -> None:
    """Krippendorff's alpha of the three experts: .529 of empathy to .759 of m_practical."""
    ratings = pd.read_csv(SHARED / "kumar2025" / "tidy_ratings.csv", dtype={"item": str})
    found = he.agree(
        ratings[ratings.rater.str.startswith("expert")],
        unit="item",
        rater="rater",
        value="rating",
        level="interval",
        resamples=100,
        by="dimension",
    )

    assert len(found.groups) == 21
    alphas = {name: found[name].krippendorff_alpha.value for name in ("empathy", "m_practical")}
    assert alphas == {
        "empathy": pytest.approx(0.529, abs=5e-4),
        "m_practical": pytest.approx(0.759, abs=5e-4),
    }


def test_items_of_a_group_that_were_put_into_groups_are_counted_as_these(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coder, "MAX_ITEMS", 8)
    monkeypatch.setattr(coder, "MAX_ROWS", 50)

    found = he.rank(votes_of_axes(), cluster="prompt", by="axis")

    assert found["H"].settings.n_items is not None
    assert found["H"].settings.n_items <= 8
    assert any("12 items were put into" in warning for warning in found["H"].warnings)
