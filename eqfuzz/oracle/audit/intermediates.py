"""Recording of all intermediates of compiled graphs: Inductor compiles graphs that return every value they compute."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from eqfuzz.oracle.observe.observer import snapshot
from eqfuzz.torch_internals.inductor import forget_output_strides, takes_one_list
from eqfuzz.torch_internals.operators import OpOverload, schema_of
from eqfuzz.torch_internals.trees import tree_map_only

MAX_RUNS = 4
"""How many runs of one graph are recorded: a loop may run it a thousand times."""

AS_STRIDED = torch.ops.aten.as_strided.default


@dataclasses.dataclass(frozen=True)
class Ref:
    """An operand that another step computed."""

    name: str


@dataclasses.dataclass(frozen=True)
class GraphNode:
    """One node of a graph. ``op`` is as in fx; ``args`` and ``kwargs`` have a ``Ref`` for each node.

    ``trace`` is the stack trace of the program's statement that it stems from; "" if torch has none.
    """

    name: str
    op: str
    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    trace: str

    @property
    def is_operator(self) -> bool:
        return self.op == "call_function" and isinstance(self.target, OpOverload)


@dataclasses.dataclass(frozen=True)
class GraphRun:
    """One run of a compiled graph.

    ``inputs`` are those before the run, in the order of the placeholders; ``after`` are those that the graph writes to,
    after the run, by name. ``values`` are the intermediates by name.
    """

    inputs: list[Any]
    after: dict[str, Any]
    values: dict[str, torch.Tensor]


@dataclasses.dataclass(frozen=True)
class RecordedGraph:
    """A compiled graph and its first runs. ``kind`` is ``forward``, ``backward`` or ``inference``."""

    number: int
    kind: str
    steps: tuple[GraphNode, ...]
    constants: dict[str, Any]
    runs: list[GraphRun]


class GraphRecorder:
    """Wraps the compilation of single graphs; graphs whose numbers are in ``without`` are not changed.

    ``failed`` is the number of the changed graph whose compilation failed; None if none did.
    """

    def __init__(self, without: Sequence[int] = ()) -> None:
        self.graphs: list[RecordedGraph] = []
        self.failed: int | None = None
        self._without = frozenset(without)
        self._count = 0

    def wrap(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        def compile_graph(graph: GraphModule, example_inputs: Sequence[Any], **more: Any) -> Any:
            number, self._count = self._count, self._count + 1
            if number in self._without:
                return inner(graph, example_inputs, **more)
            kind = "backward" if more.get("is_backward") else "inference" if more.get("is_inference") else "forward"
            recorded = RecordedGraph(number, kind, *_steps(graph), runs=[])
            count, exposed = _expose(graph)
            try:
                compiled = inner(graph, example_inputs, **more)
            except Exception:
                self.failed = number
                raise
            forget_output_strides(count)
            self.graphs.append(recorded)
            return _recording(compiled, recorded, count, exposed)

        return compile_graph


def _steps(graph: GraphModule) -> tuple[tuple[GraphNode, ...], dict[str, Any]]:
    steps, constants = [], {}
    for node in graph.graph.nodes:
        if node.op == "output":
            continue
        args, kwargs = tree_map_only(Node, lambda other: Ref(other.name), (node.args, node.kwargs))
        steps.append(GraphNode(node.name, node.op, node.target, args, kwargs, node.meta.get("stack_trace") or ""))
        if node.op == "get_attr":
            constants[node.name] = getattr(graph, node.target, None)
    return tuple(steps), constants


def _expose(graph: GraphModule) -> tuple[int, list[str]]:
    """Append every intermediate tensor to the outputs. Returns the number of outputs before and the new ones' names."""
    output = next(iter(reversed(graph.graph.nodes)))
    (returned,) = output.args
    added = [node for node in graph.graph.nodes if _is_intermediate(node)]
    output.args = ((*returned, *added),)
    graph.recompile()
    return len(returned), [node.name for node in added]


def _is_intermediate(node: Node) -> bool:
    """Whether the node computes a new dense tensor. Views are recomputed, and tensors written in place are inputs."""
    value = node.meta.get("val")
    if node.op != "call_function" or not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    return not (isinstance(node.target, OpOverload) and returns_operand(node.target))


def returns_operand(func: OpOverload) -> bool:
    """Whether a result shares memory with an operand: a view, or the operand itself after a write.

    False for ``as_strided``: Inductor may choose another layout for its operand, so its value is recorded.
    """
    return func is not AS_STRIDED and any(value.alias_info is not None for value in schema_of(func).returns)


def written_operand(step: GraphNode) -> str | None:
    """The name of the graph input that ``copy_`` writes to at the end of a graph."""
    if step.target is torch.ops.aten.copy_.default and isinstance(step.args[0], Ref):
        return step.args[0].name
    return None


def _recording(
    compiled: Callable[..., Any], recorded: RecordedGraph, count: int, exposed: list[str]
) -> Callable[..., Any]:
    """``compiled`` with its original outputs, which records the added ones."""
    placeholders = [step.name for step in recorded.steps if step.op == "placeholder"]
    written = {name for step in recorded.steps if (name := written_operand(step)) is not None}

    def run(inputs: list[Any]) -> Any:
        if len(recorded.runs) >= MAX_RUNS:
            return tuple(compiled(inputs)[:count])
        targets = {name: value for name, value in zip(placeholders, inputs, strict=True) if name in written}
        before = [_copied(value) for value in inputs]
        outputs = list(compiled(inputs))
        after = {name: _copied(value) for name, value in targets.items()}
        values = {name: _copied(value) for name, value in zip(exposed, outputs[count:], strict=True)}
        recorded.runs.append(GraphRun(before, after, values))
        return tuple(outputs[:count])

    return takes_one_list(run)


def _copied(value: Any) -> Any:
    copy = snapshot(value)
    return copy.detach().cpu() if isinstance(copy, torch.Tensor) else copy
