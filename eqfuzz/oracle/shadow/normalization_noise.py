"""Noise of normalising operators, whose sums are rounded too, which noise on their operands does not show.

Computed in float64, a normalised row has variance 1 and the gradient of a softmax has sum 0 to the last bit for all
noisy operands. A later ``var`` or ``sum`` would look far more accurate than any float32 kernel is. So each noisy
row is normalised with the sums of the next row, which are another rounding of the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from eqfuzz.oracle.shadow.shadow_operation import ShadowOperation

_Rows = torch.Tensor


def with_noise_in_sums(operation: ShadowOperation, results: list[_Rows]) -> list[_Rows]:
    """``results`` (rows of each output) with the noisy rows of the first one normalised by the sums of other rows.

    They are changed in place.
    """
    correct = _CORRECTIONS.get(operation.name)
    if correct is None or not results:
        return results
    first = correct(operation, results)
    if first is None or first.shape != results[0].shape:
        return results
    if first is not results[0]:
        results[0][1:] = first[1:]  # row 0 remains that of the kernel
    return results


def _forward(operation: ShadowOperation, results: list[_Rows]) -> _Rows | None:
    """Layer, group and batch norm; None in evaluation mode, where no statistics are computed."""
    if len(results) < 3 or results[1].numel() == 0:
        return None
    args = operation.args
    source = operation.rows[id(args[0])]
    mean, inverse = _next_row(results[1]), _next_row(results[2])
    if operation.name == "native_layer_norm":
        normal = (source - mean) * inverse
        return _affine(operation, normal, args[2], args[3], _trailing)
    if operation.name == "native_group_norm":
        folded = source.reshape(*mean.shape, -1)
        normal = ((folded - mean.unsqueeze(-1)) * inverse.unsqueeze(-1)).reshape(source.shape)
    else:
        normal = (source - _per_channel(mean, source)) * _per_channel(inverse, source)
    return _affine(operation, normal, args[1], args[2], _per_channel)


def _rms_forward(operation: ShadowOperation, results: list[_Rows]) -> _Rows | None:
    if len(results) < 2 or results[1].numel() == 0:
        return None
    normal = operation.rows[id(operation.args[0])] * _next_row(results[1])
    weight = operation.args[2] if len(operation.args) > 2 else None
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


def _norm_backward(operation: ShadowOperation, results: list[_Rows]) -> _Rows | None:
    """``dx = (g·w − mean(g·w) − x̂·mean(g·w·x̂))·σ⁻¹``: both means are those of the next row."""
    args, rows = operation.args, operation.rows
    if not args[-1][0] or any(args[place] is None for place in _STATISTICS[operation.name]):
        return None
    gradient, source = rows[id(args[0])], rows[id(args[1])]
    mean, inverse = (rows[id(args[place])] for place in _STATISTICS[operation.name])
    if operation.name == "native_layer_norm_backward":
        weight, broadcast, dims = args[5], _trailing, tuple(range(-len(args[2]), 0))
    elif operation.name == "native_group_norm_backward":
        weight, broadcast, dims = args[4], _per_channel, (-1,)
    else:
        if not args[7]:
            return None
        weight, broadcast, dims = args[2], _per_channel, (1, *range(3, source.dim()))
        mean, inverse = _per_channel(mean, source), _per_channel(inverse, source)
    if weight is not None:
        gradient = gradient * broadcast(rows[id(weight)], gradient)
    shape = source.shape
    if operation.name == "native_group_norm_backward":
        gradient, source = gradient.reshape(*mean.shape, -1), source.reshape(*mean.shape, -1)
        mean, inverse = mean.unsqueeze(-1), inverse.unsqueeze(-1)
    normal = (source - mean) * inverse
    plain, weighted = gradient.mean(dims, keepdim=True), (gradient * normal).mean(dims, keepdim=True)
    change = (plain - _next_row(plain)) + normal * (weighted - _next_row(weighted))
    return results[0] + (change * inverse).reshape(shape)


def _softmax_backward(operation: ShadowOperation, results: list[_Rows]) -> _Rows | None:
    """``dx = y·(g − Σ g·y)``, for the logarithm ``dx = g − exp(y)·Σ g``."""
    gradient, output = (operation.rows[id(value)] for value in operation.args[:2])
    if output.dim() == 1:
        return None
    dim = operation.args[2] % (output.dim() - 1) + 1
    # Row by row: scores of attention are the largest tensors of a model.
    if operation.name == "_softmax_backward_data":
        total = torch.stack([(one * row).sum(dim - 1, keepdim=True) for one, row in zip(gradient, output, strict=True)])
    else:
        total = gradient.sum(dim, keepdim=True)
    change = total - _next_row(total)
    corrected = results[0].to(torch.float64)
    for row in range(1, len(change)):
        factor = output[row] if operation.name == "_softmax_backward_data" else output[row].exp()
        corrected[row].addcmul_(factor, change[row])
    return corrected


_STATISTICS = {
    "native_layer_norm_backward": (3, 4),
    "native_group_norm_backward": (2, 3),
    "native_batch_norm_backward": (5, 6),
}

_CORRECTIONS: dict[str, Callable[[ShadowOperation, list[_Rows]], _Rows | None]] = {
    "native_layer_norm": _forward,
    "native_group_norm": _forward,
    "native_batch_norm": _forward,
    "_native_batch_norm_legit": _forward,
    "_fused_rms_norm": _rms_forward,
    "_softmax_backward_data": _softmax_backward,
    "_log_softmax_backward_data": _softmax_backward,
    **dict.fromkeys(_STATISTICS, _norm_backward),
}


def _next_row(rows: _Rows) -> _Rows:
    """Rows 1…K rotated by one; row 0 as it is."""
    return torch.cat([rows[:1], rows[1:].roll(1, 0)])


def _per_channel(rows: _Rows, source: _Rows) -> _Rows:
    """Reshape (rows, C) to broadcast with (rows, N, C, …)."""
    return rows.reshape(rows.shape[0], 1, -1, *([1] * (source.dim() - 3)))


def _trailing(rows: _Rows, source: _Rows) -> _Rows:
    """Reshape (rows, *normalised) to broadcast with (rows, *lead, *normalised)."""
    return rows.reshape(rows.shape[0], *([1] * (source.dim() - rows.dim())), *rows.shape[1:])
