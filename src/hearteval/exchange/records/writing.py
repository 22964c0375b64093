"""Columns -> a file of CSV, JSON Lines or Parquet; a folder of such files, written all or none.

The same records give the same bytes. Texts stand as they are, so that they can be read back: a
spreadsheet may take one that begins with ``=`` for a formula.
"""

import csv
import io
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from hearteval.errors import SettingsError, not_written

DRAFTS = ".export-"
"""How the folder begins in which files are written first; its process's number follows."""

Cell = str | int | float | bool | None
Columns = Mapping[str, Sequence[Cell]]
"""Cells by the name of their column, all of one length."""
Format = Literal["csv", "jsonl", "parquet"]


def format_table(columns: Columns, form: Format) -> bytes:
    """Write a table in a format; a missing cell is empty, or null.

    Raises:
        SettingsError: Parquet needs pyarrow, which is not installed.
    """
    match form:
        case "csv":
            return _csv(columns)
        case "jsonl":
            return _json_lines(columns)
        case "parquet":
            return _parquet(columns)


def write_files(files: Mapping[str, bytes], folder: Path, *, replace: bool) -> None:
    """Write files into a folder, made where there is none; only their owner may read them.

    All are written before the first is put there, so that a fault leaves what was there before.

    Raises:
        SettingsError: A file of such a name holds something else and is not to be replaced.
        StoreError: The folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            path = folder / name
            if not replace and path.exists() and path.read_bytes() != content:
                raise SettingsError(
                    f"{path}: holds other content; give another --out, or --force to replace it"
                )
        prefix = f"{DRAFTS}{os.getpid()}-"
        with tempfile.TemporaryDirectory(dir=folder, prefix=prefix) as drafts:
            for name, content in files.items():
                with open(Path(drafts) / name, "wb", opener=partial(os.open, mode=0o600)) as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            for name in files:
                (Path(drafts) / name).replace(folder / name)
    except OSError as error:
        raise not_written(folder, error) from error


def _csv(columns: Columns) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    cells = ([_word(cell) for cell in column] for column in columns.values())
    writer.writerows(zip(*cells, strict=True))
    return out.getvalue().encode(errors="replace")


def _word(cell: Cell) -> Cell:
    return ("true" if cell else "false") if isinstance(cell, bool) else cell


def _json_lines(columns: Columns) -> bytes:
    rows = zip(*columns.values(), strict=True)
    lines = (json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode(errors="replace")


def _parquet(columns: Columns) -> bytes:
    try:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise SettingsError(
            "writing Parquet needs pyarrow; pip install 'hearteval[parquet]', or take --to csv or"
            " --to jsonl"
        ) from None
    arrays = [arrow.array(_plain(c), type=_kind(arrow, c)) for c in columns.values()]
    out = io.BytesIO()
    parquet.write_table(arrow.table(dict(zip(columns, arrays, strict=True))), out)
    return out.getvalue()


def _plain(column: Sequence[Cell]) -> list[Cell]:
    return [c.encode(errors="replace").decode() if isinstance(c, str) else c for c in column]


def _kind(arrow: Any, column: Sequence[Cell]) -> Any:
    kinds = {type(cell) for cell in column} - {type(None)}
    if kinds == {bool}:
        return arrow.bool_()
    if kinds == {int}:
        return arrow.int64()
    return arrow.float64() if kinds and kinds <= {int, float} else arrow.string()
