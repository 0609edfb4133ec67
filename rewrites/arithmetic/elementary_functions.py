"""Exponentials, logarithms, powers and trigonometric functions by one another."""

import math

import torch

from eqfuzz.rewrite.facts.composite_preconditions import elementwise
from eqfuzz.rewrite.facts.preconditions import (
    at_least,
    at_most,
    away_from_zero,
    floating,
    full_precision,
    moderate,
    no_grad,
    no_negative_zero,
    real,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, dense
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Number

POSITIVE = [wide("x"), at_least("x", 1e-2), moderate("x", bound=1e4)]
SMALL = [wide("x"), moderate("x", bound=20)]


@rule(exact="ulp", where=[wide("x"), at_least("x", 1e-3), moderate("x", bound=1e4)], both_ways=True)
def power_of_minus_half(x):
    """``x ** -0.5`` is ``rsqrt(x)``."""
    return x**-0.5, torch.rsqrt(x)


@rule(exact="bitwise", where=[real("x")])
def one_over_x_to_reciprocal(x):
    """``1 / x`` is ``reciprocal(x)``, which is how eager divides a number by a tensor."""
    return 1 / x, torch.reciprocal(x)


@rule(exact="bitwise", where=[real("x")])
def reciprocal_divides(x):
    """``reciprocal(x)`` is ``1 / x``."""
    return torch.reciprocal(x), 1 / x


@rule(exact="ulp", where=[wide("x"), away_from_zero("x", 1e-3), moderate("x", bound=1e6)], both_ways=True)
def power_of_minus_one(x):
    """``x ** -1`` is ``reciprocal(x)``."""
    return x**-1, torch.reciprocal(x)


@rule(
    exact="ulp",
    where=[
        wide("x"),
        away_from_zero("x", 1e-2),
        moderate("x", bound=50),
        when("an exponent up to 5", lambda k: abs(k.value) <= 5, "k"),
    ],
)
def power_in_double(x, k: Number):
    """``x ** k`` is ``float_power`` in float64, rounded once."""
    return x**k, torch.float_power(x, k).to(x.dtype)


@rule(exact="ulp", where=[*SMALL, contiguous("x")])
def exponential_is_power_of_e(x):
    """``exp(x)`` is ``e ** x``."""
    return torch.exp(x), torch.pow(math.e, x)


@rule(exact="ulp", where=[*SMALL, contiguous("x")], both_ways=True)
def exp2_to_power(x):
    """``exp2(x)`` is ``2 ** x``."""
    return torch.exp2(x), torch.pow(2.0, x)


@rule(exact="real", where=SMALL, both_ways=True)
def expm1_to_exp(x):
    """``expm1(x)`` is ``exp(x) - 1``, which cancels near zero."""
    return torch.expm1(x), torch.exp(x) - 1


@rule(exact="real", where=[wide("x"), at_least("x", -0.9), moderate("x", bound=1e4)])
def log1p_to_log(x):
    """``log1p(x)`` is ``log(1 + x)``, which loses digits of a small ``x``."""
    return torch.log1p(x), torch.log(1 + x)


@rule(
    exact="real",
    where=[elementwise("x", "y"), at_least("x", 1e-2), at_least("y", 1e-2)],
)
def logarithm_of_quotient(x, y):
    """``log(x / y)`` is ``log(x) - log(y)``; near 1 the difference cancels."""
    return torch.log(x / y), torch.log(x) - torch.log(y)


@rule(exact="ulp", where=POSITIVE)
def log10_to_log(x):
    """``log10(x)`` is ``log(x) / log(10)``."""
    return torch.log10(x), torch.log(x) / math.log(10)


@rule(exact="real", where=POSITIVE, both_ways=True)
def logarithm_of_root(x):
    """``log(sqrt(x))`` is ``0.5 * log(x)``; near 1 the root has lost the digits that count."""
    return torch.log(torch.sqrt(x)), 0.5 * torch.log(x)


@rule(exact="ulp", where=[*SMALL, moderate("result", bound=50)])
def tan_to_sin_and_cos(x):
    """``tan(x)`` is ``sin(x) / cos(x)`` away from the poles."""
    return torch.tan(x), torch.sin(x) / torch.cos(x)


@rule(exact="real", where=SMALL)
def cosine_is_shifted_sine(x):
    """``cos(x)`` is ``sin(x + π/2)``."""
    return torch.cos(x), torch.sin(x + math.pi / 2)


@rule(exact="ulp", where=[*SMALL, no_grad("x"), dense("x")], both_ways=True)
def squares_of_sine_and_cosine(x):
    """``sin(x) ** 2 + cos(x) ** 2`` is 1; ones carry no gradient."""
    return torch.sin(x) ** 2 + torch.cos(x) ** 2, torch.ones_like(x)


@rule(exact="real", where=SMALL)
def sinh_to_exp(x):
    """``sinh(x)`` is ``(exp(x) - exp(-x)) / 2``, which cancels near zero."""
    return torch.sinh(x), (torch.exp(x) - torch.exp(-x)) / 2


@rule(exact="ulp", where=SMALL)
def cosh_to_exp(x):
    """``cosh(x)`` is ``(exp(x) + exp(-x)) / 2``."""
    return torch.cosh(x), (torch.exp(x) + torch.exp(-x)) / 2


@rule(exact="ulp", where=SMALL)
def tanh_to_sinh_and_cosh(x):
    """``tanh(x)`` is ``sinh(x) / cosh(x)``."""
    return torch.tanh(x), torch.sinh(x) / torch.cosh(x)


@rule(exact="real", where=SMALL)
def sigmoid_by_tanh(x):
    """``sigmoid(x)`` is ``(tanh(x / 2) + 1) / 2``, which cancels where ``x`` is very negative."""
    return torch.sigmoid(x), 0.5 * (torch.tanh(0.5 * x) + 1)


@rule(exact="real", where=SMALL, both_ways=True)
def sigmoid_of_negation(x):
    """``sigmoid(-x)`` is ``1 - sigmoid(x)``, which cancels where ``x`` is large."""
    return torch.sigmoid(-x), 1 - torch.sigmoid(x)


@rule(exact="ulp", where=[wide("x"), away_from_zero("x", 1e-6), moderate("x", bound=1e6)], both_ways=True)
def absolute_is_root_of_square(x):
    """``abs(x)`` is ``sqrt(x * x)`` away from zero, where the square underflows and the root has no gradient."""
    return torch.abs(x), torch.sqrt(x * x)


@rule(exact="bitwise", where=[real("x"), no_negative_zero("x")])
def absolute_by_sign(x):
    """``abs(x)`` is ``x * sign(x)``."""
    return torch.abs(x), x * torch.sign(x)


@rule(
    exact="ulp",
    where=[elementwise("x", "y"), away_from_zero("result", 1e-3)],
    both_ways=True,
)
def hypotenuse_by_products(x, y):
    """``hypot(x, y)`` is ``sqrt(x * x + y * y)``; at (0, 0) the root has no gradient."""
    return torch.hypot(x, y), torch.sqrt(x * x + y * y)


@rule(
    exact="ulp",
    where=[elementwise("x", "y"), at_least("y", 1e-3)],
)
def product_with_logarithm(x, y):
    """``xlogy(x, y)`` is ``x * log(y)`` for positive ``y``, save the sign of zero."""
    return torch.xlogy(x, y), x * torch.log(y)


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=1e5)])
def degrees_in_radians(x):
    """``deg2rad(x)`` is ``x * (π / 180)``."""
    return torch.deg2rad(x), x * (math.pi / 180)


