"""Temporaries: subexpressions given a name, names replaced by what they stand for, equal parts computed once."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import (
    bound_before,
    captured,
    path_to,
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
from eqfuzz.rewrite.source.edit import Edit, Skip, edited, skip
from eqfuzz.rewrite.source.evaluation_order import held_back
from eqfuzz.rewrite.source.template import code_of

REAL = [real("x", "y"), wide("x", "y")]
NESTED = """
def program(x, y):
    return torch.tanh(torch.sin(x) + y)
"""
NAMED = """
def program(x, y):
    t = torch.sin(x)
    return t * y
"""
TWICE = """
def program(x, y):
    t = torch.sin(x)
    return t * t + y
"""

Follower = cst.Assign | cst.Return | cst.AugAssign | cst.Expr


@rule(exact="bitwise", where=REAL, example=NESTED)
def extracted_temporary(node: cst.BinaryOperation | cst.Call | cst.Subscript, ctx: RewriteContext):
    """A subexpression is computed in a statement of its own."""
    ctx.tensors(node)
    require_one_text(ctx, node)
    require_first(ctx, node)
    name = ctx.new_name("t")
    yield name, ctx.hoisted(node, name)


@rule(exact="bitwise", where=REAL, example=NESTED)
def returned_temporary(statement: cst.Return, ctx: RewriteContext):
    """What is returned gets a name first."""
    if statement.value is None or isinstance(statement.value, cst.Name):
        skip("the statement has no subexpression to name")
    require_ordinary(ctx)
    name = ctx.new_name("result")
    yield f"{name} = {require_one_text(ctx, statement.value)}\nreturn {name}"


def target_of(assign: cst.Assign) -> str:
    """The one variable that an assignment binds."""
    if len(assign.targets) != 1 or not isinstance(assign.targets[0].target, cst.Name):
        skip("the assignment binds more than one variable")
    return assign.targets[0].target.value


def next_statement(ctx: RewriteContext) -> cst.CSTNode:
    """The small statement, or the ``if``, that comes next."""
    rest = ctx.statement.block[ctx.statement.index + 1 :]
    if not rest:
        skip("no statement follows")
    following = rest[0]
    if isinstance(following, cst.If):
        return following
    if not isinstance(following, cst.SimpleStatementLine) or len(following.body) != 1:
        skip("the next statement is compound, or several on one line")
    if not isinstance(following.body[0], Follower):
        skip("the next statement neither computes nor tests anything")
    return following.body[0]


def first_expression(statement: cst.CSTNode) -> cst.BaseExpression:
    """The expression of a statement that is evaluated first."""
    value = statement.test if isinstance(statement, cst.If) else getattr(statement, "value", None)
    return value if value is not None else skip("the next statement evaluates nothing")


def variables_in(node: cst.CSTNode, name: str) -> list[cst.Name]:
    """Where ``name`` stands for a variable inside ``node``, in source order; attributes and keywords do not count."""
    reads: list[cst.Name] = []
    pending: list[cst.CSTNode] = [node]
    while pending:
        here = pending.pop()
        if isinstance(here, cst.Name) and here.value == name:
            reads.append(here)
        hidden = {here.attr} if isinstance(here, cst.Attribute) else {here.keyword} if isinstance(here, cst.Arg) else ()
        pending.extend(child for child in reversed(here.children) if child not in hidden)
    return reads


def text_with_replacements(ctx: RewriteContext, node: cst.CSTNode, parts: dict[cst.BaseExpression, str]) -> str:
    """The text of ``node`` with some expressions in it replaced; bracketed when it has several lines."""
    start, end = ctx.syntax.span(node)
    edits = [Edit((a - start, b - start), text) for part, text in parts.items() for a, b in [ctx.syntax.span(part)]]
    text = edited(ctx.syntax.text[start:end], edits)
    return f"({text})" if "\n" in text and isinstance(node, cst.BaseExpression) else text


@rule(exact="bitwise", where=REAL, example=NAMED)
def inlined_temporary(assign: cst.Assign, ctx: RewriteContext):
    """A temporary that is used once, at the beginning of the next statement, is replaced by what it stands for."""
    name, following = target_of(assign), next_statement(ctx)
    require_ordinary(ctx)
    require_no_handler(ctx)
    if any(isinstance(n, (cst.NamedExpr, cst.Yield, cst.Await)) for n in walk(assign.value)):
        skip("it binds a name or awaits")
    if isinstance(assign.value, cst.Tuple) and not assign.value.lpar:
        skip("the value is a tuple without parentheses")
    uses = variables_in(first_expression(following), name)
    if len(uses) != 1 or len(variables_in(ctx.statement.function, name)) != 2:
        skip(f"{name} is not used exactly once")
    reason = held_back(uses[0], following, pure=_both_calm(ctx, assign.value, following))
    if reason is not None or shared_names(ctx):
        skip(reason or "a call may change variables that are read before it")
    _require_callees(ctx, following, uses[0])
    text = require_one_text(ctx, assign.value)
    bare = isinstance(assign.value, (cst.Name, cst.Call)) or assign.value.lpar
    replaced = text_with_replacements(ctx, following, {uses[0]: text if bare else f"({text})"})
    yield Edit((ctx.statement.span[0], ctx.syntax.span(following)[1]), replaced)


def _both_calm(ctx: RewriteContext, value: cst.BaseExpression, following: cst.CSTNode) -> bool:
    """Whether neither expression does more than compute, so that their order is free."""
    if isinstance(following, cst.AugAssign):
        return False
    try:
        require_calm(ctx, value)
        require_calm(ctx, first_expression(following))
    except Skip:  # the reason is of no use: the stricter order is asked for then
        return False
    return True


def _require_callees(ctx: RewriteContext, statement: cst.CSTNode, use: cst.Name) -> None:
    """Skip when a callee is looked up before ``use`` and could be another one then; and inside a formatted string."""
    if any(isinstance(node, cst.FormattedString) for node in path_to(statement, use)):
        skip("the expression is inside a formatted string")
    for node in walk(statement):
        if isinstance(node, cst.Call) and ctx.syntax.span(node.func)[1] <= ctx.syntax.span(use)[0]:
            is_named = ctx.resolved(node.func) is not None or isinstance(node.func, cst.Name)
            on_variable = isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Name)
            if not is_named and not (on_variable and node.func.value.value != "self"):
                skip("the callee is looked up before the argument")


@rule(exact="bitwise", where=REAL, example=[NAMED, TWICE])
def walrus_from_statement(assign: cst.Assign, ctx: RewriteContext):
    """A temporary is bound where the next statement reads it first."""
    name, following = target_of(assign), next_statement(ctx)
    require_ordinary(ctx)
    require_no_handler(ctx)
    if name in shared_names(ctx):
        skip(f"a call may change {name} in between")
    if any(isinstance(n, (cst.NamedExpr, cst.Yield, cst.Await)) for n in walk(assign.value)):
        skip("it binds a name or awaits")
    uses = variables_in(first_expression(following), name)
    if not uses:
        skip(f"the next statement does not read {name}")
    if isinstance(following, cst.AugAssign) and variables_in(following.target, name):
        skip(f"{name} is read before")
    reason = held_back(uses[0], following, pure=False)
    if reason is not None or shared_names(ctx):
        skip(reason or "a call may change variables that are read before it")
    _require_callees(ctx, following, uses[0])
    walrus = f"({name} := {require_one_text(ctx, assign.value)})"
    if isinstance(assign.value, cst.Tuple) and not assign.value.lpar:
        skip("the value is a tuple without parentheses")
    yield Edit(
        (ctx.statement.span[0], ctx.syntax.span(following)[1]),
        text_with_replacements(ctx, following, {uses[0]: walrus}),
    )


@rule(
    exact="bitwise",
    where=REAL,
    example="""
    def program(x, y):
        return (t := torch.sin(x)) * y + t
    """,
)
def statement_from_walrus(statement: cst.Assign | cst.Return | cst.AugAssign | cst.Expr | cst.If, ctx: RewriteContext):
    """What a walrus binds is bound in a statement before."""
    value = first_expression(statement)
    require_ordinary(ctx)
    for node in walk(value):
        if not isinstance(node, cst.NamedExpr) or not isinstance(node.target, cst.Name):
            continue
        reason = held_back(node, statement, pure=False)
        if reason is not None:
            skip(reason)
        name = node.target.value
        start = ctx.syntax.span(node)[0]
        if any(ctx.syntax.span(n)[0] < start for n in variables_in(statement, name)) or shared_names(ctx):
            skip(f"{name} is read before, or a call may change it")
        if any(isinstance(n, (cst.NamedExpr, cst.Yield, cst.Await)) for n in walk(node.value)):
            skip("it binds another name or awaits")
        if isinstance(statement, cst.AugAssign):
            skip("the target is read before")
        yield ctx.replace(node, name), ctx.ahead(f"{name} = {require_one_text(ctx, node.value)}")


def copyable_operands(ctx: RewriteContext, value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Operands of arithmetic whose results are new tensors: there an equal copy serves as well as the tensor."""
    repeated = [
        operand
        for node in walk(value)
        if isinstance(node, cst.BinaryOperation)
        for operand in (node.left, node.right)
        if not isinstance(operand, (cst.Integer, cst.Float))
    ]
    if {"register_hook", "retain_grad", "grad"} & ctx.syntax.attributes:
        skip("the gradient of an intermediate result may be read")
    return repeated


