"""What a program does, in names: the functions, methods, operators and statements that its own code uses."""

from __future__ import annotations

import ast

from eqfuzz.program.parsing import parse
from eqfuzz.program.program import Program
from eqfuzz.triage.reproducer import program_text

_OF_NO_INTEREST = {"torch", "nn", "F", "np", "numpy", "functional", "self", "super", "__init__", "forward"}
_STATEMENTS = (
    *(ast.For, ast.While, ast.If, ast.With, ast.Try, ast.AugAssign, ast.Delete, ast.Raise, ast.Assert, ast.Global),
    *(ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.IfExp, ast.Lambda, ast.Slice, ast.Starred),
    *(ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.NamedExpr, ast.Yield, ast.Nonlocal, ast.AsyncFunctionDef),
)


def essence(program: Program) -> tuple[str, ...]:
    """Sorted names. Programs reduced from one defect mostly have the same."""
    return tuple(sorted(_names(parse(program_text(program)))))


def statements(program: Program) -> int:
    """How many statements its definitions have, inputs and imports aside; a definition's own line does not count."""
    definitions = ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom
    nodes = ast.walk(parse(program_text(program)))
    return sum(isinstance(node, ast.stmt) and not isinstance(node, definitions) for node in nodes)


def _names(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.Call(func=ast.Name(id=name)):
                found.add(name)
            case ast.operator() | ast.unaryop() | ast.cmpop() | ast.boolop():
                found.add(type(node).__name__)
            case _ if isinstance(node, _STATEMENTS):
                found.add(type(node).__name__)
            case _:
                pass
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return found - defined - _OF_NO_INTEREST
