"""C++ kernels: how Inductor binds, builds and loads them, and replacements for that."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

from torch._inductor.async_compile import AsyncCompile
from torch._inductor.codecache import CppPythonBindingsCodeCache
from torch._inductor.cpp_builder import CppBuilder

from eqfuzz.atomic_file import replacement_of
from eqfuzz.torch_internals.options import config_module, values_of

Function = Callable[..., Any]
"""A kernel as generated code calls it."""

MakeKernel = Callable[[list[str], str], Function]
"""Makes a callable from the C++ types of the parameters and the source of one function named ``kernel``."""


def make_kernels_with(make: MakeKernel) -> None:
    """From now on, generated code gets its kernels from ``make``."""
    AsyncCompile.cpp_pybinding = staticmethod(make)  # type: ignore[method-assign]


@contextlib.contextmanager
def kernels_left_out() -> Iterator[None]:
    """Context in which the kernels of compiled graphs are empty functions."""
    with mock.patch.object(AsyncCompile, "cpp_pybinding", staticmethod(lambda argtypes, source: lambda *_: None)):
        yield


def build_kernel(argtypes: Sequence[str], source: str) -> Function:
    """Build and load a kernel as torch does. Raises what torch raises where the C++ compiler fails."""
    return CppPythonBindingsCodeCache.load_pybinding(list(argtypes), source)


def load_kernel(library: str, module: str) -> Function:
    """The function ``kernel`` of a Python module in a shared library. Raises ImportError."""
    binding = type("Binding", (CppPythonBindingsCodeCache,), {"entry_function": module})
    return binding._load_library(library, Path(library).stem).kernel  # type: ignore[attr-defined]


def with_binding(argtypes: Sequence[str], source: str) -> str:
    """The C++ source that torch compiles for a single kernel, with its Python binding."""
    sources: list[str] = []

    class KernelSource(CppPythonBindingsCodeCache):
        @classmethod
        def load_async(cls, main_code: str, *_: Any, **__: Any) -> None:  # type: ignore[override]
            sources.append(main_code)

    KernelSource.load_pybinding_async(list(argtypes), source)
    return sources[0]


def build_library(source: str) -> str:
    """The path of a shared library, built with torch's own flags and header. Raises what torch raises."""
    return _Unit.load(source).path


class _Unit(CppPythonBindingsCodeCache):
    """Torch's code cache for C++ libraries, which builds without loading: other processes load the kernels."""

    cache: ClassVar[dict[str, Any]] = {}

    @staticmethod
    def _load_library_inner(path: str, key: str) -> Any:
        return types.SimpleNamespace(path=path)


def options_for_cpp() -> str:
    """Inductor's options for C++ in this process, as a text that differs where an option does."""
    values = values_of(config_module("inductor"))
    return repr(sorted((name, repr(value)) for name, value in values.items() if name.startswith("cpp")))


def write_builds_atomically() -> None:
    """From now on, write the files of torch's C++ builder atomically.

    The compiler writes libraries and headers where later processes look for them. Killed, or on a full disk, it leaves
    incomplete files that they would use.
    """
    build = CppBuilder.build

    def build_whole(self: CppBuilder) -> Any:
        # Until 2.7 torch writes the command from the target alone; 2.6 returns it, too.
        target, output = self._target_file, getattr(self, "_output", None)
        try:
            with replacement_of(Path(target)) as file:
                self._target_file = str(file)
                if output is not None:
                    self._output = output.replace(target, str(file))
                result: Any = build(self)
        finally:
            self._target_file = target
            if output is not None:
                self._output = output
        return (result[0], target) if result is not None else None

    CppBuilder.build = build_whole  # type: ignore[method-assign]
