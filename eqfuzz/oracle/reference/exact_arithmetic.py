"""Exactness by value: sums and products of numbers with few bits are exact in any order.

Every partial sum of numbers that are multiples of one unit is a multiple of that unit too, and none is larger than the
sum of the magnitudes. Where that sum stays below 2^p units (p: the bits of the result's significand), no legal way of
computing it rounds: reassociated, fused or blocked, it gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from eqfuzz.oracle.reference.rounding_model import is_whole
from eqfuzz.torch_internals.operators import schema_of
from eqfuzz.torch_internals.trees import tensors_in, tree_map_only

_BITS = {torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}

_LINEAR = frozenset(
    "add sub rsub sum cumsum mean index_add scatter_add index_put _index_put_impl _unsafe_index_put".split()
)
_BILINEAR = frozenset(
    """mul square mm bmm addmm addbmm baddbmm mv addmv dot vdot addr addcmul convolution convolution_overrideable
    convolution_backward linear matmul outer""".split()
)
_NUMBERS = ("number", "Scalar", "Tensor", "Optional[Tensor]")


def is_exact_here(
    name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], results: Sequence[torch.Tensor]
) -> bool:
    """Whether every legal implementation of the operator gives these ``results`` bit for bit for these operands."""
    if name == "div":
        return kwargs.get("rounding_mode") is None and _divides_by_power_of_two(args, results)
    if name == "pow":
        if len(args) < 2 or isinstance(args[1], torch.Tensor) or args[1] != 2:
            return False
        return is_exact_here("mul", torch.ops.aten.mul.Tensor, (args[0], args[0]), {}, results)
    if name not in _LINEAR and name not in _BILINEAR:
        return False
    operands = tensors_in((args, kwargs))
    # Other devices may use another algorithm for convolutions and products (Winograd, TF32).
    if any(value.device.type != "cpu" or value.layout is not torch.strided for value in operands):
        return False
    if not results or not all(value.dtype in _BITS for value in results):
        return False
    floats = [value for value in operands if value.is_floating_point() or value.is_complex()]
    if not all(value.dtype in _BITS for value in floats):
        return False
    sum_unit = _unit_of_sums(name, floats, _scalars(func, args, kwargs), operands[0].numel(), results[0].numel())
    if not sum_unit > 0:
        return False
    magnitudes = _sums_of_magnitudes(name, func, args, kwargs)
    if magnitudes is None or len(magnitudes) != len(results):
        return False
    return all(_below(bound, sum_unit, value.dtype) for bound, value in zip(magnitudes, results, strict=True))


def _unit_of_sums(
    name: str, floats: Sequence[torch.Tensor], scalars: Sequence[float], operand_size: int, result_size: int
) -> float:
    """A power of two of which every partial sum of the operator is a multiple; 0 if there is none."""
    units = [min(unit(value), 1.0) for value in floats]
    scale = math.prod(min(_unit_of(value), 1.0) for value in scalars)
    sum_unit = (min(units, default=1.0) if name in _LINEAR else math.prod(units)) * scale
    if name == "square":
        return sum_unit * units[0]
    if name == "mean":
        count = max(operand_size, 1) // max(result_size, 1)
        return 0.0 if count & (count - 1) else sum_unit / max(count, 1)
    return sum_unit


def gives_whole_here(name: str, kwargs: dict[str, Any], results: Sequence[torch.Tensor]) -> bool:
    """Whether it is a division to whole numbers, or its remainder, whose ``results`` their dtype represents exactly."""
    if not is_whole(name, kwargs) or not results:
        return False
    # In half types eager rounds Python numbers and intermediate steps, which compiled code keeps in float32.
    return all(
        value.dtype in (torch.float32, torch.float64)
        and bool((value.detach().double().abs() < 2.0 ** _BITS[value.dtype]).all())
        for value in results
    )


def unit(values: torch.Tensor) -> float:
    """The largest power of two of which every element is a multiple; inf if all are 0, 0 if one is not finite."""
    wide = values.detach().double()
    if not wide.numel():
        return math.inf
    if not bool(wide.isfinite().all()):
        return 0.0
    mantissa, exponent = torch.frexp(wide)
    whole = (mantissa * 2.0**53).to(torch.int64).abs()
    lowest = (whole & -whole).double()
    units = torch.where(whole == 0, torch.inf, torch.ldexp(lowest, (exponent - 53).double()))
    return float(units.amin())


def _below(magnitudes: torch.Tensor, least: float, dtype: torch.dtype) -> bool:
    return bool((magnitudes <= least * 2.0 ** _BITS[dtype]).all())


def _sums_of_magnitudes(
    name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[torch.Tensor] | None:
    """The operator in float64 on magnitudes; None if it does not run in float64."""

    def magnitude(value: torch.Tensor) -> torch.Tensor:
        return value.detach().double().abs() if value.is_floating_point() else value.detach()

    args, kwargs = tree_map_only(torch.Tensor, magnitude, (args, kwargs))
    if name in ("sub", "rsub"):
        func = torch.ops.aten.add.Tensor
        pair = [value if isinstance(value, torch.Tensor) else torch.tensor(abs(float(value))) for value in args[:2]]
        args = tuple(pair if name == "sub" else reversed(pair))
    args, kwargs = _without_signs(func, args, kwargs)
    kwargs = {key: value for key, value in kwargs.items() if key != "dtype"}
    try:
        result = func(*args, **kwargs)
    except (RuntimeError, TypeError, NotImplementedError):
        return None
    return [value.double().abs() for value in tensors_in(result)]


def _scalar_names(func: Any) -> set[str]:
    return {argument.name for argument in schema_of(func).arguments if str(argument.type) in _NUMBERS}


def _scalars(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[float]:
    names = _scalar_names(func)
    arguments = dict(zip((argument.name for argument in schema_of(func).arguments), args, strict=False)) | kwargs
    return [float(value) for key, value in arguments.items() if key in names and isinstance(value, (int, float))]


def _without_signs(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    names = _scalar_names(func)
    order = [argument.name for argument in schema_of(func).arguments]
    plain = tuple(
        abs(value) if key in names and isinstance(value, (int, float)) else value
        for key, value in zip(order, args, strict=False)
    )
    return plain, {key: abs(v) if key in names and isinstance(v, (int, float)) else v for key, v in kwargs.items()}


def _divides_by_power_of_two(args: tuple[Any, ...], results: Sequence[torch.Tensor]) -> bool:
    dividend, divisor = args[0], args[1]
    if not isinstance(divisor, torch.Tensor):
        divisor = torch.tensor(float(divisor), dtype=torch.float64)
    if len(results) != 1 or results[0].dtype not in _BITS or not isinstance(dividend, torch.Tensor):
        return False
    mantissa, _ = torch.frexp(divisor.detach().double())
    if not bool((mantissa.abs() == 0.5).all()):
        return False
    return bool((dividend.detach().double() / divisor.detach().double() == results[0].detach().double()).all())


def _unit_of(value: float) -> float:
    return unit(torch.tensor(value, dtype=torch.float64))
