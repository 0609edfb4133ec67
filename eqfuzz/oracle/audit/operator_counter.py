"""Counts the ATen operators that run, and reads the kernels of convolutions."""

from __future__ import annotations

from collections import Counter
from typing import Any

from eqfuzz.torch_internals.modes import TorchDispatchMode
from eqfuzz.torch_internals.operators import OpOverload, schema_of


class OperatorCounter(TorchDispatchMode):
    """While it is entered, ``operators`` counts by name, ``layers`` counts those that are no views.

    ``kernels`` has the sizes of the kernel of each convolution, without channels.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self.operators: Counter[str] = Counter()
        self.kernels: list[tuple[int, ...]] = []
        self.layers = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if isinstance(func, OpOverload):
            schema = schema_of(func)
            name = schema.name.partition("::")[2]
            self.operators[name] += 1
            self.layers += not any(one.alias_info and not one.alias_info.is_write for one in schema.returns)
            if name == "convolution":
                self.kernels.append(tuple(args[1].shape[2:]))
        return func(*args, **(kwargs or {}))
