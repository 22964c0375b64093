"""Every format gives the same cells, and a source that cannot be read says where and what to do."""

import csv
import gzip
import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hearteval.errors import InvalidVotesError, SettingsError
from hearteval.exchange.tables import arrow, frames, open_table, text
from hearteval.exchange.tables.columns import Table

CELLS = {
    "system": ["mistral, large", None, 'phi "3"', "žluť", 'phi "3"', "mistral, large"],
    "strength": [1, 2, None, 5, 1, 2],
    "share": [0.5, 1.0, None, -0.0, 1e-7, 0.5],
}
EXPECTED = {
    "system": CELLS["system"],
    "strength": ["1", "2", None, "5", "1", "2"],
    "share": ["0.5", "1", None, "0", "1e-07", "0.5"],
}
NAMES = tuple(CELLS)


def rows() -> list[dict[str, Any]]:
    return [dict(zip(NAMES, row, strict=True)) for row in zip(*CELLS.values(), strict=True)]


def write_csv(path: Path, *, delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(NAMES)
        writer.writerows(zip(*EXPECTED.values(), strict=True))
    return path


def write_json_lines(path: Path) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows())
    path.write_text(text, encoding="utf-8")
    return path


def write_parquet(path: Path) -> Path:
    pq.write_table(pa.table(CELLS), path, row_group_size=4)
    return path


def compress(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed


SOURCES: dict[str, Callable[[Path], Any]] = {
    "csv": lambda folder: write_csv(folder / "votes.csv"),
    "path as text": lambda folder: str(write_csv(folder / "VOTES.CSV")),
    "tsv": lambda folder: write_csv(folder / "votes.tsv", delimiter="\t"),
    "csv.gz": lambda folder: compress(write_csv(folder / "votes.csv")),
    "jsonl": lambda folder: write_json_lines(folder / "votes.jsonl"),
    "ndjson": lambda folder: write_json_lines(folder / "votes.ndjson"),
    "jsonl.gz": lambda folder: compress(write_json_lines(folder / "votes.jsonl")),
    "parquet": lambda folder: write_parquet(folder / "votes.parquet"),
    "pandas": lambda _: pd.DataFrame(CELLS),
    "pandas, nullable": lambda _: pd.DataFrame(CELLS).convert_dtypes(),
    "pandas, objects": lambda _: pd.DataFrame(CELLS, dtype=object),
    "pandas, categories": lambda _: pd.DataFrame(CELLS).astype("category"),
    "polars": lambda _: pl.DataFrame(CELLS),
    "polars, categories": lambda _: pl.DataFrame(CELLS).cast({"system": pl.Categorical}),
    "polars, lazy": lambda _: pl.LazyFrame(CELLS),
    "arrow": lambda _: pa.table(CELLS),
    "arrow, dictionaries": lambda _: pa.table(
        {name: pa.array(column).dictionary_encode() for name, column in CELLS.items()}
    ),
}


@pytest.fixture(params=[1, 2, 1000])
def batch_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    for module in (arrow, frames, text):
        monkeypatch.setattr(module, "BATCH_ROWS", request.param)
    return int(request.param)


def read(table: Table, names: Sequence[str]) -> dict[str, list[str | None]]:
    cells: dict[str, list[str | None]] = {name: [] for name in names}
    for batch in table.batches(names):
        for name, column in batch.items():
            cells[name] += [None if c < 0 else column.values[c] for c in column.codes.tolist()]
    return cells


def texts(source: Any) -> list[str | None]:
    """The cells of a column named x."""
    return read(open_table(source), ["x"])["x"]


@pytest.mark.usefixtures("batch_rows")
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_cells(source: str, tmp_path: Path) -> None:
    table = open_table(SOURCES[source](tmp_path))

    assert table.column_names == NAMES
    assert read(table, NAMES) == EXPECTED


@pytest.mark.parametrize("source", SOURCES)
def test_a_table_can_be_read_again_and_in_part(source: str, tmp_path: Path) -> None:
    table = open_table(SOURCES[source](tmp_path))

    assert read(table, ["share"]) == {"share": EXPECTED["share"]}
    assert read(table, ["system"]) == {"system": EXPECTED["system"]}


@pytest.mark.parametrize("source", SOURCES)
def test_progress_ends_at_its_total(source: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    table = open_table(SOURCES[source](tmp_path), lambda done, total: told.append((done, total)))

    for _ in table.batches(NAMES):
        pass

    assert told[-1][0] == told[-1][1] > 0


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, 1.0, 2.5, float("nan"), -0.0], ["1", "1", "2.5", None, "0"]),
        ([2**53 - 1, 1e15, float("inf")], ["9007199254740991", "1000000000000000", "inf"]),
        ([True, False, None], ["true", "false", None]),
        (["1", "1.0", ""], ["1", "1.0", None]),
    ],
)
def test_cells_become_text(cells: list[Any], expected: list[str | None], tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f"{json.dumps({'x': cell})}\n" for cell in cells), encoding="utf-8")

    assert texts(path) == expected
    assert texts(pd.DataFrame({"x": cells})) == expected
    assert texts(pd.DataFrame({"x": cells}, dtype=object)) == expected
    assert texts(pl.DataFrame({"x": cells}, strict=False)) == expected
    assert texts(pa.table({"x": cells})) == expected


