"""Statements moved into functions: a run of assignments, the rest of a body."""

from collections.abc import Sequence

import libcst as cst

from eqfuzz.rewrite.context.context import Place
from eqfuzz.rewrite.context.data_flow import (
    bound_before,
    captured,
    demand_no_handler,
    demand_ordinary,
    demand_same_elsewhere,
    is_private,
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


def _demand_indentable(at: Place, statement: cst.CSTNode) -> None:
    if "'''" in at.text(statement) or '"""' in at.text(statement):
        skip("a string that goes over several lines cannot be indented otherwise")


def _needs(at: Place, run: Sequence[cst.CSTNode]) -> tuple[list[str], list[str]]:
    """What a function needs and returns that runs the assignments ``run``; Skip where it would differ."""
    demand_ordinary(at)
    demand_no_handler(at)
    needs: set[str] = set()
    stored: set[str] = set()
    for statement in run:
        if not isinstance(_small(statement), (cst.Assign, cst.AugAssign)):
            skip("the run has other statements than assignments")
        demand_same_elsewhere(statement)
        _demand_indentable(at, statement)
        if any(isinstance(n, (cst.ListComp, cst.SetComp, cst.DictComp)) for n in walk(statement)):
            skip("comprehensions are not followed")
        found = at.names(statement)
        needs |= (found.reads & at.locals) - stored
        stored |= found.stores
    _demand_own(at, needs | stored, stored)
    if missing := sorted(needs - bound_before(at)):
        skip(f"{missing[0]} may have no value yet")
    if not stored:
        skip("the run binds no variable")
    return sorted(needs), sorted(stored)


def _demand_own(at: Place, names: set[str], stored: set[str]) -> None:
    """Skip when a call could see or change these variables while they are those of another function."""
    if unsafe := sorted(names & shared_names(at)):
        skip(f"a call may change {unsafe[0]} in between")
    if seen := sorted(stored & captured(at)):
        skip(f"a nested function sees {seen[0]}")


def _over(at: Place, last: cst.CSTNode, text: str) -> Edit:
    """``text`` in place of the statements from the one here to ``last``."""
    return Edit((at.statement.span[0], at.syntax.span(last)[1]), at.at_indent(text))


@rule(exact="bitwise", where=REAL, example=RUN)
def outlined_statements(first: cst.Assign | cst.AugAssign, at: Place):
    """A run of two or three assignments is moved into a function that returns what they bind."""
    block, index = at.statement.block, at.statement.index
    for count in (2, 3):
        run = block[index : index + count]
        if len(run) < count:
            skip("too few statements follow")
        needs, stored = _needs(at, run)
        name = at.new_name("part")
        body = "".join(f"    {line}\n" for statement in run for line in at.lines(statement).splitlines())
        comma = "," if len(stored) == 1 else ""
        yield (
            _over(at, run[-1], f"{_listed(stored)}{comma} = {name}({_listed(needs)})"),
            at.define(f"def {name}({_listed(needs)}):\n{body}    return {_listed(stored)}{comma}"),
        )


@rule(exact="bitwise", where=REAL, example=[RUN, ONE])
def outlined_rest(statement: cst.Assign | cst.AugAssign | cst.Return | cst.If | cst.For, at: Place):
    """The rest of a function's body is moved into a function, whose result it returns."""
    demand_ordinary(at)
    function = at.statement.function
    if at.statement.block is not function.body.body:
        skip("it is not at the level of the function's body")
    rest = at.statement.block[at.statement.index :]
    if any(
        isinstance(n, (cst.Yield, cst.Await, cst.Global, cst.Nonlocal)) for s in function.body.body for n in walk(s)
    ):
        skip("the function yields, waits, or changes variables of others")
    if function.asynchronous is not None:
        skip("the function waits")
    reads: set[str] = set()
    stored: set[str] = set()
    for part in rest:
        _demand_indentable(at, part)
        if isinstance(part, cst.FunctionDef) and part.decorators:
            skip("a function in it is decorated")
        for inner in walk(part):
            if isinstance(inner, cst.Name) and (inner.value in ("super", "__class__") or is_private(inner.value)):
                skip(f"{inner.value} means something else in another function")
            if isinstance(inner, (cst.Del, cst.ClassDef)):
                skip("a variable is deleted, or a class would get another name")
        found = at.names(part)
        reads |= found.reads & at.locals
        stored |= found.stores
    bound = bound_before(at)
    start = at.statement.span[0]
    before = {n.value for n in walk(function) if isinstance(n, cst.Name) and at.syntax.span(n)[0] < start}
    needs = reads & (bound | before)
    own = {name for part in function.body.body for name in at.names(part).stores}
    own |= {n.name.value for n in walk(function.params) if isinstance(n, cst.Param)}
    if outer := sorted((reads & at.locals) - own):
        skip(f"{outer[0]} may be a variable of another function")
    if missing := sorted(needs - bound):
        skip(f"{missing[0]} may have no value yet")
    _demand_own(at, needs | stored, stored & _captured_before(at, start))
    name = at.new_name("rest")
    body = "".join(f"    {line}\n" if line else "\n" for part in rest for line in at.lines(part).splitlines())
    yield (
        _over(at, rest[-1], f"return {name}({_listed(sorted(needs))})"),
        at.define(f"def {name}({_listed(sorted(needs))}):\n{body.rstrip()}"),
    )


def _captured_before(at: Place, offset: int) -> set[str]:
    """Names that functions mention which were made before ``offset``."""
    holders = (cst.FunctionDef, cst.Lambda, cst.GeneratorExp, cst.ClassDef)
    return {
        inner.value
        for node in walk(at.statement.function.body)
        if isinstance(node, holders) and at.syntax.span(node)[0] < offset
        for inner in walk(node)
        if isinstance(inner, cst.Name)
    }
