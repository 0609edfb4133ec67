"""Functions of inputs at whose values they change: zeros of either sign, ends of domains, ties, extreme integers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import BOOL, BOOLEAN, FLOATS, SIGNED, WIDE, Range, Spec

_ANY = Range(-1e60, 1e60, nonfinite=True)

_TIES = (-2.5, -1.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5)
_UNIT = (-1.0, -0.5, -0.0, 0.0, 0.5, 1.0)
_KINKS = (-6.0, -3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 3.0, 6.0)
_FAR = (-104.0, -89.0, -20.0, -0.0, 0.0, 20.0, 20.5, 88.0, 89.0, 128.0)
_UNORDERED = (-1.0, -0.0, 0.0, 1.0, float("inf"), float("-inf"), float("nan"))
_BITS = {"int64": 64, "int32": 32, "int16": 16, "int8": 8}


def _of(dtype: str, size: tuple[int, ...] | None, values: Sequence[float]) -> Spec:
    return Spec(size, dtype, among=tuple(values))


@operator(
    "edges: ties",
    "torch.round({0})",
    "torch.floor({0} + 0.5)",
    "torch.ceil({0} - 0.5)",
    "torch.trunc({0})",
    "{0} - torch.round({0})",
    "torch.fmod({0}, 1)",
    "{0} % 1",
    "{0} // 1",
    "torch.frac({0})",
    "torch.round({0} * 2) / 2",
    'torch.div({0}, 0.5, rounding_mode="floor")',
    "torch.round({0} / 2)",
    "torch.round({0}, decimals=0)",
    "{0}.to(torch.int32).to({0}.dtype)",
    "torch.round({0}).to(torch.int64).to({0}.dtype)",
    dtypes=FLOATS,
    exact=True,
    grad=False,
)
def ties(draw: Draw, out: Spec) -> Needs:
    """Rounded halves, which lie between two integers."""
    return Needs(_of(out.dtype, out.size, _TIES), values=Range(-6, 6, exact=True, bits=1))


@operator(
    "edges: signs",
    "torch.sign({0})",
    "torch.copysign(torch.ones_like({0}), {0})",
    "torch.heaviside({0}, {0} + 0.5)",
    "torch.where(torch.signbit({0}), {0} - 1, {0} + 1)",
    "torch.signbit({0}).to({0}.dtype)",
    "torch.where({0} >= 0, {0}, 2 * {0})",
    "torch.abs({0})",
    "torch.copysign({0}.abs(), -{0})",
    "torch.clamp({0}, min=0.0)",
    "torch.clamp({0}, -0.5, 0.5)",
    "({0} == 0).to({0}.dtype)",
    "{0} * 0",
    "-{0}",
    "torch.nan_to_num({0}, nan=3.0)",
    dtypes=FLOATS,
    exact=True,
    grad=False,
)
def signs(draw: Draw, out: Spec) -> Needs:
    """Zeros of either sign, and numbers around them."""
    return Needs(_of(out.dtype, out.size, _UNIT), values=Range(-3, 3, exact=True, bits=1))


def _forms_for(out: Spec, forms: Sequence[str]) -> list[str]:
    """The forms that are implemented for the dtype of ``out``."""
    return [form for form in forms if out.dtype in WIDE or "ndtr" not in form]


_DOMAIN_ENDS = (
    "torch.asin({0})",
    "torch.acos({0})",
    "torch.atanh({0})",
    "torch.acosh({0} + 1)",
    "torch.erfinv({0})",
    "torch.log({0})",
    "torch.log1p({0})",
    "torch.log2({0})",
    "torch.log10({0})",
    "torch.sqrt({0})",
    "torch.rsqrt({0})",
    "torch.reciprocal({0})",
    "1.0 / {0}",
    "torch.logit({0})",
    "torch.sinc({0})",
    "torch.exp2({0})",
    "torch.expm1({0})",
    "torch.special.entr({0})",
    "torch.special.ndtri({0}.abs())",
    "torch.lgamma({0} + 1)",
    "torch.digamma({0} + 1)",
    "torch.xlogy({0}, {0})",
    "torch.special.xlog1py({0}, {0})",
    "F.logsigmoid({0} / 0)",
)


@operator("edges: ends of domains", *_DOMAIN_ENDS, dtypes=FLOATS, grad=False)
def domain_ends(draw: Draw, out: Spec) -> Needs:
    """At the ends of their domains and outside of them: infinite, or not a number."""
    return Needs(_of(out.dtype, out.size, _UNIT), values=_ANY, forms=_forms_for(out, _DOMAIN_ENDS))


@operator(
    "edges: kinks",
    "F.relu({0})",
    "F.relu6({0})",
    "F.hardtanh({0})",
    "F.hardtanh({0}, -0.5, 3.0)",
    "F.hardswish({0})",
    "F.hardsigmoid({0})",
    "F.hardshrink({0})",
    "F.softshrink({0})",
    "F.threshold({0}, 0.5, -1.0)",
    "F.leaky_relu({0}, 0.25)",
    "F.elu({0})",
    "F.celu({0}, 2.0)",
    "F.selu({0})",
    "F.softsign({0})",
    "F.logsigmoid({0})",
    "F.gelu({0})",
    "torch.clamp({0}, -1.0, 1.0)",
    "{0}.clamp(min=0.0)",
    "{0}.clamp(max=0.5)",
    "torch.where({0} > 0, {0}, {0} * 0.5)",
    "torch.where({0} >= 0, {0}, -{0})",
    "{0}.clamp_min(-0.5).clamp_max(3)",
    "torch.prelu({0}, torch.full((1,), 0.25, dtype={0}.dtype))",
    "F.smooth_l1_loss({0}, torch.zeros_like({0}), reduction='none')",
    "F.huber_loss({0}, torch.zeros_like({0}), reduction='none', delta=0.5)",
    dtypes=FLOATS,
    grad=WIDE,
)
def kinks(draw: Draw, out: Spec) -> Needs:
    """At their kinks, where the gradient jumps."""
    return Needs(_of(out.dtype, out.size, _KINKS), values=Range(-8, 8))


_LARGE_ARGUMENTS = (
    "torch.sigmoid({0})",
    "torch.tanh({0})",
    "torch.exp({0})",
    "torch.exp2({0})",
    "torch.expm1({0})",
    "F.softplus({0})",
    "F.softplus({0}, beta=0.5, threshold=10)",
    "F.logsigmoid({0})",
    "F.silu({0})",
    "F.gelu({0})",
    "F.mish({0})",
    "F.elu({0})",
    "torch.erf({0})",
    "torch.erfc({0})",
    "torch.sinh({0})",
    "torch.cosh({0})",
    "torch.asinh({0})",
    "torch.atan({0})",
    "torch.log1p(torch.exp({0}))",
    "torch.special.log_ndtr({0})",
    "torch.special.expit({0})",
)


@operator("edges: large arguments", *_LARGE_ARGUMENTS, dtypes=FLOATS, grad=False)
def large_arguments(draw: Draw, out: Spec) -> Needs:
    """Where they overflow, underflow, or take another branch."""
    return Needs(_of(out.dtype, out.size, _FAR), values=_ANY, forms=_forms_for(out, _LARGE_ARGUMENTS))


@operator(
    "edges: pairs",
    "torch.pow({0}, {1})",
    "{0} / {1}",
    "torch.atan2({0}, {1})",
    "torch.hypot({0}, {1})",
    "torch.copysign({0}, {1})",
    "torch.remainder({0}, {1})",
    "torch.fmod({0}, {1})",
    "torch.xlogy({0}, {1})",
    'torch.div({0}, {1}, rounding_mode="floor")',
    'torch.div({0}, {1}, rounding_mode="trunc")',
    "torch.floor_divide({0}, {1})",
    "torch.nextafter({0}, {1})",
    "torch.heaviside({0}, {1})",
    "torch.lerp({0}, {1}, {0})",
    "torch.where({0} == {1}, {0}, {1})",
    dtypes=WIDE,
    grad=False,
)
def pairs(draw: Draw, out: Spec) -> Needs:
    """Of two operands that are zero, of either sign, or one."""
    other = dataclasses.replace(draw.broadcast(out), exact=False, among=_UNIT)
    return Needs(_of(out.dtype, out.size, _UNIT), other, values=_ANY)


@operator(
    "edges: comparisons",
    "{0} == {1}",
    "{0} != {1}",
    "{0} < {1}",
    "{0} >= {1}",
    "torch.isclose({0}, {1})",
    "torch.isclose({0}, {1}, equal_nan=True)",
    "~({0} < {1})",
    "({0} <= {1}) & ({1} <= {0})",
    "torch.signbit({0})",
    "torch.isnan({0} - {1})",
    "torch.isinf({0} * {1})",
    "torch.isfinite({0})",
    "{0}.bool()",
    "torch.logical_xor({0}, {1})",
    "({0} > 0).logical_not()",
    dtypes=BOOL,
    exact=True,
    name_hint="mask",
)
def comparisons(draw: Draw, out: Spec) -> Needs:
    """Of zeros of either sign, infinities and NaN."""
    dtype = draw.choice(("float32", "float32", "float64", "float16", "bfloat16"))
    other = dataclasses.replace(draw.broadcast(out.as_(dtype)), exact=False, among=_UNORDERED)
    return Needs(_of(dtype, out.size, _UNORDERED), other, values=BOOLEAN)


def _extremes(dtype: str) -> tuple[int, ...]:
    half = 2 ** (_BITS[dtype] - 1)
    return -half, -half + 1, -7, -1, 0, 1, 2, 7, half - 1


_FORMS_OF_INTEGERS = (
    "torch.abs({0})",
    "-{0}",
    "{0} + 1",
    "{0} - 1",
    "{0} * {0}",
    "{0} * -1",
    "~{0}",
    "{0} // 3",
    "{0} // -4",
    'torch.div({0}, -3, rounding_mode="trunc")',
    'torch.div({0}, 5, rounding_mode="floor")',
    "torch.remainder({0}, -5)",
    "torch.fmod({0}, 5)",
    "torch.fmod({0}, -3)",
    "torch.sign({0})",
    "{0}.clamp(-100, 100)",
    "{0} ^ 5",
    "{0} & -8",
    "torch.where({0} < 0, -{0}, {0})",
    "torch.maximum({0}, -{0})",
)


@operator(
    "edges: extreme integers",
    dtypes=SIGNED,
    exact=True,
)
def extreme_integers(draw: Draw, out: Spec) -> Needs:
    """Of the least and the greatest integer, which wrap around; reduced to small numbers after that."""
    plain = draw.choice(_FORMS_OF_INTEGERS)
    forms = draw.choice(
        (
            (f"({plain}) % 11", f"torch.remainder({plain}, 11)"),
            (f"({plain}) & 63",),
            (f"torch.sign({plain})",),
            (f"torch.clamp({plain}, -50, 50)",),
            (f"({plain}) >> {_BITS[out.dtype] - 4}",),
        )
    )
    operand = _of(out.dtype, out.size, _extremes(out.dtype))
    return Needs(operand, values=Range(-100, 100, exact=True), forms=forms)


@operator(
    "edges: shifts",
    "({0} << {1}) & 63",
    "({0} >> {1}) & 63",
    "torch.bitwise_left_shift({0}, {1}) % 7",
    "torch.bitwise_right_shift({0}, {1}) % 7",
    "torch.sign({0} << {1})",
    "torch.clamp({0} >> {1}, -9, 9)",
    dtypes=SIGNED,
    exact=True,
)
def shifts(draw: Draw, out: Spec) -> Needs:
    """By nothing, by the position of the sign bit, and by the number of bits."""
    bits = _BITS[out.dtype]
    amounts = dataclasses.replace(draw.broadcast(out), exact=False, among=(0, 1, 3, bits - 2, bits - 1, bits))
    return Needs(_of(out.dtype, out.size, _extremes(out.dtype)), amounts, values=Range(-9, 63, exact=True))


@operator(
    "edges: integers to floats",
    "{0}.to(torch.{dtype})",
    "{0} / 2",
    "{0} * 0.5",
    "torch.true_divide({0}, 3)",
    "{0}.abs().to(torch.{dtype})",
    dtypes=("float32", "float64"),
    grad=False,
)
def integers_to_floats(draw: Draw, out: Spec) -> Needs:
    """Of the least and the greatest integer."""
    dtype = draw.choice(SIGNED)
    forms = () if out.dtype == "float32" else ("{0}.to(torch.{dtype})", "{0}.to(torch.{dtype}) * 0.5")
    return Needs(
        _of(dtype, out.size, _extremes(dtype)), values=Range(-(2.0**63), 2.0**63), forms=forms, dtype=out.dtype
    )
