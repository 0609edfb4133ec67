"""References of leaves: what a shadowed run knows of a value that a program returns or leaves behind."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import numpy as np
import torch

from eqfuzz.oracle.observe.observer import snapshot
from eqfuzz.oracle.reference.noise import Noise
from eqfuzz.oracle.reference.reference import LeafReference, leaf_reference
from eqfuzz.oracle.shadow.extracted_scalars import ExtractedFloats
from eqfuzz.oracle.shadow.known_memory import KnownMemory
from eqfuzz.oracle.shadow.shadow_storage import Shadows, is_inexact
from eqfuzz.oracle.shadow.sparse import SparseRows
from eqfuzz.oracle.shadow.tracked_float import TrackedFloat


class ShadowState(Protocol):
    """What the shadowed run keeps: rows by storage, sparse tensor and Python number, and every storage it has seen.

    ``exported`` says that numbers went to numpy, ``captures`` that only what Dynamo captured was shadowed.
    """

    shadows: Shadows
    sparse: SparseRows
    noise: Noise
    exported: bool
    captures: bool
    known: KnownMemory
    taken: ExtractedFloats

    def noisy(self, value: torch.Tensor) -> bool: ...


def leaf_of(run: ShadowState, value: Any) -> LeafReference:
    """The reference of one leaf as it is now."""
    if isinstance(value, torch.Tensor) and run.noisy(value):
        dense = run.sparse.of(value)
        if dense is not None:
            return _of_rows(run, dense, value.dtype)
        if run.shadows.reinterprets(value):
            return LeafReference(snapshot(value), opaque="rounded numbers are read as another dtype")
        rows = run.shadows.view(value)
        assert rows is not None
        measured = _of_rows(run, rows.detach(), value.dtype, jumped=run.shadows.jumped(value))
        return dataclasses.replace(measured, rerun=snapshot(value))
    if isinstance(value, np.ndarray) and (run.exported or run.captures):
        return _of_array(run, value)
    if run.captures and _came_from_nowhere(run, value):
        return LeafReference(snapshot(value), opaque="computed outside of what Dynamo captures")
    if isinstance(value, TrackedFloat):
        return _of_rows(run, torch.tensor(value.rows, dtype=torch.float64), torch.float64)
    if isinstance(value, (float, np.floating)) and run.taken.spread:
        rows = run.taken.rows(float(value))
        if rows is None:
            return LeafReference(value, opaque="a Python number computed from rounded tensor values")
        return _of_rows(run, rows, torch.float64)
    return LeafReference(snapshot(value))


def _holds_array(run: ShadowState, value: np.ndarray) -> bool:
    """Whether a captured graph made the array, so that what has no rows is exact."""
    address = value.__array_interface__["data"][0]
    return run.known.holds(address)


def _came_from_nowhere(run: ShadowState, value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return is_inexact(value) and not run.known.knows(value)
    return isinstance(value, np.floating)


def _of_rows(run: ShadowState, rows: torch.Tensor, dtype: torch.dtype, *, jumped: bool = False) -> LeafReference:
    held = rows.clone(memory_format=torch.contiguous_format).resolve_conj()
    if dtype.is_floating_point or dtype.is_complex:
        held = run.noise.overflow(held, dtype, everywhere=True)
    return leaf_reference(held, dtype, jumped=jumped)


def _of_array(run: ShadowState, value: np.ndarray) -> LeafReference:
    unknown = LeafReference(value.copy(), opaque="an array computed by numpy from rounded tensor values")
    if value.dtype.kind not in "biufc":
        return unknown
    rows = run.shadows.of_array(value)
    if rows is None:
        exact = value.size == 0 or (run.captures and _holds_array(run, value))
        return LeafReference(value.copy()) if exact else unknown
    real = torch.from_numpy(value.copy())
    found = _of_rows(run, rows, real.dtype)
    assert found.bound is not None
    near = (real.to(found.value.dtype) - found.value).abs() <= 1e3 * found.bound
    # numpy may have written into the memory it shares with the tensor: then the rows are out of date.
    return found if bool((near | ~torch.isfinite(found.value)).all()) else unknown
