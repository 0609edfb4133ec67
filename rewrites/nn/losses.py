"""Losses by their definitions and by one another."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.composite_preconditions import reassociable
from eqfuzz.rewrite.facts.preconditions import (
    at_least,
    at_most,
    floating,
    full_precision,
    moderate,
    no_nan,
    same_dtype,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import (
    at_least_rank,
    contiguous,
    dim_of,
    index_into,
    non_empty,
    same_shape,
    sizes,
)
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int

LOSS = [reassociable("x", "y", bound=100), same_shape("x", "y"), non_empty("x")]
LOGITS = [
    wide("x", "y"),
    same_dtype("x", "y"),
    same_shape("x", "y"),
    non_empty("x"),
    contiguous("x", "y"),
    no_nan("y"),
    at_least("y", 0),
    at_most("y", 1),
]


@rule(exact="ulp", where=LOSS, both_ways=True)
def smooth_absolute_error_is_huber(x, y):
    """The smooth absolute error with a bend at one is Huber's loss."""
    return F.smooth_l1_loss(x, y), F.huber_loss(x, y)


@rule(exact="real", where=[*LOGITS, moderate("x", bound=30)], gradients=False)
def binary_entropy_of_logits_by_definition(x, y):
    """Binary cross entropy of logits without overflow; at 0 the clamp and the absolute value have kinks."""
    return (
        F.binary_cross_entropy_with_logits(x, y),
        torch.mean(x.clamp(min=0) - x * y + torch.log1p(torch.exp(-x.abs()))),
    )


@rule(exact="real", where=[*LOGITS, full_precision("x"), moderate("x", bound=5)])
def binary_entropy_of_probabilities(x, y):
    """Binary cross entropy of logits is that of their sigmoids, where those are not 0 or 1."""
    return F.binary_cross_entropy_with_logits(x, y), F.binary_cross_entropy(torch.sigmoid(x), y)


@rule(
    exact="real",
    where=[wide("x"), sizes(x="n c", i="n"), non_empty("x"), index_into("i", "x", 1), moderate("x", bound=30)],
)
def cross_entropy_with_probabilities(x, i):
    """Cross entropy takes classes as one-hot probabilities too."""
    return F.cross_entropy(x, i), F.cross_entropy(x, F.one_hot(i, x.shape[1]).to(x.dtype))


@rule(
    exact="real",
    where=[reassociable("x", "y", bound=10), same_shape("x", "y"), non_empty("x"), dim_of("d", "x")],
)
def divergence_of_softmax(x, y, d: Int):
    """The divergence of two softmaxes weighs the difference of their logarithms."""
    return (
        F.kl_div(torch.log_softmax(x, dim=d), torch.softmax(y, dim=d), reduction="sum"),
        torch.sum(torch.softmax(y, dim=d) * (torch.log_softmax(y, dim=d) - torch.log_softmax(x, dim=d))),
    )


@rule(exact="bitwise", where=[floating("x"), at_least_rank("x", 1), dim_of("d", "x")])
def softmin_is_softmax_of_negation(x, d: Int):
    """``softmin(x, d)`` is ``softmax(-x, d)``."""
    return F.softmin(x, d), torch.softmax(-x, d)
