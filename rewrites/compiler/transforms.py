"""Function transforms of torch.func: vmap in place of batches, derivatives in place of their formulas."""

import functools

import libcst as cst
import torch
import torch.nn.functional as F

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.preconditions import (
    floating,
    full_precision,
    moderate,
    no_negative_zero,
    same_dtype,
)
from eqfuzz.rewrite.facts.shape_preconditions import (
    at_least_rank,
    contiguous,
    index_into,
    matmul_shapes,
    non_empty,
    rank,
    same_shape,
    sizes,
)
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.source.edit import skip

POINTWISE = "sin cos tanh exp sigmoid relu abs neg square expm1 atan erf ceil floor sign".split()
FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)

ROWS = [floating("x"), at_least_rank("x", 1), non_empty("x")]
MATRIX = [full_precision("x"), rank("x", 2), non_empty("x")]
SMALL = [full_precision("x"), moderate("x", bound=10)]


def pointwise(call: cst.Call, ctx: RewriteContext, ranks: int) -> str:
    """The function of POINTWISE called, as the program spells it; empty for another, Skip for other operands."""
    name = (ctx.resolved(call.func) or "").removeprefix("torch.")
    if name not in POINTWISE or len(call.args) != 1 or call.args[0].keyword is not None or call.args[0].star:
        return ""
    for fact in ctx.tensors(call.args[0].value):
        if fact.dtype not in FLOATS or fact.ndim < ranks or 0 in fact.shape:
            skip(f"the operand has not {ranks} dimensions, is empty, or not floating")
    return ctx.text(call.func)


@rule(
    exact="bitwise",
    where=ROWS,
    example=[f"def program(x):\n    return torch.{name}(x) * 2\n" for name in POINTWISE],
)
def vmap_of_function(call: cst.Call, ctx: RewriteContext):
    """A pointwise function mapped over the first dimension."""
    if name := pointwise(call, ctx, 1):
        yield f"{ctx.path('torch.vmap')}({name})({ctx.text(call.args[0].value)})"


@rule(
    exact="bitwise",
    where=[*ROWS, at_least_rank("x", 2)],
    example=[f"def program(x):\n    return torch.{name}(x) * 2\n" for name in ("sin", "relu")],
)
def vmap_over_another_dimension(call: cst.Call, ctx: RewriteContext):
    """A pointwise function mapped over the second or last dimension, and over the first two."""
    name = pointwise(call, ctx, 2)
    if name:
        path, x = ctx.path("torch.vmap"), ctx.text(call.args[0].value)
        yield f"{path}({name}, in_dims=1, out_dims=1)({x})"
        yield f"{path}({name}, in_dims=-1, out_dims=-1)({x})"
        yield f"{path}({path}({name}))({x})"


@rule(exact="ulp", where=[*ROWS, moderate("x", bound=10)], example="def program(x):\n    return torch.sin(x) * 2\n")
def vmap_in_chunks(call: cst.Call, ctx: RewriteContext):
    """A pointwise function mapped over the first dimension in chunks; parts are vectorised otherwise."""
    name = pointwise(call, ctx, 1)
    if name and any(not f.contiguous for f in ctx.tensors(call.args[0].value)):
        skip("the operand is not contiguous")
    if name:
        yield f"{ctx.path('torch.vmap')}({name}, chunk_size=2)({ctx.text(call.args[0].value)})"


@rule(exact="bitwise", where=[floating("x", "y"), same_dtype("x", "y"), sizes(x="n k", y="k"), non_empty("x")])
def vmap_product_with_row(x, y):
    """Every row times a vector."""
    return x * y, torch.vmap(lambda row: row * y)(x)


@rule(exact="bitwise", where=[floating("x", "y"), same_dtype("x", "y"), sizes(x="n k", y="k"), non_empty("x")])
def vmap_sum_with_row(x, y):
    """Every row plus a vector that is not mapped."""
    return x + y, torch.vmap(torch.add, in_dims=(0, None))(x, y)


@rule(
    exact="bitwise",
    where=[floating("x", "y"), same_dtype("x", "y"), same_shape("x", "y"), at_least_rank("x", 1), non_empty("x")],
)
def vmap_product(x, y):
    """A product row by row."""
    return x * y, torch.vmap(torch.mul)(x, y)


@rule(
    exact="real",
    where=[
        full_precision("x", "y"),
        same_dtype("x", "y"),
        same_shape("x", "y"),
        moderate("x", "y"),
        rank("x", 2),
        non_empty("x"),
    ],
)
def vmap_of_dot(x, y):
    """The sums of products of rows as mapped dot products."""
    return (x * y).sum(1), torch.vmap(torch.dot)(x, y)


