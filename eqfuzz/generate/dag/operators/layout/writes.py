"""Operators that write to a part of a tensor, by index or by mask."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.sizes import small, with_axis
from eqfuzz.generate.dag.values.spec import (
    BOOL,
    EVERY,
    FLOATS,
    NUMBERS,
    REAL,
    SIGNED,
    Dim,
    Range,
    Spec,
    UnsatisfiableSpec,
    index,
)

_indexed = partial(operator, family="indexing")


_writes = partial(_indexed, dtypes=EVERY, exact=True)


def _either(x: Range, i: Range, y: Range) -> Range:
    """The range of a tensor that is partly overwritten; the second input is an index."""
    return x.over(y)


def _key(*size: int) -> Spec:
    """Integers whose stable argsort is the permutation."""
    return Spec(tuple(size), "int64", exact=True)


def _number(draw: Draw, out: Spec) -> tuple[float | int | bool, Range]:
    """A literal of the dtype of ``out``, and its range."""
    if out.dtype == "bool":
        return draw.chance(0.5), Range(0, 1, exact=True)
    number = draw.number(out.exactly(), 0 if out.dtype == "uint8" else -2, 3)
    low, high = (min(number, 0), max(number, 0)) if out.is_complex else (number, number)
    return float(number) if out.is_float else number, Range(low, high, exact=True)


@_writes(
    "torch.scatter",
    "torch.scatter({0}, {dim}, torch.argsort({1}, dim={dim}, stable=True), {2})",
    "{0}.scatter({dim}, {1}.argsort(dim={dim}, stable=True), {2})",
    rank=(1, 5),
    saves=False,
    inplace=["{0}.scatter_({dim}, torch.argsort({1}, dim={dim}, stable=True), {2})"],
)
def scatter(draw: Draw, out: Spec) -> Needs:
    """Elements written to distinct positions along an axis."""
    axis = draw.axis(out)
    size = tuple(
        n if i == axis or isinstance(n, Dim) or draw.chance(0.8) else max(n - 1, 0) for i, n in enumerate(out.shape)
    )
    dim = draw.signed_axis(axis, out.rank)
    return Needs(out.free(), _key(*size), out.of(*size), values=_either, dim=dim)


@_writes(
    "torch.scatter.value",
    "torch.scatter({0}, {dim}, {1}, {value})",
    "{0}.scatter({dim}, {1}, {value})",
    rank=(1, 5),
    inplace=["{0}.scatter_({dim}, {1}, {value})"],
)
def scatter_value(draw: Draw, out: Spec) -> Needs:
    """A number written to some positions along an axis."""
    axis = draw.axis(out)
    number, number_range = _number(draw, out)
    indices = index(with_axis(out.shape, axis, draw.size(5)), out.shape[axis])
    return Needs(
        out.free(),
        indices,
        values=lambda x, i: x.over(number_range),
        dim=draw.signed_axis(axis, out.rank),
        value=number,
    )


@_indexed(
    "torch.scatter_add",
    "torch.scatter_add({0}, {dim}, {1}, {2})",
    "{0}.scatter_add({dim}, {1}, {2})",
    dtypes=NUMBERS,
    rank=(1, 5),
    exact=True,
    inplace=["{0}.scatter_add_({dim}, {1}, {2})"],
)
def scatter_add(draw: Draw, out: Spec) -> Needs:
    """Elements added at positions along an axis, which may repeat."""
    axis = draw.axis(out)
    count = draw.size(5)
    size = with_axis(out.shape, axis, count)
    more = size if out.is_float or out.is_complex else with_axis(size, axis, count + draw.choice((0, 0, 1)))
    inputs = out.free(), index(size, out.shape[axis]), small(out.of(*more))
    return Needs(*inputs, values=lambda x, i, y: x + y.times(count), dim=draw.signed_axis(axis, out.rank))


@_indexed(
    "torch.scatter_reduce",
    'torch.scatter_reduce({0}, {dim}, {1}, {2}, reduce="{how}", include_self={own})',
    '{0}.scatter_reduce({dim}, {1}, {2}, "{how}", include_self={own})',
    dtypes=REAL,
    rank=(1, 5),
    exact=True,
    inplace=['{0}.scatter_reduce_({dim}, {1}, {2}, reduce="{how}", include_self={own})'],
)
def scatter_reduce(draw: Draw, out: Spec) -> Needs:
    """Elements combined at positions along an axis: sum, mean, or an extreme."""
    axis = draw.axis(out)
    count = draw.size(5)
    how = draw.choice(("sum", "amax", "amin", *(["mean"] if out.is_float and not out.exact else [])))
    size = with_axis(out.shape, axis, count)
    inputs = out.free(), index(size, out.shape[axis]), small(out.of(*size))

    def values(x: Range, i: Range, y: Range) -> Range:
        if how == "sum":
            return x.over(x + y.times(count), y.times(count))
        return x.over(y).inexact() if how == "mean" else x.over(y)

    return Needs(*inputs, values=values, dim=axis, how=how, own=draw.chance(0.6))


@_indexed(
    "torch.index_add",
    "torch.index_add({0}, {dim}, {1}, {2}, alpha={alpha})",
    "{0}.index_add({dim}, {1}, {2}, alpha={alpha})",
    dtypes=NUMBERS,
    rank=(1, 5),
    exact=True,
    inplace=["{0}.index_add_({dim}, {1}, {2}, alpha={alpha})"],
)
def index_add(draw: Draw, out: Spec) -> Needs:
    """Slices added at positions of an axis, which may repeat."""
    axis, count = draw.axis(out), draw.size(5)
    alpha = draw.choice((1, 1, 2, *((-1,) if out.dtype in (*SIGNED, *FLOATS) else ())))
    number_range = Range(alpha, alpha, exact=True)
    inputs = out.free(), index((count,), out.shape[axis]), small(out.of(*with_axis(out.shape, axis, count)))
    dim = draw.signed_axis(axis, out.rank)
    values = lambda x, i, y: x + (y * number_range).times(count)  # noqa: E731
    if alpha == 1 and draw.chance(0.5):
        forms = ["torch.index_add({0}, {dim}, {1}, {2})", "{0}.index_add({dim}, {1}, {2})"]
        return Needs(*inputs, values=values, forms=forms, dim=dim)
    return Needs(*inputs, values=values, dim=dim, alpha=alpha)


@_writes(
    "torch.index_copy",
    "torch.index_copy({0}, {dim}, torch.argsort({1}, stable=True), {2})",
    "{0}.index_copy({dim}, {1}.argsort(stable=True), {2})",
    rank=(1, 5),
    inplace=["{0}.index_copy_({dim}, torch.argsort({1}, stable=True), {2})"],
)
def index_copy(draw: Draw, out: Spec) -> Needs:
    """Slices written to distinct positions of an axis."""
    axis = draw.axis(out)
    return Needs(out.free(), _key(out.shape[axis]), out.free(), values=_either, dim=draw.signed_axis(axis, out.rank))


@_writes(
    "torch.index_copy.some",
    "torch.index_copy({0}, {dim}, torch.tensor({places}), {1})",
    "{0}.index_copy({dim}, torch.tensor({places}), {1})",
    rank=(1, 5),
    inplace=["{0}.index_copy_({dim}, torch.tensor({places}), {1})"],
)
def index_copy_some(draw: Draw, out: Spec) -> Needs:
    """Slices written to some positions of an axis, which are literals."""
    axis, places = _places(draw, out)
    operand = out.of(*with_axis(out.shape, axis, len(places)))
    return Needs(out.free(), operand, dim=draw.signed_axis(axis, out.rank), places=places)


def _places(draw: Draw, out: Spec, axis: int | None = None) -> tuple[int, list[int]]:
    """An axis and distinct positions along it. Raises UnsatisfiableSpec for an empty axis."""
    axis = draw.axis(out) if axis is None else axis
    n = out.shape[axis]
    if n < 1:
        raise UnsatisfiableSpec("no places")
    bound = 3 if isinstance(n, Dim) else min(n, 12)
    return axis, draw.rng.sample(range(bound), draw.integer(1, min(bound, 4)))


@_writes(
    "torch.index_fill",
    "torch.index_fill({0}, {dim}, {1}, {value})",
    "{0}.index_fill({dim}, {1}, {value})",
    rank=(1, 5),
    inplace=["{0}.index_fill_({dim}, {1}, {value})"],
)
def index_fill(draw: Draw, out: Spec) -> Needs:
    """Some slices along an axis filled with a number."""
    axis = draw.axis(out)
    number, number_range = _number(draw, out)
    indices = index((draw.size(5),), out.shape[axis])
    return Needs(
        out.free(),
        indices,
        values=lambda x, i: x.over(number_range),
        dim=draw.signed_axis(axis, out.rank),
        value=number,
    )


@_writes(
    "torch.index_put",
    "torch.index_put({0}, (torch.tensor({places}),), {1})",
    "{0}.index_put((torch.tensor({places}),), {1})",
    rank=(1, 5),
    saves=False,
    inplace=["{0}[torch.tensor({places})] = {1}", "{0}[{places}] = {1}"],
)
def index_put(draw: Draw, out: Spec) -> Needs:
    """Slices, which may broadcast, written to some positions of the first axis, which are literals."""
    _, places = _places(draw, out, 0)
    operand = out.of(*with_axis(out.shape, 0, len(places)))
    return Needs(out.free(), draw.broadcast(operand), places=places)


@_writes(
    "torch.index_put.permuted",
    "torch.index_put({0}, (torch.argsort({1}, stable=True),), {2})",
    "{0}.index_put(({1}.argsort(stable=True),), {2})",
    rank=(1, 5),
    saves=False,
    inplace=["{0}[torch.argsort({1}, stable=True)] = {2}"],
)
def index_put_permuted(draw: Draw, out: Spec) -> Needs:
    """All slices along the first axis permuted."""
    return Needs(out.free(), _key(out.shape[0]), draw.broadcast(out).free(), values=_either)


@_indexed(
    "torch.index_put.accumulate",
    dtypes=NUMBERS,
    rank=(1, 4),
    exact=True,
)
def index_put_accumulate(draw: Draw, out: Spec) -> Needs:
    """Elements or slices added at positions of one or two indices, which may repeat."""
    count = draw.size(6)
    wide = draw.choice((1, 2)) if out.rank > 1 else 1
    indices = [index((count,), n) for n in out.shape[:wide]]
    operand = small(out.of(count, *out.shape[wide:]))
    if wide == 1:
        listed, last = "{1},", "{2}"
    else:
        listed, last = "{1}, {2}", "{3}"
    forms = [f"torch.index_put({{0}}, ({listed}), {last}, accumulate=True)"]
    forms += [f"{{0}}.index_put(({listed}), {last}, accumulate=True)"]
    return Needs(out.free(), *indices, operand, values=lambda x, *rest: x + rest[-1].times(count), forms=forms)


@_writes(
    "torch.Tensor.__setitem__.mask",
    "torch.index_put({0}, ({1},), torch.tensor({value}, dtype={0}.dtype))",
    "torch.where({1}, torch.tensor({value}, dtype={0}.dtype), {0})",
    rank=(1, 5),
    inplace=["{0}[{1}] = {value}", "{0}.masked_fill_({1}, {value})"],
)
def set_where(draw: Draw, out: Spec) -> Needs:
    """Filled with a number where a mask is true."""
    number, number_range = _number(draw, out)
    return Needs(out.free(), out.free().as_("bool"), values=lambda x, m: x.over(number_range), value=number)


@_writes(
    "torch.masked_scatter",
    "torch.masked_scatter({0}, {1}, {2})",
    "{0}.masked_scatter({1}, {2})",
    rank=(1, 5),
    inplace=["{0}.masked_scatter_({1}, {2})"],
)
def masked_scatter(draw: Draw, out: Spec) -> Needs:
    """Consecutive elements of a tensor written where a mask is true."""
    return Needs(out.free(), out.as_("bool"), out.free(), values=_either)


# The writes to parts that follow are of real numbers: autograd does not do them for complex ones.


def _part(draw: Draw, n: int) -> tuple[int, int, int, int]:
    """Start, end and step of a slice of size ``n``, and its length."""
    if isinstance(n, Dim):
        return 0, n, 1, n
    start = draw.integer(0, min(n, 3))
    end = draw.integer(start, n)
    step = draw.choice((1, 1, 2))
    return start, end, step, -(-(end - start) // step)


@_writes(
    "torch.slice_scatter",
    "torch.slice_scatter({0}, {1}, dim={dim}, start={start}, end={end}, step={step})",
    "{0}.slice_scatter({1}, {dim}, {start}, {end}, {step})",
    dtypes=REAL + BOOL,
    rank=(1, 5),
    saves=False,
    inplace=["{0}[{before}{start}:{end}:{step}] = {1}", "{0}[{before}{start}:{end}:{step}].copy_({1})"],
)
def slice_scatter(draw: Draw, out: Spec) -> Needs:
    """A slice of an axis replaced."""
    axis = draw.axis(out)
    start, end, step, count = _part(draw, out.shape[axis])
    operand = out.of(*with_axis(out.shape, axis, count))
    return Needs(out.free(), operand, dim=axis, start=start, end=end, step=step, before=":, " * axis)


@_writes(
    "torch.select_scatter",
    "torch.select_scatter({0}, {1}, {dim}, {place})",
    "{0}.select_scatter({1}, dim={dim}, index={place})",
    dtypes=REAL + BOOL,
    rank=(1, 5),
    saves=False,
    inplace=["{0}.select({dim}, {place}).copy_({1})", "{0}[{before}{place}] = {1}"],
)
def select_scatter(draw: Draw, out: Spec) -> Needs:
    """One index of an axis replaced."""
    axis = draw.axis(out)
    n = out.shape[axis]
    if n < 1:
        raise UnsatisfiableSpec("no places")
    place = draw.integer(-1, min(int(n) - 1, 2))
    return Needs(out.free(), out.of(*with_axis(out.shape, axis)), dim=axis, place=place, before=":, " * axis)


@_writes(
    "torch.diagonal_scatter",
    "torch.diagonal_scatter({0}, {1}, {offset})",
    "{0}.diagonal_scatter({1}, {offset}, 0, 1)",
    dtypes=REAL + BOOL,
    rank=(2, 5),
    saves=False,
    inplace=["{0}.diagonal({offset}).copy_({1})"],
)
def diagonal_scatter(draw: Draw, out: Spec) -> Needs:
    """A diagonal replaced."""
    a, b = out.shape[:2]
    if isinstance(a, Dim) or isinstance(b, Dim):
        if a != b:
            raise UnsatisfiableSpec("the length of the diagonal changes")
        return Needs(out.free(), out.of(*out.shape[2:], a), offset=0)
    offset = draw.integer(-1, 1)
    length = max(0, min(a, b - offset) if offset >= 0 else min(a + offset, b))
    return Needs(out.free(), out.of(*out.shape[2:], length), offset=offset)


@_writes(
    "torch.Tensor.copy_",
    "torch.empty_like({0}).copy_({1})",
    "{0}.clone().copy_({1})",
    saves=False,
    inplace=["{0}.copy_({1})", "{0}[...] = {1}"],
)
def copy_(draw: Draw, out: Spec) -> Needs:
    """The values of another tensor, which may broadcast and have another dtype."""
    other = draw.broadcast(out).free()
    if out.is_float and draw.chance(0.2):
        other = other.as_(draw.choice(("float32", "int64", "bool")))
    return Needs(out.free(), other, values=lambda x, y: y)


@_indexed(
    "torch.Tensor.fill_diagonal_",
    "{0}.clone().fill_diagonal_({value})",
    dtypes=REAL,
    rank=(2, 2),
    exact=True,
    saves=False,
    inplace=["{0}.fill_diagonal_({value})"],
)
def fill_diagonal(draw: Draw, out: Spec) -> Needs:
    """The diagonal of a matrix filled with a number."""
    number, number_range = _number(draw, out)
    return Needs(out.free(), values=lambda x: x.over(number_range), value=number)
