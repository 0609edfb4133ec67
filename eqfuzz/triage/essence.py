"""What a program does, in names: the functions, methods, operators and statements that its own code uses."""

from __future__ import annotations

import ast
import re

from eqfuzz.program.definitions import program_text
from eqfuzz.program.parsing import parse
from eqfuzz.program.program import Program

_OF_NO_INTEREST = set(
    """torch nn F np numpy functional self super __init__ forward Module register_buffer Parameter""".split()
)
_DIMENSIONS = re.compile(r"(?<=[a-z])[123]d$")
_STATEMENTS = (
    *(ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Delete, ast.Raise, ast.Assert, ast.Global),
    *(ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.IfExp, ast.Lambda, ast.Slice, ast.Starred),
    *(ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.NamedExpr, ast.Yield, ast.Nonlocal, ast.AsyncFunctionDef),
)


_FILLERS = set("Add Sub Mult Div USub add sub mul div neg clone Tensor tensor zeros ones".split())
"""What a reduced program mostly has for want of something simpler."""


def essence(program: Program) -> tuple[str, ...]:
    """Sorted names. Programs reduced from one defect mostly have the same.

    Arithmetic and new tensors count only where there is nothing else; every method that ends in an underscore is
    ``in-place``, and a layer's number of dimensions is left out.
    """
    found = _names(parse(program_text(program)))
    return tuple(sorted(found - _FILLERS or found))


def statements(program: Program) -> int:
    """How many statements its definitions have, inputs and imports aside; a definition's own line does not count."""
    definitions = ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom
    nodes = ast.walk(parse(program_text(program)))
    return sum(isinstance(node, ast.stmt) and not isinstance(node, definitions) for node in nodes)


def _names(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Load()) | ast.Attribute(ctx=ast.Store()):
                continue  # a name that the program gave
            case ast.Attribute(attr=name) | ast.Call(func=ast.Name(id=name)):
                in_place = name.endswith("_") and not name.endswith("__")
                found.add("in-place" if in_place else _DIMENSIONS.sub("", name))
            case ast.operator() | ast.unaryop() | ast.cmpop() | ast.boolop():
                found.add(type(node).__name__)
            case ast.AugAssign() | ast.Subscript(ctx=ast.Store()):
                found.add("in-place")
            case _ if isinstance(node, _STATEMENTS):
                found.add(type(node).__name__)
            case _:
                pass
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return found - defined - _OF_NO_INTEREST
