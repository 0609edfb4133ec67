"""Normalising operators: their means and deviations are rounded too, which noise on the operands alone cannot show."""

from __future__ import annotations

import torch

from eqfuzz.judge.operands import Operation

NORMALISING = frozenset(
    {
        "native_layer_norm",
        "native_group_norm",
        "native_batch_norm",
        "_native_batch_norm_legit",
        "_native_batch_norm_legit_no_training",
        "cudnn_batch_norm",
        "_fused_rms_norm",
    }
)


def with_own_statistics(operation: Operation, results: list[torch.Tensor]) -> list[torch.Tensor]:
    """Normalise each noisy row by the next row's mean and deviation.

    Normalised in float64, every row has variance 1 to the last bit, however noisy: a later ``var`` would then look far
    more accurate than any float32 kernel is. Rows' statistics are independent roundings of the same numbers.
    Results that keep no statistics (evaluation mode) are returned as they are.
    """
    if len(results) < 2 or any(extra.numel() == 0 for extra in results[1:]):
        return results
    name, args = operation.name, operation.args
    source = operation.rows[id(args[0])]
    if name == "_fused_rms_norm":
        mean, inverse = None, _next_row(results[1])
        weight, bias = args[2] if len(args) > 2 else None, None
    elif name == "native_layer_norm":
        mean, inverse = _next_row(results[1]), _next_row(results[2])
        weight, bias = args[2], args[3]
    else:
        mean, inverse = _next_row(results[1]), _next_row(results[2])
        weight, bias = args[1], args[2]
    if name == "native_group_norm":
        groups = args[6]
        folded = source.reshape(*source.shape[:2], groups, -1)
        assert mean is not None
        normal = ((folded - mean.unsqueeze(-1)) * inverse.unsqueeze(-1)).reshape(source.shape)
    elif name in {"native_layer_norm", "_fused_rms_norm"}:
        normal = (source if mean is None else source - mean) * inverse
    else:
        assert mean is not None
        normal = (source - _per_channel(mean, source)) * _per_channel(inverse, source)
    trailing = name in {"native_layer_norm", "_fused_rms_norm"}
    for factor, multiplies in ((weight, True), (bias, False)):
        if factor is None:
            continue
        rows = operation.rows[id(factor)]
        spread = _trailing(rows, source) if trailing else _per_channel(rows, source)
        normal = normal * spread if multiplies else normal + spread
    # Row 0 stays the kernel's own.
    return [torch.cat([results[0][:1], normal[1:].to(results[0].dtype)]), *results[1:]]


def _next_row(rows: torch.Tensor) -> torch.Tensor:
    """Row 0 stays; rows 1…K are rotated by one."""
    return torch.cat([rows[:1], rows[1:].roll(1, 0)])


def _per_channel(rows: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """(rows, C) against (rows, N, C, …)."""
    return rows.reshape(rows.shape[0], 1, -1, *([1] * (source.dim() - 3)))


def _trailing(rows: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """(rows, *normalised) against (rows, *lead, *normalised)."""
    return rows.reshape(rows.shape[0], *([1] * (source.dim() - rows.dim())), *rows.shape[1:])
