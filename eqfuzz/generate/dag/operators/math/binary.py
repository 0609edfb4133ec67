"""Functions of two tensors, element by element."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, INTEGERS, Range, Spec, UnsatisfiableSpec


@operator("torch.atan2", "torch.atan2({0}, {1})", "{0}.atan2({1})", dtypes=FLOATS, inplace=["{0}.atan2_({1})"])
def atan2(draw: Draw, out: Spec) -> Needs:
    """The second operand is positive: the angle is discontinuous at zero."""
    return Needs(out.free(), draw.broadcast(out).free().positive(), values=Range(-3.2, 3.2))


@operator("torch.hypot", "torch.hypot({0}, {1})", "{0}.hypot({1})", dtypes=FLOATS, name_hint="length")
def hypot(draw: Draw, out: Spec) -> Needs:
    """The second side is positive."""
    return Needs(out.free(), draw.broadcast(out).free().positive(), values=lambda x, y: Range(0, x.most + y.most))


for _name in ("logaddexp", "logaddexp2"):

    @operator(f"torch.{_name}", f"torch.{_name}({{0}}, {{1}})", dtypes=("float32", "float64"))
    def log_of_sum(draw: Draw, out: Spec) -> Needs:
        """Of finite values."""
        operand = out.free().within(-8.0, 8.0)
        return Needs(operand, draw.broadcast(out).free().within(-8.0, 8.0), values=Range(-9, 10))


@operator("torch.copysign", "torch.copysign({0}, {1})", "{0}.copysign({1})", dtypes=FLOATS, exact=True)
def copysign(draw: Draw, out: Spec) -> Needs:
    """The magnitude of one operand, the sign of the other."""
    return Needs(out.free(), draw.broadcast(out).free().exactly(), values=lambda x, y: Range(-x.most, x.most, x.exact))


@operator("torch.nextafter", "torch.nextafter({0}, {1})", dtypes=("float32", "float64", "bfloat16"), grad=False)
def nextafter(draw: Draw, out: Spec) -> Needs:
    """The next representable number towards the other operand."""
    return Needs(out.free(), draw.broadcast(out).free())


@operator("torch.ldexp", "torch.ldexp({0}, {1})", dtypes=("float32", "float64"))
def ldexp(draw: Draw, out: Spec) -> Needs:
    """Times a small power of two."""
    other = draw.broadcast(out).free().as_("int32").within(-3, 3)
    return Needs(out.free(), other, values=lambda x, y: x * Range(0, 8))


@operator("torch.xlogy", "torch.xlogy({0}, {1})", "{0}.xlogy({1})", dtypes=FLOATS)
def xlogy(draw: Draw, out: Spec) -> Needs:
    """Of positive numbers."""
    return Needs(out.free(), draw.broadcast(out).free().positive(), values=lambda x, y: x * Range(-4, 5))


@operator("torch.special.xlog1py", "torch.special.xlog1py({0}, {1})", dtypes=FLOATS)
def xlog1py(draw: Draw, out: Spec) -> Needs:
    """Of positive numbers."""
    return Needs(out.free(), draw.broadcast(out).free().positive(), values=lambda x, y: x * Range(0, 5))


@operator("torch.special.zeta", "torch.special.zeta({0}, {1})", dtypes=("float32", "float64"), grad=False)
def zeta(draw: Draw, out: Spec) -> Needs:
    """Where the sum converges quickly."""
    return Needs(out.free().within(2.0, 8.0), draw.broadcast(out).free().within(1.0, 8.0), values=Range(0, 2))


for _name in ("igamma", "igammac"):

    @operator(f"torch.{_name}", f"torch.{_name}({{0}}, {{1}})", dtypes=("float32", "float64"), grad=False)
    def incomplete_gamma(draw: Draw, out: Spec) -> Needs:
        """Of positive numbers."""
        return Needs(out.free().within(0.5, 8.0), draw.broadcast(out).free().within(0.5, 8.0), values=Range(0, 1.01))


@operator("torch.heaviside", "torch.heaviside({0}, {1})", dtypes=FLOATS + INTEGERS, exact=True, grad=False)
def heaviside(draw: Draw, out: Spec) -> Needs:
    """Of exact values."""
    return Needs(out.exactly(), draw.broadcast(out).free().exactly(), values=lambda x, y: y.over(Range(0, 1, True)))


for _name in ("gcd", "lcm"):

    @operator(f"torch.{_name}", f"torch.{_name}({{0}}, {{1}})", dtypes=("int64", "int32", "int16"), exact=True)
    def divisors(draw: Draw, out: Spec) -> Needs:
        """Of small positive numbers."""
        return Needs(out.within(1, 30), draw.broadcast(out).within(1, 30), values=Range(0, 900, exact=True))


@operator("torch.dist", "torch.dist({0}, {1}, p={p})", dtypes=("float32", "float64"), rank=(0, 0), name_hint="distance")
def dist(draw: Draw, out: Spec) -> Needs:
    """The norm of the difference."""
    size = tuple(draw.size(9) for _ in range(draw.integer(1, 3)))
    operand = out.of(*size)
    if operand.numel == 0:
        raise UnsatisfiableSpec("empty")
    return Needs(
        operand, operand, values=lambda x, y: Range(0, (x.most + y.most) * operand.numel), p=draw.choice((1, 2, 2))
    )
