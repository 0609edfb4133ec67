"""One operation in its several spellings: operator, function, method, in-place, ``out=``."""

import operator

import torch

from eqfuzz.rewrite.facts.preconditions import (
    at_least,
    boolean,
    floating,
    integral,
    no_grad,
    no_negative_zero,
    real,
    same_dtype,
    when,
)
from eqfuzz.rewrite.facts.shape_preconditions import same_shape
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Number, Operand

PAPER = "Jin & Wan 2025, §3.1"


NO_BOOL = when("no bool: Dynamo does not shift by one", lambda y: y.dtype is not torch.bool, "y")


@rule(exact="bitwise", source=PAPER, both_ways=True)
def add_function(x, y: Operand):
    """``x + y`` is ``torch.add(x, y)``."""
    return x + y, torch.add(x, y)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def sub_function(x, y: Operand):
    """``x - y`` is ``torch.sub(x, y)``."""
    return x - y, torch.sub(x, y)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def mul_function(x, y: Operand):
    """``x * y`` is ``torch.mul(x, y)``."""
    return x * y, torch.mul(x, y)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def div_function(x, y: Operand):
    """``x / y`` is ``torch.div(x, y)``."""
    return x / y, torch.div(x, y)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def matmul_function(x, y):
    """``x @ y`` is ``torch.matmul(x, y)``."""
    return x @ y, torch.matmul(x, y)


@rule(exact="bitwise", where=[floating("x"), at_least("x", 0), no_negative_zero("x")], source=PAPER)
def pow_half_is_sqrt(x):
    """``x ** 0.5`` is ``torch.sqrt(x)``; not at -0.0 and -inf, where C99 pow and sqrt differ."""
    return x**0.5, torch.sqrt(x)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def pow_function(x, y: Operand):
    """``x ** y`` is ``torch.pow(x, y)``."""
    return x**y, torch.pow(x, y)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def neg_function(x):
    """``-x`` is ``torch.neg(x)``."""
    return -x, torch.neg(x)


@rule(exact="bitwise", source=PAPER, breaks_graph=True, where=[when("a single element", lambda x: x.numel == 1, "x")])
def not_function(x):
    """``not x`` on one element is its ``logical_not`` as a Python bool; Dynamo breaks the graph at either."""
    return not x, bool(torch.logical_not(x))


@rule(exact="bitwise", source=PAPER, both_ways=True)
def invert_function(x):
    """``~x`` is ``torch.bitwise_not(x)``."""
    return ~x, torch.bitwise_not(x)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def gt_function(x, y: Operand):
    """``x > y`` is ``torch.gt(x, y)`` where x is a tensor."""
    return x > y, torch.gt(x, y)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def ge_function(x, y: Operand):
    """``x >= y`` is ``torch.ge(x, y)``."""
    return x >= y, torch.ge(x, y)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def lt_function(x, y: Operand):
    """``x < y`` is ``torch.lt(x, y)``."""
    return x < y, torch.lt(x, y)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def le_function(x, y: Operand):
    """``x <= y`` is ``torch.le(x, y)``."""
    return x <= y, torch.le(x, y)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def eq_function(x, y: Operand):
    """``x == y`` is ``torch.eq(x, y)``."""
    return x == y, torch.eq(x, y)


@rule(exact="bitwise", source=PAPER, both_ways=True)
def ne_function(x, y: Operand):
    """``x != y`` is ``torch.ne(x, y)``."""
    return x != y, torch.ne(x, y)


@rule(exact="bitwise")
def number_add(k: Number, x):
    """``k + x`` is ``torch.add(x, k)``."""
    return k + x, torch.add(x, k)


@rule(exact="bitwise")
def number_sub(k: Number, x):
    """``k - x`` is ``torch.rsub(x, k)``."""
    return k - x, torch.rsub(x, k)


@rule(exact="bitwise")
def number_mul(k: Number, x):
    """``k * x`` is ``torch.mul(x, k)``."""
    return k * x, torch.mul(x, k)


@rule(exact="bitwise")
def number_div(k: Number, x):
    """``k / x`` is eager's own ``torch.reciprocal(x) * k``."""
    return k / x, torch.reciprocal(x) * k


@rule(exact="bitwise")
def number_pow(k: Number, x):
    """``k ** x`` is ``torch.pow(k, x)``."""
    return k**x, torch.pow(k, x)


@rule(exact="bitwise", both_ways=True)
def remainder_function(x, y: Operand):
    """``x % y`` is ``torch.remainder(x, y)``."""
    return x % y, torch.remainder(x, y)


