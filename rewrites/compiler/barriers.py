"""Barriers for the compiler: opaque operators, disabled or pre-traced functions, graph breaks."""

import types

import libcst as cst
import torch

from eqfuzz.rewrite.context.closure import Closure, closed
from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.context.custom_functions import (
    BINARY_DERIVATIVES,
    UNARY_DERIVATIVES,
    Derivative,
    opaque_operator,
    torch_name,
)
from eqfuzz.rewrite.facts.composite_preconditions import copyable
from eqfuzz.rewrite.facts.preconditions import FLOATS, floating, moderate, no_grad, same_dtype, unmutated
from eqfuzz.rewrite.facts.shape_preconditions import same_shape
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip
from eqfuzz.rewrite.source.python_operators import BINARY

OPAQUE = ("exp", "sin", "cos", "tanh", "sigmoid", "relu", "neg", "square", "abs")
"""Functions of one operand that are hidden in custom operators."""

SIZED_BY_VALUES = frozenset(
    "nonzero argwhere masked_select unique unique_consecutive bincount repeat_interleave combinations".split()
)

SHAPE_CHANGES = frozenset(
    "resize_ resize_as_ set_ data t_ transpose_ swapaxes_ swapdims_ squeeze_ unsqueeze_ as_strided_".split()
)

HIGHER_ORDER = frozenset(
    "cond while_loop scan associative_scan vmap checkpoint flex_attention map export symbolic_trace".split()
)
"""Functions that trace what they are given whole: no graph may break inside."""

EXAMPLE = """
def program(x, y):
    return torch.sin(x) * y + x.sum()
"""


def require_plain_mode(ctx: RewriteContext) -> None:
    """Skip where an operator without rules for forward mode, function transforms or tracing may be met by them."""
    names = ctx.syntax.attributes | ctx.syntax.names
    transforms = sorted({"jvp", "forward_ad", "vmap", "jacfwd", "hessian", "export", "jit"} & names)
    if transforms:
        skip(f"the program transforms its functions ({transforms[0]})")


@rule(
    exact="bitwise",
    where=[floating("x"), moderate("x", bound=10)],
    example=[f"def program(x):\n    return torch.{name}(x) + 1\n" for name in OPAQUE],
)
def opaque_unary(call: cst.Call, ctx: RewriteContext):
    """A pointwise function as a custom operator that the compiler calls and does not open."""
    name = (ctx.resolved(call.func) or "").removeprefix("torch.")
    if name not in OPAQUE or len(call.args) != 1 or call.args[0].keyword is not None or call.args[0].star:
        return
    require_plain_mode(ctx)
    if any(f.dtype not in FLOATS for f in ctx.tensors(call.args[0].value)):
        skip("the operand is not a floating tensor")
    operator, definition = opaque_operator(ctx, name, ["x"], f"torch.{name}(x)", UNARY_DERIVATIVES[name])
    yield f"{operator}({ctx.text(call.args[0].value)})", definition


@rule(
    exact="bitwise",
    where=[floating("x", "y"), same_dtype("x", "y"), same_shape("x", "y"), moderate("x", "y", bound=10)],
    example=[f"def program(x, y):\n    return torch.sin(x * 1 {sign} y * 1)\n" for sign in "+-*"],
)
def opaque_binary(operation: cst.BinaryOperation, ctx: RewriteContext):
    """An operator between two tensors of one shape as a custom operator."""
    kind = type(operation.operator)
    if kind not in BINARY_DERIVATIVES or kind is cst.MatrixMultiply:
        return
    require_plain_mode(ctx)
    left, right = ctx.tensors(operation.left), ctx.tensors(operation.right)
    if len(left) != len(right):
        skip("the operands are not evaluated equally often")
    for a, b in zip(left, right, strict=True):
        if a.dtype not in FLOATS or a.dtype is not b.dtype or a.shape != b.shape:
            skip("the operands are not floating tensors of one dtype and shape")
    name = BINARY[kind][0]
    operator, definition = opaque_operator(ctx, name, ["x", "y"], f"torch.{name}(x, y)", BINARY_DERIVATIVES[kind])
    yield f"{operator}({ctx.text(operation.left)}, {ctx.text(operation.right)})", definition


