"""The shape of branches: swapped, nested, flattened, split, merged, and written as loops or expressions."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import require_one_text
from eqfuzz.rewrite.context.loop_control import fresh, require_no_jump, require_short, terminates
from eqfuzz.rewrite.context.patterns import assigned, only_statement, other_branch
from eqfuzz.rewrite.facts.preconditions import floating
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, indented, skip

CHAIN = """
def program(x, y, k: Int):
    if k > 2:
        r = x + y
    elif k > 0:  # small
        r = x - y
        x = x * 2
    else:
        r = x * y
    if k == 1 and x.dim() > 1:
        r = r - 1
    if not k or y.dim() == 1: r = r + 1
    return r, x
"""

EARLY = """
def program(x, y, k: Int):
    if k > 1:
        return x + y
    y = y * 2
    if k < 0:
        return x - y
    else:
        x = x + 1
    return x * y
"""

CHOSEN = """
def program(x, y, k: Int):
    r = x + y if k > 0 else x - y
    return r * 2 if k != 1 else r
"""


def condition_text(branch: cst.If | cst.IfExp, ctx: RewriteContext) -> str:
    return require_one_text(ctx, branch.test)


def else_text(branch: cst.If, ctx: RewriteContext) -> str:
    """The ``else`` of a branch with its ``elif`` written as a nested ``if``; empty when there is none."""
    return f"\nelse:\n{indented(other_branch(branch, ctx))}" if branch.orelse is not None else ""


@rule(exact="bitwise", where=[floating("x", "y")], example=[CHAIN, CHOSEN])
def branches_swapped(branch: cst.If | cst.IfExp, ctx: RewriteContext):
    """Both branches change places under the opposite condition."""
    if isinstance(branch, cst.IfExp):
        yield f"({ctx.text(branch.orelse)}) if not ({ctx.text(branch.test)}) else ({ctx.text(branch.body)})"
        return
    other = other_branch(branch, ctx) if branch.orelse is not None else "pass"
    yield f"if not ({condition_text(branch, ctx)}):\n{indented(other)}\nelse:\n{indented(ctx.block(branch.body))}"


@rule(exact="bitwise", where=[floating("x", "y")], example=CHAIN)
def elif_to_nested(branch: cst.If, ctx: RewriteContext):
    """An ``elif`` is an ``if`` in the ``else``."""
    if isinstance(branch.orelse, cst.If):
        yield f"if {condition_text(branch, ctx)}:\n{indented(ctx.block(branch.body))}{else_text(branch, ctx)}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y, k: Int):
        if k > 2:
            x = x + y
        else:
            if k > 0:
                x = x - y
            else: x = x * y
        return x
    """,
)
def nested_to_elif(branch: cst.If, ctx: RewriteContext):
    """An ``if`` that is all of the ``else`` is an ``elif``."""
    if not isinstance(branch.orelse, cst.Else):
        return
    inner = only_statement(branch.orelse.body)
    if not isinstance(inner, cst.If):
        skip("the else holds more than a condition")
    yield f"if {condition_text(branch, ctx)}:\n{indented(ctx.block(branch.body))}\nel{ctx.lines(inner)}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[EARLY, CHAIN])
def else_added(branch: cst.If, ctx: RewriteContext):
    """Where the condition does not hold, nothing is done."""
    if branch.orelse is None:
        yield f"if {condition_text(branch, ctx)}:\n{indented(ctx.block(branch.body))}\nelse:\n    pass"


@rule(exact="bitwise", where=[floating("x", "y")], example=EARLY)
def rest_into_else(branch: cst.If, ctx: RewriteContext):
    """What follows a branch that ends in a return, raise or jump is its ``else``."""
    if branch.orelse is not None:
        return
    rest = ctx.statement.block[ctx.statement.index + 1 :]
    if not terminates(branch.body) or not rest:
        skip("the branch does not end in return, break, continue or raise, or nothing follows")
    body, others = indented(ctx.block(branch.body)), indented(ctx.run(rest))
    yield (
        f"if {condition_text(branch, ctx)}:\n{body}\nelse:\n{others}",
        Edit((ctx.here.span[1], ctx.syntax.span(rest[-1])[1]), ""),
    )