@rule(
    exact="real",
    where=[
        full_precision("x", "y"),
        same_dtype("x", "y"),
        matmul_shapes("x", "y", batch=True),
        moderate("x", "y"),
        non_empty("x", "y"),
    ],
)
def vmap_of_mm(x, y):
    """A batched product of matrices as a mapped one."""
    return x @ y, torch.vmap(torch.mm)(x, y)


@rule(
    exact="real",
    where=[full_precision("x", "y"), same_dtype("x", "y"), sizes(x="n k", y="k"), moderate("x", "y"), non_empty("x")],
)
def vmap_of_row_by_vector(x, y):
    """A matrix times a vector, a dot product for every row."""
    return x @ y, torch.vmap(torch.dot, in_dims=(0, None))(x, y)


@rule(
    exact="real",
    where=[
        full_precision("x", "y"),
        same_dtype("x", "y"),
        matmul_shapes("x", "y"),
        moderate("x", "y"),
        non_empty("x", "y"),
    ],
)
def vmap_of_mv(x, y):
    """A product of matrices, column by column."""
    return x @ y, torch.vmap(torch.mv, in_dims=(None, 1), out_dims=1)(x, y).contiguous()


@rule(
    exact="bitwise", where=[floating("x", "y"), same_dtype("x", "y"), rank("x", 1), rank("y", 1), non_empty("x", "y")]
)
def vmap_nested(x, y):
    """An outer product as a map inside a map."""
    return torch.outer(x, y), torch.vmap(lambda a: torch.vmap(lambda b: a * b)(y))(x)


@rule(exact="ulp", where=MATRIX)
def vmap_of_softmax(x):
    """A softmax of every row."""
    return torch.softmax(x, 1), torch.vmap(lambda row: torch.softmax(row, 0))(x)


@rule(exact="bitwise", where=[*MATRIX, index_into("i", "x", 1), sizes(x="n k", i="n m"), contiguous("i")])
def vmap_of_index(x, i):
    """Every row indexed by a row of indices."""
    return x.gather(1, i), torch.vmap(lambda row, j: row[j])(x, i)


@rule(exact="real", where=[*MATRIX, moderate("x")])
def vmap_of_sum(x):
    """The sum of every row."""
    return x.sum(1), torch.vmap(torch.sum)(x)


@rule(exact="bitwise", where=[*MATRIX], gradients=False)
def vmap_of_maximum(x):
    """The maximum of every row; ties share their gradient."""
    return x.amax(1), torch.vmap(lambda row: row.amax(0))(x)


@rule(exact="bitwise", where=[floating("x"), at_least_rank("x", 2), non_empty("x")])
def vmap_of_flip(x):
    """Every row reversed."""
    return x.flip(-1), torch.vmap(lambda row: row.flip(-1))(x)


@rule(
    exact="real",
    where=[
        full_precision("x", "w"),
        same_dtype("x", "w"),
        sizes(x="n k", w="m k"),
        moderate("x", "w"),
        non_empty("x", "w"),
    ],
)
def vmap_of_linear(x, w):
    """A linear map applied to every row."""
    return F.linear(x, w), torch.vmap(F.linear, in_dims=(0, None))(x, w)


@rule(exact="bitwise", where=[floating("x"), moderate("x")])
def gradient_of_square(x):
    """Twice a tensor is the gradient of its squares."""
    return 2 * x, torch.func.grad(lambda t: (t * t).sum())(x)


@rule(exact="bitwise", where=[floating("x"), moderate("x", bound=10)])
def gradient_of_exponential(x):
    """The exponential is its own derivative."""
    return torch.exp(x), torch.func.grad(lambda t: torch.exp(t).sum())(x)


@rule(exact="bitwise", where=[floating("x"), moderate("x", bound=100)])
def gradient_of_sine(x):
    """The cosine is the gradient of the sine."""
    return torch.cos(x), torch.func.grad(lambda t: torch.sin(t).sum())(x)


@rule(exact="bitwise", where=[floating("x"), no_negative_zero("x"), moderate("x")])
def gradient_of_size(x):
    """The sign is the gradient of the absolute value."""
    return torch.sign(x), torch.func.grad(lambda t: t.abs().sum())(x)


@rule(exact="ulp", where=[full_precision("x"), moderate("x", bound=20)])
def gradient_of_softplus(x):
    """The sigmoid is the gradient of softplus."""
    return torch.sigmoid(x), torch.func.grad(lambda t: F.softplus(t, 1.0, 1000.0).sum())(x)


