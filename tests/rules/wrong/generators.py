"""Generators that are wrong on purpose, each in one way that is easy to get wrong; the proof must catch every one."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.preconditions import floating
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import indented

LOOP = """
def program(x, y):
    for j in range(3):
        x = x * 0.5 + y * j
    return x
"""


@rule(exact="bitwise", where=[floating("x", "y")], example=LOOP)
def last_turn_forgotten(loop: cst.For, ctx: RewriteContext):
    """A loop that ends one turn too early."""
    numbers = ctx.value(loop.iter, "range")
    yield f"for {ctx.text(loop.target)} in range({len(numbers) - 1}):\n{indented(ctx.block(loop.body))}"


@rule(exact="bitwise", where=[floating("x", "y")], example=LOOP)
def turns_in_reverse(loop: cst.For, ctx: RewriteContext):
    """The turns depend on each other, so their order matters."""
    yield f"for {ctx.text(loop.target)} in reversed({ctx.text(loop.iter)}):\n{indented(ctx.block(loop.body))}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        x = x.clone()
        return y + x.add_(1) * x
    """,
)
def evaluated_too_early(product: cst.BinaryOperation, ctx: RewriteContext):
    """The second operand is read before the first changes it."""
    if not isinstance(product.operator, cst.Multiply):
        return
    name = ctx.new_name("t")
    yield f"{name} * ({ctx.text(product.left)})", ctx.ahead(f"{name} = {ctx.text(product.right)} + 0")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        a = torch.sin(x)
        b = a * y
        return a, b
    """,
)
def dependent_statements_swapped(assign: cst.Assign, ctx: RewriteContext):
    """A statement moved before the one that it needs, under a name that happens to exist."""
    if ctx.statement.index + 1 < len(ctx.statement.block) and ctx.text(assign).startswith("a"):
        yield f"a = x\nb = a * y\n{ctx.text(assign)}", ctx.replace(ctx.statement.block[ctx.statement.index + 1], "pass")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        a = x.clone()
        b = a.view(-1)
        b.mul_(2)
        return a
    """,
)
def alias_broken(call: cst.Call, ctx: RewriteContext):
    """A view becomes a copy, and what is written into it is lost."""
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "view":
        yield f"{ctx.text(call)}.clone()"


@rule(
    exact="bitwise",
    example="""
    def program(x, y):
        return (x + y) * 2
    """,
)
def graph_broken(product: cst.BinaryOperation, ctx: RewriteContext):
    """Dynamo cannot keep one graph, and the rule does not say so."""
    yield ctx.text(product), ctx.ahead(f"{ctx.path('torch._dynamo.graph_break')}()")


@rule(
    exact="bitwise",
    example="""
    def program(x, y):
        return x + y
    """,
)
def no_python(total: cst.BinaryOperation, ctx: RewriteContext):
    """What is written is no Python."""
    yield f"{ctx.text(total)} +"
