"""The local audit: each operator of the compiled graphs judged alone, on what the compiled run itself gave it.

Nothing amplifies or hides an error there, so that a wrong kernel is seen where the program's output looks right, and
a wrong output is traced to the operator that made it. Returning every intermediate changes what Inductor fuses: a
program that is wrong may have no suspect, and a suspect may be right in the unmodified program. What goes wrong before
there is an ATen graph (Dynamo, autograd, decompositions, passes over the joint graph) has no suspect either.
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
from eqfuzz.oracle.audit.single_operator import Disagreement, SingleOperatorResult, judge_alone
from eqfuzz.oracle.audit.source_location import SourceLocation, place_of
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


@dataclasses.dataclass(frozen=True)
class Suspect:
    """An operator whose compiled value is wrong for the operands that the compiled run gave it.

    ``graph`` is its number in the order of compilation, ``kind`` ``forward``, ``backward`` or ``inference``. ``place``
    is the program's statement that it came from. ``expression`` shows it with its operands. ``half`` says that numbers
    of half precision go in or come out.
    """

    operator: str
    expression: str
    graph: int
    kind: str
    node: str
    place: SourceLocation
    half: bool
    found: Disagreement

    def in_words(self) -> str:
        """One line: the operator, the statement it came from, what is wrong."""
        where = f"line {self.place.line} `{self.place.text}`" if self.place.line else "a line that torch does not know"
        return f"{self.operator} of {where}: {self.found.message}"

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Suspect:
        return cls(**{**data, "place": SourceLocation(**data["place"]), "found": Disagreement.from_json(data["found"])})


@dataclasses.dataclass(frozen=True)
class Audit:
    """What an audit found. ``audited`` counts operators judged, ``skipped`` those that were not, by the reason."""

    suspects: tuple[Suspect, ...]
    graphs: int
    audited: int
    skipped: dict[str, int]
    raised: str = ""

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Audit:
        return cls(**{**data, "suspects": tuple(Suspect.from_json(suspect) for suspect in data["suspects"])})


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

    The keyword arguments are those of ``torch.compile``. What a half-precision operator is suspected of counts only if
    it is wrong, too, when Inductor rounds between fused operators. Raises only what ``make_callable`` raises.
    """

    def look() -> Audit:
        return _look(make_callable, calls, mode, options or {}, dynamic, fullgraph, seed)

    found = look()
    if not any(suspect.half for suspect in found.suspects):
        return found
    with rounding_as_eager():
        again = {(suspect.graph, suspect.node) for suspect in look().suspects}
    kept = [s for s in found.suspects if not s.half or (s.graph, s.node) in again]
    return dataclasses.replace(found, suspects=tuple(kept))


def _look(
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
    words = "" if raised is None else f"{raised.type}: {raised.message}"
    return Audit(tuple(suspects), len(recorder.graphs) + len(without), audited, dict(+skipped), words)


class _GraphAudit:
    """One graph's operators judged over the runs of it that were kept; the first run that shows an error counts."""

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
        given = iter(run.inputs)
        for step in self.graph.steps:
            if step.op == "placeholder":
                values[step.name] = next(given)
            elif step.op == "call_function" and step.name not in self.suspects:
                self._judge_step(step, run, values)

    def _judge_step(self, step: GraphNode, run: GraphRun, values: dict[str, Any]) -> None:
        if isinstance(step.target, HigherOrderOperator):
            self.unjudged[step.name] = "a higher-order operator"
            return
        if any(ref.name not in values for ref in _refs(step)):
            if step.is_operator:
                self.unjudged[step.name] = "an operand is not known"
            return
        args, kwargs = _filled(step, values)
        if not step.is_operator:
            # Arithmetic on sizes, or one of several results that is no tensor.
            if step.name not in values:
                values[step.name] = step.target(*args, **kwargs)
            return
        written = written_operand(step)
        if written is not None and written in run.after:
            source = args[1].to(values[written].dtype).expand(values[written].shape)
            result = judge_alone(_CLONE, (source,), {}, {0: run.after[written]}, self.seed)
            self._take(step, result, values)
        elif step.target is AS_STRIDED:
            self.unjudged[step.name] = "its meaning depends on the strides of its operand"
        elif not returns_operand(step.target):
            result = judge_alone(step.target, args, kwargs, self._compiled(step, values), self.seed)
            values.setdefault(step.name, result.value)
            if schema_of(step.target).returns:
                self._take(step, result, values)
        elif schema_of(step.target).is_mutable:
            self.unjudged[step.name] = "it writes to its operand"
        else:
            # Inductor may have laid out the operand so that no view of this shape exists: the numbers are the same.
            view = torch.ops.aten.reshape.default if step.target is torch.ops.aten.view.default else step.target
            values[step.name] = view(*args, **kwargs)

    def _take(self, step: GraphNode, result: SingleOperatorResult, values: dict[str, Any]) -> None:
        if result.unjudged:
            self.unjudged[step.name] = result.unjudged
            return
        self.judged.add(step.name)
        if result.wrong is not None:
            place = place_of(step.trace)
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
        near = [values[ref.name] for ref in _refs(step)] + list(self._compiled(step, values).values())
        return any(isinstance(value, torch.Tensor) and value.dtype in HALVES for value in near)

    def _compiled(self, step: GraphNode, values: dict[str, Any]) -> dict[int, torch.Tensor]:
        if step.name in values:
            return {0: values[step.name]}
        return {part: values[name] for part, name in self._parts.get(step.name, {}).items() if name in values}

    def _expression(self, step: GraphNode, depth: int) -> str:
        """The operator with its operands written out, views and all, ``depth`` calls deep."""

        def shown(value: Any) -> str:
            if isinstance(value, Ref):
                inner = self._steps[value.name]
                return self._expression(inner, depth - 1) if inner.op == "call_function" and depth > 1 else inner.name
            if isinstance(value, (list, tuple)):
                return f"[{', '.join(map(shown, value))}]"
            return str(value)

        operands = [shown(value) for value in step.args]
        operands += [f"{key}={shown(value)}" for key, value in step.kwargs.items()]
        name = str(step.target).removeprefix("aten.") if step.is_operator else getattr(step.target, "__name__", "")
        return f"{name.removesuffix('.default')}({', '.join(operands)})"


def _refs(step: GraphNode) -> list[Ref]:
    return [leaf for leaf in tree_leaves((step.args, step.kwargs)) if isinstance(leaf, Ref)]


def _filled(step: GraphNode, values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return tree_map(lambda leaf: values[leaf.name] if isinstance(leaf, Ref) else leaf, (step.args, step.kwargs))


def _parts(steps: Sequence[GraphNode]) -> dict[str, dict[int, str]]:
    """For each operator with several results: the step that takes out which of them."""
    parts: dict[str, dict[int, str]] = {}
    for step in steps:
        if step.target is operator.getitem and isinstance(step.args[0], Ref) and isinstance(step.args[1], int):
            parts.setdefault(step.args[0].name, {})[step.args[1]] = step.name
    return parts
