"""Operators that move data or look at it in another shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from eqfuzz.generate.dag.draw import Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.spec import BOOL, EVERY, REAL, Dim, Range, Spec, Unfit

MOST = 8192
"""Elements that an input may have."""

ZERO = Range(0, 0, exact=True)

copy_of = partial(operator, dtypes=EVERY, family="shapes", exact=True, saves=False)
view_of = partial(operator, dtypes=EVERY, family="shapes", exact=True, saves=False, view=True)
fixed_view_of = partial(operator, dtypes=EVERY, family="shapes", exact=True, saves=False, view=True, written=False)


def listed_sizes(numbers: Sequence[object]) -> str:
    return ", ".join(str(n) for n in numbers)


def small(spec: Spec) -> Spec:
    """The spec. Raises Unfit where it has too many elements, or dimensions."""
    if spec.numel > MOST or spec.rank > 6:
        raise Unfit("too large")
    return spec


def with_axis(size: Sequence[int], axis: int, *n: int) -> tuple[int, ...]:
    """``size`` with other sizes in place of that of one axis."""
    return (*size[:axis], *n, *size[axis + 1 :])


def _times(a: int, b: int) -> int:
    """The product; of sizes that change, only where the other is 1."""
    if a == 1:
        return b
    return a if b == 1 else a * b


def factors(draw: Draw, n: int) -> tuple[int, int]:
    """Two sizes with this product."""
    if isinstance(n, Dim) or n == 0:
        return draw.choice(((n, 1), (1, n)))
    first = draw.choice([k for k in range(1, n + 1) if n % k == 0])
    return first, n // first


def _regrouped(draw: Draw, size: Sequence[int]) -> tuple[int, ...]:
    """Another size with as many elements."""
    now = list(size)
    for _ in range(draw.choice((1, 1, 2, 3))):
        kind = draw.choice(("merge", "split", "swap", "one", "none"))
        if kind == "merge" and len(now) > 1:
            axis = draw.integer(0, len(now) - 2)
            pair = now[axis : axis + 2]
            if 1 in pair or not any(isinstance(n, Dim) for n in pair):
                now[axis : axis + 2] = [_times(*pair)]
        elif kind == "split" and now and len(now) < 5:
            axis = draw.integer(0, len(now) - 1)
            now[axis : axis + 1] = factors(draw, now[axis])
        elif kind == "swap" and len(now) > 1:
            axis = draw.integer(0, len(now) - 2)
            now[axis], now[axis + 1] = now[axis + 1], now[axis]
        elif kind == "one" and len(now) < 5:
            now.insert(draw.integer(0, len(now)), 1)
        elif kind == "none" and 1 in now:
            now.remove(1)
    return tuple(now)


def _shape(draw: Draw, size: tuple[int, ...], given: tuple[int, ...]) -> str:
    """A size as an argument: with names, sizes of the input, or -1 in place of one of them."""
    if not size:
        return "()"
    written: list[object] = list(size)
    axis = draw.integer(0, len(size) - 1)
    if draw.chance(0.4) and all(n > 0 for i, n in enumerate(size) if i != axis):
        written[axis] = -1
    for i, n in enumerate(size):
        if isinstance(n, Dim) and n in given and written[i] != -1 and draw.chance(0.3):
            written[i] = f"{{0}}.shape[{given.index(n)}]"
    return f"({listed_sizes(written)},)" if draw.chance(0.6) else listed_sizes(written)


@view_of("torch.reshape", dense=True, weight=3)
def reshape(draw: Draw, out: Spec) -> Needs:
    """Axes merged, split or swapped in the size; -1 for one of them at times."""
    size = _regrouped(draw, out.shape)
    written = _shape(draw, out.shape, size)
    forms = [f"{{0}}.reshape({written})"]
    if written.startswith("("):
        forms += [f"torch.reshape({{0}}, {written})", f"torch.reshape({{0}}, shape={written})"]
    return Needs(out.of(*size), spellings=forms)


@view_of("torch.Tensor.view", dense=True, weight=2)
def view(draw: Draw, out: Spec) -> Needs:
    """Of contiguous tensors."""
    size = _regrouped(draw, out.shape)
    return Needs(out.of(*size).dense(), spellings=[f"{{0}}.view({_shape(draw, out.shape, size)})"])


for _name in ("view_as", "reshape_as"):

    @view_of(f"torch.Tensor.{_name}", f"{{0}}.{_name}({{1}})", dense=True)
    def like_another(draw: Draw, out: Spec) -> Needs:
        """In the shape of another tensor."""
        return Needs(out.of(*_regrouped(draw, out.shape)).dense(), out.free(), values=lambda x, y: x)


@view_of("torch.Tensor.view.same", dense=True)
def same_view(draw: Draw, out: Spec) -> Needs:
    """The same once more, sharing its memory."""
    forms = ["{0}[...]", "{0}.view_as({0})", "{0}.reshape({0}.shape)", "{0}.expand_as({0})", "{0}.expand({0}.size())"]
    if out.rank:
        forms += ["{0}[:]", "{0}[..., :]", "{0}.transpose(0, -1).transpose(0, -1)"]
    return Needs(out.free(), spellings=forms)


@view_of("torch.flatten", dense=True, rank=(1, 5))
def flatten(draw: Draw, out: Spec) -> Needs:
    """Two or three axes made one."""
    axis = draw.axis(out)
    parts = list(factors(draw, out.shape[axis]))
    if draw.chance(0.3) and out.rank < 4:
        parts[1:] = factors(draw, parts[1])
    end = draw.spelled(axis + len(parts) - 1, out.rank + len(parts) - 1)
    forms = ["torch.flatten({0}, {start}, {end})", "{0}.flatten({start}, {end})"]
    forms += ["torch.flatten({0}, start_dim={start}, end_dim={end})"]
    if end == out.rank + len(parts) - 2 or end == -1:
        forms += ["{0}.flatten({start})", "torch.flatten({0}, start_dim={start})"]
    return Needs(small(out.of(*with_axis(out.shape, axis, *parts))), spellings=forms, start=axis, end=end)


@view_of("torch.ravel", "torch.ravel({0})", "{0}.ravel()", "{0}.flatten()", "{0}.reshape(-1)", dense=True, rank=(1, 1))
def ravel(draw: Draw, out: Spec) -> Needs:
    """All axes made one."""
    parts = factors(draw, out.shape[0])
    if draw.chance(0.5):
        parts = (parts[0], *factors(draw, parts[1]))
    return Needs(out.of(*parts))


@view_of("torch.unflatten", dense=True, rank=(2, 5))
def unflatten(draw: Draw, out: Spec) -> Needs:
    """One axis made two; the size of one may be left to be found."""
    axis = draw.integer(0, out.rank - 2)
    a, b = out.shape[axis : axis + 2]
    size = (*out.shape[:axis], _times(a, b), *out.shape[axis + 2 :])
    sizes = draw.choice([(a, b), *([(-1, b)] if b > 0 else []), *([(a, -1)] if a > 0 else [])])
    forms = ["torch.unflatten({0}, {dim}, {sizes})", "{0}.unflatten({dim}, {sizes})"]
    return Needs(out.of(*size), spellings=forms, dim=draw.spelled(axis, out.rank - 1), sizes=sizes)


@view_of("torch.squeeze", dense=True, rank=(0, 4))
def squeeze(draw: Draw, out: Spec) -> Needs:
    """Axes of size 1 taken away: all, one, or two of them."""
    axis = draw.integer(0, out.rank)
    size = (*out.shape[:axis], 1, *out.shape[axis:])
    forms = ["torch.squeeze({0}, {dim})", "{0}.squeeze({dim})", "torch.squeeze({0}, dim={dim})"]
    if all(n != 1 for n in out.shape):
        forms += ["torch.squeeze({0})", "{0}.squeeze()"]
    if draw.chance(0.2) and out.rank < 4:
        other = draw.integer(axis, out.rank)
        size = (*size[: other + 1], 1, *size[other + 1 :])
        forms = [f"torch.squeeze({{0}}, ({{dim}}, {other + 1}))", f"{{0}}.squeeze(({other + 1}, {{dim}}))"]
        return Needs(out.of(*size), spellings=forms, dim=axis)
    return Needs(out.of(*size), spellings=forms, dim=draw.spelled(axis, out.rank + 1))


def _axis_of_one(draw: Draw, out: Spec) -> int:
    return draw.choice([i for i, n in enumerate(out.shape) if n == 1])


@view_of("torch.unsqueeze", dense=True, rank=(1, 5))
def unsqueeze(draw: Draw, out: Spec) -> Needs:
    """A new axis of size 1; also written as an index."""
    axis = _axis_of_one(draw, out)
    forms = ["torch.unsqueeze({0}, {dim})", "{0}.unsqueeze({dim})", f"{{0}}[{':, ' * axis}None]"]
    if axis == out.rank - 1:
        forms += ["{0}[..., None]", "{0}.unsqueeze(-1)", "{0}[..., None]"]
    return Needs(out.of(*with_axis(out.shape, axis)), spellings=forms, dim=draw.spelled(axis, out.rank))


for _name in ("transpose", "swapaxes", "swapdims"):

    @view_of(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{first}}, {{second}})",
        f"{{0}}.{_name}({{first}}, {{second}})",
        rank=(1, 5),
    )
    def transpose(draw: Draw, out: Spec) -> Needs:
        """Two axes change places."""
        first, second = draw.axis(out), draw.axis(out)
        size = list(out.shape)
        size[first], size[second] = size[second], size[first]
        return Needs(out.of(*size), first=draw.spelled(first, out.rank), second=draw.spelled(second, out.rank))


@view_of("torch.t", "torch.t({0})", "{0}.t()", rank=(0, 2))
def t(draw: Draw, out: Spec) -> Needs:
    """The transpose of a matrix; vectors stay as they are."""
    return Needs(out.of(*reversed(out.shape)))


@view_of("torch.Tensor.mT", "{0}.mT", "torch.transpose({0}, -2, -1)", "{0}.transpose(-1, -2)", rank=(2, 5))
def matrix_transpose(draw: Draw, out: Spec) -> Needs:
    """The last two axes change places."""
    return Needs(out.of(*out.shape[:-2], out.shape[-1], out.shape[-2]))


@view_of("torch.adjoint", "torch.adjoint({0})", "{0}.adjoint()", "{0}.mH", rank=(2, 5))
def adjoint(draw: Draw, out: Spec) -> Needs:
    """The transpose, conjugated."""
    given = out.of(*out.shape[:-2], out.shape[-1], out.shape[-2])
    return Needs(given, values=lambda x: Range(-x.most, x.most, x.exact) if out.is_complex else x)


@view_of("torch.permute", "torch.permute({0}, {dims})", "{0}.permute({dims})", "{0}.permute({listed})", rank=(1, 5))
def permute(draw: Draw, out: Spec) -> Needs:
    """The axes in another order."""
    order = draw.order(out.rank)
    size = [0] * out.rank
    for i, axis in enumerate(order):
        size[axis] = out.shape[i]
    dims = tuple(draw.spelled(axis, out.rank) for axis in order)
    return Needs(out.of(*size), dims=dims, listed=listed_sizes(dims))


for _name in ("movedim", "moveaxis"):

    @view_of(
        f"torch.{_name}", f"torch.{_name}({{0}}, {{source}}, {{to}})", f"{{0}}.{_name}({{source}}, {{to}})", rank=(1, 5)
    )
    def movedim(draw: Draw, out: Spec) -> Needs:
        """One axis, or two, to other places."""
        if out.rank > 1 and draw.chance(0.3):
            first, second = draw.order(out.rank)[:2]
            size = list(out.shape)
            size[first], size[second] = size[second], size[first]
            return Needs(out.of(*size), source=(first, second), to=(second, first))
        source, to = draw.axis(out), draw.axis(out)
        size = list(out.shape)
        size.insert(source, size.pop(to))
        return Needs(out.of(*size), source=draw.spelled(source, out.rank), to=draw.spelled(to, out.rank))


def _shrunk(draw: Draw, out: Spec) -> tuple[int, ...]:
    """A size that expands to that asked for, without its first axes at times."""
    size = tuple(1 if draw.chance(0.45) else n for n in out.shape)
    return size[draw.integer(0, out.rank) :] if draw.chance(0.3) else size


@fixed_view_of("torch.Tensor.expand", rank=(1, 5), weight=2)
def expand(draw: Draw, out: Spec) -> Needs:
    """Axes of size 1 repeated without a copy; -1 leaves one as it is."""
    size = _shrunk(draw, out)
    new = out.rank - len(size)
    kept = [-1 if i >= new and size[i - new] == n and draw.chance(0.5) else n for i, n in enumerate(out.shape)]
    return Needs(
        out.of(*size),
        spellings=["{0}.expand({sizes})", "{0}.expand({listed})"],
        sizes=tuple(kept),
        listed=listed_sizes(kept),
    )


@fixed_view_of("torch.Tensor.expand_as", "{0}.expand_as({1})", rank=(1, 5))
def expand_as(draw: Draw, out: Spec) -> Needs:
    """Expanded to the size of another tensor."""
    return Needs(out.of(*_shrunk(draw, out)), out.free(), values=lambda x, y: x)


@fixed_view_of("torch.broadcast_to", "torch.broadcast_to({0}, {size})", "{0}.broadcast_to({size})", rank=(1, 5))
def broadcast_to(draw: Draw, out: Spec) -> Needs:
    """Expanded to a size."""
    return Needs(out.of(*_shrunk(draw, out)), size=out.shape)


@fixed_view_of(
    "torch.broadcast_tensors",
    "torch.broadcast_tensors({0}, {1})[0]",
    "torch.broadcast_tensors({1}, {0})[1]",
    rank=(1, 5),
)
def broadcast_tensors(draw: Draw, out: Spec) -> Needs:
    """One of two tensors that are broadcast against each other."""
    return Needs(out.of(*_shrunk(draw, out)), out.free(), values=lambda x, y: x)


@fixed_view_of("torch.meshgrid", rank=(2, 3))
def meshgrid(draw: Draw, out: Spec) -> Needs:
    """The coordinates of a grid along one of its axes."""
    axis = draw.axis(out)
    order = [axis, *(i for i in range(out.rank) if i != axis)]
    names = ", ".join(f"{{{order.index(i)}}}" for i in range(out.rank))
    forms = [f'torch.meshgrid({names}, indexing="ij")[{axis}]']
    inputs = [out.of(out.shape[i]) for i in order]
    if out.rank == 2:
        swapped = ", ".join(f"{{{order.index(i)}}}" for i in (1, 0))
        forms += [f'torch.meshgrid({swapped}, indexing="xy")[{1 - axis}]']
    return Needs(*inputs, values=lambda x, *others: x, spellings=forms)


for _name in ("repeat", "tile"):

    @copy_of(f"torch.{_name}", rank=(1, 5))
    def repeat(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Copies side by side, in new axes at times."""
        times: list[int] = []
        size: list[int] = []
        new = draw.integer(0, out.rank) if draw.chance(0.3) else 0
        for i, n in enumerate(out.shape):
            if i < new:
                times.append(n)
                continue
            count = (
                n
                if draw.chance(0.15)
                else 1
                if isinstance(n, Dim) or n == 0
                else draw.choice([k for k in (1, 1, 2, 3, 4) if n % k == 0])
            )
            times.append(count)
            size.append(1 if count == n else n if count == 1 else n // count)
        forms = ["{0}.tile({times})", "torch.tile({0}, {times})"]
        if _name == "repeat":
            forms = ["{0}.repeat({times})", "{0}.repeat({listed})"]
        return Needs(out.of(*size), spellings=forms, times=tuple(times), listed=listed_sizes(times))


@copy_of(
    "torch.repeat_interleave",
    "torch.repeat_interleave({0}, {times}, dim={dim})",
    "{0}.repeat_interleave({times}, {dim})",
    rank=(1, 5),
)
def repeat_interleave(draw: Draw, out: Spec) -> Needs:
    """Each element several times, one after the other."""
    axis = draw.axis(out)
    n = out.shape[axis]
    if draw.chance(0.2) and n > 0:
        return Needs(out.of(*with_axis(out.shape, axis, 1)), times=n, dim=draw.spelled(axis, out.rank))
    times = draw.choice([k for k in (1, 2, 2, 3, 4) if n % k == 0])
    return Needs(out.of(*with_axis(out.shape, axis, n // times)), times=times, dim=draw.spelled(axis, out.rank))


@copy_of("torch.flip", "torch.flip({0}, {dims})", "{0}.flip({dims})", "{0}.flip({listed})", rank=(1, 5))
def flip(draw: Draw, out: Spec) -> Needs:
    """Backwards along some axes."""
    dims = tuple(draw.spelled(axis, out.rank) for axis in draw.axes(out))
    return Needs(out.free(), dims=dims, listed=listed_sizes(dims))


for _name, _rank in (("fliplr", 2), ("flipud", 1)):

    @copy_of(f"torch.{_name}", f"torch.{_name}({{0}})", f"{{0}}.{_name}()", rank=(_rank, 5))
    def flip_one(draw: Draw, out: Spec) -> Needs:
        """Backwards along the first axis, or the second."""
        return Needs(out.free())


@copy_of("torch.roll", rank=(1, 5))
def roll(draw: Draw, out: Spec) -> Needs:
    """Moved round along axes, or as if there was but one."""
    if draw.chance(0.2):
        return Needs(out.free(), spellings=["torch.roll({0}, {by})", "{0}.roll({by})"], by=draw.integer(-5, 5))
    dims = draw.axes(out)[:2]
    by = tuple(draw.integer(-4, 4) for _ in dims)
    forms = ["torch.roll({0}, {by}, {dims})", "{0}.roll({by}, {dims})", "torch.roll({0}, shifts={by}, dims={dims})"]
    if len(dims) == 1:
        return Needs(out.free(), spellings=forms, by=by[0], dims=draw.spelled(dims[0], out.rank))
    return Needs(out.free(), spellings=forms, by=by, dims=dims)


@view_of("torch.rot90", "torch.rot90({0}, {times}, {dims})", "{0}.rot90({times}, {dims})", rank=(2, 5))
def rot90(draw: Draw, out: Spec) -> Needs:
    """Turned in a plane; not contiguous where that swaps the axes."""
    first, second = draw.order(out.rank)[:2]
    times = draw.integer(-1, 3)
    size = list(out.shape)
    if times % 2:
        size[first], size[second] = size[second], size[first]
    return Needs(out.of(*size), times=times, dims=(first, second))


# The same once more


@view_of(
    "torch.Tensor.contiguous", "{0}.contiguous()", "{0}.contiguous(memory_format=torch.contiguous_format)", dense=True
)
def contiguous(draw: Draw, out: Spec) -> Needs:
    """The same where it is contiguous already, a copy otherwise."""
    return Needs(out.free())


@view_of(
    "torch.Tensor.contiguous.channels_last",
    "{0}.contiguous(memory_format=torch.channels_last)",
    "{0}.to(memory_format=torch.channels_last)",
    rank=(4, 4),
)
def channels_last(draw: Draw, out: Spec) -> Needs:
    """With the channels next to each other in memory."""
    return Needs(out.free())


@copy_of(
    "torch.clone", "torch.clone({0})", "{0}.clone()", "{0}.clone(memory_format=torch.contiguous_format)", noun="copy"
)
def clone(draw: Draw, out: Spec) -> Needs:
    """A copy."""
    return Needs(out.free())


for _name in ("conj", "neg"):

    @view_of(f"torch.resolve_{_name}", f"torch.resolve_{_name}({{0}})", f"{{0}}.resolve_{_name}()", dense=True)
    def resolve(draw: Draw, out: Spec) -> Needs:
        """The same, with a lazy conjugation or negation done."""
        return Needs(out.free())


for _rank in (1, 2, 3):

    @view_of(f"torch.atleast_{_rank}d", f"torch.atleast_{_rank}d({{0}})", dense=True, rank=(_rank, 5))
    def atleast(draw: Draw, out: Spec, _rank: int = _rank) -> Needs:
        """With axes of size 1 where there are too few."""
        size = out.shape
        if out.rank == _rank and draw.chance(0.7):
            if all(n == 1 for n in size):
                size = ()
            elif _rank == 2 and size[0] == 1:
                size = size[1:]
            elif _rank == 3 and size[2] == 1:
                size = size[1:2] if size[0] == 1 and draw.chance(0.5) else size[:2]
        return Needs(out.of(*size))


# Views that are copied


@copy_of("torch.expand_copy", "torch.expand_copy({0}, {size})", rank=(1, 5))
def expand_copy(draw: Draw, out: Spec) -> Needs:
    """Expanded, in memory of its own."""
    return Needs(out.of(*_shrunk(draw, out)), size=out.shape)


@copy_of("torch.view_copy", "torch.view_copy({0}, {size})")
def view_copy(draw: Draw, out: Spec) -> Needs:
    """In another shape, in memory of its own."""
    return Needs(out.of(*_regrouped(draw, out.shape)).dense(), size=out.shape)


@copy_of("torch.transpose_copy", "torch.transpose_copy({0}, {first}, {second})", rank=(1, 5))
def transpose_copy(draw: Draw, out: Spec) -> Needs:
    """Two axes change places, in memory of its own."""
    first, second = draw.axis(out), draw.axis(out)
    size = list(out.shape)
    size[first], size[second] = size[second], size[first]
    return Needs(out.of(*size), first=first, second=second)


@copy_of("torch.unsqueeze_copy", "torch.unsqueeze_copy({0}, {dim})", rank=(1, 5))
def unsqueeze_copy(draw: Draw, out: Spec) -> Needs:
    """A new axis of size 1, in memory of its own."""
    axis = _axis_of_one(draw, out)
    return Needs(out.of(*with_axis(out.shape, axis)), dim=axis)


@copy_of("torch.slice_copy", "torch.slice_copy({0}, {dim}, {start}, {end}, {step})", dtypes=REAL + BOOL, rank=(1, 5))
def slice_copy(draw: Draw, out: Spec) -> Needs:
    """A slice, in memory of its own."""
    axis = draw.axis(out)
    n, start, step = out.shape[axis], draw.integer(0, 2), draw.choice((1, 2, 3))
    if n == 0:
        raise Unfit("an empty slice")
    length = start + (n - 1) * step + 1
    return Needs(small(out.of(*with_axis(out.shape, axis, length))), dim=axis, start=start, end=length, step=step)
