"""Sizes that values decide: what is selected, counted or repeated by a tensor, brought back to a known size."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.draw import Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.spec import WIDE, Dim, Range, Spec, Unfit, index

_PLAIN = (*WIDE, "int64", "int32")
_SUMMED = (*WIDE, "int64")
_unbacked = partial(operator, family="unbacked")


def _vector_or_matrix(draw: Draw, out: Spec) -> Spec:
    """Some tensor of the dtype that is asked for, to be reduced to what is asked for."""
    return out.of(*(draw.size(9) for _ in range(draw.integer(1, 2))))


def _rows(draw: Draw, out: Spec) -> tuple[Spec, int]:
    """A tensor with rows of the size asked for, and how many; no row is empty."""
    if out.numel == 0:
        raise Unfit("empty")
    rows = draw.integer(2, 9)
    return out.of(rows, *out.shape), rows


def _mask(spec: Spec) -> Spec:
    return Spec(spec.size, "bool")


def _total(count: int) -> partial[Range]:
    """The sum of at most so many of the first input's values."""
    return partial(_summed, count)


def _summed(count: int, x: Range, *_: Range) -> Range:
    return x.times(count)


# Positions


@_unbacked(
    "unbacked: sum of nonzero",
    "torch.nonzero({0}).sum(dim=0)",
    "{0}.nonzero().sum(0)",
    "torch.argwhere({0}).sum(0)",
    "torch.stack(torch.where({0}), dim=1).sum(dim=0)",
    "torch.stack([one.sum() for one in torch.nonzero({0}, as_tuple=True)])",
    dtypes=("int64",),
    rank=(1, 1),
    exact=True,
    noun="place",
)
def sum_of_nonzero(draw: Draw, out: Spec) -> Needs:
    """The places of what is not zero, added up: one number for each dimension."""
    rank = out.shape[0]
    if isinstance(rank, Dim) or not 1 <= rank <= 4:
        raise Unfit("no tensor of that rank")
    given = Spec(tuple(draw.size(6) for _ in range(rank)), draw.choice(("bool", "int64", "float32")))
    return Needs(given.exactly(), values=Range(0, 6 * given.numel, exact=True))


@_unbacked(
    "unbacked: nonzero reduced",
    "torch.nonzero({0}).sum()",
    "torch.where({0})[0].sum()",
    "{0}.nonzero().shape[0] + torch.nonzero({0})[:, 0].sum()",
    "torch.cat([torch.nonzero({0})[:, -1], torch.tensor([0])]).amax()",
    "torch.count_nonzero({0}) + {0}.nonzero()[:, 0].to(torch.int32).sum()",
    dtypes=("int64",),
    rank=(0, 0),
    exact=True,
)
def nonzero_reduced(draw: Draw, out: Spec) -> Needs:
    """The places of what is not zero, reduced to one number."""
    given = Spec((draw.size(9), draw.size(9))[: draw.integer(1, 2)], draw.choice(("bool", "int64", "float32")))
    return Needs(given.exactly(), values=Range(0, 20 * given.numel, exact=True))


@_unbacked(
    "unbacked: nonzero of known size",
    "torch.nonzero_static({0}, size={n}, fill_value={fill})",
    dtypes=("int64",),
    rank=(2, 2),
    exact=True,
)
def nonzero_static(draw: Draw, out: Spec) -> Needs:
    """The first places of what is not zero, and a number for those that are missing."""
    n, rank = out.shape
    if isinstance(n, Dim) or isinstance(rank, Dim) or not 1 <= rank <= 3:
        raise Unfit("no tensor of that rank")
    given = Spec(tuple(draw.size(6) for _ in range(rank)), "bool")
    return Needs(given, values=Range(-1, 6, exact=True), n=n, fill=draw.choice((-1, 0, 5)))


@_unbacked(
    "unbacked: count as a number",
    "{0} * torch.nonzero({1}).shape[0]",
    "{0} + {1}.nonzero().size(0)",
    "{0} - len(torch.masked_select({1}, {1}))",
    "{0} * {1}[{1}].numel()",
    "{0} + torch.ones_like({1}.nonzero()[:, 0], dtype=torch.{dtype}).sum()",
    dtypes=_SUMMED,
    rank=(0, 4),
    exact=True,
)
def count_as_number(draw: Draw, out: Spec) -> Needs:
    """A size that values decide, as a number in arithmetic."""
    mask = Spec((draw.size(),), "bool")
    upto = Range(0, mask.numel, exact=True)
    values = lambda x, m: (x * upto).over(x + upto, x - upto)  # noqa: E731
    return Needs(out.free(), mask, values=values, dtype=out.dtype)


