"""Reshape, permute, view, concatenate, split, repeat."""

import math

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.facts.preconditions import (
    Precondition,
    arithmetic,
    floating,
    no_negative_zero,
    real,
    same_dtype,
    unmutated,
    when,
    wide,
)
from eqfuzz.rewrite.facts.shape_preconditions import (
    at_least_rank,
    contiguous,
    dense,
    dim_of,
    extents,
    non_empty,
    rank,
    same_shape,
)
from eqfuzz.rewrite.rules.rule import rule
from eqfuzz.rewrite.rules.sorts import Int


def fills(name, *dims):
    """The numbers ``dims`` (one of them perhaps -1) are a shape for all elements of ``name``."""

    def check(visit):
        numbers = [visit[d].value for d in dims]
        rest = math.prod(n for n in numbers if n != -1)
        count = visit[name].numel
        fits = rest == count if -1 not in numbers else numbers.count(-1) == 1 and rest > 0 and count % rest == 0
        return None if fits else f"{numbers} is no shape for {count} elements"

    def propose(operands, rng):
        shape = list(extents(len(dims), rng, (1, 2, 3, 5)))
        operands[name].shape = rng.choice((tuple(shape), tuple(reversed(shape)), (math.prod(shape),)))
        for d, size in zip(dims, shape, strict=True):
            operands[d].value = size
        if rng.random() < 0.4:
            operands[rng.choice(dims)].value = -1

    return Precondition(f"({', '.join(dims)}) is a shape for {name}", check, propose)


def in_dim(text, test):
    """A condition on the size of dimension ``d`` of ``x``."""
    return when(text, lambda x, d: test(x.shape[d.value]), "x", "d")


@rule(exact="bitwise", both_ways=True)
def flatten_is_reshape(x):
    """``x.flatten()`` is ``x.reshape(-1)``."""
    return torch.flatten(x), torch.reshape(x, (-1,))


@rule(exact="bitwise", where=[at_least_rank("x", 2), non_empty("x")], both_ways=True)
def flatten_rows_is_reshape(x):
    """``x.flatten(1)`` is ``x.reshape(x.shape[0], -1)``."""
    return torch.flatten(x, 1), torch.reshape(x, (x.shape[0], -1))


@rule(exact="bitwise")
def reshape_to_line(x):
    """``x.reshape(-1)`` is ``x.flatten()``."""
    return x.reshape(-1), x.flatten()


@rule(exact="bitwise", where=[fills("x", "n", "m")])
def view_two_is_reshape(x, n: Int, m: Int):
    """``x.view(n, m)`` is ``x.reshape(n, m)``."""
    return x.view(n, m), x.reshape(n, m)


@rule(exact="bitwise", where=[fills("x", "n", "m", "k")])
def view_three_is_reshape(x, n: Int, m: Int, k: Int):
    """``x.view(n, m, k)`` is ``x.reshape(n, m, k)``."""
    return x.view(n, m, k), x.reshape(n, m, k)


@rule(exact="bitwise", where=[fills("x", "n", "m"), contiguous("x")])
def reshape_two_is_view(x, n: Int, m: Int):
    """``x.reshape(n, m)`` is a view of the contiguous ``x``."""
    return x.reshape(n, m), x.contiguous().view(n, m)


@rule(exact="bitwise", where=[fills("x", "n", "m", "k"), contiguous("x")])
def reshape_three_is_view(x, n: Int, m: Int, k: Int):
    """``x.reshape(n, m, k)`` is a view of the contiguous ``x``."""
    return x.reshape(n, m, k), x.contiguous().view(n, m, k)


@rule(exact="bitwise", where=[fills("x", "n", "m"), contiguous("x")])
def reshape_by_line(x, n: Int, m: Int):
    """``x.reshape(n, m)`` by way of one dimension."""
    return x.reshape(n, m), x.reshape(-1).reshape(n, m)


@rule(exact="bitwise")
def reshape_to_own_shape(x):
    """``x`` reshaped to its own shape is a view of it."""
    return x, x.reshape(x.shape)


