"""Breaks, continues and elses of loops: brought in, taken out, and turned into conditions and flags."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import require_one_text, walk
from eqfuzz.rewrite.context.loop_control import (
    fresh,
    jumps,
    parent_loop,
    require_no_jump,
    require_unseen,
)
from eqfuzz.rewrite.context.patterns import only_statement
from eqfuzz.rewrite.facts.preconditions import floating
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, indented, skip

ONE = """
def program(x, y):
    t = torch.tanh(x) * y
    t += 1
    return t * y
"""


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        k = 0
        while k < 4 and x.dim() < 9:
            k += 1
            if k == 2:
                continue
            x = x * 0.5 + y
        else:
            x = x - 1
        return x, k
    """,
)
def while_to_forever(loop: cst.While, ctx: RewriteContext):
    """A while loop tests its condition inside an endless loop."""
    if isinstance(loop.test, cst.Name) and loop.test.value == "True":
        return
    if loop.orelse is not None:
        require_no_jump(loop.orelse)
    ended = indented(f"{ctx.block(loop.orelse.body)}\nbreak" if loop.orelse is not None else "break")
    test = require_one_text(ctx, loop.test)
    yield f"while True:\n{indented(f'if not ({test}):{chr(10)}{ended}{chr(10)}{ctx.block(loop.body)}')}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        for j in range(5):
            if j % 2 == 0:
                x = x + y * j
        for j in range(4):
            x = x * 0.5
            if j == 2:
                x = x - y
            else:
                y = y + 1
        return x, y
    """,
)
def last_if_to_continue(branch: cst.If, ctx: RewriteContext):
    """A condition at the end of a loop's body continues with the next iteration where it does not hold."""
    if parent_loop(ctx) is None or ctx.statement.index != len(ctx.statement.block) - 1:
        return
    if isinstance(branch.orelse, cst.If):
        skip("the condition has several branches")
    other = f"{ctx.block(branch.orelse.body)}\ncontinue" if branch.orelse is not None else "continue"
    test = require_one_text(ctx, branch.test)
    yield f"if not ({test}):\n{indented(other)}\n{ctx.block(branch.body)}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        for j in range(5):
            y = y + 1
            if j % 2 == 0:
                continue
            x = x + y * j
            x = x * 2
        return x, y
    """,
)
def continue_to_if(branch: cst.If, ctx: RewriteContext):
    """What stands behind a ``continue`` stands under the opposite condition."""
    if not isinstance(only_statement(branch.body), cst.Continue) or branch.orelse is not None:
        return
    rest = ctx.statement.block[ctx.statement.index + 1 :]
    if parent_loop(ctx) is None or not rest:
        skip("no statement of the loop's body follows")
    end = ctx.syntax.span(rest[-1])[1]
    test = require_one_text(ctx, branch.test)
    yield f"if not ({test}):\n{indented(ctx.run(rest))}", Edit((ctx.here.span[1], end), "")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        for j in range(5):
            x = x + y * j
            if j == 3:
                y = y + 1
                break
            if x.dim() == j: break
            x = x * 2
        return x, y
    """,
)
def break_to_flag(loop: cst.For, ctx: RewriteContext):
    """A loop that is left early runs to its end with its iterations switched off by a flag."""
    breaks = [j for j in jumps(loop.body) if isinstance(j, cst.Break)]
    if not breaks:
        return
    if loop.orelse is not None:
        skip("the loop has an else")
    facts = ctx.facts(loop.iter)
    if any(f.kind not in ("range", "tuple", "tensor") for f in facts):
        skip(f"{facts[0].describe()} may have side effects when it is advanced")
    targets = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)}
    require_unseen(ctx, targets, loop)
    done = fresh(ctx, "done")
    body = ctx.block(loop.body, [Edit(ctx.syntax.span(b), f"{done} = True; continue") for b in breaks])
    head = f"for {ctx.text(loop.target)} in {ctx.text(loop.iter)}:"
    yield f"{done} = False\n{head}\n{indented(f'if {done}:{chr(10)}    continue{chr(10)}{body}')}"


def movable_lines(statement: cst.CSTNode, ctx: RewriteContext) -> str:
    """The lines of a statement that may stand in a loop; Skip for a docstring."""
    if isinstance(statement, cst.Expr) and isinstance(statement.value, (cst.SimpleString, cst.ConcatenatedString)):
        skip("the statement may be a docstring")
    return ctx.lines(statement)


def loop_with_break(statement: cst.CSTNode, lines: str) -> str:
    return indented(lines if isinstance(statement, cst.Return) else f"{lines}\nbreak")


@rule(exact="bitwise", where=[floating("x", "y")], example=ONE)
def statement_to_single_loop(statement: cst.Assign | cst.AugAssign | cst.Return | cst.Expr, ctx: RewriteContext):
    """A statement is a loop of one iteration."""
    yield f"for {fresh(ctx, 'once')} in {ctx.builtin('range')}(1):\n{indented(movable_lines(statement, ctx))}"


@rule(exact="bitwise", where=[floating("x", "y")], example=ONE)
def statement_to_loop_with_break(statement: cst.Assign | cst.AugAssign | cst.Return | cst.Expr, ctx: RewriteContext):
    """A statement is a longer loop that is left in its first iteration."""
    body = loop_with_break(statement, movable_lines(statement, ctx))
    yield f"for {fresh(ctx, 'turn')} in {ctx.builtin('range')}(5):\n{body}"
    yield f"while True:\n{body}"


@rule(exact="bitwise", where=[floating("x", "y")], example=ONE)
def else_of_a_loop(statement: cst.Assign | cst.AugAssign | cst.Return | cst.Expr, ctx: RewriteContext):
    """A statement is the else of a loop that does nothing and is not broken off."""
    body = indented(movable_lines(statement, ctx))
    yield f"for {fresh(ctx, 'idle')} in {ctx.builtin('range')}(2):\n    pass\nelse:\n{body}"
    yield f"while False:\n    pass\nelse:\n{body}"
