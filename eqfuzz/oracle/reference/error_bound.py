"""Measurement of error bounds: a program run in eager under the shadow mode, each leaf with its reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from eqfuzz.oracle.observe.observation import VALUES, CallObservation
from eqfuzz.oracle.observe.observer import execute
from eqfuzz.oracle.reference.leaf_references import leaf_of
from eqfuzz.oracle.reference.numpy_reference import captured_calls
from eqfuzz.oracle.reference.reference import Reference
from eqfuzz.oracle.shadow.shadow_mode import ShadowMode
from eqfuzz.program.call import Call
from eqfuzz.program.load import STATE_SEED


def reference(make_callable: Callable[[], Any], calls: Sequence[Call], *, seed: int = 0, samples: int = 8) -> Reference:
    """Run a fresh callable in eager on every input set and measure each leaf's error bound.

    Every operator runs in its real dtype, which decides shapes, branches and indices, and on one clean and ``samples``
    noisy float64 copies of its operands. ``seed`` decides the noise; random numbers are drawn as in ``observe``.
    Raises only what ``make_callable`` raises.
    """
    mode = ShadowMode(seed, samples)
    observed = execute(
        make_callable, calls, transform=None, seed=STATE_SEED, scope=mode.scope, keep=partial(leaf_of, mode)
    )
    if not mode.exported or not (mode.unknown or _has_unknown_leaves(observed.calls)):
        return _reference(mode, observed.calls)
    capturing = ShadowMode(seed, samples, captures=True)
    captured = captured_calls(
        make_callable,
        calls,
        seed=STATE_SEED,
        inside=capturing.captured,
        declare_exact=capturing.declare_exact,
        keep=partial(leaf_of, capturing),
    )
    if captured is None or capturing.unknown:
        return _reference(mode, observed.calls)
    return _reference(capturing, captured)


def _reference(mode: ShadowMode, calls: list[CallObservation]) -> Reference:
    return Reference(calls, mode.data_dependent, mode.unknown, mode.unshadowed_operators, mode.narrowest)


def _has_unknown_leaves(calls: Sequence[CallObservation]) -> bool:
    return any(leaf.unknown for call in calls for group in VALUES for _, leaf in getattr(call, group))
