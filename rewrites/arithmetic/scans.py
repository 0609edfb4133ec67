"""Running sums, products and maxima; sorting, and what follows from sorted values."""

import functools
import itertools

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.preconditions import (
    at_least,
    floating,
    moderate,
    no_nan,
    no_negative_zero,
    real,
    unmutated,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, dim_of, non_empty, rank
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int

REDUCIBLE = [wide("x"), at_least_rank("x", 1), non_empty("x"), moderate("x"), dim_of("d", "x")]
ORDERED = [real("x"), at_least_rank("x", 1), dim_of("d", "x"), non_empty("x"), no_nan("x"), no_negative_zero("x")]
FEW = when("2 to 16 in d", lambda x, d: 2 <= x.shape[d.value] <= 16, "x", "d")


@rule(exact="real", where=[wide("x"), rank("x", 2), non_empty("x"), moderate("x"), contiguous("x")])
def running_sum_is_triangular_product(x):
    """``x.cumsum(1)`` of a matrix is a product with a triangle of ones."""
    return (
        torch.cumsum(x, dim=1),
        x @ torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=x.dtype, device=x.device)),
    )


@rule(exact="real", where=[*REDUCIBLE, FEW, contiguous("x")])
def running_sum_by_accumulation(x, d: Int):
    """``x.cumsum(d)`` adds one slice after the other and keeps every partial sum."""
    return torch.cumsum(x, dim=d), torch.stack(tuple(itertools.accumulate(x.unbind(d))), d)


@rule(exact="real", where=[*REDUCIBLE, FEW, at_least("x", 0.1), moderate("x", bound=5)])
def running_product_by_logarithms(x, d: Int):
    """``x.cumprod(d)`` of positive elements is the exponential of a running sum of logarithms."""
    return torch.cumprod(x, dim=d), torch.exp(torch.cumsum(torch.log(x), dim=d))


@rule(exact="bitwise", where=[*ORDERED, FEW, contiguous("x")], gradients=False)
def running_maximum_by_accumulation(x, d: Int):
    """``x.cummax(d).values`` keeps every partial maximum; ties send the gradient elsewhere."""
    return x.cummax(d).values, torch.stack(tuple(itertools.accumulate(x.unbind(d), torch.maximum)), d)


@rule(exact="bitwise", where=[*ORDERED, FEW, contiguous("x")], gradients=False)
def greatest_by_maximum(x, d: Int):
    """``x.amax(d)`` is the maximum of one slice after the other; ties share the gradient otherwise."""
    return torch.amax(x, dim=d), functools.reduce(torch.maximum, x.unbind(d))


@rule(exact="bitwise", where=[real("x"), at_least_rank("x", 1), dim_of("d", "x"), no_negative_zero("x")], layout=True)
def sorted_by_argsort(x, d: Int):
    """``x.sort(d).values`` is gathered at the sorting indices."""
    return x.sort(d).values, x.gather(d, x.argsort(d))


@rule(exact="bitwise", where=ORDERED, gradients=False, layout=True)
def descending_is_flipped(x, d: Int):
    """``x.sort(d, descending=True)`` is the ascending order from the other end; equal elements change places."""
    return x.sort(d, descending=True).values, x.sort(d).values.flip(d)


@rule(exact="bitwise", where=[*ORDERED, contiguous("x")], gradients=False)
def median_of_sorted(x, d: Int):
    """``x.median(d).values`` is the lower middle of the sorted elements.

    Not of an expanded tensor: there eager's median on the CPU (torch 2.13) reads memory that is not the tensor's.
    """
    return x.median(d).values, x.sort(d).values.select(d, (x.shape[d] - 1) // 2).contiguous()


@rule(
    exact="bitwise",
    where=[floating("x"), rank("x", 2), non_empty("x"), no_nan("x"), no_negative_zero("x")],
    gradients=False,
)
def row_maximum_is_pool(x):
    """``x.amax(1)`` of a matrix is a max pool over whole rows; ties share the gradient otherwise."""
    return torch.amax(x, dim=1), F.max_pool1d(x.unsqueeze(0), x.shape[1]).squeeze(0).squeeze(-1)


@rule(exact="bitwise", where=[*ORDERED], both_ways=True)
def greatest_of_aminmax(x, d: Int):
    """``torch.aminmax(x, dim=d).max`` is ``x.amax(d)``."""
    return torch.aminmax(x, dim=d).max, torch.amax(x, dim=d)


@rule(exact="bitwise", where=[*ORDERED], both_ways=True)
def smallest_of_aminmax(x, d: Int):
    """``torch.aminmax(x, dim=d).min`` is ``x.amin(d)``."""
    return torch.aminmax(x, dim=d).min, torch.amin(x, dim=d)


@rule(exact="bitwise", where=ORDERED)
def position_of_maximum_by_comparison(x, d: Int):
    """``x.argmax(d)`` is where the first element equals the maximum."""
    return torch.argmax(x, dim=d), (x == x.amax(d, keepdim=True)).to(torch.int64).argmax(d)


@rule(
    exact="bitwise",
    where=[floating("x"), at_least_rank("x", 1), dim_of("d", "x"), non_empty("x"), no_nan("x"), unmutated("x")],
    both_ways=True,
)
def position_of_minimum_by_negation(x, d: Int):
    """``x.argmin(d)`` is ``(-x).argmax(d)``."""
    return torch.argmin(x, dim=d), torch.argmax(-x, dim=d)
