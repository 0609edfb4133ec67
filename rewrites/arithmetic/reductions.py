"""Reductions, scans and sorting."""

import torch

from eqfuzz.rewrite.facts.composite_preconditions import reassociable
from eqfuzz.rewrite.facts.preconditions import (
    arithmetic,
    away_from_zero,
    floating,
    integral,
    moderate,
    no_nan,
    no_negative_zero,
    real,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, dim_of, non_empty, rank, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int

REDUCIBLE = [wide("x"), at_least_rank("x", 1), non_empty("x"), moderate("x"), dim_of("d", "x")]
INTEGERS = [integral("x"), at_least_rank("x", 1), dim_of("d", "x")]


@rule(exact="real", where=[wide("x"), at_least_rank("x", 1), moderate("x")])
def sum_all_in_two(x):
    """``x.sum()`` is the sum of the sums over the first dimension."""
    return torch.sum(x), torch.sum(torch.sum(x, dim=0))


@rule(exact="bitwise", where=[integral("x"), at_least_rank("x", 1)])
def integer_sum_all_in_two(x):
    """``x.sum()`` of integers, in two steps; both add in int64."""
    return torch.sum(x), torch.sum(torch.sum(x, dim=0))


@rule(exact="real", where=[wide("x"), moderate("x")])
def sum_all_flat(x):
    """``x.sum()`` is the sum of the flattened tensor."""
    return torch.sum(x), torch.sum(x.reshape(-1), dim=0)


@rule(exact="real", where=REDUCIBLE)
def sum_backwards(x, d: Int):
    """``x.sum(d)`` added from the other end."""
    return torch.sum(x, dim=d), torch.sum(x.flip(d), dim=d)


@rule(exact="bitwise", where=INTEGERS)
def integer_sum_backwards(x, d: Int):
    """``x.sum(d)`` of integers added from the other end."""
    return torch.sum(x, dim=d), torch.sum(x.flip(d), dim=d)


@rule(exact="real", where=REDUCIBLE)
def sum_is_last_of_cumsum(x, d: Int):
    """``x.sum(d)`` is the last of the running sums."""
    return torch.sum(x, dim=d), torch.cumsum(x, dim=d).select(d, -1).clone()


@rule(exact="bitwise", where=[*INTEGERS, non_empty("x")], layout=True)
def integer_sum_is_last_of_cumsum(x, d: Int):
    """``x.sum(d)`` of integers is the last of the running sums."""
    return torch.sum(x, dim=d), torch.cumsum(x, dim=d).select(d, -1)


@rule(exact="real", where=REDUCIBLE, layout=True)
def sum_is_product_with_ones(x, d: Int):
    """``x.sum(d)`` is a matrix product with a vector of ones."""
    return torch.sum(x, dim=d), torch.movedim(x, d, -1) @ x.new_ones(x.shape[d])


@rule(exact="real", where=[*REDUCIBLE, rank("x", 2), dim_of("d", "x")])
def sum_by_einsum(x, d: Int):
    """``x.sum(d)`` of a matrix as an einsum of its rows moved to the front."""
    return torch.sum(x, dim=d), torch.einsum("ij->i", torch.movedim(x, d, 1))


@rule(
    exact="real",
    where=[*REDUCIBLE, when("two or more in d", lambda x, d: x.shape[d.value] > 1, "x", "d"), contiguous("x")],
)
def sum_in_halves(x, d: Int):
    """``x.sum(d)`` is the sum of its first element and of the rest."""
    return torch.sum(x, dim=d), torch.select(x, d, 0) + torch.sum(x.narrow(d, 1, x.shape[d] - 1), dim=d)


@rule(exact="bitwise", where=[*REDUCIBLE, contiguous("x")])
def sum_of_doubles(x, d: Int):
    """``x.sum(d)`` is half the sum of the doubled elements: a power of two scales every rounding alike."""
    return torch.sum(x, dim=d), torch.sum(x * 2, dim=d) / 2


@rule(exact="bitwise", where=[at_least_rank("x", 1), dim_of("d", "x")], both_ways=True)
def sum_keepdim(x, d: Int):
    """``x.sum(d, keepdim=True)`` is ``x.sum(d).unsqueeze(d)``."""
    return torch.sum(x, dim=d, keepdim=True), torch.unsqueeze(torch.sum(x, dim=d), d)


@rule(exact="bitwise", where=[at_least_rank("x", 1), dim_of("d", "x")], both_ways=True)
def mean_keepdim(x, d: Int):
    """``x.mean(d, keepdim=True)`` is ``x.mean(d).unsqueeze(d)``."""
    return torch.mean(x, dim=d, keepdim=True), torch.unsqueeze(torch.mean(x, dim=d), d)


@rule(exact="bitwise", where=[at_least_rank("x", 1), dim_of("d", "x")], both_ways=True)
def amax_keepdim(x, d: Int):
    """``x.amax(d, keepdim=True)`` is ``x.amax(d).unsqueeze(d)``."""
    return torch.amax(x, dim=d, keepdim=True), torch.unsqueeze(torch.amax(x, dim=d), d)


@rule(exact="ulp", where=REDUCIBLE, both_ways=True)
def mean_is_sum_over_count(x, d: Int):
    """``x.mean(d)`` is ``x.sum(d) / x.shape[d]``."""
    return torch.mean(x, dim=d), torch.sum(x, dim=d) / x.shape[d]


@rule(exact="ulp", where=REDUCIBLE)
def mean_keepdim_is_sum_over_count(x, d: Int):
    """``x.mean(d, keepdim=True)`` is the sum over the count."""
    return torch.mean(x, dim=d, keepdim=True), torch.sum(x, dim=d, keepdim=True) / x.shape[d]


@rule(exact="ulp", where=[wide("x"), non_empty("x"), moderate("x")], both_ways=True)
def mean_all_is_sum_over_count(x):
    """``x.mean()`` is ``x.sum() / x.numel()``."""
    return torch.mean(x), torch.sum(x) / x.numel()


SPREAD = [*REDUCIBLE, when("two or more in d", lambda x, d: x.shape[d.value] > 1, "x", "d")]


@rule(exact="real", where=SPREAD)
def variance_by_definition(x, d: Int):
    """``x.var(d)`` is the sum of squared deviations over n - 1."""
    return torch.var(x, dim=d), torch.sum((x - torch.mean(x, dim=d, keepdim=True)) ** 2, dim=d) / (x.shape[d] - 1)


@rule(exact="ulp", where=[*SPREAD, away_from_zero("result", 1e-2)])
def deviation_is_root_of_variance(x, d: Int):
    """``x.std(d)`` is ``x.var(d).sqrt()``."""
    return torch.std(x, dim=d), torch.sqrt(torch.var(x, dim=d))


@rule(exact="real", where=[*REDUCIBLE, away_from_zero("result", 1e-2)])
def norm_by_definition(x, d: Int):
    """The Euclidean norm is the root of the sum of squares."""
    return torch.linalg.vector_norm(x, dim=d), torch.sqrt(torch.sum(x * x, dim=d))


@rule(
    exact="bitwise",
    where=[real("x"), no_negative_zero("x"), at_least_rank("x", 1), dim_of("d", "x")],
    gradients=False,
    both_ways=True,
)
def amax_is_max_values(x, d: Int):
    """``x.amax(d)`` is ``x.max(d).values``; their gradients at ties differ."""
    return torch.amax(x, dim=d), torch.max(x, dim=d).values


@rule(exact="bitwise", where=[floating("x"), at_least_rank("x", 1), dim_of("d", "x"), no_negative_zero("x")])
def amax_is_negated_amin(x, d: Int):
    """``x.amax(d)`` is ``-(-x).amin(d)``."""
    return torch.amax(x, dim=d), -torch.amin(-x, dim=d)


@rule(exact="bitwise", where=[floating("x"), at_least_rank("x", 1), dim_of("d", "x"), no_negative_zero("x")])
def amin_is_negated_amax(x, d: Int):
    """``x.amin(d)`` is ``-(-x).amax(d)``."""
    return torch.amin(x, dim=d), -torch.amax(-x, dim=d)


@rule(exact="bitwise", where=INTEGERS)
def integer_amax_of_complement(x, d: Int):
    """``x.amax(d)`` of integers is ``~(~x).amin(d)``."""
    return torch.amax(x, dim=d), ~torch.amin(~x, dim=d)


@rule(
    exact="bitwise",
    where=[real("x"), at_least_rank("x", 1), dim_of("d", "x"), non_empty("x"), no_nan("x"), no_negative_zero("x")],
    gradients=False,
    layout=True,
)
def amax_is_last_of_sort(x, d: Int):
    """``x.amax(d)`` is the last of the sorted elements."""
    return torch.amax(x, dim=d), x.sort(dim=d).values.select(d, -1)


@rule(
    exact="bitwise",
    where=[real("x"), at_least_rank("x", 1), dim_of("d", "x"), non_empty("x"), no_negative_zero("x")],
    gradients=False,
)
def amax_is_topk(x, d: Int):
    """``x.amax(d)`` is the first of the one largest."""
    return torch.amax(x, dim=d), x.topk(1, dim=d).values.squeeze(d)


@rule(
    exact="bitwise",
    where=[real("x"), at_least_rank("x", 1), dim_of("d", "x"), non_empty("x"), no_negative_zero("x")],
    gradients=False,
)
def amax_at_argmax(x, d: Int):
    """``x.amax(d)`` is what stands at ``x.argmax(d)``."""
    return torch.amax(x, dim=d), x.gather(d, x.argmax(dim=d, keepdim=True)).squeeze(d)


@rule(exact="bitwise", where=[non_empty("x"), real("x"), no_nan("x")], both_ways=True)
def max_all_is_amax(x):
    """``x.max()`` is ``x.amax()``."""
    return torch.max(x), torch.amax(x)


@rule(exact="real", where=[*REDUCIBLE, moderate("x", bound=20)])
def logsumexp_by_definition(x, d: Int):
    """``logsumexp`` is the logarithm of the sum of exponentials where those do not overflow."""
    return torch.logsumexp(x, dim=d), torch.log(torch.sum(torch.exp(x), dim=d))


@rule(exact="real", where=REDUCIBLE)
def logsumexp_shifted(x, d: Int):
    """``logsumexp`` with the maximum taken out."""
    return (
        torch.logsumexp(x, dim=d),
        torch.logsumexp(x - torch.amax(x, dim=d, keepdim=True), dim=d) + torch.amax(x, dim=d),
    )


@rule(exact="real", where=REDUCIBLE)
def cumsum_from_the_end(x, d: Int):
    """A running sum is the total less the running sum from the other end, plus the element itself."""
    return torch.cumsum(x, dim=d), torch.sum(x, dim=d, keepdim=True) - x.flip(d).cumsum(d).flip(d) + x


@rule(exact="bitwise", where=INTEGERS, layout=True)
def integer_cumsum_from_the_end(x, d: Int):
    """The same of integers, which add in int64."""
    return torch.cumsum(x, dim=d), torch.sum(x, dim=d, keepdim=True) - x.flip(d).cumsum(d).flip(d) + x


@rule(
    exact="bitwise",
    where=[
        real("x"),
        at_least_rank("x", 1),
        dim_of("d", "x"),
        when("one or more in d", lambda x, d: x.shape[d.value] > 0, "x", "d"),
    ],
)
def difference_of_slices(x, d: Int):
    """``torch.diff(x, dim=d)`` is a slice less its neighbour."""
    return torch.diff(x, dim=d), x.narrow(d, 1, x.shape[d] - 1) - x.narrow(d, 0, x.shape[d] - 1)


@rule(
    exact="bitwise",
    where=[real("x"), at_least_rank("x", 1), dim_of("d", "x"), no_negative_zero("x")],
    layout=True,
)
def sort_by_argsort(x, d: Int):
    """Sorted values are gathered at the sorting indices."""
    return x.sort(dim=d).values, x.gather(d, x.argsort(dim=d))


@rule(exact="bitwise", where=[at_least_rank("x", 1), dim_of("d", "x")], both_ways=True)
def count_is_sum_of_mask(x, d: Int):
    """``count_nonzero(x, d)`` is ``(x != 0).sum(d)``."""
    return torch.count_nonzero(x, dim=d), torch.sum(x != 0, dim=d)


@rule(exact="real", where=[wide("x"), rank("x", 2), moderate("x")])
def trace_of_diagonal(x):
    """``trace(x)`` is the sum of the diagonal."""
    return torch.trace(x), torch.sum(x.diagonal())


@rule(exact="real", where=[reassociable("x", "y", bound=100), sizes(x="n", y="n")])
def dot_is_sum_of_products(x, y):
    """``dot(x, y)`` is ``(x * y).sum()``."""
    return torch.dot(x, y), torch.sum(x * y)


@rule(exact="real", where=[reassociable("x", "y", bound=100), sizes(x="n m", y="n m")])
def row_products_by_einsum(x, y):
    """``(x * y).sum(1)`` of matrices is a dot product of rows."""
    return torch.sum(x * y, dim=1), torch.einsum("ij,ij->i", x, y)


@rule(exact="bitwise", where=[arithmetic("x"), at_least_rank("x", 1), dim_of("d", "x")])
def sum_by_dims(x, d: Int):
    """``x.sum(d)`` with the dimension in a tuple."""
    return torch.sum(x, dim=d), torch.sum(x, dim=(d,))
