"""The data flow of a program as a Graphviz graph."""

from __future__ import annotations

from collections.abc import Iterable

from eqfuzz.generate.dag.graph.nodes import LEAVES, Node, NodeGraph

_SHAPES = {
    **dict.fromkeys((*LEAVES, "argument"), "box"),
    **dict.fromkeys(("operator", "alias"), "ellipse"),
    **dict.fromkeys(("block", "function"), "diamond"),
    "write": "hexagon",
    "return": "circle",
}


def dot(graph: NodeGraph, name: str) -> str:
    """The graph in the DOT language: leaves as boxes, operators as ellipses, writes as hexagons, blocks as clusters."""
    lines = [*_block(list(graph.nodes.values()), 0, graph.root)]
    lines += [f"{source} -> {node.id};" for node in graph.nodes.values() for source in node.inputs]
    body = "\n".join(f"  {line}" for line in lines)
    return f'digraph "{name}" {{\n  rankdir=TB;\n  node [fontname="sans-serif", fontsize=10];\n{body}\n}}\n'


def _block(nodes: list[Node], depth: int, root: str) -> Iterable[str]:
    """The lines of ``nodes``, which are all in one block at ``depth``."""
    inside: dict[str, list[Node]] = {}
    for node in nodes:
        if len(node.blocks) > depth:
            inside.setdefault(node.blocks[depth], []).append(node)
        else:
            shape = "doublecircle" if node.id == root else _SHAPES[node.kind]
            yield f'{node.id} [label="{_label(node)}", shape={shape}];'
    for block, members in inside.items():
        yield f"subgraph cluster_{block} {{ style=rounded;"
        yield from _block(members, depth + 1, root)
        yield "}"


def _label(node: Node) -> str:
    """``h = torch.add`` with the results below; of leaves and arguments the name alone."""
    title = node.operator or node.name or node.kind
    named = f"{node.name} = {title}" if node.operator and node.name else title
    return "\\n".join(filter(None, [named, ", ".join(map(str, node.specs))])).replace('"', "'")
