"""The catalogue of operators, which is PyTorch's OpInfo."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import torch

from eqfuzz.generate.catalogues.operator_sample import OperatorSample
from eqfuzz.generate.catalogues.sample import Arguments, Sample
from eqfuzz.generate.catalogues.variations.operand_twice import operand_twice
from eqfuzz.generate.catalogues.variations.other_arguments import other_arguments
from eqfuzz.generate.catalogues.variations.other_dtypes import other_dtypes
from eqfuzz.generate.catalogues.variations.other_sizes import other_sizes
from eqfuzz.generate.catalogues.variations.writing_calls import writing_calls
from eqfuzz.torch_internals.tested_calls import Entry, entries

_VARIED = 4
"""Samples of an operator and dtype whose optional arguments are varied, at most."""

_CHANGED = 2
"""Those whose sizes and dtypes are, and whose result is written elsewhere, at most."""

_MAIN_DTYPES = (torch.float32, torch.int64)
"""Dtypes of calls with other sizes and of those that write: they meet less code that depends on one."""


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
            yield from writing_calls(call, self.info.in_place)

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
