"""The nodes of a program graph: each leaf, operator and return with what it depends on, in topological order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from eqfuzz.generate.dag.graph.graph import (
    Assign,
    Compound,
    Effect,
    Expr,
    Function,
    Graph,
    Return,
    Statement,
    Value,
    expressions,
)
from eqfuzz.generate.dag.values.spec import Spec

LEAVES = ("input", "parameter", "buffer")
"""Kinds of nodes that depend on nothing."""


@dataclasses.dataclass(frozen=True)
class Node:
    """A node.

    Attributes:
        id: Unique in its graph.
        kind: One of LEAVES, "operator", "alias" (another name of a value), "write" (to the memory of a tensor), "block"
            (the header of control flow), "function", "argument" (what a header or a function binds) or "return".
        name: That of the variable; empty for a value without one.
        operator: Name of the operator; empty for other kinds.
        specs: Those of the results.
        inputs: Ids of the nodes that it depends on.
        depth: Length of the longest chain of operators that ends with it.
        blocks: Ids of the blocks around it, the outermost first.
    """

    id: str
    kind: str
    name: str
    operator: str
    specs: tuple[Spec, ...]
    inputs: tuple[str, ...]
    depth: int
    blocks: tuple[str, ...] = ()

    def __str__(self) -> str:
        """``n3: h = torch.add -> [2, 3] float32 (depth 1) <- n1, n2``."""
        what = f"{self.operator} (writes)" if self.kind == "write" else self.operator or self.kind
        named = f"{self.name} = {what}" if self.name else what
        results = f" -> {', '.join(map(str, self.specs))}" if self.specs else ""
        inputs = f" <- {', '.join(self.inputs)}" if self.inputs else ""
        return f"{self.id}: {named}{results} (depth {self.depth}){inputs}"


@dataclasses.dataclass(frozen=True)
class NodeGraph:
    """The nodes by id, each after those that it depends on. ``root`` is the id of the node that returns the result.

    What a loop carries from one iteration to the next is left out, so that there are no cycles.
    """

    nodes: dict[str, Node]
    root: str

    @classmethod
    def of(cls, graph: Graph) -> NodeGraph:
        """The nodes of ``graph``; variables have names once its code was written."""
        return _NodeCollector(graph).collect()

    @property
    def topological_order(self) -> list[str]:
        """The ids of all nodes, the root last."""
        return list(self.nodes)

    @property
    def leaves(self) -> list[str]:
        """The ids of inputs, parameters and buffers."""
        return [node.id for node in self.nodes.values() if node.kind in LEAVES]

    @property
    def depth(self) -> int:
        """The length of the longest chain of operators."""
        return max(node.depth for node in self.nodes.values())


class _NodeCollector:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes: dict[str, Node] = {}
        self._definitions: dict[Value, tuple[str, ...]] = {}
        """The nodes that may have set a value: several after a branch."""
        self._blocks: tuple[str, ...] = ()

    def collect(self) -> NodeGraph:
        graph = self._graph
        used = set(graph.result.read).union(*(expr.read for expr in expressions(graph.block.statements)))
        for leaf in graph.leaves:
            if leaf.value in used:
                self._define(leaf.value, self._add(leaf.kind, values=(leaf.value,)))
        self._statements(graph.block.statements)
        root = self._add("return", values=graph.result.read, expr=graph.result)
        return NodeGraph(self._nodes, root)

    def _add(
        self, kind: str, *, values: Sequence[Value] = (), expr: Expr | None = None, after: Sequence[str] = ()
    ) -> str:
        inputs = dict.fromkeys([*after, *(self._read(expr) if expr is not None else ())])
        operator = expr.operator if expr is not None else ""
        depth = max((self._nodes[one].depth for one in inputs), default=0) + bool(operator and kind != "block")
        name = "" if kind == "return" else ", ".join(filter(None, (self._name(value) for value in values)))
        specs = () if kind == "function" else tuple(value.spec for value in values)
        node = Node(f"n{len(self._nodes) + 1}", kind, name, operator, specs, tuple(inputs), depth, self._blocks)
        self._nodes[node.id] = node
        return node.id

    def _name(self, value: Value) -> str:
        return self._graph.names.get(value, value.name)

    def _read(self, expr: Expr) -> Iterable[str]:
        values = [*expr.read, *([expr.function.name] if expr.function is not None else [])]
        return [node for value in values for node in self._definitions.get(value, ())]

    def _define(self, value: Value, *nodes: str) -> None:
        self._definitions[value] = nodes

    def _statements(self, statements: Sequence[Statement]) -> list[str]:
        """Add the nodes of the statements; returns those of the return statements among them."""
        returns: list[str] = []
        for statement in statements:
            match statement:
                case Assign(targets=targets, expr=expr):
                    node = self._add("operator" if expr.operator else "alias", values=targets, expr=expr)
                    for target in targets:
                        self._define(target, node)
                case Effect():
                    self._effect(statement)
                case Return(expr=expr):
                    returns.append(self._add("return", values=expr.read, expr=expr))
                case Compound():
                    returns += self._compound(statement)
                case Function():
                    self._function(statement)
        return returns

    def _effect(self, effect: Effect) -> None:
        target = effect.target
        node = self._add("write", values=(target,) if target is not None else (), expr=effect.expr)
        if target is None:
            return
        for value, nodes in self._definitions.items():
            if value.storage is target.storage and value is not target:
                self._definitions[value] = (*nodes, node)
        self._define(target, node)

    def _compound(self, compound: Compound) -> list[str]:
        header = self._add("block", expr=compound.header)
        outer, before = self._blocks, dict(self._definitions)
        self._blocks = (*outer, header)
        for value in compound.bound:
            self._define(value, self._add("argument", values=(value,), after=(header,)))
        returns = self._statements(compound.body.statements)
        after_body, self._definitions = self._definitions, dict(before)
        if compound.orelse is not None:
            returns += self._statements(compound.orelse.statements)
        for value, nodes in after_body.items():
            other = self._definitions.get(value, ())
            if nodes != other:  # which of them is the last, the header decides
                self._definitions[value] = tuple(dict.fromkeys((header, *nodes, *other)))
        self._blocks = outer
        return [header, *returns] if returns else []

    def _function(self, function: Function) -> None:
        outer, before = self._blocks, dict(self._definitions)
        header = self._add("function", values=(function.name,))
        self._blocks = (*outer, header)
        for value in function.parameters:
            self._define(value, self._add("argument", values=(value,), after=(header,)))
        returns = self._statements(function.body.statements)
        self._blocks, self._definitions = outer, before
        self._define(function.name, *returns)
