"""Deferred C++ kernels in the process of a cell: built when the first is called, not when Inductor writes them.

At that time all kernels of the cell are requested at once, so that another process can build them together with those
of other cells. They are built as torch would do it, with the same binding and flags, see ``translation_unit``.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from eqfuzz.torch_internals import cpp_kernels
from eqfuzz.torch_internals.cpp_kernels import Function


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One C++ function named ``kernel`` as Inductor writes it, with the C++ types of its parameters."""

    argtypes: tuple[str, ...]
    source: str

    @property
    def key(self) -> str:
        """Equal for kernels with the same source and the same options for the C++ compiler."""
        return hashlib.sha256(repr((self.argtypes, self.source, _options())).encode()).hexdigest()[:24]

    def build_alone(self) -> Function:
        """Build and load it as torch does. Raises what torch raises if the C++ compiler rejects it."""
        return cpp_kernels.build_kernel(self.argtypes, self.source)


@dataclasses.dataclass(frozen=True)
class Built:
    """Where a kernel is that was built together with others: the Python module ``name`` in the library at ``path``."""

    path: str
    name: str

    def load(self) -> Function:
        """The kernel, callable with tensors and numbers. Raises ``ImportError``."""
        return cpp_kernels.load_kernel(self.path, self.name)


@functools.cache
def _options() -> str:
    """Inductor's options for C++ as this process has them; a preload may have changed them."""
    return cpp_kernels.options_for_cpp()


Ask = Callable[[Sequence[Kernel]], Sequence[Built | None]]
"""Build kernels: returns where each is, or None where that failed. May take long."""


class Deferral:
    """Once constructed, this process gets its kernels through ``ask``. That cannot be undone, so it must be a fork.

    ``alone`` counts kernels that had to be built in this process after all. With a ``salt`` no kernel is shared.
    """

    def __init__(self, ask: Ask, *, salt: str = "") -> None:
        self._ask = ask
        self._comment = f"\n// {salt}\n" if salt else ""
        self._waiting: dict[Kernel, _Deferred] = {}
        self.alone = 0
        cpp_kernels.make_kernels_with(self._make)

    def _make(self, argtypes: list[str], source_code: str) -> Function:
        kernel = Kernel(tuple(argtypes), source_code + self._comment)
        return self._waiting.setdefault(kernel, _Deferred(kernel, self))

    def settle(self) -> None:
        """Request all kernels that are waiting."""
        waiting, self._waiting = self._waiting, {}
        for deferred, built in zip(waiting.values(), self._ask(list(waiting)), strict=True):
            if built is None:
                self.alone += 1
                deferred.function = deferred.kernel.build_alone()
            else:
                deferred.function = built.load()


class _Deferred:
    """Stands for a kernel in generated code."""

    def __init__(self, kernel: Kernel, deferral: Deferral) -> None:
        self.kernel = kernel
        self.function: Function | None = None
        self._deferral = deferral

    def __call__(self, *args: Any) -> Any:
        if self.function is None:
            self._deferral.settle()
            assert self.function is not None
        return self.function(*args)