def test_numbers_of_other_types_become_the_same_text() -> None:
    decimals = [Decimal("1.50"), Decimal("2.00"), None]
    expected = ["1.5", "2", None]

    assert (
        texts(pd.DataFrame({"x": [np.float32(1.5), np.int64(2), pd.NA]}, dtype=object)) == expected
    )
    assert texts(pl.DataFrame({"x": decimals})) == expected
    assert texts(pa.table({"x": decimals})) == expected


def test_large_integers_stay_exact_beside_missing_ones() -> None:
    cells = [2**60 + 1, None]

    assert texts(pl.DataFrame({"x": cells})) == [str(2**60 + 1), None]
    assert texts(pa.table({"x": cells})) == [str(2**60 + 1), None]


def test_a_slice_of_an_arrow_dictionary_is_read() -> None:
    codes = pa.array([0, 1, None, 1, 3, 1], pa.uint8())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b", "unused", None]))

    assert texts(pa.table({"x": column}).slice(1, 4)) == ["b", None, "b", None]
    assert texts(pa.table({"x": column}).slice(1, 2)) == ["b", None]
    assert texts(pa.table({"x": column}).slice(0, 0)) == []


def test_a_chunk_without_rows_is_read() -> None:
    chunks = pa.chunked_array([pa.array(["a"]), pa.array([], pa.string()), pa.array(["b"])])

    assert texts(pa.table({"x": chunks})) == ["a", "b"]


def test_column_names_that_are_no_text_are_read_as_text() -> None:
    assert read(open_table(pd.DataFrame({0: [7, 8]})), ["0"]) == {"0": ["7", "8"]}


@pytest.mark.parametrize("source", SOURCES)
def test_a_missing_column_names_those_there_are(source: str, tmp_path: Path) -> None:
    table = open_table(SOURCES[source](tmp_path))

    with pytest.raises(
        SettingsError,
        match="no column 'strenght', only 'system', 'strength', 'share'; did you mean 'strength'",
    ):
        read(table, ["system", "strenght"])


def test_a_key_that_first_occurs_late_is_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "HEAD_ROWS", 1)
    path = tmp_path / "x.jsonl"
    path.write_text('{"y": 1}\n\n{"x": "a"}\n', encoding="utf-8")

    assert texts(path) == [None, "a"]


def test_keys_that_nobody_asks_for_may_hold_anything(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"x": "a", "turns": [{"role": "user"}]}\n', encoding="utf-8")

    assert texts(path) == ["a"]


def test_a_column_is_found_whatever_its_case() -> None:
    with pytest.raises(SettingsError, match="did you mean 'Winner'"):
        read(open_table(pd.DataFrame({"Winner": ["a"], "x": ["b"]})), ["winner"])


def test_of_very_many_columns_the_first_are_listed() -> None:
    frame = pd.DataFrame([range(100)], columns=[f"c{i}" for i in range(100)])

    with pytest.raises(SettingsError, match=r"'c29', \.\.\. \(100 in all\)"):
        read(open_table(frame), ["other"])


def test_blank_column_names_may_repeat_where_nobody_asks_for_them(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("x,, ,\na,,,\n")

    assert texts(path) == ["a"]
    with pytest.raises(SettingsError, match="two columns named ''"):
        read(open_table(path), [""])


def test_cells_of_any_length_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"x,dialogue\na,{'w' * 500_000}\n")

    assert texts(path) == ["a"]


def test_a_higher_limit_on_cells_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("x\na\n")
    before = csv.field_size_limit(2 * text.MAX_CELL)
    try:
        open_table(path)
        assert csv.field_size_limit() == 2 * text.MAX_CELL
    finally:
        csv.field_size_limit(before)


def test_integers_of_any_length_may_stand_where_nobody_asks_for_them(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"x": 7, "id": {"9" * 5000}}}\n{{"x": 8}}\n')

    assert texts(path) == ["7", "8"]
    assert read(open_table(path), ["id"])["id"] == ["9" * 5000, None]


def test_a_record_batch_of_arrow_is_a_dataframe() -> None:
    assert texts(pa.RecordBatch.from_pydict({"x": ["a", None]})) == ["a", None]


