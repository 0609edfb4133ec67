"""PyTorch's OpInfo: operators with the samples that its own tests call them on. Importing it needs expecttest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

__all__ = ["Entry", "entries"]


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
