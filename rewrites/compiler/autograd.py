"""The same values with another autograd graph: checkpoints, functions written by hand, hooks, detached parts."""

import libcst as cst
import torch

from eqfuzz.rewrite.context.closure import closed
from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.custom_functions import BINARY_DERIVATIVES, UNARY_DERIVATIVES, Derivative, autograd_function
from eqfuzz.rewrite.facts.preconditions import (
    FLOATS,
    floating,
    moderate,
    no_grad,
    same_dtype,
    unmutated,
)
from eqfuzz.rewrite.facts.shape_preconditions import same_shape
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import Edit, skip
from eqfuzz.rewrite.source.python_operators import BINARY

DIFFERENTIATES = frozenset(
    "backward grad vjp jvp jacrev jacfwd jacobian hessian hvp grad_and_value linearize make_dual forward_ad".split()
)
"""Names of what differentiates; forward mode does not know functions written by hand at all."""


def require_no_gradients_inside(ctx: RewriteContext) -> None:
    """Skip where the program computes gradients itself: sums of gradients round in the order of the graph."""
    differentiating = sorted(DIFFERENTIATES & (ctx.syntax.names | ctx.syntax.attributes))
    if differentiating:
        skip(f"the program computes gradients itself ({differentiating[0]})")


def differentiable_function(call: cst.Call, ctx: RewriteContext) -> str:
    """The name in UNARY_DERIVATIVES of what is called on a floating tensor, empty for other functions. Raises Skip."""
    name = (ctx.resolved(call.func) or "").removeprefix("torch.")
    if name not in UNARY_DERIVATIVES or len(call.args) != 1 or call.args[0].keyword is not None or call.args[0].star:
        return ""
    if any(f.dtype not in FLOATS for f in ctx.tensors(call.args[0].value)):
        skip("the operand is not a floating tensor")
    return name


def handwritten_call(call: cst.Call, name: str, ctx: RewriteContext, *, setup: bool) -> tuple[str, Edit]:
    """The call of ``torch.NAME`` as that of an autograd.Function, and its definition."""
    require_no_gradients_inside(ctx)
    function, definition = autograd_function(
        ctx, name.title(), ["x"], f"torch.{name}(x)", UNARY_DERIVATIVES[name], setup=setup
    )
    return f"{function}.apply({ctx.text(call.args[0].value)})", definition


@rule(
    exact="bitwise",
    where=[floating("x"), moderate("x", bound=10)],
    example=[f"def program(x):\n    return torch.{name}(x) + 1\n" for name in UNARY_DERIVATIVES],
)
def unary_function(call: cst.Call, ctx: RewriteContext):
    """A function of one operand as an autograd.Function with its derivative written by hand."""
    name = differentiable_function(call, ctx)
    if name:
        yield handwritten_call(call, name, ctx, setup=False)


@rule(
    exact="bitwise",
    where=[floating("x"), moderate("x", bound=10)],
    example=[f"def program(x):\n    return torch.{name}(x) + 1\n" for name in UNARY_DERIVATIVES],
)
def unary_function_with_context_apart(call: cst.Call, ctx: RewriteContext):
    """A function of one operand by hand, with ``setup_context``, as function transforms want it."""
    name = differentiable_function(call, ctx)
    if name:
        yield handwritten_call(call, name, ctx, setup=True)


@rule(
    exact="bitwise",
    where=[floating("x", "y"), moderate("x", "y", bound=10), same_dtype("x", "y"), same_shape("x", "y")],
    example=[f"def program(x, y):\n    return torch.sin(x {sign} y)\n" for sign in "+-*"]
    + ["def program(x, y):\n    return x @ y.t()\n"],
)
def binary_function(operation: cst.BinaryOperation, ctx: RewriteContext):
    """An operator between two tensors of one shape, or a product of matrices, with its derivatives by hand."""
    kind = type(operation.operator)
    if kind not in BINARY_DERIVATIVES:
        return
    sign = BINARY[kind][1]
    for a, b in zip(ctx.tensors(operation.left), ctx.tensors(operation.right), strict=False):
        if a.dtype not in FLOATS or a.dtype is not b.dtype:
            skip("the operands are not floating tensors of one dtype")
        if (a.ndim != 2 or b.ndim != 2) if sign == "@" else a.shape != b.shape:
            skip("the shapes are broadcast, or the operands are no matrices")
    if len(ctx.facts(operation.left)) != len(ctx.facts(operation.right)):
        skip("the operands are not evaluated equally often")
    require_no_gradients_inside(ctx)
    for setup in (False, True):
        name, definition = autograd_function(
            ctx, kind.__name__, ["x", "y"], f"x {sign} y", BINARY_DERIVATIVES[kind], setup=setup
        )
        yield f"{name}.apply({ctx.text(operation.left)}, {ctx.text(operation.right)})", definition


