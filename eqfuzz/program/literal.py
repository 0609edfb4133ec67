"""Values as Python source that needs only torch: the inputs and weights in a reproducer."""

from __future__ import annotations

import base64
import collections
import enum
import re
import types
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from eqfuzz.program.call import Call
from eqfuzz.program.namespace import MODULE_PREFIX, own_attributes
from eqfuzz.torch_internals.tensors import storage_key

_READABLE = 64
"""Tensors with at most this many elements are written as nested lists, larger ones as packed bytes."""

UNPACK = '''\
def unpack(data, dtype, size, stride, offset=0):
    """A tensor from packed bytes of its storage."""
    raw = bytearray(zlib.decompress(base64.b64decode(data)))
    return torch.frombuffer(raw, dtype=dtype).as_strided(size, stride, offset)
'''
"""The helper that packed tensors rely on; needs ``import base64, zlib, torch``."""


REMAKE = '''\
def remake(kind, held, items=()):
    """An object of a class, with its attributes, and with items where it is a container."""
    made = kind.__new__(kind)
    vars(made).update(held)
    if items:
        made.update(items) if isinstance(made, (dict, set)) else made.extend(items)
    return made
'''
"""The helper that objects of a program's own classes rely on."""

_BY_REPR = (type(None), bool, int, str, complex, bytes, slice, range, type(...))
_CONTAINERS = (list, dict, set, collections.deque)


class CannotDescribe(Exception):
    """A value has no source form; ``str()`` names its type."""


class Writer:
    """Writes values; a storage or an object that one call has in two places is one in the reproducer as well."""

    def __init__(self) -> None:
        self.preamble: list[str] = []
        self.packs = False
        self._storages: dict[int, str] = {}
        self._shared: dict[int, str] = {}
        self._around: list[int] = []

    def call(self, call: Call) -> str:
        """``(args, kwargs)`` of one call."""
        args = "".join(f"{self.value(a)}, " for a in call.args)
        kwargs = ", ".join(f"{k!r}: {self.value(v)}" for k, v in call.kwargs.items())
        return f"(({args}), {{{kwargs}}})"

    def calls(self, calls: Sequence[Call]) -> str:
        """Statements that end in ``return [(args, kwargs), …]``; the body of a function."""
        items = ""
        for call in calls:
            self._find_shared((*call.args, *call.kwargs.values()))
            items += f"    {self.call(call)},{f'  # {call.label}' if call.label else ''}\n"
        return "\n".join([*self.preamble, f"return [\n{items}]"])

    def value(self, value: Any) -> str:
        """An expression that gives an equal value of the same types. Raises CannotDescribe."""
        name = self._shared.get(id(value))
        if name is None:
            return self._fresh(value)
        if not name:
            name = self._shared[id(value)] = self._named("shared", self._fresh(value))
        return name

    def _named(self, kind: str, expression: str) -> str:
        name = f"{kind}{sum(line.startswith(kind) for line in self.preamble)}"
        self.preamble.append(f"{name} = {expression}")
        return name

    def _fresh(self, value: Any) -> str:
        if id(value) in self._around:
            raise CannotDescribe(f"a {type(value).__name__} that holds itself has no source form")
        self._around.append(id(value))
        try:
            return self._plain(value) or self._container(value) or self._object(value)
        finally:
            self._around.pop()

    def _plain(self, value: Any) -> str:
        """Tensors, arrays, numbers, text, names; empty for anything else."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
            tensor = self._tensor(torch.from_numpy(np.array(value)))
            return f"{tensor}.numpy()" if isinstance(value, np.ndarray) else f"{tensor}.numpy()[()]"
        if isinstance(value, enum.Enum):
            return f"{_name_of(type(value))}.{value.name}"
        if isinstance(value, (torch.dtype, torch.device)):
            return repr(value) if isinstance(value, torch.dtype) else f"torch.{value!r}"
        if type(value) is float:
            return repr(value) if np.isfinite(value) else f'float("{value}")'
        if type(value) in _BY_REPR:
            return repr(value)
        return _name_of(value) if isinstance(value, (type, types.FunctionType)) else ""

    def _container(self, value: Any) -> str:
        """Containers of the standard library and of torch, and named tuples; empty for anything else."""
        kind = type(value)
        if kind is dict:
            return self._pairs(value)
        if kind in (collections.OrderedDict, collections.Counter):
            return f"collections.{kind.__name__}({self._pairs(value)})"
        if kind is collections.defaultdict:
            factory = "None" if value.default_factory is None else _name_of(value.default_factory)
            return f"collections.defaultdict({factory}, {self._pairs(value)})"
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            items = ", ".join(f"{n}={self.value(v)}" for n, v in zip(value._fields, value, strict=True))  # type: ignore[attr-defined]
            return f"{_name_of(kind)}({items})"
        if kind not in (list, tuple, set, frozenset, collections.deque, torch.Size):
            return ""
        items = ", ".join(self.value(v) for v in value)
        if kind is tuple:
            return f"({items},)" if len(value) == 1 else f"({items})"
        if kind is list:
            return f"[{items}]"
        if isinstance(value, collections.deque):
            return f"collections.deque([{items}], {value.maxlen})"
        if kind is set:
            return f"{{{items}}}" if items else "set()"
        return f"{'torch.Size' if kind is torch.Size else 'frozenset'}([{items}])"

    def _object(self, value: Any) -> str:
        """An object of one of the program's own classes."""
        held = own_attributes(value)
        if held is None or isinstance(value, (int, float, complex, str, bytes, tuple, frozenset)):
            raise CannotDescribe(f"a {type(value).__name__} has no source form")
        items = ""
        if isinstance(value, dict):
            items = f", {self._pairs(value)}"
        elif isinstance(value, _CONTAINERS):
            items = f", [{', '.join(map(self.value, value))}]"
        return f"remake({_name_of(type(value))}, {self._pairs(held)}{items})"

    def _pairs(self, value: Mapping[Any, Any]) -> str:
        return "{" + ", ".join(f"{self.value(k)}: {self.value(v)}" for k, v in value.items()) + "}"

    def _find_shared(self, values: Sequence[Any]) -> None:
        """Collect the objects that the values of a call contain twice; name the storages that two tensors share."""
        seen: dict[int, Any] = {}
        twice: set[int] = set()
        left = list(values)
        while left:
            value = left.pop()
            held = own_attributes(value)
            if not isinstance(value, (torch.Tensor, tuple, *_CONTAINERS)) and held is None:
                continue
            if id(value) in seen:
                twice.add(id(value))
                continue
            seen[id(value)] = value
            left += [] if held is None else held.values()
            if isinstance(value, dict):
                left += value.values()
            elif isinstance(value, (tuple, *_CONTAINERS)):
                left += value
        self._shared = {key: "" for key in twice if not isinstance(seen[key], tuple)}
        self._storages = {}
        tensors = [t for t in seen.values() if isinstance(t, torch.Tensor) and t.layout is torch.strided][::-1]
        keys = [storage_key(t) for t in tensors]
        for tensor, key in zip(tensors, keys, strict=True):
            if keys.count(key) > 1 and key not in self._storages:
                whole = _storage_of(tensor).to(tensor.device)
                self._storages[key] = self._named("base", self._tensor(whole))

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


