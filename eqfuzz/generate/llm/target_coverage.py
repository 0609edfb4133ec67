"""Target coverage: which parts of the compiler a program reaches, by a profiler while it is compiled up to its code.

Imports torch; runs in a child process: a job with parts to watch is first run as usual.
"""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import torch

from eqfuzz.generate.llm.coverage_job import CoverageJob, PartsReached
from eqfuzz.generate.llm.white_box import CompilerPart, HitSignal
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.call import Call
from eqfuzz.program.load import Loaded
from eqfuzz.run.configs.named import DEFAULT_CONFIG
from eqfuzz.run.jobs.dispatch import run_program_job
from eqfuzz.run.jobs.stage_timer import StageTimer
from eqfuzz.run.messages.job import Emit, JobTarget
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.inductor import code_hook, forget_output_strides, inductor_backend, takes_one_list
from eqfuzz.torch_internals.options import without_graph_caches
from eqfuzz.torch_internals.source_tree import MATCHER, PREPARES_PATTERNS, TRACES_PATTERNS, TRACKERS

STAGE = "compile"


def run_coverage(job: CoverageJob, emit: Emit) -> None:
    """Run the job; if its program is valid, report which of the watched parts it reaches."""
    run = job.run
    if not run_program_job(run, emit) or not job.watched:
        return
    StageTimer(emit).enter(STAGE, run.limits.compile_s)
    loaded = Loaded(run.program)
    emit(PartsReached(parts=tuple(reached(loaded, loaded.calls(run.seed), job.watched))))


TARGET = JobTarget({CoverageJob: run_coverage})


def reached(loaded: Loaded, calls: Sequence[Call], parts: Sequence[CompilerPart]) -> list[str]:
    """The names of the ``parts`` that Dynamo and Inductor reach when they compile the program for its calls, sorted.

    No kernel is built: each graph is compiled up to its code, and then run in eager.
    """
    watch = _CoverageProfiler(parts)
    backend = inductor_backend(_without_building_kernels, None, {}, None)
    forget_compiled_code()
    with DEFAULT_CONFIG.patched(), without_graph_caches(), watch:
        observe(loaded.instance, calls, transform=lambda target: torch.compile(target, backend=backend))
    return sorted(watch.reached)


class _CompileFinished(Exception):
    """Raised in place of building the generated code."""


def _stop(code: str) -> None:
    raise _CompileFinished


def _without_building_kernels(inner: Callable[..., Any]) -> Callable[..., Any]:
    def compile_graph(graph: torch.fx.GraphModule, example_inputs: Sequence[Any], **more: Any) -> Any:
        # The passes modify the graph. Its constants are not copied: fake tensors do not support that.
        original = torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))
        try:
            with code_hook(_stop):
                inner(graph, example_inputs, **more)
        except Exception:  # _CompileFinished or a failure of the compiler: parts reached before are recorded
            forget_output_strides(0)

        def call(inputs: list[Any]) -> Any:
            results = original(*inputs)
            inputs.clear()
            return results

        return takes_one_list(call)

    return compile_graph


class _CoverageProfiler:
    """Context manager: a profiler of all Python calls and returns, which records the parts that are reached."""

    def __init__(self, parts: Sequence[CompilerPart]) -> None:
        self.reached: set[str] = set()
        self._parts = parts
        self._part_of_code: dict[types.CodeType, CompilerPart | None] = {}
        self._trackers = {
            (part.file.removesuffix(".py").replace("/", "."), part.label): part
            for part in parts
            if part.signal is HitSignal.METHOD
        }
        self._graphs: dict[int, tuple[Any, str]] = {}
        self._preparing = 0
        self._tracing = 0
        self._before: Any = None

    def __enter__(self) -> _CoverageProfiler:
        self._before = sys.getprofile()
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _profile(self, frame: types.FrameType, event: str, result: Any) -> None:
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code not in self._part_of_code:
            self._part_of_code[code] = self._part_of(code)
        part = self._part_of_code[code]
        if part is None:
            if code.co_name == "__init__" and event == "call" and f"/torch/{TRACKERS}/" in code.co_filename:
                self._record_tracker(frame)
            elif code.co_filename.endswith(f"/torch/{MATCHER}"):
                step = 1 if event == "call" else -1
                self._preparing += step * (code.co_name in PREPARES_PATTERNS)
                self._tracing += step * (
                    code.co_name in TRACES_PATTERNS
                )  # the passes get graphs of patterns, not of the program
            return
        if (
            self._preparing
            or part.name in self.reached
            or (self._tracing and part.signal in (HitSignal.TRUE, HitSignal.CHANGED))
        ):
            return
        if part.signal in (HitSignal.CALLED, HitSignal.METHOD):
            self.reached.add(part.name)
        elif part.signal is HitSignal.TRUE:
            if event == "return" and result is True:
                self.reached.add(part.name)
        elif event == "call":
            graph = frame.f_locals.get(code.co_varnames[0])
            self._graphs[id(frame)] = graph, _graph_text(graph)
        elif id(frame) in self._graphs:
            graph, before = self._graphs.pop(id(frame))
            if _graph_text(graph) != before:
                self.reached.add(part.name)

    def _record_tracker(self, frame: types.FrameType) -> None:
        """Record the class of a new variable tracker; the frame may be the constructor of a base class."""
        tracker = type(frame.f_locals.get("self"))
        part = self._trackers.get((tracker.__module__, tracker.__qualname__))
        if part is not None:
            self.reached.add(part.name)

    def _part_of(self, code: types.CodeType) -> CompilerPart | None:
        for part in self._parts:
            if code.co_filename.endswith(f"/{part.file}"):
                name = code.co_qualname if part.signal is HitSignal.METHOD else code.co_name
                if name in part.watched and part.first <= code.co_firstlineno <= part.last:
                    return part
        return None


def _graph_text(graph: Any) -> str:
    """The text of a graph, or of the graph of a module or match, to detect changes."""
    nodes = graph.nodes if isinstance(graph, torch.fx.Graph) else graph.graph.nodes
    return "\n".join(f"{node.name} {node.op} {node.target} {node.args} {node.kwargs}" for node in nodes)