# Selections


@_unbacked(
    "unbacked: sum of selected",
    "torch.masked_select({0}, {1}).sum()",
    "{0}[{1}].sum()",
    "torch.sum({0}[torch.nonzero({1}, as_tuple=True)])",
    "torch.cumsum({0}[{1}], dim=0)[-1:].sum()",
    "torch.index_select({0}.flatten(), 0, {1}.flatten().nonzero().flatten()).sum()",
    dtypes=_SUMMED,
    rank=(0, 0),
    exact=True,
    noun="total",
)
def sum_of_selected(draw: Draw, out: Spec) -> Needs:
    """What a mask selects, added up."""
    given = _vector_or_matrix(draw, out)
    return Needs(given, _mask(given), values=_total(given.numel))


@_unbacked(
    "unbacked: mean of selected",
    "torch.cat([{0}[{1}], {2}]).mean()",
    "torch.cat([torch.masked_select({0}, {1}), {2}]).mean(dim=0)",
    "torch.cat([{2}, torch.tanh({0}[{1}]) * {0}[{1}]]).mean()",
    "({0}[{1}].sum() + {2}.sum()) / ({1}.sum() + {2}.shape[0])",
    "F.softmax(torch.cat([{2}, {0}[{1}]]), dim=0)[0]",
    dtypes=WIDE,
    rank=(0, 0),
)
def mean_of_selected(draw: Draw, out: Spec) -> Needs:
    """What a mask selects and one more, so that there is something, as a mean."""
    given = _vector_or_matrix(draw, out)
    return Needs(given, _mask(given), out.of(1), values=lambda x, m, y: _wider(x.over(y, Range(0, 1))))


def _wider(x: Range) -> Range:
    return Range(x.low * 1.02 - x.most * 0.02, x.high + x.most * 0.02, wild=x.wild)


@_unbacked(
    "unbacked: extreme of selected",
    "torch.cat([{0}[{1}], {2}]).amax()",
    "torch.cat([{2}, torch.masked_select({0}, {1})]).min()",
    "torch.cat([{0}[{1}], {2}]).sort().values[0]",
    "torch.cat([{2}, {0}[{1}]]).flip(0)[0].clone()",
    dtypes=_PLAIN,
    rank=(0, 0),
    exact=True,
)
def extreme_of_selected(draw: Draw, out: Spec) -> Needs:
    """The greatest, the least or the last of what a mask selects."""
    given = _vector_or_matrix(draw, out).within(-1e6, 1e6)
    return Needs(given, _mask(given), out.of(1).within(-1e6, 1e6), values=lambda x, m, y: x.over(y))


@_unbacked(
    "unbacked: selected rows",
    "{0}[{1}].sum(0)",
    "torch.index_select({0}, 0, {1}.nonzero().squeeze(1)).sum(0)",
    "{0}[torch.where({1})[0]].sum(dim=0)",
    "torch.cat([{0}[{1}], {0}[~{1}] * 2]).sum(0)",
    "torch.einsum('r...->...', {0}[{1}].contiguous())",
    dtypes=_SUMMED,
    rank=(1, 3),
    exact=True,
    noun="total",
)
def selected_rows(draw: Draw, out: Spec) -> Needs:
    """The rows that a mask selects, added up."""
    given, rows = _rows(draw, out)
    return Needs(given, Spec((rows,), "bool"), values=_total(2 * rows))


