"""Program features: names of the functions, methods, operators and statements in a program."""

from __future__ import annotations

import ast
import re
from collections.abc import Set

from eqfuzz.program.definitions_only import program_text
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


IN_PLACE = "in-place"
"""Every way to write to a tensor."""

_FILLERS = set("Add Sub Mult Div USub add sub mul div neg clone Tensor tensor zeros ones".split())
"""Frequent in reduced programs of any defect, for want of something simpler."""

_OF_TENSORS = ("data", "grad", "requires_grad")
"""Attributes of tensors; others that are stored to belong to the program."""


_WRITERS = frozenset({"BatchNorm", "batch_norm", "SyncBatchNorm", "InstanceNorm", "instance_norm"})
"""Functions that write to buffers without an underscore in their names."""


def features_of(program: Program, *, of_writes: bool = False) -> tuple[str, ...]:
    """Sorted names; mostly the same for programs reduced from one defect.

    Arithmetic and new tensors count only where there is nothing else; every method that ends in an underscore is
    ``in-place``, and a number of dimensions at the end of a name is left out. With ``of_writes``, normalisations with
    statistics are ``in-place``, too.
    """
    names = _names(parse(program_text(program)))
    if of_writes and names & _WRITERS:
        names = names - _WRITERS | {IN_PLACE}
    return tuple(sorted(names - _FILLERS or names))


def statements(program: Program) -> int:
    """The number of statements in a program's definitions, without inputs, imports and the definitions' own lines."""
    definitions = ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom
    nodes = ast.walk(parse(program_text(program)))
    return sum(isinstance(node, ast.stmt) and not isinstance(node, definitions) for node in nodes)


def _names(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    ignored = _own_names(tree) | _OF_NO_INTEREST
    stored = _stored(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) if node in stored:
                names.add(name if name in _OF_TENSORS else "attribute")
            case ast.Attribute(attr=name, ctx=ast.Load()) | ast.Call(func=ast.Name(id=name)) if name not in ignored:
                in_place = name.endswith("_") and not name.endswith("__")
                names.add(IN_PLACE if in_place else _DIMENSIONS.sub("", name))
            case ast.operator() | ast.unaryop() | ast.cmpop() | ast.boolop():
                names.add(type(node).__name__)
            case ast.AugAssign() | ast.Subscript(ctx=ast.Store()):
                names.add(IN_PLACE)
            case _ if isinstance(node, _STATEMENTS):
                names.add(type(node).__name__)
            case _:
                pass
    return names


def _stored(tree: ast.Module) -> Set[ast.AST]:
    """Attributes that are stored to, except in ``__init__`` and by augmented assignments."""
    created = [
        n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name == "__init__" for n in ast.walk(f)
    ]
    changed = [node.target for node in ast.walk(tree) if isinstance(node, ast.AugAssign)]
    nodes = {n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)}
    return nodes - {*created, *changed}


def _own_names(tree: ast.Module) -> set[str]:
    """Names that the program defines: functions, classes, attributes of ``self``."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self")), args=[ast.Constant(value=str(name)), *_]):
                names.add(name)
            case _:
                pass
    return names
