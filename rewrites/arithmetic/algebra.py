"""Algebraic identities: signs, units, powers of two, reassociation, fused forms."""

import math

import torch

from eqfuzz.rewrite.facts.composite_preconditions import copyable, elementwise
from eqfuzz.rewrite.facts.preconditions import (
    FLOATS,
    at_least,
    away_from_zero,
    dtype_in,
    finite,
    floating,
    integral,
    moderate,
    no_grad,
    no_negative_zero,
    real,
    same_dtype,
    signed,
    value_in,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, same_shape
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Number


@rule(exact="bitwise", where=[real("x", "y"), contiguous("x", "y")])
def add_commutes(x, y):
    """``x + y`` is ``y + x``; with complex infinities the order decides which parts are NaN."""
    return x + y, y + x


@rule(
    exact="bitwise",
    where=[
        real("x", "y"),
        contiguous("x", "y"),
        when("of one dtype where one is 0-d", lambda x, y: x.dtype == y.dtype or min(x.ndim, y.ndim) > 0, "x", "y"),
    ],
)
def mul_commutes(x, y):
    """``x * y`` is ``y * x``; a second operand that is 0-d is rounded otherwise than a first one."""
    return x * y, y * x


@rule(exact="bitwise", where=[real("x", "y"), same_dtype("y", "result"), contiguous("x", "y")])
def sub_adds_negation(x, y):
    """``x - y`` is ``x + (-y)``; y must not be promoted afterwards, for negation wraps in small integers."""
    return x - y, x + (-y)


@rule(exact="bitwise", where=[real("x", "y"), same_dtype("y", "result"), contiguous("x", "y")])
def add_subtracts_negation(x, y):
    """``x + y`` is ``x - (-y)``."""
    return x + y, x - (-y)


@rule(exact="bitwise", where=[real("x", "y"), contiguous("x", "y")])
def sub_with_alpha(x, y):
    """``x - y`` is an addition with ``alpha=-1``."""
    return x - y, torch.add(x, y, alpha=-1)


@rule(exact="bitwise", where=[integral("x", "y"), same_dtype("x", "y"), contiguous("x", "y")])
def negated_difference(x, y):
    """``-(x - y)`` is ``y - x``; in floats the sign of zero would differ."""
    return -(x - y), y - x


@rule(exact="bitwise", where=[real("x"), copyable("x")])
def double_negation(x):
    """``x`` is ``-(-x)``."""
    return x, -(-x)  # noqa: B002


@rule(exact="bitwise", where=[real("x"), copyable("x")])
def times_one(x):
    """``x`` is ``x * 1``; a Python int keeps the dtype of any number type but bool."""
    return x, x * 1


@rule(exact="bitwise", where=[real("x"), no_negative_zero("x"), copyable("x")])
def plus_zero(x):
    """``x`` is ``x + 0``, save that -0.0 becomes 0.0."""
    return x, x + 0


@rule(exact="bitwise", where=[real("x"), copyable("x")])
def minus_zero(x):
    """``x`` is ``x - 0``, at -0.0 too."""
    return x, x - 0


@rule(exact="bitwise", where=[floating("x"), copyable("x")])
def over_one(x):
    """``x`` is ``x / 1.0``."""
    return x, x / 1.0


@rule(exact="bitwise", where=[real("x"), copyable("x")])
def power_one(x):
    """``x`` is ``x ** 1``."""
    return x, x**1


@rule(exact="bitwise", where=[real("x"), copyable("x")])
def value_to_where(x):
    """``x`` is ``x`` wherever a mask of ones holds."""
    return x, torch.where(torch.ones_like(x, dtype=torch.bool), x, 0)


@rule(exact="bitwise", where=[real("x")])
def square_is_product(x):
    """``x ** 2`` is ``x * x``; complex powers round differently."""
    return x**2, x * x


@rule(exact="bitwise", where=[real("x")])
def second_power_is_product(x):
    """``torch.pow(x, 2)`` is ``x * x``."""
    return torch.pow(x, 2), x * x


@rule(exact="bitwise", both_ways=True)
def square_function(x):
    """``x ** 2`` is ``torch.square(x)``."""
    return x**2, torch.square(x)


@rule(exact="ulp", where=[floating("x"), moderate("x", bound=30)])
def cube_is_product(x):
    """``x ** 3`` is ``x * x * x``."""
    return x**3, x * x * x


@rule(exact="bitwise", where=[integral("x")])
def integer_cube_is_product(x):
    """``x ** 3`` is ``x * x * x`` modulo the width of the integers."""
    return x**3, x * x * x


@rule(exact="bitwise", where=[real("x")])
def doubling_adds(x):
    """``x * 2`` is ``x + x``."""
    return x * 2, x + x


@rule(exact="bitwise", where=[real("x")], both_ways=True)
def negation_multiplies(x):
    """``-x`` is ``x * -1``."""
    return -x, x * -1


@rule(
    exact="bitwise",
    where=[floating("x", "y"), same_dtype("x", "y"), moderate("x", "y"), value_in("k", 2, 4, 8), contiguous("x", "y")],
)
def distribute_power_of_two(x, y, k: Number):
    """``(x + y) * k`` is ``x * k + y * k`` exactly when k is a power of two and nothing overflows."""
    return (x + y) * k, x * k + y * k


@rule(exact="bitwise", where=[floating("x"), value_in("k", 2, 4, 8, 16, 0.5, 0.25)])
def division_by_power_of_two(x, k: Number):
    """``x / k`` is ``x * (1 / k)`` exactly when k is a power of two."""
    return x / k, x * (1 / k)


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=1e6), moderate("k"), away_from_zero("k", 1e-3)])
def division_by_number(x, k: Number):
    """``x / k`` is ``x * (1 / k)``."""
    return x / k, x * (1 / k)


