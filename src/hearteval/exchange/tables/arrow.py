"""Arrow record batches and Parquet files -> coded columns, without a Python object per row.

Of a file only the columns asked for are read, a page at a time and text as dictionaries, so that
memory does not grow with the file.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from hearteval.errors import InvalidVotesError, SettingsError
from hearteval.exchange.tables.columns import (
    CodedColumn,
    Int32Array,
    Report,
    Table,
    code_cells,
    code_values,
    has_blank,
    list_kinds,
)

BATCH_ROWS = 1 << 17
_BUFFER_BYTES = 1 << 20


class ParquetTable(Table):
    """A Parquet file; it needs pyarrow."""

    def __init__(self, path: Path, report: Report) -> None:
        self._path = path
        try:
            self._parquet: Any = import_module("pyarrow.parquet")
        except ImportError:
            advice = "pip install 'hearteval[parquet]'"
            raise SettingsError(f"{path}: reading Parquet needs pyarrow; {advice}") from None
        with self._explaining(), self._parquet.ParquetFile(path) as file:
            self._schema: Any = file.schema_arrow
        super().__init__(str(path), self._schema.names, report)

    def batches(self, names: Sequence[str]) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield some of the columns, at most `BATCH_ROWS` rows at a time."""
        self.check_columns(names)
        _check_types(self, self._schema, names)
        names = list(names)
        with (
            self._explaining(),
            self._parquet.ParquetFile(
                self._path, read_dictionary=names, buffer_size=_BUFFER_BYTES, pre_buffer=False
            ) as file,
        ):
            batches = file.iter_batches(BATCH_ROWS, columns=names, use_threads=False)
            yield from code_batches(self, batches, names, file.metadata.num_rows)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        arrow = import_module("pyarrow")
        try:
            yield
        except UnicodeDecodeError:
            raise SettingsError(f"{self._path} holds text that is not UTF-8") from None
        except (arrow.ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0]
            problem = f"is cut short, damaged or no Parquet file ({reason})"
            raise InvalidVotesError(f"{self._path} {problem}; fetch or write it again") from None


def code_batches(
    table: Table, batches: Iterator[Any], names: Sequence[str], n_rows: int
) -> Iterator[Mapping[str, CodedColumn]]:
    """Code columns of ``pyarrow.RecordBatch``es, and say how far this is.

    Raises:
        SettingsError: A column holds neither text nor numbers nor true or false.
    """
    coder = _BatchCoder(table)
    n_done = 0
    for batch in batches:
        _check_types(table, batch.schema, names)
        yield {name: coder.code(name, batch.column(name)) for name in names}
        n_done += len(batch)
        table.report(n_done, n_rows)


class _BatchCoder:
    """Codes columns of record batches, one after the other."""

    def __init__(self, table: Table) -> None:
        self._table = table
        # The dictionary is held, so that no other can come to lie where it lay.
        self._texts: dict[str, tuple[Any, tuple[str, ...]]] = {}

    def code(self, name: str, array: Any) -> CodedColumn:
        types = import_module("pyarrow").types
        if hasattr(array.type, "extension_name"):  # UUIDs, which have no dictionaries
            return code_cells(self._checked(name, array, array.to_pylist()), len(array))
        if types.is_dictionary(array.type) and len(array.dictionary) > len(array):
            # One dictionary can serve many batches; only what this one needs is worth decoding.
            array = array.dictionary_decode()
        if not types.is_dictionary(array.type):
            array = array.dictionary_encode()
        known, texts = self._texts.get(name, (None, ()))
        if known is not None and _place(array.dictionary) == _place(known):
            return CodedColumn(codes=_read_indices(array.indices), values=texts)
        cells = self._checked(name, array.dictionary, array.dictionary.to_pylist())
        column = code_values(_read_indices(array.indices), cells)
        if set(map(type, cells)) <= {str} and not has_blank(cells):
            self._texts[name] = (array.dictionary, column.values)
        return column

    def _checked(self, name: str, array: Any, cells: list[object]) -> list[object]:
        if "" in list_kinds(cells):
            raise self._table.refuse_type(name, array.type)
        return cells


def _check_types(table: Table, schema: Any, names: Sequence[str]) -> None:
    """Raise `SettingsError` when a column of a ``pyarrow.Schema`` holds lists or the like."""
    for name in names:
        kind = schema.field(name).type
        if import_module("pyarrow").types.is_nested(kind):
            raise table.refuse_type(name, kind)


def _place(dictionary: Any) -> tuple[object, ...]:
    """Say where a dictionary lies in memory."""
    places = [buffer and buffer.address for buffer in dictionary.buffers()]
    return (len(dictionary), dictionary.offset, *places)


def _read_indices(indices: Any) -> Int32Array:
    """Return indices as an array, -1 for null; ``to_numpy`` would import pandas for nothing."""
    if indices.type.bit_width != 32:
        indices = indices.cast("int32")
    if indices.null_count:
        indices = indices.fill_null(-1)
    if not len(indices):
        return np.zeros(0, np.int32)
    start = indices.offset * np.dtype(np.int32).itemsize
    return np.frombuffer(indices.buffers()[1], np.int32, len(indices), start)
