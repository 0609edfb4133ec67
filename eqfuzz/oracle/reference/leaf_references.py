"""References of leaves, made from the state of a shadowed run."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import numpy as np
import torch

from eqfuzz.oracle.observe.observer import snapshot
from eqfuzz.oracle.reference.noise import Noise
from eqfuzz.oracle.reference.reference import LeafReference, leaf_reference
from eqfuzz.oracle.shadow.exported_memory import ExportedMemory
from eqfuzz.oracle.shadow.extracted_scalars import ExtractedFloats
from eqfuzz.oracle.shadow.known_memory import KnownMemory
from eqfuzz.oracle.shadow.shadow_storage import Shadows
from eqfuzz.oracle.shadow.sparse import SparseRows
from eqfuzz.oracle.shadow.tracked_float import TrackedFloat
from eqfuzz.oracle.thresholds import THRESHOLDS


class ShadowState(Protocol):
    """The state of a shadowed run: rows by storage, sparse tensor and Python number, and all storages seen.

    ``exported``: numbers went to numpy. ``captures``: only what Dynamo captured was shadowed. ``is_full``: the run
    was given up.
    """

    shadows: Shadows
    sparse: SparseRows
    noise: Noise
    exported: bool
    captures: bool
    is_full: bool
    memory: KnownMemory
    exports: ExportedMemory
    extracted: ExtractedFloats

    def noisy(self, value: torch.Tensor) -> bool: ...


def leaf_of(run: ShadowState, value: Any) -> LeafReference:
    """The reference of one leaf as it is now."""
    if run.is_full:
        return LeafReference(None)
    # Before ``noisy``, which makes the memory of each tensor known.
    is_outside = run.captures and _is_outside_of_graphs(run, value)
    if isinstance(value, torch.Tensor) and run.exports.is_overwritten(value):
        return LeafReference(snapshot(value), unknown="numpy has written into the tensor")
    if isinstance(value, torch.Tensor) and run.noisy(value):
        dense = run.sparse.of(value)
        if dense is not None:
            return _of_rows(run, dense, value.dtype)
        if run.shadows.reinterprets(value):
            return LeafReference(snapshot(value), unknown="rounded numbers are read as another dtype")
        rows = run.shadows.view(value)
        assert rows is not None
        reference = _of_rows(run, rows.detach(), value.dtype, jumped=run.shadows.jumped(value))
        return dataclasses.replace(reference, rerun=snapshot(value))
    if isinstance(value, (np.ndarray, np.inexact)) and (run.exported or run.captures or value.dtype.kind in "fc"):
        return _of_array(run, value)
    if is_outside:
        return LeafReference(
            snapshot(value), unknown="the value is computed outside of the graphs that Dynamo captures"
        )
    if isinstance(value, TrackedFloat):
        return _of_rows(run, torch.tensor(value.rows, dtype=torch.float64), torch.float64)
    if isinstance(value, (float, np.floating)) and run.extracted.relative_error:
        rows = run.extracted.rows(float(value))
        if rows is None:
            return LeafReference(value, unknown="the value is a Python number computed from rounded tensor values")
        return _of_rows(run, rows, torch.float64)
    return LeafReference(snapshot(value))


def _is_array_of_graph(run: ShadowState, value: np.ndarray) -> bool:
    """Whether a captured graph made the array, so that it is exact if it has no rows."""
    address = value.__array_interface__["data"][0]
    return run.memory.holds(address)


def _is_outside_of_graphs(run: ShadowState, value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return not run.memory.knows(value) and run.memory.owner(value) is None
    return isinstance(value, np.floating)


def _of_rows(run: ShadowState, rows: torch.Tensor, dtype: torch.dtype, *, jumped: bool = False) -> LeafReference:
    rows = rows.resolve_conj()
    if dtype.is_floating_point or dtype.is_complex:
        rows = run.noise.overflow(rows.clone(memory_format=torch.contiguous_format), dtype, everywhere=True)
    return leaf_reference(rows, dtype, jumped=jumped)


def _of_array(run: ShadowState, value: np.ndarray | np.inexact) -> LeafReference:
    """The reference of an array, or of a scalar of NumPy, which has no memory of its own."""
    unknown = LeafReference(
        value.copy(), unknown="the value is an array that numpy computes from rounded tensor values"
    )
    if value.dtype.kind not in "biufc" or not isinstance(value, np.ndarray):
        return unknown
    rows = run.shadows.of_array(value)
    if rows is None:
        exact = value.size == 0 or (run.captures and _is_array_of_graph(run, value))
        return LeafReference(value.copy()) if exact else unknown
    real = torch.from_numpy(value.copy())
    reference = _of_rows(run, rows, real.dtype)
    assert reference.bound is not None
    near = (real.to(reference.value.dtype) - reference.value).abs() <= THRESHOLDS.numpy_bound * reference.bound
    # numpy may have written into the memory that it shares with the tensor: then the rows are out of date.
    return reference if bool((near | ~torch.isfinite(reference.value)).all()) else unknown
