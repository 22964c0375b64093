"""Dataframes (pandas, polars, Arrow and what else narwhals knows) -> coded columns, and back.

Results become a dataframe of the kind that went in, or of one that is installed.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeGuard, cast

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from narwhals.stable.v2.typing import IntoFrame

from hearteval.errors import SettingsError
from hearteval.exchange.tables.arrow import BATCH_ROWS, code_batches
from hearteval.exchange.tables.columns import (
    CellCoder,
    CodedColumn,
    Report,
    Table,
    code_values,
    list_kinds,
)

Rows = Sequence[Mapping[str, Any]]
"""Dictionaries, one a row, as JSON or a database gives them."""
Source = Path | str | IntoFrame | Rows
FRAMES = (nw.Implementation.PANDAS, nw.Implementation.POLARS, nw.Implementation.PYARROW)


class FrameTable(Table):
    """A dataframe in memory, or a lazy one, of which only the columns needed are collected."""

    def __init__(self, frame: IntoFrame, report: Report) -> None:
        label = "the dataframe"
        try:
            self._frame: Any = wrap_frame(frame)
            columns = self._frame.collect_schema().names()
        except DuplicateError:
            problem = "has two columns of one name; rename or remove one"
            raise SettingsError(f"{label} {problem}") from None
        # pandas allows names that are no text, such as 0.
        self._columns = {str(column): column for column in columns}
        super().__init__(label, [str(column) for column in columns], report)

    def batches(self, names: Sequence[str]) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield some of the columns, at most `BATCH_ROWS` rows at a time."""
        self.check_columns(names)
        frame = self._frame
        if isinstance(frame, nw.LazyFrame):
            frame = frame.select(list(names)).collect()
        n_rows = len(frame)
        if frame.implementation.is_pyarrow():
            batches = frame.to_native().to_batches(max_chunksize=BATCH_ROWS)
            yield from code_batches(self, batches, names, n_rows)
            return
        coders = {name: CellCoder(name, self) for name in names}
        for start in range(0, n_rows, BATCH_ROWS):
            part = frame[start : start + BATCH_ROWS]
            yield {
                name: self._code(part.get_column(self._columns[name]), coder, start + 1)
                for name, coder in coders.items()
            }
            self.report(min(start + BATCH_ROWS, n_rows), n_rows)

    def _code(self, series: Any, coder: CellCoder, first_row: int) -> CodedColumn:
        # polars matches no decimals, and pandas no dates of Python.
        if _may_mix_types(series) or series.dtype == nw.Decimal or series.dtype.is_temporal():
            return coder.code(_cells(series), first_row)
        if series.dtype.is_nested():
            raise self.refuse_type(coder.name, series.dtype)
        distinct = series.unique(maintain_order=True)  # else polars gives any order
        cells = _cells(distinct)
        if "" in list_kinds(cells):
            raise self.refuse_type(coder.name, series.dtype)
        codes = series.replace_strict(
            distinct.to_list(), list(range(len(cells))), return_dtype=nw.Int32
        )
        return code_values(codes.to_numpy().astype(np.int32, copy=False), cells)


class RowsTable(Table):
    """Dictionaries, one a row; a key that a row lacks is a missing cell."""

    def __init__(self, rows: Rows, report: Report) -> None:
        label = "the list"
        for place, row in enumerate(rows, start=1):
            if not isinstance(row, Mapping):
                kind = type(row).__name__
                raise TypeError(f"{label}: row {place} is a {kind}; expected a dictionary")
        self._rows = rows
        keys = dict.fromkeys(key for row in rows for key in row)
        if not keys:
            raise SettingsError(f"{label} is empty: it holds no rows")
        self._keys = {str(key): key for key in keys}
        super().__init__(label, [str(key) for key in keys], report)

    def batches(self, names: Sequence[str]) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield some of the columns, at most `BATCH_ROWS` rows at a time."""
        self.check_columns(names)
        coders = {name: CellCoder(name, self) for name in names}
        for start in range(0, len(self._rows), BATCH_ROWS):
            part = self._rows[start : start + BATCH_ROWS]
            yield {
                name: coder.code([row.get(self._keys[name]) for row in part], start + 1)
                for name, coder in coders.items()
            }
            self.report(min(start + BATCH_ROWS, len(self._rows)), len(self._rows))

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield each dictionary."""
        yield from self._rows


def is_rows(source: object) -> TypeGuard[Rows]:
    """Say whether a source is a list of rows."""
    return isinstance(source, list | tuple)


def wrap_frame(frame: IntoFrame) -> Any:
    """Give a dataframe the interface of narwhals, also a ``pyarrow.RecordBatch``.

    Raises:
        TypeError: It is no dataframe.
    """
    try:
        return nw.from_native(frame)
    except TypeError:
        # Of what else offers Arrow data only a record batch is sure to have rows and pyarrow.
        if type(frame).__module__ == "pyarrow.lib" and hasattr(frame, "__arrow_c_stream__"):
            return nw.from_arrow(cast("Any", frame), backend="pyarrow")
        kind = type(frame).__name__
        raise TypeError(
            f"expected a path, a dataframe or a list of dictionaries, got {kind}"
        ) from None


def _may_mix_types(series: Any) -> bool:
    """Say whether a column is of Python objects, or of categories that are."""
    if not series.implementation.is_pandas_like():
        return bool(series.dtype == nw.Object)
    dtype = series.to_native().dtype
    categories = getattr(dtype, "categories", None)
    return bool((dtype if categories is None else categories.dtype) == np.dtype(object))


def _cells(series: Any) -> list[object]:
    """Return the cells as Python values, every kind of null as None."""
    nulls = series.is_null().to_list()
    return [None if null else cell for cell, null in zip(series.to_list(), nulls, strict=True)]


def find_frame_kind(source: Source | None = None) -> nw.Implementation:
    """Return the library whose dataframe a result becomes.

    That of the source, if it makes dataframes in memory; for a path, a database, no source and the
    like, the first of pandas, polars and pyarrow that is installed.
    """
    if source is not None and not isinstance(source, str | Path) and not is_rows(source):
        kind: nw.Implementation = wrap_frame(cast("Any", source)).implementation
        if kind in FRAMES:
            return kind
    installed = [kind for kind in FRAMES if find_spec(kind.value)]
    return installed[0] if installed else nw.Implementation.UNKNOWN


def make_frame(
    rows: Sequence[Mapping[str, Any]], kind: nw.Implementation, columns: Sequence[str] | None = None
) -> Any:
    """Return rows as a dataframe with these columns; without them, with the keys of the first row.

    Raises:
        SettingsError: No library that makes dataframes is installed.
    """
    if kind not in FRAMES:
        names = ", ".join(kind.value for kind in FRAMES)
        raise SettingsError(f"a dataframe of the result needs one of {names}; install one")
    cells = {name: [row[name] for row in rows] for name in (columns or rows[0])}
    return nw.from_dict(cells, backend=kind.to_native_namespace()).to_native()
