"""Torch's private names that eqfuzz relies on besides its config modules; a contract test watches them."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch._guards
import torch._jit_internal


def is_zero_tensor(tensor: torch.Tensor) -> bool:
    """Whether it is one of autograd's zeros without memory (``ZeroTensor``), which crash what reads their storage."""
    return tensor._is_zerotensor()


def storage_key(tensor: torch.Tensor) -> int:
    """Equal for tensors that look into one storage, for as long as one of them lives."""
    return tensor.untyped_storage()._cdata


def is_inside_transform(tensor: torch.Tensor) -> bool:
    """Whether ``torch.func`` has wrapped it (vmap, grad): its values cannot be read."""
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)  # type: ignore[attr-defined]


def modes_are_active() -> bool:
    """Whether a torch-function mode, a dispatch mode or a function transform has been entered and not left."""
    stacks = torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack()
    return bool(stacks) or torch._C._functorch.peek_interpreter_stack() is not None  # type: ignore[attr-defined]


def start_autograd_engine() -> None:
    """Have autograd count the devices now, while nothing has told torch of one that is not there.

    The engine counts them at the first backward of a process, starts a thread for each, and from then on refuses to run
    in what is forked off. Fake tensors let CUDA builds without a device report several, so whatever compiles before
    the first backward would make backward impossible in every child.
    """
    torch.ones((), requires_grad=True).backward()


def forget_compiled_code() -> None:
    """Drop everything Dynamo has compiled in this process, and what it has counted."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch._dynamo.utils.clear_compilation_metrics()


def compilations() -> dict[str, int]:
    """What Dynamo has done since it forgot last: graphs made, graph breaks, frames compiled again after a guard."""
    from torch._dynamo.utils import counters, get_compilation_metrics

    attempts = [str(metrics.compile_id or "") for metrics in get_compilation_metrics()]
    return {
        "graphs": counters["stats"]["unique_graphs"],
        "graph_breaks": sum(counters["graph_break"].values()),
        "recompiles": sum(not attempt.endswith("/0") for attempt in set(attempts) if "/" in attempt),
    }


@contextlib.contextmanager
def code_hook(seen: Callable[[str], None]) -> Iterator[None]:
    """While it lasts, ``seen`` is told the code that Inductor generated for each graph, before it is built."""
    from torch._inductor.graph import GraphLowering

    before = GraphLowering.save_output_code
    GraphLowering.save_output_code = staticmethod(seen)
    try:
        yield
    finally:
        GraphLowering.save_output_code = before


@contextlib.contextmanager
def graph_hook(seen: Callable[[torch.fx.Graph], None]) -> Iterator[None]:
    """While it lasts, ``seen`` is told each graph that Inductor is about to lower, after all passes over it."""
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


def dynamo_counts() -> dict[str, dict[str, int]]:
    """The counters of Dynamo, AOTAutograd and Inductor as they are now, by group and key."""
    from torch._dynamo.utils import counters

    return {group: dict(members) for group, members in counters.items()}


def inductor_counts() -> dict[str, int]:
    """Inductor's metrics as they are now: numbers, and of what it lists the lengths."""
    import torch._inductor.metrics as metrics

    kept = {name: value for name, value in vars(metrics).items() if isinstance(value, int | list)}
    return {name: len(value) if isinstance(value, list) else int(value) for name, value in kept.items()}


def compilation_metrics() -> list[dict[str, Any]]:
    """What Dynamo has noted about each attempt to compile a frame since it forgot last."""
    from torch._dynamo.utils import get_compilation_metrics

    return [vars(metrics) for metrics in get_compilation_metrics()]


@functools.cache
def keep_out_of_dynamo(module: str) -> None:
    """From now on, Dynamo neither compiles nor counts what is called of a package that watches a program."""
    from torch._dynamo import trace_rules

    trace_rules.add(module)


InnerCompile = Callable[..., Any]


def inductor_backend(
    inner: Callable[[InnerCompile], InnerCompile], mode: str | None, options: dict[str, Any], dynamic: bool | None
) -> Callable[..., Any]:
    """A backend for ``torch.compile`` that is Inductor, with ``inner`` wrapped around what compiles one ATen graph.

    What is wrapped takes ``(graph module, example inputs, **more)`` and returns a callable that takes one list of
    inputs, which it may empty, and returns a sequence. ``mode`` and ``options`` are those of ``torch.compile``.
    """
    from torch._inductor import list_mode_options
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner

    patches = {**list_mode_options(mode or "default", dynamic), **options}
    wrapped = inner(compile_fx_inner)

    def backend(graph: torch.fx.GraphModule, example_inputs: Any) -> Any:
        return compile_fx(graph, example_inputs, inner_compile=wrapped, config_patches=patches or None)

    return backend


def put_builds_in_place_whole() -> None:
    """Have what torch's C++ builder makes appear under its name when it is complete, in this process from now on.

    The compiler writes libraries and headers where later processes look for them. Killed half-way, or where the disk is
    full, it leaves something there that they take for the whole.
    """
    from torch._inductor.cpp_builder import CppBuilder

    build = CppBuilder.build

    def build_whole(self: CppBuilder) -> None:
        target, output = self._target_file, self._output
        making = f"{target}.{os.getpid()}"
        self._target_file, self._output = making, output.replace(target, making)
        try:
            build(self)
            Path(making).replace(target)
        finally:
            self._target_file, self._output = target, output
            Path(making).unlink(missing_ok=True)

    CppBuilder.build = build_whole  # type: ignore[method-assign]


def forget_output_strides(kept: int) -> None:
    """Of the outputs of the graph just compiled, leave AOTAutograd the strides of the first ``kept`` only."""
    context = torch._guards.TracingContext.try_get()
    if context is not None and context.output_strides:
        # In place: AOTAutograd holds this very list, and takes all that follow its outputs for saved activations.
        del context.output_strides[kept:]


