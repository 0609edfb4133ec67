"""Scattering, one-hot rows and stepped indices."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.composite_preconditions import elementwise
from eqfuzz.rewrite.facts.preconditions import (
    Precondition,
    at_least,
    dtype_in,
    finite,
    floating,
    integral,
    moderate,
    no_negative_zero,
    same_dtype,
    unmutated,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, index_into, non_empty, rank, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int


def square_of(name, size):
    """``name`` is a square matrix with ``size`` rows."""

    def check(visit):
        n = visit[size].value
        return None if visit[name].shape == (n, n) else f"{name} ({visit[name].describe()}) is not {n} by {n}"

    def propose(operands, rng):
        n = rng.choice((1, 2, 3, 5, 8))
        operands[size].value = n
        operands[name].shape = (n, n)

    return Precondition(f"{name} is {size} by {size}", check, propose)


@rule(exact="bitwise", where=[rank("x", 3)], both_ways=True)
def ellipsis_is_two_slices(x, k: Int):
    """``x[..., k]`` of three dimensions is ``x[:, :, k]``."""
    return x[..., k], x[:, :, k]


@rule(exact="bitwise", where=[rank("x", 2), at_least("k", 1), contiguous("x"), unmutated("x", "result")], layout=True)
def stepped_columns_are_indexed(x, k: Int):
    """``x[:, ::k]`` selects every k-th column; a copy without gaps."""
    return x[:, ::k], x[:, torch.arange(0, x.shape[1], k, device=x.device)]


@rule(
    exact="ulp",
    where=[
        wide("x"),
        sizes(x="n m", i="n k"),
        index_into("i", "x", 1),
        non_empty("x", "i"),
        moderate("x"),
        contiguous("x", "i"),
    ],
)
def gather_by_one_hot(x, i):
    """``x.gather(1, i)`` is a product with one-hot rows: all terms but one are zero."""
    return torch.gather(x, 1, i), torch.einsum("ik,ijk->ij", x, F.one_hot(i, x.shape[1]).to(x.dtype)).contiguous()


@rule(
    exact="real",
    where=[
        wide("x"),
        rank("x", 2),
        rank("i", 2),
        index_into("i", "x", 0),
        non_empty("x", "i"),
        moderate("x"),
        contiguous("x", "i"),
    ],
)
def bag_is_sum_of_rows(i, x):
    """``embedding_bag`` in mode sum adds the rows of each bag."""
    return F.embedding_bag(i, x, mode="sum"), torch.sum(x[i], dim=1)


@rule(
    exact="real",
    where=[elementwise("x", "y"), sizes(x="n m", i="k", y="k m"), non_empty("x", "i", "y"), index_into("i", "x", 0)],
)
def index_add_is_one_hot_product(x, i, y):
    """``index_add`` of rows multiplies by the transposed one-hot matrix."""
    return x.index_add(0, i, y), x + F.one_hot(i, x.shape[0]).to(x.dtype).t() @ y


@rule(
    exact="real",
    where=[elementwise("x", "y"), dtype_in("i", torch.int64)],
    both_ways=True,
)
def scatter_add_is_reduce(x, i, y):
    """``scatter_add`` along the first dimension is ``scatter_reduce`` with a sum."""
    return x.scatter_add(0, i, y), x.scatter_reduce(0, i, y, "sum")


@rule(
    exact="bitwise",
    where=[integral("x", "y"), same_dtype("x", "y"), contiguous("x", "y"), dtype_in("i", torch.int64)],
    both_ways=True,
)
def integer_scatter_add_is_reduce(x, i, y):
    """``scatter_add`` of integers is ``scatter_reduce`` with a sum, in any order."""
    return x.scatter_add(0, i, y), x.scatter_reduce(0, i, y, "sum")


@rule(
    exact="bitwise",
    where=[
        same_dtype("x", "y"),
        sizes(x="n m", y="m"),
        contiguous("x", "y"),
        when("a row of x", lambda x, k: 0 <= k.value < x.shape[0], "x", "k"),
    ],
)
def row_put_between(x, y, k: Int):
    """``select_scatter(x, y, 0, k)`` puts ``y`` between the rows before and behind."""
    return torch.select_scatter(x, y, 0, k), torch.cat((x[:k], y[None], x[k + 1 :]), 0)


@rule(
    exact="bitwise",
    where=[
        dtype_in("i", torch.int64),
        at_least_rank("i", 1),
        at_least("i", 0),
        when("n > 0", lambda n: n.value > 0, "n"),
    ],
)
def one_hot_by_scatter(i, n: Int):
    """One-hot rows scatter ones into zeros."""
    return (
        F.one_hot(i, n),
        torch.zeros(*i.shape, n, dtype=torch.int64, device=i.device).scatter(-1, i.unsqueeze(-1), 1),
    )


@rule(exact="bitwise", where=[square_of("x", "n")], breaks_graph=True)
def upper_triangle_by_mask(x, n: Int):
    """The elements at ``triu_indices`` are those under a triangular mask."""
    return (
        x[torch.triu_indices(n, n)[0], torch.triu_indices(n, n)[1]],
        x[torch.ones(n, n, device=x.device).triu().bool()],
    )


@rule(
    exact="bitwise",
    where=[
        rank("x", 2),
        rank("i", 1),
        index_into("i", "x", 0),
        contiguous("x"),
        no_negative_zero("x"),
        finite("x"),
        floating("x"),
    ],
)
def rows_by_gather(x, i):
    """``x.index_select(0, i)`` of a matrix gathers along expanded indices."""
    return torch.index_select(x, 0, i), x.gather(0, i.unsqueeze(1).expand(-1, x.shape[1]))
