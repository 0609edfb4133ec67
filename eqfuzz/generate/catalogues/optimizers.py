"""The catalogue of optimizers, which is PyTorch's OptimizerInfo: two steps of each with all its options."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch

from eqfuzz.generate.catalogues.expression import WrittenCall, constructor, written_arguments
from eqfuzz.generate.catalogues.sample import Sample
from eqfuzz.generate.catalogues.text import HELPERS, STEPPING
from eqfuzz.torch_internals.tested_calls import optimizer_entries

_IMPLEMENTATIONS: tuple[dict[str, bool], ...] = ({}, {"foreach": True}, {"fused": True}, {"capturable": True})

_NAMESPACE: dict[str, Any] = {"torch": torch, "nn": torch.nn}
exec(HELPERS[STEPPING], _NAMESPACE)


@dataclasses.dataclass(frozen=True)
class OptimizerSample:
    """A parameter that an optimizer changes by a gradient."""

    optimizer: type[torch.optim.Optimizer]
    options: Mapping[str, Any]
    gradient: torch.Tensor

    @property
    def is_guess(self) -> bool:
        return True

    @property
    def tensors(self) -> list[torch.Tensor]:
        return [self.gradient]

    def ready(self) -> Callable[[], Any]:
        module = _NAMESPACE[STEPPING](self.optimizer, **self.options).to(self.gradient.dtype)
        return partial(module, self.gradient)

    def written(self) -> WrittenCall:
        module = constructor(STEPPING, (self.optimizer,), self.options)
        module += "" if self.gradient.dtype is torch.float32 else f".to({self.gradient.dtype})"
        return written_arguments(module, (self.gradient,), {})


@dataclasses.dataclass(frozen=True)
class OptimizerClass:
    """An optimizer of OptimizerInfo."""

    optimizer: type[torch.optim.Optimizer]
    options: tuple[dict[str, Any], ...]

    @property
    def name(self) -> str:
        return self.optimizer.__name__

    def supports(self, dtype: torch.dtype) -> bool:
        return dtype in (torch.float32, torch.float64)

    def samples(self, dtype: torch.dtype) -> Iterator[Sample]:
        """All options with each implementation; eager refuses some, as it does those that need a closure."""
        for options in self.options:
            for chosen in _IMPLEMENTATIONS:
                yield OptimizerSample(self.optimizer, {**options, **chosen}, torch.randn(3, 4, dtype=dtype))


def optimizers() -> list[OptimizerClass]:
    """In the order of OptimizerInfo."""
    return [OptimizerClass(optimizer, options) for optimizer, options in optimizer_entries().items()]
