"""What PyTorch tests itself: the operators of OpInfo, modules of ModuleInfo, optimizers of OptimizerInfo."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, cast

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db

__all__ = ["Entry", "ModuleEntry", "entries", "module_entries", "optimizer_entries"]

_Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class Entry:
    """One operator of OpInfo on the CPU."""

    def __init__(self, info: Any) -> None:
        self._info = info

    @property
    def name(self) -> str:
        """Its name with that of its variant: an identifier, unique in the catalogue."""
        return self._info.formatted_name

    @property
    def path(self) -> str:
        """Its name in Python without ``torch.``, which several entries may share."""
        return self._info.name.removeprefix("torch.")

    @property
    def function(self) -> Callable[..., Any]:
        """What the tests call with a sample: an operator of torch, or a function around it."""
        return self._info.op

    @property
    def in_place(self) -> Callable[..., Any] | None:
        """What the tests call to do the same in place, mostly a method of tensors."""
        return self._info.inplace_variant

    def supports(self, dtype: torch.dtype) -> bool:
        """Whether eager takes operands of ``dtype``."""
        return self._info.supports_dtype(dtype, "cpu")

    def differentiates(self, dtype: torch.dtype) -> bool:
        """Whether eager has gradients of operands of ``dtype``."""
        return bool(self._info.supports_autograd) and dtype in self._info.supported_backward_dtypes("cpu")

    def samples(self, dtype: torch.dtype, *, requires_grad: bool) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Arguments and keyword arguments of each sample. Raises what the catalogue's own code raises."""
        for sample in self._info.sample_inputs("cpu", dtype, requires_grad=requires_grad):
            yield (sample.input, *sample.args), dict(sample.kwargs)

    def refused(self) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Arguments and keyword arguments of each call that the operator's tests expect to raise."""
        if self._info.error_inputs_func is not None:
            for error in self._info.error_inputs("cpu"):
                sample = error.sample_input
                yield (sample.input, *sample.args), dict(sample.kwargs)


def entries() -> list[Entry]:
    """All operators, in the order of the catalogue; the first of those with one name."""
    by_name: dict[str, Entry] = {}
    for info in op_db:
        by_name.setdefault(info.formatted_name, Entry(info))
    return list(by_name.values())


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