@rule(
    exact="ulp",
    where=[elementwise("x", "y"), away_from_zero("y", 1e-3)],
)
def division_by_reciprocal(x, y):
    """``x / y`` is ``x * torch.reciprocal(y)``."""
    return x / y, x * torch.reciprocal(y)


@rule(exact="ulp", where=[wide("x"), at_least("x", 1e-6), moderate("x", bound=1e6)])
def reciprocal_of_sqrt_to_rsqrt(x):
    """``1 / torch.sqrt(x)`` is ``torch.rsqrt(x)``."""
    return 1 / torch.sqrt(x), torch.rsqrt(x)


@rule(
    exact="ulp",
    where=[elementwise("x", "y", bound=20)],
    both_ways=True,
)
def product_of_exponentials(x, y):
    """``exp(x) * exp(y)`` is ``exp(x + y)``."""
    return torch.exp(x) * torch.exp(y), torch.exp(x + y)


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=20)])
def exponential_of_negation(x):
    """``exp(-x)`` is ``1 / exp(x)``."""
    return torch.exp(-x), 1 / torch.exp(x)


@rule(
    exact="real",
    where=[elementwise("x", "y"), at_least("x", 1e-2), at_least("y", 1e-2)],
)
def logarithm_of_product(x, y):
    """``log(x * y)`` is ``log(x) + log(y)``; near 1 the sum cancels."""
    return torch.log(x * y), torch.log(x) + torch.log(y)


@rule(exact="ulp", where=[wide("x"), at_least("x", 1e-6), moderate("x", bound=1e6)])
def log2_to_log(x):
    """``log2(x)`` is ``log(x) / log(2)``."""
    return torch.log2(x), torch.log(x) / math.log(2)


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=20)])
def sigmoid_by_exponential(x):
    """``sigmoid(x)`` is ``1 / (1 + exp(-x))``."""
    return torch.sigmoid(x), 1 / (1 + torch.exp(-x))


@rule(exact="real", where=[wide("x"), moderate("x", bound=20)])
def tanh_by_sigmoid(x):
    """``tanh(x)`` is ``2 * sigmoid(2 * x) - 1``, which cancels near zero."""
    return torch.tanh(x), 2 * torch.sigmoid(2 * x) - 1


@rule(
    exact="ulp",
    where=[elementwise("x", "y", "z")],
)
def fused_product_sum(x, y, z):
    """``x + y * z`` is ``torch.addcmul(x, y, z)``."""
    return x + y * z, torch.addcmul(x, y, z)


@rule(
    exact="ulp",
    where=[elementwise("x", "y"), moderate("k", bound=100)],
)
def scaled_addition(x, k: Number, y):
    """``x + k * y`` is an addition with ``alpha=k``."""
    return x + k * y, torch.add(x, y, alpha=k)


@rule(
    exact="ulp",
    where=[elementwise("x", "y"), moderate("k", bound=100)],
)
def scaled_subtraction(x, k: Number, y):
    """``x - k * y`` is a subtraction with ``alpha=k``."""
    return x - k * y, torch.sub(x, y, alpha=k)


