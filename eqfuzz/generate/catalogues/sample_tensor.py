"""The tensors of a sample as code of ``inputs(rng)``: values of the same domain, in a layout drawn at random."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from eqfuzz.generate.catalogues.views import drawn_view
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.input_code import LAYOUTS, layout_code, literal

LITERAL_ELEMENTS = 32
"""A tensor with at most so many elements can be written with its values."""

_SMALL_INDEX = 12
"""Indices of at most so many elements are written with their values: few of them are valid with others."""

_FEW = 4
"""Fewer elements say little about a domain: negative ones are taken for any numbers."""

_MANY = 8
"""Of so many integers on both sides of zero one is zero, unless the operator does not allow it."""

_VALUES = {"as it is": 8.0, "integers": 3.0, "special": 3.0, "negative": 1.5}
_VIEWED = 0.25
"""Share of the operands that are views which the program takes."""
_LARGEST_INTEGER = 4
_SMALL = 0.1


class SampleTensor:
    """A tensor of a sample for operators tested with ``dtype``: several ways to write it, to be tried in turn."""

    def __init__(self, tensor: torch.Tensor, dtype: torch.dtype) -> None:
        self._tensor = tensor.detach()
        self._grad = ".requires_grad_()" if tensor.requires_grad else ""
        self._is_tested = tensor.dtype == dtype
        self._dtype = "" if tensor.dtype == torch.float32 else f"dtype={tensor.dtype}"

    @property
    def is_special_possible(self) -> bool:
        """Whether NaN and infinity are among the values that ``drawn`` may choose."""
        return self._tensor.is_floating_point() and self._is_tested

    def drawn(self, draw: Draw, values: str) -> tuple[str, str]:
        """New values in a layout drawn at random, and method calls with which the program makes the operand of them.

        ``values`` is a key of the value profiles.
        """
        size = tuple(self._tensor.shape)
        if not self._tensor.is_contiguous() or self._structured() or not self._is_tested or 0 in size:
            return self.plain(), ""
        view = ""
        if draw.chance(_VIEWED):
            size, view = drawn_view(draw, size, self._tensor.dtype)
        layout = draw.weighted({name: weight for name, weight in LAYOUTS.items() if _fits(name, size)})
        base, after = layout_code(draw, size, layout)
        return f"{self._values(base, values)}{after}{self._grad}", view

    def plain(self) -> str:
        """New values in the sample's own domain and layout."""
        size, after = self._own_layout()
        return f"{self._structured() or self._values(size, 'as it is')}{after}{self._grad}"

    def with_its_values(self, digits: int) -> str:
        """The values of the sample, floats with so many significant digits; empty for a large tensor."""
        if self._tensor.numel() > LITERAL_ELEMENTS:
            return ""
        return self._literal(digits) + self._grad

    def _structured(self) -> str:
        """Code of a tensor whose elements depend on each other, or are a few fixed ones; empty for any other."""
        tensor = self._tensor
        if not tensor.numel():
            return ""
        if tensor.numel() > 1 and bool((tensor == tensor.flatten()[0]).all()):
            return f"torch.full({tuple(tensor.shape)}, {_number(tensor.flatten()[0])}, dtype={tensor.dtype})"
        if tensor.dtype == torch.bool:
            return ""
        if not tensor.dtype.is_floating_point and not tensor.dtype.is_complex:
            return self._index()
        if not bool(tensor.isfinite().all()):
            return self._literal(4) if tensor.numel() <= LITERAL_ELEMENTS else ""
        if tensor.dim() >= 2 and tensor.shape[-1] == tensor.shape[-2] > 1:
            code = self._matrix()
            if code:
                return code
        if tensor.dtype.is_complex or tensor.dim() == 0 or tensor.shape[-1] < 3:
            return ""
        wide = tensor.double()
        steps = wide.diff(dim=-1)
        if bool((steps >= 0).all()) and bool((steps > 0).any()):
            return f"{self._values(tuple(tensor.shape), 'as it is')}.sort(-1).values"
        total = wide.sum(-1)
        if bool((wide >= 0).all()) and torch.allclose(total, torch.ones_like(total), atol=1e-2):
            return f"{self._call('normal', tuple(tensor.shape))}.softmax(-1)"
        return ""

    def _index(self) -> str:
        """Integers that are no operands but indices, sizes or classes; empty for those that are operands."""
        tensor, flat = self._tensor, self._tensor.flatten()
        if self._is_tested and not (tensor.dtype == torch.int64 and bool((flat >= 0).all())):
            return ""
        if tensor.numel() <= _SMALL_INDEX:
            return self._literal(0)
        if tensor.dim() == 1 and bool((flat.sort().values == torch.arange(len(flat), dtype=flat.dtype)).all()):
            return f"rng.permutation({len(flat)})" + ("" if tensor.dtype == torch.int64 else f".to({tensor.dtype})")
        if tensor.shape[-1] > 1 and bool((tensor.diff(dim=-1) >= 0).all()):
            return self._literal(0) if tensor.numel() <= LITERAL_ELEMENTS else ""
        return ""

    def _matrix(self) -> str:
        tensor, size = self._tensor, tuple(self._tensor.shape)
        wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
        drawn = self._call("normal", size)
        if torch.allclose(wide, wide.mH, atol=1e-3):
            info = torch.linalg.cholesky_ex(wide).info
            return f"{'positive_definite' if not bool(info.any()) else 'symmetric'}({drawn})"
        if torch.equal(wide, wide.tril()):
            return f"{drawn}.tril()"
        return f"{drawn}.triu()" if torch.equal(wide, wide.triu()) else ""

    def _values(self, size: Sequence[int], values: str) -> str:
        """Code of independent values within the bounds of the sample's."""
        tensor = self._tensor
        if tensor.dtype == torch.bool:
            return f"rng.booleans({literal(tuple(size))})"
        if not tensor.numel():
            return self._call("normal", size) if self._is_float else self._call("integers", (0, 2, *size))
        if not self._is_float:
            low, high = int(tensor.min()), int(tensor.max())
            if low == high:
                low, high = min(low, 0), max(high, 1)
            elif low < 0 < high and tensor.numel() >= _MANY and bool((tensor != 0).all()):
                low = 1  # divisors
            return self._call("integers", (low, high + 1, *size), dtype="" if tensor.dtype == torch.int64 else None)
        finite = tensor[tensor.isfinite()]
        if values == "special" and self.is_special_possible:
            return self._call("special", size)
        if tensor.is_complex() or not finite.numel():
            return self._call("normal", size)
        low, high = float(finite.min()), float(finite.max())
        if values == "integers" and high - low >= 2:
            low, high = max(math.ceil(low), -_LARGEST_INTEGER), min(math.floor(high), math.ceil(low) + 8)
            if high > low:
                return self._call("integers", (low, high + 1, *size), dtype=f"dtype={tensor.dtype}")
        if values == "negative" and low < 0 < high:
            low = _floor(low)
            return self._call("uniform", size, f"low={low}, high={low / 8}")
        is_any = low < 0 < high and max(-low, high) > 1
        if is_any or (low < -1 and tensor.numel() < _FEW):
            return self._call("normal", size)
        if low == high:
            low = low / 2
        low = _floor(low)
        bounds = f"low={low}, high={_ceil(high, low)}"
        return self._call("uniform", size, bounds)

    @property
    def _is_float(self) -> bool:
        return self._tensor.dtype.is_floating_point or self._tensor.dtype.is_complex

    def _call(self, method: str, numbers: Sequence[int], more: str = "", dtype: str | None = None) -> str:
        parts = [*map(str, numbers), more, self._dtype if dtype is None else dtype]
        return f"rng.{method}({', '.join(part for part in parts if part)})"

    def _own_layout(self) -> tuple[tuple[int, ...], str]:
        """The size of a contiguous tensor, and the code after it that gives one with the strides of the sample."""
        tensor = self._tensor
        size, stride = tuple(tensor.shape), tensor.stride()
        if tensor.is_contiguous() or not tensor.numel() or self._structured():
            return size, ""
        if 0 in stride:
            base = tuple(1 if step == 0 else n for n, step in zip(size, stride, strict=True))
            return base, f".expand({literal(size)})"
        order = sorted(range(len(size)), key=lambda axis: -stride[axis])
        if tensor.permute(order).is_contiguous():
            back = ", ".join(str(order.index(axis)) for axis in range(len(size)))
            return tuple(size[axis] for axis in order), f".permute({back})"
        return (*size[:-1], 2 * size[-1]), "[..., ::2]"

    def _literal(self, digits: int) -> str:
        return f"torch.tensor({_nested(self._tensor, digits)}, dtype={self._tensor.dtype})" + self._shape_of_empty()

    def _shape_of_empty(self) -> str:
        size = tuple(self._tensor.shape)
        return f".reshape({literal(size)})" if 0 in size and size != (0,) else ""


