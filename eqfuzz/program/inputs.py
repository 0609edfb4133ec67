"""Drawing inputs: the ``rng`` that a seed's ``inputs(rng)`` hook receives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

_FLOAT_SPECIALS = (0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e-40, -1e-40, 1e30, -1e30)


class Rng:
    """A seeded source of tensors, the same on every machine.

    It draws with numpy because ``torch.randn``'s stream depends on the CPU's vector width.
    Sizes are given as positional integers, ``rng.normal(3, 4)``; ``rng.normal()`` is a 0-d tensor.
    ``rng.numpy`` is the generator itself, for anything that the methods below do not cover.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.numpy = np.random.default_rng(seed)

    def normal(self, *size: int, dtype: torch.dtype = torch.float32, requires_grad: bool = False) -> torch.Tensor:
        """Standard normal values of shape ``size``; complex dtypes get both parts."""
        values = self.numpy.standard_normal(size)
        if dtype.is_complex:
            values = values + 1j * self.numpy.standard_normal(size)
        return _tensor(values, dtype, requires_grad)

    def uniform(
        self,
        *size: int,
        low: float = 0.0,
        high: float = 1.0,
        dtype: torch.dtype = torch.float32,
        requires_grad: bool = False,
    ) -> torch.Tensor:
        """Uniform values in ``[low, high)`` of shape ``size``."""
        return _tensor(self.numpy.uniform(low, high, size), dtype, requires_grad)

    def integers(self, low: int, high: int, *size: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """Integers in ``[low, high)`` of shape ``size``, of any dtype."""
        return _tensor(self.numpy.integers(low, high, size), dtype, False)

    def booleans(self, *size: int, p: float = 0.5) -> torch.Tensor:
        """A bool tensor of shape ``size``, True with probability ``p``."""
        return _tensor(self.numpy.random(size) < p, torch.bool, False)

    def permutation(self, n: int) -> torch.Tensor:
        """A random permutation of ``0 … n-1`` as int64."""
        return _tensor(self.numpy.permutation(n), torch.int64, False)

    def special(self, *size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Floats drawn from ±0, ±1, ±inf, NaN, subnormals and huge values."""
        return _tensor(self.numpy.choice(np.array(_FLOAT_SPECIALS), size), dtype, False)

    def choice(self, values: Sequence[float], *size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Values drawn from ``values`` with replacement, of shape ``size``."""
        return _tensor(self.numpy.choice(np.array(values), size), dtype, False)


def _tensor(values: np.ndarray | np.generic, dtype: torch.dtype, requires_grad: bool) -> torch.Tensor:
    tensor = torch.from_numpy(np.asarray(values).copy()).to(dtype)
    return tensor.requires_grad_() if requires_grad else tensor
