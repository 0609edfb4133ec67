"""Whether a program reaches parts of the compiler: it is compiled up to the code, and their running is watched.

Runs in a child, as the target of a pool: a case with parts to ``watch`` is first run like any other.
"""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import torch

from eqfuzz.generate.llm.white_box import CompilerPart, HitSignal
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.jobs.case import Case
from eqfuzz.run.jobs.dispatch import run_case as run_any_case
from eqfuzz.run.jobs.stage_timer import Emit, StageTimer
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.inductor import code_hook, forget_output_strides, inductor_backend, takes_one_list
from eqfuzz.torch_internals.options import without_graph_caches
from eqfuzz.torch_internals.source_tree import MATCHER, PREPARES_PATTERNS, TRACES_PATTERNS, TRACKERS

WATCH = "watch"
STAGE = "compile"


def run_case(data: dict[str, Any], emit: Emit) -> None:
    """Run the case; if it is valid, emit which of the parts under ``watch`` it reaches."""
    watched = [CompilerPart.from_json(part) for part in data.pop(WATCH, [])]
    valid = True

    def told(event: dict[str, Any]) -> None:
        nonlocal valid
        valid = valid and event["event"] != "invalid"
        emit(event)

    run_any_case(data, told)
    if watched and valid:
        case = Case.from_json(data)
        StageTimer(emit).enter(STAGE, case.compile_seconds, variant=0)
        loaded = Loaded(case.program)
        names = reached(loaded, loaded.calls(case.seed), watched)
        emit({"event": "reached", "parts": names})


def reached(loaded: Loaded, calls: Sequence[Call], parts: Sequence[CompilerPart]) -> list[str]:
    """The names of those ``parts`` that Dynamo and Inductor reach when they compile the program for its calls.

    No kernel is built: each graph is compiled up to its code, and then run in eager.
    """
    watch = _CoverageProfiler(parts)
    backend = inductor_backend(_up_to_the_code, None, {}, None)
    forget_compiled_code()
    with DEFAULT_CONFIG.patched(), without_graph_caches(), watch:
        observe(loaded.instance, calls, transform=lambda target: torch.compile(target, backend=backend))
    return sorted(watch.reached)


class _CompileFinished(Exception):
    """Raised in place of building the generated code."""


def _stop(code: str) -> None:
    raise _CompileFinished


def _up_to_the_code(inner: Callable[..., Any]) -> Callable[..., Any]:
    def compile_graph(graph: torch.fx.GraphModule, example_inputs: Sequence[Any], **more: Any) -> Any:
        # The passes change the graph they are given; its constants must not be copied, which fake tensors do not take.
        kept = torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))
        try:
            with code_hook(_stop):
                inner(graph, example_inputs, **more)
        except Exception:  # ours, or the compiler's own failure: what was reached before is known by now
            forget_output_strides(0)

        def call(inputs: list[Any]) -> Any:
            results = kept(*inputs)
            inputs.clear()
            return results

        return takes_one_list(call)

    return compile_graph


class _CoverageProfiler:
    """A profiler for as long as the compiler works: it is told every Python function that is entered and left."""

    def __init__(self, parts: Sequence[CompilerPart]) -> None:
        self.reached: set[str] = set()
        self._parts = parts
        self._known: dict[types.CodeType, CompilerPart | None] = {}
        self._trackers = {
            (part.file.removesuffix(".py").replace("/", "."), part.label): part
            for part in parts
            if part.told is HitSignal.METHOD
        }
        self._graphs: dict[int, tuple[Any, str]] = {}
        self._preparing = 0
        self._tracing = 0
        self._before: Any = None

    def __enter__(self) -> _CoverageProfiler:
        self._before = sys.getprofile()
        sys.setprofile(self._tell)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _tell(self, frame: types.FrameType, event: str, result: Any) -> None:
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code not in self._known:
            self._known[code] = self._part_of(code)
        part = self._known[code]
        if part is None:
            if code.co_name == "__init__" and event == "call" and f"/torch/{TRACKERS}/" in code.co_filename:
                self._take_made(frame)
            elif code.co_filename.endswith(f"/torch/{MATCHER}"):
                step = 1 if event == "call" else -1
                self._preparing += step * (code.co_name in PREPARES_PATTERNS)
                self._tracing += step * (
                    code.co_name in TRACES_PATTERNS
                )  # the passes see the patterns' graphs, not the program's
            return
        if (
            self._preparing
            or part.name in self.reached
            or (self._tracing and part.told in (HitSignal.TRUE, HitSignal.CHANGED))
        ):
            return
        if part.told in (HitSignal.CALLED, HitSignal.METHOD):
            self.reached.add(part.name)
        elif part.told is HitSignal.TRUE:
            if event == "return" and result is True:
                self.reached.add(part.name)
        elif event == "call":
            graph = frame.f_locals.get(code.co_varnames[0])
            self._graphs[id(frame)] = graph, _written(graph)
        elif id(frame) in self._graphs:
            graph, before = self._graphs.pop(id(frame))
            if _written(graph) != before:
                self.reached.add(part.name)

    def _take_made(self, frame: types.FrameType) -> None:
        """A tracker is made, perhaps by the constructor of its base."""
        made = type(frame.f_locals.get("self"))
        part = self._trackers.get((made.__module__, made.__qualname__))
        if part is not None:
            self.reached.add(part.name)

    def _part_of(self, code: types.CodeType) -> CompilerPart | None:
        for part in self._parts:
            if code.co_filename.endswith(f"/{part.file}"):
                name = code.co_qualname if part.told is HitSignal.METHOD else code.co_name
                if name in part.watched and part.first <= code.co_firstlineno <= part.last:
                    return part
        return None


def _written(graph: Any) -> str:
    """A graph, or that of a module or of a match in it, as text that changes with it."""
    nodes = graph.nodes if isinstance(graph, torch.fx.Graph) else graph.graph.nodes
    return "\n".join(f"{node.name} {node.op} {node.target} {node.args} {node.kwargs}" for node in nodes)
