"""Activations with a dimension, a slope or weights; those of a tensor only are in `elementwise`."""

from __future__ import annotations

import math

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, INTEGERS, Range, Spec, UnsatisfiableSpec


def _some(out: Spec) -> Spec:
    """``out``. Raises UnsatisfiableSpec where it has no elements."""
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
        name_hint="probabilities" if _name != "log_softmax" else "scores",
        weight=3 if _name == "softmax" else 1.5,
    )
    def soften(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Along any dimension."""
        axis = draw.axis(_some(out))
        values = lambda x: _softened(_name, out, axis, x)  # noqa: E731
        return Needs(out.free(), values=values, dim=draw.signed_axis(axis, out.rank))

    @operator(
        f"torch.nn.functional.{_name}.dtype",
        f"F.{_name}({{0}}, dim={{dim}}, dtype=torch.{{dtype}})",
        dtypes=FLOATS,
        rank=(1, 4),
        name_hint="probabilities" if _name != "log_softmax" else "scores",
    )
    def soften_converted(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """With an input of another dtype."""
        axis = draw.axis(_some(out))
        operand = Spec(
            out.size, draw.choice([d for d in ("float32", "bfloat16", "float64", "int64") if d != out.dtype])
        )
        values = lambda x: _softened(_name, out, axis, x)  # noqa: E731
        dim = draw.signed_axis(axis, out.rank)
        return Needs(operand.within(-16, 16), values=values, dim=dim, dtype=out.dtype)


@operator(
    "torch.nn.functional.glu",
    "F.glu({0}, dim={dim})",
    "nn.GLU({dim})({0})",
    dtypes=FLOATS,
    rank=(1, 5),
    name_hint="gated",
)
def glu(draw: Draw, out: Spec) -> Needs:
    """One half of a dimension, gated by the other."""
    axis = draw.axis(_some(out))
    size = [2 * n if i == axis else n for i, n in enumerate(out.shape)]
    dim = draw.signed_axis(axis, out.rank)
    return Needs(out.of(*size), values=lambda x: (x * Range(0, 1)).inexact(), dim=dim)


@operator(
    "torch.nn.functional.leaky_relu",
    "F.leaky_relu({0}, {slope})",
    "F.leaky_relu({0}, negative_slope={slope})",
    "nn.LeakyReLU({slope})({0})",
    dtypes=FLOATS,
    inplace=["F.leaky_relu_({0}, {slope})", "F.leaky_relu({0}, {slope}, inplace=True)"],
    name_hint="active",
)
def leaky_relu(draw: Draw, out: Spec) -> Needs:
    """With several negative slopes, also a steep one."""
    slope = draw.choice((0.01, 0.2, 0.1, 1.5, 0.0))
    return Needs(out.free(), values=lambda x: x.over(x * Range(slope, slope)), slope=slope)


@operator(
    "torch.nn.functional.gelu",
    "F.gelu({0})",
    'F.gelu({0}, approximate="tanh")',
    'nn.GELU(approximate="tanh")({0})',
    dtypes=FLOATS,
    name_hint="active",
    weight=2,
)
def gelu(draw: Draw, out: Spec) -> Needs:
    """Exact, or approximated by tanh."""
    return Needs(out.free(), values=lambda x: x.with_(-0.2, max(x.high, 0.1) * 1.01, exact=False))


@operator(
    "torch.nn.functional.hardswish",
    "F.hardswish({0})",
    "nn.Hardswish()({0})",
    dtypes=FLOATS,
    inplace=["F.hardswish({0}, inplace=True)"],
    name_hint="active",
)
def hardswish(draw: Draw, out: Spec) -> Needs:
    """Piecewise linear and quadratic."""
    return Needs(out.free(), values=lambda x: x.with_(-0.4, max(x.high, 0.1) * 1.01, exact=False))


@operator(
    "torch.nn.functional.prelu",
    "F.prelu({0}, {1})",
    "torch.prelu({0}, {1})",
    "F.prelu({0}, weight={1})",
    dtypes=FLOATS,
    rank=(1, 5),
    name_hint="active",
)
def prelu(draw: Draw, out: Spec) -> Needs:
    """With one slope, or one per channel."""
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
    name_hint="active",
)
def threshold(draw: Draw, out: Spec) -> Needs:
    """Continuous, or of exact values."""
    limit = draw.choice((0, 1, 2))
    if draw.chance(0.5):
        return Needs(out.free(), values=lambda x: x.over(Range(limit, limit, exact=True)), limit=limit, value=limit)
    value = draw.choice((0, 3, 7))
    number_range = Range(value, value, exact=True)
    return Needs(out.free().exactly(), values=lambda x: x.over(number_range), limit=limit, value=value)


@operator(
    "torch.nn.functional.rrelu",
    "F.rrelu({0}, {low}, {high}, training=False)",
    "F.rrelu({0}, lower={low}, upper={high})",
    "torch.rrelu({0}, {low}, {high}, training=False)",
    dtypes=("float32", "float64", "bfloat16"),
    name_hint="active",
)
def rrelu(draw: Draw, out: Spec) -> Needs:
    """In evaluation mode: with the mean slope."""
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
    name_hint="active",
)
def hardtanh(draw: Draw, out: Spec) -> Needs:
    """With other bounds."""
    low, high = draw.choice(((-2, 2), (-1, 3), (0, 6), (-3, 0)))
    return Needs(out.free(), values=lambda x: x.with_(low, high), low=low, high=high)


@operator(
    "torch.nn.functional.softplus.threshold",
    "F.softplus({0}, beta={beta}, threshold={limit})",
    "nn.Softplus({beta}, {limit})({0})",
    dtypes=FLOATS,
    name_hint="active",
)
def softplus(draw: Draw, out: Spec) -> Needs:
    """Linear above a large threshold."""
    beta, limit = draw.choice(((1, 20), (2, 20), (0.5, 15), (3.0, 25)))
    return Needs(out.free(), values=lambda x: x.with_(0.0, max(x.high, 0.0) + 2, exact=False), beta=beta, limit=limit)
