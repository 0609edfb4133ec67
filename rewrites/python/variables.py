"""Variables: renamed, bound anew under another name, read through an alias, held in a cell or a global."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import (
    bound_before,
    captured,
    parameters_of,
    require_first,
    require_one_text,
    require_ordinary,
    shared_names,
    walk,
)
from eqfuzz.rewrite.facts.preconditions import real, wide
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, skip

REAL = [real("x", "y"), wide("x", "y")]
STEPS = """
def program(x, y):
    a = torch.sin(x)
    a = a + y
    return a * y
"""
BUILTINS = "input filter format hash bytes".split()
"""Names of builtins that a variable may shadow: no rule writes them."""


def private_target(assign: cst.Assign, ctx: RewriteContext) -> str:
    """The variable that an assignment binds, which is known to this function alone."""
    require_ordinary(ctx)
    if len(assign.targets) != 1 or not isinstance(assign.targets[0].target, cst.Name):
        skip("the assignment binds more than one variable")
    name = assign.targets[0].target.value
    if name in shared_names(ctx) | captured(ctx):
        skip(f"other functions see {name}")
    for node in walk(ctx.statement.function):
        if isinstance(node, (cst.Match, cst.Import, cst.ImportFrom)):
            skip("the function matches patterns or imports")
        if isinstance(node, cst.FormattedStringExpression) and node.equal is not None:
            skip("a formatted string shows the names of variables")
    return name


def occurrences_after(ctx: RewriteContext, name: str, offset: int) -> list[cst.Name]:
    """Where ``name`` stands for the variable from ``offset`` on; attributes and keywords do not."""
    body = ctx.statement.function.body
    hidden = {
        id(part)
        for node in walk(body)
        for part in (
            (node.attr,) if isinstance(node, cst.Attribute) else (node.keyword,) if isinstance(node, cst.Arg) else ()
        )
    }
    return [
        node
        for node in walk(body)
        if isinstance(node, cst.Name) and node.value == name and id(node) not in hidden
        if ctx.syntax.span(node)[0] >= offset
    ]


def renaming_edits(ctx: RewriteContext, nodes: list[cst.Name], name: str) -> tuple[Edit, ...]:
    return tuple(ctx.replace(node, name) for node in nodes)


def names_that_may_be_hidden(ctx: RewriteContext) -> list[str]:
    """A builtin and a name of the module that the function here does not mention: a variable may hide them."""
    mentioned = {node.value for node in walk(ctx.statement.function) if isinstance(node, cst.Name)}
    of_module = sorted(ctx.syntax.module_names - mentioned - {ctx.statement.function.name.value})
    return [*[n for n in BUILTINS if n not in ctx.syntax.names][:1], *of_module[:1]]


@rule(exact="bitwise", where=REAL, example=STEPS)
def renamed_variable(assign: cst.Assign, ctx: RewriteContext):
    """A variable gets another name: a new one, that of a builtin, or that of something in the module."""
    name = private_target(assign, ctx)
    nodes = occurrences_after(ctx, name, 0)
    parameters = {n.name.value for n in walk(ctx.statement.function.params) if isinstance(n, cst.Param)}
    if name in parameters or ctx.syntax.span(nodes[0])[0] < ctx.statement.span[0]:
        skip(f"it is not the first mention of {name}")
    yield renaming_edits(ctx, nodes, ctx.new_name(f"{name}_"))
    for hidden in names_that_may_be_hidden(ctx):
        ctx.fresh.append(hidden)
        yield renaming_edits(ctx, nodes, hidden)


@rule(exact="bitwise", where=REAL, example=STEPS)
def rebound_variable(assign: cst.Assign, ctx: RewriteContext):
    """A variable that is bound again goes by another name from there on."""
    name = private_target(assign, ctx)
    if ctx.statement.block is not ctx.statement.function.body.body:
        skip("the statement may run several times or never")
    if name not in bound_before(ctx):
        skip(f"{name} is first bound here")
    later = occurrences_after(ctx, name, ctx.statement.span[1])
    yield renaming_edits(ctx, [assign.targets[0].target, *later], ctx.new_name(f"{name}_"))


@rule(exact="bitwise", where=REAL, example=STEPS)
def aliased_variable(name: cst.Name, ctx: RewriteContext):
    """A variable is read through a second one."""
    ctx.tensors(name)
    if name.value not in ctx.locals:
        skip(f"{name.value} is not a variable of the function")
    require_first(ctx, name)
    alias = ctx.new_name("alias")
    yield alias, ctx.hoisted(name, alias)


def first_tensor_expression(statement: cst.Assign | cst.Return, ctx: RewriteContext) -> tuple[cst.BaseExpression, str]:
    """The tensor that a statement computes first of all, and its text."""
    require_ordinary(ctx)
    value = statement.value
    if not isinstance(value, (cst.BinaryOperation, cst.Call, cst.Subscript)):
        skip("the statement computes no value")
    ctx.tensors(value)
    if any(isinstance(n, (cst.Yield, cst.Await)) for n in walk(value)):
        skip("the statement awaits")
    return value, require_one_text(ctx, value)


@rule(exact="bitwise", where=REAL, example=STEPS)
def held_in_a_cell(statement: cst.Assign | cst.Return, ctx: RewriteContext):
    """A value is put into a list or dict of one item and taken out again."""
    value, text = first_tensor_expression(statement, ctx)
    name = ctx.new_name("cell")
    yield ctx.replace(value, f"{name}[0]"), ctx.ahead(f"{name} = [None]\n{name}[0] = {text}")
    yield ctx.replace(value, f'{name}["value"]'), ctx.ahead(f'{name} = {{}}\n{name}["value"] = {text}')


@rule(exact="bitwise", where=REAL, example=STEPS)
def unpacked_from_one(assign: cst.Assign, ctx: RewriteContext):
    """A value is packed alone and unpacked by its assignment."""
    if len(assign.targets) != 1 or isinstance(assign.targets[0].target, (cst.Tuple, cst.List)):
        skip("the assignment has several targets")
    _, text = first_tensor_expression(assign, ctx)
    target = ctx.text(assign.targets[0].target)
    yield f"({target},) = ({text},)"
    yield f"[{target}] = [{text}]"


@rule(exact="bitwise", where=REAL, example=STEPS)
def stored_through_global(statement: cst.Assign | cst.Return, ctx: RewriteContext):
    """A function stores the value into a variable of the module, where it is read."""
    value, text = first_tensor_expression(statement, ctx)
    names = ", ".join(parameters_of(ctx, value))
    step, name = ctx.new_name("step"), ctx.new_name("G")
    yield (
        ctx.replace(value, name),
        ctx.ahead(f"{step}({names})"),
        ctx.define(f"{name} = None\n\n\ndef {step}({names}):\n    global {name}\n    {name} = {text}"),
    )
