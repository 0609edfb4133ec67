"""The functions of torch whose results have a data-dependent size, by their own names, each reduced to a known size."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.operators.unbacked.unbacked import SUMMED, some_tensor, summed_places, total, unbacked
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import WIDE, Spec


@unbacked(
    "torch.nonzero",
    "torch.nonzero({0}).sum(dim=0)",
    "{0}.nonzero().sum(0)",
    "F.pad(torch.nonzero({0}), (0, 0, 1, 0)).amax(dim=0)",
    dtypes=("int64",),
    rank=(1, 1),
    exact=True,
    name_hint="place",
)
def nonzero(draw: Draw, out: Spec) -> Needs:
    """The indices of nonzero elements, as rows that are summed, or whose largest is taken."""
    return summed_places(draw, out)


@unbacked(
    "torch.masked_select",
    "torch.masked_select({0}, {1}).sum()",
    "{0}.masked_select({1}).sum(0)",
    "F.pad(torch.masked_select({0}, {1}), (1, 2)).sum()",
    dtypes=SUMMED,
    rank=(0, 0),
    exact=True,
    name_hint="total",
)
def masked_select(draw: Draw, out: Spec) -> Needs:
    """The elements that a mask selects, summed."""
    operand = some_tensor(draw, out)
    return Needs(operand, Spec(operand.size, "bool"), values=total(operand.numel))


@unbacked(
    "torch.unique",
    "torch.unique({0}).sum()",
    "{0}.unique().sum(0)",
    "torch.unique({0}, return_counts=True)[0].sum()",
    "F.pad(torch.unique({0}), (1, 0)).amax()",
    dtypes=SUMMED,
    rank=(0, 0),
    exact=True,
    grad=False,
)
def unique(draw: Draw, out: Spec) -> Needs:
    """The different values of a tensor, which are exact, summed, or the largest of them and 0."""
    operand = some_tensor(draw, out).exactly().within(-64, 64)
    return Needs(operand, values=total(operand.numel))


@operator(
    "torch.Tensor.item",
    "{0}.item()",
    dtypes=("int64", "float64"),
    rank=(-1, -1),
    family="unbacked",
    grad=False,
    exact=True,
    name_hint="read",
)
def item(draw: Draw, out: Spec) -> Needs:
    """The number that a tensor of one element holds."""
    dtype = draw.choice(WIDE if out.dtype == "float64" else ("int64", "int32"))
    size = (1,) * draw.choice((0, 0, 0, 1, 2))
    return Needs(Spec(size, dtype).exactly().within(-8, 8))
