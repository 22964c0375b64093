"""Lists of dictionaries, and dates and UUIDs as names, in `he.rank` and `he.agree`."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import hearteval as he
from hearteval.errors import InvalidVotesError, SettingsError

START = datetime(2026, 1, 1, 9, tzinfo=UTC)
ROWS: list[dict[str, Any]] = [
    {
        "left": ("ash", "elm")[k % 2],
        "right": ("elm", "ash")[k % 2],
        "winner": "left" if k % 3 else "right",
        "when": START + timedelta(hours=k // 2),
        "day": date(2026, 1, 1 + k // 2),
        "key": UUID(int=k // 2),
    }
    for k in range(24)
]
LABELS: list[dict[str, Any]] = [
    {"key": UUID(int=k), "day": date(2026, 1, 1 + k), "coder": coder, "label": (k + step) % 3}
    for k in range(8)
    for step, coder in enumerate(("ann", "bob"))
]


def of_texts() -> Any:
    rows = [{**row, "when": str(row["when"]), "key": str(row["key"])} for row in ROWS]
    return he.rank(rows, cluster="key").systems


def test_a_list_of_dictionaries_is_a_table() -> None:
    found = he.rank([{k: v for k, v in row.items() if k != "when"} for row in ROWS], cluster="key")

    assert found.settings.n_items == 12
    assert found.systems == he.rank(pd.DataFrame(ROWS), cluster="key").systems
    assert isinstance(found.to_frame(), pd.DataFrame)


def test_a_key_that_a_row_lacks_is_a_missing_cell() -> None:
    rows = [*ROWS, {"left": "ash", "right": "elm"}]

    assert he.rank(rows, cluster="key").fit.n_dropped == {"missing winner": 1}


@pytest.mark.parametrize("key", ["when", "day", "key"])
@pytest.mark.parametrize("make", [list, pd.DataFrame, pl.DataFrame, pa.Table.from_pylist])
def test_dates_and_uuids_are_names(make: Any, key: str) -> None:
    rows = [{k: row[k] for k in ("left", "right", "winner", key)} for row in ROWS]

    found = he.rank(make(rows), cluster=key)

    assert found.settings.n_items == 12
    assert found.systems == of_texts()


def test_dates_of_numpy_and_missing_ones() -> None:
    frame = pd.DataFrame(ROWS).drop(columns="key")
    frame["when"] = pd.to_datetime(frame["when"]).dt.tz_localize(None)
    frame.loc[0, "when"] = pd.NaT
    frame["object"] = frame["when"].astype(object)

    for column in ("when", "object"):
        assert he.rank(frame, cluster=column).fit.n_dropped == {"missing cluster": 1}


def test_dates_of_a_parquet_file_are_names(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    rows = [{k: v for k, v in row.items() if k != "key"} for row in ROWS]
    pa.parquet.write_table(pa.Table.from_pylist(rows), path)

    assert he.rank(path, cluster="when").systems == of_texts()


def test_agreement_on_units_that_are_dates_or_uuids() -> None:
    by_key = he.agree(LABELS, unit="key", rater="coder", value="label", level="nominal")
    by_day = he.agree(
        pd.DataFrame(LABELS), unit="day", rater="coder", value="label", level="nominal"
    )

    assert (by_key.n_units, by_day.n_units) == (8, 8)
    assert by_key.to_dict() == by_day.to_dict()


def test_days_part_votes_in_their_order() -> None:
    votes = [{**row, "month": date(2026, 1 + k % 3, 1)} for k, row in enumerate(ROWS)]
    found = he.rank(votes, by="month")

    assert [group.value for group in found.groups] == ["2026-01-01", "2026-02-01", "2026-03-01"]


def test_what_is_no_cell_is_still_refused() -> None:
    with pytest.raises(InvalidVotesError, match="row 1 holds a time in column 'when'"):
        he.rank([{**row, "when": time(9)} for row in ROWS], cluster="when")
    with pytest.raises(InvalidVotesError, match="mixes types"):
        he.rank([{**ROWS[0], "key": "x"}, *ROWS[1:]], cluster="key")
    with pytest.raises(SettingsError, match="holds no rows"):
        he.rank([])
    with pytest.raises(TypeError, match="row 2 is a str; expected a dictionary"):
        he.rank([ROWS[0], "x"])  # type: ignore[list-item]
    with pytest.raises(SettingsError, match="no column 'keys'"):
        he.rank(ROWS, cluster="keys")
    with pytest.raises(TypeError, match="a list of dictionaries, got int"):
        he.rank(3)  # type: ignore[call-overload]
