"""One statement inside a context: try, with, gradient modes that change nothing, profiler ranges."""

import libcst as cst

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.data_flow import (
    own_nodes,
    require_calm,
    require_one_text,
    require_ordinary,
    require_unbroken,
    shared_names,
    walk,
)
from eqfuzz.rewrite.facts.fact import Fact
from eqfuzz.rewrite.facts.preconditions import real, wide
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import indented, skip

REAL = [real("x", "y"), wide("x", "y")]
STEPS = """
def program(x, y):
    a = torch.sin(x)
    a = a + y
    return a * y
"""
DETACHED = """
def program(x, y):
    a = x.detach() * 2
    return a, x * y
"""

Simple = cst.Assign | cst.Return | cst.AugAssign


def tensor_statement(statement: cst.CSTNode, ctx: RewriteContext) -> str:
    """The lines of a statement that computed a tensor and may stand inside any block."""
    require_ordinary(ctx)
    value = getattr(statement, "value", None)
    if not isinstance(value, (cst.BinaryOperation, cst.Call, cst.Subscript)):
        skip("the statement computes no value")
    ctx.tensors(value)
    if any(isinstance(n, (cst.Yield, cst.Await)) for n in walk(value)):
        skip("the statement awaits")
    require_one_text(ctx, statement)
    return ctx.lines(statement)


@rule(exact="bitwise", where=REAL, example=STEPS)
def try_finally(statement: Simple, ctx: RewriteContext):
    """A statement inside a ``try`` whose ``finally`` binds a variable that is never read."""
    line = tensor_statement(statement, ctx)
    yield f"try:\n{indented(line)}\nfinally:\n    {ctx.new_name('done')} = True"


@rule(exact="bitwise", where=REAL, example=STEPS)
def try_except_raise(statement: Simple, ctx: RewriteContext):
    """A statement inside a ``try`` whose handler raises again what it caught."""
    line = tensor_statement(statement, ctx)
    error = ctx.builtin("ValueError")
    yield f"try:\n{indented(line)}\nexcept {error}:\n    raise"


@rule(exact="bitwise", where=REAL, example=STEPS)
def inside_a_handler(statement: Simple, ctx: RewriteContext):
    """A statement runs in the handler of an exception that is raised for it."""
    line = tensor_statement(statement, ctx)
    _require_no_exception_read(ctx)
    error = ctx.builtin("ValueError")
    yield f'try:\n    raise {error}("taken")\nexcept {error}:\n{indented(line)}'


def _require_no_exception_read(ctx: RewriteContext) -> None:
    """Skip where the exception being handled could be seen by what the statement does."""
    if {"exc_info", "exception", "traceback", "format_exc"} & (ctx.syntax.names | ctx.syntax.attributes):
        skip("the program reads the exception being handled")


@rule(exact="bitwise", where=REAL, example=STEPS)
def in_the_else_of_a_try(statement: Simple, ctx: RewriteContext):
    """A statement runs in the ``else`` of a ``try`` that does nothing."""
    line = tensor_statement(statement, ctx)
    error = ctx.builtin("ValueError")
    yield f"try:\n    pass\nexcept {error}:\n    raise\nelse:\n{indented(line)}"


@rule(exact="bitwise", where=REAL, example=STEPS)
def in_the_finally_of_a_try(statement: cst.Assign | cst.AugAssign, ctx: RewriteContext):
    """A statement runs in the ``finally`` of a ``try`` that does nothing."""
    line = tensor_statement(statement, ctx)
    yield f"try:\n    pass\nfinally:\n{indented(line)}"


@rule(exact="bitwise", where=REAL, example=STEPS)
def null_context(statement: Simple, ctx: RewriteContext):
    """A statement inside a context that does nothing."""
    line = tensor_statement(statement, ctx)
    yield f"with {ctx.path('contextlib.nullcontext')}():\n{indented(line)}"


