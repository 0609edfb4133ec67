"""Other tools' oracles, on one pair of leaves: the columns that the judge's recall is printed beside.

Thresholds are the published ones. NNSmith (Liu et al., ASPLOS 2023), WhiteFox (Yang et al., OOPSLA 2024) and PolyJuice
(Zhou et al., OOPSLA 2024) compare element by element; TorchFuzz (in PyTorch's repository) compares sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from eqfuzz.judge.observation import Observation
from eqfuzz.judge.reference import LeafReference, Reference
from eqfuzz.program.torch_internals import dynamo_same

Alarm = Callable[[torch.Tensor, torch.Tensor, Any], bool]
"""Whether the eager and the compiled leaf are found to differ; the third is the leaf's value in float64."""

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
        # In float64, so that the threshold itself is not rounded; the values alone, since that is what is published.
        sides = compiled.detach().double(), eager.detach().double()
        return not torch.allclose(*sides, rtol=relative, atol=absolute, equal_nan=True)

    return alarm


def torchfuzz(eager: torch.Tensor, compiled: torch.Tensor, wide: Any) -> bool:
    before, after = float(eager.detach().double().sum()), float(compiled.detach().double().sum())
    apart = abs(before - after)
    return apart > _TORCHFUZZ_ABSOLUTE and 100.0 * apart / (abs(before) + 1e-12) > _TORCHFUZZ_PERCENT


def alarms(
    first: Observation, second: Observation, known: Reference, groups: Iterable[str] = ("outputs", "gradients")
) -> set[str]:
    """The oracles that find any leaf of a pair's first calls different."""
    found: set[str] = set()
    for group in groups:
        wide = dict(getattr(known.calls[0], group))
        after = dict(getattr(second.calls[0], group))
        for path, before in getattr(first.calls[0], group):
            if isinstance(before, torch.Tensor) and isinstance(after.get(path), torch.Tensor):
                found |= seen(before, after[path], wide.get(path))
    return found


def seen(before: torch.Tensor, after: torch.Tensor, known: LeafReference | None) -> set[str]:
    """The oracles that find one leaf different; none does for leaves that are no floats."""
    if not before.is_floating_point():
        return set()
    wide = None if known is None else known.value
    return {name for name, alarm in OTHERS.items() if alarm(before, after, wide)}


OTHERS: dict[str, Alarm] = {
    "assert_close": assert_close,
    "same, fp64": same,
    "NNSmith": elementwise(1e-2, 1e-3),
    "WhiteFox": elementwise(1e-3, 1e-1),
    "PolyJuice": elementwise(1e-2, 0.0),
    "TorchFuzz": torchfuzz,
}
