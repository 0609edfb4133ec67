"""The graphs between the compiler's parts and passes, kept while it compiles, so that compiled code can stop at one.

One compilation keeps each graph of Dynamo at every border: as captured, after each pass before AOTAutograd, as traced
with its backward and decomposed, after each joint pass, partitioned, after each pass over forward and backward. What
``torch.compile`` returns can then be run as if the compiler ended there: the graph at the border is interpreted, and
all around it is compiled code.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from unittest import mock

import torch
from torch import fx

from eqfuzz.torch_internals.inductor import takes_one_list
from eqfuzz.torch_internals.options import without_graph_caches
from eqfuzz.torch_internals.trees import tree_leaves


class Part(enum.Enum):
    """A part of the compiler that changes graphs, pass by pass.

    They change what Dynamo captured, then forward and backward pass in one graph, at last the graph of each.
    """

    CAPTURED = "captured"
    JOINT = "joint"
    FORWARD = "forward"
    BACKWARD = "backward"

    @property
    def subsystem(self) -> str:
        """What torch's bisector calls its passes."""
        return _SUBSYSTEMS[self]


_SUBSYSTEMS = {
    Part.CAPTURED: "pre_grad_passes",
    Part.JOINT: "joint_graph_passes",
    Part.FORWARD: "post_grad_passes",
    Part.BACKWARD: "post_grad_passes",
}


@dataclasses.dataclass(frozen=True)
class Border:
    """The place after so many changes by ``part``: 0 is where it begins, and ``END`` where it ends."""

    part: Part
    changes: int


END = -1


class GraphSnapshot:
    """A graph as it was at a border; ``after`` is the pass that changed it, empty where a part began."""

    def __init__(self, after: str, module: fx.GraphModule) -> None:
        self.after = after
        self.graph = fx.Graph()
        self.graph.output(self.graph.graph_copy(module.graph, {}))
        self.attributes = {
            node.target: _snapshot_of_attribute(module, str(node.target))
            for node in self.graph.nodes
            if node.op in ("get_attr", "call_module")
        }

    @property
    def names(self) -> list[str]:
        """Those of its inputs."""
        return [node.name for node in self.graph.nodes if node.op == "placeholder"]

    def run(self, inputs: Sequence[Any]) -> Any:
        """Interpret it."""
        return _SnapshotInterpreter(self).run(*inputs)


class _SnapshotInterpreter(fx.Interpreter):
    def __init__(self, snapshot: GraphSnapshot, *, garbage_collect_values: bool = True) -> None:
        super().__init__(torch.nn.Module(), garbage_collect_values, graph=snapshot.graph)
        self._attributes = snapshot.attributes

    def fetch_attr(self, target: str) -> Any:
        return self._attributes[target]


class GraphHistory:
    """What one graph of Dynamo became: the graphs of each part by the number of changes.

    ``outputs`` is how many outputs of the joint graph belong to the forward pass; None where there is no backward pass.
    """

    def __init__(self) -> None:
        self.graphs: dict[Part, list[GraphSnapshot]] = {}
        self.outputs: int | None = None
        self._identity: list[tuple[Any, ...]] = []
        self._in_joint: list[dict[fx.Node, Any]] = []

    def begin(self, part: Part, module: fx.GraphModule) -> None:
        """Keep what ``part`` begins with."""
        self._identity = _identity(module.graph)
        self.graphs[part] = [GraphSnapshot("", module)]

    def add(self, part: Part, after: str, module: fx.GraphModule) -> None:
        """Keep the graph if the pass ``after`` has changed it."""
        identity = _identity(module.graph)
        if len(identity) != len(self._identity) or any(
            a is not b
            for one, other in zip(identity, self._identity, strict=True)
            for a, b in zip(one, other, strict=True)
        ):
            self._identity = identity
            self.graphs[part].append(GraphSnapshot(after, module))

    def run(self, part: Part, border: Border, inputs: list[Any]) -> Any:
        """Run the forward or the backward graph with ``inputs`` as at ``border``."""
        if border.part is Part.JOINT:
            snapshot = self.graphs[Part.JOINT][border.changes]
            if self.outputs is None:
                return snapshot.run(inputs)
            values = dict(zip(self.graphs[part][0].names, inputs, strict=True))
            return self._forward(snapshot, values) if part is Part.FORWARD else self._backward(snapshot, values)
        # Between two parts a pair of graphs lies at one border: the backward graph is changed after the forward graph.
        changes = border.changes if part is border.part else END if part is Part.FORWARD else 0
        return self.graphs[part][changes].run(inputs)

    def _forward(self, snapshot: GraphSnapshot, values: Mapping[str, Any]) -> list[Any]:
        """Outputs of the joint graph's forward pass; what else compiled code saves is not read at this border."""
        interpreter = _SnapshotInterpreter(snapshot, garbage_collect_values=False)
        later = _after_tangents(snapshot.graph)
        for node in snapshot.graph.nodes:
            if node not in later and node.op != "output":
                interpreter.env[node] = values[node.name] if node.op == "placeholder" else interpreter.run_node(node)
        self._in_joint.append(interpreter.env)
        outputs = [_read(interpreter.env, value) for value in _outputs(snapshot.graph)[: self.outputs]]
        saved = _outputs(self.graphs[Part.FORWARD][0].graph)[len(outputs) :]
        return outputs + [_placeholder_of(value) for value in saved]

    def _backward(self, snapshot: GraphSnapshot, values: Mapping[str, Any]) -> list[Any]:
        interpreter = _SnapshotInterpreter(snapshot, garbage_collect_values=False)
        interpreter.env = self._in_joint.pop()
        for node in snapshot.graph.nodes:
            if node not in interpreter.env and node.op != "output":
                interpreter.env[node] = (
                    values.get(node.name) if node.op == "placeholder" else interpreter.run_node(node)
                )
        return [_read(interpreter.env, value) for value in _outputs(snapshot.graph)[self.outputs :]]


