"""Comparison, logic and selection."""

import math

import torch

from eqfuzz.rewrite.facts.preconditions import (
    arithmetic,
    boolean,
    dtype_in,
    finite,
    floating,
    full_precision,
    integral,
    moderate,
    no_grad,
    no_nan,
    no_negative_zero,
    real,
    same_dtype,
    signed,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, dim_of, non_empty, same_shape
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int, Number, Operand


@rule(exact="bitwise", where=[contiguous("x", "y")])
def greater_flips(x, y):
    """``x > y`` is ``y < x``."""
    return x > y, y < x


@rule(exact="bitwise", where=[contiguous("x", "y")])
def less_flips(x, y):
    """``x < y`` is ``y > x``."""
    return x < y, y > x


@rule(exact="bitwise", where=[contiguous("x", "y")])
def at_least_flips(x, y):
    """``x >= y`` is ``y <= x``."""
    return x >= y, y <= x


@rule(exact="bitwise", where=[no_nan("x", "y")], both_ways=True)
def greater_is_not_at_most(x, y: Operand):
    """``x > y`` is ``~(x <= y)`` without NaN."""
    return x > y, ~(x <= y)


@rule(exact="bitwise", where=[no_nan("x", "y")], both_ways=True)
def less_is_not_at_least(x, y: Operand):
    """``x < y`` is ``~(x >= y)`` without NaN."""
    return x < y, ~(x >= y)


@rule(exact="bitwise", both_ways=True)
def unequal_is_not_equal(x, y: Operand):
    """``x != y`` is ``~(x == y)``, also for NaN."""
    return x != y, ~(x == y)


@rule(exact="bitwise", where=[floating("x", "y"), same_dtype("x", "y"), finite("x", "y"), contiguous("x", "y")])
def greater_by_difference(x, y):
    """``x > y`` is ``x - y > 0``: the difference of unequal finite floats is never zero."""
    return x > y, (x - y) > 0


@rule(exact="bitwise", where=[floating("x", "y"), same_dtype("x", "y"), finite("x", "y"), contiguous("x", "y")])
def equal_by_difference(x, y):
    """``x == y`` is ``x - y == 0``."""
    return x == y, (x - y) == 0


@rule(exact="bitwise", where=[integral("x", "y"), same_dtype("x", "y"), contiguous("x", "y")])
def integers_equal_by_xor(x, y):
    """``x == y`` is ``(x ^ y) == 0``."""
    return x == y, (x ^ y) == 0


@rule(
    exact="bitwise",
    where=[
        dtype_in("x", torch.bool, torch.int64, torch.int32, torch.uint8),
        same_dtype("x", "y"),
        contiguous("x", "y"),
    ],
)
def de_morgan_and(x, y):
    """``x & y`` is ``~(~x | ~y)``."""
    return x & y, ~(~x | ~y)


@rule(
    exact="bitwise",
    where=[
        dtype_in("x", torch.bool, torch.int64, torch.int32, torch.uint8),
        same_dtype("x", "y"),
        contiguous("x", "y"),
    ],
)
def de_morgan_or(x, y):
    """``x | y`` is ``~(~x & ~y)``."""
    return x | y, ~(~x & ~y)


@rule(exact="bitwise", where=[boolean("x", "y")], both_ways=True)
def exclusive_or_is_unequal(x, y):
    """``x ^ y`` of bools is ``x != y``."""
    return x ^ y, x != y


@rule(exact="bitwise", where=[boolean("x", "y"), contiguous("x", "y")])
def and_is_product(x, y):
    """``x & y`` of bools is ``x * y``."""
    return x & y, x * y


@rule(exact="bitwise", where=[boolean("x", "y"), contiguous("x", "y")])
def or_is_maximum(x, y):
    """``x | y`` of bools is ``torch.maximum(x, y)``."""
    return x | y, torch.maximum(x, y)


@rule(exact="bitwise", where=[boolean("x", "y")], both_ways=True)
def and_is_logical(x, y):
    """``x & y`` of bools is ``torch.logical_and(x, y)``."""
    return x & y, torch.logical_and(x, y)


@rule(exact="bitwise", where=[boolean("x", "y")], both_ways=True)
def or_is_logical(x, y):
    """``x | y`` of bools is ``torch.logical_or(x, y)``."""
    return x | y, torch.logical_or(x, y)


@rule(exact="bitwise", where=[boolean("x")])
def invert_by_xor(x):
    """``~x`` of a bool is ``x ^ True``."""
    return ~x, x ^ True


@rule(exact="bitwise", where=[integral("x")])
def invert_by_negation(x):
    """``~x`` of two's complement integers is ``-x - 1``."""
    return ~x, -x - 1


@rule(exact="bitwise", where=[real("x")], both_ways=True)
def logical_not_is_zero(x):
    """``logical_not(x)`` is ``x == 0``."""
    return torch.logical_not(x), x == 0


@rule(
    exact="bitwise",
    where=[real("x", "y"), same_dtype("x", "y"), no_nan("x", "y"), no_negative_zero("x", "y"), contiguous("x", "y")],
    gradients=False,
)
def maximum_is_where(x, y):
    """``maximum(x, y)`` is ``where(x > y, x, y)``; at ties the gradient is halved on the left only."""
    return torch.maximum(x, y), torch.where(x > y, x, y)


@rule(
    exact="bitwise",
    where=[real("x", "y"), same_dtype("x", "y"), no_nan("x", "y"), no_negative_zero("x", "y"), contiguous("x", "y")],
    gradients=False,
)
def minimum_is_where(x, y):
    """``minimum(x, y)`` is ``where(x < y, x, y)``; at ties the gradient is halved on the left only."""
    return torch.minimum(x, y), torch.where(x < y, x, y)


@rule(exact="bitwise", where=[floating("x", "y"), no_negative_zero("x", "y"), contiguous("x", "y")])
def maximum_is_negated_minimum(x, y):
    """``maximum(x, y)`` is ``-minimum(-x, -y)``."""
    return torch.maximum(x, y), -torch.minimum(-x, -y)


@rule(exact="bitwise", where=[integral("x", "y"), same_dtype("x", "y"), contiguous("x", "y")])
def maximum_of_complements(x, y):
    """``maximum(x, y)`` of integers is ``~minimum(~x, ~y)``: complement reverses the order and never wraps."""
    return torch.maximum(x, y), ~torch.minimum(~x, ~y)


@rule(
    exact="bitwise",
    where=[
        real("x", "y"),
        same_dtype("x", "y"),
        same_shape("x", "y"),
        no_nan("x", "y"),
        no_negative_zero("x", "y"),
        contiguous("x", "y"),
    ],
)
def maximum_of_stack(x, y):
    """``maximum(x, y)`` is the maximum over a stack of both."""
    return torch.maximum(x, y), torch.stack((x, y)).amax(0)


@rule(exact="bitwise", where=[boolean("c"), contiguous("c", "x", "y")], both_ways=True)
def where_swaps(c, x, y):
    """``where(c, x, y)`` is ``where(~c, y, x)``."""
    return torch.where(c, x, y), torch.where(~c, y, x)


@rule(
    exact="bitwise",
    where=[
        boolean("c"),
        real("x", "y"),
        same_dtype("x", "y"),
        finite("x", "y"),
        no_negative_zero("x", "y"),
        contiguous("c", "x", "y"),
    ],
)
def where_is_masked_sum(c, x, y):
    """``where(c, x, y)`` is ``c * x + ~c * y`` for finite numbers."""
    return torch.where(c, x, y), c * x + (~c) * y


@rule(
    exact="bitwise",
    where=[
        boolean("c"),
        full_precision("x", "y"),
        same_dtype("x", "y"),
        same_shape("c", "x", "y"),
        moderate("x", "y"),
        no_negative_zero("x", "y"),
        contiguous("c", "x", "y"),
    ],
)
def where_is_lerp(c, x, y):
    """``where(c, x, y)`` is a linear interpolation with weights 0 and 1."""
    return torch.where(c, x, y), torch.lerp(y, x, c.to(x.dtype))


@rule(
    exact="bitwise",
    where=[
        boolean("c"),
        wide("x"),
        same_shape("x", "result"),
        contiguous("c", "x"),
        when("infinite or below 1e30", lambda k: abs(k.value) <= 1e30 or math.isinf(k.value), "k"),
    ],
    both_ways=True,
)
def masked_fill_is_where(c, x, k: Number):
    """``x.masked_fill(c, k)`` is ``where(c, k, x)``."""
    return torch.masked_fill(x, c, k), torch.where(c, k, x)


@rule(
    exact="bitwise",
    where=[boolean("c"), same_dtype("x", "y"), same_shape("c", "x", "y"), contiguous("c", "x", "y"), arithmetic("x")],
)
def where_is_gather(c, x, y):
    """``where(c, x, y)`` picks from a stack of both with the mask as index."""
    return torch.where(c, x, y), torch.stack((y, x)).gather(0, c.long().unsqueeze(0)).squeeze(0)


@rule(exact="bitwise", both_ways=True, where=[arithmetic("x")])
def nan_is_unequal_to_itself(x):
    """``isnan(x)`` is ``x != x``."""
    return torch.isnan(x), x != x


@rule(exact="bitwise", where=[floating("x")])
def finite_by_comparison(x):
    """``isfinite(x)`` is ``abs(x) < inf``."""
    return torch.isfinite(x), torch.abs(x) < math.inf


@rule(exact="bitwise", where=[boolean("x")], both_ways=True)
def any_is_positive_sum(x):
    """``x.any()`` of a bool tensor is ``x.sum() > 0``."""
    return torch.any(x), torch.sum(x) > 0


@rule(exact="bitwise", where=[boolean("x")], both_ways=True)
def all_is_no_exception(x):
    """``x.all()`` of a bool tensor is ``~(~x).any()``."""
    return torch.all(x), ~torch.any(~x)


@rule(exact="bitwise", where=[boolean("x"), at_least_rank("x", 1), non_empty("x"), dim_of("d", "x")])
def all_is_minimum(x, d: Int):
    """``x.all(d)`` of a bool tensor is the smallest of its bytes."""
    return torch.all(x, dim=d), x.to(torch.uint8).amin(dim=d).to(torch.bool)


@rule(exact="bitwise", where=[boolean("x"), at_least_rank("x", 1), non_empty("x"), dim_of("d", "x")])
def any_is_maximum(x, d: Int):
    """``x.any(d)`` of a bool tensor is the largest of its bytes."""
    return torch.any(x, dim=d), x.to(torch.uint8).amax(dim=d).to(torch.bool)


@rule(exact="bitwise", where=[signed("x"), no_nan("x"), no_grad("x")])
def sign_by_comparison(x):
    """``sign(x)`` is ``(x > 0) - (x < 0)`` in numbers; comparisons carry no gradient."""
    return torch.sign(x), (x > 0).to(x.dtype) - (x < 0).to(x.dtype)
