"""The same values in another memory layout: strides, offsets, copies."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.preconditions import at_least, full_precision, moderate, no_grad, real, unmutated, when, wide
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, dense, non_empty, rank, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int

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
    where=[unmutated("x"), when("not contiguous", lambda x: not x.contiguous, "x")],
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
def transpose_in_full(x, a: Int, b: Int):
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


@rule(exact="bitwise", where=[rank("x", 5), unmutated("x")], layout=True)
def channels_last_in_space(x):
    """A 5-D tensor in channels-last order."""
    return x, x.contiguous(memory_format=torch.channels_last_3d)


@rule(exact="bitwise", where=[at_least_rank("x", 3), unmutated("x")], layout=True)
def first_two_swapped(x):
    """A tensor laid out with its first two dimensions exchanged."""
    return x, x.transpose(0, 1).contiguous().transpose(0, 1)


@rule(exact="bitwise", where=[at_least_rank("x", 2), unmutated("x")], layout=True)
def last_dimension_first(x):
    """A tensor laid out with its last dimension outermost."""
    return x, x.movedim(-1, 0).contiguous().movedim(0, -1)


@rule(exact="bitwise", where=[at_least_rank("x", 2), real("x"), unmutated("x")], layout=True)
def inside_a_larger_matrix(x):
    """A tensor that is the middle of a larger one."""
    return x, F.pad(x, (1, 2, 3, 4))[..., 3:-4, 1:-2]


@rule(exact="bitwise", where=[non_empty("x"), contiguous("x"), unmutated("x")], layout=True)
def misaligned(x):
    """A tensor that begins three elements into its memory; later kernels may round by the alignment."""
    return x, torch.cat((torch.zeros(3, dtype=x.dtype, device=x.device), x.reshape(-1)))[3:].view(x.shape)


@rule(exact="bitwise", where=[at_least_rank("x", 1), contiguous("x"), unmutated("x")], layout=True)
def behind_its_copy(x):
    """A tensor that is the second half of a memory with two copies, aligned by chance."""
    return x, torch.cat((x, x))[x.shape[0] :]


@rule(exact="bitwise", where=[at_least_rank("x", 1), unmutated("x")], layout=True)
def beside_its_copy(x):
    """A tensor whose rows alternate with those of a copy."""
    return x, torch.cat((x, x), -1)[..., : x.shape[-1]]


@rule(exact="bitwise", where=[at_least_rank("x", 1), unmutated("x")], layout=True)
def every_other_row(x):
    """A tensor whose rows are two apart."""
    return x, x.repeat_interleave(2, 0)[::2]


@rule(exact="bitwise", where=[full_precision("x"), unmutated("x")], layout=True)
def real_part(x):
    """A tensor whose elements are the real parts of complex numbers."""
    return x, torch.view_as_real(torch.complex(x, x))[..., 0]


@rule(exact="bitwise", where=[at_least_rank("x", 1), contiguous("x"), unmutated("x")])
def flipped_twice(x):
    """A tensor with its last dimension reversed, twice."""
    return x, x.flip(-1).flip(-1)


@rule(exact="bitwise", where=[at_least_rank("x", 2), contiguous("x"), unmutated("x")])
def rolled_and_back(x):
    """A tensor turned in its last dimension, and back."""
    return x, torch.roll(torch.roll(x, 1, -1), -1, -1)


@rule(exact="bitwise", where=[unmutated("x"), contiguous("x")])
def viewed_flat_and_back(x):
    """A tensor viewed as one row and as itself."""
    return x, x.view(-1).view(x.shape)


@rule(exact="bitwise", where=[unmutated("x"), at_least_rank("x", 1)])
def narrowed_to_all(x):
    """A view of all of a tensor."""
    return x, x.narrow(0, 0, x.shape[0])


@rule(exact="bitwise", where=[unmutated("x"), at_least_rank("x", 1)])
def sliced_to_all(x):
    """A slice of all of a tensor."""
    return x, x[: x.shape[0]]


@rule(exact="bitwise", where=[unmutated("x")])
def expanded_to_itself(x):
    """A tensor expanded to the shape that it has."""
    return x, x.expand(x.shape)


@rule(exact="bitwise", where=[unmutated("x"), at_least_rank("x", 2)])
def moved_and_back(x):
    """The first dimension moved to the end, and back."""
    return x, x.movedim(0, -1).movedim(-1, 0)


@rule(exact="bitwise", where=[unmutated("x"), at_least_rank("x", 1), when("not 1", lambda x: x.shape[-1] != 1, "x")])
def split_and_flattened(x):
    """The last dimension seen as two, and as one."""
    return x, x.unflatten(-1, (x.shape[-1], 1)).flatten(-2)


@rule(exact="bitwise", where=[unmutated("x"), dense("x")])
def viewed_by_strides(x):
    """A tensor viewed by its own strides, from where it begins."""
    return x, torch.as_strided(x, x.shape, x.stride())


@rule(exact="bitwise", where=[rank("x", 2), dense("x")])
def transpose_by_strides(x):
    """A transpose as a view with strides exchanged."""
    return x.t(), torch.as_strided(x, (x.shape[1], x.shape[0]), (x.stride(1), x.stride(0)))


@rule(exact="bitwise", where=[rank("x", 2), dense("x"), non_empty("x")])
def diagonal_by_strides(x):
    """A diagonal as a view with one stride, the sum of both."""
    return x.diagonal(), torch.as_strided(x, (min(x.shape),), (x.stride(0) + x.stride(1),))


@rule(exact="bitwise", where=[unmutated("x"), dense("x")])
def cloned_in_its_format(x):
    """A copy that keeps the order of dimensions by name."""
    return x, x.clone(memory_format=torch.preserve_format)


@rule(exact="bitwise", where=[unmutated("x"), when("not contiguous", lambda x: not x.contiguous, "x")], layout=True)
def cloned_in_full(x):
    """A strided tensor copied into row-major order by its copy."""
    return x, x.clone(memory_format=torch.contiguous_format)


@rule(exact="bitwise", where=[at_least("n", 1), at_least("m", 1), unmutated("result")], layout=True)
def ones_stored_once(n: Int, m: Int):
    """A matrix of ones that is one element."""
    return torch.ones(n, m), torch.ones(()).expand(n, m)


@rule(exact="bitwise", where=[at_least("n", 1), at_least("m", 1), unmutated("result")], layout=True)
def zeros_stored_once(n: Int, m: Int):
    """A matrix of zeros that is one element."""
    return torch.zeros(n, m), torch.zeros(()).expand(n, m)


@rule(exact="bitwise", where=[unmutated("result")], layout=True)
def zeros_like_stored_once(x):
    """Zeros like a tensor that are one element."""
    return torch.zeros_like(x), torch.zeros((), dtype=x.dtype, device=x.device).expand(x.shape)


def _one_value(x) -> bool:
    special = x.has_nan or x.has_inf or x.has_negative_zero
    return not special and x.low is not None and x.low == x.high


@rule(
    exact="bitwise",
    where=[at_least_rank("x", 1), non_empty("x"), no_grad("x"), unmutated("x"), when("constant", _one_value, "x")],
    layout=True,
)
def constant_stored_once(x):
    """A tensor with one value everywhere as that one element, expanded."""
    return x, x.reshape(-1)[0].expand(x.shape)


@rule(
    exact="real",
    where=[full_precision("x", "w"), moderate("x", "w"), sizes(x="n c 6 6", w="m c 3 3"), non_empty("x", "w")],
    layout=True,
)
def convolution_of_channels_last(x, w):
    """A convolution of an image in channels-last order."""
    return F.conv2d(x, w), F.conv2d(x.contiguous(memory_format=torch.channels_last), w)


@rule(
    exact="real",
    where=[full_precision("x", "w"), moderate("x", "w"), sizes(x="n c 6 6", w="m c 3 3"), non_empty("x", "w")],
    layout=True,
)
def convolution_by_channels_last(x, w):
    """A convolution whose weight is in channels-last order."""
    return F.conv2d(x, w), F.conv2d(x, w.contiguous(memory_format=torch.channels_last))