@rule(exact="bitwise")
def unsqueeze_and_squeeze(x):
    """``x`` with a dimension added and taken away."""
    return x, x.unsqueeze(0).squeeze(0)


@rule(exact="bitwise", where=[rank("x", 2)])
def transpose_twice(x):
    """``x`` is ``x.t().t()``."""
    return x, x.t().t()


@rule(exact="bitwise", where=[at_least_rank("x", 1)], both_ways=True)
def unsqueeze_first_is_none(x):
    """``x.unsqueeze(0)`` is ``x[None]``."""
    return torch.unsqueeze(x, 0), x[None]


@rule(exact="bitwise", where=[at_least_rank("x", 1)], both_ways=True)
def unsqueeze_second_is_none(x):
    """``x.unsqueeze(1)`` is ``x[:, None]``."""
    return torch.unsqueeze(x, 1), x[:, None]


@rule(exact="bitwise", both_ways=True)
def unsqueeze_last_is_none(x):
    """``x.unsqueeze(-1)`` is ``x[..., None]``."""
    return torch.unsqueeze(x, -1), x[..., None]


@rule(exact="bitwise", where=[at_least_rank("x", 1), dim_of("d", "x"), in_dim("size 1 in d", lambda n: n == 1)])
def squeeze_is_select(x, d: Int):
    """``x.squeeze(d)`` of a dimension of size 1 is ``x.select(d, 0)``."""
    return torch.squeeze(x, d), x.select(d, 0)


@rule(exact="bitwise", where=[rank("x", 2)], both_ways=True)
def t_is_permute(x):
    """``x.t()`` of a matrix is ``x.permute(1, 0)``."""
    return x.t(), x.permute(1, 0)


@rule(exact="bitwise", where=[rank("x", 2)], both_ways=True)
def t_is_attribute(x):
    """``x.t()`` of a matrix is ``x.T``."""
    return x.t(), x.T


@rule(exact="bitwise", where=[at_least_rank("x", 2)], both_ways=True)
def last_two_transpose_is_attribute(x):
    """``x.transpose(-2, -1)`` is ``x.mT``."""
    return torch.transpose(x, -2, -1), x.mT


@rule(exact="bitwise", where=[at_least_rank("x", 1), dim_of("a", "x"), dim_of("b", "x")], both_ways=True)
def transpose_is_swapaxes(x, a: Int, b: Int):
    """``x.transpose(a, b)`` is ``x.swapaxes(a, b)``, and the order of the two does not matter."""
    return torch.transpose(x, a, b), torch.swapaxes(x, b, a)


@rule(exact="bitwise", where=[rank("x", 3)], both_ways=True)
def permute_is_transpose(x):
    """``x.permute(0, 2, 1)`` is ``x.transpose(1, 2)``."""
    return x.permute(0, 2, 1), torch.transpose(x, 1, 2)


@rule(exact="bitwise", where=[rank("x", 3)])
def permute_by_einsum(x):
    """``x.permute(0, 2, 1)`` as an einsum."""
    return x.permute(0, 2, 1), torch.einsum("bij->bji", x)


@rule(exact="ulp", where=[wide("x"), rank("x", 2), dense("x"), unmutated("result")])
def exponential_of_transpose(x):
    """``torch.exp(x).t()`` is ``torch.exp(x.t())``; vector and tail elements may differ in the last place."""
    return torch.exp(x).t(), torch.exp(x.t())


@rule(
    exact="bitwise",
    where=[arithmetic("x", "y"), rank("x", 2), same_shape("x", "y"), contiguous("x", "y"), unmutated("result")],
)
def sum_of_transposes(x, y):
    """``(x + y).t()`` is ``x.t() + y.t()``."""
    return (x + y).t(), x.t() + y.t()


@rule(exact="bitwise", where=[real("x", "y"), same_shape("x", "y"), at_least_rank("x", 1), unmutated("result")])
def sum_of_lines(x, y):
    """``(x + y).reshape(-1)`` is ``x.reshape(-1) + y.reshape(-1)``."""
    return (x + y).reshape(-1), x.reshape(-1) + y.reshape(-1)