@rule(exact="bitwise", where=REAL, example=STEPS)
def value_through_null_context(statement: Simple, ctx: RewriteContext):
    """A value is what a context that does nothing returns at its entry."""
    tensor_statement(statement, ctx)
    if isinstance(statement, cst.AugAssign):
        skip("the target is read before")
    text = require_one_text(ctx, statement.value)
    name = ctx.new_name("entered")
    rest = ctx.text(statement)
    start = ctx.syntax.span(statement)[0]
    a, b = ctx.syntax.span(statement.value)
    opened = len(statement.value.lpar)
    if opened:
        skip("the value is in parentheses")
    context = f"with {ctx.path('contextlib.nullcontext')}({text}) as {name}:"
    yield f"{context}\n{indented(rest[: a - start] + name + rest[b - start :])}"


@rule(exact="bitwise", where=REAL, example=STEPS)
def exit_stack(statement: Simple, ctx: RewriteContext):
    """A statement inside a context that has nothing to leave."""
    line = tensor_statement(statement, ctx)
    require_unbroken(ctx)
    yield f"with {ctx.path('contextlib.ExitStack')}():\n{indented(line)}"


@rule(exact="bitwise", where=REAL, example=STEPS)
def own_context_class(statement: Simple, ctx: RewriteContext):
    """A statement inside a context of the program's own that does nothing."""
    line = tensor_statement(statement, ctx)
    name = ctx.new_name("Scope")
    yield (
        f"with {name}():\n{indented(line)}",
        ctx.define(
            f"class {name}:\n    def __enter__(self):\n        return self\n\n"
            f"    def __exit__(self, kind, error, trace):\n        return False"
        ),
    )


@rule(exact="bitwise", where=REAL, example=STEPS)
def own_context_generator(statement: Simple, ctx: RewriteContext):
    """A statement inside a context that is written as a generator."""
    line = tensor_statement(statement, ctx)
    if {"StopIteration", "next", "iter"} & ctx.syntax.names:
        skip("a StopIteration may pass through")
    name = ctx.new_name("scope")
    yield (
        f"with {name}():\n{indented(line)}",
        ctx.define(
            f"@{ctx.path('contextlib.contextmanager')}\ndef {name}():\n    try:\n        yield\n"
            f"    finally:\n        pass"
        ),
    )


@rule(exact="bitwise", where=REAL, example=STEPS)
def suppressed_exception(statement: Simple, ctx: RewriteContext):
    """A statement inside a context that suppresses an exception that is never raised."""
    line = tensor_statement(statement, ctx)
    name = ctx.new_name("Unraised")
    yield (
        f"with {ctx.path('contextlib.suppress')}({name}):\n{indented(line)}",
        ctx.define(f"class {name}({ctx.builtin('Exception')}):\n    pass"),
    )


@rule(exact="bitwise", where=REAL, example=STEPS)
def carried_by_an_exception(statement: Simple, ctx: RewriteContext):
    """A value is carried to its statement by an exception."""
    tensor_statement(statement, ctx)
    _require_no_exception_read(ctx)
    if isinstance(statement, cst.AugAssign):
        skip("the target is read before")
    text = require_one_text(ctx, statement.value)
    kind, caught, value = ctx.new_name("Carrier"), ctx.new_name("caught"), ctx.new_name("value")
    yield (
        ctx.replace(statement.value, value),
        ctx.ahead(f"try:\n    raise {kind}({text})\nexcept {kind} as {caught}:\n    {value} = {caught}.args[0]"),
        ctx.define(f"class {kind}({ctx.builtin('Exception')}):\n    pass"),
    )


def tensors_in(statement: cst.CSTNode, ctx: RewriteContext) -> list[Fact]:
    """Every tensor that the value of a statement reads or makes; Skip unless it only computes."""
    value = statement.value
    require_calm(ctx, value)
    tensors: list[Fact] = []
    for node in own_nodes(value):
        expressions = (cst.Name, cst.Attribute, cst.Call, cst.BinaryOperation, cst.UnaryOperation, cst.Subscript)
        if isinstance(node, expressions):
            tensors += [f for f in ctx.recorded(node) if f.is_tensor]
    return tensors


