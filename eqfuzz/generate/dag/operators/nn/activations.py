"""Activations that take a dimension, a slope or weights; `elementwise` has those that take a tensor only."""

from __future__ import annotations

import math

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, INTEGERS, Range, Spec, UnsatisfiableSpec


def _some(out: Spec) -> Spec:
    """The same. Raises Unfit where it is empty."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    return out


def _softened(name: str, out: Spec, axis: int, x: Range) -> Range:
    if name != "log_softmax":
        return x.with_(0.0, 1.01, exact=False)
    return x.with_(x.low - x.high - math.log(int(out.shape[axis])) - 0.1, 0.0, exact=False)


for _name, _more in (
    ("softmax", ("torch.softmax({0}, dim={dim})", "{0}.softmax({dim})", "nn.Softmax(dim={dim})({0})")),
    ("log_softmax", ("torch.log_softmax({0}, dim={dim})", "{0}.log_softmax({dim})")),
    ("softmin", ("nn.Softmin(dim={dim})({0})",)),
):

    @operator(
        f"torch.nn.functional.{_name}",
        f"F.{_name}({{0}}, dim={{dim}})",
        *_more,
        dtypes=FLOATS,
        rank=(1, 5),
        noun="probabilities" if _name != "log_softmax" else "scores",
        weight=3 if _name == "softmax" else 1.5,
    )
    def soften(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Along any dimension."""
        axis = draw.axis(_some(out))
        values = lambda x: _softened(_name, out, axis, x)  # noqa: E731
        return Needs(out.free(), values=values, dim=draw.spelled(axis, out.rank))

    @operator(
        f"torch.nn.functional.{_name}.dtype",
        f"F.{_name}({{0}}, dim={{dim}}, dtype=torch.{{dtype}})",
        dtypes=FLOATS,
        rank=(1, 4),
        noun="probabilities" if _name != "log_softmax" else "scores",
    )
    def soften_converted(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Of another dtype, converted before."""
        axis = draw.axis(_some(out))
        given = Spec(out.size, draw.choice([d for d in ("float32", "bfloat16", "float64", "int64") if d != out.dtype]))
        values = lambda x: _softened(_name, out, axis, x)  # noqa: E731
        dim = draw.spelled(axis, out.rank)
        return Needs(given.within(-16, 16), values=values, dim=dim, dtype=out.dtype)


@operator(
    "torch.nn.functional.glu", "F.glu({0}, dim={dim})", "nn.GLU({dim})({0})", dtypes=FLOATS, rank=(1, 5), noun="gated"
)
def glu(draw: Draw, out: Spec) -> Needs:
    """One half of a dimension, gated by the other."""
    axis = draw.axis(_some(out))
    size = [2 * n if i == axis else n for i, n in enumerate(out.shape)]
    dim = draw.spelled(axis, out.rank)
    return Needs(out.of(*size), values=lambda x: (x * Range(0, 1)).inexact(), dim=dim)


@operator(
    "torch.nn.functional.leaky_relu",
    "F.leaky_relu({0}, {slope})",
    "F.leaky_relu({0}, negative_slope={slope})",
    "nn.LeakyReLU({slope})({0})",
    dtypes=FLOATS,
    inplace=["F.leaky_relu_({0}, {slope})", "F.leaky_relu({0}, {slope}, inplace=True)"],
    noun="active",
)
def leaky_relu(draw: Draw, out: Spec) -> Needs:
    """With some slopes below zero, now and then a steep one."""
    slope = draw.choice((0.01, 0.2, 0.1, 1.5, 0.0))
    return Needs(out.free(), values=lambda x: x.over(x * Range(slope, slope)), slope=slope)


@operator(
    "torch.nn.functional.gelu",
    "F.gelu({0})",
    'F.gelu({0}, approximate="tanh")',
    'nn.GELU(approximate="tanh")({0})',
    dtypes=FLOATS,
    noun="active",
    weight=2,
)
def gelu(draw: Draw, out: Spec) -> Needs:
    """Exact or through tanh."""
    return Needs(out.free(), values=lambda x: x.with_(-0.2, max(x.high, 0.1) * 1.01, exact=False))


@operator(
    "torch.nn.functional.hardswish",
    "F.hardswish({0})",
    "nn.Hardswish()({0})",
    dtypes=FLOATS,
    inplace=["F.hardswish({0}, inplace=True)"],
    noun="active",
)
def hardswish(draw: Draw, out: Spec) -> Needs:
    """Pieces of a line and a parabola."""
    return Needs(out.free(), values=lambda x: x.with_(-0.4, max(x.high, 0.1) * 1.01, exact=False))


@operator(
    "torch.nn.functional.prelu",
    "F.prelu({0}, {1})",
    "torch.prelu({0}, {1})",
    "F.prelu({0}, weight={1})",
    dtypes=FLOATS,
    rank=(1, 5),
    noun="active",
)
def prelu(draw: Draw, out: Spec) -> Needs:
    """With one slope, or one for each channel."""
    each = out.rank > 1 and draw.chance(0.6)
    slope = _some(out).of(out.shape[1] if each else 1).within(-1.0, 1.0)
    return Needs(out.free(), slope, values=lambda x, w: x.over(x * w))


@operator(
    "torch.nn.functional.threshold",
    "F.threshold({0}, {limit}, {value})",
    "F.threshold({0}, threshold={limit}, value={value})",
    "nn.Threshold({limit}, {value})({0})",
    dtypes=FLOATS + INTEGERS,
    exact=True,
    inplace=["F.threshold_({0}, {limit}, {value})", "F.threshold({0}, {limit}, {value}, inplace=True)"],
    noun="active",
)
def threshold(draw: Draw, out: Spec) -> Needs:
    """Continuous, or of exact values."""
    limit = draw.choice((0, 1, 2))
    if draw.chance(0.5):
        return Needs(out.free(), values=lambda x: x.over(Range(limit, limit, exact=True)), limit=limit, value=limit)
    value = draw.choice((0, 3, 7))
    said = Range(value, value, exact=True)
    return Needs(out.free().exactly(), values=lambda x: x.over(said), limit=limit, value=value)


@operator(
    "torch.nn.functional.rrelu",
    "F.rrelu({0}, {low}, {high}, training=False)",
    "F.rrelu({0}, lower={low}, upper={high})",
    "torch.rrelu({0}, {low}, {high}, training=False)",
    dtypes=("float32", "float64", "bfloat16"),
    noun="active",
)
def rrelu(draw: Draw, out: Spec) -> Needs:
    """Not in training: with the slope in the middle."""
    low, high = draw.choice(((0.125, 0.25), (0.1, 0.3), (0.0, 0.5)))
    return Needs(out.free(), values=lambda x: x.over(x * Range(0, 0.5)), low=low, high=high)


@operator(
    "torch.nn.functional.hardtanh.bounds",
    "F.hardtanh({0}, {low}, {high})",
    "F.hardtanh({0}, min_val={low}, max_val={high})",
    "nn.Hardtanh({low}, {high})({0})",
    dtypes=FLOATS,
    exact=True,
    inplace=["F.hardtanh_({0}, {low}, {high})"],
    noun="active",
)
def hardtanh(draw: Draw, out: Spec) -> Needs:
    """With bounds of its own."""
    low, high = draw.choice(((-2, 2), (-1, 3), (0, 6), (-3, 0)))
    return Needs(out.free(), values=lambda x: x.with_(low, high), low=low, high=high)


@operator(
    "torch.nn.functional.softplus.threshold",
    "F.softplus({0}, beta={beta}, threshold={limit})",
    "nn.Softplus({beta}, {limit})({0})",
    dtypes=FLOATS,
    noun="active",
)
def softplus(draw: Draw, out: Spec) -> Needs:
    """A line from far above zero on."""
    beta, limit = draw.choice(((1, 20), (2, 20), (0.5, 15), (3.0, 25)))
    return Needs(out.free(), values=lambda x: x.with_(0.0, max(x.high, 0.0) + 2, exact=False), beta=beta, limit=limit)