@rule(
    exact="bitwise",
    where=[floating("x"), unmutated("x")],
    example="""
    def program(x):
        y = torch.sin(x)
        return y * 2
    """,
)
def identity_function(value: cst.Name | cst.Call | cst.BinaryOperation, ctx: RewriteContext):
    """A tensor through a function by hand that gives it and its gradient on."""
    if ctx.here.identity:
        skip("the object itself matters here, not only its value")
    for fact in ctx.tensors(value):
        if fact.dtype not in FLOATS or fact.mutated:
            skip("the value is not a floating-point tensor, or is changed later")
    require_no_gradients_inside(ctx)
    name, definition = autograd_function(ctx, "Same", ["x"], "x.view_as(x)", Derivative((), "grad"), setup=False)
    yield f"{name}.apply({ctx.text(value)})", definition


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        return torch.tanh(x * y) + x.sum()
    """,
)
def checkpointed(value: cst.Call | cst.BinaryOperation, ctx: RewriteContext):
    """An expression that is computed again for its gradient instead of kept."""
    require_no_gradients_inside(ctx)
    ctx.tensors(value)
    closure = closed(value, ctx)
    path = ctx.path("torch.utils.checkpoint.checkpoint")
    yield f"{path}({closure.function}, {closure.argument_list}, use_reentrant=False)"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        z = torch.sin(x) * y
        return z + 1
    """,
)
def gradient_hook(assign: cst.Assign, ctx: RewriteContext):
    """A hook on an intermediate value that gives its gradient on."""
    name = name_of_fresh_tensor(assign, ctx)
    for grad in ("grad", "grad.clone()"):
        hook = f"if {name}.requires_grad:\n    {name}.register_hook(lambda grad: {grad})"
        yield f"{ctx.lines(ctx.statement.node)}\n{hook}"


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        z = torch.sin(x) * y
        return z + 1
    """,
    breaks_graph=True,
)
def gradient_retained(assign: cst.Assign, ctx: RewriteContext):
    """An intermediate value that keeps its gradient."""
    name = name_of_fresh_tensor(assign, ctx)
    if {"grad", "retains_grad"} & ctx.syntax.attributes:
        skip("the program reads retained gradients")
    yield f"{ctx.lines(ctx.statement.node)}\nif {name}.requires_grad:\n    {name}.retain_grad()"


def name_of_fresh_tensor(assign: cst.Assign, ctx: RewriteContext) -> str:
    """The one name that is assigned a fresh floating tensor."""
    require_no_gradients_inside(ctx)
    if len(assign.targets) != 1 or not isinstance(assign.targets[0].target, cst.Name):
        skip("the result is not stored in one name")
    if not isinstance(assign.value, (cst.Call, cst.BinaryOperation)):
        skip("the value may have another reference")
    if any(f.dtype not in FLOATS for f in ctx.tensors(assign.value)):
        skip("the value is not a floating tensor")
    return assign.targets[0].target.value


@rule(
    exact="real", where=[floating("x", "y"), same_dtype("x", "y", "result"), moderate("x", "y"), same_shape("x", "y")]
)
def detached_and_attached(x, y):
    """A term whose value comes from one part and whose gradient from another."""
    return x + y, x + (y - y.detach()) + y.detach()


@rule(
    exact="bitwise",
    where=[floating("x")],
    example="""
    def program(x):
        y = x * 0.5
        return torch.cos(y)
    """,
)
def straight_through(value: cst.Name, ctx: RewriteContext):
    """A variable plus a detached zero, which changes neither it nor its gradient."""
    if ctx.here.identity:
        skip("the object itself matters here, not only its value")
    require_no_gradients_inside(ctx)
    for fact in ctx.tensors(value):
        if fact.dtype not in FLOATS or fact.mutated or not fact.contiguous:
            skip("the value is not a contiguous floating-point tensor, or is changed later")
        if fact.has_nan or fact.has_inf or fact.has_negative_zero:
            skip("adding zero changes NaN, infinities or -0.0")
    yield f"{value.value} + ({value.value} - {value.value}).detach()"


@rule(exact="bitwise", where=[floating("x"), no_grad("x"), unmutated("x")])
def detached(x):
    """A tensor without a graph, detached."""
    return x, x.detach()


@rule(exact="bitwise", where=[floating("x"), no_grad("result")], breaks_graph=True)
def cosine_by_gradient(x):
    """The cosine as the gradient of the sine."""
    return torch.cos(x), torch.autograd.functional.vjp(torch.sin, x, torch.ones_like(x))[1]