@rule(exact="bitwise", both_ways=True)
def floor_divide_function(x, y: Operand):
    """``x // y`` is ``torch.floor_divide(x, y)``."""
    return x // y, torch.floor_divide(x, y)


@rule(exact="bitwise")
def floor_divide_mode(x, y: Operand):
    """``x // y`` is a division that rounds down."""
    return x // y, torch.div(x, y, rounding_mode="floor")


@rule(exact="bitwise", both_ways=True)
def and_function(x, y: Operand):
    """``x & y`` is ``torch.bitwise_and(x, y)``."""
    return x & y, torch.bitwise_and(x, y)


@rule(exact="bitwise", both_ways=True)
def or_function(x, y: Operand):
    """``x | y`` is ``torch.bitwise_or(x, y)``."""
    return x | y, torch.bitwise_or(x, y)


@rule(exact="bitwise", both_ways=True)
def xor_function(x, y: Operand):
    """``x ^ y`` is ``torch.bitwise_xor(x, y)``."""
    return x ^ y, torch.bitwise_xor(x, y)


@rule(exact="bitwise", where=[integral("x"), at_least("y", 0), NO_BOOL], both_ways=True)
def shift_left_function(x, y: Operand):
    """``x << y`` is ``torch.bitwise_left_shift(x, y)``."""
    return x << y, torch.bitwise_left_shift(x, y)


@rule(exact="bitwise", where=[integral("x"), at_least("y", 0), NO_BOOL], both_ways=True)
def shift_right_function(x, y: Operand):
    """``x >> y`` is ``torch.bitwise_right_shift(x, y)``."""
    return x >> y, torch.bitwise_right_shift(x, y)


@rule(exact="bitwise", both_ways=True)
def abs_function(x):
    """``abs(x)`` is ``torch.abs(x)``."""
    return abs(x), torch.abs(x)


@rule(exact="bitwise")
def add_operator_module(x, y: Operand):
    """``x + y`` is ``operator.add(x, y)``."""
    return x + y, operator.add(x, y)


@rule(exact="bitwise")
def mul_operator_module(x, y: Operand):
    """``x * y`` is ``operator.mul(x, y)``."""
    return x * y, operator.mul(x, y)


@rule(exact="bitwise")
def add_builtin_sum(x, y):
    """``x + y`` is the sum of one item begun with ``x``."""
    return x + y, sum((y,), x)


@rule(exact="bitwise", where=[same_dtype("x", "y"), same_shape("x", "y"), no_grad("x", "y")])
def add_out(x, y):
    """``x + y`` may be written into a new tensor; ``out=`` takes no part in autograd."""
    return x + y, torch.add(x, y, out=torch.empty_like(x + y))


@rule(exact="bitwise", where=[same_dtype("x", "result"), same_shape("x", "result")], layout=True)
def add_in_place(x, y: Operand):
    """``x + y`` adds into a copy of ``x`` when that has room and type for the result."""
    return x + y, x.clone().add_(y)


@rule(exact="bitwise", where=[real("x"), same_dtype("x", "result"), same_shape("x", "result")], layout=True)
def mul_in_place(x, y: Operand):
    """``x * y`` multiplies into a copy of ``x``."""
    return x * y, x.clone().mul_(y)


@rule(exact="bitwise", where=[same_dtype("x", "result")])
def relu_in_place(x):
    """``torch.relu(x)`` is ``relu_`` on a copy."""
    return torch.relu(x), torch.relu_(x.clone())


@rule(exact="bitwise", where=[same_dtype("x", "result")])
def exp_in_place(x):
    """``torch.exp(x)`` is ``exp_`` on a copy."""
    return torch.exp(x), x.clone().exp_()


@rule(exact="bitwise")
def sigmoid_special(x):
    """``torch.sigmoid(x)`` is ``torch.special.expit(x)``."""
    return torch.sigmoid(x), torch.special.expit(x)


@rule(exact="bitwise")
def sin_overload(x):
    """``torch.sin(x)`` is the ATen overload called directly."""
    return torch.sin(x), torch.ops.aten.sin.default(x)


@rule(exact="bitwise")
def tanh_overload(x):
    """``torch.tanh(x)`` is the ATen overload called directly."""
    return torch.tanh(x), torch.ops.aten.tanh.default(x)


@rule(exact="bitwise", where=[real("x")])
def add_foreach(x, k: Number):
    """``x + k`` is the foreach addition of a list of one, as optimisers write it."""
    return x + k, torch._foreach_add([x], k)[0]


@rule(exact="bitwise", where=[boolean("x")], both_ways=True)
def invert_logical_not(x):
    """``~x`` of a bool tensor is ``torch.logical_not(x)``."""
    return ~x, torch.logical_not(x)