@rule(exact="bitwise", where=REAL, example=TWICE)
def duplicated_subexpression(assign: cst.Assign, ctx: RewriteContext):
    """What a temporary stands for is computed once more in the next statement."""
    name, following = target_of(assign), next_statement(ctx)
    require_ordinary(ctx)
    value = first_expression(following)
    ctx.tensors(assign.value)
    require_calm(ctx, assign.value)
    require_calm(ctx, value)
    if name in ctx.names(assign.value).reads or name in shared_names(ctx):
        skip(f"{name} has another value afterwards")
    if isinstance(assign.value, cst.Name):
        skip("the statement has nothing to compute")
    uses = [o for o in copyable_operands(ctx, value) if isinstance(o, cst.Name) and o.value == name]
    if not uses:
        skip(f"{name} is no operand in the next statement")
    text = require_one_text(ctx, assign.value)
    bare = text if isinstance(assign.value, cst.Call) or assign.value.lpar else f"({text})"
    for use in uses:
        ctx.tensors(use)
        replaced = text_with_replacements(ctx, value, {use: bare})
        yield ctx.text(assign), ctx.replace(value, replaced)


@rule(
    exact="bitwise",
    where=REAL,
    example="""
    def program(x, y):
        return torch.sin(x) * y + torch.sin(x) * torch.sin(x)
    """,
)
def merged_subexpressions(statement: cst.Assign | cst.Return | cst.Expr, ctx: RewriteContext):
    """A subexpression that occurs several times in a statement is computed once."""
    value = first_expression(statement)
    require_ordinary(ctx)
    equal: dict[str, list[cst.BaseExpression]] = {}
    for operand in copyable_operands(ctx, value):
        if isinstance(operand, (cst.Call, cst.BinaryOperation, cst.Subscript)):
            equal.setdefault(code_of(operand.with_changes(lpar=(), rpar=())), []).append(operand)
    repeated = [nodes for nodes in equal.values() if len(nodes) > 1]
    if not repeated:
        skip("no operand occurs twice")
    require_calm(ctx, value)
    for nodes in repeated:
        for node in nodes:
            ctx.tensors(node)
            require_first(ctx, node)
        name = ctx.new_name("t")
        yield ctx.hoisted(nodes[0], name), *(ctx.replace(node, name) for node in nodes)


