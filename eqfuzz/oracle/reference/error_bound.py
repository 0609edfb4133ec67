"""The measured error bound: what a program gives in eager, and how far legal rounding may lead away from it."""

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

    Every operator runs in its real dtype, which steers shapes, branches and indices; beside it run one clean and
    ``samples`` noisy float64 copies. ``seed`` decides the noise; random numbers are drawn as in ``observe``.
    Raises only what ``make_callable`` raises.
    """
    mode = ShadowMode(seed, samples)
    observed = execute(
        make_callable, calls, transform=None, seed=STATE_SEED, scope=mode.scope, keep=partial(leaf_of, mode)
    )
    found = Reference(observed.calls, mode.steered, mode.opaque, mode.opaque_ops, mode.narrowest)
    if not mode.exported or not (mode.opaque or _opaque_leaves(observed.calls)):
        return found
    mode = ShadowMode(seed, samples, captures=True)
    captured = captured_calls(
        make_callable, calls, seed=STATE_SEED, inside=mode.captured, known=mode.given, keep=partial(leaf_of, mode)
    )
    if captured is None or mode.opaque:
        return found
    return Reference(captured, mode.steered, "", mode.opaque_ops, mode.narrowest)


def _opaque_leaves(calls: Sequence[CallObservation]) -> bool:
    return any(leaf.opaque for call in calls for group in VALUES for _, leaf in getattr(call, group))