@rule(
    exact="real",
    where=[elementwise("x", "y", "z"), same_shape("x", "y", "z")],
)
def sum_to_lerp(x, y, z):
    """``x + y * (z - x)`` is ``torch.lerp(x, z, y)``."""
    return x + y * (z - x), torch.lerp(x, z, y)


@rule(
    exact="real",
    where=[elementwise("x", "y", "z")],
)
def addition_associates(x, y, z):
    """``(x + y) + z`` is ``x + (y + z)``."""
    return (x + y) + z, x + (y + z)


@rule(exact="bitwise", where=[integral("x", "y", "z"), same_dtype("x", "y", "z"), contiguous("x", "y", "z")])
def integer_addition_associates(x, y, z):
    """``(x + y) + z`` is ``x + (y + z)``: integers wrap."""
    return (x + y) + z, x + (y + z)


@rule(
    exact="real",
    where=[elementwise("x", "y", "z", bound=100)],
)
def multiplication_associates(x, y, z):
    """``(x * y) * z`` is ``x * (y * z)``."""
    return (x * y) * z, x * (y * z)


@rule(
    exact="real",
    where=[elementwise("x", "y", "z", bound=100)],
    both_ways=True,
)
def product_of_sum_to_sum(x, y, z):
    """``x * (y + z)`` is ``x * y + x * z``."""
    return x * (y + z), x * y + x * z


@rule(
    exact="bitwise",
    where=[integral("x", "y", "z"), same_dtype("x", "y", "z"), contiguous("x", "y", "z")],
    both_ways=True,
)
def integer_product_of_sum_to_sum(x, y, z):
    """``x * (y + z)`` is ``x * y + x * z``: integers wrap."""
    return x * (y + z), x * y + x * z


@rule(exact="ulp", where=[elementwise("x", "y")])
def root_of_squares_to_hypot(x, y):
    """``sqrt(x ** 2 + y ** 2)`` is ``torch.hypot(x, y)``."""
    return torch.sqrt(x**2 + y**2), torch.hypot(x, y)


@rule(exact="bitwise", where=[signed("x"), away_from_zero("x", 1e-30)])
def absolute_is_maximum(x):
    """``abs(x)`` is ``maximum(x, -x)`` away from zero, where sign and gradient would differ."""
    return torch.abs(x), torch.maximum(x, -x)


@rule(exact="bitwise", where=[real("x"), no_negative_zero("x")], gradients=False)
def absolute_is_where(x):
    """``abs(x)`` is ``where(x < 0, -x, x)``; at 0 the gradient is 0 on the left and 1 on the right."""
    return torch.abs(x), torch.where(x < 0, -x, x)


@rule(exact="bitwise", where=[floating("x")], both_ways=True)
def ceil_to_floor(x):
    """``ceil(x)`` is ``-floor(-x)``."""
    return torch.ceil(x), -torch.floor(-x)


@rule(exact="bitwise", where=[floating("x"), finite("x")])
def frac_to_trunc(x):
    """``torch.frac(x)`` is ``x - torch.trunc(x)``."""
    return torch.frac(x), x - torch.trunc(x)


@rule(exact="bitwise", where=[dtype_in("x", *FLOATS, torch.int64, torch.int32), same_dtype("x", "result")])
def clamp_in_two(x, k: Number, j: Number):
    """``clamp(x, k, j)`` raises to k first and then cuts at j, also when k > j; not where a bound promotes."""
    return torch.clamp(x, k, j), torch.clamp_max(torch.clamp_min(x, k), j)


@rule(
    exact="bitwise",
    where=[floating("x"), when("k ≤ j", lambda k, j: k.value <= j.value, "k", "j")],
    gradients=False,
)
def clamp_is_hardtanh(x, k: Number, j: Number):
    """``clamp(x, k, j)`` is ``hardtanh`` between the same bounds, except for the gradient at them."""
    return torch.clamp(x, k, j), torch.nn.functional.hardtanh(x, k, j)


@rule(exact="bitwise", where=[dtype_in("x", *FLOATS[:2]), no_grad("x")])
def scale_by_ldexp(x):
    """``x * 2`` is ``torch.ldexp(x, 1)``, which keeps its result for the gradient: nothing may write to that then."""
    return x * 2, torch.ldexp(x, torch.ones((), dtype=torch.int32, device=x.device))


@rule(exact="bitwise", where=[real("x"), at_least("x", 0), no_negative_zero("x")], gradients=False)
def absolute_of_nonnegative(x):
    """``torch.abs(x)`` changes nothing where no element is negative; the gradients at 0 differ."""
    return torch.abs(x), x * 1
