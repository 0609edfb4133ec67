"""Selection by masks, and predicates by their definitions."""

import torch

from eqfuzz.rewrite.facts.preconditions import (
    boolean,
    finite,
    floating,
    full_precision,
    moderate,
    no_grad,
    no_nan,
    real,
    same_dtype,
    unmutated,
    when,
)
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, rank, same_shape
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Number, Operand

ON_CPU = when("on the CPU", lambda x: x.device == "cpu", "x")


@rule(exact="bitwise", where=[no_nan("x", "y")], both_ways=True)
def at_least_is_not_less(x, y: Operand):
    """``x >= y`` is ``~(x < y)`` without NaN."""
    return x >= y, ~(x < y)


@rule(exact="bitwise", where=[no_nan("x", "y")], both_ways=True)
def at_most_is_not_greater(x, y: Operand):
    """``x <= y`` is ``~(x > y)`` without NaN."""
    return x <= y, ~(x > y)


@rule(
    exact="bitwise",
    where=[boolean("c"), floating("x"), same_shape("c", "x"), contiguous("c", "x"), moderate("k")],
)
def where_of_full_is_masked_fill(c, x, k: Number):
    """``where(c, full_like(x, k), x)`` fills ``x`` with ``k``."""
    return torch.where(c, torch.full_like(x, k), x), x.masked_fill(c, k)


@rule(
    exact="bitwise",
    where=[boolean("c"), floating("x"), same_shape("c", "x"), contiguous("c", "x"), moderate("k")],
)
def masked_fill_is_where_of_full(c, x, k: Number):
    """``x.masked_fill(c, k)`` chooses from a full tensor."""
    return x.masked_fill(c, k), torch.where(c, torch.full_like(x, k), x)


@rule(
    exact="bitwise",
    where=[
        boolean("c"),
        same_dtype("x", "y"),
        same_shape("c", "x", "y"),
        at_least_rank("x", 1),
        contiguous("c", "x", "y"),
    ],
    breaks_graph=True,
)
def where_is_masked_scatter(c, y, x):
    """``where(c, y, x)`` scatters the chosen elements of ``y`` into ``x``."""
    return torch.where(c, y, x), x.masked_scatter(c, y[c])


@rule(exact="bitwise", where=[at_least_rank("x", 1), unmutated("result")], layout=True, breaks_graph=True)
def coordinates_by_where(x):
    """``nonzero(x)`` is the stack of the coordinates that ``where`` gives."""
    return torch.nonzero(x), torch.stack(torch.where(x), dim=1)


@rule(exact="bitwise", where=[floating("x")])
def finite_by_two_comparisons(x):
    """``isfinite(x)``: neither infinite nor NaN."""
    return torch.isfinite(x), (torch.abs(x) != float("inf")) & (x == x)


@rule(
    exact="bitwise",
    where=[full_precision("x", "y"), same_dtype("x", "y"), moderate("x", "y"), contiguous("x", "y")],
)
def close_by_definition(x, y):
    """``isclose(x, y)`` compares the distance with the default tolerances."""
    return torch.isclose(x, y), torch.abs(x - y) <= 1e-8 + 1e-5 * torch.abs(y)


@rule(
    exact="bitwise",
    where=[ON_CPU, same_dtype("x", "y"), same_shape("x", "y")],
    breaks_graph=True,
)
def equality_of_all(x, y):
    """``torch.equal(x, y)`` in a tensor is ``(x == y).all()``."""
    return torch.tensor(torch.equal(x, y)), torch.all(x == y)


@rule(exact="bitwise", where=[real("x", "b"), same_dtype("x", "b"), no_nan("x", "b"), rank("b", 1), no_grad("x", "b")])
def count_of_smaller_is_bucket(x, b):
    """How many of ``b`` are smaller is a bucket between them, sorted; autograd takes no part."""
    return (x.unsqueeze(-1) > b).sum(-1), torch.bucketize(x, torch.sort(b).values)


@rule(exact="bitwise", where=[floating("x")])
def numbers_instead_of_nan(x):
    """``nan_to_num(x)`` puts 0 for NaN and the largest finite numbers for infinities."""
    return (
        torch.nan_to_num(x),
        torch.where(x != x, torch.zeros_like(x), x).clamp(torch.finfo(x.dtype).min, torch.finfo(x.dtype).max),
    )


@rule(exact="ulp", where=[floating("x"), finite("x"), boolean("m"), contiguous("x", "m")])
def float_mask_is_where(x, m):
    """``x * m`` keeps what is masked and zeroes the rest, save the sign of those zeros."""
    return x * m, torch.where(m, x, torch.zeros((), dtype=x.dtype, device=x.device))