@_unbacked(
    "unbacked: product of selected rows",
    "({0}[{1}] @ {2}).sum(0)",
    "F.linear({0}[{1}], {2}.t()).sum(dim=0)",
    "torch.mm({0}[{1}].t(), {0}[{1}]).sum(0) @ {2}",
    "F.relu(torch.mm({0}[{1}.nonzero()[:, 0]], {2})).sum(0)",
    dtypes=WIDE,
    rank=(1, 1),
)
def product_of_selected(draw: Draw, out: Spec) -> Needs:
    """A matrix product of the rows that a mask selects."""
    rows, k = draw.integer(2, 9), draw.size(7)

    def values(x: Range, m: Range, w: Range) -> Range:
        most = max(x.most, x.most**2 * k) * w.most * k * rows
        return Range(-most, most)

    given = out.of(rows, k).within(-4, 4)
    if out.numel == 0:
        raise Unfit("empty")
    return Needs(given, Spec((rows,), "bool"), out.of(k, *out.shape).within(-16, 16), values=values)


@_unbacked(
    "unbacked: selected and put back",
    "{0}.masked_scatter({1}, torch.masked_select({0}, {1}) * 2)",
    "torch.zeros_like({0}).index_put(torch.nonzero({1}, as_tuple=True), {0}[{1}])",
    "torch.zeros_like({0}).masked_scatter({1}, {0}[{1}].neg())",
    "{0}.index_put(({1},), {0}[{1}] - 1)",
    dtypes=_PLAIN,
    rank=(1, 4),
    exact=True,
    noun="written",
)
def put_back(draw: Draw, out: Spec) -> Needs:
    """What a mask selects, changed and put back where it was."""
    zero, one = Range(0, 0, exact=True), Range(1, 1, exact=True)
    return Needs(out.free(), _mask(out), values=lambda x, m: x.over(x + x, -x, x - one, zero))


@_unbacked(
    "unbacked: selected twice",
    "{0}[{1}][{0}[{1}] > 0].sum()",
    "torch.masked_select({0}[{1}], {0}[{1}] <= 1).sum()",
    "{0}[{1}][::2].sum()",
    "{0}[{1}].reshape(-1, 1).expand(-1, 3).sum()",
    dtypes=_SUMMED,
    rank=(0, 0),
    exact=True,
)
def selected_twice(draw: Draw, out: Spec) -> Needs:
    """A selection from a selection, of exact values."""
    given = _vector_or_matrix(draw, out).exactly()
    return Needs(given, _mask(given), values=_total(3 * given.numel))


# Different values


@_unbacked(
    "unbacked: unique",
    "torch.unique({0}).sum()",
    "torch.unique({0}, sorted=True)[0].clone()",
    "{0}.unique().amax()",
    "torch.unique_consecutive({0}).sum()",
    "torch.unique({0}, return_counts=True)[0].sum()",
    dtypes=_PLAIN[:3],
    rank=(0, 0),
    exact=True,
    grad=False,
)
def unique(draw: Draw, out: Spec) -> Needs:
    """The different ones among exact values, reduced."""
    given = _vector_or_matrix(draw, out).exactly().within(-64, 64)
    return Needs(given, values=_total(given.numel))


@_unbacked(
    "unbacked: counts of unique",
    "torch.unique({0}, return_counts=True)[1].max()",
    "torch.unique({0}, return_inverse=True)[1].sum()",
    "torch.unique_consecutive({0}, return_counts=True)[1].amin()",
    "(torch.unique({0}, return_counts=True)[1] ** 2).sum()",
    "torch.tensor(torch.unique({0}).shape[0])",
    dtypes=("int64",),
    rank=(0, 0),
    exact=True,
)
def counts_of_unique(draw: Draw, out: Spec) -> Needs:
    """How often each of the different exact values is there."""
    given = _vector_or_matrix(draw, out.as_(draw.choice(("int64", "float32", "int32")))).exactly()
    return Needs(given.within(-64, 64), values=Range(0, given.numel**2, exact=True))


@_unbacked(
    "unbacked: inverse of unique",
    "torch.unique({0}, return_inverse=True)[1]",
    "torch.searchsorted(torch.unique({0}), {0})",
    "torch.unique({0}, return_counts=True)[1][torch.unique({0}, return_inverse=True)[1]]",
    dtypes=("int64",),
    rank=(1, 3),
    exact=True,
)
def inverse_of_unique(draw: Draw, out: Spec) -> Needs:
    """The rank of each exact value among the different ones, or how often it is there."""
    if out.numel == 0:
        raise Unfit("empty")
    given = out.as_(draw.choice(("int64", "float32"))).exactly().within(-64, 64)
    return Needs(given.dense(), values=Range(0, 8 * out.numel + 4096, exact=True))


