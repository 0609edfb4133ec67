"""Views in other words: reshape, permute, expand, broadcast, windows."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.preconditions import (
    Precondition,
    arithmetic,
    at_least,
    moderate,
    same_dtype,
    unmutated,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import at_least_rank, contiguous, extents, non_empty, rank, same_shape
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int, Ints


@rule(exact="bitwise", where=[contiguous("x")])
def line_and_back(x):
    """``x`` flattened and reshaped to its own shape; a view of contiguous memory."""
    return x, x.reshape(-1).reshape(x.shape)


def _columns(name, n, m):
    """The numbers ``n`` and ``m`` multiply to the columns of a matrix."""

    def check(visit):
        fits = visit[n].value > 0 < visit[m].value and visit[n].value * visit[m].value == visit[name].shape[1]
        return None if fits else f"{name} has not {visit[n].value} x {visit[m].value} columns"

    def propose(operands, rng):
        rows, operands[n].value, operands[m].value = extents(3, rng, (1, 2, 3, 5))
        operands[name].shape = (rows, operands[n].value * operands[m].value)

    return Precondition(f"{n} * {m} columns", check, propose)


@rule(exact="bitwise", where=[rank("x", 2), _columns("x", "n", "m")], both_ways=True)
def unflatten_is_reshape(x, n: Int, m: Int):
    """``x.unflatten(1, (n, m))`` of a matrix is a reshape."""
    return x.unflatten(1, (n, m)), x.reshape(x.shape[0], n, m)


@rule(exact="bitwise", where=[arithmetic("x")])
def unsqueeze_is_reshape(x):
    """``x.unsqueeze(0)`` is a reshape with a 1 in front."""
    return torch.unsqueeze(x, 0), x.reshape(1, *x.shape)


@rule(exact="bitwise", where=[rank("x", 2)], both_ways=True)
def transpose_of_matrix_is_attribute(x):
    """``x.transpose(0, 1)`` of a matrix is ``x.T``."""
    return torch.transpose(x, 0, 1), x.T


@rule(exact="bitwise", where=[rank("x", 3)])
def rotation_of_dims_by_transposes(x):
    """``x.permute(2, 0, 1)`` is two transposes."""
    return x.permute(2, 0, 1), x.transpose(0, 2).transpose(1, 2)


@rule(exact="bitwise", where=[rank("x", 3)])
def transposes_are_rotation_of_dims(x):
    """Two transposes are ``x.permute(2, 0, 1)``."""
    return x.transpose(0, 2).transpose(1, 2), x.permute(2, 0, 1)


@rule(exact="bitwise", where=[rank("x", 3)])
def permute_of_batch_by_movedim(x):
    """``x.permute(2, 0, 1)`` moves the last dimension to the front."""
    return x.permute(2, 0, 1), x.movedim(-1, 0)


@rule(
    exact="ulp",
    where=[
        wide("x"),
        contiguous("x"),
        moderate("x", bound=20),
        when(
            "a shape of all elements",
            lambda x, n, m: n.value > 0 < m.value and n.value * m.value == x.numel,
            "x",
            "n",
            "m",
        ),
    ],
    both_ways=True,
)
def tanh_of_reshaped(x, n: Int, m: Int):
    """``tanh(x).reshape(n, m)`` is ``tanh(x.reshape(n, m))``; vector and tail elements may round differently."""
    return torch.tanh(x).reshape(n, m), torch.tanh(x.reshape(n, m))


@rule(
    exact="bitwise",
    where=[rank("x", 1), unmutated("result"), when("a positive number of rows", lambda n: n.value > 0, "n")],
    layout=True,
)
def repeated_rows_are_expanded(x, n: Int):
    """``x.repeat(n, 1)`` of a line is a view with every row in the same place."""
    return x.repeat(n, 1), x.expand(n, x.shape[0])


@rule(
    exact="bitwise",
    where=[rank("x", 1), unmutated("x", "result"), when("a positive number of rows", lambda n: n.value > 0, "n")],
    layout=True,
)
def expanded_rows_are_repeated(x, n: Int):
    """``x.expand(n, -1)`` of a line stores every row."""
    return x.expand(n, -1), x.repeat(n, 1)


@rule(exact="bitwise", both_ways=True)
def broadcast_to_is_expand(x, s: Ints):
    """``broadcast_to(x, s)`` is ``x.expand(s)``."""
    return torch.broadcast_to(x, s), x.expand(s)


@rule(exact="bitwise", where=[same_shape("x", "result"), same_dtype("x", "y"), contiguous("x", "y")])
def add_expanded(x, y):
    """``x + y`` with ``y`` expanded beforehand."""
    return x + y, x + y.expand_as(x)


@rule(exact="bitwise", where=[same_shape("x", "result"), same_dtype("x", "y"), contiguous("x", "y")])
def mul_expanded(x, y):
    """``x * y`` with ``y`` expanded beforehand."""
    return x * y, x * y.expand_as(x)


@rule(exact="bitwise", where=[rank("y", 1), at_least_rank("x", 2), contiguous("x", "y")], both_ways=True)
def row_is_broadcast(x, y):
    """``x * y`` with a line is ``x * y[None, :]``."""
    return x * y, x * y[None, :]


@rule(exact="bitwise", where=[rank("y", 1), at_least_rank("x", 2), contiguous("x", "y")], both_ways=True)
def added_row_is_broadcast(x, y):
    """``x + y`` with a line is ``x + y[None, :]``."""
    return x + y, x + y[None, :]


@rule(exact="bitwise", where=[rank("x", 1), rank("y", 1)])
def grid_is_expanded_column(x, y):
    """The first of ``meshgrid(x, y)`` is the column ``x``, expanded."""
    return torch.meshgrid(x, y, indexing="ij")[0], x.unsqueeze(1).expand(-1, y.shape[0])


@rule(exact="bitwise", where=[rank("x", 1), rank("y", 1)])
def grid_is_expanded_row(x, y):
    """The second of ``meshgrid(x, y)`` is the row ``y``, expanded."""
    return torch.meshgrid(x, y, indexing="ij")[1], y.unsqueeze(0).expand(x.shape[0], -1)


@rule(exact="bitwise", where=[rank("x", 2), contiguous("x"), at_least("k", 1)], breaks_graph=True)
def stepped_columns_as_strided(x, k: Int):
    """``x[:, ::k]`` is a view by its strides; Dynamo cannot know the offset."""
    return (
        x[:, ::k],
        x.as_strided((x.shape[0], -(-x.shape[1] // k)), (x.stride(0), x.stride(1) * k), x.storage_offset()),
    )


@rule(
    exact="bitwise",
    where=[
        rank("x", 1),
        when("a window within", lambda x, k: 1 <= k.value <= x.shape[0], "x", "k"),
        unmutated("x", "result"),
    ],
    layout=True,
)
def windows_are_stacked_slices(x, k: Int):
    """``x.unfold(0, k, 1)`` of a line is the stack of its windows."""
    return x.unfold(0, k, 1), (lambda t, n: torch.stack([t[j : j + n] for j in range(t.shape[0] - n + 1)]))(x, k)


@rule(
    exact="bitwise",
    where=[
        rank("x", 4),
        non_empty("x"),
        contiguous("x"),
        unmutated("x", "result"),
        when("k * k divides the channels", lambda x, k: k.value > 1 and x.shape[1] % k.value**2 == 0, "x", "k"),
    ],
)
def pixel_shuffle_by_permute(x, k: Int):
    """``pixel_shuffle`` moves groups of channels into the plane."""
    return (
        F.pixel_shuffle(x, k),
        x.reshape(x.shape[0], x.shape[1] // (k * k), k, k, x.shape[2], x.shape[3])
        .permute(0, 1, 4, 2, 5, 3)
        .reshape(x.shape[0], x.shape[1] // (k * k), x.shape[2] * k, x.shape[3] * k),
    )


@rule(exact="bitwise", where=[rank("x", 2)], layout=True)
def quarter_turn(x):
    """``rot90(x)`` flips the rows of the transpose."""
    return torch.rot90(x), x.t().flip(0)


@rule(exact="bitwise", where=[rank("x", 2)], layout=True)
def flipped_transpose_is_quarter_turn(x):
    """The transpose with its rows flipped is ``rot90(x)``."""
    return x.t().flip(0), torch.rot90(x)
