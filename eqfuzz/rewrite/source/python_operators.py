"""Python's operators: libcst class → name in the module ``operator``, and sign."""

from __future__ import annotations

import libcst as cst

BINARY: dict[type[cst.CSTNode], tuple[str, str]] = {
    cst.Add: ("add", "+"),
    cst.Subtract: ("sub", "-"),
    cst.Multiply: ("mul", "*"),
    cst.Divide: ("truediv", "/"),
    cst.FloorDivide: ("floordiv", "//"),
    cst.Modulo: ("mod", "%"),
    cst.Power: ("pow", "**"),
    cst.MatrixMultiply: ("matmul", "@"),
    cst.BitAnd: ("and_", "&"),
    cst.BitOr: ("or_", "|"),
    cst.BitXor: ("xor", "^"),
    cst.LeftShift: ("lshift", "<<"),
    cst.RightShift: ("rshift", ">>"),
}

COMPARISONS: dict[type[cst.CSTNode], tuple[str, str]] = {
    cst.LessThan: ("lt", "<"),
    cst.LessThanEqual: ("le", "<="),
    cst.GreaterThan: ("gt", ">"),
    cst.GreaterThanEqual: ("ge", ">="),
    cst.Equal: ("eq", "=="),
    cst.NotEqual: ("ne", "!="),
}

UNARY: dict[type[cst.CSTNode], tuple[str, str]] = {
    cst.Minus: ("neg", "-"),
    cst.Plus: ("pos", "+"),
    cst.BitInvert: ("invert", "~"),
}


def dunder(name: str, prefix: str = "") -> str:
    """The method of an operator by its name in the module ``operator``: ``__and__``; ``__rand__`` with prefix ``r``."""
    return f"__{prefix}{name.strip('_')}__"
