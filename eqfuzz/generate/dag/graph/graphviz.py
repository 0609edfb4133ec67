"""The data flow of a program as a Graphviz graph."""

from __future__ import annotations

from collections.abc import Sequence

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


def dot(graph: Graph, name: str) -> str:
    """The graph in the DOT language: inputs as boxes, operators as ellipses, blocks as clusters."""
    return _DotWriter(graph, name).text()


class _DotWriter:
    def __init__(self, graph: Graph, name: str) -> None:
        self._graph = graph
        self._name = name
        self._lines: list[str] = []
        self._node: dict[Value, str] = {}
        self._count = 0

    def text(self) -> str:
        used = {value for expr in _all_inputs(self._graph) for value in expr}
        for leaf in self._graph.leaves:
            if leaf.value in used:
                label = f"{leaf.value.name or leaf.kind}\\n{leaf.value.spec}"
                self._node[leaf.value] = self._add(label, "box")
        self._block(self._graph.block.statements)
        end = self._add("return", "doublecircle")
        self._edges(self._graph.result, end)
        body = "\n".join(f"  {line}" for line in self._lines)
        return f'digraph "{self._name}" {{\n  rankdir=TB;\n  node [fontname="sans-serif", fontsize=10];\n{body}\n}}\n'

    def _add(self, label: str, shape: str) -> str:
        self._count += 1
        text = label.replace('"', "'")
        self._lines.append(f'n{self._count} [label="{text}", shape={shape}];')
        return f"n{self._count}"

    def _block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            if isinstance(statement, Assign):
                spec = statement.targets[0].spec
                node = self._add(f"{statement.expr.operator or '='}\\n{spec}", "ellipse")
                self._edges(statement.expr, node)
                self._node |= dict.fromkeys(statement.targets, node)
            elif isinstance(statement, Effect):
                node = self._add(statement.expr.operator or "effect", "hexagon")
                self._edges(statement.expr, node)
                if statement.target is not None:
                    self._node[statement.target] = node
            elif isinstance(statement, Return):
                self._edges(statement.expr, self._add("return", "circle"))
            else:
                self._cluster(statement)

    def _cluster(self, statement: Compound | Function) -> None:
        header = statement.name.name_hint if isinstance(statement, Function) else statement.header.operator
        self._count += 1
        self._lines.append(f'subgraph cluster{self._count} {{ label="{header}"; style=rounded;')
        for value in statement.parameters if isinstance(statement, Function) else statement.bound:
            self._node[value] = self._add(f"{value.name_hint}\\n{value.spec}", "box")
        self._block(statement.body.statements)
        if isinstance(statement, Compound) and statement.orelse is not None:
            self._block(statement.orelse.statements)
        self._lines.append("}")

    def _edges(self, expr: Expr, node: str) -> None:
        for value in expr.read:
            if value in self._node:
                self._lines.append(f"{self._node[value]} -> {node};")


def _all_inputs(graph: Graph) -> list[tuple[Value, ...]]:
    return [graph.result.inputs, *(expr.read for expr in expressions(graph.block.statements))]
