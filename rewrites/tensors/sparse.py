"""The same values by way of sparse storage. Dynamo does not take sparse tensors, so graphs break."""

import torch

from eqfuzz.rewrite.facts.preconditions import finite, full_precision, moderate, no_negative_zero, same_dtype, unmutated
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, matmul_shapes, non_empty, rank, sizes
from eqfuzz.rewrite.rules.rule import rule

VALUES = [full_precision("x"), finite("x"), no_negative_zero("x"), contiguous("x"), unmutated("x"), non_empty("x")]
"""Zeros are not stored, so they come back without their sign."""

PRODUCT = [full_precision("x", "y"), same_dtype("x", "y"), moderate("x", "y"), non_empty("x", "y")]


@rule(exact="bitwise", where=[*VALUES, at_least_rank("x", 1)], breaks_graph=True, gradients=False)
def through_coordinates(x):
    """Stored by coordinates and back."""
    return x, x.to_sparse().to_dense()


@rule(exact="bitwise", where=[*VALUES, at_least_rank("x", 2)], breaks_graph=True, gradients=False)
def through_coordinates_of_rows(x):
    """Stored by coordinates of rows, which are dense, and back."""
    return x, x.to_sparse(1).to_dense()


@rule(exact="bitwise", where=[*VALUES, rank("x", 2)], breaks_graph=True, gradients=False)
def through_compressed_rows(x):
    """Stored by compressed rows and back."""
    return x, x.to_sparse_csr().to_dense()


@rule(exact="bitwise", where=[*VALUES, rank("x", 2)], breaks_graph=True, gradients=False)
def through_compressed_columns(x):
    """Stored by compressed columns and back."""
    return x, x.to_sparse_csc().to_dense()


@rule(exact="bitwise", where=[*VALUES, sizes(x="n 4")], breaks_graph=True, gradients=False)
def through_blocks(x):
    """Stored by blocks of one row and two columns, and back."""
    return x, x.to_sparse_bsr((1, 2)).to_dense()


@rule(exact="real", where=[*PRODUCT, matmul_shapes("x", "y")], breaks_graph=True, gradients=False)
def sparse_product(x, y):
    """A product of matrices, the first one sparse; zeros that are not stored get no gradient."""
    return x @ y, torch.sparse.mm(x.to_sparse(), y)


@rule(exact="real", where=[*PRODUCT, sizes(x="n k", y="k")], breaks_graph=True, gradients=False)
def sparse_matrix_by_vector(x, y):
    """A matrix stored by compressed rows, times a vector."""
    return x @ y, x.to_sparse_csr() @ y


@rule(
    exact="real",
    where=[full_precision("x"), finite("x"), moderate("x"), rank("x", 2), non_empty("x")],
    breaks_graph=True,
    gradients=False,
)
def sparse_sum(x):
    """The sum of what is stored; the rest gets no gradient."""
    return x.sum(), torch.sparse.sum(x.to_sparse())


@rule(exact="bitwise", where=[*VALUES, at_least_rank("x", 1)], breaks_graph=True, gradients=False)
def coalesced(x):
    """Stored by coordinates, put in order, and back."""
    return x, x.to_sparse().coalesce().to_dense()