@pytest.mark.parametrize(
    ("name", "header", "problem"),
    [
        ("a.csv", "left;right", "separated by semicolons; save it with commas"),
        ("a.csv", "left\tright", "separated by tabs; name the file .tsv"),
        ("a.tsv", "left,right", "separated by commas; name the file .csv"),
    ],
)
def test_another_separator_is_named(name: str, header: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(f"{header}\n")

    with pytest.raises(SettingsError, match=problem):
        open_table(path)


def test_only_files_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "votes.csv"
    os.mkfifo(pipe)

    for source in ("-", pipe):
        with pytest.raises(SettingsError, match="only files are read, no pipes"):
            open_table(source)


def test_a_byte_order_mark_belongs_to_no_name(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("x\n1\n", encoding="utf-8-sig")

    assert texts(path) == ["1"]


@pytest.mark.usefixtures("batch_rows")
@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "x,y\n1,2\n\n3\n", r"row 2 \(line 4\) has 1 cells where the header has 2"),
        ("a.csv", "x,y\n1,2\n1,2,3\n", r"row 2 \(line 3\) has 3 cells where the header has 2"),
        ("a.csv", 'x,y\n"1\n2",3\n"4', "line 4: a quoted cell has no end"),
        ("a.csv", 'x,y\n"1"2,3\n', "line 2: ',' expected after '\"'"),
        (
            "a.jsonl",
            '{"x": 1}\n\n{"x": 2',
            "line 3: expected one JSON object a line, got Expecting ','",
        ),
        ("a.jsonl", '{"x": 1}\n[2]\n', "line 2: expected one JSON object a line, got a list"),
        (
            "a.jsonl",
            '{"x": 1, "x": 2}\n',
            "line 1: expected one JSON object a line, got one key twice",
        ),
        ("a.jsonl", '{"x": 1}\n\n{"x": [2]}\n', r"row 2 \(line 3\) holds a list in column 'x'"),
        ("a.jsonl", '{"x": 1}\n{"x": {}}\n', r"row 2 \(line 2\) holds a dict in column 'x'"),
        ("a.jsonl", '{"x": "a"}\n{"x": "\\ud83d"}\n', r"row 2 \(line 2\) has half a character"),
        (
            "a.jsonl",
            '{"x": null}\n{"x": 1}\n{"x": 2}\n{"x": "1"}\n',
            r"'x' mixes types \(numbers first in row 2 \(line 2\), text first in row 4 \(line 4\)",
        ),
        (
            "a.jsonl",
            '{"x": "a"}\n{"x": true}\n',
            r"text first in row 1 \(line 1\), true or false first in row 2 \(line 2\)",
        ),
    ],
)
def test_a_damaged_row_is_named(name: str, text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InvalidVotesError, match=problem):
        texts(path)


@pytest.mark.usefixtures("batch_rows")
@pytest.mark.parametrize("cells", [["1", 1], pd.Categorical(["1", 1, None])])
def test_a_dataframe_column_of_mixed_types_is_named(cells: Any) -> None:
    frame = pd.DataFrame({"x": cells if len(cells) > 2 else pd.Series(cells, dtype=object)})

    with pytest.raises(
        InvalidVotesError, match=r"mixes types \(text first in row 1, numbers first in row 2\)"
    ):
        texts(frame)


