"""Local audit: each operator of the compiled graphs judged in isolation, on its operands in the compiled run.

Nothing amplifies or hides an error there, so a wrong kernel is detected even if the program's output looks right, and a
wrong output is traced to the operator that computed it. Returning every intermediate changes what Inductor fuses: a
wrong program may have no suspect, and a suspect may be right in the unmodified program. Errors made before there is an
ATen graph (in Dynamo, autograd, decompositions, passes over the joint graph) have no suspect either.
"""

from __future__ import annotations

import dataclasses
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch

from eqfuzz.oracle.audit.intermediates import (
    AS_STRIDED,
    GraphNode,
    GraphRecorder,
    GraphRun,
    RecordedGraph,
    Ref,
    returns_operand,
    written_operand,
)
from eqfuzz.oracle.audit.single_operator import SingleOperatorResult, judge_operator
from eqfuzz.oracle.audit.source_location import location_in
from eqfuzz.oracle.audit.suspect import Audit, Suspect
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.rounding_model import HALVES
from eqfuzz.program.call import Call
from eqfuzz.program.load import STATE_SEED
from eqfuzz.torch_internals.dynamo import forget_compiled_code
from eqfuzz.torch_internals.inductor import inductor_backend
from eqfuzz.torch_internals.operators import HigherOrderOperator, schema_of
from eqfuzz.torch_internals.options import rounding_as_eager, without_autograd_cache
from eqfuzz.torch_internals.trees import tree_leaves, tree_map

_CLONE = torch.ops.aten.clone.default
_MAX_FAILURES = 8
"""How many graphs may fail to compile with their intermediates as outputs before the audit continues without them."""


def audit(
    make_callable: Callable[[], Any],
    calls: Sequence[Call],
    *,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    dynamic: bool | None = None,
    fullgraph: bool = False,
    seed: int = STATE_SEED,
) -> Audit:
    """Compile with Inductor, call on every input set, gradients included, and judge each operator of each graph.

    The keyword arguments are those of ``torch.compile``. A half-precision suspect counts only if it is also wrong when
    Inductor rounds between fused operators. Raises only what ``make_callable`` raises.
    """

    def run() -> Audit:
        return _audit_once(make_callable, calls, mode, options or {}, dynamic, fullgraph, seed)

    first = run()
    if not any(suspect.half for suspect in first.suspects):
        return first
    with rounding_as_eager():
        again = {(suspect.graph, suspect.node) for suspect in run().suspects}
    suspects = [suspect for suspect in first.suspects if not suspect.half or (suspect.graph, suspect.node) in again]
    return dataclasses.replace(first, suspects=tuple(suspects))


def _audit_once(
    make_callable: Callable[[], Any],
    calls: Sequence[Call],
    mode: str | None,
    options: dict[str, Any],
    dynamic: bool | None,
    fullgraph: bool,
    seed: int,
) -> Audit:
    without: list[int] = []
    while True:
        recorder = GraphRecorder(without)
        backend = inductor_backend(recorder.wrap, mode, options, dynamic)

        def transform(target: Any, backend: Any = backend) -> Any:
            return torch.compile(target, backend=backend, dynamic=dynamic, fullgraph=fullgraph)

        forget_compiled_code()
        with without_autograd_cache():
            observed = observe(make_callable, calls, transform=transform, seed=seed)
        forget_compiled_code()
        if recorder.failed is None or len(without) >= _MAX_FAILURES:
            break
        without.append(recorder.failed)
    raised = next((call.raised for call in observed.calls if call.raised is not None), None)
    suspects: list[Suspect] = []
    skipped: Counter[str] = Counter({"its graph does not compile with all intermediates as outputs": len(without)})
    audited = 0
    for graph in recorder.graphs:
        judged = _GraphAudit(graph, seed)
        suspects += judged.suspects.values()
        audited += len(judged.judged)
        skipped.update(reason for name, reason in judged.unjudged.items() if name not in judged.judged)
    message = "" if raised is None else f"{raised.type}: {raised.message}"
    return Audit(tuple(suspects), len(recorder.graphs) + len(without), audited, dict(+skipped), message)


