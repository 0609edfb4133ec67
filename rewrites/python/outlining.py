"""Statements moved into functions: a run of assignments, the rest of a body."""

from collections.abc import Sequence

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import (
    bound_before,
    captured,
    is_private,
    require_no_handler,
    require_ordinary,
    require_same_elsewhere,
    shared_names,
    walk,
)
from eqfuzz.rewrite.facts.preconditions import real, wide
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, skip

REAL = [real("x", "y"), wide("x", "y")]
RUN = """
def program(x, y):
    a = torch.sin(x) + y
    b = a * 2
    b = b - y
    return b, a
"""
ONE = """
def program(x, y):
    a = torch.sin(x) + y
    return a * 2.5
"""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _small(statement: cst.CSTNode) -> cst.CSTNode:
    """The one small statement of a line."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        skip("a statement of the run is compound, or one of several on its line")
    return statement.body[0]


def _require_indentable(ctx: RewriteContext, statement: cst.CSTNode) -> None:
    if "'''" in ctx.text(statement) or '"""' in ctx.text(statement):
        skip("a string that goes over several lines cannot be indented otherwise")


def _needs(ctx: RewriteContext, run: Sequence[cst.CSTNode]) -> tuple[list[str], list[str]]:
    """What a function needs and returns that runs the assignments ``run``; Skip where it would differ."""
    require_ordinary(ctx)
    require_no_handler(ctx)
    needs: set[str] = set()
    stored: set[str] = set()
    for statement in run:
        if not isinstance(_small(statement), (cst.Assign, cst.AugAssign)):
            skip("the run has other statements than assignments")
        require_same_elsewhere(statement)
        _require_indentable(ctx, statement)
        if any(isinstance(n, (cst.ListComp, cst.SetComp, cst.DictComp)) for n in walk(statement)):
            skip("comprehensions are not followed")
        found = ctx.names(statement)
        needs |= (found.reads & ctx.locals) - stored
        stored |= found.stores
    _require_own(ctx, needs | stored, stored)
    if missing := sorted(needs - bound_before(ctx)):
        skip(f"{missing[0]} may have no value yet")
    if not stored:
        skip("the run binds no variable")
    return sorted(needs), sorted(stored)


def _require_own(ctx: RewriteContext, names: set[str], stored: set[str]) -> None:
    """Skip when a call could see or change these variables while they are those of another function."""
    if unsafe := sorted(names & shared_names(ctx)):
        skip(f"a call may change {unsafe[0]} in between")
    if seen := sorted(stored & captured(ctx)):
        skip(f"a nested function sees {seen[0]}")


def _over(ctx: RewriteContext, last: cst.CSTNode, text: str) -> Edit:
    """``text`` in place of the statements from the one here to ``last``."""
    return Edit((ctx.statement.span[0], ctx.syntax.span(last)[1]), ctx.at_indent(text))


@rule(exact="bitwise", where=REAL, example=RUN)
def outlined_statements(first: cst.Assign | cst.AugAssign, ctx: RewriteContext):
    """A run of two or three assignments is moved into a function that returns what they bind."""
    block, index = ctx.statement.block, ctx.statement.index
    for count in (2, 3):
        run = block[index : index + count]
        if len(run) < count:
            skip("too few statements follow")
        needs, stored = _needs(ctx, run)
        name = ctx.new_name("part")
        body = "".join(f"    {line}\n" for statement in run for line in ctx.lines(statement).splitlines())
        comma = "," if len(stored) == 1 else ""
        yield (
            _over(ctx, run[-1], f"{_listed(stored)}{comma} = {name}({_listed(needs)})"),
            ctx.define(f"def {name}({_listed(needs)}):\n{body}    return {_listed(stored)}{comma}"),
        )


@rule(exact="bitwise", where=REAL, example=[RUN, ONE])
def outlined_rest(statement: cst.Assign | cst.AugAssign | cst.Return | cst.If | cst.For, ctx: RewriteContext):
    """The rest of a function's body is moved into a function, whose result it returns."""
    require_ordinary(ctx)
    function = ctx.statement.function
    if ctx.statement.block is not function.body.body:
        skip("it is not at the level of the function's body")
    rest = ctx.statement.block[ctx.statement.index :]
    if any(
        isinstance(n, (cst.Yield, cst.Await, cst.Global, cst.Nonlocal)) for s in function.body.body for n in walk(s)
    ):
        skip("the function yields, waits, or changes variables of others")
    if function.asynchronous is not None:
        skip("the function waits")
    reads: set[str] = set()
    stored: set[str] = set()
    for part in rest:
        _require_indentable(ctx, part)
        if isinstance(part, cst.FunctionDef) and part.decorators:
            skip("a function in it is decorated")
        for inner in walk(part):
            if isinstance(inner, cst.Name) and (inner.value in ("super", "__class__") or is_private(inner.value)):
                skip(f"{inner.value} means something else in another function")
            if isinstance(inner, (cst.Del, cst.ClassDef)):
                skip("a variable is deleted, or a class would get another name")
        found = ctx.names(part)
        reads |= found.reads & ctx.locals
        stored |= found.stores
    bound = bound_before(ctx)
    start = ctx.statement.span[0]
    before = {n.value for n in walk(function) if isinstance(n, cst.Name) and ctx.syntax.span(n)[0] < start}
    needs = reads & (bound | before)
    own = {name for part in function.body.body for name in ctx.names(part).stores}
    own |= {n.name.value for n in walk(function.params) if isinstance(n, cst.Param)}
    if outer := sorted((reads & ctx.locals) - own):
        skip(f"{outer[0]} may be a variable of another function")
    if missing := sorted(needs - bound):
        skip(f"{missing[0]} may have no value yet")
    _require_own(ctx, needs | stored, stored & _captured_before(ctx, start))
    name = ctx.new_name("rest")
    body = "".join(f"    {line}\n" if line else "\n" for part in rest for line in ctx.lines(part).splitlines())
    yield (
        _over(ctx, rest[-1], f"return {name}({_listed(sorted(needs))})"),
        ctx.define(f"def {name}({_listed(sorted(needs))}):\n{body.rstrip()}"),
    )


def _captured_before(ctx: RewriteContext, offset: int) -> set[str]:
    """Names that functions mention which were made before ``offset``."""
    holders = (cst.FunctionDef, cst.Lambda, cst.GeneratorExp, cst.ClassDef)
    return {
        inner.value
        for node in walk(ctx.statement.function.body)
        if isinstance(node, holders) and ctx.syntax.span(node)[0] < offset
        for inner in walk(node)
        if isinstance(inner, cst.Name)
    }
