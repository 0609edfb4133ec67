"""Data-dependent sizes: elements that a mask selects, and their indices, reduced to a known size."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import WIDE, Dim, Range, Spec, UnsatisfiableSpec

PLAIN = (*WIDE, "int64", "int32")
SUMMED = (*WIDE, "int64")
unbacked = partial(operator, family="unbacked")


def some_tensor(draw: Draw, out: Spec) -> Spec:
    """A small tensor of the dtype of ``out``."""
    return out.of(*(draw.size(9) for _ in range(draw.integer(1, 2))))


def rows_of(draw: Draw, out: Spec) -> tuple[Spec, int]:
    """A tensor whose rows have the size of ``out``, and their number. Raises UnsatisfiableSpec for empty rows."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    rows = draw.integer(2, 9)
    return out.of(rows, *out.shape), rows


def _mask(spec: Spec) -> Spec:
    return Spec(spec.size, "bool")


def total(count: int) -> partial[Range]:
    """A range function: sums of up to ``count`` values of the first input."""
    return partial(_summed, count)


def _summed(count: int, x: Range, *_: Range) -> Range:
    return x.times(count)


def summed_places(draw: Draw, out: Spec) -> Needs:
    """A tensor with a dimension for each element of ``out``, to sum nonzero indices of. Raises UnsatisfiableSpec."""
    rank = out.shape[0]
    if isinstance(rank, Dim) or not 1 <= rank <= 4:
        raise UnsatisfiableSpec("no tensor of that rank")
    operand = Spec(tuple(draw.size(6) for _ in range(rank)), draw.choice(("bool", "int64", "float32")))
    return Needs(operand.exactly(), values=Range(0, 6 * operand.numel, exact=True))


@unbacked(
    "unbacked: sum of nonzero",
    "torch.nonzero({0}).sum(dim=0)",
    "{0}.nonzero().sum(0)",
    "torch.argwhere({0}).sum(0)",
    "torch.stack(torch.where({0}), dim=1).sum(dim=0)",
    "torch.stack([one.sum() for one in torch.nonzero({0}, as_tuple=True)])",
    dtypes=("int64",),
    rank=(1, 1),
    exact=True,
    name_hint="place",
)
def sum_of_nonzero(draw: Draw, out: Spec) -> Needs:
    """The sum of the indices of nonzero elements, one number per dimension."""
    return summed_places(draw, out)