@rule(exact="bitwise", where=[real("x", "y"), same_shape("x", "y"), at_least_rank("x", 1), contiguous("x", "y")])
def product_of_halves(x, y):
    """``x * y`` in two pieces along the first dimension."""
    return x * y, torch.cat((x[:1] * y[:1], x[1:] * y[1:]))


@rule(exact="bitwise", where=[at_least_rank("x", 1), non_empty("x"), contiguous("x"), unmutated("x")])
def split_and_cat(x):
    """``x`` is the concatenation of its pieces of two."""
    return x, torch.cat(x.split(2), 0)


@rule(exact="bitwise", where=[at_least_rank("x", 1), non_empty("x"), contiguous("x"), unmutated("x")])
def chunk_and_cat(x):
    """``x`` is the concatenation of two chunks of its last dimension."""
    return x, torch.cat(x.chunk(2, -1), -1)


@rule(
    exact="bitwise",
    where=[
        at_least_rank("x", 1),
        non_empty("x"),
        contiguous("x"),
        unmutated("x"),
        when("at most 64 in front", lambda x: x.shape[0] <= 64, "x"),
    ],
)
def unbind_and_stack(x):
    """``x`` is the stack of its rows."""
    return x, torch.stack(x.unbind(0))


@rule(exact="bitwise", where=[at_least_rank("x", 1), contiguous("x"), unmutated("x")])
def flip_twice(x):
    """``x`` is ``x.flip(0).flip(0)``."""
    return x, x.flip(0).flip(0)


@rule(exact="bitwise", where=[at_least_rank("x", 1), contiguous("x"), unmutated("x")])
def roll_and_back(x):
    """``x`` is ``x`` rolled forth and back."""
    return x, torch.roll(torch.roll(x, 1, 0), -1, 0)


@rule(exact="bitwise", where=[at_least_rank("x", 1), contiguous("x"), unmutated("x")])
def pad_and_narrow(x):
    """``x`` is ``x`` with zeros appended in front and cut off again."""
    return x, F.pad(x, (1, 0))[..., 1:].contiguous()


@rule(exact="bitwise", where=[same_shape("x", "y"), contiguous("x", "y"), dim_of("d", "result")])
def stack_is_cat(x, y, d: Int):
    """``stack((x, y), d)`` concatenates along a new dimension."""
    return torch.stack((x, y), dim=d), torch.cat((x.unsqueeze(d), y.unsqueeze(d)), dim=d)


@rule(exact="bitwise", where=[at_least_rank("x", 1), same_shape("x", "y"), contiguous("x", "y"), dim_of("d", "x")])
def cat_is_reversed_cat(x, y, d: Int):
    """``cat((x, y), d)`` is the reverse of both reversed."""
    return torch.cat((x, y), dim=d), torch.cat((y.flip(d), x.flip(d)), dim=d).flip(d)


@rule(
    exact="bitwise",
    where=[at_least_rank("x", 2), same_shape("x", "y"), same_dtype("x", "y"), contiguous("x", "y"), dim_of("d", "x")],
)
def cat_is_transposed_cat(x, y, d: Int):
    """``cat((x, y), d)`` along the first dimension of transposes, made contiguous."""
    return (
        torch.cat((x, y), dim=d),
        torch.cat((x.transpose(0, d), y.transpose(0, d)), dim=0).transpose(0, d).contiguous(),
    )


@rule(exact="bitwise", where=[at_least_rank("x", 2), at_least_rank("y", 2)])
def cat_is_vstack(x, y):
    """``cat((x, y), 0)`` of two or more dimensions is ``vstack``."""
    return torch.cat((x, y), dim=0), torch.vstack((x, y))


@rule(exact="bitwise", where=[at_least_rank("x", 2), at_least_rank("y", 2)])
def cat_is_hstack(x, y):
    """``cat((x, y), 1)`` of two or more dimensions is ``hstack``."""
    return torch.cat((x, y), dim=1), torch.hstack((x, y))


