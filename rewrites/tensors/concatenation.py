"""Concatenation, repetition and padding in other words."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.preconditions import arithmetic, finite, floating, no_negative_zero, real, same_dtype, when
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, non_empty, rank, same_shape, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int


@rule(
    exact="bitwise",
    where=[arithmetic("x", "y"), same_shape("x", "y"), at_least_rank("x", 1), contiguous("x", "y")],
)
def sum_taken_from_doubled(x, y):
    """``x + y`` is there twice, and one of them is cut off."""
    return x + y, torch.cat((x + y, x + y))[: x.shape[0]]


@rule(
    exact="bitwise",
    where=[
        real("x", "y"),
        same_dtype("x", "y"),
        sizes(x="n k", y="n m"),
        no_negative_zero("x", "y"),
        contiguous("x", "y"),
    ],
)
def cat_is_sum_of_padded(x, y):
    """``cat((x, y), 1)`` of matrices adds both, padded; -0.0 would become 0.0."""
    return torch.cat((x, y), dim=1), F.pad(x, (0, y.shape[1])) + F.pad(y, (x.shape[1], 0))


@rule(exact="bitwise", where=[at_least_rank("x", 2), at_least_rank("y", 2)])
def vstack_is_cat(x, y):
    """``vstack`` of two or more dimensions is ``cat`` along the first."""
    return torch.vstack((x, y)), torch.cat((x, y), dim=0)


@rule(exact="bitwise", where=[at_least_rank("x", 2), at_least_rank("y", 2)])
def hstack_is_cat(x, y):
    """``hstack`` of two or more dimensions is ``cat`` along the second."""
    return torch.hstack((x, y)), torch.cat((x, y), dim=1)


@rule(exact="bitwise", where=[rank("x", 2), contiguous("x")])
def repeat_is_cat(x):
    """``x.repeat(2, 1)`` is ``x`` behind itself."""
    return x.repeat(2, 1), torch.cat((x, x), 0)


@rule(exact="bitwise", where=[rank("x", 2), contiguous("x")])
def cat_is_repeat(x):
    """``x`` behind itself is ``x.repeat(2, 1)``."""
    return torch.cat((x, x), dim=0), x.repeat(2, 1)


@rule(
    exact="bitwise",
    where=[
        rank("x", 2),
        contiguous("x"),
        non_empty("x"),
        when("several rows, several times", lambda x, k: x.shape[0] > 1 and k.value > 1, "x", "k"),
    ],
)
def rows_interleaved_by_expansion(x, k: Int):
    """``repeat_interleave`` of rows expands each of them and flattens."""
    return (
        torch.repeat_interleave(x, k, dim=0),
        x.unsqueeze(1).expand(x.shape[0], k, x.shape[1]).reshape(-1, x.shape[1]),
    )


@rule(exact="bitwise", where=[real("x"), finite("x"), no_negative_zero("x"), rank("x", 1)])
def diagonal_matrix_by_identity(x):
    """``diag(x)`` of a line multiplies the identity; adding 0 makes the negative zeros around it positive."""
    return torch.diag(x), torch.eye(x.shape[0], dtype=x.dtype, device=x.device) * x + 0


@rule(
    exact="bitwise",
    where=[
        floating("x"),
        rank("x", 2, 3),
        contiguous("x"),
        when("within the row", lambda x, a, b: 0 < a.value < x.shape[-1] and 0 < b.value < x.shape[-1], "x", "a", "b"),
    ],
)
def reflection_is_cat_of_flipped(x, a: Int, b: Int):
    """Reflecting padding puts flipped pieces at both ends."""
    return (
        F.pad(x, (a, b), mode="reflect"),
        torch.cat((x[..., 1 : a + 1].flip(-1), x, x[..., -b - 1 : -1].flip(-1)), -1),
    )


@rule(
    exact="bitwise",
    where=[
        floating("x"),
        rank("x", 4),
        non_empty("x"),
        contiguous("x"),
        when("a factor of 2 to 4", lambda k: k.value in (2, 3, 4), "k"),
    ],
)
def nearest_is_repeated(x, k: Int):
    """Interpolation to the nearest by a whole factor repeats every pixel."""
    return (
        F.interpolate(x, scale_factor=k, mode="nearest"),
        x.repeat_interleave(k, 2).repeat_interleave(k, 3),
    )
