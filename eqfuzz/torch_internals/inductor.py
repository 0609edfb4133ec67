"""Inductor with something in between: what it is given, what it generates, what it counts."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._guards

from eqfuzz.torch_internals.dynamo import forget_compiled_code


def import_compiler() -> None:
    """Import Dynamo and Inductor, which ``import torch`` leaves until something compiles."""
    importlib.import_module("torch._dynamo")
    importlib.import_module("torch._inductor.compile_fx")


@contextlib.contextmanager
def code_hook(seen: Callable[[str], None]) -> Iterator[None]:
    """While it lasts, ``seen`` is called with the code that Inductor generated for each graph, before it is built."""
    from torch._inductor.graph import GraphLowering

    before = GraphLowering.__dict__["save_output_code"]
    GraphLowering.save_output_code = staticmethod(seen)
    try:
        yield
    finally:
        GraphLowering.save_output_code = before


@contextlib.contextmanager
def graph_hook(seen: Callable[[torch.fx.Graph], None]) -> Iterator[None]:
    """While it lasts, ``seen`` is called with each graph that Inductor is about to lower, after all passes over it."""
    from torch._inductor.graph import GraphLowering

    before = GraphLowering.run

    def run(self: Any, *args: Any) -> Any:
        seen(self.module.graph)
        return before(self, *args)

    GraphLowering.run = run
    try:
        yield
    finally:
        GraphLowering.run = before


def watch_loaded_code(seen: Callable[[str], None]) -> None:
    """From now on, ``seen`` is called with the Python code of every compiled graph that is loaded, new or cached."""
    from torch._inductor.codecache import PyCodeCache

    load = PyCodeCache.load_by_key_path

    def loaded(key: str, path: str, *args: Any, **kwargs: Any) -> Any:
        seen(Path(path).read_text(encoding="utf-8"))
        return load(key, path, *args, **kwargs)

    PyCodeCache.load_by_key_path = loaded  # type: ignore[method-assign]


def inductor_counts() -> dict[str, int]:
    """Inductor's metrics as they are now: numbers, and of what it lists the lengths."""
    import torch._inductor.metrics as metrics

    counts = {name: value for name, value in vars(metrics).items() if isinstance(value, int | list)}
    return {name: len(value) if isinstance(value, list) else int(value) for name, value in counts.items()}


def forget_compiles() -> None:
    """Drop what Dynamo and Inductor have compiled in this process, and their counts of it."""
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
    """What ``torch.compile(backend="inductor")`` makes of a graph that Dynamo captured."""
    from torch._inductor.compile_fx import compile_fx

    return compile_fx(graph, example_inputs)  # type: ignore[return-value]


def takes_one_list(compiled: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """``compiled``, marked for AOTAutograd as a callable that takes its inputs as one list, which it may empty."""
    compiled._boxed_call = True  # type: ignore[attr-defined]
    return compiled


def forget_output_strides(count: int) -> None:
    """Of the outputs of the graph just compiled, leave AOTAutograd the strides of the first ``kept`` only."""
    context = torch._guards.TracingContext.try_get()
    if context is not None and context.output_strides:
        # In place: AOTAutograd holds this very list, and takes all that follow its outputs for saved activations.
        del context.output_strides[count:]