class _GraphAudit:
    """The operators of one graph, judged in each recorded run until one of them is wrong."""

    def __init__(self, graph: RecordedGraph, seed: int) -> None:
        self.graph = graph
        self.seed = seed
        self.suspects: dict[str, Suspect] = {}
        self.unjudged: dict[str, str] = {}
        self.judged: set[str] = set()
        self._steps = {step.name: step for step in graph.steps}
        self._parts = _parts(graph.steps)
        for run in graph.runs:
            self._judge_run(run)

    def _judge_run(self, run: GraphRun) -> None:
        values: dict[str, Any] = {**self.graph.constants, **run.values}
        inputs = iter(run.inputs)
        for step in self.graph.steps:
            if step.op == "placeholder":
                values[step.name] = next(inputs)
            elif step.op == "call_function" and step.name not in self.suspects:
                self._judge_step(step, run, values)

    def _judge_step(self, step: GraphNode, run: GraphRun, values: dict[str, Any]) -> None:
        if isinstance(step.target, HigherOrderOperator):
            self.unjudged[step.name] = "a higher-order operator"
            return
        if any(ref.name not in values for ref in _refs(step)):
            if step.is_operator:
                self.unjudged[step.name] = "an operand is unknown"
            return
        args, kwargs = _filled(step, values)
        if not step.is_operator:
            # Arithmetic on sizes, or the selection of one of several results.
            if step.name not in values:
                values[step.name] = step.target(*args, **kwargs)
            return
        written = written_operand(step)
        if written is not None and written in run.after:
            source = args[1].to(values[written].dtype).expand(values[written].shape)
            result = judge_operator(_CLONE, (source,), {}, {0: run.after[written]}, self.seed)
            self._record(step, result, values)
        elif step.target is AS_STRIDED:
            self.unjudged[step.name] = "its meaning depends on the strides of its operand"
        elif not returns_operand(step.target):
            result = judge_operator(step.target, args, kwargs, self._compiled(step, values), self.seed)
            values.setdefault(step.name, result.value)
            if schema_of(step.target).returns:
                self._record(step, result, values)
        elif schema_of(step.target).is_mutable:
            self.unjudged[step.name] = "it writes to its operand"
        else:
            # Inductor may have chosen a layout of which no view of this shape exists: the numbers are equal.
            view = torch.ops.aten.reshape.default if step.target is torch.ops.aten.view.default else step.target
            values[step.name] = view(*args, **kwargs)

    def _record(self, step: GraphNode, result: SingleOperatorResult, values: dict[str, Any]) -> None:
        if result.unjudged:
            self.unjudged[step.name] = result.unjudged
            return
        self.judged.add(step.name)
        if result.wrong is not None:
            place = location_in(step.trace)
            self.suspects[step.name] = Suspect(
                str(step.target),
                self._expression(step, 3),
                self.graph.number,
                self.graph.kind,
                step.name,
                place,
                self._is_half(step, values),
                result.wrong,
            )

    def _is_half(self, step: GraphNode, values: dict[str, Any]) -> bool:
        values_near = [values[ref.name] for ref in _refs(step)] + list(self._compiled(step, values).values())
        return any(isinstance(value, torch.Tensor) and value.dtype in HALVES for value in values_near)

    def _compiled(self, step: GraphNode, values: dict[str, Any]) -> dict[int, torch.Tensor]:
        if step.name in values:
            return {0: values[step.name]}
        return {part: values[name] for part, name in self._parts.get(step.name, {}).items() if name in values}

    def _expression(self, step: GraphNode, depth: int) -> str:
        """The operator with its operands written out, views included, ``depth`` calls deep."""

        def written(value: Any) -> str:
            if isinstance(value, Ref):
                inner = self._steps[value.name]
                return self._expression(inner, depth - 1) if inner.op == "call_function" and depth > 1 else inner.name
            if isinstance(value, (list, tuple)):
                return f"[{', '.join(map(written, value))}]"
            return str(value)

        operands = [written(value) for value in step.args]
        operands += [f"{key}={written(value)}" for key, value in step.kwargs.items()]
        name = str(step.target).removeprefix("aten.") if step.is_operator else getattr(step.target, "__name__", "")
        return f"{name.removesuffix('.default')}({', '.join(operands)})"


def _refs(step: GraphNode) -> list[Ref]:
    return [leaf for leaf in tree_leaves((step.args, step.kwargs)) if isinstance(leaf, Ref)]


def _filled(step: GraphNode, values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return tree_map(lambda leaf: values[leaf.name] if isinstance(leaf, Ref) else leaf, (step.args, step.kwargs))


def _parts(steps: Sequence[GraphNode]) -> dict[str, dict[int, str]]:
    """For each operator with several results: the position of a result to the step that selects it."""
    parts: dict[str, dict[int, str]] = {}
    for step in steps:
        if step.target is operator.getitem and isinstance(step.args[0], Ref) and isinstance(step.args[1], int):
            parts.setdefault(step.args[0].name, {})[step.args[1]] = step.name
    return parts
