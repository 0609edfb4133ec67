"""The recorded properties of one value, which preconditions check."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sized
from typing import Any

import numpy as np
import torch

from eqfuzz.torch_internals.modes import is_inside_transform
from eqfuzz.torch_internals.module_hooks import runs_only_forward


@dataclasses.dataclass(frozen=True)
class Fact:
    """One observed value.

    Attributes:
        kind: ``tensor`` (exactly torch.Tensor or Parameter), ``int``, ``float``, ``bool``, ``complex``, ``str``,
            ``none``, ``dtype``, ``ndarray``, ``range``, ``ints`` (a tuple or list of integers) or the name of another
            type.
        value: The value itself of a number, string, range or dtype (its name), or the tuple of integers; else None.
        dtype: That of a tensor; else None.
        shape: Sizes of a tensor or array by dimension; empty for other values.
        stride: Strides of a tensor by dimension, in elements; empty for other values.
        requires_grad: Whether the tensor does.
        needs_grad: The same where gradients are recorded: not within ``torch.no_grad()``.
        low: Least finite element of a real tensor; None where it has none.
        high: Largest finite element of a real tensor; None where it has none.
        smallest: Least absolute value of a finite element; None where there is none.
        has_nan: Whether an element, or a part of a complex one, is NaN.
        has_inf: Whether an element, or a part of a complex one, is infinite.
        has_negative_zero: Whether an element of a real floating-point tensor is -0.0.
        contiguous: Whether the tensor is.
        device: Type of the tensor's device, such as ``cpu``.
        mutated: Whether the tensor's storage was written to after this value was seen.
        aligned: Whether its memory begins on a 64-byte boundary, as that of every fresh tensor does.
        origin: Module and name of a type that ``kind`` names; else empty.
        length: That of a list, tuple, dict, range or container of modules; else None.
        attributes: The plain ones (numbers, strings, None, tuples of integers) of a module from ``torch.nn``, by name.
        hooked: Whether calling a module from ``torch.nn`` does more than its ``forward``.
    """

    kind: str
    value: Any = None
    dtype: torch.dtype | None = None
    shape: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    requires_grad: bool = False
    needs_grad: bool = False
    low: float | None = None
    high: float | None = None
    smallest: float | None = None
    has_nan: bool = False
    has_inf: bool = False
    has_negative_zero: bool = False
    contiguous: bool = True
    device: str = "cpu"
    mutated: bool = False
    aligned: bool = True
    origin: str = ""
    length: int | None = None
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    hooked: bool = False

    @property
    def is_tensor(self) -> bool:
        return self.kind == "tensor"

    @property
    def is_number(self) -> bool:
        return self.kind in ("int", "float")

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def describe(self) -> str:
        """A few words for reasons: ``float32[4, 6]`` or ``int 3``."""
        if self.is_tensor:
            return f"{str(self.dtype).removeprefix('torch.')}{list(self.shape)}"
        return f"{self.kind} {self.value!r}" if self.value is not None else self.kind


def fact_of(value: Any) -> Fact:
    """The fact of a live value; tensors are read, not stored."""
    if type(value) in (torch.Tensor, torch.nn.Parameter):
        return _of_tensor(value)
    if value is None:
        return Fact("none")
    if isinstance(value, bool):
        return Fact("bool", value)
    if type(value) in (int, float, complex, str):
        return Fact(type(value).__name__, value)
    if isinstance(value, torch.dtype):
        return Fact("dtype", str(value))
    if isinstance(value, np.ndarray):
        return Fact("ndarray", shape=value.shape)
    if type(value) is range:
        return Fact("range", value, length=len(value))
    if isinstance(value, (tuple, list)) and all(type(v) is int for v in value):
        return Fact("ints", tuple(value), length=len(value))
    kind, origin = type(value).__name__, f"{type(value).__module__}.{type(value).__qualname__}"
    if type(value) in (tuple, list, dict):
        return Fact(kind, origin=origin, length=len(value))
    if isinstance(value, torch.nn.Module) and origin.startswith("torch.nn."):
        return _of_module(value, kind, origin)
    return Fact(kind, origin=origin)


def _of_module(module: torch.nn.Module, kind: str, origin: str) -> Fact:
    """The fact of a module from ``torch.nn``; containers are those with a length."""
    return Fact(
        kind,
        origin=origin,
        length=len(module) if isinstance(module, Sized) else None,
        attributes={name: value for name, value in vars(module).items() if _is_plain(value)},
        hooked=not runs_only_forward(module),
    )


def _is_plain(value: Any) -> bool:
    if type(value) is tuple:
        return all(type(v) is int for v in value)
    return value is None or type(value) in (int, float, bool, str)


def _of_tensor(tensor: torch.Tensor) -> Fact:
    if tensor.layout is not torch.strided:
        return Fact("sparse tensor")
    if is_inside_transform(tensor):
        return Fact("tensor inside a function transform")  # its values cannot be read
    try:
        tensor.data_ptr()
    except (
        RuntimeError
    ):  # inside torch.func transforms tensors are wrappers without storage, so that nothing can be read
        return Fact("wrapped tensor")
    values = tensor.detach()
    if is_inside_transform(values):  # a plain tensor, but whatever is computed from it inside jvp or grad is wrapped
        return Fact("tensor inside a function transform")
    numbers = _numbers(values)
    return Fact(
        "tensor",
        dtype=tensor.dtype,
        shape=tuple(tensor.shape),
        stride=tuple(tensor.stride()),
        requires_grad=tensor.requires_grad,
        needs_grad=tensor.requires_grad and torch.is_grad_enabled(),
        contiguous=tensor.is_contiguous(),
        device=tensor.device.type,
        aligned=tensor.data_ptr() % 64 == 0,
        **numbers,
    )


def _numbers(values: torch.Tensor) -> dict[str, Any]:
    """Range and special values; numpy does it about three times faster than torch on small tensors."""
    if values.numel() == 0 or values.dtype is torch.bool:
        return {}
    if values.is_complex():
        parts = torch.view_as_real(values.resolve_conj().resolve_neg())
        return {k: v for k, v in _numbers(parts.reshape(-1)).items() if k in ("has_nan", "has_inf")}
    if not values.dtype.is_floating_point:
        array = values.cpu().numpy()
        return {"low": int(array.min()), "high": int(array.max()), "smallest": int(np.abs(array).min())}
    array = values.double().resolve_neg().cpu().numpy()
    finite = array[np.isfinite(array)]
    numbers: dict[str, Any] = {
        "has_nan": bool(np.isnan(array).any()),
        "has_inf": bool(np.isinf(array).any()),
        "has_negative_zero": bool(((array == 0) & np.signbit(array)).any()),
    }
    if finite.size:
        numbers |= {
            "low": float(finite.min()),
            "high": float(finite.max()),
            "smallest": float(np.abs(finite).min()),
        }
    return numbers
