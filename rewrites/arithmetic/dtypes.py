"""Conversions that lose nothing, promotion written out, wrapped integers."""

import torch

from eqfuzz.rewrite.facts.composite_preconditions import copyable
from eqfuzz.rewrite.facts.preconditions import (
    FLOATS,
    boolean,
    dtype_in,
    floating,
    full_precision,
    integral,
    moderate,
    no_negative_zero,
    real,
    same_dtype,
    unmutated,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, dense, dim_of, rank
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int, Number

SMALL = when("within ±2**53", lambda x: x.low is None or (x.low > -(2**53) and x.high < 2**53), "x")
PLAIN = when("free of autograd", lambda x: not x.requires_grad, "x")


@rule(exact="bitwise", where=[boolean("x"), copyable("x")])
def bool_by_integer(x):
    """A bool is what comes back from int64."""
    return x, x.to(torch.int64).to(torch.bool)


@rule(exact="bitwise", where=[boolean("x"), copyable("x")])
def bool_by_float(x):
    """A bool is what comes back from float32."""
    return x, x.to(torch.float32) != 0


@rule(exact="bitwise", where=[integral("x"), SMALL, copyable("x")])
def integer_by_double(x):
    """An integer below 2 ** 53 comes back from float64."""
    return x, x.to(torch.float64).to(x.dtype)


@rule(
    exact="bitwise",
    where=[dtype_in("x", torch.int32, torch.int16, torch.int8, torch.uint8), copyable("x")],
)
def integer_by_long(x):
    """A small integer comes back from int64."""
    return x, x.to(torch.int64).to(x.dtype)


@rule(exact="bitwise", where=[dtype_in("x", *FLOATS), copyable("x")])
def float_by_double(x):
    """A float comes back from float64; of float64 both conversions return ``x`` itself."""
    return x, x.to(torch.float64).to(x.dtype)


@rule(exact="bitwise", where=[dtype_in("x", torch.bfloat16, torch.float16), copyable("x")])
def half_by_float(x):
    """A half type comes back from float32."""
    return x, x.to(torch.float32).to(x.dtype)


@rule(exact="bitwise")
def conversion_to_own_dtype(x):
    """``x.to(x.dtype)`` is ``x`` itself."""
    return x, x.to(x.dtype)


@rule(exact="bitwise", where=[dtype_in("x", torch.float32), PLAIN, unmutated("x")])
def float_bits(x):
    """The bits of float32 seen as int32 and back; integers carry no gradient."""
    return x, x.view(torch.int32).view(torch.float32)


@rule(exact="bitwise", where=[integral("x"), floating("y"), same_dtype("y", "result"), contiguous("x", "y")])
def promotion_of_left(x, y):
    """``x + y`` with the integer converted beforehand."""
    return x + y, x.to(y.dtype) + y


@rule(exact="bitwise", where=[integral("x"), floating("y"), same_dtype("y", "result"), contiguous("x", "y")])
def promotion_of_left_factor(x, y):
    """``x * y`` with the integer converted beforehand."""
    return x * y, x.to(y.dtype) * y


@rule(exact="bitwise", where=[boolean("x"), real("y"), same_dtype("y", "result"), contiguous("x", "y")], both_ways=True)
def promotion_of_mask(x, y):
    """``x * y`` with the mask converted beforehand."""
    return x * y, x.to(y.dtype) * y


@rule(exact="bitwise", where=[full_precision("x"), moderate("k", bound=1e6)])
def add_number_as_tensor(x, k: Number):
    """``x + k`` with a 0-d tensor; half types keep a number's extra digits, a tensor's not."""
    return x + k, x + torch.tensor(k, dtype=x.dtype, device=x.device)


@rule(exact="bitwise", where=[full_precision("x"), moderate("k", bound=1e6)])
def mul_number_as_tensor(x, k: Number):
    """``x * k`` with a 0-d tensor."""
    return x * k, x * torch.tensor(k, dtype=x.dtype, device=x.device)


@rule(exact="bitwise", where=[full_precision("x"), moderate("k", bound=1e6), dense("x")])
def add_number_in_full(x, k: Number):
    """``x + k`` with a full tensor."""
    return x + k, x + torch.full_like(x, k)


@rule(exact="bitwise", where=[full_precision("x"), moderate("k", bound=1e6), dense("x")])
def mul_number_in_full(x, k: Number):
    """``x * k`` with a full tensor."""
    return x * k, x * torch.full_like(x, k)


@rule(exact="bitwise", where=[dtype_in("x", torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32)])
def sum_all_in_long(x):
    """The sum of small integers is taken in int64 anyway."""
    return torch.sum(x), torch.sum(x.to(torch.int64))


@rule(
    exact="bitwise",
    where=[
        dtype_in("x", torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32),
        at_least_rank("x", 1),
        dim_of("d", "x"),
    ],
)
def sum_in_long(x, d: Int):
    """The sum of small integers along a dimension is taken in int64 anyway."""
    return torch.sum(x, dim=d), torch.sum(x.to(torch.int64), dim=d)


@rule(exact="bitwise", both_ways=True)
def float_method(x):
    """``x.float()`` is ``x.to(torch.float32)``."""
    return x.float(), x.to(torch.float32)


@rule(exact="bitwise", both_ways=True)
def double_method(x):
    """``x.double()`` is ``x.to(torch.float64)``."""
    return x.double(), x.to(torch.float64)


@rule(exact="bitwise", both_ways=True)
def long_method(x):
    """``x.long()`` is ``x.to(torch.int64)``."""
    return x.long(), x.to(torch.int64)


@rule(exact="bitwise", where=[unmutated("x", "result"), real("x"), dense("x")])
def bool_method(x):
    """``x.bool()`` is ``x != 0``."""
    return x.bool(), x != 0


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=50)])
def exponential_in_double(x):
    """``exp(x)`` computed in float64 and rounded once."""
    return torch.exp(x), torch.exp(x.to(torch.float64)).to(x.dtype)