def _nested(tensor: torch.Tensor, digits: int) -> str:
    if not tensor.numel():
        return "[]"
    if tensor.dim() == 0:
        return _number(tensor, digits)
    return f"[{', '.join(_nested(part, digits) for part in tensor)}]"


def _number(scalar: torch.Tensor, digits: int = 6) -> str:
    value = scalar.item()
    if isinstance(value, complex):
        return f"complex({_float(value.real, digits)}, {_float(value.imag, digits)})"
    return _float(value, digits) if isinstance(value, float) else repr(value)


def _float(value: float, digits: int) -> str:
    return repr(float(f"{value:.{digits}g}")) if math.isfinite(value) else f'float("{value}")'


def _floor(value: float) -> float:
    """A bound of two decimals just below ``value``, or of three digits where it is small."""
    return float(f"{value:.3g}") if 0 < abs(value) < _SMALL else math.floor(value * 100) / 100


def _ceil(value: float, low: float) -> float:
    """The same above it, and above ``low``."""
    high = float(f"{value:.3g}") if 0 < abs(value) < _SMALL else math.ceil(value * 100) / 100
    return high if high > low else low + max(abs(low), _SMALL) / 10


def _fits(layout: str, size: Sequence[int]) -> bool:
    least = {"contiguous": 0, "channels last": 4, "transposed": 2, "reversed dims": 2}.get(layout, 1)
    return len(size) == 4 if layout == "channels last" else len(size) >= least


def drawn_values(draw: Draw, operands: Sequence[SampleTensor]) -> str:
    """One value profile for all operands of a sample."""
    weights = {name: weight for name, weight in _VALUES.items() if name != "special" or _any_special(operands)}
    return draw.weighted(weights)


def _any_special(operands: Sequence[SampleTensor]) -> bool:
    return any(operand.is_special_possible for operand in operands)
