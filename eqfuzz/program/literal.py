"""Values as Python source that needs only torch: inputs and weights written into a reproducer."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from eqfuzz.program.call import Call
from eqfuzz.torch_internals.tensors import storage_key
from eqfuzz.torch_internals.trees import tree_leaves

_READABLE = 64
"""Tensors with at most this many elements are written as nested lists, larger ones as packed bytes."""

UNPACK = '''\
def unpack(data, dtype, size, stride, offset=0):
    """A tensor from packed bytes of its storage."""
    raw = bytearray(zlib.decompress(base64.b64decode(data)))
    return torch.frombuffer(raw, dtype=dtype).as_strided(size, stride, offset)
'''
"""The helper that packed tensors rely on; needs ``import base64, zlib, torch``."""


class CannotDescribe(Exception):
    """A value that has no source form, with its type named."""


class Writer:
    """Writes values; remembers storages so that aliasing arguments alias in the reproducer too."""

    def __init__(self) -> None:
        self.preamble: list[str] = []
        self.packs = False
        self._storages: dict[int, str] = {}

    def call(self, call: Call) -> str:
        """``(args, kwargs)`` of one call."""
        args = "".join(f"{self.value(a)}, " for a in call.args)
        kwargs = ", ".join(f"{k!r}: {self.value(v)}" for k, v in call.kwargs.items())
        return f"(({args}), {{{kwargs}}})"

    def calls(self, calls: Sequence[Call]) -> str:
        """Statements that end in ``return [(args, kwargs), …]``; the body of a function."""
        self._find_shared([a for c in calls for a in (*c.args, *c.kwargs.values())])
        items = "".join(f"    {self.call(c)},{f'  # {c.label}' if c.label else ''}\n" for c in calls)
        return "\n".join([*self.preamble, f"return [\n{items}]"])

    def value(self, value: Any) -> str:
        """An expression that gives an equal value. Raises CannotDescribe."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, np.ndarray):
            return f"{self._tensor(torch.from_numpy(value.copy()))}.numpy()"
        if isinstance(value, (torch.dtype, torch.device)):
            return repr(value) if isinstance(value, torch.dtype) else f"torch.{value!r}"
        if isinstance(value, float):
            return repr(value) if np.isfinite(value) else f'float("{value}")'
        if value is None or isinstance(value, (bool, int, str, complex, bytes, slice)):
            return repr(value)
        if type(value) in (list, tuple, set):
            items = ", ".join(self.value(v) for v in value)
            if type(value) is tuple:
                return f"({items},)" if len(value) == 1 else f"({items})"
            if type(value) is list:
                return f"[{items}]"
            return f"{{{items}}}" if items else "set()"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.value(k)}: {self.value(v)}" for k, v in value.items()) + "}"
        raise CannotDescribe(f"a {type(value).__name__} has no source form")

    def _find_shared(self, values: Sequence[Any]) -> None:
        """Name every storage that more than one tensor argument looks into."""
        tensors = [t for v in values for t in tree_leaves(v) if isinstance(t, torch.Tensor)]
        keys = [storage_key(t) for t in tensors]
        for tensor, key in zip(tensors, keys, strict=True):
            if keys.count(key) > 1 and key not in self._storages and tensor.layout is torch.strided:
                name = f"base{len(self._storages)}"
                whole = _storage_of(tensor).to(tensor.device)
                self.preamble.append(f"{name} = {self._tensor(whole)}")
                self._storages[key] = name

    def _tensor(self, tensor: torch.Tensor) -> str:
        if tensor.layout is not torch.strided or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise CannotDescribe(f"a {tensor.layout} {type(tensor).__name__} has no source form")
        grad = ".requires_grad_()" if tensor.requires_grad and tensor.is_leaf else ""
        shared = self._storages.get(storage_key(tensor))
        size, stride, offset = tuple(tensor.shape), tensor.stride(), tensor.storage_offset()
        if shared is not None:
            return f"{shared}.as_strided({size}, {stride}, {offset}){grad}"
        device = "" if tensor.device.type == "cpu" else repr(tensor.device.type)
        tensor = tensor.detach()
        dense = torch.empty(size).stride() == stride and offset == 0
        if tensor.numel() <= _READABLE and (dense or tensor.numel() == 0):
            return f"{_readable(tensor.cpu() if tensor.numel() else tensor, device)}{grad}"
        self.packs = True
        whole = _storage_of(tensor)
        raw = whole.contiguous().view(torch.uint8).numpy().tobytes()
        data = base64.b64encode(zlib.compress(raw, 9)).decode()
        lines = "\n".join(f'    "{data[i : i + 100]}"' for i in range(0, max(len(data), 1), 100))
        if device:  # the whole storage goes there, so that strides and offset stay
            unpacked = f"unpack(\n{lines},\n    {tensor.dtype}, ({len(whole)},), (1,)\n).to({device})"
            return f"{unpacked}.as_strided({size}, {stride}, {offset}){grad}"
        return f"unpack(\n{lines},\n    {tensor.dtype}, {size}, {stride}, {offset}\n){grad}"


def _storage_of(tensor: torch.Tensor) -> torch.Tensor:
    """The whole storage as a 1-D tensor of the tensor's dtype, on the CPU."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return tensor.as_strided((tensor.untyped_storage().nbytes() // tensor.element_size(),), (1,), 0).cpu()


def _readable(tensor: torch.Tensor, device: str) -> str:
    """A tensor of the CPU as one that is made on ``device``, given as source; empty for the CPU."""
    there = f", device={device}" if device else ""
    if tensor.numel() == 0:
        return f"torch.empty_strided({tuple(tensor.shape)}, {tensor.stride()}, dtype={tensor.dtype}{there})"
    # repr of float64 round-trips, so every narrower float does too; NaN and inf need float("…").
    values = tensor.tolist() if tensor.is_complex() or not tensor.dtype.is_floating_point else tensor.double().tolist()
    text = repr(values)
    if tensor.dtype.is_floating_point or tensor.is_complex():
        text = re.sub(r"(?<![\w.])(-?)(inf|nan)(?![\w])", r'\1float("\2")', text)
    return f"torch.tensor({text}, dtype={tensor.dtype}{there})"
