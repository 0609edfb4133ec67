"""Control flow as operators that take functions: torch.cond and while_loop."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import bound_before, path_to, require_one_text
from eqfuzz.rewrite.context.loop_control import (
    afterwards,
    require_harmless,
    require_plain,
    require_unseen,
    require_unshared,
    simple_name,
)
from eqfuzz.rewrite.context.meta_evaluation import MetaEvaluator
from eqfuzz.rewrite.context.patterns import assigned, only_statement, values_of
from eqfuzz.rewrite.facts.preconditions import full_precision, same_dtype
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, non_empty, rank, same_shape
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip

MATRICES = [
    full_precision("x", "y"),
    same_dtype("x", "y"),
    rank("x", 2),
    same_shape("x", "y"),
    non_empty("x"),
    contiguous("x", "y"),
]


@rule(
    exact="bitwise",
    where=MATRICES,
    example=[
        """
        def program(x, y):
            if x.sum() > 0:
                r = x + 2 * y
            else:
                r = x - y
            return r
        """,
        """
        def program(x, y):
            return x + y if bool((x.sum() > y.sum()).item()) else x - 1
        """,
    ],
)
def choice_to_cond(choice: cst.If | cst.IfExp, ctx: RewriteContext):
    """Two branches on a tensor of one element that compute one tensor are both handed to torch.cond.

    Both must look the same from outside (see ``choice_to_where`` in the family conditions).
    """
    head, first, second = values_of(choice)
    if any(isinstance(n, (cst.Lambda, cst.GeneratorExp)) for n in path_to(ctx.statement.node, ctx.node)[:-1]):
        skip("it is evaluated later")
    for part in (choice.test, first, second):
        require_plain(part)
    condition = _of_one_element(ctx, choice.test)
    shadow = MetaEvaluator(ctx, choice)
    shadow.require_equal(first, second)
    names = shadow.tensors(first, second)
    given, operands = ", ".join(names), "".join(f"{name}, " for name in names)
    one, two = (f"lambda {given}: {require_one_text(ctx, e)}" for e in (first, second))
    test = f"({require_one_text(ctx, condition)}).reshape(()) != 0"
    yield f"{head}{ctx.path('torch.cond')}({test}, {one}, {two}, ({operands}))"


def _of_one_element(ctx: RewriteContext, test: cst.BaseExpression) -> cst.BaseExpression:
    """The tensor of one element that a condition asks, also inside ``bool(t)`` and ``t.item()``."""
    inner = test
    while isinstance(inner, cst.Call):
        if isinstance(inner.func, cst.Name) and inner.func.value == "bool" and len(inner.args) == 1:
            ctx.builtin("bool")
            inner = inner.args[0].value
        elif isinstance(inner.func, cst.Attribute) and inner.func.attr.value == "item" and not inner.args:
            inner = inner.func.value
        else:
            break
    facts = ctx.tensors(inner)
    if any(f.numel != 1 for f in facts):
        skip(f"the condition is {facts[0].describe()}")
    return inner


@rule(
    exact="bitwise",
    where=MATRICES,
    example="""
    def program(x, y):
        r = x.detach() * 1
        z = y.detach()
        for j in range(3):
            r = torch.sin(r) + z
        return r * x
    """,
)
def loop_to_while_loop(loop: cst.For, ctx: RewriteContext):
    """A counted loop that renews one tensor, always of the same kind, is a while_loop; the count is not read."""
    numbers = ctx.value(loop.iter, "range")
    require_harmless(ctx, loop.iter)
    made = assigned(only_statement(loop.body))
    if made is None or not 1 <= len(numbers) <= 20:
        skip("the loop does more than renew one variable, or has no few turns")
    name, value = made
    index = simple_name(ctx, loop.target)
    require_unseen(ctx, [index], loop)
    require_unshared(ctx, [name])
    if index == name or index in ctx.names(value).reads or name not in bound_before(ctx):
        skip("the count is read in the loop, or nothing is there before it")
    require_plain(value)
    MetaEvaluator(ctx, loop).require_kept(value, name)
    operator, counter = ctx.path("torch._higher_order_ops.while_loop"), ctx.new_name("turn")
    test, turn = f"{counter} < {len(numbers)}", f"({counter} + 1, {require_one_text(ctx, value)})"
    begun = f"({ctx.path('torch.tensor')}(0), {name})"
    call = f"{operator}(lambda {counter}, {name}: {test}, lambda {counter}, {name}: {turn}, {begun})"
    yield f"{name} = {call}[1]{afterwards(loop, ctx)}"
