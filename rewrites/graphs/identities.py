"""Values of a compiler's graph that are computed in further ways: equal bit for bit, other than in the sign of NaN."""

import torch

from eqfuzz.rewrite.graphs.graph_rule import graph_rule


@graph_rule(exact="bitwise")
def negated_twice(x):
    """Minus minus the value."""
    return x.neg().neg() if x.dtype is not torch.bool else None


@graph_rule(exact="bitwise")
def minus_zero(x):
    """Zero subtracted."""
    return x - 0 if x.dtype is not torch.bool and not x.is_complex() else None


@graph_rule(exact="bitwise")
def plus_negative_zero(x):
    """The zero added that keeps the sign of a zero."""
    return x + torch.full((), -0.0, dtype=x.dtype, device=x.device) if x.is_floating_point() else None


@graph_rule(exact="bitwise")
def times_one(x):
    """Multiplied by one."""
    return x * 1 if x.dtype is not torch.bool and not x.is_complex() else None


@graph_rule(exact="bitwise")
def times_ones(x):
    """Multiplied by a tensor of ones."""
    return x * torch.ones_like(x) if x.dtype is not torch.bool and not x.is_complex() else None


@graph_rule(exact="bitwise")
def divided_by_one(x):
    """Divided by one."""
    return x / 1 if x.is_floating_point() else None


@graph_rule(exact="bitwise")
def power_of_one(x):
    """To the power of one."""
    return x**1 if x.is_floating_point() else None


@graph_rule(exact="bitwise")
def larger_of_itself(x):
    """The larger one of the value and itself."""
    return torch.maximum(x, x) if not x.is_complex() else None


@graph_rule(exact="bitwise")
def smaller_of_itself(x):
    """The smaller one of the value and itself."""
    return torch.minimum(x, x) if not x.is_complex() else None


@graph_rule(exact="bitwise")
def clamped_to_infinities(x):
    """Kept between the infinities."""
    return x.clamp(float("-inf"), float("inf")) if x.is_floating_point() else None


@graph_rule(exact="bitwise")
def chosen_either_way(x):
    """Chosen where it is NaN, and where not."""
    return torch.where(x == x, x, x)


@graph_rule(exact="bitwise")
def chosen_everywhere(x):
    """Chosen under a mask that is true everywhere."""
    return torch.where(torch.ones_like(x, dtype=torch.bool), x, torch.zeros_like(x))


@graph_rule(exact="bitwise")
def masked_nowhere(x):
    """Filled under a mask that is false everywhere."""
    return x.masked_fill(torch.zeros_like(x, dtype=torch.bool), 1)


@graph_rule(exact="bitwise")
def chosen_from_dead_branch(x):
    """Chosen from another result that nothing of is taken."""
    return torch.where(torch.isnan(x) & (x == x), x.exp(), x) if x.is_floating_point() else None


@graph_rule(exact="bitwise")
def complemented_twice(x):
    """The complement of the complement."""
    return ~(~x) if not x.is_floating_point() and not x.is_complex() else None


@graph_rule(exact="bitwise")
def and_itself(x):
    """The common bits of the value and itself."""
    return x & x if not x.is_floating_point() and not x.is_complex() else None


@graph_rule(exact="bitwise")
def or_itself(x):
    """The bits of the value or itself."""
    return x | x if not x.is_floating_point() and not x.is_complex() else None


@graph_rule(exact="bitwise")
def exclusive_or_twice(x):
    """The bits of a constant, twice exclusive or."""
    integer = x.dtype is not torch.bool and not x.is_floating_point() and not x.is_complex()
    return (x ^ 1) ^ 1 if integer else None


@graph_rule(exact="bitwise")
def widened_and_narrowed(x):
    """In the next wider type, and back."""
    wider = {
        torch.float16: torch.float32,
        torch.bfloat16: torch.float32,
        torch.float32: torch.float64,
        torch.bool: torch.uint8,
        torch.uint8: torch.int16,
        torch.int8: torch.int16,
        torch.int16: torch.int32,
        torch.int32: torch.int64,
    }
    return x.to(wider[x.dtype]).to(x.dtype) if x.dtype in wider else None


@graph_rule(exact="bitwise", gradients=False)
def as_bits(x):
    """Its bits as an integer, and back."""
    integers = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32}
    return x.view(integers[x.dtype]).view(x.dtype) if x.dtype in integers else None


@graph_rule(exact="bitwise")
def largest_of_one(x):
    """The largest element of a dimension that holds one."""
    return x.unsqueeze(0).amax(0) if not x.is_complex() else None


@graph_rule(exact="bitwise")
def product_of_one(x):
    """The product over a dimension that holds one element."""
    return x.unsqueeze(-1).prod(-1) if x.is_floating_point() else None


@graph_rule(exact="bitwise")
def copied(x):
    """A copy."""
    return x.clone()


@graph_rule(exact="bitwise")
def copied_twice(x):
    """A copy of a copy in row-major order."""
    return x.clone().contiguous().clone(memory_format=torch.contiguous_format)
