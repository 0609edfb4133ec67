"""Writes files of safetensors, which ``eqfuzz.program.weights`` reads. Without torch: importing it takes seconds."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable

_TYPES = {
    "float64": ("F64", 8),
    "float32": ("F32", 4),
    "float16": ("F16", 2),
    "bfloat16": ("BF16", 2),
    "int64": ("I64", 8),
    "int32": ("I32", 4),
    "int16": ("I16", 2),
    "int8": ("I8", 1),
    "uint8": ("U8", 1),
    "bool": ("BOOL", 1),
    "complex64": ("C64", 8),
}
"""Names of the format and bytes of an element, by torch's name."""

_ALIGNMENT = 8


@dataclasses.dataclass(frozen=True)
class StoredTensor:
    """A tensor as little-endian bytes; ``dtype`` is torch's name."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    content: bytes


def safetensors_file(tensors: Iterable[StoredTensor]) -> bytes:
    """The content of the file. Raises ValueError for a dtype that it cannot hold, or a wrong number of bytes."""
    header: dict[str, object] = {}
    data: list[bytes] = []
    end = 0
    for tensor in tensors:
        if tensor.dtype not in _TYPES:
            raise ValueError(f"weights of {tensor.dtype} cannot be stored beside a seed")
        name, size = _TYPES[tensor.dtype]
        if len(tensor.content) != size * math.prod(tensor.shape):
            raise ValueError(
                f"the tensor {tensor.name!r} has {len(tensor.content)} bytes, which its shape does not need"
            )
        last = end + len(tensor.content)
        header[tensor.name] = {"dtype": name, "shape": list(tensor.shape), "data_offsets": [end, last]}
        data.append(tensor.content)
        end = last
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    return b"".join([len(text).to_bytes(8, "little"), text, *data])
