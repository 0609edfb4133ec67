"""Weights of a seed that lie beside it, in the format of safetensors.

The format is a header of JSON behind its length, then the bytes of all tensors. The class is copied into reproducers,
which need no package but torch.
"""

from __future__ import annotations

import json

import torch

NAME = "weights"
"""The global through which a seed reads them: ``weights["conv1"]``."""


class Weights:
    """The tensors in a safetensors file, by name: ``weights["conv1"]`` is a new tensor each time.

    Raises OSError, and ValueError for a file of another format.
    """

    DTYPES = {  # noqa: RUF012 - the class is copied into scripts that import only torch
        "F64": torch.float64,
        "F32": torch.float32,
        "F16": torch.float16,
        "BF16": torch.bfloat16,
        "I64": torch.int64,
        "I32": torch.int32,
        "I16": torch.int16,
        "I8": torch.int8,
        "U8": torch.uint8,
        "BOOL": torch.bool,
        "C64": torch.complex64,
    }

    def __init__(self, path):
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            content = file.read()
        size = int.from_bytes(content[:8], "little")
        if len(content) < 8 + size:
            raise ValueError("it is cut off, or no safetensors file")
        self._tensors = json.loads(content[8 : 8 + size])
        self._data = content[8 + size :]
        if not isinstance(self._tensors, dict):
            raise ValueError("its header is no table of tensors")

    def __getitem__(self, name):
        entry = self._tensors[name]
        first, last = entry["data_offsets"]
        if not 0 <= first <= last <= len(self._data):
            raise ValueError(f"the tensor {name!r} lies outside of the file")
        dtype = self.DTYPES[entry["dtype"]]
        if first == last:
            return torch.empty(entry["shape"], dtype=dtype)
        return torch.frombuffer(bytearray(self._data[first:last]), dtype=dtype).reshape(entry["shape"])
