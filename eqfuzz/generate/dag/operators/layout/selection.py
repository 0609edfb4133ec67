"""Operators that select elements: extremes, masks, bounds, interpolation."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import BOOL, FLOATS, NUMBERS, REAL, Range, Spec, constant

_binary = partial(operator, family="binary")


for _name in ("maximum", "minimum", "fmax", "fmin"):

    @_binary(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{1}})",
        f"{{0}}.{_name}({{1}})",
        dtypes=REAL,
        exact=True,
        out=[f"torch.{_name}({{0}}, {{1}}, out={{out}})"],
        name_hint="bound",
    )
    def extreme(draw: Draw, out: Spec) -> Needs:
        """The larger or the smaller element; they differ in how they treat NaN."""
        return Needs(out.free(), draw.broadcast(out).free())


@_binary(
    "torch.where",
    "torch.where({0}, {1}, {2})",
    "{1}.where({0}, {2})",
    dtypes=NUMBERS + BOOL,
    exact=True,
    name_hint="chosen",
    weight=2,
)
def where(draw: Draw, out: Spec) -> Needs:
    """The elements of one tensor where the mask is true, of the other elsewhere."""
    mask = draw.broadcast(out.as_("bool")).free().as_("bool")
    if draw.chance(0.3) and out.dtype in ("float32", "int64"):
        number = draw.number(out.exactly(), -2, 2)
        number = float(number) if out.is_float else number
        number_range = constant(number)
        return Needs(
            mask,
            out.free(),
            values=lambda m, x: x.over(number_range),
            forms=("torch.where({0}, {1}, {value})",),
            value=number,
        )
    return Needs(mask, out.free(), draw.broadcast(out).free(), values=lambda m, x, y: x.over(y))


@_binary(
    "torch.masked_fill",
    "{0}.masked_fill({1}, {value})",
    "torch.masked_fill({0}, {1}, {value})",
    dtypes=REAL,
    exact=True,
    inplace=["{0}.masked_fill_({1}, {value})", "{0}[{1}.expand_as({0})] = {value}"],
    name_hint="filled",
)
def masked_fill(draw: Draw, out: Spec) -> Needs:
    """Filled with a number where the mask is true."""
    number = draw.number(out.exactly(), 0, 3)
    number_range = constant(number)
    mask = draw.broadcast(out).free().as_("bool")
    return Needs(out.free(), mask, values=lambda x, m: x.over(number_range), value=number)


@_binary(
    "torch.clamp",
    "torch.clamp({0}, {low}, {high})",
    "{0}.clamp(min={low}, max={high})",
    "torch.clip({0}, {low}, {high})",
    dtypes=REAL,
    exact=True,
    inplace=["{0}.clamp_({low}, {high})"],
    name_hint="clipped",
)
def clamp(draw: Draw, out: Spec) -> Needs:
    """To constant bounds."""
    low, high = draw.choice(((0, 3), (1, 6), (0, 1), (2, 5)))
    if out.dtype != "uint8" and draw.chance(0.6):
        low = -high
    return Needs(out.free(), values=lambda x: Range(low, high, x.exact, x.nonfinite), low=low, high=high)


@_binary("torch.clamp.Tensor", "torch.clamp({0}, {1}, {2})", "{0}.clamp(min={1}, max={2})", dtypes=REAL, exact=True)
def clamp_to_tensors(draw: Draw, out: Spec) -> Needs:
    """To bounds that are tensors; the lower one may be the larger."""
    return Needs(out.free(), draw.broadcast(out).free(), draw.broadcast(out).free())


for _name in ("clamp_min", "clamp_max"):

    @_binary(
        f"torch.{_name}",
        f"torch.{_name}({{0}}, {{value}})",
        f"{{0}}.{_name}({{value}})",
        dtypes=REAL,
        exact=True,
        inplace=[f"{{0}}.{_name}_({{value}})"],
        name_hint="clipped",
    )
    def clamp_one_side(draw: Draw, out: Spec) -> Needs:
        """To one bound."""
        number = draw.number(out.exactly(), 0, 3)
        number_range = constant(number)
        return Needs(out.free(), values=lambda x: x.over(number_range), value=number)


@_binary(
    "torch.lerp",
    "torch.lerp({0}, {1}, {weight})",
    "{0}.lerp({1}, {weight})",
    dtypes=FLOATS,
    inplace=["{0}.lerp_({1}, {weight})"],
)
def lerp(draw: Draw, out: Spec) -> Needs:
    """Interpolated between two tensors, by a number or a tensor."""
    if draw.chance(0.4):
        return Needs(
            out.free(),
            draw.broadcast(out).free(),
            draw.broadcast(out).free().within(0.0, 1.0),
            values=lambda x, y, w: x.over(y).inexact(),
            forms=("torch.lerp({0}, {1}, {2})", "{0}.lerp({1}, {2})"),
        )
    return Needs(
        out.free(), draw.broadcast(out).free(), values=lambda x, y: x.over(y).inexact(), weight=draw.choice((0.3, 0.7))
    )
