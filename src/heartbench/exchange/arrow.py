"""Arrow record batches -> coded columns, without a Python object per row."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from heartbench.errors import SettingsError
from heartbench.exchange.columns import CodedColumn, Int32Array, code_values, list_kinds

BATCH_ROWS = 1 << 17


class BatchCoder:
    """Codes columns of ``pyarrow.RecordBatch``es, one after the other.

    Args:
        label: What messages call the source.
        names: The columns.
    """

    def __init__(self, label: str, names: Sequence[str]) -> None:
        self._label = label
        self._names = names
        # The dictionary is held, so that no other can come to lie where it lay.
        self._texts: dict[str, tuple[Any, tuple[str, ...]]] = {}

    def code(self, batch: Any) -> dict[str, CodedColumn]:
        """Code the columns of the next batch.

        Raises:
            SettingsError: A column holds neither text nor numbers nor true or false.
        """
        check_types(self._label, batch.schema, self._names)
        return {name: self._code(name, batch.column(name)) for name in self._names}

    def _code(self, name: str, array: Any) -> CodedColumn:
        types = import_module("pyarrow").types
        if types.is_dictionary(array.type) and len(array.dictionary) > len(array):
            # One dictionary can serve many batches; only what this one needs is worth decoding.
            array = array.dictionary_decode()
        if not types.is_dictionary(array.type):
            array = array.dictionary_encode()
        known, texts = self._texts.get(name, (None, ()))
        if known is not None and _place(array.dictionary) == _place(known):
            return CodedColumn(codes=_read_indices(array.indices), values=texts)
        cells = array.dictionary.to_pylist()
        if "" in list_kinds(cells):
            raise _refuse(self._label, name, array.type.value_type)
        column = code_values(_read_indices(array.indices), cells)
        if set(map(type, cells)) <= {str} and "" not in cells:
            self._texts[name] = (array.dictionary, column.values)
        return column


def check_types(label: str, schema: Any, names: Sequence[str]) -> None:
    """Raise `SettingsError` when a column of a ``pyarrow.Schema`` holds lists or the like."""
    types = import_module("pyarrow").types
    for name in names:
        kind = schema.field(name).type
        if types.is_nested(kind):
            raise _refuse(label, name, kind)


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


def _refuse(label: str, name: str, kind: object) -> SettingsError:
    expected = "text, numbers, or true and false"
    return SettingsError(f"{label}: column {name!r} holds {kind}; expected {expected}")
