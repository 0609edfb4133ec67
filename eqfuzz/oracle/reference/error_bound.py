"""Measurement of error bounds: a program run in eager under the shadow mode, each leaf with its reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from eqfuzz.malloc import release_freed
from eqfuzz.oracle.observe.observation import VALUES, CallObservation, Observation
from eqfuzz.oracle.observe.observer import execute
from eqfuzz.oracle.reference.leaf_references import leaf_of
from eqfuzz.oracle.reference.numpy_reference import captured_calls
from eqfuzz.oracle.reference.reference import LeafReference, Reference
from eqfuzz.oracle.shadow.shadow_mode import ShadowMode
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.program.call import Call
from eqfuzz.program.load import STATE_SEED

_MOST_BYTES = 1 << 30
"""Memory for the copies of numbers that live at once in a run of two or more noisy copies."""

_LEAST_TOGETHER = 2
"""Noisy copies in a run: an edge is approached from both sides."""


def reference(
    make_callable: Callable[[], Any],
    calls: Sequence[Call],
    *,
    seed: int = 0,
    samples: int = 8,
    before: Reference | None = None,
) -> Reference:
    """Run a fresh callable in eager on every input set and measure each leaf's error bound.

    Every operator runs in its real dtype, which decides shapes, branches and indices, and on one clean and ``samples``
    noisy float64 copies of its operands: on as many at once as fit in memory. ``seed`` decides the noise; random
    numbers are drawn as in ``observe``. ``before`` is a reference of the same callable, calls and seed from fewer
    noisy runs, which are not repeated: it becomes part of the result, and is not to be used any more. Raises only what
    ``make_callable`` raises.
    """
    measured = before
    together = samples if before is None else before.together
    while measured is None or measured.samples < samples:
        done = 0 if measured is None else measured.samples
        runs = math.ceil((samples - done) / together)
        count = math.ceil((samples - done) / runs)
        longer = _with_more_runs(make_callable, calls, seed, measured, count)
        if longer is not None:
            measured = longer
        elif count > _LEAST_TOGETHER:
            together = max(_LEAST_TOGETHER, count // 2)
        else:
            return Reference([], unknown="its noisy runs need more memory than there is", samples=samples)
    return measured


def growing_references(
    make_callable: Callable[[], Any], calls: Sequence[Call], *, seed: int = 0
) -> Iterator[Reference]:
    """References from as many noisy runs as ``THRESHOLDS.samples`` says, in turn. Each ends the use of the last."""
    measured: Reference | None = None
    for samples in THRESHOLDS.samples:
        measured = reference(make_callable, calls, seed=seed, samples=samples, before=measured)
        yield measured


def _with_more_runs(
    make_callable: Callable[[], Any], calls: Sequence[Call], seed: int, before: Reference | None, count: int
) -> Reference | None:
    """The reference from the runs of ``before`` and the next ``count``, in memory at once; None if that is short."""
    most_bytes = _MOST_BYTES if count > _LEAST_TOGETHER else math.inf
    first = 0 if before is None else before.samples
    mode = ShadowMode(seed, count, stream=first, most_bytes=most_bytes)
    leaves = _JoinedLeaves(mode, before)
    observed = execute(make_callable, calls, transform=None, seed=STATE_SEED, scope=mode.scope, keep=leaves.add)
    mode.shadows.clear()  # a mode is part of a cycle, and would keep them until that is collected
    release_freed()
    if mode.is_full or _ran_out_of_memory(observed):
        return None
    if not _is_of_numpy(mode, observed.calls):
        return _reference(mode, observed.calls, leaves, before)
    capturing = ShadowMode(seed, first + count, captures=True)
    captured = captured_calls(
        make_callable,
        calls,
        seed=STATE_SEED,
        inside=capturing.captured,
        declare_exact=capturing.declare_exact,
        keep=partial(leaf_of, capturing),
    )
    capturing.shadows.clear()
    if captured is None or capturing.unknown:
        return _reference(mode, observed.calls, leaves, before)
    return _reference(capturing, captured, leaves, None)


class _JoinedLeaves:
    """Makes the references of a run's leaves, each joined with that of the runs ``before`` it."""

    def __init__(self, mode: ShadowMode, before: Reference | None) -> None:
        self.made: list[LeafReference] = []
        self._mode = mode
        self._earlier = before.leaves if before is not None else []

    def add(self, value: Any) -> LeafReference:
        """The reference of the next leaf."""
        leaf = leaf_of(self._mode, value)
        if not self._mode.is_full and len(self.made) < len(self._earlier):
            leaf = self._earlier[len(self.made)].joined(leaf)
        self.made.append(leaf)
        return leaf


def _ran_out_of_memory(observed: Observation) -> bool:
    return any(call.raised is not None and call.raised.out_of_memory for call in observed.calls)


def _reference(
    mode: ShadowMode, calls: list[CallObservation], leaves: _JoinedLeaves, before: Reference | None
) -> Reference:
    count = mode.shadows.rows
    together = _MOST_BYTES * count // max(1, mode.peak_bytes) - 1
    earlier = before or Reference([])
    return Reference(
        calls,
        earlier.data_dependent or mode.data_dependent,
        earlier.unknown or mode.unknown,
        mode.unshadowed_operators,
        mode.narrowest,
        samples=earlier.samples + count - 1,
        together=max(count - 1, together),
        leaves=leaves.made,
    )


def _is_of_numpy(mode: ShadowMode, calls: Sequence[CallObservation]) -> bool:
    """Whether numbers are unknown that NumPy may have computed, from tensors or from Python numbers."""
    unknown = [leaf.value for call in calls for group in VALUES for _, leaf in getattr(call, group) if leaf.unknown]
    if any(isinstance(value, (np.ndarray, np.inexact)) for value in unknown):
        return True
    return (mode.exported or mode.exported_integers) and bool(mode.unknown or unknown)
