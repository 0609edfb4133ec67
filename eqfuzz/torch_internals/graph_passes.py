"""Changes by one pass over Inductor's graphs: the patterns that it replaces, the operators that it removes."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any
from unittest import mock

import torch

from eqfuzz.torch_internals.bisector import application
from eqfuzz.torch_internals.contract import GRAPH_PASSES, lacks
from eqfuzz.torch_internals.options import without_graph_caches

PASSES = ("pre_grad_passes", "joint_graph_passes", "post_grad_passes")
"""Subsystems of torch's bisector whose applications are passes over a graph."""


@dataclasses.dataclass
class Changes:
    """``patterns`` are named by their replacements, in the order of their first applications."""

    patterns: list[str] = dataclasses.field(default_factory=list)
    removed: Counter[str] = dataclasses.field(default_factory=Counter)


def change_of(detail: str, is_right: Callable[[], bool]) -> str:
    """What of the pass that torch's bisector calls ``detail`` does it, in words; empty where that cannot be known.

    ``is_right`` compiles and says whether that came out well: it is asked once, and once more for each of several
    patterns. The pattern is named without which it comes out well; where a single one does not do it all are. A pass
    without patterns (folding constants, leaving out what does nothing) is named by the operators that it took out.
    """
    if any(map(lacks, GRAPH_PASSES)):
        return ""
    with without_graph_caches():
        with watched_pass(detail) as seen:
            is_right()
        for pattern in seen.patterns if len(seen.patterns) > 1 else ():
            with watched_pass(detail, without={pattern}):
                if is_right():
                    return pattern
    return ", ".join(sorted(seen.patterns or seen.removed))


@contextlib.contextmanager
def pass_hook(seen: Callable[[str, torch.fx.Graph], None]) -> Iterator[None]:
    """Context in which ``seen`` is called after each pass over a graph, with torch's name of the pass."""
    from torch.fx.passes.graph_transform_observer import GraphTransformObserver

    def observing(apply: Callable[..., Any]) -> Callable[..., Any]:
        def observed(self: Any, pass_fn: Callable[..., Any]) -> Any:
            result = apply(self, pass_fn)
            seen(self.passname, self.gm.graph)
            return result

        return observed

    with contextlib.ExitStack() as stack:
        for name in ("apply_graph_pass", "apply_gm_pass"):
            observed = observing(getattr(GraphTransformObserver, name))
            stack.enter_context(mock.patch.object(GraphTransformObserver, name, observed))
        yield


@contextlib.contextmanager
def watched_pass(detail: str, without: Collection[str] = ()) -> Iterator[Changes]:
    """Context that records the changes by a pass; its patterns whose names are in ``without`` are not applied."""
    from torch._inductor import pattern_matcher
    from torch.fx.passes.graph_transform_observer import GraphTransformObserver

    seen = Changes()
    inside: list[Counter[str]] = []

    def entering(enter: Callable[..., Any]) -> Callable[..., Any]:
        def observed(self: Any) -> Any:
            if application(self.passname) == application(detail):
                inside.append(_operators(self.gm))
            return enter(self)

        return observed

    def leaving(leave: Callable[..., Any]) -> Callable[..., Any]:
        def observed(self: Any, *exception: Any) -> Any:
            if inside and application(self.passname) == application(detail):
                seen.removed.update(inside.pop() - _operators(self.gm))
            return leave(self, *exception)

        return observed

    def choosing(apply: Callable[..., None]) -> Callable[..., None]:
        def chosen(self: Any, match: Any, graph: torch.fx.Graph, node: torch.fx.Node) -> None:
            if inside:
                name = _replacement(self, match)
                if name not in seen.patterns:
                    seen.patterns.append(name)
                if name in without:
                    return
            apply(self, match, graph, node)

        return chosen

    entries = [pattern_matcher.LoweringPatternEntry, pattern_matcher.GraphPatternEntry]
    with contextlib.ExitStack() as stack:
        for name, around in (("__enter__", entering), ("__exit__", leaving)):
            observed = around(getattr(GraphTransformObserver, name))
            stack.enter_context(mock.patch.object(GraphTransformObserver, name, observed))
        for entry in (*entries, pattern_matcher.ReplacementPatternEntry):
            stack.enter_context(mock.patch.object(entry, "apply", choosing(entry.apply)))
        yield seen


def _replacement(entry: Any, match: Any) -> str:
    """The name of the function that writes the replacement, or the operators in it."""
    handler = getattr(entry, "handler", None)
    while isinstance(handler, functools.partial):
        handler = handler.func
    if handler is not None:
        return getattr(handler, "__name__", type(handler).__name__)
    written = _operators(match.replacement_graph) if match.replacement_graph is not None else ()
    return " + ".join(sorted(written)) or getattr(entry, "pattern_name", None) or "a pattern"


def _operators(module: torch.fx.GraphModule) -> Counter[str]:
    return Counter(_name(node.target) for node in module.graph.nodes if node.op == "call_function")


def _name(target: Any) -> str:
    """``mul`` of ``aten.mul.Tensor``; of other functions their name."""
    if isinstance(target, torch._ops.OpOverload):
        return target.overloadpacket.__name__
    return getattr(target, "__name__", str(target))
