"""Seeded noise that turns float64 shadows into legal roundings of them."""

from __future__ import annotations

import functools
import math
import random

import torch

from eqfuzz.oracle.reference.rounding_model import component, smallest

_POOL = 1 << 17
_BLOCK = 1 << 15
"""Numbers that get their noise at once: they stay in the cache meanwhile, and so does the pool."""


@functools.lru_cache(maxsize=4)
def _pool(seed: int) -> torch.Tensor:
    """Uniform numbers in [-1, 1], drawn once: slices of it are free, fresh draws would dominate."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(_POOL, generator=generator, dtype=torch.float64).mul_(2).sub_(1)


class Noise:
    """A stream of uniform numbers in [-1, 1]; equal streams for equal seeds and numbers of the stream."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._pool = _pool(seed)
        self._offsets = random.Random(f"{seed} {stream}")

    def take(self, shape: tuple[int, ...]) -> torch.Tensor:
        """A float64 tensor of ``shape``. Read-only: it may be a slice of the pool."""
        count = math.prod(shape)
        if count <= _POOL // 2:
            return self._slice(count).view(shape)
        numbers = torch.empty(count, dtype=torch.float64)
        for block in numbers.split(_BLOCK):
            block.copy_(self._slice(block.numel()))
        return numbers.view(shape)

    def _slice(self, count: int) -> torch.Tensor:
        start = self._offsets.randrange(_POOL - count)
        return self._pool[start : start + count]

    def matrices(self, rows: torch.Tensor, relative: float) -> torch.Tensor:
        """``rows`` of matrices with noise relative to the largest number of each, in place; zeros stay."""
        noisy = rows[1:]
        if rows.dim() > 2 and noisy.numel():
            largest = noisy.abs().nan_to_num_(0.0, 0.0, 0.0).amax((-2, -1), keepdim=True)
            sizes = torch.where(noisy == 0, 0.0, largest)
            parts = _parts(noisy)
            parts.addcmul_(
                self.take(tuple(parts.shape)), sizes[..., None] if rows.is_complex() else sizes, value=relative
            )
        return rows

    def operand(
        self, rows: torch.Tensor, dtype: torch.dtype, relative: float, *, keep_zeros: bool = False
    ) -> torch.Tensor:
        """A copy of ``rows`` (row 0 clean, rows 1…K noisy) with each noisy part multiplied by ``1 + relative·ξ``.

        ``keep_zeros`` is for operands that were not computed: rounding does not change zeros among them.
        """
        out = rows.clone(memory_format=torch.contiguous_format)
        self._round(_parts(out[1:]), dtype, relative, keep_zeros=keep_zeros)
        return out

    def result(
        self, rows: torch.Tensor, dtype: torch.dtype, relative: float, absolute: float | torch.Tensor | None = None
    ) -> torch.Tensor:
        """``rows`` with the noise of one rounding, in place; ``absolute`` adds an error relative to that magnitude.

        The error of a complex result is relative to its modulus, since its parts are computed from each other.
        """
        noisy = rows[1:]
        if rows.is_complex():
            modulus = noisy.abs().nan_to_num_(0.0, 0.0, 0.0).unsqueeze(-1)
            parts = _parts(noisy)
            parts.add_(modulus.mul(self.take(tuple(parts.shape))), alpha=relative)
            parts.add_(self.take(tuple(parts.shape)), alpha=smallest(component(dtype)))
            return rows
        self._round(noisy, dtype, relative)
        if absolute is not None:
            size = absolute[1:] if isinstance(absolute, torch.Tensor) else absolute
            extra = self.take(tuple(noisy.shape)) * size
            noisy.add_(extra.nan_to_num_(0.0, 0.0, 0.0), alpha=2 * relative)
        return rows

    def _round(self, noisy: torch.Tensor, dtype: torch.dtype, relative: float, *, keep_zeros: bool = False) -> None:
        """Multiply each number by ``1 + relative·ξ`` and add a number too small for ``dtype``, in place."""
        least = smallest(component(dtype))
        for block in noisy.view(-1).split(_BLOCK) if noisy.numel() else ():
            block.mul_(torch.add(1.0, self._slice(block.numel()), alpha=relative))
            tiny = self._slice(block.numel())
            block.add_(tiny.masked_fill(block == 0, 0.0) if keep_zeros else tiny, alpha=least)

    def narrow(self, rows: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """``rows`` after a conversion to ``dtype``, in place: representable numbers stay, others are rounded."""
        real = component(dtype)
        noisy = _parts(rows[1:])
        rounded = noisy.to(real).to(torch.float64)
        inexact = (rounded != noisy) & noisy.isfinite()
        if bool(inexact.any()):
            eps = torch.finfo(real).eps
            rounded_either_way = noisy * torch.add(1.0, self.take(tuple(noisy.shape)), alpha=eps / 2)
            rounded_either_way.add_(self.take(tuple(noisy.shape)), alpha=smallest(real))
            noisy.copy_(torch.where(inexact, rounded_either_way, noisy))
        return rows

    def overflow(self, rows: torch.Tensor, dtype: torch.dtype, *, everywhere: bool) -> torch.Tensor:
        """Numbers beyond ``dtype``'s range become infinite, in place: in every row, or in the odd rows only.

        Fused half-precision code may keep a wider range between operators, so both results are legal there.
        """
        real = component(dtype)
        if real is torch.float64:
            return rows
        info = torch.finfo(real)
        parts = _parts(rows)
        limit = info.max * (1 + info.eps / 4)
        if parts.numel() and not _are_within(parts, limit):
            chosen = parts if everywhere else parts[1::2]
            chosen.masked_fill_(chosen > limit, float("inf")).masked_fill_(chosen < -limit, float("-inf"))
        return rows


def _parts(values: torch.Tensor) -> torch.Tensor:
    """A view of complex numbers as their real and imaginary parts; real numbers as they are."""
    return torch.view_as_real(values) if values.is_complex() else values


def _are_within(values: torch.Tensor, limit: float) -> bool:
    """Whether no magnitude exceeds ``limit``, in one pass; False where one is NaN."""
    least, greatest = values.aminmax()
    return bool(least >= -limit) and bool(greatest <= limit)
