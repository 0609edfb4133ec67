"""A call of an operator, as the catalogue of operators has it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from eqfuzz.generate.catalogues.expression import WrittenCall, written_call
from eqfuzz.torch_internals.trees import tensors_in, tree_map_only


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