@contextlib.contextmanager
def without_autograd_cache() -> Iterator[None]:
    """While it lasts, AOTAutograd neither reads nor writes compiled graphs on disk."""
    import torch._functorch.config as functorch_config

    with functorch_config.patch(enable_autograd_cache=False):  # type: ignore[attr-defined]
        yield


@contextlib.contextmanager
def without_graph_caches() -> Iterator[None]:
    """While it lasts, no compiled graph is looked up or kept on disk; options that this torch lacks are left alone.

    A program that is met once pays a tenth of a second for the keys of these caches, and a hit skips the passes.
    """
    import torch._functorch.config as functorch_config
    import torch._inductor.config as inductor_config

    inductor = {"fx_graph_cache": False, "fx_graph_remote_cache": False}
    functorch = {"enable_autograd_cache": False, "enable_remote_autograd_cache": False}
    with (
        inductor_config.patch({k: v for k, v in inductor.items() if hasattr(inductor_config, k)}),  # type: ignore[attr-defined]
        functorch_config.patch({k: v for k, v in functorch.items() if hasattr(functorch_config, k)}),  # type: ignore[attr-defined]
    ):
        yield


def bisected(is_right: Callable[[], bool]) -> dict[str, Any] | None:
    """What torch's bisector finds: ``backend``, ``subsystem``, ``bisect_number``, ``debug_info``; None for nothing.

    ``is_right`` compiles with ``torch.compile`` and says whether that came out well; it is asked 15 to 30 times. Raises
    RuntimeError where the answers contradict each other.
    """
    from torch._inductor.compiler_bisector import CompilerBisector

    with contextlib.redirect_stdout(None), without_graph_caches():
        found = CompilerBisector.do_bisect(is_right)
    return dict(vars(found)) if found is not None else None


def application(detail: str) -> str:
    """What a ``debug_info`` of torch's bisector names, without the number of its occurrence in the graph.

    Lowerings are named by the node (``amin_2``), decompositions by the operator's ``repr``.
    """
    operator = re.fullmatch(r"<OpOverload\(op='(.+)', overload='(.+)'\)>", detail)
    return ".".join(operator.groups()) if operator is not None else re.sub(r"_\d+$", "", detail)


@contextlib.contextmanager
def switched_off(subsystem: str, detail: str) -> Iterator[None]:
    """While it lasts, one part of the compiler is left out wherever torch's bisector could leave it out.

    ``detail`` is an ``application`` of the subsystem: a pass, a lowering, a decomposition; of a subsystem that is an
    option it does not count. Raises ValueError for a subsystem that this torch does not have.
    """
    import torch._functorch.config as functorch_config
    import torch._inductor.config as inductor_config
    from torch._inductor.compiler_bisector import BACKENDS, CompilerBisector, ConfigChange

    known = {part.name: part for parts in BACKENDS.values() for part in parts}
    if subsystem not in known:
        raise ValueError(f"torch's bisector knows no {subsystem!r}")
    part = known[subsystem]
    if isinstance(part, ConfigChange):
        options = inductor_config if hasattr(inductor_config, part.config_field) else functorch_config
        with without_graph_caches(), options.patch({part.config_field: part.config_value}):  # type: ignore[attr-defined]
            yield
        return

    def is_off(backend: str, name: str, debug_info: Callable[[], str] | None = None) -> bool:
        return name == subsystem and debug_info is not None and application(debug_info()) == detail

    before = CompilerBisector.__dict__["disable_subsystem"]
    CompilerBisector.disable_subsystem = staticmethod(is_off)  # pyright: ignore[reportAttributeAccessIssue]
    try:
        with without_graph_caches():
            yield
    finally:
        CompilerBisector.disable_subsystem = before


@contextlib.contextmanager
def rounding_as_eager() -> Iterator[None]:
    """While it lasts, Inductor rounds every half-precision intermediate as eager does."""
    import torch._inductor.config as inductor_config

    with inductor_config.patch(emulate_precision_casts=True):  # type: ignore[attr-defined]
        yield


def overloads_of(aten: str) -> list[tuple[str, Any, list[Any]]]:
    """Each overload of an ATen operator (``sum.dim_IntList``) with its schema and tags; none when there is no such."""
    packet = getattr(torch.ops.aten, aten, None) if aten.isidentifier() else None
    if not isinstance(packet, torch._ops.OpOverloadPacket):
        return []
    overloads = [(name, getattr(packet, name)) for name in packet.overloads()]
    return [(f"{aten}.{name}", overload._schema, overload.tags) for name, overload in overloads]


def undispatched(function: Callable[..., Any]) -> Callable[..., Any]:
    """What ``F.max_pool2d`` and its like call unless they are asked for indices: it has the parameters by name."""
    branches = torch._jit_internal.boolean_dispatched.get(function)
    return branches["if_false"] if branches is not None else function


def dynamo_same(eager: torch.Tensor, compiled: torch.Tensor, wide: torch.Tensor) -> bool:
    """The check of PyTorch's own benchmarks and minifier: closeness, else the error against a float64 run."""
    from torch._dynamo.utils import same

    silent: Callable[..., None] = lambda *_, **__: None  # noqa: E731
    return same(eager.detach(), compiled.detach(), wide.detach(), equal_nan=True, log_error=silent)


def keep_headers_in(folder: Path) -> None:
    """Have Inductor's precompiled headers that are made from now on lie in ``folder``."""
    from torch._inductor import codecache

    codecache._HEADER_DIR = str(folder)
    codecache._HEADER_LOCK_DIR = str(folder / "locks")
