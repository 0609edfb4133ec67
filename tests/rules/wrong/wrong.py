"""Rules that are wrong on purpose, each in one way that is easy to get wrong; the rule test must catch every one."""

import torch

from eqfuzz.rewrite.facts.preconditions import boolean, floating, no_nan, real, same_dtype
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, dim_of, non_empty
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int, Operand


@rule(exact="bitwise", where=[real("x", "y")])
def flipped_operands(x, y: Operand):
    """Subtraction does not commute."""
    return x - y, y - x


@rule(exact="bitwise", where=[floating("x")])
def negative_zero_lost(x):
    """-0.0 + 0 is 0.0."""
    return torch.trunc(x), torch.trunc(x) + 0


@rule(exact="bitwise")
def bool_promoted(x):
    """A bool times 1 is an int64."""
    return x, x * 1


@rule(exact="bitwise", where=[real("x"), at_least_rank("x", 1), dim_of("d", "x")])
def wrong_dimension(x, d: Int):
    """The sum over another dimension."""
    return torch.sum(x, dim=d, keepdim=True), torch.sum(x, dim=-1, keepdim=True)


@rule(exact="bitwise", where=[floating("x", "y"), same_dtype("x", "y")])
def nan_forgotten(x, y):
    """NaN is neither at most nor above."""
    return x > y, ~(x <= y)


@rule(exact="bitwise", where=[floating("x"), no_nan("x")])
def rounding_ignored(x):
    """Division by three rounds, multiplication by a third rounds differently."""
    return x / 3, x * (1 / 3)


@rule(exact="bitwise", where=[real("x")])
def gradient_at_the_kink(x):
    """``relu`` has gradient 0 at 0, ``clamp`` has 1."""
    return torch.relu(x), torch.clamp(x, min=0.0)


@rule(exact="bitwise", where=[boolean("m"), floating("x")])
def infinity_times_zero(m, x):
    """A mask does not zero an infinity."""
    return torch.where(m, x, 0), x * m


@rule(exact="bitwise", where=[real("x"), at_least_rank("x", 2)])
def strides_changed(x):
    """Equal values in another layout, not declared."""
    return x, x.transpose(0, 1).contiguous().transpose(0, 1)


@rule(exact="bitwise")
def integer_minimum_negated(x):
    """-(-128) is -128 in int8, so the promoted difference is wrong."""
    return torch.abs(x), torch.maximum(x, -x)


@rule(exact="bitwise", where=[real("x"), non_empty("x")])
def first_for_all(x):
    """The first element stands for the largest only when there is one element."""
    return torch.amax(x), x.reshape(-1)[0]


@rule(exact="bitwise", where=[floating("x")])
def gradient_cut(x):
    """A detached value requires no gradient."""
    return torch.floor(x) + x, torch.floor(x) + x.detach()


@rule(exact="bitwise", where=[real("x")])
def operand_overwritten(x):
    """Negation in place changes the operand for everybody."""
    return -x, x.detach().neg_()


@rule(exact="ulp", where=[floating("x")])
def cancellation_called_rounding(x):
    """``exp(x) - 1`` is far from ``expm1(x)`` near zero."""
    return torch.expm1(x / 1024), torch.exp(x / 1024) - 1


@rule(exact="real", where=[floating("x")])
def constant_slightly_off(x):
    """A misprinted constant of the tanh form of gelu."""
    return torch.nn.functional.gelu(x, approximate="tanh"), 0.5 * x * (
        1 + torch.tanh(0.7978845608 * (x + 0.064715 * x**3))
    )


@rule(exact="bitwise", where=[floating("x")])
def half_types_keep_digits(x):
    """A number keeps more digits than a half-type tensor of it."""
    return x * 0.1, x * torch.tensor(0.1, dtype=x.dtype)


@rule(exact="bitwise", where=[floating("x")])
def view_for_a_copy(x):
    """Writing into the result now writes into the operand."""
    return x.clone(), x.view(x.shape)
