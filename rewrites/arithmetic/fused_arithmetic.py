"""Sums of products and their fused forms, arithmetic that undoes itself, remainders."""

import torch

from eqfuzz.rewrite.facts.composite_preconditions import copyable, elementwise
from eqfuzz.rewrite.facts.preconditions import (
    at_least,
    away_from_zero,
    finite,
    floating,
    full_precision,
    integral,
    moderate,
    no_negative_zero,
    same_dtype,
    when,
)
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, dense
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int, Number, Operand

THREE = [elementwise("x", "y", "z", bound=100)]


@rule(exact="real", where=THREE)
def common_factor_on_the_right(x, y, z):
    """``x * z + y * z`` is ``(x + y) * z``."""
    return x * z + y * z, (x + y) * z


@rule(exact="bitwise", where=[integral("x", "y", "z"), same_dtype("x", "y", "z"), contiguous("x", "y", "z")])
def common_integer_factor_on_the_right(x, y, z):
    """``x * z + y * z`` of integers is ``(x + y) * z``: integers wrap."""
    return x * z + y * z, (x + y) * z


@rule(
    exact="bitwise",
    where=[
        integral("x", "y"),
        same_dtype("x", "y"),
        contiguous("x", "y"),
        when("a small number", lambda k: 0 <= k.value < 100, "k"),
    ],
    both_ways=True,
)
def integer_distribution_of_number(x, y, k: Int):
    """``x * (y + k)`` is ``x * y + x * k``: integers wrap."""
    return x * (y + k), x * y + x * k


@rule(
    exact="bitwise",
    where=[floating("x", "y"), same_dtype("x", "y"), contiguous("x", "y"), away_from_zero("result", 1e-30)],
)
def negated_float_difference(x, y):
    """``-(x - y)`` is ``y - x`` where no difference is zero, for the sign of zero would differ."""
    return -(x - y), y - x


@rule(exact="ulp", where=[*THREE, moderate("k", bound=100)], both_ways=True)
def scaled_product_sum(x, k: Number, y, z):
    """``x + k * y * z`` is ``addcmul`` with a value."""
    return x + k * y * z, torch.addcmul(x, y, z, value=k)


@rule(
    exact="ulp",
    where=[*THREE, away_from_zero("z", 1e-2), moderate("k", bound=100)],
    both_ways=True,
)
def scaled_quotient_sum(x, k: Number, y, z):
    """``x + k * y / z`` is ``addcdiv`` with a value."""
    return x + k * y / z, torch.addcdiv(x, y, z, value=k)


@rule(
    exact="bitwise",
    where=[
        full_precision("x"),
        when("ordered bounds that are not zero", lambda k, j: k.value <= j.value and k.value and j.value, "k", "j"),
        dense("x"),
    ],
    gradients=False,
)
def clamp_by_full_bounds(x, k: Number, j: Number):
    """``clamp(x, k, j)`` is a minimum of a maximum, except for the gradient at the bounds."""
    return torch.clamp(x, k, j), torch.minimum(torch.maximum(x, torch.full_like(x, k)), torch.full_like(x, j))


@rule(
    exact="bitwise",
    where=[integral("x", "y"), same_dtype("x", "y"), away_from_zero("y", 1), contiguous("x", "y")],
    both_ways=True,
)
def integer_remainder(x, y):
    """``remainder(x, y)`` of integers is ``x - y * (x // y)``."""
    return torch.remainder(x, y), x - y * torch.floor_divide(x, y)


@rule(
    exact="real",
    where=[
        full_precision("x", "y"),
        same_dtype("x", "y"),
        moderate("x", "y", bound=50),
        at_least("y", 0.05),
        contiguous("x", "y"),
    ],
    gradients=False,
)
def remainder_by_floor_division(x, y):
    """``remainder(x, y)`` is ``x`` less the whole part of the quotient; floor division rounds like the remainder.

    ``floor(x / y)`` would not: where the quotient rounds up to a whole number, the two differ by ``y``. The gradients
    differ there too.
    """
    return torch.remainder(x, y), x - y * torch.floor_divide(x, y)


@rule(
    exact="bitwise",
    where=[integral("x", "y"), same_dtype("x", "y"), away_from_zero("y", 1), contiguous("x", "y")],
)
def integer_remainder_towards_zero(x, y):
    """``fmod(x, y)`` of integers is ``x`` less the truncated quotient times ``y``."""
    return torch.fmod(x, y), x - y * torch.div(x, y, rounding_mode="trunc")


@rule(
    exact="bitwise",
    where=[floating("x"), finite("x"), no_negative_zero("x"), copyable("x")],
)
def plus_own_difference(x):
    """``x`` is ``x + (x - x)``: a zero that no compiler may assume, for infinities give NaN."""
    return x, x + (x - x)


@rule(
    exact="bitwise",
    where=[floating("x"), moderate("x"), away_from_zero("x", 1e-3), copyable("x")],
    gradients=False,
)
def times_own_quotient(x):
    """``x`` is ``x * (x / x)``: a one that no compiler may assume. Its gradient adds up three terms, rounded."""
    return x, x * (x / x)


@rule(
    exact="bitwise",
    where=[integral("x"), when("a shift within the width", lambda k: 0 <= k.value <= 6, "k")],
)
def shift_is_product(x, k: Int):
    """``x << k`` is ``x * 2 ** k``: integers wrap."""
    return x << k, x * 2**k


@rule(exact="bitwise", where=[contiguous("x", "y")])
def difference_by_alias(x, y):
    """``x - y`` is ``torch.subtract(x, y)``."""
    return x - y, torch.subtract(x, y)


@rule(exact="bitwise")
def product_by_alias(x, y: Operand):
    """``x * y`` is ``torch.multiply(x, y)``."""
    return x * y, torch.multiply(x, y)


@rule(exact="bitwise")
def quotient_by_alias(x, y: Operand):
    """``x / y`` is ``torch.true_divide(x, y)``."""
    return x / y, torch.true_divide(x, y)


@rule(exact="bitwise")
def add_method(x, y: Operand):
    """``x + y`` is the method ``x.add(y)``."""
    return x + y, x.add(y)


@rule(exact="bitwise")
def add_reflected(x, k: Number):
    """``x + k`` is what Python calls for ``k + x``."""
    return x + k, x.__radd__(k)


@rule(exact="bitwise")
def power_method(x, k: Number):
    """``x ** k`` is the method ``x.pow(k)``."""
    return x**k, x.pow(k)
