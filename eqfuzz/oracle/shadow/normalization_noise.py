"""Noise of normalising operators, whose sums are rounded too, which noise on their operands does not show.

Computed in float64, a normalised row has variance 1 and the gradient of a softmax has sum 0 to the last bit for all
noisy operands. A later ``var`` or ``sum`` would look far more accurate than any float32 kernel is. So each noisy
row is normalised with the sums of its numbers as they were before the operator's own noise, which are another rounding
of the sums of those with it. Each of these sums is then rounded once: a kernel stores it, and the error of a mean that
is large beside the deviations moves a whole row to one side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Protocol

import torch

from eqfuzz.oracle.reference.noise import Noise
from eqfuzz.oracle.reference.rounding_model import component, opmath, relative_noise
from eqfuzz.oracle.shadow.shadow_operation import ShadowOperation

_Rows = torch.Tensor


class _Rounding(Protocol):
    """Sums of ``terms`` numbers, 1 if only the sum itself is rounded, after another rounding."""

    def __call__(self, sums: _Rows, *, terms: int = ...) -> _Rows: ...


def with_noise_in_sums(operation: ShadowOperation, results: list[_Rows], noise: Noise) -> list[_Rows]:
    """``results`` (rows of each output) with the noisy rows of the first one normalised by other roundings of sums.

    They are changed in place.
    """
    correct = _CORRECTIONS.get(operation.name)
    if correct is None or not results:
        return results
    first = correct(operation, results, partial(_rounded, noise, operation))
    if first is None or first.shape != results[0].shape:
        return results
    if first is not results[0]:
        results[0][1:] = first[1:]  # row 0 remains that of the kernel
    return results


def _rounded(noise: Noise, operation: ShadowOperation, sums: _Rows, *, terms: int = 1) -> _Rows:
    """Sums after one rounding to the dtype in which the operator adds, or after those of adding ``terms`` numbers."""
    dtype = opmath(component(operation.args[0].dtype))
    return noise.operand(sums, dtype, relative_noise(dtype, terms, narrowly=True), keep_zeros=True)


def _forward(operation: ShadowOperation, results: list[_Rows], rounded: _Rounding) -> _Rows | None:
    """Layer, group and batch norm; None in evaluation mode, where no statistics are computed."""
    if len(results) < 3 or results[1].numel() == 0:
        return None
    args = operation.args
    source, before = operation.rows[id(args[0])], operation.rows_before[id(args[0])]
    statistics = partial(_statistics, operation, results)
    if operation.name == "native_layer_norm":
        mean, inverse = statistics(before, tuple(range(-len(args[1]), 0)), args[4], rounded)
        return _affine(operation, (source - mean) * inverse, args[2], args[3], _trailing)
    if operation.name == "native_group_norm":
        shape = (source.shape[0], source.shape[1], args[6], -1)
        mean, inverse = statistics(before.reshape(shape), (-1,), args[7], rounded)
        normal = ((source.reshape(shape) - mean) * inverse).reshape(source.shape)
    else:
        dims = (1, *range(3, source.dim()))
        # In channels-last order a channel is added up number by number, in eager as well.
        one_by_one = partial(rounded, terms=math.prod(before.shape[dim] for dim in dims))
        mean, inverse = statistics(before, dims, args[7], one_by_one)
        normal = (source - mean) * inverse
    return _affine(operation, normal, args[1], args[2], _per_channel)


def _statistics(
    operation: ShadowOperation,
    results: list[_Rows],
    rows: _Rows,
    dims: tuple[int, ...],
    eps: float,
    rounded: _Rounding,
) -> tuple[_Rows, _Rows]:
    """Rounded mean and inverse standard deviation, with the dimensions ``dims`` of size 1.

    Of equal large numbers some kernels find a variance that is the rounding of their mean, others 0: each is in every
    other noisy row, of the third of ``results`` too.
    """
    variance, mean = torch.var_mean(rows, dims, correction=0, keepdim=True)
    rounded_mean = _rounded_mean(mean, torch.hypot(variance.sqrt(), mean), rounded)
    unit = torch.finfo(opmath(component(operation.args[0].dtype))).eps
    rounding = (math.prod(rows.shape[dim] for dim in dims) * unit * mean).square()
    in_every_other_row = (torch.arange(len(rows), device=rows.device) % 2 == 1).reshape(-1, *[1] * (rows.dim() - 1))
    is_zero = (variance <= rounding) & (rounding > unit * eps) & in_every_other_row
    if is_zero.any():
        inverse = results[2]
        inverse[1:] = torch.where(is_zero.reshape(inverse.shape), eps**-0.5, inverse)[1:]
    return rounded_mean, rounded((torch.where(is_zero, 0, variance) + eps).rsqrt())


def _rounded_mean(mean: _Rows, size: _Rows, rounded: _Rounding) -> _Rows:
    """Mean of numbers of which the root mean square is ``size``, after the roundings of their sum.

    A mean may be far smaller than the numbers that cancel in it: running sums of n numbers of size s are about s√n
    large, so that n roundings of them move the sum by about n·s units, and the mean by one unit of s.
    """
    cancelled = (rounded(size, terms=1) - size).nan_to_num_(0.0)  # infinite numbers have no size
    return rounded(mean) + cancelled


def _rms_forward(operation: ShadowOperation, results: list[_Rows], rounded: _Rounding) -> _Rows | None:
    args = operation.args
    if len(results) < 2 or results[1].numel() == 0:
        return None
    source, before = operation.rows[id(args[0])], operation.rows_before[id(args[0])]
    dims = tuple(range(-len(args[1]), 0))
    # The kernel's own inverse, which knows its epsilon, with another rounding of the mean square.
    change = before.square().mean(dims, keepdim=True) - source.square().mean(dims, keepdim=True)
    normal = source * rounded((results[1].pow(-2) + change).rsqrt())
    weight = args[2] if len(args) > 2 else None
    return _affine(operation, normal, weight, None, _trailing)


def _affine(
    operation: ShadowOperation,
    normal: _Rows,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    broadcast: Callable[[_Rows, _Rows], _Rows],
) -> _Rows:
    if weight is not None:
        normal = normal * broadcast(operation.rows[id(weight)], normal)
    return normal if bias is None else normal + broadcast(operation.rows[id(bias)], normal)


def _norm_backward(operation: ShadowOperation, results: list[_Rows], rounded: _Rounding) -> _Rows | None:
    """``dx = (g·w − mean(g·w) − x̂·mean(g·w·x̂))·σ⁻¹``: both means are those of the numbers before their noise."""
    args = operation.args
    if not args[-1][0] or any(args[place] is None for place in _STATISTICS[operation.name]):
        return None
    if operation.name == "native_batch_norm_backward" and not args[7]:
        return None
    (gradient, normal, inverse), dims = _normalized(operation, operation.rows)
    (gradient_before, normal_before, _), _ = _normalized(operation, operation.rows_before)
    plain = gradient.mean(dims, keepdim=True) - _rounded_mean_of(gradient_before, dims, rounded)
    weighted = (gradient * normal).mean(dims, keepdim=True)
    weighted -= _rounded_mean_of(gradient_before * normal_before, dims, rounded)
    return results[0] + ((plain + normal * weighted) * inverse).reshape(results[0].shape)


def _rounded_mean_of(numbers: _Rows, dims: tuple[int, ...], rounded: _Rounding) -> _Rows:
    count = math.prod(numbers.shape[dim] for dim in dims)
    size = torch.linalg.vector_norm(numbers, dim=dims, keepdim=True) / math.sqrt(max(count, 1))
    return _rounded_mean(numbers.mean(dims, keepdim=True), size, rounded)


def _normalized(
    operation: ShadowOperation, rows: dict[int, _Rows]
) -> tuple[tuple[_Rows, _Rows, _Rows], tuple[int, ...]]:
    """``g·w``, the normalised numbers and σ⁻¹, and the dimensions of which the means are taken."""
    args = operation.args
    gradient, source = rows[id(args[0])], rows[id(args[1])]
    mean, inverse = (rows[id(args[place])] for place in _STATISTICS[operation.name])
    dims: tuple[int, ...]
    if operation.name == "native_layer_norm_backward":
        weight, broadcast, dims = args[5], _trailing, tuple(range(-len(args[2]), 0))
    elif operation.name == "native_group_norm_backward":
        weight, broadcast, dims = args[4], _per_channel, (-1,)
    else:
        weight, broadcast, dims = args[2], _per_channel, (1, *range(3, source.dim()))
        mean, inverse = _per_channel(mean, source), _per_channel(inverse, source)
    if weight is not None:
        gradient = gradient * broadcast(rows[id(weight)], gradient)
    if operation.name == "native_group_norm_backward":
        gradient, source = gradient.reshape(*mean.shape, -1), source.reshape(*mean.shape, -1)
        mean, inverse = mean.unsqueeze(-1), inverse.unsqueeze(-1)
    return (gradient, (source - mean) * inverse, inverse), dims


def _softmax_backward(operation: ShadowOperation, results: list[_Rows], rounded: _Rounding) -> _Rows | None:
    """``dx = y·(g − Σ g·y)``, for the logarithm ``dx = g − exp(y)·Σ g``."""
    output = operation.rows[id(operation.args[1])]
    if output.dim() == 1:
        return None
    change = _total(operation, operation.rows) - rounded(_total(operation, operation.rows_before))
    corrected = results[0].to(torch.float64)
    # Row by row: scores of attention are the largest tensors of a model.
    for row in range(1, len(change)):
        factor = output[row] if operation.name == "_softmax_backward_data" else output[row].exp()
        corrected[row].addcmul_(factor, change[row])
    return corrected


def _total(operation: ShadowOperation, rows: dict[int, _Rows]) -> _Rows:
    gradient, output = (rows[id(value)] for value in operation.args[:2])
    dim = operation.args[2] % (output.dim() - 1)
    if operation.name == "_log_softmax_backward_data":
        return gradient.sum(dim + 1, keepdim=True)
    return torch.stack([(one * row).sum(dim, keepdim=True) for one, row in zip(gradient, output, strict=True)])


_STATISTICS = {
    "native_layer_norm_backward": (3, 4),
    "native_group_norm_backward": (2, 3),
    "native_batch_norm_backward": (5, 6),
}

_CORRECTIONS: dict[str, Callable[[ShadowOperation, list[_Rows], _Rounding], _Rows | None]] = {
    "native_layer_norm": _forward,
    "native_group_norm": _forward,
    "native_batch_norm": _forward,
    "_native_batch_norm_legit": _forward,
    "_fused_rms_norm": _rms_forward,
    "_softmax_backward_data": _softmax_backward,
    "_log_softmax_backward_data": _softmax_backward,
    **dict.fromkeys(_STATISTICS, _norm_backward),
}


def has_sums(name: str) -> bool:
    """Whether an operator is a normalising one, whose operands are needed as they were before its noise."""
    return name in _CORRECTIONS


def _per_channel(rows: _Rows, source: _Rows) -> _Rows:
    """Reshape (rows, C) to broadcast with (rows, N, C, …)."""
    return rows.reshape(rows.shape[0], 1, -1, *([1] * (source.dim() - 3)))


def _trailing(rows: _Rows, source: _Rows) -> _Rows:
    """Reshape (rows, *normalised) to broadcast with (rows, *lead, *normalised)."""
    return rows.reshape(rows.shape[0], *([1] * (source.dim() - rows.dim())), *rows.shape[1:])