@rule(exact="bitwise", where=[at_least_rank("x", 1), dim_of("d", "x"), contiguous("x")])
def flip_is_index(x, d: Int):
    """``x.flip(d)`` selects the indices from the last to the first."""
    return x.flip(d), x.index_select(d, torch.arange(x.shape[d] - 1, -1, -1, device=x.device))


@rule(
    exact="bitwise",
    where=[
        at_least_rank("x", 1),
        dim_of("d", "x"),
        contiguous("x"),
        when("a true shift", lambda x, k, d: x.shape[d.value] > 0 and k.value % x.shape[d.value], "x", "k", "d"),
    ],
)
def roll_is_cat(x, k: Int, d: Int):
    """``roll(x, k, d)`` puts the tail in front."""
    return (
        torch.roll(x, shifts=k, dims=d),
        torch.cat((x.narrow(d, -k % x.shape[d], k % x.shape[d]), x.narrow(d, 0, -k % x.shape[d])), dim=d),
    )


@rule(exact="bitwise", where=[rank("x", 1, 2)], both_ways=True)
def repeat_is_tile(x, n: Int, m: Int):
    """``x.repeat(n, m)`` is ``tile(x, (n, m))``."""
    return x.repeat(n, m), torch.tile(x, (n, m))


@rule(exact="bitwise", both_ways=True)
def expand_as_is_broadcast_to(x, y):
    """``x.expand_as(y)`` is ``broadcast_to(x, y.shape)``."""
    return x.expand_as(y), torch.broadcast_to(x, y.shape)


@rule(exact="bitwise", where=[same_dtype("x", "y"), contiguous("x", "y")])
def add_broadcast_explicitly(x, y):
    """``x + y`` with both expanded to the common shape first."""
    return x + y, torch.add(*torch.broadcast_tensors(x, y))


@rule(exact="bitwise", where=[real("x", "y"), same_dtype("x", "y"), contiguous("x", "y")])
def mul_broadcast_explicitly(x, y):
    """``x * y`` with both expanded to the common shape first."""
    return x * y, torch.mul(*torch.broadcast_tensors(x, y))


@rule(
    exact="bitwise",
    where=[
        at_least_rank("x", 1),
        dim_of("d", "x"),
        contiguous("x"),
        when("not negative", lambda k: k.value >= 0, "k"),
    ],
)
def repeat_interleave_is_index(x, k: Int, d: Int):
    """``repeat_interleave`` selects each index k times."""
    return (
        torch.repeat_interleave(x, k, dim=d),
        x.index_select(d, torch.arange(x.shape[d], device=x.device).unsqueeze(1).expand(-1, k).reshape(-1)),
    )


@rule(
    exact="bitwise",
    where=[
        at_least_rank("x", 1),
        contiguous("x"),
        when("no negative padding", lambda a, b: a.value >= 0 and b.value >= 0, "a", "b"),
    ],
)
def pad_is_cat(x, a: Int, b: Int):
    """Padding the last dimension with zeros concatenates zeros."""
    return (
        F.pad(x, (a, b)),
        torch.cat((x.new_zeros(*x.shape[:-1], a), x, x.new_zeros(*x.shape[:-1], b)), dim=-1),
    )


@rule(exact="bitwise", where=[rank("x", 2), real("x"), contiguous("x")])
def tril_is_where(x):
    """``tril(x)`` keeps what is not above the diagonal."""
    return (
        torch.tril(x),
        torch.where(
            torch.arange(x.shape[0], device=x.device).unsqueeze(1) >= torch.arange(x.shape[1], device=x.device), x, 0
        ),
    )


@rule(exact="bitwise", where=[floating("x"), no_negative_zero("x"), contiguous("x"), unmutated("x")])
def sum_of_unsqueezed(x):
    """``x`` summed over a new dimension of size one."""
    return x, x.unsqueeze(-1).sum(-1)
