"""The reference of a program that computes in numpy: measured on the torch operators that Dynamo reads numpy as."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from eqfuzz.oracle.compare.leaf_comparison import FACTOR, as_tensor, distance_between, identical
from eqfuzz.oracle.observe.observation import VALUES, CallObservation
from eqfuzz.oracle.observe.observer import Keep, Scope, execute, observe
from eqfuzz.oracle.reference.reference import LeafReference
from eqfuzz.program.call import Call
from eqfuzz.torch_internals.dynamo import forget_compiled_code


def captured_calls(
    make_callable: Callable[[], Any],
    calls: Sequence[Call],
    *,
    seed: int,
    inside: Scope,
    known: Callable[[Any], None],
    keep: Keep,
) -> list[CallObservation] | None:
    """The program's calls with every leaf passed through ``keep``, captured graphs being run within ``inside(args)``.

    ``known`` gets the tensors that the program is given. None where Dynamo does not capture the program, or where eager
    is farther from what was captured than rounding explains: then numpy is not what Dynamo takes it for.
    """

    def backend(graph: Callable[..., Any], _: Any) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            with inside(args):
                return graph(*args)

        return run

    @contextlib.contextmanager
    def scope(given: Any) -> Iterator[None]:
        known(given)
        yield

    @contextlib.contextmanager
    def backward_scope(given: Any) -> Iterator[None]:
        known(given)
        with inside(given):
            yield

    forget_compiled_code()
    try:
        found = execute(
            make_callable,
            calls,
            transform=lambda target: torch.compile(target, backend=backend),
            seed=seed,
            scope=scope,
            keep=keep,
            backward_scope=backward_scope,
        )
    finally:
        forget_compiled_code()
    eager = observe(make_callable, calls, seed=seed)
    if len(found.calls) != len(eager.calls) or any(call.raised is not None for call in found.calls):
        return None
    for captured, plain in zip(found.calls, eager.calls, strict=True):
        for group in VALUES:
            leaves, values = getattr(captured, group), getattr(plain, group)
            if [path for path, _ in leaves] != [path for path, _ in values]:
                return None
            if not all(_explains(leaf, value) for (_, leaf), (_, value) in zip(leaves, values, strict=True)):
                return None
    return found.calls


def _explains(leaf: LeafReference, value: Any) -> bool:
    """Whether rounding alone can lead from the reference to what eager gave."""
    if leaf.opaque:
        return False
    if leaf.bound is None or leaf.unstable is None:
        return identical(leaf.value, value, signed_zero=False)
    real, target = as_tensor(value), as_tensor(leaf.value)
    if real is None or target is None or real.shape != target.shape:
        return False
    near = distance_between(real, target) <= FACTOR * leaf.bound
    same_class = real.isfinite() == target.isfinite() if real.is_floating_point() else near
    return bool((near | leaf.unstable | (same_class & ~real.isfinite())).all())
