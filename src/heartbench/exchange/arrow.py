"""Arrow record batches -> coded columns, without a Python object per row."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from heartbench.errors import SettingsError
from heartbench.exchange.columns import CodedColumn, Int32Array, code_values, list_kinds

BATCH_ROWS = 1 << 17


def code_batch(label: str, batch: Any, names: Sequence[str]) -> dict[str, CodedColumn]:
    """Code columns of a ``pyarrow.RecordBatch``.

    Raises:
        SettingsError: A column holds neither text nor numbers nor true or false.
    """
    check_types(label, batch.schema, names)
    return {name: _code_array(label, name, batch.column(name)) for name in names}


def check_types(label: str, schema: Any, names: Sequence[str]) -> None:
    """Raise `SettingsError` when a column of a ``pyarrow.Schema`` holds lists or the like."""
    types = import_module("pyarrow").types
    for name in names:
        kind = schema.field(name).type
        if types.is_nested(kind):
            raise _refuse(label, name, kind)


def _code_array(label: str, name: str, array: Any) -> CodedColumn:
    types = import_module("pyarrow").types
    if types.is_dictionary(array.type) and len(array.dictionary) > len(array):
        # One dictionary can serve many batches; only what this one needs is worth decoding.
        array = array.dictionary_decode()
    if not types.is_dictionary(array.type):
        array = array.dictionary_encode()
    cells = array.dictionary.to_pylist()
    if "" in list_kinds(cells):
        raise _refuse(label, name, array.type.value_type)
    return code_values(_read_indices(array.indices), cells)


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