@rule(exact="bitwise", where=[floating("x", "y")], example=EARLY)
def else_to_rest(branch: cst.If, ctx: RewriteContext):
    """The ``else`` of a branch that ends in a return, raise or jump simply follows."""
    if branch.orelse is None:
        return
    if not terminates(branch.body):
        skip("the branch does not end in return, break, continue or raise")
    yield f"if {condition_text(branch, ctx)}:\n{indented(ctx.block(branch.body))}\n{other_branch(branch, ctx)}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[CHAIN, EARLY])
def if_to_while(branch: cst.If, ctx: RewriteContext):
    """A branch is a loop that is left after one iteration, its ``else`` that of the loop."""
    require_no_jump(branch.body)
    body = ctx.block(branch.body)
    once = indented(body if terminates(branch.body) else f"{body}\nbreak")
    yield f"while {condition_text(branch, ctx)}:\n{once}{else_text(branch, ctx)}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[CHAIN, EARLY])
def if_to_counted_loop(branch: cst.If, ctx: RewriteContext):
    """A branch without ``else`` is a loop of one iteration or none."""
    if branch.orelse is not None:
        return
    require_no_jump(branch.body)
    turns = f"{ctx.builtin('range')}(1 if ({condition_text(branch, ctx)}) else 0)"
    yield f"for {fresh(ctx, 'turn')} in {turns}:\n{indented(ctx.block(branch.body))}"


