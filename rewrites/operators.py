"""A: one operation in its several spellings: operator, function, method, in-place, ``out=``."""

import torch

from eqfuzz.rewrite.guard import arithmetic, at_least, floating, no_negative_zero
from eqfuzz.rewrite.rule import rule

PAPER = "Jin & Wan 2025, §3.1"


@rule(exact="bitwise", source=PAPER, both_ways=True)
def add_function(x, y: "Operand"):
    """``x + y`` is ``torch.add(x, y)``."""
    return x + y, torch.add(x, y)


@rule(exact="bitwise", where=[floating("x"), at_least("x", 0), no_negative_zero("x")], source=PAPER)
def pow_half_is_sqrt(x):
    """``x ** 0.5`` is ``torch.sqrt(x)``; not at -0.0 and -inf, where C99 pow and sqrt differ."""
    return x**0.5, torch.sqrt(x)


@rule(exact="bitwise", where=[arithmetic("x")])
def square_is_product(x):
    """``x ** 2`` is ``x * x``."""
    return x**2, x * x
