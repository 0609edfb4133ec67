"""Views, splits and joins that cancel, as Inductor's graph passes match them."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, NUMBERS, SIGNED, WIDE, Dim, Range, Spec, UnsatisfiableSpec, nonempty

_fusion = partial(operator, family="fusion")


@_fusion(
    "pattern: pairs of permutations",
    "{0}.permute({order}).permute({back})",
    "{0}.transpose({a}, {b}).transpose({a}, {b})",
    "{0}.transpose({a}, {b}).transpose({b}, {a}).view({size})",
    "{0}.transpose({a}, {b}).contiguous().transpose({a}, {b})",
    dtypes=NUMBERS,
    rank=(2, 5),
    exact=True,
    saves=False,
    view=True,
)
def permute_pair(draw: Draw, out: Spec) -> Needs:
    """Permuted and permuted back: pointless_permute_pair in joint_graph.py."""
    order = draw.order(out.rank)
    back = tuple(order.index(i) for i in range(out.rank))
    a, b = order[:2]
    return Needs(out.free().dense(), order=order, back=back, a=a, b=b, size=out.shape)


@_fusion(
    "pattern: pairs of views",
    "{0}.view(-1).view({size})",
    "{0}.reshape(-1).unsqueeze(0).view({size})",
    "{0}.view({size}).flatten().reshape({size})",
    "{0}.unsqueeze({dim}).squeeze({dim})",
    "{0}.unsqueeze(-1).expand({longer}).select(-1, 0)",
    dtypes=NUMBERS,
    rank=(1, 5),
    exact=True,
    saves=False,
    view=True,
)
def view_pair(draw: Draw, out: Spec) -> Needs:
    """Reshaped and reshaped back: pointless_view and pointless_view_pair in joint_graph.py."""
    return Needs(nonempty(out).dense(), size=out.shape, dim=draw.axis(out), longer=(*out.shape, 3))


@_fusion(
    "pattern: elements of a flat view",
    "{0}.view(-1)[{start}:{stop}:{step}]",
    "{0}.reshape(-1)[{start}:{stop}:{step}]",
    "{0}.flatten()[{start}:].narrow(0, 0, {length})[::{step}]",
    dtypes=NUMBERS,
    rank=(1, 1),
    exact=True,
    saves=False,
    view=True,
)
def flat_elements(draw: Draw, out: Spec) -> Needs:
    """A slice of a flattened tensor, which Inductor lowers to index arithmetic."""
    n = out.shape[0]
    step, start = draw.integer(1, 3), draw.integer(0, 3)
    rows = draw.integer(1, 4)
    length = step * n
    columns = (start + length + rows - 1) // rows
    if columns == 0:
        raise UnsatisfiableSpec("empty")
    return Needs(out.of(rows, columns).dense(), start=start, stop=start + length, step=step, length=length)


@_fusion(
    "pattern: reshape, permute, reshape",
    "{0}.reshape({before}).permute({order}).reshape({size})",
    "{0}.view({before}).permute({order}).contiguous().view({size})",
    "{0}.reshape({before}).permute({order}).clone().flatten().reshape({size})",
    dtypes=NUMBERS,
    rank=(1, 4),
    exact=True,
    saves=False,
    view=True,
)
def shuffle(draw: Draw, out: Spec) -> Needs:
    """Channel and pixel shuffles: a permutation between two reshapes."""
    nonempty(out)
    parts: list[int] = []
    for n in out.shape:
        factor = 1 if isinstance(n, Dim) else draw.choice([f for f in (1, 2, 3, 4) if n % f == 0])
        parts += [factor, n // factor] if factor > 1 else [n]
    order = draw.order(len(parts))
    before = [0] * len(parts)
    for place, part in zip(order, parts, strict=True):
        before[place] = part
    operand = out.of(*before[:-2], before[-2] * before[-1]) if len(before) > 1 else out.of(*before)
    return Needs(operand.dense(), before=tuple(before), order=order, size=out.shape)


@_fusion(
    "pattern: split and cat",
    "torch.cat(torch.split({0}, {parts}, dim={dim}), dim={dim})",
    "torch.cat({0}.split({parts}, {dim})[::-1], dim={dim})",
    "torch.cat([torch.relu(part) for part in torch.split({0}, {parts}, {dim})], {dim})",
    "torch.cat([torch.split({0}, {parts}, {dim})[0], *torch.split({0}, {parts}, {dim})[1:]], {dim})",
    dtypes=FLOATS + SIGNED,
    rank=(1, 5),
    exact=True,
    name_hint="joined",
)
def split_cat(draw: Draw, out: Spec) -> Needs:
    """Parts joined again, sometimes in another order: merge_split_cat and simplify_split_cat in split_cat.py."""
    dim = draw.axis(out)
    parts = draw.split(out.shape[dim], draw.integer(2, 4))
    values = lambda x: x.over(Range(0, 0, exact=True))  # noqa: E731
    return Needs(out.free(), values=values, parts=parts, dim=dim)


@_fusion(
    "pattern: unbind and stack",
    "torch.stack(torch.unbind({0}, dim={dim}), dim={dim})",
    "torch.stack({0}.unbind({dim})[::-1], {dim})",
    "torch.cat([row.unsqueeze({dim}) for row in torch.unbind({0}, {dim})], {dim})",
    "torch.stack([torch.relu(row) for row in torch.unbind({0}, {dim})], {dim})",
    "torch.stack([row.squeeze({dim}) for row in torch.split({0}, 1, dim={dim})], dim={dim})",
    dtypes=FLOATS + SIGNED,
    rank=(1, 5),
    exact=True,
    name_hint="stacked",
)
def unbind_stack(draw: Draw, out: Spec) -> Needs:
    """Slices stacked again: merge_unbind_stack and merge_split_squeeze in split_cat.py."""
    dim = draw.axis(out)
    if int(out.shape[dim]) > 17 or out.shape[dim] == 0:
        raise UnsatisfiableSpec("too many slices")
    values = lambda x: x.over(Range(0, 0, exact=True))  # noqa: E731
    return Needs(nonempty(out), values=values, dim=dim)


@_fusion(
    "pattern: cat of slices",
    "torch.cat([{0}[..., :{k}], {0}[..., {k}:]], dim=-1)",
    "torch.cat([{0}[..., {k}:], {0}[..., :{k}]], dim=-1)",
    "torch.cat([{0}.narrow(-1, 0, {k}), {0}.narrow(-1, {k}, {n} - {k}) * 2], -1)",
    "torch.cat([{0}, {0}[..., :{k}]], dim=-1)[..., :{n}].clone()",
    dtypes=FLOATS + SIGNED,
    rank=(1, 5),
    exact=True,
    saves=False,
    name_hint="joined",
)
def cat_of_slices(draw: Draw, out: Spec) -> Needs:
    """Slices joined again: cat_slice_cat in post_grad.py, merge_getitem_cat in split_cat.py."""
    n = out.shape[-1]
    k, _ = draw.split(n, 2)
    return Needs(out.free(), values=lambda x: x.over(x + x), k=k, n=n)


@_fusion(
    "pattern: slices of a cat",
    "torch.cat([{0}, {1}], dim={dim}).narrow({dim}, {start}, {n}).clone()",
    "torch.split(torch.cat([{0}, {1}], {dim}), {n}, {dim})[0].clone()",
    "torch.cat([{0}, {1}], {dim}).unflatten({dim}, (2, {n})).sum({dim})",
    "torch.cat([{0}, {1}], {dim}).chunk(2, {dim})[1] + {0}",
    dtypes=("float32", "float64", "int64"),
    rank=(1, 4),
    exact=True,
    saves=False,
)
def slices_of_cat(draw: Draw, out: Spec) -> Needs:
    """A concatenation that is split again: cat_splitwithsizes_replace in post_grad.py."""
    dim = draw.axis(out)
    n = out.shape[dim]
    start = 0 if isinstance(n, Dim) else draw.integer(0, n)
    values = lambda x, y: x.over(y, x + y)  # noqa: E731
    return Needs(nonempty(out), out.free(), values=values, dim=dim, n=n, start=start)


@_fusion(
    "pattern: cat of cats",
    "torch.cat([torch.cat([{0}, {1}], {dim}), {2}], {dim})",
    "torch.cat([{0}, torch.cat([{1}, {2}], {dim})], {dim})",
    "torch.cat([torch.tanh(torch.cat([{0}, {1}], {dim})), {2}], {dim})",
    "torch.relu(torch.cat([{0}, {1}, {2}], {dim}))",
    dtypes=WIDE,
    rank=(1, 4),
    name_hint="joined",
)
def cat_of_cats(draw: Draw, out: Spec) -> Needs:
    """Nested concatenations: merge_concats_pass and sink_cat_after_pointwise in pre_grad.py."""
    dim = draw.axis(out)
    sizes = draw.split(out.shape[dim], 3)
    parts = [out.of(*out.shape[:dim], n, *out.shape[dim + 1 :]) for n in sizes]
    values = lambda *r: r[0].over(*r[1:], Range(-1, 1))  # noqa: E731
    return Needs(*parts, values=values, dim=dim)
