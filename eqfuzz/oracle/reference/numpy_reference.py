"""References of programs that compute in numpy, measured on the torch operators to which Dynamo translates numpy."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from eqfuzz.oracle.observe.leaf_values import as_tensor, distance_between, identical
from eqfuzz.oracle.observe.observation import VALUES, CallObservation
from eqfuzz.oracle.observe.observer import Keep, Scope, execute, observe
from eqfuzz.oracle.reference.reference import LeafReference, classes
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.program.call import Call
from eqfuzz.torch_internals.dynamo import capturing_all, forget_compiled_code

NOT_EXPLAINED = "numpy and its translation to torch differ by more than rounding explains, and by less than an error"


def captured_calls(
    make_callable: Callable[[], Any],
    calls: Sequence[Call],
    *,
    seed: int,
    inside: Scope,
    declare_exact: Callable[[Any], None],
    keep: Keep,
) -> list[CallObservation] | None:
    """The program's calls with every leaf passed through ``keep``; captured graphs run in the context ``inside(args)``.

    ``declare_exact`` gets the tensors passed to the program. Where eager's elements are far from the captured ones,
    Dynamo translates numpy wrongly, and they are the reference. A leaf in which eager differs by more than rounding and
    less than that is unknown. None where Dynamo does not capture the program.
    """

    def backend(graph: Callable[..., Any], _: Any) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            with inside(args):
                return graph(*args)

        return run

    @contextlib.contextmanager
    def scope(inputs: Any) -> Iterator[None]:
        declare_exact(inputs)
        yield

    @contextlib.contextmanager
    def backward_scope(inputs: Any) -> Iterator[None]:
        declare_exact(inputs)
        with inside(inputs):
            yield

    forget_compiled_code()
    try:
        with capturing_all():
            captured = execute(
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
    if len(captured.calls) != len(eager.calls) or any(call.raised is not None for call in captured.calls):
        return None
    for captured_call, eager_call in zip(captured.calls, eager.calls, strict=True):
        for group in VALUES:
            leaves, values = getattr(captured_call, group), getattr(eager_call, group)
            if [path for path, _ in leaves] != [path for path, _ in values]:
                return None
            for index, ((path, leaf), (_, value)) in enumerate(zip(leaves, values, strict=True)):
                explained = leaf if _explains(leaf, value) else _corrected(leaf, value)
                leaves[index] = (path, explained or LeafReference(value, unknown=leaf.unknown or NOT_EXPLAINED))
    return captured.calls


def _explains(leaf: LeafReference, value: Any) -> bool:
    """Whether rounding explains the distance of eager's value from the reference."""
    if leaf.unknown:
        return False
    if leaf.bound is None or leaf.unstable is None:
        return identical(leaf.value, value, signed_zero=False)
    real, target = as_tensor(value), as_tensor(leaf.value)
    if real is None or target is None or real.shape != target.shape:
        return False
    return bool(_are_explained(leaf, real, target).all())


def _are_explained(leaf: LeafReference, real: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    assert leaf.bound is not None
    assert leaf.unstable is not None
    near = distance_between(real, target) <= THRESHOLDS.bound_factor * leaf.bound
    same_class = real.isfinite() == target.isfinite() if real.is_floating_point() else near
    return near | leaf.unstable | (same_class & ~real.isfinite())


def _corrected(leaf: LeafReference, value: Any) -> LeafReference | None:
    """The reference with eager's elements where these are far from it; None where some are neither near nor far."""
    real, target = as_tensor(value), as_tensor(leaf.value)
    if leaf.unknown or real is None or target is None or real.shape != target.shape:
        return None
    if not real.is_floating_point() or not target.is_floating_point():
        return None
    if leaf.bound is None:
        explained, bound = real.to(target.dtype) == target, torch.zeros(target.shape, dtype=torch.float64)
    else:
        explained, bound = _are_explained(leaf, real, target), leaf.bound
    distance = distance_between(real, target)
    size = torch.maximum(real.abs(), target.abs()).to(torch.float64)
    apart = (distance > THRESHOLDS.numpy_bound * bound) & (distance > THRESHOLDS.unstable_relative * size)
    far = ~explained & (apart | (classes(real) != classes(target)))
    if not bool((far | explained).all()):
        return None
    observed = leaf.observed_classes
    return dataclasses.replace(
        leaf,
        value=torch.where(far, real.to(target.dtype), target),
        observed_classes=None if observed is None else torch.where(far, 1 << classes(real).to(torch.int64), observed),
        jumped=None if leaf.jumped is None else leaf.jumped & ~far,
    )
