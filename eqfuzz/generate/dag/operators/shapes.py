"""Operators that move data or look at it in another shape."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

from eqfuzz.generate.dag.draw import Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.spec import BOOL, EVERY, REAL, Dim, Range, Spec, Unfit

_MOST = 8192
"""Elements that an input may have."""

_ZERO = Range(0, 0, exact=True)

_copy = partial(operator, dtypes=EVERY, exact=True, saves=False)
_view = partial(operator, dtypes=EVERY, exact=True, saves=False, view=True)
_shared = partial(operator, dtypes=EVERY, exact=True, saves=False, view=True, written=False)


def _listed(numbers: Sequence[object]) -> str:
    return ", ".join(str(n) for n in numbers)


def _small(spec: Spec) -> Spec:
    if spec.numel > _MOST or spec.rank > 6:
        raise Unfit("too large")
    return spec


def _with(size: Sequence[int], axis: int, *n: int) -> tuple[int, ...]:
    """``size`` with other sizes in place of that of one axis."""
    return (*size[:axis], *n, *size[axis + 1 :])


def _times(a: int, b: int) -> int:
    """The product; of sizes that change, only where the other is 1."""
    if a == 1:
        return b
    return a if b == 1 else a * b


def _factors(draw: Draw, n: int) -> tuple[int, int]:
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
            now[axis : axis + 1] = _factors(draw, now[axis])
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
    return f"({_listed(written)},)" if draw.chance(0.6) else _listed(written)


@_view("torch.reshape", dense=True, weight=3)
def reshape(draw: Draw, out: Spec) -> Needs:
    """Axes merged, split or swapped in the size; -1 for one of them at times."""
    size = _regrouped(draw, out.shape)
    written = _shape(draw, out.shape, size)
    forms = [f"{{0}}.reshape({written})"]
    if written.startswith("("):
        forms += [f"torch.reshape({{0}}, {written})", f"torch.reshape({{0}}, shape={written})"]
    return Needs(out.of(*size), spellings=forms)


@_view("torch.Tensor.view", dense=True, weight=2)
def view(draw: Draw, out: Spec) -> Needs:
    """Of contiguous tensors."""
    size = _regrouped(draw, out.shape)
    return Needs(out.of(*size).dense(), spellings=[f"{{0}}.view({_shape(draw, out.shape, size)})"])


for _name in ("view_as", "reshape_as"):

    @_view(f"torch.Tensor.{_name}", f"{{0}}.{_name}({{1}})", dense=True)
    def like_another(draw: Draw, out: Spec) -> Needs:
        """In the shape of another tensor."""
        return Needs(out.of(*_regrouped(draw, out.shape)).dense(), out.free(), values=lambda x, y: x)


@_view("torch.Tensor.view.same", dense=True)
def same_view(draw: Draw, out: Spec) -> Needs:
    """The same once more, sharing its memory."""
    forms = ["{0}[...]", "{0}.view_as({0})", "{0}.reshape({0}.shape)", "{0}.expand_as({0})", "{0}.expand({0}.size())"]
    if out.rank:
        forms += ["{0}[:]", "{0}[..., :]", "{0}.transpose(0, -1).transpose(0, -1)"]
    return Needs(out.free(), spellings=forms)


@_view("torch.flatten", dense=True, rank=(1, 5))
def flatten(draw: Draw, out: Spec) -> Needs:
    """Two or three axes made one."""
    axis = draw.axis(out)
    parts = list(_factors(draw, out.shape[axis]))
    if draw.chance(0.3) and out.rank < 4:
        parts[1:] = _factors(draw, parts[1])
    end = draw.spelled(axis + len(parts) - 1, out.rank + len(parts) - 1)
    forms = ["torch.flatten({0}, {start}, {end})", "{0}.flatten({start}, {end})"]
    forms += ["torch.flatten({0}, start_dim={start}, end_dim={end})"]
    if end == out.rank + len(parts) - 2 or end == -1:
        forms += ["{0}.flatten({start})", "torch.flatten({0}, start_dim={start})"]
    return Needs(_small(out.of(*_with(out.shape, axis, *parts))), spellings=forms, start=axis, end=end)


@_view("torch.ravel", "torch.ravel({0})", "{0}.ravel()", "{0}.flatten()", "{0}.reshape(-1)", dense=True, rank=(1, 1))
def ravel(draw: Draw, out: Spec) -> Needs:
    """All axes made one."""
    parts = _factors(draw, out.shape[0])
    if draw.chance(0.5):
        parts = (parts[0], *_factors(draw, parts[1]))
    return Needs(out.of(*parts))


@_view("torch.unflatten", dense=True, rank=(2, 5))
def unflatten(draw: Draw, out: Spec) -> Needs:
    """One axis made two; the size of one may be left to be found."""
    axis = draw.integer(0, out.rank - 2)
    a, b = out.shape[axis : axis + 2]
    size = (*out.shape[:axis], _times(a, b), *out.shape[axis + 2 :])
    sizes = draw.choice([(a, b), *([(-1, b)] if b > 0 else []), *([(a, -1)] if a > 0 else [])])
    forms = ["torch.unflatten({0}, {dim}, {sizes})", "{0}.unflatten({dim}, {sizes})"]
    return Needs(out.of(*size), spellings=forms, dim=draw.spelled(axis, out.rank - 1), sizes=sizes)


@_view("torch.squeeze", dense=True, rank=(0, 4))
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


@_view("torch.unsqueeze", dense=True, rank=(1, 5))
def unsqueeze(draw: Draw, out: Spec) -> Needs:
    """A new axis of size 1; also written as an index."""
    axis = _axis_of_one(draw, out)
    forms = ["torch.unsqueeze({0}, {dim})", "{0}.unsqueeze({dim})", f"{{0}}[{':, ' * axis}None]"]
    if axis == out.rank - 1:
        forms += ["{0}[..., None]", "{0}.unsqueeze(-1)", "{0}[..., None]"]
    return Needs(out.of(*_with(out.shape, axis)), spellings=forms, dim=draw.spelled(axis, out.rank))


for _name in ("transpose", "swapaxes", "swapdims"):

    @_view(
        f"torch.{_name}", f"torch.{_name}({{0}}, {{first}}, {{second}})", f"{{0}}.{_name}({{first}}, {{second}})",
        rank=(1, 5),
    )  # fmt: skip
    def transpose(draw: Draw, out: Spec) -> Needs:
        """Two axes change places."""
        first, second = draw.axis(out), draw.axis(out)
        size = list(out.shape)
        size[first], size[second] = size[second], size[first]
        return Needs(out.of(*size), first=draw.spelled(first, out.rank), second=draw.spelled(second, out.rank))


@_view("torch.t", "torch.t({0})", "{0}.t()", rank=(0, 2))
def t(draw: Draw, out: Spec) -> Needs:
    """The transpose of a matrix; vectors stay as they are."""
    return Needs(out.of(*reversed(out.shape)))


@_view("torch.Tensor.mT", "{0}.mT", "torch.transpose({0}, -2, -1)", "{0}.transpose(-1, -2)", rank=(2, 5))
def matrix_transpose(draw: Draw, out: Spec) -> Needs:
    """The last two axes change places."""
    return Needs(out.of(*out.shape[:-2], out.shape[-1], out.shape[-2]))


@_view("torch.adjoint", "torch.adjoint({0})", "{0}.adjoint()", "{0}.mH", rank=(2, 5))
def adjoint(draw: Draw, out: Spec) -> Needs:
    """The transpose, conjugated."""
    given = out.of(*out.shape[:-2], out.shape[-1], out.shape[-2])
    return Needs(given, values=lambda x: Range(-x.most, x.most, x.exact) if out.is_complex else x)


@_view("torch.permute", "torch.permute({0}, {dims})", "{0}.permute({dims})", "{0}.permute({listed})", rank=(1, 5))
def permute(draw: Draw, out: Spec) -> Needs:
    """The axes in another order."""
    order = draw.order(out.rank)
    size = [0] * out.rank
    for i, axis in enumerate(order):
        size[axis] = out.shape[i]
    dims = tuple(draw.spelled(axis, out.rank) for axis in order)
    return Needs(out.of(*size), dims=dims, listed=_listed(dims))


for _name in ("movedim", "moveaxis"):

    @_view(f"torch.{_name}", f"torch.{_name}({{0}}, {{source}}, {{to}})", f"{{0}}.{_name}({{source}}, {{to}})",
           rank=(1, 5))  # fmt: skip
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


@_shared("torch.Tensor.expand", rank=(1, 5), weight=2)
def expand(draw: Draw, out: Spec) -> Needs:
    """Axes of size 1 repeated without a copy; -1 leaves one as it is."""
    size = _shrunk(draw, out)
    new = out.rank - len(size)
    kept = [-1 if i >= new and size[i - new] == n and draw.chance(0.5) else n for i, n in enumerate(out.shape)]
    return Needs(out.of(*size), spellings=["{0}.expand({sizes})", "{0}.expand({listed})"], sizes=tuple(kept),
                 listed=_listed(kept))  # fmt: skip


@_shared("torch.Tensor.expand_as", "{0}.expand_as({1})", rank=(1, 5))
def expand_as(draw: Draw, out: Spec) -> Needs:
    """Expanded to the size of another tensor."""
    return Needs(out.of(*_shrunk(draw, out)), out.free(), values=lambda x, y: x)


@_shared("torch.broadcast_to", "torch.broadcast_to({0}, {size})", "{0}.broadcast_to({size})", rank=(1, 5))
def broadcast_to(draw: Draw, out: Spec) -> Needs:
    """Expanded to a size."""
    return Needs(out.of(*_shrunk(draw, out)), size=out.shape)


@_shared("torch.broadcast_tensors", "torch.broadcast_tensors({0}, {1})[0]", "torch.broadcast_tensors({1}, {0})[1]",
         rank=(1, 5))  # fmt: skip
def broadcast_tensors(draw: Draw, out: Spec) -> Needs:
    """One of two tensors that are broadcast against each other."""
    return Needs(out.of(*_shrunk(draw, out)), out.free(), values=lambda x, y: x)


@_shared("torch.meshgrid", rank=(2, 3))
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

    @_copy(f"torch.{_name}", rank=(1, 5))
    def repeat(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Copies side by side, in new axes at times."""
        times: list[int] = []
        size: list[int] = []
        new = draw.integer(0, out.rank) if draw.chance(0.3) else 0
        for i, n in enumerate(out.shape):
            if i < new:
                times.append(n)
                continue
            count = n if draw.chance(0.15) else 1 if isinstance(n, Dim) or n == 0 else draw.choice(
                [k for k in (1, 1, 2, 3, 4) if n % k == 0])  # fmt: skip
            times.append(count)
            size.append(1 if count == n else n if count == 1 else n // count)
        forms = ["{0}.tile({times})", "torch.tile({0}, {times})"]
        if _name == "repeat":
            forms = ["{0}.repeat({times})", "{0}.repeat({listed})"]
        return Needs(out.of(*size), spellings=forms, times=tuple(times), listed=_listed(times))


@_copy(
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
        return Needs(out.of(*_with(out.shape, axis, 1)), times=n, dim=draw.spelled(axis, out.rank))
    times = draw.choice([k for k in (1, 2, 2, 3, 4) if n % k == 0])
    return Needs(out.of(*_with(out.shape, axis, n // times)), times=times, dim=draw.spelled(axis, out.rank))


@_copy("torch.flip", "torch.flip({0}, {dims})", "{0}.flip({dims})", "{0}.flip({listed})", rank=(1, 5))
def flip(draw: Draw, out: Spec) -> Needs:
    """Backwards along some axes."""
    dims = tuple(draw.spelled(axis, out.rank) for axis in draw.axes(out))
    return Needs(out.free(), dims=dims, listed=_listed(dims))


for _name, _rank in (("fliplr", 2), ("flipud", 1)):

    @_copy(f"torch.{_name}", f"torch.{_name}({{0}})", f"{{0}}.{_name}()", rank=(_rank, 5))
    def flip_one(draw: Draw, out: Spec) -> Needs:
        """Backwards along the first axis, or the second."""
        return Needs(out.free())


@_copy("torch.roll", rank=(1, 5))
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


@_view("torch.rot90", "torch.rot90({0}, {times}, {dims})", "{0}.rot90({times}, {dims})", rank=(2, 5))
def rot90(draw: Draw, out: Spec) -> Needs:
    """Turned in a plane; not contiguous where that swaps the axes."""
    first, second = draw.order(out.rank)[:2]
    times = draw.integer(-1, 3)
    size = list(out.shape)
    if times % 2:
        size[first], size[second] = size[second], size[first]
    return Needs(out.of(*size), times=times, dims=(first, second))


# Parts


@_view(
    "torch.narrow",
    "torch.narrow({0}, {dim}, {start}, {length})",
    "{0}.narrow({dim}, {start}, {length})",
    rank=(1, 5),
)
def narrow(draw: Draw, out: Spec) -> Needs:
    """A stretch of one axis."""
    axis = draw.axis(out)
    start, after = draw.integer(0, 3), draw.integer(0, 2)
    n = out.shape[axis]
    if isinstance(n, Dim):
        start = after = 0
    size = _with(out.shape, axis, n if isinstance(n, Dim) else n + start + after)
    return Needs(_small(out.of(*size)), dim=draw.spelled(axis, out.rank), start=start, length=n)


@_view("torch.select", rank=(0, 4), weight=2)
def select(draw: Draw, out: Spec) -> Needs:
    """One place of an axis; also written as an index."""
    axis = draw.integer(0, out.rank)
    n = draw.choice([*(d for d in out.shape if isinstance(d, Dim)), *(draw.size(5) for _ in range(3))])
    place = draw.integer(-1, min(int(n) - 1, 2))
    forms = ["torch.select({0}, {dim}, {place})", "{0}.select({dim}, {place})", f"{{0}}[{':, ' * axis}{{place}}]"]
    if axis == out.rank:
        forms += ["{0}[..., {place}]"] * 2
    size = (*out.shape[:axis], n, *out.shape[axis:])
    return Needs(_small(out.of(*size)), spellings=forms, dim=draw.spelled(axis, out.rank + 1), place=place)


def _slice(draw: Draw, n: int) -> tuple[int, str]:
    """A size and a slice of it that leaves ``n``."""
    kind = draw.choice(("all", "from", "to", "back", "step", "both", "far"))
    if isinstance(n, Dim) or kind == "all":
        return n, ":"
    k = draw.integer(1, 3)
    if kind == "from":
        return n + k, f"{k}:"
    if kind == "to":
        return n + k, f":{n}"
    if kind == "back":
        return n + k, f":-{k}"
    if kind == "far":
        return n, f":{n + 3}"
    if kind == "step" and n > 0:
        step = draw.choice((2, 2, 3))
        start = draw.integer(0, 2)
        return start + step * n - draw.integer(0, step - 1), f"{start or ''}::{step}"
    return n + k + 1, f"{k}:-1"


@_view("torch.Tensor.__getitem__", rank=(1, 5), weight=3)
def slices(draw: Draw, out: Spec) -> Needs:
    """Slices of several axes, with steps, ends counted from the back, numbers and new axes."""
    size: list[int] = []
    parts: list[str] = []
    for n in out.shape:
        if draw.chance(0.12):
            extra = draw.size(4)
            size.append(extra)
            parts.append(str(draw.integer(-extra, extra - 1)))
        if n == 1 and draw.chance(0.4):
            parts.append("None")
            continue
        given, part = _slice(draw, n)
        size.append(given)
        parts.append(part)
    if not size:
        raise Unfit("nothing is sliced")
    while len(parts) > 1 and parts[-1] == ":" and draw.chance(0.7):
        parts.pop()
    lead = next(i for i, part in enumerate([*parts, "end"]) if part != ":")
    if lead > 1 and draw.chance(0.5) and "None" not in parts and len(parts) == len(size):
        parts = ["...", *parts[lead:]]
    return Needs(_small(out.of(*size)), spellings=[f"{{0}}[{', '.join(parts)}]"])


def _parted(out: Spec, axis: int, sizes: Sequence[int], picked: int, forms: list[str], **params: Any) -> Needs:
    """A function that returns a tuple of parts, unpacked."""
    every = [out.of(*_with(out.shape, axis, n)) for n in sizes]
    whole = _small(out.of(*_with(out.shape, axis, sum(sizes))))
    if len(every) < 2:
        return Needs(whole, spellings=[f"{form}[0]" for form in forms], **params)
    return Needs(whole, values=lambda x: x, outputs=every, picked=picked, spellings=forms, **params)


def _part(out: Spec, axis: int, sizes: Sequence[int], picked: int, forms: list[str], **params: Any) -> Needs:
    """The same, with one part taken by its number."""
    whole = _small(out.of(*_with(out.shape, axis, sum(sizes))))
    return Needs(whole, spellings=[f"{form}[{picked}]" for form in forms], **params)


def _divided(draw: Draw, out: Spec, axis: int, kind: str) -> tuple[list[int], int, dict[str, Any]]:
    """Sizes of parts one of which is that asked for, its number, and the arguments that divide so."""
    n = out.shape[axis]
    count = draw.integer(2, 4)
    if isinstance(n, Dim) or n < 1:
        raise Unfit("a part of a size that changes, or an empty one")
    if kind in ("chunk", "split", "tensor_split"):
        last = draw.integer(1, n)
        sizes = [n] * (count - 1) + [last]
        picked = draw.integer(0, count - 2) if last != n else draw.integer(0, count - 1)
        if kind == "tensor_split":
            sizes = [n] * count
        if kind == "chunk" and -(-sum(sizes) // count) != n:
            sizes = [n] * count
        return sizes, picked, {"by": n if kind == "split" else count}
    sizes = [draw.integer(0 if kind == "sections" else 1, 4) for _ in range(count)]
    picked = draw.integer(0, count - 1)
    sizes[picked] = n
    if kind == "sections":
        return sizes, picked, {"by": list(sizes)}
    return sizes, picked, {"by": tuple(itertools.accumulate(sizes[:-1]))}


_DIVIDED = {
    "torch.chunk": ("chunk", ["torch.chunk({0}, {by}, dim={dim})", "{0}.chunk({by}, {dim})"]),
    "torch.split": ("split", ["torch.split({0}, {by}, dim={dim})", "{0}.split({by}, {dim})"]),
    "torch.split.sections": ("sections", ["torch.split({0}, {by}, {dim})", "{0}.split({by}, dim={dim})"]),
    "torch.split_with_sizes": (
        "sections",
        ["torch.split_with_sizes({0}, {by}, {dim})", "{0}.split_with_sizes({by}, dim={dim})"],
    ),
    "torch.tensor_split": (
        "tensor_split",
        ["torch.tensor_split({0}, {by}, dim={dim})", "{0}.tensor_split({by}, {dim})"],
    ),
    "torch.tensor_split.indices": (
        "indices",
        ["torch.tensor_split({0}, {by}, dim={dim})", "{0}.tensor_split({by}, dim={dim})"],
    ),
}

for _name, (_kind, _forms) in _DIVIDED.items():

    @_shared(_name, rank=(1, 5))
    def divide(draw: Draw, out: Spec, _kind: str = _kind, _forms: list[str] = _forms) -> Needs:
        """A part of a tensor that is divided along an axis; unpacked, or taken by its number."""
        axis = draw.axis(out)
        sizes, picked, params = _divided(draw, out, axis, _kind)
        make = _parted if draw.chance(0.6) else _part
        return make(out, axis, sizes, picked, _forms, dim=draw.spelled(axis, out.rank), **params)


for _name, _axis, _rank in (("hsplit", 1, 2), ("vsplit", 0, 2), ("dsplit", 2, 3)):

    @_shared(f"torch.{_name}", rank=(_rank, 5))
    def divide_along(draw: Draw, out: Spec, _name: str = _name, _axis: int = _axis) -> Needs:
        """A part of a tensor that is divided along the axis the name says."""
        sizes, picked, params = _divided(draw, out, _axis, draw.choice(("tensor_split", "indices")))
        forms = [f"torch.{_name}({{0}}, {{by}})", f"{{0}}.{_name}({{by}})"]
        return (_parted if draw.chance(0.6) else _part)(out, _axis, sizes, picked, forms, **params)


@_shared("torch.unbind", rank=(0, 4))
def unbind(draw: Draw, out: Spec) -> Needs:
    """One of the slices along an axis; unpacked, or taken by its number."""
    axis = draw.integer(0, out.rank)
    count = draw.integer(2, 4)
    whole = _small(out.of(*out.shape[:axis], count, *out.shape[axis:]))
    forms = ["torch.unbind({0}, dim={dim})", "{0}.unbind({dim})", *(["{0}.unbind()"] if axis == 0 else [])]
    dim, picked = draw.spelled(axis, out.rank + 1), draw.integer(0, count - 1)
    if draw.chance(0.6):
        return Needs(whole, outputs=[out.free()] * count, picked=picked, spellings=forms, dim=dim)
    return Needs(whole, spellings=[f"{form}[{picked}]" for form in forms], dim=dim)


# Several made one


def _joined(out: Spec, axis: int, sizes: Sequence[int]) -> list[Spec]:
    return [out.of(*_with(out.shape, axis, n)) for n in sizes]


def _names(count: int) -> str:
    return ", ".join(f"{{{i}}}" for i in range(count))


def _pieces(draw: Draw, n: int) -> list[int]:
    """Sizes that add up to ``n``, an empty one among them now and then; all of it alone where it changes."""
    if isinstance(n, Dim) or n == 0:
        return [n, 0] if draw.chance(0.7) else [0, n]
    sizes = draw.split(n, min(draw.integer(1, 3), n))
    return [*sizes, 0] if draw.chance(0.05) else sizes


for _name in ("cat", "concat", "concatenate"):

    @_copy(f"torch.{_name}", rank=(1, 5), noun="joined", weight=2 if _name == "cat" else 1)
    def cat(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Tensors one after the other along an axis."""
        axis = draw.axis(out)
        inputs = _joined(out, axis, _pieces(draw, out.shape[axis]))
        listed = _names(len(inputs))
        forms = [f"torch.{_name}([{listed}], dim={{dim}})", f"torch.{_name}(({listed},), {{dim}})"]
        return Needs(*inputs, spellings=forms, dim=draw.spelled(axis, out.rank))


@_copy("torch.stack", rank=(1, 5), noun="stacked", weight=2)
def stack(draw: Draw, out: Spec) -> Needs:
    """Tensors one after the other along a new axis."""
    axis = draw.choice([i for i, n in enumerate(out.shape) if not isinstance(n, Dim) and 1 <= n <= 5])
    count = out.shape[axis]
    listed = _names(count)
    forms = [f"torch.stack([{listed}], dim={{dim}})", f"torch.stack(({listed},), {{dim}})"]
    return Needs(*[out.of(*_with(out.shape, axis))] * count, spellings=forms, dim=draw.spelled(axis, out.rank))


for _name, _axis, _least in (("hstack", 1, 1), ("vstack", 0, 2), ("dstack", 2, 3), ("column_stack", 1, 2)):

    @_copy(f"torch.{_name}", rank=(_least, 4), noun="joined")
    def stack_along(draw: Draw, out: Spec, _name: str = _name, _axis: int = _axis) -> Needs:
        """Tensors one after the other along the axis the name says; of fewer dimensions at times."""
        axis = 0 if out.rank == 1 else _axis
        n = out.shape[axis]
        flat = out.rank == 2 and _name in ("vstack", "column_stack") and draw.chance(0.3)
        if (flat or (_name == "dstack" and out.rank == 3 and draw.chance(0.3))) and not isinstance(n, Dim):
            if not 1 <= n <= 4:
                raise Unfit("too many")
            inputs = [out.of(*_with(out.shape, axis))] * n
        else:
            inputs = _joined(out, axis, _pieces(draw, n))
        listed = _names(len(inputs))
        return Needs(*inputs, spellings=[f"torch.{_name}([{listed}])", f"torch.{_name}(({listed},))"])


@_copy("torch.block_diag", rank=(2, 2))
def block_diag(draw: Draw, out: Spec) -> Needs:
    """Matrices along the diagonal of a matrix of zeros."""
    count = draw.integer(1, 3)
    rows, columns = draw.split(out.shape[0], count), draw.split(out.shape[1], count)
    inputs = [out.of(a, b) for a, b in zip(rows, columns, strict=True)]
    values = lambda x, *others: x.over(*others, _ZERO)  # noqa: E731
    return Needs(*inputs, values=values, spellings=[f"torch.block_diag({_names(count)})"])


@_copy("torch.cartesian_prod", "torch.cartesian_prod({0}, {1})", dtypes=REAL, rank=(2, 2))
def cartesian_prod(draw: Draw, out: Spec) -> Needs:
    """All pairs of the elements of two vectors."""
    if out.shape[1] != 2:
        raise Unfit("pairs only")
    first, second = _factors(draw, out.shape[0])
    return Needs(out.of(first), out.of(second))


@_copy("torch.combinations", rank=(2, 2), dtypes=REAL)
def combinations(draw: Draw, out: Spec) -> Needs:
    """All pairs of different elements of a vector, or all pairs."""
    again = draw.chance(0.4)
    counts = {n * (n + 1) // 2 if again else n * (n - 1) // 2: n for n in range(2, 16)}
    if out.shape[1] != 2 or isinstance(out.shape[0], Dim) or out.shape[0] not in counts:
        raise Unfit("not a number of pairs")
    form = "torch.combinations({0}, r=2, with_replacement=True)" if again else "torch.combinations({0})"
    return Needs(out.of(counts[out.shape[0]]), spellings=[form])


# Windows and diagonals


@_shared("torch.Tensor.unfold", "{0}.unfold({dim}, {size}, {step})", rank=(2, 5))
def unfold(draw: Draw, out: Spec) -> Needs:
    """Windows that slide along an axis and may overlap."""
    axis = draw.integer(0, out.rank - 2)
    count, size = out.shape[axis], out.shape[-1]
    step = draw.integer(1, 3)
    if count < 1 or size < 1:
        raise Unfit("an empty window")
    if size == 1 and isinstance(count, Dim):
        step, n = 1, count
    elif count == 1:
        n = size
    else:
        n = (count - 1) * step + size
    given = _small(out.of(*_with(out.shape[:-1], axis, n)))
    return Needs(given, dim=draw.spelled(axis, out.rank - 1), size=size, step=step)


def _square(draw: Draw, n: int) -> tuple[int, int, int]:
    """Rows, columns and the number of a diagonal that has ``n`` elements."""
    if isinstance(n, Dim):
        return n, n, 0
    above, more = draw.choice((0, 0, 1, 2)), draw.choice((0, 0, 1))
    if n == 0:
        return 0, above, 0
    return (n + more, n + above, above) if draw.chance(0.5) else (n + above, n + more, -above)


@_view("torch.diagonal", rank=(1, 4))
def diagonal(draw: Draw, out: Spec) -> Needs:
    """A diagonal of two axes, as the last one."""
    rows, columns, offset = _square(draw, out.shape[-1])
    if draw.chance(0.4):
        forms = ["torch.diagonal({0}, {offset}, -2, -1)", "{0}.diagonal({offset}, dim1=-2, dim2=-1)"]
        return Needs(_small(out.of(*out.shape[:-1], rows, columns)), spellings=forms, offset=offset)
    forms = ["torch.diagonal({0}, {offset})", "{0}.diagonal(offset={offset})", "torch.diagonal({0}, {offset}, 0, 1)"]
    return Needs(_small(out.of(rows, columns, *out.shape[:-1])), spellings=forms, offset=offset)


def _of_square(draw: Draw, out: Spec) -> tuple[Spec, int]:
    """The diagonals of square matrices, and their number."""
    n = out.shape[-1]
    if n != out.shape[-2]:
        raise Unfit("not square")
    offset = 0 if isinstance(n, Dim) or n < 3 else draw.choice((0, 0, 1, -1, 2))
    return out.of(*out.shape[:-2], n - abs(offset) if offset else n), offset


@_copy("torch.diag", "torch.diag({0}, {offset})", "{0}.diag({offset})", rank=(2, 2))
def diag(draw: Draw, out: Spec) -> Needs:
    """A matrix with a vector as a diagonal."""
    given, offset = _of_square(draw, out)
    return Needs(given, values=lambda x: x.over(_ZERO), offset=offset)


@_view("torch.diag.matrix", "torch.diag({0}, {offset})", "{0}.diag({offset})", rank=(1, 1))
def diag_of_matrix(draw: Draw, out: Spec) -> Needs:
    """The diagonal of a matrix."""
    rows, columns, offset = _square(draw, out.shape[0])
    return Needs(_small(out.of(rows, columns)), offset=offset)


@_copy("torch.diag_embed", "torch.diag_embed({0}, {offset})", "{0}.diag_embed({offset}, -2, -1)", rank=(2, 4))
def diag_embed(draw: Draw, out: Spec) -> Needs:
    """Square matrices with vectors as their diagonals."""
    given, offset = _of_square(draw, out)
    return Needs(given, values=lambda x: x.over(_ZERO), offset=offset)


for _name in ("tril", "triu"):

    @_copy(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{offset}})",
        f"{{0}}.{_name}({{offset}})",
        f"torch.{_name}({{0}}, diagonal={{offset}})",
        rank=(2, 5),
        inplace=[f"{{0}}.{_name}_({{offset}})"],
        out=[f"torch.{_name}({{0}}, {{offset}}, out={{out}})"],
    )
    def triangle(draw: Draw, out: Spec) -> Needs:
        """What is below or above a diagonal, zeros elsewhere."""
        return Needs(out.free(), values=lambda x: x.over(_ZERO), offset=draw.choice((0, 0, 1, -1, 2, -3)))


@_shared("torch.as_strided", rank=(1, 4))
def as_strided(draw: Draw, out: Spec) -> Needs:
    """Contiguous memory with other strides, which may let elements overlap."""
    if not out.is_static or out.numel == 0:
        raise Unfit("strides of a size that changes, or of nothing")
    strides = [0] * out.rank
    step = draw.choice((1, 1, 1, 2))
    for axis in draw.order(out.rank):
        strides[axis] = step
        step = step * out.shape[axis] if draw.chance(0.75) else step + 1
    start = draw.integer(0, 3)
    least = 1 + start + sum((n - 1) * s for n, s in zip(out.shape, strides, strict=True))
    width = draw.choice((1, 2, 4))
    given = out.of(-(-least // width), width) if width > 1 and draw.chance(0.4) else out.of(least)
    forms = ["torch.as_strided({0}, {size}, {strides})", "{0}.as_strided({size}, {strides})"]
    if start:
        forms = ["torch.as_strided({0}.clone(), {size}, {strides}, {start})"]
    return Needs(_small(given).dense(), spellings=forms, size=out.shape, strides=tuple(strides), start=start)


# The same once more


@_view("torch.Tensor.contiguous", "{0}.contiguous()", "{0}.contiguous(memory_format=torch.contiguous_format)",
       dense=True)  # fmt: skip
def contiguous(draw: Draw, out: Spec) -> Needs:
    """The same where it is contiguous already, a copy otherwise."""
    return Needs(out.free())


@_view(
    "torch.Tensor.contiguous.channels_last",
    "{0}.contiguous(memory_format=torch.channels_last)",
    "{0}.to(memory_format=torch.channels_last)",
    rank=(4, 4),
)
def channels_last(draw: Draw, out: Spec) -> Needs:
    """With the channels next to each other in memory."""
    return Needs(out.free())


@_copy("torch.clone", "torch.clone({0})", "{0}.clone()", "{0}.clone(memory_format=torch.contiguous_format)",
       noun="copy")  # fmt: skip
def clone(draw: Draw, out: Spec) -> Needs:
    """A copy."""
    return Needs(out.free())


for _name in ("conj", "neg"):

    @_view(f"torch.resolve_{_name}", f"torch.resolve_{_name}({{0}})", f"{{0}}.resolve_{_name}()", dense=True)
    def resolve(draw: Draw, out: Spec) -> Needs:
        """The same, with a lazy conjugation or negation done."""
        return Needs(out.free())


for _rank in (1, 2, 3):

    @_view(f"torch.atleast_{_rank}d", f"torch.atleast_{_rank}d({{0}})", dense=True, rank=(_rank, 5))
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


@_copy("torch.expand_copy", "torch.expand_copy({0}, {size})", rank=(1, 5))
def expand_copy(draw: Draw, out: Spec) -> Needs:
    """Expanded, in memory of its own."""
    return Needs(out.of(*_shrunk(draw, out)), size=out.shape)


@_copy("torch.view_copy", "torch.view_copy({0}, {size})")
def view_copy(draw: Draw, out: Spec) -> Needs:
    """In another shape, in memory of its own."""
    return Needs(out.of(*_regrouped(draw, out.shape)).dense(), size=out.shape)


@_copy("torch.transpose_copy", "torch.transpose_copy({0}, {first}, {second})", rank=(1, 5))
def transpose_copy(draw: Draw, out: Spec) -> Needs:
    """Two axes change places, in memory of its own."""
    first, second = draw.axis(out), draw.axis(out)
    size = list(out.shape)
    size[first], size[second] = size[second], size[first]
    return Needs(out.of(*size), first=first, second=second)


@_copy("torch.unsqueeze_copy", "torch.unsqueeze_copy({0}, {dim})", rank=(1, 5))
def unsqueeze_copy(draw: Draw, out: Spec) -> Needs:
    """A new axis of size 1, in memory of its own."""
    axis = _axis_of_one(draw, out)
    return Needs(out.of(*_with(out.shape, axis)), dim=axis)


@_copy("torch.slice_copy", "torch.slice_copy({0}, {dim}, {start}, {end}, {step})", dtypes=REAL + BOOL, rank=(1, 5))
def slice_copy(draw: Draw, out: Spec) -> Needs:
    """A slice, in memory of its own."""
    axis = draw.axis(out)
    n, start, step = out.shape[axis], draw.integer(0, 2), draw.choice((1, 2, 3))
    if n == 0:
        raise Unfit("an empty slice")
    length = start + (n - 1) * step + 1
    return Needs(_small(out.of(*_with(out.shape, axis, length))), dim=axis, start=start, end=length, step=step)