@rule(exact="ulp", where=[*MATRIX, contiguous("x"), moderate("x", bound=20)])
def gradient_of_logsumexp(x):
    """A softmax is the gradient of a log-sum-exp."""
    return torch.softmax(x, 1), torch.func.grad(lambda t: t.logsumexp(1).sum())(x)


@rule(exact="bitwise", where=[full_precision("x"), moderate("x"), contiguous("x")])
def gradient_of_sum(x):
    """Ones are the gradient of a sum."""
    return torch.ones_like(x), torch.func.grad(lambda t: t.sum())(x).contiguous()


@rule(
    exact="bitwise",
    where=[
        full_precision("x", "y"),
        same_dtype("x", "y"),
        same_shape("x", "y"),
        moderate("x", "y"),
        contiguous("x", "y"),
    ],
)
def jvp_of_sine(x, y):
    """The cosine times a tangent, pushed forward through the sine."""
    return torch.cos(x) * y, torch.func.jvp(torch.sin, (x,), (y,))[1]


@rule(
    exact="bitwise",
    where=[
        full_precision("x", "y"),
        same_dtype("x", "y"),
        same_shape("x", "y"),
        moderate("x", "y"),
        contiguous("x", "y"),
    ],
)
def vjp_of_sine(x, y):
    """The cosine times a cotangent, pulled back through the sine."""
    return torch.cos(x) * y, torch.func.vjp(torch.sin, x)[1](y)[0]


@rule(exact="bitwise", where=[full_precision("x", "y"), same_dtype("x", "y"), same_shape("x", "y"), moderate("x", "y")])
def product_by_jvp(x, y):
    """A product is the derivative of a product along its first factor."""
    return x * y, torch.func.jvp(lambda t: t * y, (x,), (x,))[1]


@rule(exact="bitwise", where=[full_precision("x", "y"), same_dtype("x", "y"), same_shape("x", "y"), moderate("x", "y")])
def product_by_vjp(x, y):
    """A product is what a product pulls its cotangent back to."""
    return x * y, torch.func.vjp(functools.partial(torch.mul, y), y)[1](x)[0]


@rule(exact="real", where=[full_precision("x", "y"), same_dtype("x", "y"), matmul_shapes("x", "y"), moderate("x", "y")])
def matmul_by_jvp(x, y):
    """A product of matrices is linear: its derivative along the first factor."""
    return x @ y, torch.func.jvp(lambda t: t @ y, (x,), (x,))[1]


@rule(exact="bitwise", where=[full_precision("x"), moderate("x", bound=100)])
def value_beside_its_gradient(x):
    """A sum computed beside its gradient."""
    return torch.sin(x).sum(), torch.func.grad_and_value(lambda t: torch.sin(t).sum())(x)[1]


@rule(exact="bitwise", where=[full_precision("x"), moderate("x", bound=100)])
def value_beside_its_pullback(x):
    """A function applied while its pullback is recorded."""
    return torch.sin(x), torch.func.vjp(torch.sin, x)[0]


@rule(exact="bitwise", where=[full_precision("x"), rank("x", 1), non_empty("x"), moderate("x", bound=100)])
def diagonal_of_jacobian(x):
    """The derivatives of a pointwise function are the diagonal of its Jacobian."""
    return torch.cos(x), torch.func.jacrev(torch.sin)(x).diagonal().clone()


@rule(
    exact="bitwise",
    where=[full_precision("x"), rank("x", 1), non_empty("x"), contiguous("x"), moderate("x", bound=100)],
)
def diagonal_of_forward_jacobian(x):
    """The derivatives of a pointwise function, column by column."""
    return torch.cos(x), torch.func.jacfwd(torch.sin)(x).diagonal().clone()


@rule(
    exact="ulp",
    where=[full_precision("x"), rank("x", 1), non_empty("x"), moderate("x", bound=10), contiguous("x")],
    layout=True,
)
def jacobian_backward_is_forward(x):
    """A Jacobian row by row is one column by column."""
    return torch.func.jacrev(torch.sin)(x), torch.func.jacfwd(torch.sin)(x)


@rule(
    exact="bitwise", where=[full_precision("x"), rank("x", 1), non_empty("x"), contiguous("x"), moderate("x", bound=10)]
)
def hessian_of_cubes(x):
    """Six times a tensor, from the Hessian of the sum of its cubes."""
    return 6 * x, torch.func.hessian(lambda t: (t * t * t).sum())(x).diagonal().clone()
