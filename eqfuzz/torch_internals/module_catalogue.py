"""PyTorch's ModuleInfo and OptimizerInfo: modules and optimizers with what its own tests build and call them with."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, cast

import torch
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db

__all__ = ["ModuleEntry", "module_entries", "optimizer_entries"]

_Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class ModuleEntry:
    """One module of ModuleInfo on the CPU."""

    def __init__(self, info: Any) -> None:
        self._info = info

    @property
    def name(self) -> str:
        """``Conv2d``, unique in the catalogue."""
        return self.module.__name__

    @property
    def module(self) -> type[torch.nn.Module]:
        return self._info.module_cls

    @property
    def differs_in_eval(self) -> bool:
        """Whether it does something else in evaluation mode."""
        return bool(self._info.train_and_eval_differ)

    def supports(self, dtype: torch.dtype) -> bool:
        """Whether PyTorch tests it with parameters of ``dtype``."""
        return dtype in self._info.dtypes

    def samples(self, dtype: torch.dtype, *, training: bool) -> Iterator[tuple[_Arguments, _Arguments]]:
        """The arguments of the constructor and those of the call. Raises what the catalogue's own code raises."""
        samples = self._info.module_inputs_func(
            self._info, device="cpu", dtype=dtype, requires_grad=True, training=training
        )
        for sample in samples:
            build, call = sample.constructor_input, sample.forward_input
            if call is not None:
                yield (tuple(build.args), dict(build.kwargs)), (tuple(call.args), dict(call.kwargs))


@functools.cache
def module_entries() -> tuple[ModuleEntry, ...]:
    """All modules, in the order of the catalogue; the first of those with one name."""
    by_name: dict[str, ModuleEntry] = {}
    for entry in map(ModuleEntry, module_db):
        by_name.setdefault(entry.name, entry)
    return tuple(by_name.values())


@functools.cache
def optimizer_entries() -> dict[type[torch.optim.Optimizer], tuple[dict[str, Any], ...]]:
    """The options that each optimizer is tested with, in the order of the catalogue."""
    by_class: dict[type[torch.optim.Optimizer], tuple[dict[str, Any], ...]] = {}
    for info in optim_db:
        by_class[cast(Any, info.optim_cls)] = tuple(dict(one.kwargs) for one in info.optim_inputs_func("cpu"))
    return by_class
