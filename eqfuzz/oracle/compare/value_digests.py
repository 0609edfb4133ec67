"""Digests of the values of a program's two runs: equal digests have one verdict."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import torch

from eqfuzz.oracle.observe.leaf_values import as_tensor
from eqfuzz.oracle.observe.observation import VALUES, CallObservation, Observation


def digests(eager: Observation, compiled: Observation) -> tuple[str, ...]:
    """One digest for each call, of all values in both runs, bit for bit."""
    return tuple(map(_digest, eager.calls, compiled.calls))


def _digest(*sides: CallObservation) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for side in sides:
        for group in VALUES:
            for path, leaf in getattr(side, group):
                digest.update(f"{group} {path} ".encode())
                _add(digest, leaf)
    return digest.hexdigest()


def _add(digest: hashlib.blake2b, leaf: Any) -> None:
    tensor = as_tensor(leaf) if isinstance(leaf, (torch.Tensor, np.ndarray, np.generic)) else None
    if tensor is None:
        digest.update(repr(leaf).encode())
        return
    digest.update(f"{type(leaf).__name__} {tensor.dtype} {tuple(tensor.shape)} ".encode())
    flat = tensor.contiguous().as_strided((tensor.numel(),), (1,))  # one element may have any stride
    digest.update(flat.view(torch.uint8).numpy().data)