def test_text_may_start_late_in_a_column_of_missing_cells(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"x": NaN}\n{"x": ""}\n{"x": "a"}\n', encoding="utf-8")

    assert texts(path) == [None, None, "a"]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"x": [[1], [2]]}),
        pl.DataFrame({"x": [timedelta(1)]}),
        pa.table({"x": [[1], [2]]}),
        pa.table({"x": [b"a"]}),
        pd.DataFrame({"x": [pd.Timedelta(1)]}),
    ],
)
def test_a_column_that_holds_no_cells_is_refused(frame: Any) -> None:
    with pytest.raises(
        (SettingsError, InvalidVotesError), match=r"holds .*expected text, .*true.* false, "
    ):
        texts(frame)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\n\n", "is empty"),
        ("a.jsonl", b"\n", "is empty"),
        ("a.parquet", b"", "is empty"),
        ("a.csv", b"x,x\n1,2\n", "two columns named 'x'"),
        ("a.csv", "x\nok\ncafé\n".encode("latin-1"), "line 3 is not UTF-8 text .byte 0xe9.; save"),
        ("a.jsonl", '{"x": 1}\n'.encode("utf-16"), "line 1 is not UTF-8 text"),
        ("a.json", b"[]", "one object a line; write it so and name the file .jsonl"),
        ("a.xlsx", b"PK", "the format cannot be told; name the file .csv"),
        ("a.parquet.gz", b"PK", "the format cannot be told"),
        ("votes", b"x\n1\n", "the format cannot be told"),
    ],
)
def test_an_unusable_file_says_what_to_do(
    name: str, content: bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(SettingsError, match=problem):
        texts(path)


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is a folder; give a file"):
        open_table(tmp_path)
    with pytest.raises(SettingsError, match=r"there is no file .*votes\.csv"):
        open_table(tmp_path / "votes.csv")


@pytest.mark.parametrize("write", [write_csv, write_json_lines])
def test_a_compressed_file_cut_short_is_damaged(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    suffix = "csv" if write is write_csv else "jsonl"
    path = compress(write(tmp_path / f"votes.{suffix}"))
    path.write_bytes(path.read_bytes()[:-12])

    with pytest.raises(InvalidVotesError, match="is cut short or damaged"):
        read(open_table(path), NAMES)


def test_a_file_that_is_not_compressed_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv.gz"
    path.write_text("x\n1\n", encoding="utf-8")

    with pytest.raises(InvalidVotesError, match="is cut short or damaged"):
        open_table(path)


def test_a_parquet_file_cut_short_is_damaged(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "votes.parquet")
    path.write_bytes(path.read_bytes()[:-100])

    with pytest.raises(InvalidVotesError, match=r"votes\.parquet is cut short, damaged or no Parq"):
        open_table(path)


def test_a_parquet_page_that_is_damaged_is_found_in_reading(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    pq.write_table(pa.table({"x": [f"system {i}" for i in range(1000)]}), path)
    content = bytearray(path.read_bytes())
    content[4:2000] = bytes(1996)
    path.write_bytes(content)
    table = open_table(path)

    with pytest.raises(InvalidVotesError, match="cut short, damaged or no Parquet file"):
        read(table, ["x"])


def test_nested_columns_of_a_parquet_file_are_refused_where_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    pq.write_table(pa.table({"x": [{"y": 1}], "x.y": ["a"]}), path)
    table = open_table(path)

    assert read(table, ["x.y"]) == {"x.y": ["a"]}
    with pytest.raises(SettingsError, match="column 'x' holds struct"):
        read(table, ["x"])


def test_text_that_is_not_utf8_is_refused_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    latin = pa.array(["café".encode("latin-1")], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"x": latin}), path)

    with pytest.raises(SettingsError, match=r"votes\.parquet holds text that is not UTF-8"):
        texts(path)


def test_a_file_that_disappears_is_named(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "votes.csv")
    table = open_table(path)
    path.unlink()

    with pytest.raises(SettingsError, match=r"votes\.csv cannot be read: No such file"):
        read(table, NAMES)


def test_two_columns_of_one_name_are_refused_in_a_dataframe() -> None:
    with pytest.raises(SettingsError, match="two columns of one name"):
        open_table(pd.DataFrame([[1, 2]], columns=["x", "x"]))
    with pytest.raises(SettingsError, match="two columns named '0'"):
        open_table(pd.DataFrame([[1, 2]], columns=[0, "0"]))


def test_what_is_no_dataframe_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="a dataframe or a list of dictionaries, got set"):
        open_table({1, 2})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="row 1 is a int; expected a dictionary"):
        open_table([1, 2])  # type: ignore[list-item]


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_parquet(tmp_path / "votes.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    with pytest.raises(SettingsError, match=r"pip install 'hearteval\[parquet\]'"):
        open_table(path)


def test_row_groups_with_dictionaries_of_their_own_are_not_confused(tmp_path: Path) -> None:
    """Each row group has another dictionary of the same size, which may lie where one lay."""
    path = tmp_path / "groups.parquet"
    schema = pa.schema([("x", pa.dictionary(pa.int32(), pa.string()))])
    with pq.ParquetWriter(path, schema) as writer:
        for group in range(40):
            names = [f"name {group:02d} {i}" for i in range(5)]
            column = pa.DictionaryArray.from_arrays([0, 1, 2, 3, 4] * 3, names)
            writer.write_table(pa.table({"x": column}, schema=schema))

    batches = open_table(path).batches(["x"])
    texts = [batch["x"].values[code] for batch in batches for code in batch["x"].codes]

    assert texts == [f"name {g:02d} {i % 5}" for g in range(40) for i in range(15)]


@pytest.mark.parametrize("kind", frames.FRAMES)
def test_a_dataframe_of_no_rows_has_its_columns(kind: Any) -> None:
    frame = frames.make_frame([], kind, columns=("system", "elo"))

    assert open_table(frame).column_names == ("system", "elo")


def test_without_a_source_an_installed_kind_of_dataframe_is_made() -> None:
    frame = frames.make_frame([{"x": 1}], frames.find_frame_kind())

    assert read(open_table(frame), ["x"]) == {"x": ["1"]}
