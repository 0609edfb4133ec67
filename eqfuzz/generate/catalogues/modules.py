"""The catalogue of modules, which is PyTorch's ModuleInfo: each built in all its ways, in training and evaluation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch.nn.modules.lazy import LazyModuleMixin

from eqfuzz.generate.catalogues.expression import Unwritable, WrittenCall, constructor, written_arguments
from eqfuzz.generate.catalogues.sample import Sample
from eqfuzz.torch_internals.tested_calls import ModuleEntry, module_entries
from eqfuzz.torch_internals.trees import tensors_in


@dataclasses.dataclass(frozen=True)
class ModuleSample:
    """A module that is built and called once."""

    module: type[torch.nn.Module]
    dtype: torch.dtype
    training: bool
    build: tuple[tuple[Any, ...], Mapping[str, Any]]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def is_guess(self) -> bool:
        return False

    @property
    def tensors(self) -> list[torch.Tensor]:
        return tensors_in((self.args, dict(self.kwargs)))

    def ready(self) -> Callable[[], Any]:
        module = self.module(*self.build[0], **self.build[1]).to(self.dtype).train(self.training)
        return partial(module, *self.args, **self.kwargs)

    def written(self) -> WrittenCall:
        if issubclass(self.module, LazyModuleMixin):
            raise Unwritable("its call makes parameters")
        module = constructor(f"nn.{self.module.__name__}", *self.build)
        module += "" if self.dtype is torch.float32 else f".to({self.dtype})"
        return written_arguments(f"{module}{'' if self.training else '.eval()'}", self.args, self.kwargs)


@dataclasses.dataclass(frozen=True)
class ModuleClass:
    """A module of ModuleInfo."""

    info: ModuleEntry

    @property
    def name(self) -> str:
        return self.info.name

    def supports(self, dtype: torch.dtype) -> bool:
        return self.info.supports(dtype)

    def samples(self, dtype: torch.dtype) -> Iterator[Sample]:
        """Those in training, then those in evaluation where that differs."""
        for training in (True, False) if self.info.differs_in_eval else (True,):
            for build, call in self.info.samples(dtype, training=training):
                yield ModuleSample(self.info.module, dtype, training, build, *call)


def modules() -> list[ModuleClass]:
    """In the order of ModuleInfo."""
    return list(map(ModuleClass, module_entries()))