@rule(exact="ulp", where=[wide("x"), at_least("x", 0.01), at_most("x", 0.99)], both_ways=True)
def logit_to_log(x):
    """``logit(x)`` is ``log(x / (1 - x))``."""
    return torch.logit(x), torch.log(x / (1 - x))


@rule(
    exact="real",
    where=[elementwise("x", "y", bound=20)],
    both_ways=True,
)
def logarithm_of_two_exponentials(x, y):
    """``logaddexp(x, y)`` is ``log(exp(x) + exp(y))`` where those do not overflow."""
    return torch.logaddexp(x, y), torch.log(torch.exp(x) + torch.exp(y))


@rule(exact="real", where=[full_precision("x"), moderate("x", bound=3)], both_ways=True)
def erfc_to_erf(x):
    """``erfc(x)`` is ``1 - erf(x)``, which cancels where ``x`` is large."""
    return torch.erfc(x), 1 - torch.erf(x)


@rule(
    exact="bitwise",
    where=[when("free of rounding", lambda k: k.value >= 0 and math.sqrt(k.value) == k.value**0.5, "k")],
    both_ways=True,
)
def root_of_number(k: Number):
    """``math.sqrt(k)`` is ``k ** 0.5`` where the power is rounded like the root."""
    return math.sqrt(k), k**0.5


@rule(exact="bitwise", where=[floating("x")], both_ways=True)
def truncation_by_sign(x):
    """``trunc(x)`` rounds non-negative elements down and the others up."""
    return torch.trunc(x), torch.where(x >= 0, torch.floor(x), torch.ceil(x))
