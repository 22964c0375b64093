"""Long tables of ratings, with what is missing kept apart from what nobody said."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hearteval.errors import InvalidVotesError, SettingsError
from hearteval.exchange.ratings import RatingColumns, ReadRatings, read_ratings
from hearteval.exchange.tables import frames, open_table

CELLS: dict[str, list[Any]] = {
    "unit": ["u1", "u1", "u2", None, "u2", "u3"],
    "rater": ["ann", "ben", "ann", "ann", None, "ben"],
    "value": [3, 4, None, 5, 1, 3],
}
NAMED = [("u1", "ann", "3"), ("u1", "ben", "4"), ("u2", "ann", None), ("u3", "ben", "3")]


def read(source: Any) -> ReadRatings:
    return read_ratings(open_table(source), RatingColumns("unit", "rater", "value"))


def rows_of(found: ReadRatings) -> list[tuple[str, str, str | None]]:
    r = found.ratings
    codes = zip(r.unit.tolist(), r.rater.tolist(), r.value.tolist(), strict=True)
    return [(r.units[u], r.raters[w], None if v < 0 else r.values[v]) for u, w, v in codes]


@pytest.mark.parametrize("batch_rows", [1, 4, 1000])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_rows_are_read_from_any_dataframe(
    make: Any, batch_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "BATCH_ROWS", batch_rows)

    found = read(make(CELLS))

    assert rows_of(found) == NAMED
    assert sorted(found.ratings.units) == ["u1", "u2", "u3"]
    assert sorted(found.ratings.raters) == ["ann", "ben"]
    assert sorted(found.ratings.values) == ["3", "4"]
    assert found.n_dropped == {"missing unit": 1, "missing rater": 1}


def test_rows_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    pl.DataFrame(CELLS).write_csv(path)

    assert rows_of(read(path)) == NAMED


def test_three_and_3_0_are_one_value_among_numbers() -> None:
    values = ["3", "3.0", "-1.50", ""]
    frame = {"unit": ["a", "b", "c", "d"], "rater": ["r"] * 4, "value": values}

    assert rows_of(read(pl.DataFrame(frame))) == [
        ("a", "r", "3"),
        ("b", "r", "3"),
        ("c", "r", "-1.50"),
        ("d", "r", None),
    ]


def test_three_and_3_0_are_two_values_among_names() -> None:
    frame = {"unit": ["a", "b", "c"], "rater": ["r"] * 3, "value": ["3", "3.0", "v3"]}

    assert [row[2] for row in rows_of(read(pl.DataFrame(frame)))] == ["3", "3.0", "v3"]


def test_a_table_without_a_named_row_is_an_error() -> None:
    frame = pl.DataFrame({"unit": ["a", None], "rater": [None, "r"], "value": [1, 2]})

    with pytest.raises(InvalidVotesError, match="none of its 2 rows has a unit and a rater"):
        read(frame)


def test_a_table_without_rows_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("unit,rater,value\n", encoding="utf-8")

    with pytest.raises(InvalidVotesError, match="none of its 0 rows"):
        read(path)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(SettingsError, match="no column 'value', only 'unit', 'rater', 'valeu'"):
        read(pl.DataFrame({"unit": ["a"], "rater": ["r"], "valeu": [1]}))


def test_words_for_missing_are_missing_and_raters_that_look_alike_are_warned_of() -> None:
    units = ["a", "None", "a", "b"]
    values = ["NA", "1", "2", "N/A"]
    frame = {"unit": units, "rater": ["ann", "ann", "Ann", "Ann"], "value": values}

    found = read(pl.DataFrame(frame))
    assert found.ratings.units == ("a", "b")
    assert found.ratings.value.tolist() == [-1, 0, -1]
    assert found.n_dropped == {"missing unit": 1}
    assert found.warnings == (
        "column 'unit' has cells that read 'None' (1): they count as missing; write another word"
        " where that is a name or a value",
        "column 'value' has cells that read 'N/A' (1), 'NA' (1): they count as missing; write"
        " another word where that is a name or a value",
        "raters that differ only in case, white space or encoding (1): 'Ann' and 'ann'; write them"
        " alike if they are one",
    )


def test_a_rating_file_whose_last_line_does_not_end_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("unit,rater,value\na,r,12\na,s,1")

    assert "does not end: if the file was cut" in read(path).warnings[0]
