"""Convolutions followed by activations and norms, as Inductor's graph passes match them."""

from __future__ import annotations

from functools import partial
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.operators.fusion.fusion_products import ACTIVATIONS, JOINS, activated, around, joined
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import WIDE, Range, Spec, nonempty
from eqfuzz.generate.dag.values.value_bounds import sum_of_products

_fusion = partial(operator, family="fusion")


def _convolution(draw: Draw, out: Spec) -> tuple[Spec, Spec, Spec, int, int, int]:
    """Input, weight and bias of a convolution that keeps the spatial sizes, its padding, groups and terms per sum."""
    batch, channels, *space = nonempty(out).shape
    width = draw.choice((1, 1, 3))
    groups = 1
    if draw.chance(0.25):
        groups = draw.choice([g for g in (1, 2, 3, 4) if channels % g == 0])
    each = draw.integer(1, 4)
    kernel = [width] * len(space)
    weight = out.of(channels, each, *kernel)
    return (
        out.of(batch, each * groups, *space),
        weight,
        out.of(channels),
        width // 2,
        groups,
        each * width ** len(space),
    )


for _dims in (1, 2, 3):
    _called = f"F.conv{_dims}d({{0}}, {{1}}, {{2}}, padding={{padding}}, groups={{groups}})"

    @_fusion(
        f"pattern: conv{_dims}d and activation",
        *around(ACTIVATIONS, _called),
        dtypes=("float32", "float32", "bfloat16", "float64"),
        rank=(_dims + 2, _dims + 2),
        name_hint="active",
    )
    def conv_activation(draw: Draw, out: Spec) -> Needs:
        """A convolution and an activation: the unary fusions of mkldnn_fusion.py."""
        x, weight, bias, padding, groups, k = _convolution(draw, out)
        return Needs(x, weight, bias, values=activated(k), padding=padding, groups=groups)


_CONV = "F.conv2d({0}, {1}, {2}, padding={padding}, groups={groups})"


@_fusion("pattern: conv and binary", *around(JOINS, _CONV), dtypes=("float32", "bfloat16"), rank=(4, 4))
def conv_binary(draw: Draw, out: Spec) -> Needs:
    """A convolution, a binary operator and a ReLU: the binary fusions of mkldnn_fusion.py."""
    x, weight, bias, padding, groups, k = _convolution(draw, out)
    return Needs(x, weight, bias, out.free(), values=joined(k), padding=padding, groups=groups)


@_fusion(
    "pattern: conv and channels",
    *(f"{_CONV} {symbol} {{3}}.view(1, -1, 1, 1)" for symbol in "+-*"),
    f"{_CONV} / ({{3}}.view(1, -1, 1, 1).abs() + 1)",
    f"{_CONV} * {{3}}.reshape(-1, 1, 1) + {{2}}[:, None, None]",
    dtypes=WIDE,
    rank=(4, 4),
)
def conv_channels(draw: Draw, out: Spec) -> Needs:
    """A convolution and a number for each channel: binary_folding.py, used in freezing."""
    x, weight, bias, padding, groups, k = _convolution(draw, out)
    moved = joined(k)
    values = lambda x, w, b, c: moved(x, w, b, c) + b.over(-b, Range(0, 0))  # noqa: E731
    return Needs(x, weight, bias, bias, values=values, padding=padding, groups=groups)


@_fusion(
    "pattern: conv and batch norm",
    f"F.batch_norm({_CONV}, {{3}}.detach(), {{4}}.detach(), {{5}}, {{2}}, training=False, eps=1e-3)",
    f"F.relu(F.batch_norm({_CONV}, {{3}}.detach(), {{4}}.detach(), {{5}}, None, False))",
    f"F.batch_norm({_CONV}, {{3}}.detach(), {{4}}.detach())",
    f"({_CONV} - {{3}}.view(-1, 1, 1)) * torch.rsqrt({{4}}.view(-1, 1, 1) + 1e-3) * {{5}}.view(-1, 1, 1)",
    dtypes=WIDE,
    rank=(4, 4),
    name_hint="normed",
)
def conv_batch_norm(draw: Draw, out: Spec) -> Needs:
    """A convolution and batch normalisation with fixed statistics: efficient_conv_bn_eval.py and fuse_conv_bn."""
    x, weight, bias, padding, groups, k = _convolution(draw, out)
    dot = sum_of_products(k)

    def values(x: Range, w: Range, b: Range, mean: Range, var: Range, scale: Range) -> Range:
        most = (dot(x, w, b).most + mean.most) * 2 * max(1.0, scale.most) + b.most
        return Range(-most, most, nonfinite=x.nonfinite or w.nonfinite or b.nonfinite or scale.nonfinite)

    stats = bias.within(-2.0, 2.0), bias.within(0.3, 4.0)
    return Needs(x, weight, bias, *stats, bias, values=values, padding=padding, groups=groups)


@_fusion(
    "pattern: transposed conv and activation",
    *around(ACTIVATIONS, "F.conv_transpose2d({0}, {1}, {2}, padding={padding})"),
    dtypes=WIDE,
    rank=(4, 4),
    name_hint="active",
)
def transposed_conv(draw: Draw, out: Spec) -> Needs:
    """A transposed convolution and an activation: mkldnn_fusion.py."""
    batch, channels, height, width = nonempty(out).shape
    side, inner = draw.choice((1, 3)), draw.integer(1, 4)
    x, weight = out.of(batch, inner, height, width), out.of(inner, channels, side, side)
    return Needs(x, weight, out.of(channels), values=activated(inner * side * side), padding=side // 2)


@_fusion(
    "pattern: patches",
    "F.unfold({0}, {side}, stride={side}).transpose(1, 2).reshape({b}, -1, {length}) @ {1}",
    "F.conv2d({0}, {1}.t().reshape({n}, {c}, {side}, {side}), stride={side}).flatten(2).transpose(1, 2).contiguous()",
    "{0}.unfold(2, {side}, {side}).unfold(3, {side}, {side}).permute(0, 2, 3, 1, 4, 5).reshape({b}, -1, {length})"
    " @ {1}",
    dtypes=WIDE,
    rank=(3, 3),
    exact=True,
    name_hint="patches",
)
def patches(draw: Draw, out: Spec) -> Needs:
    """A product with the patches of an image, the first layer of vision transformers."""
    b, count, n = nonempty(out).shape
    rows = draw.choice([r for r in (1, 2, 3, 4) if count % r == 0])
    side, c = draw.integer(1, 3), draw.integer(1, 3)
    length = c * side * side
    image = out.of(b, c, rows * side, count // rows * side)
    params: dict[str, Any] = {"b": b, "n": n, "c": c, "side": side, "length": length}
    return Needs(image, out.of(length, n), values=sum_of_products(length), **params)
