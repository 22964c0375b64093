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
    named = "Raters: ann, bob, cyd, dee."
    done = heart(*words, "--json")
    turned = heart(*words, "--reverse", "bob", "--min", "1", "--max", "10", "--json")
    some = heart(*words, "--rater", "ann", "--rater", "bob", "--json")

    assert (done.json["n_raters"], some.json["n_raters"]) == (4, 2)
    assert some.json["raters"] == ["ann", "bob"]
    assert heart(*words).out.splitlines()[0] == named
    assert round(done.json["icc_1"]["value"], 2) == 0.14
    assert turned.json["cronbach_alpha"]["value"] < done.json["cronbach_alpha"]["value"]
    assert max(map(len, heart(*words).out.splitlines())) <= 80
    lacking = heart("agree", path, "--wide").err
    assert lacking.startswith("heart: --level is missing")
    assert "say --wide" not in lacking


def test_several_columns_of_items_on_the_command_line(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    rows = [f"ash,elm,{'model_a' if k % 3 else 'model_b'},d{k // 4},{k % 4}" for k in range(40)]
    path.write_text("model_a,model_b,winner,dialogue,turn\n" + "\n".join(rows) + "\n")

    done = heart("rank", path, "--cluster", "dialogue", "--cluster", "turn", "--json")

    assert done.json["settings"]["n_items"] == 40


# By hand, of two raters and 26 texts: both say 1 twice and 0 22 times, and they differ on two. So
# observed disagreement is 2/26; of 52 values 6 are 1, so that expected by chance is
# 2 * 6 * 46 / (52 * 51); alpha = 1 - (2/26) / (552/2652) = .630.
PAIRS = [(1, 1)] * 2 + [(1, 0), (0, 1)] + [(0, 0)] * 22
TWO = pd.DataFrame(PAIRS, columns=["ann", "bob"])
ALPHA = 0.630
EXTRA = {
    "an id": ("text_id", [f"t{k}" for k in range(26)], "is named like an id"),
    "a number by that name": ("ID", range(100, 126), "is named like an id"),
    "in camels": ("replyId", [0, 1] * 13, "is named like an id"),
    "a text": ("text", ["I see.", "Go on."] * 13, "is named like no rating"),
    "a comment": ("ann_comment", ["", "Hm."] * 13, "is named like no rating"),
    "a name": ("name", ["elm", "ash"] * 13, "is named like no rating"),
    "an age": ("age", [0, 1] * 13, "is named like no rating"),
    "numbers of rows": ("x", range(1, 27), "numbers the rows"),
    "other in every row": ("story", [f"story {k}" for k in range(26)], "differs in every row"),
    "words": ("city", ["Bonn", "Rome"] * 13, "holds words, the others numbers"),
    "off the scale": ("length", [40, 52] * 13, "holds 40 to 52, the others 0 to 1"),
    "nothing": ("later", [None] * 26, "is empty"),
}


@pytest.mark.parametrize(("column", "cells", "why"), EXTRA.values(), ids=EXTRA)
def test_what_looks_like_no_rater_is_refused_with_the_command(
    heart: Heart, tmp_path: Path, column: str, cells: Any, why: str
) -> None:
    path = tmp_path / "labels.csv"
    TWO.assign(**{column: list(cells)}).to_csv(path, index=False)
    words = ("--wide", "--level", "nominal", "--resamples", "100")
    refused = heart("agree", path, *words)
    assert refused.code == 2
    assert f"{column!r} {why}" in refused.err
    ready = refused.err.splitlines()[-1].split()
    done = heart(*ready[1:], "--json")
    assert done.json["raters"] == ["ann", "bob"]
    assert round(done.json["krippendorff_alpha"]["value"], 3) == ALPHA


def test_the_id_is_the_unit_of_the_command(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    TWO.assign(text_id=[f"t{k}" for k in range(26)], text="Hm.").to_csv(path, index=False)
    error = heart("agree", path, "--wide", "--level", "nominal").err
    assert error.splitlines()[-1].strip() == (
        f"heart agree {path} --unit text_id --rater ann --rater bob --wide --level nominal"
    )


def test_a_flag_beside_a_scale_is_no_rater() -> None:
    table = WIDE.assign(flag=[0, 1, 1] * 4)
    with pytest.raises(SettingsError, match="'flag' holds 0 and 1, which the others do not"):
        he.agree(table, wide=True, level="interval")


def test_a_column_that_is_named_is_a_rater_whatever_it_looks_like() -> None:
    table = TWO.assign(text_id=[0, 1] * 13)
    found = he.agree(table, wide=True, rater=["ann", "text_id"], level="nominal")
    assert found.raters == ("ann", "text_id")


def test_raters_who_hardly_share_a_value_are_raters() -> None:
    assert he.agree(WIDE, wide=True, level="interval").raters == ("ann", "bob", "cyd", "dee")


def test_a_measure_that_differs_in_every_row_is_a_rating() -> None:
    metres = pd.DataFrame({"ann": [1.5 + 0.37 * k for k in range(20)]})
    metres["bob"] = metres.ann + [0.1, -0.2] * 10
    assert he.agree(metres, wide=True, level="ratio").n_values == 40


def test_columns_without_a_name_are_none(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    TWO.to_csv(path)  # the index has no name
    assert he.agree(path, wide=True, level="nominal").raters == ("ann", "bob")


def test_a_column_of_lists_is_refused_like_any_other() -> None:
    rows = [{"ann": a, "bob": b, "turns": ["Hi."]} for a, b in PAIRS]
    with pytest.raises(SettingsError, match="'turns' holds lists, or several types"):
        he.agree(rows, wide=True, level="nominal")


def test_where_no_two_columns_are_alike_all_are_named() -> None:
    table = pd.DataFrame({"ann": [1, 2, 1, 2], "bob": [50, 60, 50, 60]})
    with pytest.raises(SettingsError) as caught:
        he.agree(table, wide=True, level="interval")
    assert caught.value.remedies[0].arguments == {"rater": ("ann", "bob")}


def test_raters_of_groups_are_named_once(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    pd.concat([TWO.assign(half=1), TWO.assign(half=2)]).to_csv(path, index=False)
    done = heart("agree", path, "--wide", "--level", "nominal", "--by", "half")
    assert done.out.splitlines()[0] == "Raters: ann, bob."
    assert done.out.count("Raters:") == 1


def test_a_word_for_missing_is_no_value_at_any_level() -> None:
    table = WIDE.astype(object).astype(str)
    table.loc[0, "ann"] = "N/A"
    for level in ("nominal", "ordinal"):
        found = he.agree(table, wide=True, level=level)
        assert found.excluded == {"missing": 1}
        assert any("they count as missing" in warning for warning in found.warnings)


def test_a_long_table_is_not_read_as_a_wide_one() -> None:
    long = LONG[["unit", "coder", "score"]].rename(columns={"coder": "rater"})
    with pytest.raises(SettingsError, match="If one row is one rating, leave --wide out") as caught:
        he.agree(long, wide=True, level="interval")
    assert not caught.value.remedies


def test_columns_of_the_systems_are_no_raters() -> None:
    votes = {"model_a": ["x", "y"] * 13, "model_b": ["y", "x"] * 13}
    with pytest.raises(SettingsError, match="the raters are ann, bob"):
        he.agree(TWO.assign(**votes), wide=True, level="nominal")
