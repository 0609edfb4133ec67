"""Data-dependent sizes: numbers read from tensors, used as sizes."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.unbacked.unbacked import PLAIN, SUMMED, rows_of, total, unbacked
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import Range, Spec, UnsatisfiableSpec, index


@unbacked(
    "unbacked: tensor of a read size",
    "{0} + torch.ones(int({1}.sum()), dtype=torch.{dtype}).sum()",
    "{0} * torch.zeros({1}.max().item() + 1, 2, dtype=torch.{dtype}).add(1).sum()",
    "{0} - torch.arange({1}.sum().item(), dtype=torch.{dtype}).sum()",
    "{0} + torch.full(({1}[0].item(), 2), 3, dtype=torch.{dtype}).sum()",
    dtypes=SUMMED,
    rank=(0, 4),
    exact=True,
)
def read_size(draw: Draw, out: Spec) -> Needs:
    """A tensor whose size is read from another tensor, reduced."""
    k = draw.integer(1, 4)
    upto = Range(0, 72, exact=True)
    values = lambda x, i: (x * upto).over(x + upto, x - upto)  # noqa: E731
    return Needs(out.free(), index((k,), 4), values=values, dtype=out.dtype)


@unbacked(
    "unbacked: slice to a read size",
    "{0}[:{1}.item()].sum(0)",
    "{0}[{1}.item():].sum(dim=0)",
    "torch.narrow({0}, 0, 0, int({1})).sum(0)",
    "torch.split({0}, [{1}.item(), {rows} - {1}.item()])[0].sum(0)",
    "torch.cat([{0}[{1}.item():], {0}[:{1}.item()]]).cumsum(0)[-1].clone()",
    "torch.tensor_split({0}, ({1}.item(),))[1].sum(0)",
    dtypes=SUMMED,
    rank=(0, 3),
    exact=True,
)
def slice_to_read(draw: Draw, out: Spec) -> Needs:
    """The sum of as many rows as the value of a tensor."""
    operand, rows = rows_of(draw, out)
    return Needs(operand, index((), rows + 1), values=total(rows), rows=rows)


@unbacked(
    "unbacked: row of a read number",
    "{0}[{1}.item()] * 1",
    "{0}.select(0, {1}.item()).clone()",
    "torch.narrow({0}, 0, {1}.item(), 1).squeeze(0) + 0",
    "{0}[int({1})].clone()",
    dtypes=PLAIN,
    rank=(0, 3),
    exact=True,
)
def read_row(draw: Draw, out: Spec) -> Needs:
    """The row at the index that a tensor holds."""
    operand, rows = rows_of(draw, out)
    return Needs(operand, index((), rows), values=lambda x, i: x.over(Range(0, 0, exact=True)))


@unbacked(
    "unbacked: padded by a read size",
    "F.pad({0}, (0, {1}.item()))[..., :{n}] * 1",
    "F.pad({0}, (int({1}), 0), value=1.0)[..., -{n}:].clone()",
    "{0}.unsqueeze(0).expand({1}.item() + 1, *{0}.shape).sum(0)",
    "torch.stack([{0}] * ({1}.item() + 1)).sum(0)",
    "{0}.repeat({1}.item() + 1, *[1] * {0}.dim()).flatten(0, 1).unflatten(0, (-1, {first})).sum(0)",
    dtypes=SUMMED,
    rank=(1, 3),
    exact=True,
)
def padded_by_read(draw: Draw, out: Spec) -> Needs:
    """Padded or repeated by the value of a tensor, then truncated or summed."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    return Needs(out.free(), index((), 4), values=lambda x, i: x.times(4), n=out.shape[-1], first=out.shape[0])


@unbacked(
    "unbacked: split by read sizes",
    "torch.stack([part.sum(0) for part in torch.split({0}, [*{1}.tolist(), {rows} - sum({1}.tolist())])]).amax(0)",
    "sum(part.sum(0) for part in torch.split({0}, [*{1}.tolist(), {rows} - int({1}.sum())]))",
    "torch.split({0}, [*{1}.tolist(), {rows} - sum({1}.tolist())])[-1].sum(0)",
    "sum({0}[i] * i for i in {1}.tolist())",
    dtypes=SUMMED,
    rank=(0, 2),
    exact=True,
)
def split_by_read(draw: Draw, out: Spec) -> Needs:
    """Sums of parts whose sizes are the values of a tensor."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    count = draw.integer(1, 3)
    rows = 2 * count + 1
    return Needs(out.of(rows, *out.shape), index((count,), 3), values=total(2 * rows), rows=rows)
