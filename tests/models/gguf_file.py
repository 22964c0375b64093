"""Write and read GGUF files of version 3: metadata, and tensors as F32 or Q8_0.

Only what the tiny test model needs; the layout is that of ggml's `docs/gguf.md`.
"""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 32
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
F32, Q8_0 = 0, 8
BLOCK = 32

Value = str | bool | int | float | list[str] | list[int]


def write_gguf(
    path: Path, metadata: Mapping[str, Value], tensors: Mapping[str, NDArray[np.float32]]
) -> None:
    """Write a GGUF file: vectors as F32, matrices (rows, columns) as Q8_0."""
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(metadata))]
    head += [_pack_string(key) + _pack_value(value) for key, value in metadata.items()]
    body = bytearray()
    for name, tensor in tensors.items():
        kind = F32 if tensor.ndim == 1 else Q8_0
        sizes = tensor.shape[::-1]  # ggml counts dimensions from the fastest
        head.append(_pack_string(name) + struct.pack("<I", tensor.ndim))
        head.append(struct.pack(f"<{tensor.ndim}QIQ", *sizes, kind, len(body)))
        body += tensor.astype("<f4").tobytes() if kind == F32 else quantize_q8_0(tensor)
        body += b"\0" * (-len(body) % ALIGNMENT)
    start = b"".join(head)
    path.write_bytes(start + b"\0" * (-len(start) % ALIGNMENT) + bytes(body))


def quantize_q8_0(tensor: NDArray[np.float32]) -> bytes:
    """Quantize rows in blocks of 32: one half-precision scale, then 32 signed bytes."""
    blocks = tensor.reshape(-1, BLOCK)
    scales = np.abs(blocks).max(axis=1) / 127
    steps = np.divide(1, scales, out=np.zeros_like(scales), where=scales > 0)
    out = np.empty(len(blocks), dtype=[("scale", "<f2"), ("values", "i1", BLOCK)])
    out["scale"] = scales
    out["values"] = np.rint(blocks * steps[:, None])
    return out.tobytes()


def read_metadata(path: Path) -> dict[str, Any]:
    """Read the metadata of a GGUF file that holds the kinds of values written here."""
    with path.open("rb") as file:
        magic, version, _, n_values = struct.unpack("<4sIQQ", file.read(24))
        if (magic, version) != (b"GGUF", 3):
            message = f"{path.name}: not a GGUF file of version 3"
            raise ValueError(message)
        return {_read_string(file): _read_value(file) for _ in range(n_values)}


def _pack_string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _pack_value(value: Value) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", BOOL, value)
        case int():
            return struct.pack("<II", UINT32, value)
        case float():
            return struct.pack("<If", FLOAT32, value)
        case str():
            return struct.pack("<I", STRING) + _pack_string(value)
        case _:
            return _pack_list(value)


def _pack_list(values: list[str] | list[int]) -> bytes:
    kind = STRING if isinstance(values[0], str) else INT32
    packed = [_pack_string(v) if isinstance(v, str) else struct.pack("<i", v) for v in values]
    return struct.pack("<IIQ", ARRAY, kind, len(values)) + b"".join(packed)


def _read_string(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length).decode()


def _read_value(file: BinaryIO) -> Any:
    (kind,) = struct.unpack("<I", file.read(4))
    if kind == ARRAY:
        of, count = struct.unpack("<IQ", file.read(12))
        return [_read_scalar(file, of) for _ in range(count)]
    return _read_scalar(file, kind)


def _read_scalar(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _read_string(file)
    form = {UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}[kind]
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]