@_unbacked(
    "unbacked: unique rows",
    "torch.unique({0}, dim=0).sum(0)",
    "torch.unique({0}, dim=0)[-1].clone()",
    "torch.unique({0}, dim=0, return_counts=True)[0].amin(0)",
    "torch.unique_consecutive({0}, dim=0).sum(dim=0)",
    dtypes=_SUMMED,
    rank=(1, 2),
    exact=True,
    grad=False,
)
def unique_rows(draw: Draw, out: Spec) -> Needs:
    """The different rows of exact values, reduced."""
    given, rows = _rows(draw, out)
    return Needs(given.exactly().within(0, 2), values=_total(rows))


@_unbacked(
    "unbacked: rows of unique",
    "F.embedding(torch.unique({1}), {0}).sum(0)",
    "{0}[torch.unique({1})].sum(dim=0)",
    "torch.index_select({0}, 0, {1}.unique()).sum(0)",
    "torch.zeros_like({0}).index_copy(0, {1}.unique(), {0}[{1}.unique()]).sum(0)",
    dtypes=_SUMMED[:2],
    rank=(1, 1),
    exact=True,
    noun="embedded",
)
def rows_of_unique(draw: Draw, out: Spec) -> Needs:
    """The rows of a table that different numbers name."""
    given, rows = _rows(draw, out)
    return Needs(given, index((draw.size(9),), rows), values=_total(rows))


# Repetitions


@_unbacked(
    "unbacked: repeated rows",
    "torch.repeat_interleave({0}, {1}, dim=0).sum(0)",
    "{0}.repeat_interleave({1}, dim=0).sum(dim=0)",
    "{0}[torch.repeat_interleave({1})].sum(0)",
    "torch.cat([{0}, torch.repeat_interleave({0}, {1}, 0)]).sum(0)",
    dtypes=_SUMMED,
    rank=(1, 3),
    exact=True,
    noun="total",
)
def repeated_rows(draw: Draw, out: Spec) -> Needs:
    """Rows as often as a tensor says, added up."""
    given, rows = _rows(draw, out)
    return Needs(given, index((rows,), 4), values=_total(4 * rows))


@_unbacked(
    "unbacked: repeated and cut",
    "torch.cat([torch.repeat_interleave({0}, {1}), {2}])[:{n}].clone()",
    "torch.cat([{0}.repeat_interleave({1}), {2}]).narrow(0, 0, {n}).clone()",
    "torch.cat([{0}[{0} != 0], {2}])[-{n}:].clone()",
    "torch.cat([{2}, torch.repeat_interleave({0}, {1})]).flip(0)[:{n}] + {2}",
    dtypes=_PLAIN,
    rank=(1, 1),
    exact=True,
)
def repeated_and_cut(draw: Draw, out: Spec) -> Needs:
    """Elements as often as a tensor says, of which a known number is kept; exact values."""
    n, k = out.shape[0], draw.size(9)
    if out.numel == 0:
        raise Unfit("empty")
    values = lambda x, i, y: x.over(y, x + y, y + y)  # noqa: E731
    return Needs(out.of(k).exactly(), index((k,), 4), out.free(), values=values, n=n)


@_unbacked(
    "unbacked: bincount",
    "F.pad(torch.bincount({0}), (0, {n}))[:{n}].clone()",
    "torch.bincount({0}, minlength={n})[:{n}].clone()",
    "torch.cat([torch.bincount({0}), torch.zeros({n}, dtype=torch.int64)]).narrow(0, 0, {n}) * 2",
    "torch.bincount({0}, minlength={n} + 2)[1:{n} + 1] + 1",
    dtypes=("int64",),
    rank=(1, 1),
    exact=True,
    noun="histogram",
)
def bincount(draw: Draw, out: Spec) -> Needs:
    """How often each number is there: as many counts as the greatest says, cut to a known size."""
    if out.numel == 0:
        raise Unfit("empty")
    k = draw.size()
    return Needs(index((k,), draw.integer(1, 12)), values=Range(0, 2 * k, exact=True), n=out.shape[0])


# Sizes read off tensors


