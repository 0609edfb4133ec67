"""Indexing, slicing, gathering, embedding."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.composite_preconditions import reassociable
from eqfuzz.rewrite.facts.preconditions import (
    at_least,
    boolean,
    dtype_in,
    finite,
    floating,
    integral,
    moderate,
    no_negative_zero,
    same_dtype,
    unmutated,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import (
    at_least_rank,
    contiguous,
    dim_of,
    index_into,
    non_empty,
    rank,
    same_shape,
    sizes,
)
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int

WITHIN = when("0 ≤ a ≤ b ≤ size", lambda x, a, b: 0 <= a.value <= b.value <= x.shape[0], "x", "a", "b")
WITHIN_SECOND = when("0 ≤ a ≤ b ≤ size", lambda x, a, b: 0 <= a.value <= b.value <= x.shape[1], "x", "a", "b")

IN_ROW = index_into("i", "x", 1)


@rule(exact="bitwise", where=[at_least_rank("x", 1)], both_ways=True)
def row_is_select(x, k: Int):
    """``x[k]`` is ``x.select(0, k)``."""
    return x[k], torch.select(x, 0, k)


@rule(exact="bitwise", where=[at_least_rank("x", 2)], both_ways=True)
def column_is_select(x, k: Int):
    """``x[:, k]`` is ``x.select(1, k)``."""
    return x[:, k], torch.select(x, 1, k)


@rule(exact="bitwise", where=[at_least_rank("x", 1)], both_ways=True)
def last_index_is_select(x, k: Int):
    """``x[..., k]`` is ``x.select(-1, k)``."""
    return x[..., k], torch.select(x, -1, k)


@rule(exact="bitwise", where=[at_least_rank("x", 1)])
def negative_index(x):
    """``x[-1]`` is ``x[x.shape[0] - 1]``."""
    return x[-1], x[x.shape[0] - 1]


@rule(exact="bitwise", where=[at_least_rank("x", 1), WITHIN])
def slice_is_narrow(x, a: Int, b: Int):
    """``x[a:b]`` is ``x.narrow(0, a, b - a)``."""
    return x[a:b], x.narrow(0, a, b - a)


@rule(
    exact="bitwise", where=[at_least_rank("x", 1), when("in range", lambda x, b: 0 <= b.value <= x.shape[0], "x", "b")]
)
def head_is_narrow(x, b: Int):
    """``x[:b]`` is ``x.narrow(0, 0, b)``."""
    return x[:b], x.narrow(0, 0, b)


@rule(
    exact="bitwise", where=[at_least_rank("x", 1), when("in range", lambda x, a: 0 <= a.value <= x.shape[0], "x", "a")]
)
def tail_is_narrow(x, a: Int):
    """``x[a:]`` is ``x.narrow(0, a, x.shape[0] - a)``."""
    return x[a:], x.narrow(0, a, x.shape[0] - a)


@rule(exact="bitwise", where=[at_least_rank("x", 2), WITHIN_SECOND])
def column_slice_is_narrow(x, a: Int, b: Int):
    """``x[:, a:b]`` is ``x.narrow(1, a, b - a)``."""
    return x[:, a:b], x.narrow(1, a, b - a)


@rule(
    exact="bitwise", where=[at_least_rank("x", 2), when("in range", lambda x, a: 0 <= a.value <= x.shape[1], "x", "a")]
)
def column_tail_is_narrow(x, a: Int):
    """``x[:, a:]`` is ``x.narrow(1, a, x.shape[1] - a)``."""
    return x[:, a:], x.narrow(1, a, x.shape[1] - a)


@rule(
    exact="bitwise", where=[at_least_rank("x", 2), when("in range", lambda x, b: 0 <= b.value <= x.shape[1], "x", "b")]
)
def column_head_is_narrow(x, b: Int):
    """``x[:, :b]`` is ``x.narrow(1, 0, b)``."""
    return x[:, :b], x.narrow(1, 0, b)


@rule(exact="bitwise", where=[at_least_rank("x", 1), WITHIN, contiguous("x"), unmutated("x", "result")])
def slice_is_index(x, a: Int, b: Int):
    """``x[a:b]`` selects the indices from a to b; a copy."""
    return x[a:b], x.index_select(0, torch.arange(a, b, device=x.device))


@rule(
    exact="bitwise",
    where=[at_least_rank("x", 2), WITHIN_SECOND, contiguous("x"), unmutated("x", "result")],
    layout=True,
)
def column_slice_is_index(x, a: Int, b: Int):
    """``x[:, a:b]`` selects the columns from a to b; a copy without gaps."""
    return x[:, a:b], x.index_select(1, torch.arange(a, b, device=x.device))


@rule(
    exact="bitwise",
    where=[at_least_rank("x", 1), at_least("k", 1), unmutated("x", "result")],
    layout=True,
)
def step_is_index(x, k: Int):
    """``x[::k]`` selects every k-th index; a copy without gaps."""
    return x[::k], x.index_select(0, torch.arange(0, x.shape[0], k, device=x.device))


@rule(
    exact="bitwise",
    where=[at_least_rank("x", 1), non_empty("x"), contiguous("x"), unmutated("x")],
)
def select_everything(x):
    """``x`` is its rows selected one by one."""
    return x, x.index_select(0, torch.arange(x.shape[0], device=x.device))


@rule(exact="bitwise", where=[at_least_rank("x", 1), non_empty("x"), contiguous("x"), unmutated("x")])
def index_everything(x):
    """``x`` is its rows indexed one by one."""
    return x, x[torch.arange(x.shape[0], device=x.device)]


@rule(
    exact="bitwise",
    where=[
        at_least_rank("x", 1),
        non_empty("x"),
        contiguous("x"),
        rank("i", 1),
        index_into("i", "x", 0),
    ],
    both_ways=True,
)
def index_is_index_select(x, i):
    """``x[i]`` with a line of indices is ``x.index_select(0, i)``."""
    return x[i], torch.index_select(x, 0, i)


@rule(
    exact="bitwise",
    where=[floating("x"), rank("x", 2), contiguous("x", "i"), index_into("i", "x", 0), unmutated("x", "result")],
    both_ways=True,
)
def index_is_embedding(x, i):
    """``x[i]`` of a matrix looks up embeddings."""
    return x[i], F.embedding(i, x)


@rule(
    exact="bitwise",
    where=[
        wide("x"),
        sizes(x="n m", i="* k"),
        finite("x"),
        moderate("x"),
        no_negative_zero("x"),
        index_into("i", "x", 0),
        contiguous("x", "i"),
        when("some index", lambda i: i.numel > 0, "i"),
    ],
)
def embedding_is_one_hot_product(x, i):
    """An embedding is a product with one-hot rows: all terms but one are zero."""
    return F.embedding(i, x), F.one_hot(i, x.shape[0]).to(x.dtype) @ x


@rule(exact="bitwise", where=[sizes(x="n m", i="n k"), IN_ROW], both_ways=True)
def take_along_is_gather(x, i):
    """``take_along_dim(x, i, 1)`` of equally many rows is ``x.gather(1, i)``."""
    return torch.take_along_dim(x, i, 1), torch.gather(x, 1, i)


@rule(exact="bitwise", where=[sizes(x="n m", i="n k"), IN_ROW, contiguous("x", "i")])
def gather_is_index(x, i):
    """``x.gather(1, i)`` indexes each row with its own indices."""
    return torch.gather(x, 1, i), x[torch.arange(i.shape[0], device=x.device).unsqueeze(1), i]


@rule(exact="bitwise", where=[boolean("m"), same_shape("x", "m")], breaks_graph=True, both_ways=True)
def mask_is_masked_select(x, m):
    """``x[m]`` is ``masked_select(x, m)``."""
    return x[m], torch.masked_select(x, m)


@rule(exact="bitwise", where=[boolean("m"), same_shape("x", "m"), at_least_rank("x", 1)], breaks_graph=True)
def mask_is_nonzero(x, m):
    """``x[m]`` indexes with the coordinates of True."""
    return x[m], x[m.nonzero(as_tuple=True)]


@rule(exact="bitwise", where=[sizes(x="n n"), unmutated("x", "result")], layout=True)
def diagonal_is_index(x):
    """The diagonal of a square matrix, index by index."""
    return (
        torch.diagonal(x),
        x[torch.arange(x.shape[0], device=x.device), torch.arange(x.shape[0], device=x.device)],
    )


@rule(exact="bitwise", where=[dtype_in("i", torch.int64), at_least("i", 0), when("n > 0", lambda n: n.value > 0, "n")])
def one_hot_is_comparison(i, n: Int):
    """One-hot rows compare the index with every class."""
    return F.one_hot(i, n), (i.unsqueeze(-1) == torch.arange(n, device=i.device)).to(torch.int64)


@rule(
    exact="bitwise",
    where=[dtype_in("i", torch.int64), at_least("i", 0), contiguous("x", "i"), unmutated("x", "result")],
)
def take_is_index(x, i):
    """``torch.take(x, i)`` indexes the flattened tensor."""
    return torch.take(x, i), x.reshape(-1)[i]


@rule(
    exact="real",
    where=[reassociable("x", "y"), sizes(x="n m", i="k", y="k m"), index_into("i", "x", 0), contiguous("x")],
)
def index_add_is_index_put(x, i, y):
    """``index_add`` accumulates like ``index_put``; equal indices may add in another order."""
    return x.index_add(0, i, y), x.index_put((i,), y, accumulate=True)


@rule(
    exact="bitwise",
    where=[
        integral("x", "y"),
        same_dtype("x", "y"),
        sizes(x="n m", i="k", y="k m"),
        index_into("i", "x", 0),
        contiguous("x"),
    ],
)
def integer_index_add_is_index_put(x, i, y):
    """``index_add`` of integers accumulates like ``index_put``."""
    return x.index_add(0, i, y), x.index_put((i,), y, accumulate=True)


@rule(
    exact="bitwise",
    where=[at_least_rank("x", 1), dim_of("d", "x"), rank("i", 1), index_into("i", "x", 0), contiguous("x")],
)
def index_select_by_gather(x, d: Int, i):
    """``index_select`` is the transposed ``index_select`` of the first dimension, made contiguous."""
    return torch.index_select(x, d, i), x.transpose(0, d).index_select(0, i).transpose(0, d).contiguous()