@rule(exact="bitwise", where=[copyable("x")], example="def program(x):\n    y = x * 2\n    return y + 1\n")
def opaque_copy(value: cst.Name | cst.BinaryOperation, ctx: RewriteContext):
    """A tensor copied by a custom operator."""
    if ctx.here.identity:
        skip("the object itself matters here, not only its value")
    require_plain_mode(ctx)
    for fact in ctx.tensors(value):
        if fact.mutated or not fact.contiguous:
            skip("the tensor is changed later, or not contiguous")
    operator, definition = opaque_operator(ctx, "copy", ["x"], "x.clone()", Derivative((), "grad"))
    yield f"{operator}({ctx.text(value)})", definition


def closed_tensor_expression(value: cst.BaseExpression, ctx: RewriteContext) -> Closure:
    """The expression closed over its variables, with a tensor for its value."""
    if not isinstance(value, (cst.Call, cst.BinaryOperation)):
        skip("the value is not computed by a call or operator")
    require_plain_mode(ctx)
    ctx.tensors(value)
    return closed(value, ctx)


@rule(exact="bitwise", where=[floating("x", "y")], example=EXAMPLE, breaks_graph=True)
def disabled(value: cst.Call | cst.BinaryOperation, ctx: RewriteContext):
    """An expression in a function that is not compiled."""
    require_may_break(ctx)
    closure, name = closed_tensor_expression(value, ctx), ctx.new_name("disabled")
    yield (
        f"{name}({closure.argument_list})",
        ctx.define(f"{name} = {ctx.path('torch.compiler.disable')}({closure.function})"),
    )


@rule(exact="bitwise", where=[floating("x", "y")], example=EXAMPLE)
def allowed_in_graph(value: cst.Call | cst.BinaryOperation, ctx: RewriteContext):
    """An expression in a function that Dynamo puts into the graph without looking inside."""
    closure, name = closed_tensor_expression(value, ctx), ctx.new_name("allowed")
    require_traceable(value, closure, ctx)
    yield (
        f"{name}({closure.argument_list})",
        ctx.define(f"{name} = {ctx.path('torch.compiler.allow_in_graph')}({closure.function})"),
    )


@rule(exact="bitwise", where=[floating("x", "y")], example=EXAMPLE)
def traced_symbolically(value: cst.Call | cst.BinaryOperation, ctx: RewriteContext):
    """An expression as the module that ``torch.fx`` makes of it."""
    closure, name = closed_tensor_expression(value, ctx), ctx.new_name("traced")
    require_traceable(value, closure, ctx)
    yield (
        f"{name}({closure.argument_list})",
        ctx.define(f"{name} = {ctx.path('torch.fx.symbolic_trace')}({closure.function})"),
    )


@rule(exact="bitwise", where=[floating("x", "y"), same_dtype("x", "y"), same_shape("x", "y")], example=EXAMPLE)
def exported(value: cst.Call | cst.BinaryOperation, ctx: RewriteContext):
    """An expression exported for the shapes that it has, and run from the exported program."""
    closure, name = closed_tensor_expression(value, ctx), ctx.new_name("exported")
    require_traceable(value, closure, ctx)
    like = "".join(f"{empty_like_observed(facts, ctx)}, " for facts in closure.facts)
    traced = f"{ctx.path('torch.fx.symbolic_trace')}({closure.function})"
    yield (
        f"{name}({closure.argument_list})",
        ctx.define(f"{name} = {ctx.path('torch.export.export')}({traced}, ({like})).module()"),
    )


def empty_like_observed(facts, ctx: RewriteContext) -> str:
    """An empty tensor like the one seen every time."""
    first = facts[0]
    if any((f.shape, f.stride, f.dtype) != (first.shape, first.stride, first.dtype) for f in facts):
        skip("an operand has the shape is not the same every time")
    if not first.contiguous or first.numel < 2:
        skip("an operand is not contiguous, or has one element")
    return f"{torch_name(ctx)}.empty({first.shape}, dtype={torch_name(ctx)}.{str(first.dtype).removeprefix('torch.')})"


def require_traceable(value: cst.BaseExpression, closure: Closure, ctx: RewriteContext) -> None:
    """Skip unless all on the way is a tensor, and every call one that torch dispatches itself, whatever it is given."""
    if any(not f.is_tensor for facts in closure.facts for f in facts):
        skip("a number that it reads would become a constant")
    for node in descendants(value):
        if isinstance(node, (cst.IfExp, cst.BooleanOperation, cst.Not)):
            skip("the expression branches on a tensor")
        if isinstance(node, (cst.Call, cst.Comparison)):
            ctx.tensors(node)
        if isinstance(node, cst.Call):
            require_dispatched(node, ctx)
        if isinstance(node, cst.Attribute) and node.attr.value in ("shape", "dtype", "device", "ndim"):
            skip(f"it reads the {node.attr.value} of a tensor")
        if isinstance(node, cst.Subscript):
            require_numbers(node)