@_unbacked(
    "unbacked: tensor of a read size",
    "{0} + torch.ones(int({1}.sum()), dtype=torch.{dtype}).sum()",
    "{0} * torch.zeros({1}.max().item() + 1, 2, dtype=torch.{dtype}).add(1).sum()",
    "{0} - torch.arange({1}.sum().item(), dtype=torch.{dtype}).sum()",
    "{0} + torch.full(({1}[0].item(), 2), 3, dtype=torch.{dtype}).sum()",
    dtypes=_SUMMED,
    rank=(0, 4),
    exact=True,
)
def read_size(draw: Draw, out: Spec) -> Needs:
    """A tensor as large as the values of another say, reduced."""
    k = draw.integer(1, 4)
    upto = Range(0, 72, exact=True)
    values = lambda x, i: (x * upto).over(x + upto, x - upto)  # noqa: E731
    return Needs(out.free(), index((k,), 4), values=values, dtype=out.dtype)


@_unbacked(
    "unbacked: slice to a read size",
    "{0}[:{1}.item()].sum(0)",
    "{0}[{1}.item():].sum(dim=0)",
    "torch.narrow({0}, 0, 0, int({1})).sum(0)",
    "torch.split({0}, [{1}.item(), {rows} - {1}.item()])[0].sum(0)",
    "torch.cat([{0}[{1}.item():], {0}[:{1}.item()]]).cumsum(0)[-1].clone()",
    "torch.tensor_split({0}, ({1}.item(),))[1].sum(0)",
    dtypes=_SUMMED,
    rank=(0, 3),
    exact=True,
)
def slice_to_read(draw: Draw, out: Spec) -> Needs:
    """The first rows, as many as a tensor says, added up."""
    given, rows = _rows(draw, out)
    return Needs(given, index((), rows + 1), values=_total(rows), rows=rows)


@_unbacked(
    "unbacked: row of a read number",
    "{0}[{1}.item()] * 1",
    "{0}.select(0, {1}.item()).clone()",
    "torch.narrow({0}, 0, {1}.item(), 1).squeeze(0) + 0",
    "{0}[int({1})].clone()",
    dtypes=_PLAIN,
    rank=(0, 3),
    exact=True,
)
def read_row(draw: Draw, out: Spec) -> Needs:
    """The row whose number a tensor holds."""
    given, rows = _rows(draw, out)
    return Needs(given, index((), rows), values=lambda x, i: x.over(Range(0, 0, exact=True)))


@_unbacked(
    "unbacked: padded by a read size",
    "F.pad({0}, (0, {1}.item()))[..., :{n}] * 1",
    "F.pad({0}, (int({1}), 0), value=1.0)[..., -{n}:].clone()",
    "{0}.unsqueeze(0).expand({1}.item() + 1, *{0}.shape).sum(0)",
    "torch.stack([{0}] * ({1}.item() + 1)).sum(0)",
    "{0}.repeat({1}.item() + 1, *[1] * {0}.dim()).flatten(0, 1).unflatten(0, (-1, {first})).sum(0)",
    dtypes=_SUMMED,
    rank=(1, 3),
    exact=True,
)
def padded_by_read(draw: Draw, out: Spec) -> Needs:
    """Padded or repeated as a tensor says, then cut or added up."""
    if out.numel == 0:
        raise Unfit("empty")
    return Needs(out.free(), index((), 4), values=lambda x, i: x.times(4), n=out.shape[-1], first=out.shape[0])


@_unbacked(
    "unbacked: split by read sizes",
    "torch.stack([part.sum(0) for part in torch.split({0}, [*{1}.tolist(), {rows} - sum({1}.tolist())])]).amax(0)",
    "sum(part.sum(0) for part in torch.split({0}, [*{1}.tolist(), {rows} - int({1}.sum())]))",
    "torch.split({0}, [*{1}.tolist(), {rows} - sum({1}.tolist())])[-1].sum(0)",
    "sum({0}[i] * i for i in {1}.tolist())",
    dtypes=_SUMMED,
    rank=(0, 2),
    exact=True,
)
def split_by_read(draw: Draw, out: Spec) -> Needs:
    """Parts whose sizes are a tensor's values, each added up."""
    if out.numel == 0:
        raise Unfit("empty")
    count = draw.integer(1, 3)
    rows = 2 * count + 1
    return Needs(out.of(rows, *out.shape), index((count,), 3), values=_total(2 * rows), rows=rows)
