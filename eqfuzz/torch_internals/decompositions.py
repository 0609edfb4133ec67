"""Inductor's decompositions: which of them a program needs, and compilation without some of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import Any
from unittest import mock

from eqfuzz.torch_internals.modes import TorchDispatchMode
from eqfuzz.torch_internals.operators import OpOverload


class _Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.operators: dict[OpOverload, None] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.operators[func] = None
        return func(*args, **(kwargs or {}))


def decomposed_in(run: Callable[[], object]) -> list[OpOverload]:
    """The operators of an eager run that Inductor decomposes, in their order."""
    from torch._inductor.decomposition import decompositions

    with _Recorder() as recorder:
        run()
    return [operator for operator in recorder.operators if operator in decompositions]


@contextlib.contextmanager
def without_decompositions(operators: Collection[OpOverload]) -> Iterator[None]:
    """Context in which Inductor's graphs contain these operators as they are; it may be unable to lower them."""
    from torch._inductor.decomposition import decompositions

    with mock.patch.dict(decompositions):
        for operator in operators:
            decompositions.pop(operator, None)
        yield
