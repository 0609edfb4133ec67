"""Order of evaluation: whether an expression may be evaluated before everything else in its statement."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import libcst as cst

from eqfuzz.rewrite.source.purity import is_pure
from eqfuzz.rewrite.source.syntax import children


def held_back(expression: cst.BaseExpression, statement: cst.CSTNode, *, pure: bool | None = None) -> str | None:
    """Why ``expression`` cannot be evaluated ahead of ``statement``, or None where that makes no difference.

    ``pure`` says whether it has no side effects, where that is not to be judged by its own syntax: a name that stands
    for a call.
    """
    free = is_pure(expression) if pure is None else pure
    path = _path(statement, expression)
    if path is None:
        return "it is not part of the statement"
    for parent, child in itertools.pairwise(path):
        reason = _conditional(parent, child)
        if reason is not None:
            return reason
        for earlier in _evaluated_before(parent, child):
            harmless = is_pure(earlier) if free else isinstance(earlier, (cst.Name, cst.Integer))
            if not harmless and not _names_a_function(parent, earlier):
                return "something with side effects is evaluated before it"
    return None


def _path(root: cst.CSTNode, target: cst.CSTNode) -> list[cst.CSTNode] | None:
    if root is target:
        return [root]
    for child in children(root):
        below = _path(child, target)
        if below is not None:
            return [root, *below]
    return None


def _conditional(parent: cst.CSTNode, child: cst.CSTNode) -> str | None:
    """Why ``child`` may be evaluated not at all, or more than once, when ``parent`` is."""
    match parent:
        case cst.SimpleStatementLine() if child is not parent.body[0]:
            return "another statement stands before it on the line"
        case cst.Lambda() | cst.ListComp() | cst.SetComp() | cst.DictComp() | cst.GeneratorExp():
            return "it is evaluated later, or more than once"
        case cst.IfExp() if child is not parent.test:
            return "it is evaluated on a condition"
        case cst.BooleanOperation() if child is not parent.left:
            return "it is evaluated on a condition"
        case cst.Comparison() if len(parent.comparisons) > 1:
            return "it is evaluated on a condition"
        case cst.If() if child is not parent.test:
            return "it is evaluated on a condition"
        case cst.For() if child is not parent.iter:
            return "it is evaluated on a condition"
        case cst.With() if child is not parent.items[0]:
            return "it is evaluated inside the context"
        case cst.While() | cst.Try() | cst.TryStar() | cst.Match() | cst.Assert() | cst.FunctionDef() | cst.ClassDef():
            return "it is evaluated on a condition, or more than once"
        case _:
            return None


def _evaluated_before(parent: cst.CSTNode, child: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The parts of ``parent`` that Python evaluates before ``child``."""
    for part in _in_order(parent):
        if part is child:
            return
        yield part


def _in_order(parent: cst.CSTNode) -> Sequence[cst.CSTNode]:
    match parent:
        case cst.Assign():
            return [parent.value, *parent.targets]
        case cst.AnnAssign():
            return [p for p in (parent.value, parent.target) if p is not None]
        case cst.For():
            return [parent.iter]
        case cst.Dict():
            return parent.elements
        case _:
            return [c for c in children(parent) if _is_evaluated(c)]


def _is_evaluated(node: cst.CSTNode) -> bool:
    holders = (cst.Arg, cst.Element, cst.DictElement, cst.SubscriptElement, cst.Index, cst.Slice, cst.StarredElement)
    return isinstance(node, (cst.BaseExpression, *holders, cst.ComparisonTarget, cst.WithItem))


def _names_a_function(parent: cst.CSTNode, node: cst.CSTNode) -> bool:
    """A callee by its dotted name: looking it up changes nothing, and nothing that runs first changes it."""
    if not isinstance(parent, cst.Call) or node is not parent.func:
        return False
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)
