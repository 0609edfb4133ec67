"""Values saved by the process that ran a program, to be compared by another process.

A process that has run an untrusted program cannot be trusted to compare values: the program may have replaced ``==``.
It only saves values as plain data; eager and compiled run in a process each.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import os
from pathlib import Path
from typing import Any

import torch

from eqfuzz.oracle.compare.verdict import Evidence
from eqfuzz.run.sandbox.init_process import SAVED

_DTYPES = {str(dtype): dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}
_MOST_CHARACTERS = 100_000
_DEEPEST = 40


def save(value: Any) -> None:
    """Write ``value`` to the file that the sandbox gives this process."""
    Path(os.environ[SAVED]).write_text(json.dumps(_encoded(value)), encoding="utf-8")


def _encoded(value: Any) -> dict[str, Any]:
    if isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_quantized:
        plain = value.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
        return {
            "dtype": str(value.dtype),
            "shape": list(value.shape),
            "strides": list(value.stride()),
            "device": value.device.type,
            "requires_grad": value.requires_grad,
            "data": base64.b64encode(plain.view(torch.uint8).numpy().tobytes()).decode(),
        }
    return {"class": _structure(value)[:_MOST_CHARACTERS], "repr": repr(value)[:_MOST_CHARACTERS]}


def _structure(value: Any, depth: int = 0) -> str:
    """The class of a value and of the items of a list, tuple or dict; for a tensor its metadata."""
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, torch.Tensor):
        strides = [step for size, step in zip(value.shape, value.stride(), strict=True) if size > 1]
        return f"{name}[{value.dtype}, {list(value.shape)}, {strides}, {value.device.type}, {value.requires_grad}]"
    if depth > _DEEPEST or not isinstance(value, dict | list | tuple):
        return name
    if isinstance(value, dict):
        inside = (f"{key!r}: {_structure(item, depth + 1)}" for key, item in value.items())
    else:
        inside = (_structure(item, depth + 1) for item in value)
    return f"{name}[{', '.join(inside)}]"


class NotSaved(ValueError):
    """The file of a process is missing or holds no value; ``str()`` is one line."""


@dataclasses.dataclass(frozen=True)
class SavedValue:
    """A tensor with its metadata, or the class and ``repr`` of another value; the other field is None."""

    tensor: torch.Tensor | None
    metadata: tuple[Any, ...]

    @classmethod
    def read(cls, text: str) -> SavedValue:
        """From the text of the file. Raises NotSaved."""
        try:
            record = json.loads(text)
            if "class" in record:
                return cls(None, (str(record["class"]), str(record["repr"])))
            return cls._tensor(record)
        except (ValueError, KeyError, TypeError, RecursionError, AttributeError, RuntimeError) as error:
            raise NotSaved(f"no value was saved: {type(error).__name__}") from None

    @classmethod
    def _tensor(cls, record: dict[str, Any]) -> SavedValue:
        dtype, shape = _DTYPES[record["dtype"]], [int(size) for size in record["shape"]]
        raw = base64.b64decode(record["data"])
        if len(raw) != math.prod(shape) * dtype.itemsize:
            raise ValueError("as many bytes as its shape says")
        flat = torch.frombuffer(bytearray(raw), dtype=dtype) if raw else torch.empty(0, dtype=dtype)
        strides = [int(k) for n, k in zip(shape, record["strides"], strict=True) if n > 1] if raw else []
        metadata = (record["dtype"], tuple(shape), tuple(strides), str(record["device"]), bool(record["requires_grad"]))
        return cls(flat.reshape(shape), metadata)


def metadata_differ(eager: SavedValue, compiled: SavedValue) -> bool:
    """Whether dtype, shape, strides where a size is above 1, device or ``requires_grad`` differ, or the class."""
    if eager.tensor is None and compiled.tensor is None:
        return eager.metadata[0] != compiled.metadata[0]
    return eager.metadata != compiled.metadata


def values_differ(eager: SavedValue, compiled: SavedValue) -> bool:
    """Whether any value differs; NaN equals NaN."""
    a, b = eager.tensor, compiled.tensor
    if a is None or b is None:
        return (a is None) != (b is None) or eager.metadata != compiled.metadata
    return a.shape != b.shape or not bool(((a == b) | ((a != a) & (b != b))).all())


def element_differs(eager: SavedValue, compiled: SavedValue, evidence: Evidence) -> bool:
    """Whether the compiled value at the evidence's index is wrong.

    It is farther from its reference than allowed, and more than three times as far as the eager value.
    """
    a, b, index = eager.tensor, compiled.tensor, evidence.index
    if a is None or b is None or index is None or evidence.reference is None or evidence.allowed is None:
        return values_differ(eager, compiled)
    try:
        x, y, reference = a[index].item(), b[index].item(), _number(evidence.reference)
    except (IndexError, ValueError, TypeError):
        return False
    if y == reference or (y != y and reference != reference):
        return False
    return not (abs(y - reference) <= evidence.allowed or abs(y - reference) <= 3 * abs(x - reference))


def _number(value: Any) -> Any:
    if isinstance(value, str):
        return complex(value) if "j" in value else float(value)
    return value