@rule(exact="bitwise", where=REAL, example=NESTED)
def kept_intermediate(node: cst.BinaryOperation | cst.Call, ctx: RewriteContext):
    """An intermediate result is packed beside the result, which is taken out again."""
    ctx.tensors(node)
    parts = [node.left, node.right] if isinstance(node, cst.BinaryOperation) else [a.value for a in node.args]
    inner = [p for p in parts if isinstance(p, (cst.BinaryOperation, cst.Call, cst.Subscript))]
    if not inner:
        skip("the statement has no intermediate result")
    for part in inner[:2]:
        ctx.tensors(part)
        require_one_text(ctx, part)
        require_first(ctx, part)
        name = ctx.new_name("t")
        yield f"({text_with_replacements(ctx, node, {part: name})}, {name})[0]", ctx.hoisted(part, name)


@rule(exact="bitwise", where=REAL, example=[NESTED, NAMED])
def deleted_variable(statement: cst.Return, ctx: RewriteContext):
    """A variable is deleted before the function returns what was computed from it."""
    if statement.value is None:
        skip("the statement returns nothing")
    require_ordinary(ctx)
    require_no_handler(ctx)
    require_same_elsewhere(statement.value)
    names = set(ctx.variables(statement.value)) & bound_before(ctx)
    names -= captured(ctx) | shared_names(ctx)
    if not names:
        skip("the expression reads no local variable")
    result = ctx.new_name("result")
    text = require_one_text(ctx, statement.value)
    for name in sorted(names)[:2]:
        yield f"{result} = {text}\ndel {name}\nreturn {result}"


@rule(
    exact="bitwise",
    where=REAL,
    example="""
    def program(x, y):
        t = torch.sin(x)
        r = t + y
        return r * 2
    """,
)
def deleted_after_last_use(assign: cst.Assign, ctx: RewriteContext):
    """A variable is deleted after the last statement that mentions it."""
    require_ordinary(ctx)
    if ctx.statement.block is not ctx.statement.function.body.body:
        skip("the statement may run several times or never")
    require_same_elsewhere(assign.value)
    free = set(ctx.variables(assign.value)) & bound_before(ctx)
    free -= captured(ctx) | shared_names(ctx) | ctx.names(assign).stores
    end = ctx.statement.span[1]
    last = [n for n in sorted(free) if not _mentioned_after(ctx, n, end)]
    if not last:
        skip("every variable of it is used later")
    for name in last:
        yield f"{ctx.lines(assign)}\ndel {name}"


def _mentioned_after(ctx: RewriteContext, name: str, offset: int) -> bool:
    function = ctx.statement.function
    return any(isinstance(n, cst.Name) and n.value == name and ctx.syntax.span(n)[0] >= offset for n in walk(function))
