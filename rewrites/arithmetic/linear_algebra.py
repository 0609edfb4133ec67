"""Matrix products, einsum, linear layers, convolution and pooling."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.composite_preconditions import reassociable
from eqfuzz.rewrite.facts.preconditions import (
    arithmetic,
    at_least,
    floating,
    moderate,
    no_nan,
    no_negative_zero,
    same_dtype,
    unmutated,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, matmul_shapes, non_empty, rank, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int, Number

PRODUCT = [reassociable("x", "y"), matmul_shapes("x", "y"), non_empty("x", "y")]
BATCHED = [reassociable("x", "y"), matmul_shapes("x", "y", batch=True), non_empty("x", "y")]
DEEP = when("two or more terms", lambda x: x.shape[-1] > 1, "x")


@rule(exact="bitwise", where=[matmul_shapes("x", "y")], both_ways=True)
def matmul_to_mm(x, y):
    """``x @ y`` of matrices is ``torch.mm``."""
    return x @ y, torch.mm(x, y)


@rule(exact="real", where=PRODUCT)
def matmul_by_einsum(x, y):
    """``x @ y`` as an einsum."""
    return x @ y, torch.einsum("ik,kj->ij", x, y)


@rule(exact="real", where=PRODUCT)
def matmul_by_tensordot(x, y):
    """``x @ y`` contracts one dimension."""
    return x @ y, torch.tensordot(x, y, dims=1)


@rule(exact="real", where=PRODUCT)
def matmul_is_linear(x, y):
    """``x @ y`` is a linear layer with the transposed weight."""
    return x @ y, F.linear(x, y.t())


@rule(exact="real", where=PRODUCT, layout=True)
def matmul_transposed(x, y):
    """``x @ y`` is the transpose of ``y.t() @ x.t()``."""
    return x @ y, (y.t() @ x.t()).t()


@rule(exact="real", where=PRODUCT)
def matmul_in_batch_of_one(x, y):
    """``x @ y`` as a batch of one product."""
    return x @ y, torch.bmm(x.unsqueeze(0), y.unsqueeze(0)).squeeze(0)


@rule(exact="real", where=[*PRODUCT, when("small", lambda x, y: x.numel * y.shape[1] <= 20000, "x", "y")])
def matmul_is_sum_of_products(x, y):
    """``x @ y`` multiplies and adds by hand."""
    return x @ y, (x.unsqueeze(2) * y.unsqueeze(0)).sum(1)


@rule(exact="real", where=[*PRODUCT, DEEP])
def matmul_in_blocks(x, y):
    """``x @ y`` is the sum of two products over parts of the inner dimension."""
    return x @ y, x[:, :1] @ y[:1] + x[:, 1:] @ y[1:]


@rule(exact="real", where=PRODUCT)
def matmul_by_rows(x, y):
    """``x @ y`` in two batches of rows."""
    return x @ y, torch.cat((x[:1] @ y, x[1:] @ y))


@rule(exact="real", where=PRODUCT)
def matmul_padded(x, y):
    """``x @ y`` with zeros appended to the inner dimension."""
    return x @ y, F.pad(x, (0, 3)) @ F.pad(y, (0, 0, 0, 3))


@rule(exact="real", where=PRODUCT)
def matmul_added_to_nothing(x, y):
    """``x @ y`` added to zero by ``addmm``."""
    return x @ y, torch.addmm(x.new_zeros(()), x, y)


@rule(exact="bitwise", where=[matmul_shapes("x", "y", batch=True)], both_ways=True)
def matmul_is_bmm(x, y):
    """``x @ y`` of equal batches is ``torch.bmm``."""
    return x @ y, torch.bmm(x, y)


@rule(exact="real", where=[*BATCHED, contiguous("x", "y")])
def batched_matmul_by_einsum(x, y):
    """``x @ y`` of batches as an einsum."""
    return x @ y, torch.einsum("bik,bkj->bij", x, y)


@rule(exact="real", where=BATCHED, layout=True)
def batched_matmul_transposed(x, y):
    """``x @ y`` of batches is the transpose of the product of transposes."""
    return x @ y, (y.mT @ x.mT).mT


@rule(exact="real", where=[*BATCHED, when("at most 16 in the batch", lambda x: x.shape[0] <= 16, "x")])
def batched_matmul_by_loop(x, y):
    """``x @ y`` of batches, one matrix after the other."""
    return x @ y, torch.stack([a @ b for a, b in zip(x, y, strict=True)])


@rule(
    exact="real",
    where=[reassociable("x", "y", "z", bound=30), sizes(x="n k", y="k m", z="m p"), non_empty("x", "y", "z")],
)
def matmul_associates(x, y, z):
    """``(x @ y) @ z`` is ``x @ (y @ z)``."""
    return (x @ y) @ z, x @ (y @ z)


@rule(
    exact="real",
    where=[reassociable("x", "y", "z", bound=30), sizes(x="n k", y="k m", z="k m"), non_empty("x", "y")],
    both_ways=True,
)
def matmul_distributes(x, y, z):
    """``x @ (y + z)`` is ``x @ y + x @ z``."""
    return x @ (y + z), x @ y + x @ z


@rule(exact="real", where=[*PRODUCT, moderate("k")])
def matmul_of_scaled(k: Number, x, y):
    """``(k * x) @ y`` is ``k * (x @ y)``."""
    return (k * x) @ y, k * (x @ y)


@rule(
    exact="real",
    where=[reassociable("x", "y"), sizes(x="n k", y="k"), non_empty("x", "y")],
)
def matrix_vector_by_column(x, y):
    """``x @ y`` with a vector is a product with a matrix of one column."""
    return x @ y, (x @ y.unsqueeze(1)).squeeze(1)


@rule(
    exact="real",
    where=[reassociable("x", "w"), sizes(x="* k", w="m k"), non_empty("x", "w")],
)
def linear_is_matmul(x, w):
    """A linear layer without bias is a product with the transposed weight."""
    return F.linear(x, w), x @ w.t()


@rule(
    exact="real",
    where=[reassociable("x", "w", "b"), sizes(x="* k", w="m k", b="m"), non_empty("x", "w")],
)
def linear_is_matmul_and_bias(x, w, b):
    """A linear layer is a product with the transposed weight plus the bias."""
    return F.linear(x, w, b), x @ w.t() + b


@rule(
    exact="real",
    where=[reassociable("x", "w", "b"), sizes(x="n k", w="m k", b="m"), non_empty("x", "w")],
    both_ways=True,
)
def linear_is_addmm(x, w, b):
    """A linear layer on a matrix is ``addmm``."""
    return F.linear(x, w, b), torch.addmm(b, x, w.t())


@rule(
    exact="real",
    where=[reassociable("x", "w", "b"), sizes(x="n k", w="m k", b="m"), non_empty("x", "w")],
)
def linear_is_convolution(x, w, b):
    """A linear layer is a convolution of length one."""
    return F.linear(x, w, b), F.conv1d(x.unsqueeze(2), w.unsqueeze(2), b).squeeze(2)


@rule(
    exact="real",
    where=[reassociable("x", "y", "z"), sizes(x="n m", y="n k", z="k m"), non_empty("y", "z")],
    both_ways=True,
    layout=True,
)
def product_sum_is_addmm(x, y, z):
    """``x + y @ z`` is ``torch.addmm(x, y, z)``."""
    return x + y @ z, torch.addmm(x, y, z)


@rule(
    exact="real",
    where=[reassociable("x", "y", "z"), sizes(x="b n m", y="b n k", z="b k m"), non_empty("y", "z")],
    both_ways=True,
    layout=True,
)
def product_sum_is_baddbmm(x, y, z):
    """``x + y @ z`` of batches is ``torch.baddbmm(x, y, z)``."""
    return x + y @ z, torch.baddbmm(x, y, z)


@rule(exact="bitwise", where=[arithmetic("x", "y"), same_dtype("x", "y"), sizes(x="n", y="m")], both_ways=True)
def outer_is_broadcast(x, y):
    """``outer(x, y)`` multiplies a column with a row."""
    return torch.outer(x, y), torch.unsqueeze(x, 1) * torch.unsqueeze(y, 0)


CONVOLUTION = [reassociable("x", "w", bound=30), sizes(x="n c h v", w="o c p q"), non_empty("x", "w")]


BIASED = [reassociable("x", "w", "b", bound=30), sizes(x="n c h v", w="o c p q", b="o"), non_empty("x", "w")]


@rule(exact="real", where=CONVOLUTION)
def convolution_with_depth(x, w):
    """A 2-D convolution is a 3-D one of depth one."""
    return F.conv2d(x, w), F.conv3d(x.unsqueeze(2), w.unsqueeze(2)).squeeze(2)


@rule(exact="real", where=CONVOLUTION)
def convolution_by_windows(x, w):
    """A 2-D convolution contracts windows with the weight."""
    return (
        F.conv2d(x, w),
        torch.einsum("bchwij,ocij->bohw", x.unfold(2, w.shape[2], 1).unfold(3, w.shape[3], 1), w).contiguous(),
    )


@rule(exact="real", where=BIASED)
def convolution_bias_outside(x, w, b):
    """The bias of a convolution may be added afterwards."""
    return F.conv2d(x, w, b), F.conv2d(x, w) + b.reshape(1, -1, 1, 1)


@rule(
    exact="real",
    where=[*BIASED, at_least("k", 0)],
)
def convolution_padded_before(x, w, b, k: Int):
    """Zero padding of a convolution may be done first."""
    return F.conv2d(x, w, b, padding=k), F.conv2d(F.pad(x, (k, k, k, k)), w, b)


@rule(exact="bitwise", where=[floating("x"), rank("x", 4), non_empty("x")])
def max_pool_with_depth(x, k: Int):
    """A 2-D max pool is a 3-D one of depth one."""
    return F.max_pool2d(x, k), F.max_pool3d(x.unsqueeze(2), (1, k, k)).squeeze(2)


@rule(
    exact="bitwise",
    where=[floating("x"), rank("x", 4), non_empty("x"), no_nan("x"), no_negative_zero("x")],
    gradients=False,
)
def max_pool_by_windows(x, k: Int):
    """A max pool is the maximum over windows; ties send the gradient elsewhere."""
    return F.max_pool2d(x, k), x.unfold(2, k, k).unfold(3, k, k).amax((-2, -1))


@rule(
    exact="real",
    where=[
        wide("x"),
        rank("x", 2),
        non_empty("x"),
        moderate("x"),
        no_negative_zero("x"),
        contiguous("x"),
        unmutated("x"),
    ],
)
def product_with_identity(x):
    """``x`` is ``x @ I``; a product has no negative zero."""
    return x, x @ torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