@rule(exact="bitwise", where=[floating("x", "y")], example=[CHAIN, EARLY])
def next_into_branches(branch: cst.If, ctx: RewriteContext):
    """The statement behind a condition stands at the end of both branches."""
    following = ctx.statement.block[ctx.statement.index + 1 : ctx.statement.index + 2]
    if not following:
        return
    if not isinstance(following[0], cst.SimpleStatementLine):
        skip("a compound statement follows")
    if any(isinstance(s, (cst.Global, cst.Nonlocal, cst.Import, cst.ImportFrom)) for s in following[0].body):
        skip("the statement that follows declares a name")
    after = ctx.run(following)
    body = ctx.block(branch.body)
    body = body if terminates(branch.body) else f"{body}\n{after}"
    other = other_branch(branch, ctx) if branch.orelse is not None else ""
    other = f"{other}\n{after}" if other else after
    require_short(other)
    end = ctx.syntax.span(following[0])[1]
    text = f"if {condition_text(branch, ctx)}:\n{indented(body)}\nelse:\n{indented(other)}"
    yield text, Edit((ctx.here.span[1], end), "")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y, k: Int):
        if k > 0:
            t = x + y
            r = t * 2
        else:
            t = x - y
            r = t * 2
        return r
    """,
)
def last_out_of_branches(branch: cst.If, ctx: RewriteContext):
    """A statement that ends both branches follows them."""
    if not isinstance(branch.orelse, cst.Else):
        return
    first, second = branch.body, branch.orelse.body
    lasts = [b.body[-1] for b in (first, second) if isinstance(b, cst.IndentedBlock)]
    if len(lasts) != 2 or not all(isinstance(s, cst.SimpleStatementLine) for s in lasts):
        skip("a branch is written on one line or ends in a compound statement")
    if ctx.syntax.text_of(lasts[0]) != ctx.syntax.text_of(lasts[1]):
        skip("the branches end in different statements")
    bodies = [ctx.run(b.body[:-1]) if b.body[:-1] else "pass" for b in (first, second)]
    branches = f"if {condition_text(branch, ctx)}:\n{indented(bodies[0])}\nelse:\n{indented(bodies[1])}"
    yield f"{branches}\n{ctx.run(lasts[:1])}"


def connective_operands(branch: cst.If, ctx: RewriteContext, operator: type[cst.CSTNode]) -> tuple[str, str] | None:
    """Both sides of the condition ``left and right`` or ``left or right``."""
    if not isinstance(branch.test, cst.BooleanOperation) or not isinstance(branch.test.operator, operator):
        return None
    return require_one_text(ctx, branch.test.left), require_one_text(ctx, branch.test.right)


@rule(exact="bitwise", where=[floating("x", "y")], example=CHAIN)
def and_to_nested(branch: cst.If, ctx: RewriteContext):
    """``if a and b`` is ``if b`` inside ``if a``; with an ``else``, both have it."""
    sides = connective_operands(branch, ctx, cst.And)
    if sides is None:
        return
    inner = f"if {sides[1]}:\n{indented(ctx.block(branch.body))}{else_text(branch, ctx)}"
    require_short(inner)
    yield f"if {sides[0]}:\n{indented(inner)}{else_text(branch, ctx)}"


@rule(exact="bitwise", where=[floating("x", "y")], example=CHAIN)
def or_to_elif(branch: cst.If, ctx: RewriteContext):
    """``if a or b`` is ``if a`` and else ``if b`` with the same body."""
    sides = connective_operands(branch, ctx, cst.Or)
    if sides is None:
        return
    body = indented(ctx.block(branch.body))
    require_short(body)
    yield f"if {sides[0]}:\n{body}\nelif {sides[1]}:\n{body}{else_text(branch, ctx)}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y, k: Int):
        if k > 0:
            if x.dim() > 1 or k > 1:
                x = x + y
        return x
    """,
)
def nested_to_and(branch: cst.If, ctx: RewriteContext):
    """``if b`` that is all of ``if a`` is ``if a and b``, without any ``else``."""
    inner = only_statement(branch.body)
    if not isinstance(inner, cst.If):
        return
    if branch.orelse is not None or inner.orelse is not None:
        skip("the branch has an else")
    yield f"if ({condition_text(branch, ctx)}) and ({condition_text(inner, ctx)}):\n{indented(ctx.block(inner.body))}"


@rule(exact="bitwise", where=[floating("x", "y")], example=CHOSEN)
def conditional_expression_to_if(statement: cst.Assign | cst.Return, ctx: RewriteContext):
    """A conditional expression that is assigned or returned is a branch."""
    value = statement.value
    if not isinstance(value, cst.IfExp):
        return
    targets = statement.targets if isinstance(statement, cst.Assign) else ()
    head = "".join(f"{ctx.text(t.target)} = " for t in targets) or "return "
    first, second = require_one_text(ctx, value.body), require_one_text(ctx, value.orelse)
    yield f"if {condition_text(value, ctx)}:\n    {head}{first}\nelse:\n    {head}{second}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y, k: Int):
        if k > 0:
            r = x + y
        else: r = x - y
        if k > 1:
            return r, x
        else:
            return r
    """,
)
def if_to_conditional_expression(branch: cst.If, ctx: RewriteContext):
    """Two branches that assign one variable, or both return a value, are a conditional expression."""
    if not isinstance(branch.orelse, cst.Else):
        return
    first, second = only_statement(branch.body), only_statement(branch.orelse.body)
    if isinstance(first, cst.Return) and isinstance(second, cst.Return) and first.value and second.value:
        head, values = "return", (first.value, second.value)
    else:
        assignment, other = assigned(first), assigned(second)
        if assignment is None or other is None or assignment[0] != other[0]:
            skip("the branches do not both return, or assign one variable")
        head, values = f"{assignment[0]} =", (assignment[1], other[1])
    one, two = (require_one_text(ctx, value) for value in values)
    yield f"{head} ({one}) if ({condition_text(branch, ctx)}) else ({two})"