class GraphBorders:
    """Keeps the graphs of what is compiled with Inductor in ``compiling()``.

    ``stops`` has the borders at which graphs of Dynamo stop, by their number; those that are missing run to their end.
    With ``code=False`` nothing is lowered to code, and every graph stops at its last border.
    """

    def __init__(self, *, code: bool = True) -> None:
        self.histories: list[GraphHistory] = []
        self.stops: dict[int, Border] = {}
        self._code = code
        self._open: list[tuple[GraphHistory, Part, fx.GraphModule]] = []
        self._passes: list[str] = []
        self._is_inside = False
        self._has_ended = False

    @contextlib.contextmanager
    def compiling(self) -> Iterator[None]:
        """The context in which graphs are kept. Backward passes may be compiled late, so let it last as long."""
        from torch._inductor import compile_fx
        from torch._inductor.graph import GraphLowering
        from torch.fx.passes.graph_transform_observer import GraphTransformObserver

        replaced: list[tuple[Any, str, Callable[[Callable[..., Any]], Callable[..., Any]]]] = [
            (compile_fx, "compile_fx", self._whole),
            (compile_fx, "run_pre_grad_passes", self._captured),
            (compile_fx, "_recursive_joint_graph_passes", self._joint),
            (compile_fx, "partition_fn", self._partitioned),
            (GraphTransformObserver, "__enter__", self._before_pass),
            (GraphTransformObserver, "__exit__", self._after_pass),
        ]
        if not self._code:
            replaced.append((GraphLowering, "run", self._ended))
        with contextlib.ExitStack() as stack:
            stack.enter_context(without_graph_caches())
            for owner, name, around in replaced:
                stack.enter_context(mock.patch.object(owner, name, around(getattr(owner, name))))
            yield

    def _whole(self, compile_fx: Callable[..., Any]) -> Callable[..., Any]:
        from torch._inductor.compile_fx import compile_fx_inner

        def compiled(model: Any, example_inputs: Sequence[Any], **more: Any) -> Any:
            if self._is_inside or not isinstance(model, fx.GraphModule):
                return compile_fx(model, example_inputs, **more)
            number, history = len(self.histories), GraphHistory()
            self.histories.append(history)
            history.begin(Part.CAPTURED, model)
            inner = more.pop("inner_compile", compile_fx_inner)
            self._is_inside = True
            try:
                compiled_graph = compile_fx(
                    model, example_inputs, inner_compile=self._inner(number, history, inner), **more
                )
            finally:
                self._is_inside = False

            def run(*inputs: Any) -> Any:
                border = self.stops.get(number)
                if border is not None and border.part is Part.CAPTURED:
                    return history.graphs[Part.CAPTURED][border.changes].run(inputs)
                return compiled_graph(*inputs)

            return run

        return compiled

    def _captured(self, passes: Callable[..., Any]) -> Callable[..., Any]:
        def observed(module: fx.GraphModule, example_inputs: Sequence[Any]) -> Any:
            history = self.histories[-1]
            with self._within(history, Part.CAPTURED, module):
                changed = passes(module, example_inputs)
            history.add(Part.CAPTURED, "", changed)
            return changed

        return observed

    def _joint(self, passes: Callable[..., Any]) -> Callable[..., Any]:
        def observed(module: fx.GraphModule, *args: Any, **more: Any) -> Any:
            if self._open or not self._is_inside:  # of a graph within a graph
                return passes(module, *args, **more)
            history = self.histories[-1]
            history.begin(Part.JOINT, module)
            with self._within(history, Part.JOINT, module):
                changed = passes(module, *args, **more)
            history.add(Part.JOINT, "", changed)
            return changed

        return observed

    def _partitioned(self, partition: Callable[..., Any]) -> Callable[..., Any]:
        def observed(module: fx.GraphModule, joint_inputs: Sequence[Any], **more: Any) -> Any:
            if not self._open and self._is_inside:
                self.histories[-1].outputs = more["num_fwd_outputs"]
            return partition(module, joint_inputs, **more)

        return observed

    def _inner(self, number: int, history: GraphHistory, inner: Callable[..., Any]) -> Callable[..., Any]:
        def compile_inner(module: fx.GraphModule, example_inputs: Sequence[Any], **more: Any) -> Any:
            part = Part.BACKWARD if more.get("is_backward") else Part.FORWARD
            history.begin(part, module)
            code: Callable[[list[Any]], Any] | None = None
            self._has_ended = False
            with self._within(history, part, module):
                try:
                    code = inner(module, example_inputs, **more)
                except Exception:
                    if not self._has_ended:
                        raise

            def run(inputs: list[Any]) -> Any:
                border = self.stops.get(number)
                if border is None and code is not None:
                    return code(inputs)
                own = list(inputs)
                inputs.clear()
                with torch.no_grad():
                    return history.run(part, border or Border(part, END), own)

            return takes_one_list(run)

        return compile_inner

    @contextlib.contextmanager
    def _within(self, history: GraphHistory, part: Part, module: fx.GraphModule) -> Iterator[None]:
        self._open.append((history, part, module))
        try:
            yield
        finally:
            self._open.pop()

    def _ended(self, _: Callable[..., Any]) -> Callable[..., Any]:
        def run(*_: Any) -> Any:
            self._has_ended = True
            raise _NoCode

        return run

    def _before_pass(self, enter: Callable[..., Any]) -> Callable[..., Any]:
        def observed(observer: Any) -> Any:
            if self._open:
                history, part, module = self._open[-1]
                if not self._passes:
                    history.add(part, "", module)
                self._passes.append(observer.passname)
            return enter(observer)

        return observed

    def _after_pass(self, leave: Callable[..., Any]) -> Callable[..., Any]:
        def observed(observer: Any, *exception: Any) -> Any:
            result = leave(observer, *exception)
            if self._open and self._passes:
                name = self._passes.pop()
                history, part, module = self._open[-1]
                if not self._passes and exception[0] is None:
                    history.add(part, name, module)
            return result

        return observed


