"""Features of a program's text, which stand for paths through the compiler."""

from __future__ import annotations

import ast


def features_of(tree: ast.Module) -> frozenset[str]:
    """Names, statements and operators, and the constant arguments of each call, operator and subscript.

    ``flip(0:Tuple2 int)`` is a call of ``flip`` whose first argument is a pair of numbers, ``Store[[-1,,]]`` an
    assignment to a slice that begins at the last.
    """
    return frozenset(feature for node in ast.walk(tree) for feature in _features(node))


def _features(node: ast.AST) -> list[str]:
    own = [type(node).__name__]
    match node:
        case ast.Attribute():
            own.append(node.attr)
        case ast.Call():
            name = _called(node.func)
            arguments = [(str(position), _kind(value)) for position, value in enumerate(node.args)]
            own.append(f"{name}({len(node.args)})")
            own += [f"{name}({position}:{kind})" for position, kind in arguments if kind != _UNKNOWN]
            own += [f"{name}({keyword.arg}={_kind(keyword.value)})" for keyword in node.keywords]
        case ast.BinOp():
            own.append(f"{type(node.op).__name__}({_kind(node.left)},{_kind(node.right)})")
        case ast.Subscript():
            own.append(f"{type(node.ctx).__name__}[{_kind(node.slice)}]")
        case ast.AugAssign():
            own.append(f"{type(node.op).__name__}={type(node.target).__name__}")
        case _:
            pass
    return own


_UNKNOWN = "value"


def _called(function: ast.expr) -> str:
    match function:
        case ast.Attribute():
            return function.attr
        case ast.Name():
            return function.id
        case _:
            return "?"


def _kind(node: ast.expr) -> str:
    """The kind of an expression: its type; for numbers their sign and whether they are 0 or 1; its length."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return f"-{_size(value)}"
        case ast.Constant(value=bool() | str() | None):
            return repr(node.value)
        case ast.Constant(value=int() | float() as value):
            return _size(value)
        case ast.Constant():
            return type(node.value).__name__
        case ast.Tuple() | ast.List():
            inside = " ".join(sorted({_kind(element) for element in node.elts}))
            return f"{type(node).__name__}{len(node.elts)} {inside}"
        case ast.Slice():
            parts = (node.lower, node.upper, node.step)
            return "[" + ",".join("" if part is None else _kind(part) for part in parts) + "]"
        case ast.Attribute(value=ast.Name(id="torch")):
            return node.attr
        case _:
            return _UNKNOWN


def _size(value: float) -> str:
    if value in (0, 1):
        return repr(value)
    return "int" if isinstance(value, int) else "part" if value < 1 else "float"
