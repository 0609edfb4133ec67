"""N: the same values in another memory layout: strides, offsets, copies, barriers."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.guard import moderate, real, unmutated, where, wide
from eqfuzz.rewrite.rule import rule
from eqfuzz.rewrite.shape import at_least_rank, contiguous, dense, non_empty, rank

MATRIX = [rank("x", 2), unmutated("x")]


@rule(exact="bitwise", where=MATRIX, layout=True)
def column_major(x):
    """A matrix with its columns contiguous."""
    return x, x.t().contiguous().t()


@rule(exact="bitwise", where=[at_least_rank("x", 3), unmutated("x")], layout=True)
def first_and_last_swapped(x):
    """A tensor laid out with the first dimension innermost."""
    return x, x.transpose(0, -1).contiguous().transpose(0, -1)


@rule(exact="bitwise", where=[rank("x", 4), unmutated("x")], layout=True)
def channels_last(x):
    """A 4-D tensor in channels-last order."""
    return x, x.contiguous(memory_format=torch.channels_last)


@rule(exact="bitwise", where=[at_least_rank("x", 1), real("x"), unmutated("x")], layout=True)
def offset_by_one(x):
    """A tensor that begins one element into wider rows."""
    return x, F.pad(x, (1, 0))[..., 1:]


@rule(exact="bitwise", where=[at_least_rank("x", 1), real("x"), unmutated("x")], layout=True)
def padded_rows(x):
    """A tensor whose rows have five unused elements between them."""
    return x, F.pad(x, (0, 5))[..., :-5]


@rule(exact="bitwise", where=[unmutated("x")], layout=True)
def every_other(x):
    """A tensor whose elements are two apart."""
    return x, torch.stack((x, x), -1)[..., 0]


@rule(
    exact="bitwise",
    where=[unmutated("x"), where("not contiguous", lambda x: not x.contiguous, "x")],
    layout=True,
)
def made_contiguous(x):
    """A strided tensor copied into row-major order."""
    return x, x.contiguous()


@rule(exact="bitwise", where=[unmutated("x"), dense("x")])
def cloned(x):
    """A copy."""
    return x, x.clone()


@rule(exact="bitwise", where=[unmutated("x"), dense("x")])
def copied_into_empty(x):
    """A copy into uninitialised memory."""
    return x, torch.empty_like(x).copy_(x)


@rule(exact="bitwise", where=[unmutated("x", "result")], layout=True)
def expanded_in_full(x, y):
    """An expansion with every element stored."""
    return x.expand_as(y), x.expand_as(y).contiguous()


@rule(exact="bitwise", where=[unmutated("result"), at_least_rank("x", 2)], layout=True)
def transpose_in_full(x, a: "Int", b: "Int"):
    """A transpose with its elements moved."""
    return torch.transpose(x, a, b), torch.transpose(x, a, b).contiguous()


@rule(exact="bitwise", where=[unmutated("result"), rank("x", 2)], layout=True)
def t_in_full(x):
    """The transpose of a matrix with its elements moved."""
    return x.t(), x.t().clone(memory_format=torch.contiguous_format)


@rule(exact="bitwise", where=[dense("x")], breaks_graph=True)
def as_strided(x):
    """A tensor viewed by its own strides and offset; Dynamo cannot know the offset."""
    return x, x.as_strided(x.shape, x.stride(), x.storage_offset())


@rule(exact="ulp", where=[wide("x"), at_least_rank("x", 1), non_empty("x"), moderate("x", bound=20), contiguous("x")])
def tanh_of_doubled_batch(x):
    """``tanh`` of a batch that is there twice."""
    return torch.tanh(x), torch.tanh(torch.cat((x, x)))[: x.shape[0]]


@rule(exact="ulp", where=[wide("x"), at_least_rank("x", 1), non_empty("x"), moderate("x", bound=20), contiguous("x")])
def exponential_in_chunks(x):
    """``exp`` of two chunks of the last dimension."""
    return torch.exp(x), torch.cat([torch.exp(c) for c in x.chunk(2, -1)], -1)


@rule(exact="ulp", where=[wide("x"), at_least_rank("x", 1), non_empty("x"), moderate("x", bound=20)], layout=True)
def sigmoid_of_rows(x):
    """``sigmoid`` row by row."""
    return torch.sigmoid(x), torch.stack([torch.sigmoid(r) for r in x])
