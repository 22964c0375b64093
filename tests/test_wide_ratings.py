"""Wide tables, units of several columns, reversed items: `heart agree` and `he.agree`."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from heart_command import Heart
from rating_tables import SHARED, SHROUT_FLEISS

import hearteval as he
from hearteval.errors import InvalidVotesError, SettingsError

WIDE = pd.DataFrame(SHROUT_FLEISS * 2, columns=["ann", "bob", "cyd", "dee"])
LONG = (
    WIDE.assign(unit=[f"t{k}" for k in range(12)])
    .melt(id_vars="unit", var_name="coder", value_name="score")
    .assign(half=lambda long: long.unit.str[1:].astype(int) // 6, number=lambda long: long.unit)
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "wide.csv"
    WIDE.assign(unit=range(12), part="H").to_csv(path, index=False)
    return path


def measures(found: Any) -> dict[str, Any]:
    body: dict[str, Any] = found.to_dict()
    return {key: value for key, value in body.items() if isinstance(value, dict) and "low" in value}


def test_a_wide_table_is_the_long_one() -> None:
    wide = he.agree(WIDE, wide=True, level="interval")
    long = he.agree(LONG, unit="unit", rater="coder", value="score", level="interval")

    assert (wide.n_units, wide.n_raters, wide.n_values) == (12, 4, 48)
    # The value alone: resamples follow the order of units' names.
    assert {name: each["value"] for name, each in measures(wide).items()} == pytest.approx(
        {name: each["value"] for name, each in measures(long).items()}, nan_ok=True
    )


def test_raters_of_a_wide_table_may_be_named() -> None:
    table = WIDE.assign(note="x", text=range(12))
    found = he.agree(table, wide=True, unit="text", rater=["ann", "bob"], level="interval")

    assert (found.n_units, found.n_raters) == (12, 2)


def test_a_wide_table_may_be_parted() -> None:
    table = WIDE.assign(part=["H", "E"] * 6)
    found = he.agree(table, wide=True, level="interval", by="part")

    assert [(g.value, g.result and g.result.n_units) for g in found.groups] == [("E", 6), ("H", 6)]


def test_columns_that_name_a_unit_together_are_one() -> None:
    table = LONG.assign(place=LONG.unit.str[1:].astype(int) % 6)
    apart = he.agree(table, unit=["half", "place"], rater="coder", value="score", level="interval")
    assert apart.n_units == 12
    with pytest.raises(InvalidVotesError, match="2 times"):
        he.agree(table, unit="place", rater="coder", value="score", level="interval")


def test_cells_that_hold_what_stands_between_them_stay_apart() -> None:
    table = pd.DataFrame(
        {
            "a": ["x / y", "x", "x / y", "x"],
            "b": ["z", "y / z", "z", "y / z"],
            "coder": ["ann", "ann", "bob", "bob"],
            "label": [1, 2, 1, 2],
        }
    )
    found = he.agree(table, unit=["a", "b"], rater="coder", value="label", level="nominal")

    assert found.n_units == 2


def test_a_unit_lacks_a_name_where_one_of_its_columns_is_empty() -> None:
    table = LONG.assign(place=LONG.unit.where(LONG.index > 0))
    found = he.agree(table, unit=["half", "place"], rater="coder", value="score", level="interval")

    assert found.excluded == {"missing unit": 1}


def test_items_of_votes_may_be_named_by_several_columns() -> None:
    votes = pd.DataFrame(
        {
            "left": ["ash", "elm", "ash"] * 20,
            "right": ["elm", "ash", "elm"] * 20,
            "winner": (["left"] * 7 + ["right"] * 3) * 6,
            "dialogue": [k // 6 for k in range(60)],
            "turn": [k % 3 for k in range(60)],
        }
    )
    votes["both"] = votes.dialogue.astype(str) + "-" + votes.turn.astype(str)
    joined = he.rank(votes, cluster=["dialogue", "turn"])
    made = he.rank(votes, cluster="both")

    assert joined.settings.columns["cluster"] == "dialogue + turn"
    assert joined.systems == made.systems


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data/reference")
def test_alphas_of_the_big_five_of_psych() -> None:
    """R psych: .70 .73 .76 .81 .60 for A C E N O, the keyed items reversed."""
    bfi = pd.read_csv(SHARED / "classic" / "psych_bfi.csv")
    keys = pd.read_csv(SHARED / "classic" / "psych_bfi.keys.csv").drop(columns="rownames")
    alphas = {}
    for scale in keys:
        items = [key.strip("-") for key in keys[scale]]
        found = he.agree(
            bfi,
            wide=True,
            rater=items,
            reverse=[key.strip("-") for key in keys[scale] if key.startswith("-")],
            level="interval",
            minimum=1,
            maximum=6,
            resamples=100,
        )
        assert found.cronbach_alpha.value is not None
        alphas[scale[0]] = round(found.cronbach_alpha.value, 2)
    assert alphas == {"a": 0.70, "c": 0.73, "e": 0.76, "n": 0.81, "o": 0.60}


def test_reversed_items_are_turned_within_the_scale() -> None:
    turned = WIDE.assign(bob=11 - WIDE.bob)
    options: dict[str, Any] = {"wide": True, "level": "interval", "minimum": 1, "maximum": 10}
    found = he.agree(turned, reverse=["bob"], **options)

    assert measures(found) == measures(he.agree(WIDE, **options))
    assert found.settings.reverse == ("bob",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reverse": ["bob"]}, "name the ends of the scale: min and max"),
        ({"reverse": ["bo"], "minimum": 1, "maximum": 9}, "is no rater; there are ann, bob"),
        ({"value": "ann"}, "name none"),
        ({"rater": ["ann"]}, "two columns of raters"),
        ({"rater": ["ann", "bo"]}, "no column 'bo'"),
        ({"unit": "ann", "rater": ["ann", "bob"]}, "both as unit and as rater"),
        ({"unit": ["ann", "ann"]}, "named twice"),
    ],
)
def test_what_cannot_be_read_so_is_said(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        he.agree(WIDE, wide=True, level="interval", **options)


def test_several_columns_of_raters_are_a_wide_table() -> None:
    with pytest.raises(SettingsError, match="those of a wide table"):
        he.agree(WIDE, unit="ann", rater=["bob", "cyd"], value="dee", level="interval")


def test_wide_on_the_command_line(heart: Heart, path: Path) -> None:
    words = ("agree", path, "--wide", "--unit", "unit", "--unit", "part", "--level", "interval")
    done = heart(*words, "--json")
    turned = heart(*words, "--reverse", "bob", "--min", "1", "--max", "10", "--json")
    some = heart(*words, "--rater", "ann", "--rater", "bob", "--json")

    assert (done.json["n_raters"], some.json["n_raters"]) == (4, 2)
    assert round(done.json["icc_1"]["value"], 2) == 0.14
    assert turned.json["cronbach_alpha"]["value"] < done.json["cronbach_alpha"]["value"]
    assert max(map(len, heart(*words).out.splitlines())) <= 80
    assert heart("agree", path, "--wide").err.startswith("heart: --level is missing")


def test_several_columns_of_items_on_the_command_line(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    rows = [f"ash,elm,{'model_a' if k % 3 else 'model_b'},d{k // 4},{k % 4}" for k in range(40)]
    path.write_text("model_a,model_b,winner,dialogue,turn\n" + "\n".join(rows) + "\n")

    done = heart("rank", path, "--cluster", "dialogue", "--cluster", "turn", "--json")

    assert done.json["settings"]["n_items"] == 40
