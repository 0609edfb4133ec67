"""Calls of NumPy that move the elements of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.numpy.numpy_calls import PLAIN, arrays, numpy_call
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Dim, Range, Spec, UnsatisfiableSpec, nonempty


def _moved(
    name: str, *calls: str, rank: tuple[int, int] = (1, 4), view: bool = False, dtypes: Iterable[str] = PLAIN
) -> Callable[[Callable[[Draw, Spec], Needs]], Callable[[Draw, Spec], Needs]]:
    """Declare an operator that moves elements, for every dtype."""
    return numpy_call(name, *arrays(*calls), dtypes=(*dtypes, "bool"), rank=rank, exact=True, view=view)


@_moved("numpy.transpose", "np.transpose({0}, {order})", "{0}.transpose({order})", rank=(2, 4), view=True)
def transpose(draw: Draw, out: Spec) -> Needs:
    """Axes permuted, sharing memory with the input."""
    order = draw.order(out.rank)
    size = [0] * out.rank
    for place, axis in enumerate(order):
        size[axis] = out.shape[place]
    return Needs(out.of(*size), order=order)


@_moved("numpy.T", "{0}.T", "np.swapaxes({0}, 0, 1)", "np.moveaxis({0}, 0, 1)", rank=(2, 2), view=True)
def transposed(draw: Draw, out: Spec) -> Needs:
    """A matrix transposed."""
    return Needs(out.of(*reversed(out.shape)))


@_moved("numpy.reshape", "np.reshape({0}, {size})", "{0}.reshape({size})", "np.ravel({0}).reshape({size})", view=True)
def reshape(draw: Draw, out: Spec) -> Needs:
    """The same elements in another shape."""
    first, *rest = nonempty(out).shape
    if rest:
        operand = out.of(first * rest[0], *rest[1:])
    else:
        operand = out.of(*draw.choice([(a, first // a) for a in (1, 2, 3) if first % a == 0]))
    return Needs(operand, size=out.shape)


@_moved("numpy.expand_dims", "np.expand_dims({0}, {axis})", "{0}[{before}None]", view=True, rank=(2, 4))
def expand_dims(draw: Draw, out: Spec) -> Needs:
    """A new axis of size one."""
    ones = [i for i, n in enumerate(out.shape) if not isinstance(n, Dim) and n == 1]
    axis = draw.choice(ones)
    return Needs(out.of(*out.shape[:axis], *out.shape[axis + 1 :]), axis=axis, before=":, " * axis)


@_moved("numpy.squeeze", "np.squeeze({0}, axis={axis})", "{0}.squeeze({axis})", view=True, rank=(1, 3))
def squeeze(draw: Draw, out: Spec) -> Needs:
    """Without an axis of size one."""
    axis = draw.integer(0, out.rank)
    return Needs(out.of(*out.shape[:axis], 1, *out.shape[axis:]), axis=axis)


@_moved("numpy.flip", "np.flip({0}, {axis}).copy()", "np.flip({0}, axis={axis}).copy()")
def flip(draw: Draw, out: Spec) -> Needs:
    """Reversed along an axis."""
    return Needs(out.free(), axis=draw.axis(out))


@_moved("numpy.roll", "np.roll({0}, {shift}, axis={axis})")
def roll(draw: Draw, out: Spec) -> Needs:
    """Rotated along an axis."""
    return Needs(nonempty(out), shift=draw.integer(-3, 3), axis=draw.axis(out))


@_moved("numpy.tile", "np.tile({0}, {k})", rank=(1, 3))
def tile(draw: Draw, out: Spec) -> Needs:
    """Repeated along the last axis."""
    k = draw.choice([k for k in (1, 2, 3) if out.shape[-1] % k == 0])
    return Needs(nonempty(out).of(*out.shape[:-1], out.shape[-1] // k), k=k)


@_moved("numpy.repeat", "np.repeat({0}, {k}, axis={axis})", "{0}.repeat({k}, axis={axis})", rank=(1, 3))
def repeat(draw: Draw, out: Spec) -> Needs:
    """Each element repeated."""
    axis = draw.axis(nonempty(out))
    k = draw.choice([k for k in (1, 2, 3) if out.shape[axis] % k == 0])
    return Needs(out.of(*out.shape[:axis], out.shape[axis] // k, *out.shape[axis + 1 :]), k=k, axis=axis)


@_moved("numpy.concatenate", "np.concatenate([{0}, {1}], axis={axis})", "np.concatenate(({0}, {1}), {axis})")
def concatenate(draw: Draw, out: Spec) -> Needs:
    """Joined along an axis."""
    axis = draw.axis(out)
    parts = draw.split(out.shape[axis], 2)
    return Needs(*(out.of(*out.shape[:axis], n, *out.shape[axis + 1 :]) for n in parts), axis=axis)


@_moved("numpy.stack", "np.stack([{0}, {1}], axis={axis})", "np.stack(({0}, {1}), {axis})", rank=(2, 4))
def stack(draw: Draw, out: Spec) -> Needs:
    """Joined along a new axis."""
    axis = draw.choice([i for i, n in enumerate(out.shape) if not isinstance(n, Dim) and n == 2])
    part = out.of(*out.shape[:axis], *out.shape[axis + 1 :])
    return Needs(part, part, axis=axis)


@_moved("numpy.vstack", "np.vstack([{0}, {1}])", "np.vstack(({0}, {1}))", rank=(2, 3))
def vstack(draw: Draw, out: Spec) -> Needs:
    """Concatenated along the first axis."""
    a, b = draw.split(out.shape[0], 2)
    return Needs(out.of(a, *out.shape[1:]), out.of(b, *out.shape[1:]))


@_moved("numpy.slice", "{0}[{start}:]", "{0}[{start}:, ...]", "{0}[{start}:].copy()", view=True)
def slice_(draw: Draw, out: Spec) -> Needs:
    """A basic slice, sharing memory with the input."""
    start = draw.integer(1, 3)
    return Needs(out.of(out.shape[0] + start, *out.shape[1:]), start=start)


@_moved("numpy.take", "np.take({0}, {1}, axis=0)", "{0}[{1}]", "{0}.take({1}, axis=0)", rank=(1, 3))
def take(draw: Draw, out: Spec) -> Needs:
    """Rows, by index."""
    rows = draw.integer(1, 8)
    where = Spec(out.shape[:1], "int64", exact=True, below=rows, finite=True)
    return Needs(out.of(rows, *out.shape[1:]), where, values=lambda x, i: x)


@_moved("numpy.tril", "np.tril({0})", "np.triu({0}, {k})", rank=(2, 2), dtypes=("float32", "float64", "int64"))
def triangle(draw: Draw, out: Spec) -> Needs:
    """A triangle of a matrix, zeros elsewhere."""
    if out.dtype == "bool":
        raise UnsatisfiableSpec("numbers only")
    return Needs(out.free(), values=lambda x: x.over(Range(0, 0, exact=True)), k=draw.integer(-1, 1))
