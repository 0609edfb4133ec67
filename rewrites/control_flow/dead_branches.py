"""Branches and loops that are never taken, and conditions that always hold, known from shapes or from equality."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import bound_before, require_ordinary, shared_names
from eqfuzz.rewrite.context.loop_control import fresh
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.facts.preconditions import floating
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import indented, skip

SUM = """
def program(x, y, k: Int):
    r = x + y * k
    r += y
    return r - x
"""


def variable_read(statement: cst.CSTNode, ctx: RewriteContext, kinds: tuple[str, ...]) -> tuple[str, list[Fact]]:
    """A local variable of these kinds that the statement reads and that has a value before it on every path."""
    require_ordinary(ctx)
    if isinstance(statement, cst.Expr) and isinstance(statement.value, (cst.SimpleString, cst.ConcatenatedString)):
        skip("the statement may be a docstring")
    bound = bound_before(ctx) - shared_names(ctx)
    for name in names_read(statement):
        facts = list(ctx.visits(name))
        if facts and name.value in bound and all(f.kind in kinds for f in facts):
            return name.value, facts
    return skip("the statement reads no such variable")


def names_read(node: cst.CSTNode) -> list[cst.Name]:
    """The variables read in ``node`` itself, outside scopes of their own and stored targets."""
    scopes = (cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.AssignTarget, cst.NamedExpr)
    match node:
        case cst.Name():
            return [node]
        case cst.Attribute() | cst.Arg():
            return names_read(node.value)
        case cst.FormattedString():
            return []
        case _ if isinstance(node, scopes):
            return []
        case _:
            return [name for child in node.children for name in names_read(child)]


def observed_rank(facts: list[Fact]) -> int:
    ranks = {f.ndim for f in facts}
    if len(ranks) != 1:
        skip("the number of dimensions is not the same every time")
    return ranks.pop()


@rule(exact="bitwise", where=[floating("x", "y")], example=SUM)
def branch_on_impossible_rank(statement: cst.Assign | cst.AugAssign | cst.Return | cst.Expr, ctx: RewriteContext):
    """A branch for tensors of more than a hundred dimensions is never taken."""
    name, _ = variable_read(statement, ctx, ("tensor",))
    yield ctx.ahead(f"if {name}.dim() > 100:\n    {name} = {name} * 0 + 7")


@rule(exact="bitwise", where=[floating("x", "y")], example=SUM)
def branch_on_inequality_with_itself(
    statement: cst.Assign | cst.AugAssign | cst.Return | cst.Expr, ctx: RewriteContext
):
    """An int, bool, string or shape is equal to itself, so the branch where it is not is never taken."""
    name, _ = variable_read(statement, ctx, ("tensor",))
    wrong = f"{name} = {name}.view(-1)[1000]"
    yield ctx.ahead(f"if {name}.shape != {name}.shape:\n    {wrong}")
    number, _ = variable_read(statement, ctx, ("int", "bool", "str"))
    yield ctx.ahead(f"if {number} != {number}:\n    {wrong}")


@rule(exact="bitwise", where=[floating("x", "y")], example=SUM)
def loop_without_iterations(statement: cst.Assign | cst.AugAssign | cst.Return | cst.Expr, ctx: RewriteContext):
    """A loop over an empty range, or whose condition never holds, does nothing."""
    name, facts = variable_read(statement, ctx, ("tensor",))
    rank = observed_rank(facts)
    idle, body = fresh(ctx, "idle"), f"    {name} = {name} * 2"
    yield ctx.ahead(f"for {idle} in {ctx.builtin('range')}({name}.dim() - {rank}):\n{body}")
    yield ctx.ahead(f"while {name}.dim() > {rank}:\n{body}")


@rule(exact="bitwise", where=[floating("x", "y")], example=SUM)
def branch_on_known_rank(statement: cst.Assign | cst.AugAssign | cst.Return | cst.Expr, ctx: RewriteContext):
    """A statement stands under a condition on the number of dimensions that always holds."""
    name, facts = variable_read(statement, ctx, ("tensor",))
    rank, lines = observed_rank(facts), indented(ctx.lines(statement))
    yield f"if {name}.dim() == {rank}:\n{lines}\nelse:\n    {name} = {name} * 0"
    yield f"if not {name}.dim() != {rank}:\n{lines}"


@rule(exact="bitwise", where=[floating("x", "y")], example=SUM)
def case_of_known_rank(statement: cst.Assign | cst.AugAssign | cst.Return | cst.Expr, ctx: RewriteContext):
    """A statement is the one case of a match that is ever taken."""
    name, facts = variable_read(statement, ctx, ("tensor",))
    lines = indented(ctx.lines(statement))
    arms = f"case {observed_rank(facts)}:\n{lines}\ncase _:\n    {name} = {name} - 1"
    yield f"match {name}.dim():\n{indented(arms)}"
