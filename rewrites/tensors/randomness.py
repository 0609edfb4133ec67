"""The same random numbers drawn in other words; the stream and the generator's state after it stay the same."""

import libcst as cst
import torch
import torch.nn.functional as F

from eqfuzz.rewrite.context.context import RewriteContext
from eqfuzz.rewrite.facts.preconditions import at_least, at_most, dtype_in, floating, full_precision, unmutated, when
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, non_empty
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Float, Int
from eqfuzz.rewrite.source.edit import indented, skip
from eqfuzz.rewrite.source.purity import is_pure

SIZES = [at_least("n", 1), at_least("m", 1), at_most("n", 40), at_most("m", 40)]


@rule(exact="bitwise", where=SIZES)
def rand_in_one_row(n: Int, m: Int):
    """A matrix of random numbers drawn as a vector."""
    return torch.rand(n, m), torch.rand(n * m).view(n, m)


@rule(exact="bitwise", where=SIZES)
def rand_from_a_tuple(n: Int, m: Int):
    """Random numbers of a shape given as a tuple."""
    return torch.rand(n, m), torch.rand((n, m))


@rule(exact="bitwise", where=SIZES)
def rand_in_place(n: Int, m: Int):
    """Random numbers written into new memory."""
    return torch.rand(n, m), torch.empty(n, m).uniform_()


@rule(exact="bitwise", where=SIZES)
def rand_out(n: Int, m: Int):
    """Random numbers written into an ``out`` tensor."""
    return torch.rand(n, m), torch.rand(n, m, out=torch.empty(n, m))


@rule(exact="bitwise", where=SIZES)
def randn_in_one_row(n: Int, m: Int):
    """A matrix of normal random numbers drawn as a vector."""
    return torch.randn(n, m), torch.randn(n * m).view(n, m)


@rule(exact="bitwise", where=SIZES)
def randn_in_place(n: Int, m: Int):
    """Normal random numbers written into new memory."""
    return torch.randn(n, m), torch.empty(n, m).normal_()


@rule(exact="bitwise", where=SIZES)
def randn_as_normal(n: Int, m: Int):
    """Normal random numbers with mean and deviation named."""
    return torch.randn(n, m), torch.normal(0.0, 1.0, (n, m))


@rule(exact="bitwise", where=[at_least("n", 1)])
def rand_like_of_zeros(n: Int):
    """Random numbers like those of a tensor of that shape."""
    return torch.rand(n), torch.rand_like(torch.zeros(n))


@rule(exact="bitwise", where=[floating("x"), contiguous("x")])
def rand_like_by_shape(x):
    """Random numbers of the shape, type and device of a tensor."""
    return torch.rand_like(x), torch.rand(x.shape, dtype=x.dtype, device=x.device)


@rule(exact="bitwise", where=[floating("x"), contiguous("x")])
def rand_like_in_place(x):
    """Random numbers written into new memory like a tensor's."""
    return torch.rand_like(x), torch.empty_like(x).uniform_()


@rule(exact="bitwise", where=[floating("x"), contiguous("x")])
def randn_like_by_shape(x):
    """Normal random numbers of the shape, type and device of a tensor."""
    return torch.randn_like(x), torch.randn(x.shape, dtype=x.dtype, device=x.device)


@rule(exact="bitwise", where=[floating("x"), contiguous("x")])
def randn_like_in_place(x):
    """Normal random numbers written into new memory like a tensor's."""
    return torch.randn_like(x), torch.empty_like(x).normal_()


@rule(
    exact="bitwise",
    where=[
        full_precision("x"),
        at_least("x", 0),
        at_most("x", 1),
        contiguous("x"),
        when("no NaN", lambda x: not x.has_nan, "x"),
    ],
)
def bernoulli_in_place(x):
    """Coin flips written into new memory."""
    return torch.bernoulli(x), torch.empty_like(x).bernoulli_(x)


@rule(exact="bitwise", where=[at_least("n", 1), at_most("n", 50)])
def permutation_on_the_device(n: Int):
    """A permutation with its type and device named."""
    return torch.randperm(n), torch.randperm(n, dtype=torch.int64, device="cpu")


@rule(
    exact="ulp",
    where=[full_precision("x"), contiguous("x"), non_empty("x"), when("0 < p < 1", lambda p: 0 < p.value < 1, "p")],
)
def dropout_by_mask(x, p: Float):
    """Dropout as a product with a mask of coin flips."""
    return F.dropout(x, p), x * torch.empty_like(x).bernoulli_(1 - p) / (1 - p)


@rule(exact="bitwise", where=[floating("x")])
def dropout_off(x, p: Float):
    """Dropout that is switched off gives its operand on."""
    return F.dropout(x, p, training=False), x


@rule(
    exact="bitwise",
    where=[at_least_rank("x", 1), non_empty("x"), contiguous("x"), unmutated("x")],
    breaks_graph=True,
)
def permuted_and_back(x):
    """Rows in an order drawn from a generator of its own, and back."""
    return (
        x,
        x[torch.randperm(x.shape[0], generator=torch.Generator().manual_seed(0))][
            torch.argsort(torch.randperm(x.shape[0], generator=torch.Generator().manual_seed(0)))
        ],
    )


PURE = """
def program(x, y):
    z = torch.sin(x) * y
    return z + 1
"""


@rule(exact="bitwise", where=[floating("x", "y")], example=PURE, breaks_graph=True)
def state_put_aside(assign: cst.Assign, ctx: RewriteContext):
    """A statement without random numbers between taking the generator's state and putting it back, numbers drawn."""
    require_no_draws(assign, ctx)
    name = ctx.new_name("state")
    take, put, draw = (ctx.path(f"torch.{f}") for f in ("get_rng_state", "set_rng_state", "rand"))
    yield f"{name} = {take}()\n{ctx.lines(assign)}\n{draw}(3)\n{put}({name})"


@rule(exact="bitwise", where=[floating("x", "y")], example=PURE, breaks_graph=True)
def state_forked(assign: cst.Assign, ctx: RewriteContext):
    """A statement without random numbers inside a fork of the generator."""
    require_no_draws(assign, ctx)
    yield f"with {ctx.path('torch.random.fork_rng')}():\n{indented(ctx.lines(assign))}"


def require_no_draws(assign: cst.Assign, ctx: RewriteContext) -> None:
    """Skip where the statement may draw random numbers, or store what others watch."""
    if not is_pure(assign.value):
        skip("the value may have side effects")
    if any(not isinstance(t.target, cst.Name) for t in assign.targets):
        skip("the result is not stored in names")


SEEDED = """
def program(x):
    torch.manual_seed(3)
    return x + torch.rand(())
"""


@rule(exact="bitwise", where=[dtype_in("x", torch.float32)], example=SEEDED, breaks_graph=True)
def seeded_otherwise(call: cst.Call, ctx: RewriteContext):
    """The generator seeded through ``torch.random``."""
    if ctx.resolved(call.func) == "torch.manual_seed" and len(call.args) == 1 and not call.args[0].star:
        yield f"{ctx.path('torch.random.manual_seed')}({ctx.text(call.args[0].value)})"
