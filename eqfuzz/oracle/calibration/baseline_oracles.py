"""Oracles of other tools, on one pair of leaves, to which eqfuzz's recall is compared.

Thresholds are the published ones. NNSmith (Liu et al., ASPLOS 2023), WhiteFox (Yang et al., OOPSLA 2024) and PolyJuice
(Zhou et al., OOPSLA 2024) compare element by element; TorchFuzz (in PyTorch's repository) compares sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from eqfuzz.oracle.observe.observation import VALUES, CallObservation, Observation
from eqfuzz.oracle.reference.reference import LeafReference, Reference
from eqfuzz.torch_internals.dynamo import dynamo_same

Alarm = Callable[[torch.Tensor, torch.Tensor, Any], bool]
"""Whether an oracle reports a difference; arguments: the eager leaf, the compiled leaf, the leaf's value in float64."""

_TORCHFUZZ_PERCENT = 5.0
_TORCHFUZZ_ABSOLUTE = 1.0


def assert_close(eager: torch.Tensor, compiled: torch.Tensor, wide: Any) -> bool:
    try:
        torch.testing.assert_close(compiled, eager, equal_nan=True)
    except AssertionError:
        return True
    return False


def same(eager: torch.Tensor, compiled: torch.Tensor, wide: Any) -> bool:
    truth = wide if isinstance(wide, torch.Tensor) and wide.shape == eager.shape else eager.double()
    return not dynamo_same(eager, compiled, truth)


def elementwise(relative: float, absolute: float) -> Alarm:
    def alarm(eager: torch.Tensor, compiled: torch.Tensor, wide: Any) -> bool:
        # In float64, so that the threshold itself is not rounded; values only, as published.
        sides = compiled.detach().double(), eager.detach().double()
        return not torch.allclose(*sides, rtol=relative, atol=absolute, equal_nan=True)

    return alarm


def torchfuzz(eager: torch.Tensor, compiled: torch.Tensor, wide: Any) -> bool:
    before, after = float(eager.detach().double().sum()), float(compiled.detach().double().sum())
    apart = abs(before - after)
    return apart > _TORCHFUZZ_ABSOLUTE and 100.0 * apart / (abs(before) + 1e-12) > _TORCHFUZZ_PERCENT


def alarms(
    first: Observation, second: Observation, reference: Reference, groups: Iterable[str] = ("outputs", "gradients")
) -> set[str]:
    """The oracles that report a difference in any leaf of the first calls."""
    names: set[str] = set()
    for group in groups:
        wide = dict(getattr(reference.calls[0], group))
        after = dict(getattr(second.calls[0], group))
        for path, before in getattr(first.calls[0], group):
            if isinstance(before, torch.Tensor) and isinstance(after.get(path), torch.Tensor):
                names |= alarms_of_leaf(before, after[path], wide.get(path))
    return names


def alarms_of_leaf(before: torch.Tensor, after: torch.Tensor, reference: LeafReference | None) -> set[str]:
    """The oracles that report a difference in one leaf; none for truth values and complex numbers."""
    if before.dtype is torch.bool or before.is_complex():
        return set()
    wide = None if reference is None else reference.value
    return {name for name, alarm in OTHERS.items() if alarm(before, after, wide)}


def own_checks(
    first: CallObservation, second: CallObservation, reference: CallObservation | None
) -> dict[str, dict[str, bool]]:
    """Whether PyTorch's own ``same`` and ``assert_close`` accept each tensor of two calls, by path."""
    accepted: dict[str, dict[str, bool]] = {}
    for group in VALUES:
        after = dict(getattr(second, group))
        references = dict(getattr(reference, group)) if reference is not None else {}
        for path, before in getattr(first, group):
            other = after.get(path)
            if not isinstance(before, torch.Tensor) or not isinstance(other, torch.Tensor):
                continue
            alike = before.shape == other.shape and before.dtype == other.dtype
            if alike and before.layout is other.layout is torch.strided:
                wide = references[path].value if path in references else None
                checks = {"same": same, "assert_close": assert_close}
                accepted.setdefault(path, {name: not alarm(before, other, wide) for name, alarm in checks.items()})
    return accepted


OTHERS: dict[str, Alarm] = {
    "assert_close": assert_close,
    "same, fp64": same,
    "NNSmith": elementwise(1e-2, 1e-3),
    "WhiteFox": elementwise(1e-3, 1e-1),
    "PolyJuice": elementwise(1e-2, 0.0),
    "TorchFuzz": torchfuzz,
}