@unbacked(
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
    """The indices of nonzero elements, reduced to one number."""
    operand = Spec((draw.size(9), draw.size(9))[: draw.integer(1, 2)], draw.choice(("bool", "int64", "float32")))
    return Needs(operand.exactly(), values=Range(0, 20 * operand.numel, exact=True))


@unbacked(
    "unbacked: nonzero of known size",
    "torch.nonzero_static({0}, size={n}, fill_value={fill})",
    dtypes=("int64",),
    rank=(2, 2),
    exact=True,
)
def nonzero_static(draw: Draw, out: Spec) -> Needs:
    """The first indices of nonzero elements, with a fill value."""
    n, rank = out.shape
    if isinstance(n, Dim) or isinstance(rank, Dim) or not 1 <= rank <= 3:
        raise UnsatisfiableSpec("no tensor of that rank")
    operand = Spec(tuple(draw.size(6) for _ in range(rank)), "bool")
    return Needs(operand, values=Range(-1, 6, exact=True), n=n, fill=draw.choice((-1, 0, 5)))


@unbacked(
    "unbacked: count as a number",
    "{0} * torch.nonzero({1}).shape[0]",
    "{0} + {1}.nonzero().size(0)",
    "{0} - len(torch.masked_select({1}, {1}))",
    "{0} * {1}[{1}].numel()",
    "{0} + torch.ones_like({1}.nonzero()[:, 0], dtype=torch.{dtype}).sum()",
    dtypes=SUMMED,
    rank=(0, 4),
    exact=True,
)
def count_as_number(draw: Draw, out: Spec) -> Needs:
    """A data-dependent size in arithmetic."""
    mask = Spec((draw.size(),), "bool")
    upto = Range(0, mask.numel, exact=True)
    values = lambda x, m: (x * upto).over(x + upto, x - upto)  # noqa: E731
    return Needs(out.free(), mask, values=values, dtype=out.dtype)


@unbacked(
    "unbacked: sum of selected",
    "torch.masked_select({0}, {1}).sum()",
    "{0}[{1}].sum()",
    "torch.sum({0}[torch.nonzero({1}, as_tuple=True)])",
    "torch.cumsum({0}[{1}], dim=0)[-1:].sum()",
    "torch.index_select({0}.flatten(), 0, {1}.flatten().nonzero().flatten()).sum()",
    dtypes=SUMMED,
    rank=(0, 0),
    exact=True,
    name_hint="total",
)
def sum_of_selected(draw: Draw, out: Spec) -> Needs:
    """The sum of the elements that a mask selects."""
    operand = some_tensor(draw, out)
    return Needs(operand, _mask(operand), values=total(operand.numel))


@unbacked(
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
    """The mean of the elements that a mask selects and one more."""
    operand = some_tensor(draw, out)
    return Needs(operand, _mask(operand), out.of(1), values=lambda x, m, y: _wider(x.over(y, Range(0, 1))))


def _wider(x: Range) -> Range:
    return Range(x.low * 1.02 - x.most * 0.02, x.high + x.most * 0.02, nonfinite=x.nonfinite)


@unbacked(
    "unbacked: extreme of selected",
    "torch.cat([{0}[{1}], {2}]).amax()",
    "torch.cat([{2}, torch.masked_select({0}, {1})]).min()",
    "torch.cat([{0}[{1}], {2}]).sort().values[0]",
    "torch.cat([{2}, {0}[{1}]]).flip(0)[0].clone()",
    dtypes=PLAIN,
    rank=(0, 0),
    exact=True,
)
def extreme_of_selected(draw: Draw, out: Spec) -> Needs:
    """The largest, smallest or last of the elements that a mask selects."""
    operand = some_tensor(draw, out).within(-1e6, 1e6)
    return Needs(operand, _mask(operand), out.of(1).within(-1e6, 1e6), values=lambda x, m, y: x.over(y))


@unbacked(
    "unbacked: selected rows",
    "{0}[{1}].sum(0)",
    "torch.index_select({0}, 0, {1}.nonzero().squeeze(1)).sum(0)",
    "{0}[torch.where({1})[0]].sum(dim=0)",
    "torch.cat([{0}[{1}], {0}[~{1}] * 2]).sum(0)",
    "torch.einsum('r...->...', {0}[{1}].contiguous())",
    dtypes=SUMMED,
    rank=(1, 3),
    exact=True,
    name_hint="total",
)
def selected_rows(draw: Draw, out: Spec) -> Needs:
    """The sum of the rows that a mask selects."""
    operand, rows = rows_of(draw, out)
    return Needs(operand, Spec((rows,), "bool"), values=total(2 * rows))


@unbacked(
    "unbacked: product of selected rows",
    "({0}[{1}] @ {2}).sum(0)",
    "F.linear({0}[{1}], {2}.t()).sum(dim=0)",
    "torch.mm({0}[{1}].t(), {0}[{1}]).sum(0) @ {2}",
    "F.relu(torch.mm({0}[{1}.nonzero()[:, 0]], {2})).sum(0)",
    dtypes=WIDE,
    rank=(1, 1),
)
def product_of_selected(draw: Draw, out: Spec) -> Needs:
    """A matrix product with the rows that a mask selects."""
    rows, k = draw.integer(2, 9), draw.size(7)

    def values(x: Range, m: Range, w: Range) -> Range:
        most = max(x.most, x.most**2 * k) * w.most * k * rows
        return Range(-most, most)

    operand = out.of(rows, k).within(-4, 4)
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    return Needs(operand, Spec((rows,), "bool"), out.of(k, *out.shape).within(-16, 16), values=values)


@unbacked(
    "unbacked: selected and put back",
    "{0}.masked_scatter({1}, torch.masked_select({0}, {1}) * 2)",
    "torch.zeros_like({0}).index_put(torch.nonzero({1}, as_tuple=True), {0}[{1}])",
    "torch.zeros_like({0}).masked_scatter({1}, {0}[{1}].neg())",
    "{0}.index_put(({1},), {0}[{1}] - 1)",
    dtypes=PLAIN,
    rank=(1, 4),
    exact=True,
    name_hint="written",
)
def put_back(draw: Draw, out: Spec) -> Needs:
    """The elements that a mask selects, changed and written back."""
    zero, one = Range(0, 0, exact=True), Range(1, 1, exact=True)
    return Needs(out.free(), _mask(out), values=lambda x, m: x.over(x + x, -x, x - one, zero))


@unbacked(
    "unbacked: selected twice",
    "{0}[{1}][{0}[{1}] > 0].sum()",
    "torch.masked_select({0}[{1}], {0}[{1}] <= 1).sum()",
    "{0}[{1}][::2].sum()",
    "{0}[{1}].reshape(-1, 1).expand(-1, 3).sum()",
    dtypes=SUMMED,
    rank=(0, 0),
    exact=True,
)
def selected_twice(draw: Draw, out: Spec) -> Needs:
    """A selection from a selection, of exact values."""
    operand = some_tensor(draw, out).exactly()
    return Needs(operand, _mask(operand), values=total(3 * operand.numel))
