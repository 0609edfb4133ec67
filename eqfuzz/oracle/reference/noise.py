"""Seeded noise that turns float64 shadows into legal roundings of them."""

from __future__ import annotations

import functools
import random

import torch

from eqfuzz.oracle.reference.rounding_model import component, smallest

_POOL = 1 << 17


@functools.lru_cache(maxsize=4)
def _pool(seed: int) -> torch.Tensor:
    """Uniform numbers in [-1, 1], drawn once: slices of it are free, fresh draws would dominate small programs."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(_POOL, generator=generator, dtype=torch.float64).mul_(2).sub_(1)


class Noise:
    """A stream of uniform numbers in [-1, 1]; equal streams for equal seeds."""

    def __init__(self, seed: int) -> None:
        self._pool = _pool(seed)
        self._offsets = random.Random(seed)

    def take(self, shape: tuple[int, ...]) -> torch.Tensor:
        """A float64 tensor of ``shape``. Read-only: it is a slice of the pool."""
        count = 1
        for size in shape:
            count *= size
        if count <= _POOL // 2:
            start = self._offsets.randrange(_POOL - count)
            return self._pool[start : start + count].view(shape)
        fresh = torch.Generator().manual_seed(self._offsets.getrandbits(48))
        return torch.rand(shape, generator=fresh, dtype=torch.float64).mul_(2).sub_(1)

    def operand(
        self, rows: torch.Tensor, dtype: torch.dtype, relative: float, *, keep_zeros: bool = False
    ) -> torch.Tensor:
        """A copy of ``rows`` (row 0 clean, rows 1…K noisy) with each noisy part multiplied by ``1 + relative·ξ``.

        ``keep_zeros`` is for operands that were not computed: rounding does not change zeros among them.
        """
        out = rows.clone(memory_format=torch.contiguous_format)
        noisy = _parts(out[1:])
        noisy.mul_(torch.add(1.0, self.take(tuple(noisy.shape)), alpha=relative))
        least = self.take(tuple(noisy.shape))
        if keep_zeros and bool((_parts(out[0]) == 0).any()):
            least = least.masked_fill(noisy == 0, 0.0)
        noisy.add_(least, alpha=smallest(component(dtype)))
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
        else:
            parts = noisy
            parts.mul_(torch.add(1.0, self.take(tuple(parts.shape)), alpha=relative))
        parts.add_(self.take(tuple(parts.shape)), alpha=smallest(component(dtype)))
        if absolute is not None and not rows.is_complex():
            size = absolute[1:] if isinstance(absolute, torch.Tensor) else absolute
            extra = self.take(tuple(parts.shape)) * size
            parts.add_(extra.nan_to_num_(0.0, 0.0, 0.0), alpha=2 * relative)
        return rows

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
        if bool((parts.abs() > limit).any()):
            chosen = parts if everywhere else parts[1::2]
            chosen.masked_fill_(chosen > limit, float("inf")).masked_fill_(chosen < -limit, float("-inf"))
        return rows


def _parts(values: torch.Tensor) -> torch.Tensor:
    """A view of complex numbers as their real and imaginary parts; real numbers as they are."""
    return torch.view_as_real(values) if values.is_complex() else values
