"""Whole statements: runs moved into functions, order, dead code, assertions, and the forms of an assignment."""

from collections.abc import Sequence

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext, constant
from eqfuzz.rewrite.context.data_flow import (
    bound_before,
    captured,
    is_private,
    own_nodes,
    parameters_of,
    require_calm,
    require_first,
    require_no_handler,
    require_one_text,
    require_ordinary,
    require_same_elsewhere,
    shared_names,
    walk,
)
from eqfuzz.rewrite.facts.preconditions import real, wide
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, skip

REAL = [real("x", "y"), wide("x", "y")]
PAIR = """
def program(x, y):
    a = torch.sin(x)
    b = torch.cos(y)
    return a + b
"""
ONE = """
def program(x, y):
    a = torch.sin(x) + y
    return a * 2.5
"""


def small_statement(statement: cst.CSTNode) -> cst.CSTNode:
    """The one small statement of a line."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        skip("a statement of the run is compound, or one of several on its line")
    return statement.body[0]


def replace_run(ctx: RewriteContext, last: cst.CSTNode, text: str) -> Edit:
    """``text`` in place of the statements from the one here to ``last``."""
    return Edit((ctx.statement.span[0], ctx.syntax.span(last)[1]), ctx.at_indent(text))


def two_assignments(first: cst.Assign, ctx: RewriteContext) -> tuple[cst.Assign, str, str]:
    """The assignment after this one, and the one variable that each binds."""
    rest = ctx.statement.block[ctx.statement.index + 1 :]
    second = small_statement(rest[0]) if rest else None
    if not isinstance(second, cst.Assign):
        skip("no assignment follows")
    names = []
    for assign in (first, second):
        if len(assign.targets) != 1 or not isinstance(assign.targets[0].target, cst.Name):
            skip("the assignment binds more than one variable")
        names.append(assign.targets[0].target.value)
    require_ordinary(ctx)
    require_no_handler(ctx)
    if set(names) & (shared_names(ctx) | captured(ctx)):
        skip("other functions read the variables")
    return second, names[0], names[1]


@rule(exact="bitwise", where=REAL, example=PAIR)
def reordered_statements(first: cst.Assign, ctx: RewriteContext):
    """Two assignments that do not depend on each other change places."""
    second, a, b = two_assignments(first, ctx)
    for assign in (first, second):
        require_calm(ctx, assign.value)
    if a == b or a in ctx.names(second.value).reads or b in ctx.names(first.value).reads:
        skip("one statement depends on the other")
    yield replace_run(ctx, second, f"{ctx.lines(second)}\n{ctx.lines(first)}")


def tuple_item(ctx: RewriteContext, value: cst.BaseExpression) -> str:
    """The text of a value as an item of a tuple."""
    text = require_one_text(ctx, value)
    bare = isinstance(value, (cst.Name, cst.Call, cst.BinaryOperation, cst.Subscript, cst.Attribute))
    return text if bare or value.lpar else f"({text})"


@rule(exact="bitwise", where=REAL, example=PAIR)
def merged_assignments(first: cst.Assign, ctx: RewriteContext):
    """Two assignments become one of a tuple."""
    second, a, b = two_assignments(first, ctx)
    for assign in (first, second):
        require_same_elsewhere(assign.value)
    if a in ctx.names(second.value).reads:
        skip("the second statement depends on the first")
    values = f"{tuple_item(ctx, first.value)}, {tuple_item(ctx, second.value)}"
    yield replace_run(ctx, second, f"{a}, {b} = {values}")
    yield replace_run(ctx, second, f"({a}, {b}) = ({values})")


@rule(
    exact="bitwise",
    where=REAL,
    example="""
    def program(x, y):
        a, b = torch.sin(x), y * 2
        a, b = b, a
        return a - b
    """,
)
def split_assignment(assign: cst.Assign, ctx: RewriteContext):
    """An assignment of a tuple becomes one for each item."""
    value = assign.value
    target = assign.targets[0].target
    if len(assign.targets) != 1 or not isinstance(value, cst.Tuple) or not isinstance(target, (cst.Tuple, cst.List)):
        skip("the statement does not assign a tuple to a tuple")
    items, targets = [e.value for e in value.elements], [e.value for e in target.elements]
    starred = any(isinstance(e, cst.StarredElement) for e in (*value.elements, *target.elements))
    if starred or len(items) != len(targets):
        skip("the numbers of targets and values differ")
    require_ordinary(ctx)
    names = [ctx.new_name("t") for _ in items]
    lines = [f"{n} = {tuple_item(ctx, i)}" for n, i in zip(names, items, strict=True)]
    lines += [f"{ctx.text(t)} = {n}" for n, t in zip(names, targets, strict=True)]
    yield "\n".join(lines)


@rule(exact="bitwise", where=REAL, example=ONE)
def chained_assignment(assign: cst.Assign, ctx: RewriteContext):
    """A value is assigned to a second variable too."""
    if isinstance(assign.value, cst.Tuple) or len(assign.targets) != 1:
        skip("it assigns a tuple, or to several targets already")
    require_ordinary(ctx)
    name = ctx.new_name("also")
    target, value = ctx.text(assign.targets[0].target), require_one_text(ctx, assign.value)
    yield f"{name} = {target} = {value}"
    yield f"{target} = {name} = {value}"


@rule(exact="bitwise", where=REAL, example="def program(x, y):\n    a = b = torch.sin(x)\n    return a + b * y")
def unchained_assignment(assign: cst.Assign, ctx: RewriteContext):
    """An assignment to several targets becomes one for each, from left to right."""
    if len(assign.targets) < 2:
        skip("the assignment has one target")
    require_ordinary(ctx)
    name = ctx.new_name("t")
    lines = [f"{name} = {require_one_text(ctx, assign.value)}"]
    yield "\n".join([*lines, *(f"{ctx.text(t.target)} = {name}" for t in assign.targets)])


@rule(exact="bitwise", where=REAL, example=ONE)
def annotated_assignment(assign: cst.Assign, ctx: RewriteContext):
    """An assignment to a variable gets an annotation, which is never evaluated."""
    if len(assign.targets) != 1 or not isinstance(assign.targets[0].target, cst.Name):
        skip("the assignment binds more than one variable")
    name = assign.targets[0].target.value
    require_ordinary(ctx)
    if name in shared_names(ctx):
        skip(f"{name} is a variable of another scope")
    annotated = [n.target for n in own_nodes(ctx.statement.function) if isinstance(n, cst.AnnAssign)]
    if any(isinstance(t, cst.Name) and t.value == name for t in annotated):
        skip(f"{name} has an annotation already")
    if isinstance(assign.value, cst.Tuple) and not assign.value.lpar:
        skip("the value is a tuple without parentheses")
    yield f"{name}: object = {require_one_text(ctx, assign.value)}"


@rule(exact="bitwise", example="def program(x, n: Int):\n    n = n + 1\n    return x * n")
def augmented_number(assign: cst.Assign, ctx: RewriteContext):
    """``n = n + k`` of numbers is ``n += k``."""
    value, target = assign.value, assign.targets[0].target
    if len(assign.targets) != 1 or not isinstance(target, cst.Name) or not isinstance(value, cst.BinaryOperation):
        skip("the statement does not assign an operation to one variable")
    if not isinstance(value.left, cst.Name) or value.left.value != target.value:
        skip("the left operand is not the variable")
    for fact in ctx.facts(value.left):
        if not fact.is_number:
            skip(f"{target.value} is {fact.describe()}: an in-place operation would have another effect")
    require_same_elsewhere(value.right)
    yield f"{target.value} {operator_sign(value)}= {require_one_text(ctx, value.right)}"


def operator_sign(operation: cst.BinaryOperation) -> str:
    signs = {
        cst.Add: "+",
        cst.Subtract: "-",
        cst.Multiply: "*",
        cst.Divide: "/",
        cst.FloorDivide: "//",
        cst.Modulo: "%",
        cst.Power: "**",
    }
    return signs.get(type(operation.operator)) or skip("the operator has no such form")


@rule(
    exact="bitwise",
    where=[*REAL],
    example="""
    def program(x, y):
        t = x.detach() * y.detach()
        t = t + x.detach()
        return t * 2
    """,
)
def augmented_fresh_tensor(assign: cst.Assign, ctx: RewriteContext):
    """``t = t + y`` is ``t += y`` where ``t`` was just computed and has no other reference, without gradients."""
    value, target = assign.value, assign.targets[0].target
    if len(assign.targets) != 1 or not isinstance(target, cst.Name) or not isinstance(value, cst.BinaryOperation):
        skip("the statement does not assign an operation to one variable")
    name = target.value
    if not isinstance(value.left, cst.Name) or value.left.value != name or name in ctx.names(value.right).reads:
        skip("the variable does not occur only as the left operand")
    if not isinstance(value.operator, (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)):
        skip("the operator has no such form")
    before = small_statement(ctx.statement.block[ctx.statement.index - 1]) if ctx.statement.index else None
    if not isinstance(before, cst.Assign) or not isinstance(before.value, cst.BinaryOperation):
        skip("the tensor was not computed just before")
    if len(before.targets) != 1 or before.targets[0].target.deep_equals(target) is False:
        skip("the tensor was not computed just before")
    require_calm(ctx, before.value)
    require_calm(ctx, value)
    if name in shared_names(ctx):
        skip(f"{name} is a variable of another scope")
    for old, value_fact, new in zip(
        ctx.tensors(value.left), ctx.tensors(before.value), ctx.tensors(value), strict=False
    ):
        same = (old.dtype, old.shape, old.stride) == (new.dtype, new.shape, new.stride)
        if not same or old.requires_grad or new.requires_grad or value_fact.requires_grad:
            skip("the result has another dtype, shape or layout, or needs a gradient")
    require_same_elsewhere(value.right)
    yield f"{name} {operator_sign(value)}= {require_one_text(ctx, value.right)}"


@rule(exact="bitwise", where=REAL, example=ONE)
def dead_computation(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A subexpression is computed once more before the statement, and dropped."""
    ctx.tensors(node)
    require_calm(ctx, node)
    text = require_one_text(ctx, node)
    require_first(ctx, node)
    yield ctx.text(node), ctx.ahead(f"{ctx.new_name('unused')} = {text}")


