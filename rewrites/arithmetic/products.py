"""Matrix products in blocks and sums, layers with parameters, products of more than two."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.composite_preconditions import reassociable
from eqfuzz.rewrite.facts.preconditions import arithmetic, moderate, same_dtype, when, wide
from eqfuzz.rewrite.facts.shape_preconditions import contiguous, matmul_shapes, non_empty, sizes
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Number

PRODUCT = [reassociable("x", "y"), matmul_shapes("x", "y"), non_empty("x", "y")]
THREE = [reassociable("x", "y", "z", bound=30)]


@rule(exact="real", where=[*PRODUCT, when("2 or more columns", lambda y: y.shape[1] > 1, "y")])
def matmul_by_columns(x, y):
    """``x @ y`` for the first column and for the others."""
    return x @ y, torch.cat((x @ y[:, :1], x @ y[:, 1:]), 1)


@rule(
    exact="real",
    where=[
        *THREE,
        sizes(x="n m", y="n k", z="k m"),
        non_empty("y", "z"),
        contiguous("x", "y", "z"),
        moderate("b", "a", bound=100),
    ],
)
def weighted_addmm(x, y, z, b: Number, a: Number):
    """``addmm`` with weights for both terms."""
    return torch.addmm(x, y, z, beta=b, alpha=a), b * x + a * (y @ z)


@rule(
    exact="real",
    where=[
        *THREE,
        sizes(x="n m", y="n k", z="k m"),
        non_empty("y", "z"),
        contiguous("x", "y", "z"),
        moderate("b", "a", bound=100),
    ],
)
def weighted_sum_is_addmm(b: Number, x, a: Number, y, z):
    """A weighted sum with a matrix product is ``addmm``."""
    return b * x + a * (y @ z), torch.addmm(x, y, z, beta=b, alpha=a)


@rule(exact="real", where=[*THREE, sizes(x="n k", y="m k", z="o k"), non_empty("x", "y", "z")], both_ways=True)
def linear_layers_side_by_side(x, y, z):
    """Two linear layers of one input are one with the weights stacked."""
    return torch.cat((F.linear(x, y), F.linear(x, z)), dim=1), F.linear(x, torch.cat((y, z), dim=0))


@rule(
    exact="bitwise",
    where=[
        arithmetic("x", "y"),
        same_dtype("x", "y"),
        sizes(x="n m", y="k l"),
        non_empty("x", "y"),
        contiguous("x", "y"),
    ],
)
def kronecker_product_by_broadcast(x, y):
    """``kron(x, y)`` of matrices is a product of blocks."""
    return (
        torch.kron(x, y),
        (x[:, None, :, None] * y[None, :, None, :]).reshape(x.shape[0] * y.shape[0], x.shape[1] * y.shape[1]),
    )


@rule(
    exact="real",
    where=[reassociable("x", "y", "w", bound=30), sizes(x="n k", y="n m", w="o k m"), non_empty("x", "y", "w")],
)
def bilinear_by_einsum(x, y, w):
    """A bilinear layer without bias as an einsum."""
    return F.bilinear(x, y, w), torch.einsum("bi,oij,bj->bo", x, w, y).contiguous()


@rule(exact="real", where=[wide("x"), sizes(x="n n"), non_empty("x"), moderate("x", bound=30)], both_ways=True)
def matrix_cube(x):
    """``matrix_power(x, 3)`` is ``x @ x @ x``."""
    return torch.linalg.matrix_power(x, 3), x @ x @ x


@rule(exact="real", where=[*THREE, sizes(x="n k", y="k m", z="m p"), non_empty("x", "y", "z")], both_ways=True)
def chain_of_products(x, y, z):
    """``multi_dot`` chooses the order of the products; ``@`` goes from left to right."""
    return torch.linalg.multi_dot([x, y, z]), x @ y @ z


@rule(exact="real", where=[*THREE, sizes(x="n k", y="n k", z="k m"), non_empty("x", "z")], both_ways=True)
def matmul_distributes_on_the_left(x, y, z):
    """``(x + y) @ z`` is ``x @ z + y @ z``."""
    return (x + y) @ z, x @ z + y @ z


@rule(exact="real", where=[*PRODUCT, when("small", lambda x, y: x.numel * y.shape[1] <= 20000, "x", "y")])
def matmul_by_outer_products(x, y):
    """``x @ y`` is the sum of the outer products of columns and rows."""
    return x @ y, torch.sum(x.t().unsqueeze(2) * y.unsqueeze(1), dim=0)