@rule(exact="bitwise", where=REAL, example=DETACHED)
def without_gradients(statement: cst.Assign | cst.Return, ctx: RewriteContext):
    """A statement whose tensors need no gradient runs under ``torch.no_grad``."""
    line = tensor_statement(statement, ctx)
    for fact in tensors_in(statement, ctx):
        if fact.requires_grad:
            skip("a tensor in it needs a gradient")
        if fact.mutated:
            skip("a tensor in it is changed later, and a view made without gradients may forbid the change")
    yield f"with {ctx.path('torch.no_grad')}():\n{indented(line)}"
    yield f"with {ctx.path('torch.set_grad_enabled')}(False):\n{indented(line)}"


@rule(exact="bitwise", where=REAL, example=STEPS)
def with_gradients(statement: cst.Assign | cst.Return, ctx: RewriteContext):
    """A statement runs under ``torch.enable_grad`` where gradients are on, or no tensor needs one."""
    line = tensor_statement(statement, ctx)
    for fact in tensors_in(statement, ctx):
        if fact.requires_grad and not fact.needs_grad:
            skip("gradients are disabled here")
        if fact.mutated:
            skip("a tensor in it is changed later")
    yield f"with {ctx.path('torch.enable_grad')}():\n{indented(line)}"


@rule(exact="bitwise", where=REAL, example=STEPS)
def gradient_mode_as_it_is(statement: Simple, ctx: RewriteContext):
    """The gradient mode is set to what it is."""
    line = tensor_statement(statement, ctx)
    if "inference_mode" in ctx.syntax.names | ctx.syntax.attributes:
        skip("inference mode is not the gradient mode alone")
    now = f"{ctx.path('torch.is_grad_enabled')}()"
    yield f"with {ctx.path('torch.set_grad_enabled')}({now}):\n{indented(line)}"


@rule(exact="bitwise", where=REAL, example=STEPS)
def autocast_off(statement: Simple, ctx: RewriteContext):
    """A statement runs under an autocast that is off, in a program that has no other."""
    line = tensor_statement(statement, ctx)
    if {"autocast", "amp", "custom_fwd"} & (ctx.syntax.names | ctx.syntax.attributes):
        skip("the program uses autocast")
    devices = {f.device for f in ctx.tensors(statement.value)}
    if devices != {"cpu"}:
        skip("the tensors are not all on the CPU")
    yield f'with {ctx.path("torch.autocast")}("cpu", enabled=False):\n{indented(line)}'


@rule(exact="bitwise", where=REAL, example=STEPS)
def profiler_range(statement: Simple, ctx: RewriteContext):
    """A statement is a range of the profiler."""
    line = tensor_statement(statement, ctx)
    yield f'with {ctx.path("torch.profiler.record_function")}("range"):\n{indented(line)}'


@rule(exact="bitwise", where=REAL, breaks_graph=True, example=STEPS)
def saved_tensors_kept(statement: Simple, ctx: RewriteContext):
    """What is saved for the backward pass goes through hooks that return it as it is."""
    line = tensor_statement(statement, ctx)
    require_unbroken(ctx)
    if shared_names(ctx) or {"grad", "backward", "jvp", "vjp", "vmap", "func"} & ctx.syntax.attributes:
        skip("the program computes gradients itself")
    for fact in ctx.tensors(statement.value):
        if fact.mutated:
            skip("a tensor in it is changed later, and hooks would hide the change from autograd")
    hooks = ctx.path("torch.autograd.graph.saved_tensors_hooks")
    yield f"with {hooks}(lambda kept: kept, lambda kept: kept):\n{indented(line)}"
