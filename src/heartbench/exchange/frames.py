"""Dataframes (pandas, polars, Arrow and what else narwhals knows) -> coded columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from narwhals.stable.v2.typing import IntoFrame

from heartbench.errors import SettingsError
from heartbench.exchange.arrow import BATCH_ROWS, BatchCoder
from heartbench.exchange.columns import (
    CellCoder,
    CodedColumn,
    Report,
    check_columns,
    check_unique,
    code_values,
    list_kinds,
    report_nothing,
)


class FrameTable:
    """A dataframe in memory, or a lazy one, of which only the columns needed are collected."""

    label = "the dataframe"
    warnings = ()

    def __init__(self, frame: IntoFrame) -> None:
        try:
            self._frame: Any = wrap_frame(frame)
            columns = self._frame.collect_schema().names()
        except DuplicateError:
            problem = "has two columns of one name; rename or remove one"
            raise SettingsError(f"{self.label} {problem}") from None
        # pandas allows names that are no text, such as 0.
        check_unique(self.label, [str(column) for column in columns])
        self._columns = {str(column): column for column in columns}
        self.column_names = tuple(self._columns)

    def batches(
        self, names: Sequence[str], report: Report = report_nothing
    ) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield some of the columns, at most `BATCH_ROWS` rows at a time."""
        check_columns(self.label, names, self.column_names)
        frame = self._frame
        if isinstance(frame, nw.LazyFrame):
            frame = frame.select(list(names)).collect()
        n_rows = len(frame)
        if frame.implementation.is_pyarrow():
            done, coder = 0, BatchCoder(self.label, names)
            for batch in frame.to_native().to_batches(max_chunksize=BATCH_ROWS):
                yield coder.code(batch)
                done += len(batch)
                report(done, n_rows)
            return
        coders = {name: CellCoder(name, self) for name in names}
        for start in range(0, n_rows, BATCH_ROWS):
            part = frame[start : start + BATCH_ROWS]
            yield {
                name: self._code(part.get_column(self._columns[name]), coder, start + 1)
                for name, coder in coders.items()
            }
            report(min(start + BATCH_ROWS, n_rows), n_rows)

    def place(self, row: int) -> str:
        """Say in which row something stands."""
        return f"row {row}"

    def _code(self, series: Any, coder: CellCoder, first_row: int) -> CodedColumn:
        if _may_mix_types(series) or series.dtype == nw.Decimal:  # polars matches no decimals
            return coder.code(_cells(series), first_row)
        if series.dtype.is_nested():
            raise self._refuse(coder.name, series.dtype)
        distinct = series.unique()
        cells = _cells(distinct)
        if "" in list_kinds(cells):
            raise self._refuse(coder.name, series.dtype)
        codes = series.replace_strict(
            distinct.to_list(), list(range(len(cells))), return_dtype=nw.Int32
        )
        return code_values(codes.to_numpy().astype(np.int32, copy=False), cells)

    def _refuse(self, name: str, dtype: object) -> SettingsError:
        expected = "text, numbers, or true and false"
        return SettingsError(f"{self.label}: column {name!r} holds {dtype}; expected {expected}")


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
        raise TypeError(f"expected a path or a dataframe, got {kind}") from None


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
