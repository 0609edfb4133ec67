"""Dynamo: its compiled code, its counters, packages that it skips, functions of NumPy that it reads."""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch


def forget_compiled_code() -> None:
    """Drop everything that Dynamo has compiled in this process, and its counters; nothing where it is not loaded."""
    if "torch._dynamo" not in sys.modules:
        return
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch._dynamo.utils.clear_compilation_metrics()


def uncompiled(model: Any) -> Any:
    """What ``torch.compile`` was given, where ``model`` is what it returned; else ``model``."""
    if "torch._dynamo" not in sys.modules:
        return model
    from torch._dynamo.eval_frame import OptimizedModule, innermost_fn

    if isinstance(model, OptimizedModule):
        return model._orig_mod
    return model if isinstance(model, torch.nn.Module) else innermost_fn(model)


@contextlib.contextmanager
def capturing_all() -> Iterator[None]:
    """The context in which Dynamo also captures numbers taken out of tensors and shapes that data decide."""
    with torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        yield


@functools.cache
def count_unbacked_graphs() -> None:
    """From now on, Dynamo counts among its statistics the graphs with unbacked symbols that it has compiled."""
    from torch._dynamo.output_graph import OutputGraph
    from torch._dynamo.utils import counters

    before = OutputGraph.call_user_compiler

    @functools.wraps(before)
    def call_user_compiler(self: Any, gm: torch.fx.GraphModule, *args: Any) -> Any:
        unbacked = any(node.meta.get("unbacked_bindings") for node in gm.graph.nodes)
        compiled = before(self, gm, *args)
        counters["stats"][_UNBACKED] += unbacked
        return compiled

    OutputGraph.call_user_compiler = call_user_compiler  # type: ignore[method-assign]


_UNBACKED = "unbacked_graphs"


def compilations() -> dict[str, int]:
    """Counts since the last reset: graphs, graph breaks, frames recompiled after a guard failed.

    Where ``count_unbacked_graphs`` was called, also graphs with unbacked symbols: sizes and numbers that data decide.
    """
    from torch._dynamo.utils import counters, get_compilation_metrics

    attempts = [str(metrics.compile_id or "") for metrics in get_compilation_metrics()]
    return {
        "graphs": counters["stats"]["unique_graphs"],
        "unbacked_graphs": counters["stats"][_UNBACKED],
        "graph_breaks": sum(counters["graph_break"].values()),
        "recompiles": sum(not attempt.endswith("/0") for attempt in set(attempts) if "/" in attempt),
    }


def dynamo_counts() -> dict[str, dict[str, int]]:
    """The counters of Dynamo, AOTAutograd and Inductor, by group and key."""
    from torch._dynamo.utils import counters

    return {group: dict(members) for group, members in counters.items()}


def compilation_metrics() -> list[dict[str, Any]]:
    """Dynamo's metrics of each attempt to compile a frame since the last reset."""
    from torch._dynamo.utils import get_compilation_metrics

    return [vars(metrics) for metrics in get_compilation_metrics()]


@functools.cache
def keep_out_of_dynamo(module: str) -> None:
    """From now on, Dynamo neither compiles nor counts calls into ``module``."""
    from torch._dynamo import trace_rules

    trace_rules.add(module)


def dynamo_same(eager: torch.Tensor, compiled: torch.Tensor, wide: torch.Tensor) -> bool:
    """The check of PyTorch's benchmarks and minifier: closeness, else the error against a float64 run."""
    from torch._dynamo.utils import same

    silent: Callable[..., None] = lambda *_, **__: None  # noqa: E731
    return same(eager.detach(), compiled.detach(), wide.detach(), equal_nan=True, log_error=silent)


_NUMPY_MODULES = ("", "linalg.", "fft.")
_ABOUT_TYPES = frozenset("can_cast common_type dtype finfo iinfo issubdtype min_scalar_type result_type".split())
_NOT_DETERMINED = frozenset("empty empty_like from_dlpack".split())


def numpy_functions() -> list[str]:
    """Their names below ``numpy``, without those about types and those whose results are not determined."""
    import numpy as np
    import torch._numpy as reading

    names: list[str] = []
    for prefix in _NUMPY_MODULES:
        ours, theirs = (getattr(module, prefix.rstrip("."), module) for module in (reading, np))
        names += [
            f"{prefix}{name}"
            for name in sorted(vars(ours))
            if isinstance(getattr(ours, name), types.FunctionType)
            and not name.startswith("_")
            and callable(getattr(theirs, name, None))
        ]
    return [name for name in names if name not in _ABOUT_TYPES | _NOT_DETERMINED]
