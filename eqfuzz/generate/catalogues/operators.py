"""The catalogue of operators, which is PyTorch's OpInfo."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from eqfuzz.generate.catalogues.expression import WrittenCall, written_call
from eqfuzz.generate.catalogues.sample import Arguments, Sample
from eqfuzz.generate.catalogues.variations.operand_twice import operand_twice
from eqfuzz.generate.catalogues.variations.other_arguments import other_arguments
from eqfuzz.generate.catalogues.variations.other_dtypes import other_dtypes
from eqfuzz.generate.catalogues.variations.other_sizes import other_sizes
from eqfuzz.generate.catalogues.variations.writing_calls import writing_calls
from eqfuzz.torch_internals.tested_calls import Entry, entries
from eqfuzz.torch_internals.trees import tensors_in, tree_map_only

_VARIED = 4
"""Samples of an operator and dtype whose optional arguments are varied, at most."""

_CHANGED = 2
"""Those whose sizes and dtypes are, and whose result is written elsewhere, at most."""

_MAIN_DTYPES = (torch.float32, torch.int64)
"""Dtypes of calls with other sizes and of those that write: they meet less code that depends on one."""


@dataclasses.dataclass(frozen=True)
class OperatorSample:
    """A call of an operator; ``path`` is the name that OpInfo gives the function. ``writes``: to its operands."""

    function: Callable[..., Any]
    path: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    is_guess: bool = False
    writes: bool = False

    @property
    def tensors(self) -> list[torch.Tensor]:
        return tensors_in((self.args, dict(self.kwargs)))

    def ready(self) -> Callable[[], Any]:
        both = (self.args, dict(self.kwargs))
        args, kwargs = tree_map_only(torch.Tensor, torch.Tensor.clone, both) if self.writes else both
        return partial(self.function, *args, **kwargs)

    def written(self) -> WrittenCall:
        return written_call(self.function, self.path, self.args, self.kwargs)


@dataclasses.dataclass(frozen=True)
class OperatorEntry:
    """An operator of OpInfo."""

    info: Entry

    @property
    def name(self) -> str:
        return self.info.name

    def supports(self, dtype: torch.dtype) -> bool:
        return self.info.supports(dtype)

    def samples(self, dtype: torch.dtype) -> Iterator[Sample]:
        """With gradients where eager has them; then some of them in other ways."""
        calls = list(self._calls(self.info.samples(dtype, requires_grad=self.info.differentiates(dtype))))
        yield from calls
        for call in _some(calls, _VARIED):
            for args, kwargs in other_arguments(call.function, call.path, call.args, call.kwargs):
                yield dataclasses.replace(call, args=args, kwargs=kwargs, is_guess=True)
        large = [call for call in calls if any(tensor.numel() > 1 for tensor in call.tensors)]
        for call in _some(large, _CHANGED):
            for args, kwargs in other_dtypes(call.args, call.kwargs, dtype):
                yield dataclasses.replace(call, args=args, kwargs=kwargs, is_guess=True)
        for call in _some(large, _CHANGED) if dtype in _MAIN_DTYPES else ():
            for args, kwargs in (*operand_twice(call.args, call.kwargs), *other_sizes(call.args, call.kwargs)):
                yield dataclasses.replace(call, args=args, kwargs=kwargs, is_guess=True)
            for one in writing_calls(call.function, call.path, self.info.in_place, call.args, call.kwargs):
                yield OperatorSample(one.function, one.path, one.args, one.kwargs, is_guess=True, writes=True)

    def without_gradients(self, dtype: torch.dtype) -> Iterator[OperatorSample]:
        """The same samples, of which no operand requires a gradient."""
        return self._calls(self.info.samples(dtype, requires_grad=False))

    def refused(self) -> Iterator[OperatorSample]:
        """Calls that PyTorch's tests expect to raise."""
        return self._calls(self.info.refused())

    def _calls(self, arguments: Iterator[Arguments]) -> Iterator[OperatorSample]:
        return (OperatorSample(self.info.function, self.info.path, *both) for both in arguments)


def _some(calls: Sequence[OperatorSample], most: int) -> Sequence[OperatorSample]:
    """At most so many of them, evenly spread."""
    return calls[:: max(1, -(-len(calls) // most))]


def operators() -> list[OperatorEntry]:
    """In the order of OpInfo."""
    return list(map(OperatorEntry, entries()))