def _name_of(thing: Any) -> str:
    """The name of a built-in class, or of a class or function of the program. Raises CannotDescribe."""
    module, name = getattr(thing, "__module__", ""), getattr(thing, "__qualname__", "<")
    if "<" in name or not (module == "builtins" or str(module).startswith(MODULE_PREFIX)):
        raise CannotDescribe(f"{name.strip('<>') or type(thing).__name__} of {module} has no source form")
    return name


def _storage_of(tensor: torch.Tensor) -> torch.Tensor:
    """The whole storage as a 1-D tensor of the tensor's dtype, on the CPU."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return tensor.as_strided((tensor.untyped_storage().nbytes() // tensor.element_size(),), (1,), 0).cpu()


def _readable(tensor: torch.Tensor, device: str) -> str:
    """Source of a tensor on ``device`` (source, empty for the CPU) with the values of a tensor on the CPU."""
    there = f", device={device}" if device else ""
    if tensor.numel() == 0:
        return f"torch.empty_strided({tuple(tensor.shape)}, {tensor.stride()}, dtype={tensor.dtype}{there})"
    # repr of float64 round-trips, so every narrower float does too; NaN and inf need float("…").
    values = tensor.tolist() if tensor.is_complex() or not tensor.dtype.is_floating_point else tensor.double().tolist()
    text = repr(values)
    if tensor.dtype.is_floating_point or tensor.is_complex():
        text = re.sub(r"(?<![\w.])(-?)(inf|nan)(?![\w])", r'\1float("\2")', text)
    return f"torch.tensor({text}, dtype={tensor.dtype}{there})"
