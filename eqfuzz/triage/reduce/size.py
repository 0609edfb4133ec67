"""The size of a program: the order in which the reducer prefers candidates."""

from __future__ import annotations

import ast
from typing import NamedTuple

from eqfuzz.program.parsing import parse
from eqfuzz.program.program import Program
from eqfuzz.triage.reduce.source_tree import is_docstring, walk

_LOOPS = (ast.For, ast.While, ast.comprehension)
_EASY_INTEGERS = {1: 0, 2: 1, 0: 2}
_EASY_FLOATS = {1.0: 0, 0.5: 1, 2.0: 1, 0.0: 2}
_ODD_DTYPES = frozenset(
    """float64 float16 bfloat16 int64 int32 int16 int8 uint8 uint16 uint32 uint64 complex64 complex128 bool
    double half long""".split()
)


class Size(NamedTuple):
    """The canonical sort key of programs. Fewer statements matter most: they are what a reader counts.

    ``pass`` and docstrings are no statements; a loop weighs as much as nine other nodes. ``names`` counts distinct
    names, ``literals`` weighs constants (1, 2 and 0 before larger integers, short before long) and dtypes (float32
    before the others).
    """

    statements: int
    nodes: int
    names: int
    literals: int
    characters: int


def size(program: Program) -> Size:
    """The sort key of ``program``. Raises SyntaxError when its source is not Python."""
    return size_of(parse(program.source), program)


def size_of(tree: ast.Module, program: Program) -> Size:
    """The same for source that is parsed already."""
    statements = nodes = literals = 0
    names: set[str] = set()
    docstrings: set[int] = set()
    for node in walk(tree):
        if id(node) in docstrings or isinstance(node, (ast.Pass, ast.expr_context, ast.Module)):
            continue
        if isinstance(node, ast.stmt):
            if is_docstring(node):
                docstrings.update(map(id, ast.iter_child_nodes(node)))
                continue
            statements += 1
        nodes += 9 if isinstance(node, _LOOPS) else 1
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Constant):
            literals += _weight(node.value)
        elif isinstance(node, ast.Attribute):
            literals += node.attr in _ODD_DTYPES
    return Size(statements, nodes, len(names), literals, len(program.source) + len(program.inputs))


def _weight(value: object) -> int:
    if value is None or isinstance(value, bool):
        return 0
    if isinstance(value, int):
        return _EASY_INTEGERS.get(value, min(abs(value), 1 << 20) + 1)
    if isinstance(value, float):
        return _EASY_FLOATS.get(value, 2 + len(repr(value)))
    return len(repr(value))
