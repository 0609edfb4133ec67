"""Operators that draw random numbers; a program draws at most once, see `Builder`."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, Range, Spec

_FARTHEST = 8.0
"""Standard deviations that no normal number in a program is away from the mean."""

_drawn = partial(operator, dtypes=FLOATS, saves=False, name_hint="drawn", weight=0.5)


@_drawn("torch.rand", "torch.rand({size}, dtype=torch.{dtype})")
def uniform(draw: Draw, out: Spec) -> Needs:
    """Uniform in [0, 1)."""
    return Needs(values=Range(0.0, 1.0), size=out.shape, dtype=out.dtype)


@_drawn(
    "torch.rand_like", "torch.rand_like({0})", "{0}.detach().clone().uniform_()", "torch.empty_like({0}).uniform_()"
)
def uniform_like(draw: Draw, out: Spec) -> Needs:
    """Uniform in [0, 1), in the size of a tensor."""
    return Needs(out.free(), values=Range(0.0, 1.0))


@_drawn(
    "torch.randn", "torch.randn({size}, dtype=torch.{dtype})", "torch.normal(0.0, 1.0, {size}, dtype=torch.{dtype})"
)
def normal(draw: Draw, out: Spec) -> Needs:
    """Standard normal."""
    return Needs(values=Range(-_FARTHEST, _FARTHEST), size=out.shape, dtype=out.dtype)


@_drawn("torch.randn_like", "torch.randn_like({0})", "torch.empty_like({0}).normal_()")
def normal_like(draw: Draw, out: Spec) -> Needs:
    """Standard normal, in the size of a tensor."""
    return Needs(out.free(), values=Range(-_FARTHEST, _FARTHEST))


@_drawn("torch.Tensor.uniform_", "torch.empty_like({0}).uniform_({low}, {high})")
def uniform_between(draw: Draw, out: Spec) -> Needs:
    """Uniform between two numbers, in place."""
    low, high = draw.choice(((-1.0, 1.0), (0.5, 2.5), (-3.0, -0.25)))
    return Needs(out.free(), values=Range(low, high), low=low, high=high)


@_drawn("torch.randint", "torch.randint({low}, {high}, {size})", dtypes=("int64",), exact=True)
def whole(draw: Draw, out: Spec) -> Needs:
    """Integers between two numbers."""
    low, high = draw.choice(((0, 2), (0, 9), (-4, 5), (1, 100)))
    return Needs(values=Range(low, high - 1, exact=True), low=low, high=high, size=out.shape)


@_drawn("torch.randint_like", "torch.randint_like({0}, {high})", dtypes=(*FLOATS, "int64", "int32"), exact=True)
def whole_like(draw: Draw, out: Spec) -> Needs:
    """Integers below a bound, in the size and dtype of a tensor."""
    high = draw.choice((2, 5, 9))
    return Needs(out.free(), values=Range(0, high - 1, exact=True), high=high)


@_drawn(
    "torch.bernoulli",
    "torch.bernoulli({0}, {p})",
    "{0}.bernoulli({p})",
    "torch.empty_like({0}).bernoulli_({p})",
    "torch.bernoulli(torch.full_like({0}, {p}))",
    exact=True,
    grad=False,
)
def tossed(draw: Draw, out: Spec) -> Needs:
    """Ones with some probability, zeros otherwise."""
    return Needs(out.free(), values=Range(0, 1, exact=True), p=draw.choice((0.25, 0.3, 0.5, 0.8)))


def _dropout_scale(p: float) -> Range:
    """The range of the factors of dropout, with a margin for rounding."""
    return Range(0.0, 1.0 / (1.0 - p) + 0.01)


@_drawn("torch.nn.functional.dropout", "F.dropout({0}, {p}, training=True)", "F.dropout({0}, p={p})", weight=2)
def dropped(draw: Draw, out: Spec) -> Needs:
    """Some elements zeroed, the others scaled up."""
    p = draw.choice((0.1, 0.25, 0.5))
    return Needs(out.free(), values=lambda x: x * _dropout_scale(p), p=p)


@_drawn("torch.nn.Dropout: drawn", "{layer}({0})", weight=2)
def dropout_layer(draw: Draw, out: Spec) -> Needs:
    """A layer in training."""
    p = draw.choice((0.1, 0.25, 0.5))
    return Needs(out.free(), values=lambda x: x * _dropout_scale(p), layers={"layer": f"nn.Dropout({p})"})
