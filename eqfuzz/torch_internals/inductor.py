"""Inductor: hooks on graphs and generated code, decompositions, counters, and a backend around it."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch._guards

from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.modes import TorchDispatchMode
from eqfuzz.torch_internals.operators import OpOverload


def import_compiler() -> None:
    """Import Dynamo and Inductor, which ``import torch`` defers to the first compilation."""
    importlib.import_module("torch._dynamo")
    importlib.import_module("torch._inductor.compile_fx")


@contextlib.contextmanager
def code_hook(seen: Callable[[str], None]) -> Iterator[None]:
    """Context in which ``seen`` is called with the generated code of each graph before it is built."""
    from torch._inductor.graph import GraphLowering

    with mock.patch.object(GraphLowering, "save_output_code", staticmethod(seen)):
        yield


@contextlib.contextmanager
def graph_hook(seen: Callable[[torch.fx.Graph], None]) -> Iterator[None]:
    """Context in which ``seen`` is called with each graph after all passes over it, before Inductor lowers it."""
    from torch._inductor.graph import GraphLowering

    before = GraphLowering.run

    def run(self: Any, *args: Any) -> Any:
        seen(self.module.graph)
        return before(self, *args)

    with mock.patch.object(GraphLowering, "run", run):
        yield


def watch_loaded_code(seen: Callable[[str], None]) -> None:
    """From now on, call ``seen`` with the Python code of every compiled graph that is loaded, new or cached."""
    from torch._inductor.codecache import PyCodeCache

    load = PyCodeCache.load_by_key_path

    def loaded(key: str, path: str, *args: Any, **kwargs: Any) -> Any:
        seen(Path(path).read_text(encoding="utf-8"))
        return load(key, path, *args, **kwargs)

    PyCodeCache.load_by_key_path = loaded  # type: ignore[method-assign]


def inductor_counts() -> dict[str, int]:
    """Inductor's metrics: numbers, and the lengths of lists."""
    import torch._inductor.metrics as metrics

    counts = {name: value for name, value in vars(metrics).items() if isinstance(value, int | list)}
    return {name: len(value) if isinstance(value, list) else int(value) for name, value in counts.items()}


def forget_compiles() -> None:
    """Drop everything that Dynamo and Inductor have compiled in this process, and their counters."""
    import torch._inductor.metrics as metrics

    forget_compiled_code()
    metrics.reset()


InnerCompile = Callable[..., Any]


def inductor_backend(
    inner: Callable[[InnerCompile], InnerCompile], mode: str | None, options: dict[str, Any], dynamic: bool | None
) -> Callable[..., Any]:
    """A backend for ``torch.compile`` that is Inductor, with ``inner`` wrapped around what compiles one ATen graph.

    What is wrapped takes ``(graph module, example inputs, **more)`` and returns a callable that takes one list of
    inputs, which it may empty, and returns a sequence; see ``takes_one_list``. ``mode`` and ``options`` are those of
    ``torch.compile``.
    """
    from torch._inductor import list_mode_options
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner

    patches = {**list_mode_options(mode or "default", dynamic), **options}
    wrapped = inner(compile_fx_inner)

    def backend(graph: torch.fx.GraphModule, example_inputs: Any) -> Any:
        return compile_fx(graph, example_inputs, inner_compile=wrapped, config_patches=patches or None)

    return backend


def compile_with_inductor(graph: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """Compile a graph that Dynamo captured as ``torch.compile(backend="inductor")`` does."""
    from torch._inductor.compile_fx import compile_fx

    return compile_fx(graph, example_inputs)  # type: ignore[return-value]


def takes_one_list(compiled: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """``compiled``, marked for AOTAutograd as a callable that takes its inputs as one list, which it may empty."""
    compiled._boxed_call = True  # type: ignore[attr-defined]
    return compiled


def forget_output_strides(count: int) -> None:
    """Drop AOTAutograd's strides of the outputs of the graph just compiled, except for the first ``count``."""
    context = torch._guards.TracingContext.try_get()
    if context is not None and context.output_strides:
        # In place: AOTAutograd holds this very list, and takes all that follow its outputs for saved activations.
        del context.output_strides[count:]


class _OperatorRecorder(TorchDispatchMode):
    # Without this torch refuses higher-order operators under any mode.
    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self.operators: dict[OpOverload, None] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.operators[func] = None
        return func(*args, **(kwargs or {}))


def decomposed_in(run: Callable[[], object]) -> list[OpOverload]:
    """The operators of an eager run that Inductor decomposes, in their order."""
    from torch._inductor.decomposition import decompositions

    with _OperatorRecorder() as recorder:
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
