"""In the process of a cell: C++ kernels that are not built when Inductor makes them but when the first is called.

Until then the process has told all that it needs, so that another can build them together with those of other cells.
What is built is what torch would build, binding and flags included, see ``translation_unit``.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch._inductor.config as inductor_config
from torch._inductor import codecache
from torch._inductor.async_compile import AsyncCompile

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One C++ function named ``kernel`` as Inductor writes it, with the C++ types of its parameters."""

    argtypes: tuple[str, ...]
    source: str

    @property
    def key(self) -> str:
        """Equal for kernels that are built alike: from one source, under one set of options for the C++ compiler."""
        return hashlib.sha256(repr((self.argtypes, self.source, _options())).encode()).hexdigest()[:24]

    def build_alone(self) -> Function:
        """Build and load it as torch does. Raises what torch raises where the C++ compiler does not take it."""
        return codecache.CppPythonBindingsCodeCache.load_pybinding(list(self.argtypes), self.source)


@dataclasses.dataclass(frozen=True)
class Built:
    """Where a kernel is that was built together with others: the Python module ``name`` in a shared library."""

    path: str
    name: str

    def load(self) -> Function:
        """The kernel, callable with tensors and numbers. Raises ``ImportError``."""
        binding = type("Binding", (codecache.CppPythonBindingsCodeCache,), {"entry_function": self.name})
        return binding._load_library(self.path, Path(self.path).stem).kernel  # type: ignore[attr-defined]


@functools.cache
def _options() -> str:
    """Inductor's options for C++ as this process has them; a preload may have changed them."""
    given = inductor_config.get_config_copy()  # type: ignore[attr-defined]
    return repr(sorted((name, repr(value)) for name, value in given.items() if name.startswith("cpp")))


Ask = Callable[[Sequence[Kernel]], Sequence[Built | None]]
"""Have kernels built: for each where it is, or None where that failed. May take long."""


class Deferral:
    """From its making on, this process gets its kernels through ``ask``. There is no way back: it is to be a fork.

    ``alone`` counts those that had to be built here after all. With a ``salt`` its kernels are those of nobody else.
    """

    def __init__(self, ask: Ask, *, salt: str = "") -> None:
        self._ask = ask
        self._comment = f"\n// {salt}\n" if salt else ""
        self._waiting: dict[Kernel, _Deferred] = {}
        self.alone = 0
        AsyncCompile.cpp_pybinding = self._make  # type: ignore[method-assign]

    def _make(self, argtypes: list[str], source_code: str) -> Function:
        kernel = Kernel(tuple(argtypes), source_code + self._comment)
        return self._waiting.setdefault(kernel, _Deferred(kernel, self))

    def settle(self) -> None:
        """Have everything built that is waiting."""
        waiting, self._waiting = self._waiting, {}
        for deferred, built in zip(waiting.values(), self._ask(list(waiting)), strict=True):
            if built is None:
                self.alone += 1
                deferred.function = deferred.kernel.build_alone()
            else:
                deferred.function = built.load()


def tell_loaded_code(seen: Callable[[str], None]) -> None:
    """From now on, tell the Python code of every compiled graph that this process loads, generated now or earlier."""
    load = codecache.PyCodeCache.load_by_key_path

    def loaded(key: str, path: str, *args: Any, **kwargs: Any) -> Any:
        seen(Path(path).read_text(encoding="utf-8"))
        return load(key, path, *args, **kwargs)

    codecache.PyCodeCache.load_by_key_path = loaded  # type: ignore[method-assign]


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