class _NoCode(Exception):
    """Ends a compilation before a graph is lowered."""


def _snapshot_of_attribute(module: fx.GraphModule, target: str) -> Any:
    value: Any = module
    for name in target.split("."):
        value = getattr(value, name)
    # Passes change the graphs of control flow in place.
    return fx.GraphModule(value, _copied(value.graph)) if isinstance(value, fx.GraphModule) else value


def _copied(graph: fx.Graph) -> fx.Graph:
    copy = fx.Graph()
    copy.output(copy.graph_copy(graph, {}))
    return copy


def _identity(graph: fx.Graph) -> list[tuple[Any, ...]]:
    """The same objects as long as no node was added, removed, moved or changed."""
    return [(node, node.target, node.args, node.kwargs) for node in graph.nodes]


def _outputs(graph: fx.Graph) -> list[Any]:
    return tree_leaves(graph.output_node().args)


def _after_tangents(graph: fx.Graph) -> set[fx.Node]:
    """The nodes that depend on what the backward pass begins with."""
    later: set[fx.Node] = set()
    for node in graph.nodes:
        is_tangent = node.op == "placeholder" and node.name.startswith("tangents")
        if is_tangent or any(operand in later for operand in node.all_input_nodes):
            later.add(node)
    return later


def _read(env: Mapping[fx.Node, Any], value: Any) -> Any:
    return env[value] if isinstance(value, fx.Node) else value


def _placeholder_of(value: Any) -> Any:
    """Something of the type of a saved value."""
    described = value.meta.get("val") if isinstance(value, fx.Node) else value
    return torch.zeros(()) if isinstance(described, torch.Tensor) else 1
