"""The same computation by way of NumPy, which Dynamo traces back into torch, and of Python numbers."""

import math

import numpy as np
import torch

from eqfuzz.rewrite.facts.preconditions import boolean, dtype_in, moderate, no_grad, same_dtype, unmutated, when
from eqfuzz.rewrite.facts.shape_preconditions import (
    at_least_rank,
    contiguous,
    dim_of,
    matmul_shapes,
    non_empty,
    rank,
    same_shape,
)
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int

KNOWN = (torch.float32, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
"""Dtypes that NumPy has too and adds in the same way."""


def shared(*names):
    """On the CPU and free of autograd, also of autograd switched off, so that memory can be handed over."""
    return [
        no_grad(*names),
        when("without a gradient", lambda *facts: not any(f.requires_grad for f in facts), *names),
        when("on the CPU", lambda *facts: all(f.device == "cpu" for f in facts), *names),
    ]


IN_DIMENSIONS = when("1 or more dimensions", lambda result: result.ndim > 0, "result")
PAIR = [*shared("x", "y"), same_dtype("x", "y"), contiguous("x", "y")]


@rule(exact="bitwise", where=[dtype_in("x", *KNOWN), *PAIR, IN_DIMENSIONS])
def add_in_numpy(x, y):
    """``x + y`` added by NumPy, which gives a number and no array in 0 dimensions."""
    return x + y, torch.from_numpy(np.add(x.numpy(), y.numpy()))


@rule(exact="bitwise", where=[dtype_in("x", *KNOWN), *PAIR, IN_DIMENSIONS])
def multiply_in_numpy(x, y):
    """``x * y`` multiplied by NumPy."""
    return x * y, torch.from_numpy(np.multiply(x.numpy(), y.numpy()))


@rule(
    exact="ulp",
    where=[
        dtype_in("x", torch.float32, torch.float64),
        *shared("x"),
        moderate("x"),
        at_least_rank("x", 1),
        contiguous("x"),
    ],
)
def sine_in_numpy(x):
    """``sin(x)`` by NumPy, whose library is another one."""
    return torch.sin(x), torch.from_numpy(np.sin(x.numpy()))


@rule(
    exact="real",
    where=[
        dtype_in("x", torch.float32, torch.float64),
        *shared("x"),
        moderate("x"),
        at_least_rank("x", 2),
        non_empty("x"),
        dim_of("d", "x"),
        contiguous("x"),
    ],
)
def sum_in_numpy(x, d: Int):
    """``x.sum(d)`` added by NumPy, pairwise."""
    return torch.sum(x, dim=d), torch.from_numpy(np.sum(x.numpy(), axis=d))


@rule(
    exact="bitwise",
    where=[
        boolean("c"),
        dtype_in("x", *KNOWN),
        same_dtype("x", "y"),
        *shared("c", "x", "y"),
        contiguous("c", "x", "y"),
    ],
)
def where_in_numpy(c, x, y):
    """``where(c, x, y)`` chosen by NumPy."""
    return torch.where(c, x, y), torch.from_numpy(np.where(c.numpy(), x.numpy(), y.numpy()))


PRODUCT = [
    dtype_in("x", torch.float32, torch.float64),
    same_dtype("x", "y"),
    matmul_shapes("x", "y"),
    non_empty("x", "y"),
    moderate("x", "y"),
    *shared("x", "y"),
]


@rule(exact="real", where=PRODUCT)
def matmul_in_numpy(x, y):
    """``x @ y`` multiplied by NumPy."""
    return x @ y, torch.from_numpy(np.matmul(x.numpy(), y.numpy()))


@rule(exact="real", where=[*PRODUCT, contiguous("x", "y")])
def einsum_in_numpy(x, y):
    """``x @ y`` as an einsum of NumPy."""
    return x @ y, torch.from_numpy(np.einsum("ij,jk->ik", x.numpy(), y.numpy()))


@rule(exact="bitwise", where=[rank("x", 2), dtype_in("x", *KNOWN), *shared("x"), unmutated("x", "result")])
def transpose_in_numpy(x):
    """``x.t()`` transposed by NumPy; both are views."""
    return x.t(), torch.from_numpy(x.numpy().T)


@rule(
    exact="bitwise",
    where=[rank("x", 2), dtype_in("x", *KNOWN), *shared("x"), unmutated("x", "result")],
    layout=True,
)
def transpose_copied_in_numpy(x):
    """``x.t()`` transposed and laid out by NumPy."""
    return x.t(), torch.from_numpy(np.ascontiguousarray(x.numpy().T))


@rule(
    exact="bitwise",
    where=[dtype_in("x", *KNOWN), *PAIR, at_least_rank("x", 1), same_shape("x", "y"), dim_of("d", "x")],
)
def cat_in_numpy(x, y, d: Int):
    """``cat((x, y), d)`` concatenated by NumPy."""
    return torch.cat((x, y), dim=d), torch.from_numpy(np.concatenate([x.numpy(), y.numpy()], axis=d))


@rule(exact="bitwise")
def pi_of_numpy():
    """π is the same number in both libraries."""
    return math.pi, np.pi


@rule(exact="bitwise", where=[dtype_in("y", *KNOWN), *shared("y")])
def add_by_array(x, y):
    """``x + y`` with ``y`` seen as an array and back; both share memory."""
    return x + y, x + torch.from_numpy(np.asarray(y.numpy()))


@rule(exact="bitwise", where=[at_least_rank("x", 1)])
def rows_stacked_in_loop(x):
    """Four rows listed one by one, and in a loop."""
    return torch.stack((x[0], x[1], x[2], x[3])), (lambda t: torch.stack([t[j] for j in range(4)]))(x)


@rule(
    exact="bitwise",
    where=[
        *shared("x"),
        dtype_in("x", *KNOWN, torch.bool, torch.bfloat16),
        # Dynamo makes a number of unknown value of each element: 256 take Inductor 12 CPU seconds, 16 take 1.4.
        when("1 to 32 elements", lambda x: 1 <= x.numel <= 32, "x"),
        contiguous("x"),
        unmutated("x"),
    ],
    breaks_graph=True,
)
def list_and_back(x):
    """``x`` read into Python numbers and made again."""
    return x, torch.tensor(x.tolist(), dtype=x.dtype)


@rule(
    exact="bitwise",
    where=[dtype_in("x", *KNOWN), *shared("x"), at_least_rank("x", 1), contiguous("x"), unmutated("x")],
)
def array_copied_and_back(x):
    """``x`` copied as an array."""
    return x, torch.from_numpy(np.array(x.numpy()))