def require_dispatched(call: cst.Call, ctx: RewriteContext) -> None:
    """Skip unless it is a method of a tensor or a function of torch that is not written in Python."""
    path = ctx.resolved(call.func)
    name = (path or cst.Module([]).code_for_node(call.func)).rpartition(".")[2]
    if name in SIZED_BY_VALUES:
        skip(f"the size of the result of {name} depends on values")
    if path is None:
        if not isinstance(call.func, cst.Attribute):
            skip(f"{name} is a function of Python")
        return
    owner = {"torch": torch, "torch.nn.functional": torch.nn.functional}.get(path.rpartition(".")[0])
    if not isinstance(getattr(owner, name, None), types.BuiltinFunctionType):
        skip(f"{path} is written in Python")


def require_numbers(subscript: cst.Subscript) -> None:
    """Skip unless the index is made of numbers, slices and None."""
    for element in subscript.slice:
        for node in descendants(element):
            if isinstance(node, (cst.Name, cst.Attribute, cst.Call)) and getattr(node, "value", "") != "None":
                skip("the index contains more than numbers")


def descendants(node: cst.CSTNode):
    """The node and everything inside."""
    yield node
    for child in node.children:
        yield from descendants(child)


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        z = torch.sin(x)
        z += y
        return z * 2
    """,
    breaks_graph=True,
)
def graph_break(statement: cst.Assign | cst.AugAssign | cst.Return | cst.Expr, ctx: RewriteContext):
    """A graph break ahead of a statement."""
    require_may_break(ctx)
    if isinstance(statement, cst.Expr) and isinstance(statement.value, (cst.SimpleString, cst.ConcatenatedString)):
        skip("a docstring comes first")
    yield f"{ctx.path('torch._dynamo.graph_break')}()\n{ctx.lines(statement)}"


def require_may_break(ctx: RewriteContext) -> None:
    """Skip where a function is given to one that traces it whole."""
    tracers = sorted(HIGHER_ORDER & (ctx.syntax.attributes | ctx.syntax.names))
    if tracers:
        skip(f"the program gives functions to {tracers[0]}, which takes no graph break")


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        z = torch.sin(x)
        return z * y.sum()
    """,
)
def shape_checked(statement: cst.Assign | cst.Return, ctx: RewriteContext):
    """A statement after a ``torch._check`` of a size of a tensor that it reads."""
    if statement.value is None:
        return
    changes = SHAPE_CHANGES & ctx.syntax.attributes
    if changes:
        skip("the program changes shapes in place")
    for name in sorted((ctx.names(statement.value).reads - ctx.names(statement.value).stores) & ctx.locals):
        node = first_read(statement.value, name)
        if node is None:
            continue
        facts = ctx.facts(node)
        if all(f.is_tensor and f.ndim for f in facts) and len({f.shape[0] for f in facts}) == 1:
            check = f"{ctx.path('torch._check')}({name}.shape[0] == {facts[0].shape[0]})"
            yield f"{check}\n{ctx.lines(statement)}"


def first_read(node: cst.CSTNode, name: str) -> cst.Name | None:
    """Where the variable is read whenever the expression is evaluated."""
    if isinstance(node, cst.Name):
        return node if node.value == name else None
    if isinstance(node, (cst.Lambda, cst.BaseComp, cst.IfExp, cst.BooleanOperation, cst.NamedExpr)):
        return None
    if isinstance(node, cst.Comparison):
        return first_read(node.left, name)
    if isinstance(node, cst.Attribute):
        return first_read(node.value, name)
    if isinstance(node, cst.Arg):
        return first_read(node.value, name)
    return next((read for child in node.children if (read := first_read(child, name)) is not None), None)


@rule(
    exact="bitwise",
    where=[floating("x", "y")],
    example="""
    def program(x, y):
        return torch.sin(x) + y
    """,
)
def expression_to_choice_by_is_compiling(value: cst.Call | cst.BinaryOperation, ctx: RewriteContext):
    """An expression chosen by whether the program is being compiled, and the same otherwise."""
    ctx.tensors(value)
    condition = f"{ctx.path('torch.compiler.is_compiling')}()"
    yield f"({ctx.text(value)} if {condition} else {ctx.text(value)})"


@rule(exact="bitwise", where=[floating("x"), no_grad("x"), unmutated("x")], breaks_graph=True)
def through_dlpack(x):
    """A tensor handed out and taken in again; both share memory."""
    return x, torch.from_dlpack(x.detach())