@rule(exact="ulp", where=[wide("x"), moderate("x", bound=50)])
def tanh_in_double(x):
    """``tanh(x)`` computed in float64 and rounded once."""
    return torch.tanh(x), torch.tanh(x.to(torch.float64)).to(x.dtype)


@rule(exact="bitwise", where=[dtype_in("x", torch.bfloat16, torch.float16), same_dtype("x", "y"), contiguous("x", "y")])
def half_add_in_float(x, y):
    """A single half-type addition is a float32 addition rounded once."""
    return x + y, (x.to(torch.float32) + y.to(torch.float32)).to(x.dtype)


@rule(exact="bitwise", where=[dtype_in("x", torch.bfloat16, torch.float16), same_dtype("x", "y"), contiguous("x", "y")])
def half_mul_in_float(x, y):
    """A single half-type product is a float32 product rounded once."""
    return x * y, (x.to(torch.float32) * y.to(torch.float32)).to(x.dtype)


@rule(exact="bitwise", where=[dtype_in("x", torch.uint8), same_dtype("x", "y"), contiguous("x", "y")])
def byte_add_wraps(x, y):
    """uint8 addition wraps at 256."""
    return x + y, ((x.to(torch.int32) + y.to(torch.int32)) & 255).to(torch.uint8)


@rule(exact="bitwise", where=[dtype_in("x", torch.uint8), same_dtype("x", "y"), contiguous("x", "y")])
def byte_mul_wraps(x, y):
    """uint8 multiplication wraps at 256."""
    return x * y, ((x.to(torch.int32) * y.to(torch.int32)) & 255).to(torch.uint8)


@rule(exact="bitwise", where=[integral("x", "y")])
def integer_division_in_floats(x, y):
    """``x / y`` of integers converts both to the default dtype."""
    return x / y, x.to(torch.get_default_dtype()) / y.to(torch.get_default_dtype())


@rule(exact="bitwise", where=[integral("x"), boolean("m"), contiguous("x", "m")])
def integer_mask_is_where(x, m):
    """``x * m`` of integers keeps what is masked and zeroes the rest."""
    return x * m, torch.where(m, x, 0)


@rule(exact="bitwise", where=[floating("x"), no_negative_zero("x", "result"), SMALL, PLAIN, moderate("x", bound=1e6)])
def floor_by_integer(x):
    """``floor(x)`` comes back from int64."""
    return torch.floor(x), torch.floor(x).to(torch.int64).to(x.dtype)


@rule(
    exact="ulp",
    where=[
        dtype_in("x", torch.bfloat16, torch.float16),
        same_dtype("x", "y", "z"),
        moderate("x", "y", "z", bound=100),
        contiguous("x", "y", "z"),
    ],
)
def half_chain_in_float(x, y, z):
    """A product and a sum of half types in float32, rounded once in place of twice."""
    return x * y + z, (x.float() * y.float() + z.float()).to(x.dtype)


@rule(exact="bitwise", where=[same_dtype("x", "y"), contiguous("x", "y")])
def add_of_own_type(x, y):
    """``y.type_as(x)`` is ``y`` where both have one dtype."""
    return x + y, x + y.type_as(x)


@rule(
    exact="bitwise",
    where=[
        real("x"),
        same_dtype("x", "y"),
        rank("y", 0),
        at_least_rank("x", 1),
        when("free of autograd", lambda y: not y.needs_grad, "y"),
    ],
    breaks_graph=True,
)
def factor_as_number(x, y):
    """``x * y`` with a 0-d tensor, read as a Python number."""
    return x * y, x * y.item()