@rule(exact="bitwise", where=REAL, example=ONE)
def dead_list(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """A list takes a tensor of the statement, is changed, and dropped."""
    operand, _ = tensor_variable_read(node, ctx)
    ctx.tensors(node)
    require_first(ctx, operand)
    name = ctx.new_name("unused")
    read = operand.value
    yield ctx.text(node), ctx.ahead(f"{name} = []\n{name}.append({read})\n{name}.clear()")
    yield ctx.text(node), ctx.ahead(f"{name} = [{read}, None]\n{name}[1] = {name}[0]\ndel {name}[0]")


def tensor_variable_read(node: cst.BaseExpression, ctx: RewriteContext) -> tuple[cst.Name, Sequence]:
    """The first local variable in ``node`` that was a tensor every time, with its facts."""
    require_ordinary(ctx)
    for operand in walk(node):
        if isinstance(operand, cst.Name) and operand.value in ctx.locals and operand is not node:
            facts = ctx.recorded(operand)
            if facts and all(f.is_tensor for f in facts):
                return operand, facts
    return skip("the expression reads no variable that is a tensor")


@rule(exact="bitwise", where=REAL, example=ONE)
def asserted_fact(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """What is known of a tensor is asserted before the statement: its rank, dtype, sizes."""
    operand, facts = tensor_variable_read(node, ctx)
    require_first(ctx, operand)
    ctx.tensors(node)
    name = operand.value
    if len({f.ndim for f in facts}) == 1:
        yield ctx.text(node), ctx.ahead(f"assert {name}.dim() == {facts[0].ndim}")
    if len({f.dtype for f in facts}) == 1:
        dtype = str(facts[0].dtype).removeprefix("torch.")
        yield ctx.text(node), ctx.ahead(f"assert {name}.dtype is {ctx.path(f'torch.{dtype}')}, {name}.dtype")
    if len({f.shape for f in facts}) == 1:
        yield ctx.text(node), ctx.ahead(f"assert {ctx.builtin('tuple')}({name}.shape) == {facts[0].shape}")


@rule(exact="bitwise", where=REAL, example=ONE)
def isinstance_guard(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """An expression is computed on the condition that an operand is a tensor, which it is."""
    operand, _ = tensor_variable_read(node, ctx)
    ctx.tensors(node)
    if operand.value not in parameters_of(ctx, node):
        skip(f"{operand.value} is not a variable of the expression")
    check = f"{ctx.builtin('isinstance')}({operand.value}, {ctx.path('torch.Tensor')})"
    yield f"{ctx.text(node)} if {check} else None"


@rule(exact="bitwise", where=REAL, example=ONE)
def global_constant(node: cst.BinaryOperation, ctx: RewriteContext):
    """A number becomes a constant of the module."""
    ctx.tensors(node)
    require_ordinary(ctx)
    for operand in (node.left, node.right):
        if constant(operand) is not None and constant(operand).is_number:
            name = ctx.new_name("K")
            yield ctx.replace(operand, name), ctx.define(f"{name} = {ctx.text(operand)}")


RUN = """
def program(x, y):
    a = torch.sin(x) + y
    b = a * 2
    b = b - y
    return b, a
"""


def comma_separated(names: Sequence[str]) -> str:
    return ", ".join(names)


def _require_indentable(ctx: RewriteContext, statement: cst.CSTNode) -> None:
    if "'''" in ctx.text(statement) or '"""' in ctx.text(statement):
        skip("a string of several lines cannot be indented differently")


def parameters_and_results(ctx: RewriteContext, run: Sequence[cst.CSTNode]) -> tuple[list[str], list[str]]:
    """What a function needs and returns that runs the assignments ``run``; Skip where it would differ."""
    require_ordinary(ctx)
    require_no_handler(ctx)
    needs: set[str] = set()
    stored: set[str] = set()
    for statement in run:
        if not isinstance(small_statement(statement), (cst.Assign, cst.AugAssign)):
            skip("the run has other statements than assignments")
        require_same_elsewhere(statement)
        _require_indentable(ctx, statement)
        if any(isinstance(n, (cst.ListComp, cst.SetComp, cst.DictComp)) for n in walk(statement)):
            skip("comprehensions are not supported")
        names = ctx.names(statement)
        needs |= (names.reads & ctx.locals) - stored
        stored |= names.stores
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


@rule(exact="bitwise", where=REAL, example=RUN)
def outlined_statements(first: cst.Assign | cst.AugAssign, ctx: RewriteContext):
    """A run of two or three assignments is moved into a function that returns what they bind."""
    block, index = ctx.statement.block, ctx.statement.index
    for count in (2, 3):
        run = block[index : index + count]
        if len(run) < count:
            skip("too few statements follow")
        needs, stored = parameters_and_results(ctx, run)
        name = ctx.new_name("part")
        body = "".join(f"    {line}\n" for statement in run for line in ctx.lines(statement).splitlines())
        comma = "," if len(stored) == 1 else ""
        yield (
            replace_run(ctx, run[-1], f"{comma_separated(stored)}{comma} = {name}({comma_separated(needs)})"),
            ctx.define(f"def {name}({comma_separated(needs)}):\n{body}    return {comma_separated(stored)}{comma}"),
        )


@rule(exact="bitwise", where=REAL, example=[RUN, ONE])
def outlined_rest(statement: cst.Assign | cst.AugAssign | cst.Return | cst.If | cst.For, ctx: RewriteContext):
    """The rest of a function's body is moved into a function, whose result it returns."""
    require_ordinary(ctx)
    function = ctx.statement.function
    if ctx.statement.block is not function.body.body:
        skip("the statement is nested in a compound statement")
    rest = ctx.statement.block[ctx.statement.index :]
    if any(
        isinstance(n, (cst.Yield, cst.Await, cst.Global, cst.Nonlocal)) for s in function.body.body for n in walk(s)
    ):
        skip("the function yields, awaits, or changes variables of other functions")
    if function.asynchronous is not None:
        skip("the function awaits")
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
        names = ctx.names(part)
        reads |= names.reads & ctx.locals
        stored |= names.stores
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
        replace_run(ctx, rest[-1], f"return {name}({comma_separated(sorted(needs))})"),
        ctx.define(f"def {name}({comma_separated(sorted(needs))}):\n{body.rstrip()}"),
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
