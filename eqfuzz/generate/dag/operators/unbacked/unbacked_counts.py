"""Data-dependent sizes: unique elements, and repetitions."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.unbacked.unbacked import PLAIN, SUMMED, rows_of, some_tensor, total, unbacked
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Range, Spec, UnsatisfiableSpec, index


@unbacked(
    "unbacked: unique",
    "torch.unique({0}).sum()",
    "torch.unique({0}, sorted=True)[0].clone()",
    "{0}.unique().amax()",
    "torch.unique_consecutive({0}).sum()",
    "torch.unique({0}, return_counts=True)[0].sum()",
    dtypes=PLAIN[:3],
    rank=(0, 0),
    exact=True,
    grad=False,
)
def unique(draw: Draw, out: Spec) -> Needs:
    """The unique exact values, reduced."""
    operand = some_tensor(draw, out).exactly().within(-64, 64)
    return Needs(operand, values=total(operand.numel))


@unbacked(
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
    """The counts of the unique exact values."""
    operand = some_tensor(draw, out.as_(draw.choice(("int64", "float32", "int32")))).exactly()
    return Needs(operand.within(-64, 64), values=Range(0, operand.numel**2, exact=True))


@unbacked(
    "unbacked: inverse of unique",
    "torch.unique({0}, return_inverse=True)[1]",
    "torch.searchsorted(torch.unique({0}), {0})",
    "torch.unique({0}, return_counts=True)[1][torch.unique({0}, return_inverse=True)[1]]",
    dtypes=("int64",),
    rank=(1, 3),
    exact=True,
)
def inverse_of_unique(draw: Draw, out: Spec) -> Needs:
    """The index of each exact value among the unique ones, or its count."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    operand = out.as_(draw.choice(("int64", "float32"))).exactly().within(-64, 64)
    return Needs(operand.dense(), values=Range(0, 8 * out.numel + 4096, exact=True))


@unbacked(
    "unbacked: unique rows",
    "torch.unique({0}, dim=0).sum(0)",
    "torch.unique({0}, dim=0)[-1].clone()",
    "torch.unique({0}, dim=0, return_counts=True)[0].amin(0)",
    "torch.unique_consecutive({0}, dim=0).sum(dim=0)",
    dtypes=SUMMED,
    rank=(1, 2),
    exact=True,
    grad=False,
)
def unique_rows(draw: Draw, out: Spec) -> Needs:
    """The unique rows of exact values, reduced."""
    operand, rows = rows_of(draw, out)
    return Needs(operand.exactly().within(0, 2), values=total(rows))


@unbacked(
    "unbacked: rows of unique",
    "F.embedding(torch.unique({1}), {0}).sum(0)",
    "{0}[torch.unique({1})].sum(dim=0)",
    "torch.index_select({0}, 0, {1}.unique()).sum(0)",
    "torch.zeros_like({0}).index_copy(0, {1}.unique(), {0}[{1}.unique()]).sum(0)",
    dtypes=SUMMED[:2],
    rank=(1, 1),
    exact=True,
    name_hint="embedded",
)
def rows_of_unique(draw: Draw, out: Spec) -> Needs:
    """The rows of a table at unique indices."""
    operand, rows = rows_of(draw, out)
    return Needs(operand, index((draw.size(9),), rows), values=total(rows))


@unbacked(
    "unbacked: repeated rows",
    "torch.repeat_interleave({0}, {1}, dim=0).sum(0)",
    "{0}.repeat_interleave({1}, dim=0).sum(dim=0)",
    "{0}[torch.repeat_interleave({1})].sum(0)",
    "torch.cat([{0}, torch.repeat_interleave({0}, {1}, 0)]).sum(0)",
    dtypes=SUMMED,
    rank=(1, 3),
    exact=True,
    name_hint="total",
)
def repeated_rows(draw: Draw, out: Spec) -> Needs:
    """The sum of rows repeated by the values of a tensor."""
    operand, rows = rows_of(draw, out)
    return Needs(operand, index((rows,), 4), values=total(4 * rows))


@unbacked(
    "unbacked: repeated and cut",
    "torch.cat([torch.repeat_interleave({0}, {1}), {2}])[:{n}].clone()",
    "torch.cat([{0}.repeat_interleave({1}), {2}]).narrow(0, 0, {n}).clone()",
    "torch.cat([{0}[{0} != 0], {2}])[-{n}:].clone()",
    "torch.cat([{2}, torch.repeat_interleave({0}, {1})]).flip(0)[:{n}] + {2}",
    dtypes=PLAIN,
    rank=(1, 1),
    exact=True,
)
def repeated_and_cut(draw: Draw, out: Spec) -> Needs:
    """Exact elements repeated by the values of a tensor, truncated to a known size."""
    n, k = out.shape[0], draw.size(9)
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    values = lambda x, i, y: x.over(y, x + y, y + y)  # noqa: E731
    return Needs(out.of(k).exactly(), index((k,), 4), out.free(), values=values, n=n)


@unbacked(
    "unbacked: bincount",
    "F.pad(torch.bincount({0}), (0, {n}))[:{n}].clone()",
    "torch.bincount({0}, minlength={n})[:{n}].clone()",
    "torch.cat([torch.bincount({0}), torch.zeros({n}, dtype=torch.int64)]).narrow(0, 0, {n}) * 2",
    "torch.bincount({0}, minlength={n} + 2)[1:{n} + 1] + 1",
    dtypes=("int64",),
    rank=(1, 1),
    exact=True,
    name_hint="histogram",
)
def bincount(draw: Draw, out: Spec) -> Needs:
    """The count of each integer, truncated to a known size."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    k = draw.size()
    return Needs(index((k,), draw.integer(1, 12)), values=Range(0, 2 * k, exact=True), n=out.shape[0])
