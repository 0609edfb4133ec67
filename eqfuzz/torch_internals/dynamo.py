"""What Dynamo has compiled in this process, what it counts of that, and what it leaves alone."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch


def forget_compiled_code() -> None:
    """Drop everything Dynamo has compiled in this process, and what it has counted; nothing where it is not loaded."""
    if "torch._dynamo" not in sys.modules:
        return
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


def dynamo_counts() -> dict[str, dict[str, int]]:
    """The counters of Dynamo, AOTAutograd and Inductor as they are now, by group and key."""
    from torch._dynamo.utils import counters

    return {group: dict(members) for group, members in counters.items()}


def compilation_metrics() -> list[dict[str, Any]]:
    """What Dynamo has noted about each attempt to compile a frame since it forgot last."""
    from torch._dynamo.utils import get_compilation_metrics

    return [vars(metrics) for metrics in get_compilation_metrics()]


@functools.cache
def keep_out_of_dynamo(module: str) -> None:
    """From now on, Dynamo neither compiles nor counts what is called of a package that watches a program."""
    from torch._dynamo import trace_rules

    trace_rules.add(module)


def dynamo_same(eager: torch.Tensor, compiled: torch.Tensor, wide: torch.Tensor) -> bool:
    """The check of PyTorch's own benchmarks and minifier: closeness, else the error against a float64 run."""
    from torch._dynamo.utils import same

    silent: Callable[..., None] = lambda *_, **__: None  # noqa: E731
    return same(eager.detach(), compiled.detach(), wide.detach(), equal_nan=True, log_error=silent)
