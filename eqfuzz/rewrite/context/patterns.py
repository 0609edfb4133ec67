"""Idioms: statements and expressions of a known shape, taken apart."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.source.edit import Edit, skip


def called(ctx: RewriteContext, node: cst.CSTNode, name: str) -> list[cst.BaseExpression] | None:
    """The arguments of a call of the builtin ``name`` without keywords and stars; None for anything else."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Name) or node.func.value != name:
        return None
    ctx.builtin(name)
    if any(a.star or a.keyword is not None for a in node.args):
        skip(f"the arguments of {name} are not plain")
    return [a.value for a in node.args]


def previous(ctx: RewriteContext) -> cst.BaseSmallStatement | None:
    """The simple statement right before the statement here."""
    if not ctx.statement.index:
        return None
    line = ctx.statement.block[ctx.statement.index - 1]
    return line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None


def assigned(statement: cst.CSTNode | None) -> tuple[str, cst.BaseExpression] | None:
    """Name and value of a statement ``name = value``; None for anything else."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        statement = statement.body[0]
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0].target
    return (target.value, statement.value) if isinstance(target, cst.Name) else None


def only_statement(body: cst.BaseSuite) -> cst.CSTNode | None:
    """The one statement of ``body``, the small one of a line."""
    if len(body.body) != 1:
        return None
    (line,) = body.body
    if isinstance(line, cst.SimpleStatementLine):
        return line.body[0] if len(line.body) == 1 else None
    return line


def appended(statement: cst.CSTNode | None) -> tuple[str, cst.BaseExpression] | None:
    """Name and item of a statement ``name.append(item)``; None for anything else."""
    if not isinstance(statement, cst.Expr) or not isinstance(statement.value, cst.Call):
        return None
    func, args = statement.value.func, statement.value.args
    if not isinstance(func, cst.Attribute) or func.attr.value != "append" or not isinstance(func.value, cst.Name):
        return None
    return (
        (func.value.value, args[0].value) if len(args) == 1 and not args[0].star and args[0].keyword is None else None
    )


def other_branch(branch: cst.If, ctx: RewriteContext) -> str:
    """The statements where the condition does not hold: those of the ``else``, or the ``elif`` as an ``if``."""
    if isinstance(branch.orelse, cst.Else):
        return ctx.block(branch.orelse.body)
    assert branch.orelse is not None
    start = ctx.syntax.span(branch.orelse)[0]
    return ctx.lines(branch.orelse, [Edit((start, start + len("elif")), "if")])


def expressions_in(statement: cst.CSTNode, *kinds: type[cst.CSTNode], own: bool = False) -> Iterator[cst.CSTNode]:
    """Expressions of these kinds that a simple statement evaluates, not inside formatted strings or what it stores to.

    With ``own`` only those in no scope of their own: not inside lambdas and comprehensions.
    """
    if isinstance(statement, kinds):
        yield statement
    if isinstance(statement, (cst.FormattedString, cst.AssignTarget, cst.FunctionDef, cst.ClassDef)):
        return
    if own and isinstance(statement, (cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)):
        return
    parts = [statement.value] if isinstance(statement, cst.AugAssign) else statement.children
    for child in parts:
        yield from expressions_in(child, *kinds, own=own)


def target_names(target: cst.CSTNode) -> list[str]:
    """The variables of a loop's target, from left to right; Skip where it stores anything else."""
    if isinstance(target, cst.Name):
        return [target.value]
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for element in target.elements for name in target_names(element.value)]
    return skip("the target contains more than variables")


def values_of(choice: cst.If | cst.IfExp) -> tuple[str, cst.BaseExpression, cst.BaseExpression]:
    """What a choice begins with when it is written as one value, and the values of both branches."""
    if isinstance(choice, cst.IfExp):
        return "", choice.body, choice.orelse
    if not isinstance(choice.orelse, cst.Else):
        skip("there is no else, or an elif")
    first, second = only_statement(choice.body), only_statement(choice.orelse.body)
    one, other = assigned(first), assigned(second)
    if one is not None and other is not None and one[0] == other[0]:
        return f"{one[0]} = ", one[1], other[1]
    if isinstance(first, cst.Return) and isinstance(second, cst.Return) and first.value and second.value:
        return "return ", first.value, second.value
    return skip("the branches do not both return, or assign one variable")
