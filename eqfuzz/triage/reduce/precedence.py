"""Operator precedence of Python expressions: where a replaced expression needs parentheses."""

from __future__ import annotations

import ast
import enum


class Precedence(enum.IntEnum):
    """How tightly an expression holds its parts together, the loosest first (Python reference, section 6.17)."""

    UNPARENTHESIZED = enum.auto()
    """A tuple without parentheses, ``yield``, a starred item."""
    NAMED = enum.auto()
    CONDITIONAL = enum.auto()
    OR = enum.auto()
    AND = enum.auto()
    NOT = enum.auto()
    COMPARISON = enum.auto()
    BIT_OR = enum.auto()
    BIT_XOR = enum.auto()
    BIT_AND = enum.auto()
    SHIFT = enum.auto()
    SUM = enum.auto()
    PRODUCT = enum.auto()
    UNARY = enum.auto()
    POWER = enum.auto()
    AWAIT = enum.auto()
    ATOM = enum.auto()
    """Names, literals, displays, calls, subscripts, attributes: never in need of parentheses."""


_PRECEDENCES: dict[type[ast.AST], Precedence] = {
    ast.Yield: Precedence.UNPARENTHESIZED,
    ast.YieldFrom: Precedence.UNPARENTHESIZED,
    ast.Starred: Precedence.UNPARENTHESIZED,
    ast.NamedExpr: Precedence.NAMED,
    ast.Lambda: Precedence.CONDITIONAL,
    ast.IfExp: Precedence.CONDITIONAL,
    ast.Or: Precedence.OR,
    ast.And: Precedence.AND,
    ast.Not: Precedence.NOT,
    ast.Compare: Precedence.COMPARISON,
    ast.BitOr: Precedence.BIT_OR,
    ast.BitXor: Precedence.BIT_XOR,
    ast.BitAnd: Precedence.BIT_AND,
    ast.LShift: Precedence.SHIFT,
    ast.RShift: Precedence.SHIFT,
    ast.Add: Precedence.SUM,
    ast.Sub: Precedence.SUM,
    ast.Mult: Precedence.PRODUCT,
    ast.Div: Precedence.PRODUCT,
    ast.FloorDiv: Precedence.PRODUCT,
    ast.Mod: Precedence.PRODUCT,
    ast.MatMult: Precedence.PRODUCT,
    ast.Invert: Precedence.UNARY,
    ast.UAdd: Precedence.UNARY,
    ast.USub: Precedence.UNARY,
    ast.Pow: Precedence.POWER,
    ast.Await: Precedence.AWAIT,
}
"""By type of expression, or of its operator; all others are atoms."""


def precedence_of(node: ast.expr) -> Precedence:
    """The precedence of ``node`` as its source text has it."""
    if isinstance(node, ast.Tuple):
        first = node.elts[0] if node.elts else None
        has_parentheses = first is None or (first.lineno, first.col_offset) > (node.lineno, node.col_offset)
        return Precedence.ATOM if has_parentheses else Precedence.UNPARENTHESIZED
    decisive = node.op if isinstance(node, ast.BoolOp | ast.BinOp | ast.UnaryOp) else node
    return _PRECEDENCES.get(type(decisive), Precedence.ATOM)


def required_precedence(parent: ast.AST, child: ast.expr) -> Precedence | None:
    """The loosest precedence that an expression in the place of ``child`` may have without parentheses.

    None where an operator of ``parent`` decides: there, as tight as ``child`` is tight enough.
    """
    match parent:
        case ast.Assign() | ast.Return() | ast.AugAssign() | ast.Expr():
            return Precedence.UNPARENTHESIZED
        case ast.Subscript() if parent.slice is child:
            return Precedence.UNPARENTHESIZED
        case ast.Call() if child in parent.args:
            return Precedence.NAMED
        case ast.keyword() | ast.List() | ast.Tuple() | ast.Set() | ast.Dict() | ast.If() | ast.While():
            return Precedence.CONDITIONAL
        case _:
            return None


def needs_parentheses(new: ast.expr, parent: ast.AST, old: ast.expr) -> bool:
    """Whether ``new`` needs parentheses in the place of ``old``, a child of ``parent`` without parentheses."""
    required = required_precedence(parent, old)
    limit = precedence_of(old) if required is None else min(required, precedence_of(old))
    return precedence_of(new) < limit


def are_parentheses_redundant(new: ast.expr, parent: ast.AST, old: ast.expr) -> bool:
    """Whether parentheses directly around ``old`` can be removed with it: ``new`` needs none in any case."""
    required = required_precedence(parent, old)
    precedence = precedence_of(new)
    return precedence is Precedence.ATOM or (required is not None and precedence >= required)
