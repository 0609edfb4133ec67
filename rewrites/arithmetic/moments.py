"""Sums, means, variances, norms and distances in other words."""

import functools
import operator

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.composite_preconditions import elementwise
from eqfuzz.rewrite.facts.preconditions import (
    at_least,
    away_from_zero,
    dtype_in,
    floating,
    integral,
    moderate,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, dim_of, non_empty, rank, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int

REDUCIBLE = [wide("x"), at_least_rank("x", 1), non_empty("x"), moderate("x"), dim_of("d", "x")]
FEW = when("2 to 16 in d", lambda x, d: 2 <= x.shape[d.value] <= 16, "x", "d")
MATRIX = [wide("x"), rank("x", 2), non_empty("x"), moderate("x")]
TWO = [elementwise("x", "y", bound=100)]


@rule(exact="real", where=[*MATRIX, contiguous("x")])
def sum_of_both_dims(x):
    """``x.sum((0, 1))`` of a matrix is the sum of its flattened elements."""
    return torch.sum(x, dim=(0, 1)), torch.sum(x.reshape(-1))


@rule(exact="real", where=[*REDUCIBLE, FEW, contiguous("x")])
def sum_by_addition(x, d: Int):
    """``x.sum(d)`` adds one slice after the other."""
    return torch.sum(x, dim=d), functools.reduce(operator.add, x.unbind(d))


@rule(exact="real", where=[*REDUCIBLE, FEW, moderate("x", bound=10), contiguous("x")])
def product_by_multiplication(x, d: Int):
    """``x.prod(d)`` multiplies one slice after the other."""
    return torch.prod(x, dim=d), functools.reduce(operator.mul, x.unbind(d))


@rule(exact="real", where=[*REDUCIBLE, FEW, at_least("x", 0.1), moderate("x", bound=10)])
def product_by_logarithms(x, d: Int):
    """``x.prod(d)`` of positive elements is the exponential of the sum of logarithms."""
    return torch.prod(x, dim=d), torch.exp(torch.sum(torch.log(x), dim=d))


@rule(exact="real", where=MATRIX)
def row_sums_of_transpose(x):
    """``x.sum(1)`` of a matrix sums the columns of its transpose, laid out anew."""
    return torch.sum(x, dim=1), x.t().contiguous().sum(0)


@rule(
    exact="real",
    where=[*REDUCIBLE, when("the last dimension", lambda x, d: d.value in (-1, x.ndim - 1), "x", "d")],
)
def sum_of_padded(x, d: Int):
    """``x.sum(d)`` along the last dimension, with three zeros behind."""
    return torch.sum(x, dim=d), torch.sum(F.pad(x, (0, 3)), dim=d)


@rule(
    exact="bitwise",
    where=[
        integral("x"),
        at_least_rank("x", 1),
        dim_of("d", "x"),
        when("two or more in d", lambda x, d: x.shape[d.value] > 1, "x", "d"),
    ],
)
def integer_sum_in_halves(x, d: Int):
    """``x.sum(d)`` of integers is the sum of its first two elements and of the rest."""
    return (
        torch.sum(x, dim=d),
        torch.sum(x.narrow(d, 0, 2), dim=d) + torch.sum(x.narrow(d, 2, x.shape[d] - 2), dim=d),
    )


@rule(exact="real", where=[wide("x"), rank("x", 4), non_empty("x"), moderate("x")])
def mean_of_pixels_is_average_pool(x):
    """The mean of the last two of four dimensions is an average pool to one pixel."""
    return torch.mean(x, dim=(2, 3)), F.adaptive_avg_pool2d(x, 1).flatten(1)


@rule(exact="real", where=REDUCIBLE)
def biased_variance_by_definition(x, d: Int):
    """``x.var(d, unbiased=False)`` is the mean of the squared deviations."""
    return x.var(d, unbiased=False), ((x - x.mean(d, keepdim=True)) ** 2).mean(d)


@rule(exact="real", where=[*REDUCIBLE, moderate("x", bound=30)])
def biased_variance_by_squares(x, d: Int):
    """``x.var(d, unbiased=False)`` is the mean square less the squared mean, which cancels."""
    return x.var(d, unbiased=False), (x * x).mean(d) - x.mean(d) ** 2


@rule(
    exact="ulp",
    where=[*REDUCIBLE, when("2 or more in d", lambda x, d: x.shape[d.value] > 1, "x", "d")],
    both_ways=True,
)
def variance_without_mean(x, d: Int):
    """The first of ``torch.var_mean(x, d)`` is ``x.var(d)``."""
    return torch.var_mean(x, d)[0], torch.var(x, dim=d)


@rule(
    exact="ulp",
    where=[
        *REDUCIBLE,
        when("2 or more in d", lambda x, d: x.shape[d.value] > 1, "x", "d"),
        away_from_zero("result", 1e-2),
    ],
)
def deviation_of_var_mean(x, d: Int):
    """``x.std(d)`` is the first of ``torch.std_mean(x, d)``."""
    return torch.std(x, dim=d), torch.std_mean(x, d)[0]


@rule(exact="real", where=REDUCIBLE, both_ways=True)
def absolute_norm_is_sum(x, d: Int):
    """The norm of order 1 is the sum of absolute values."""
    return torch.linalg.vector_norm(x, 1, dim=d), torch.sum(torch.abs(x), dim=d)


@rule(
    exact="bitwise",
    where=[floating("x"), at_least_rank("x", 1), non_empty("x"), dim_of("d", "x")],
    gradients=False,
    both_ways=True,
)
def greatest_norm_is_amax(x, d: Int):
    """The norm of infinite order is the greatest absolute value; ties share the gradient otherwise."""
    return torch.linalg.vector_norm(x, float("inf"), dim=d), torch.amax(torch.abs(x), dim=d)


@rule(exact="real", where=[*TWO, non_empty("x", "y"), away_from_zero("result", 1e-2)], both_ways=True)
def distance_is_norm(x, y):
    """``dist(x, y)`` is the norm of the difference."""
    return torch.dist(x, y), torch.linalg.vector_norm(x - y)


@rule(
    exact="real",
    where=[
        *TWO,
        sizes(x="n k", y="m k"),
        non_empty("x", "y"),
        moderate("x", "y", bound=10),
        away_from_zero("result", 0.1),
    ],
)
def distances_by_definition(x, y):
    """``cdist(x, y)`` of points that are well apart, with every difference stored."""
    return torch.cdist(x, y), (x.unsqueeze(1) - y.unsqueeze(0)).pow(2).sum(-1).sqrt()


@rule(
    exact="bitwise",
    where=[
        integral("i"),
        rank("i", 1),
        non_empty("i"),
        at_least("i", 0),
        when("int64 below n", lambda i, n: str(i.dtype) == "torch.int64" and i.high < n.value, "i", "n"),
    ],
)
def counts_by_one_hot(i, n: Int):
    """``bincount`` with room for every index adds one-hot rows."""
    return torch.bincount(i, minlength=n), F.one_hot(i, n).sum(0)


@rule(exact="ulp", where=[*REDUCIBLE, dtype_in("x", torch.float32)])
def mean_in_double(x, d: Int):
    """``x.mean(d)`` computed in float64 and rounded once."""
    return torch.mean(x, dim=d), torch.mean(x.to(torch.float64), dim=d).to(x.dtype)
