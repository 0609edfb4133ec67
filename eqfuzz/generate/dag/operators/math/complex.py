"""Operators that create complex numbers, and those that read their parts."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import COMPLEX, PART, WHOLE, WIDE, Range, Spec, UnsatisfiableSpec

_parts = partial(operator, dtypes=WIDE, exact=True, saves=False, view=True)


@operator("torch.complex", "torch.complex({0}, {1})", dtypes=COMPLEX, name_hint="z")
def complex_(draw: Draw, out: Spec) -> Needs:
    """From real and imaginary part."""
    part = out.as_(PART[out.dtype])
    return Needs(part, part, values=lambda x, y: x.over(y))


@operator("torch.polar", "torch.polar({0}, {1})", dtypes=COMPLEX, name_hint="z")
def polar(draw: Draw, out: Spec) -> Needs:
    """From magnitude and angle."""
    part = out.as_(PART[out.dtype])
    return Needs(part.positive(), part.within(-3.0, 3.0), values=lambda r, a: Range(-r.most, r.most))


def _both_signs(x: Range) -> Range:
    return Range(-x.most, x.most, x.exact, x.nonfinite)


for _name in ("real", "imag"):

    @_parts(f"torch.{_name}", f"torch.{_name}({{0}})", f"{{0}}.{_name}")
    def part(draw: Draw, out: Spec) -> Needs:
        """One part, sharing memory."""
        return Needs(out.as_(WHOLE[out.dtype]), values=_both_signs)


@_parts("torch.real.of_real", "torch.real({0})", dense=True)
def real_of_real(draw: Draw, out: Spec) -> Needs:
    """Of real numbers, which returns the tensor itself."""
    return Needs(out.free())


@_parts("torch.view_as_real", "torch.view_as_real({0})", dense=True, rank=(1, 5))
def view_as_real(draw: Draw, out: Spec) -> Needs:
    """Real and imaginary part as a last dimension, with lazy conjugation resolved."""
    if out.shape[-1] != 2:
        raise UnsatisfiableSpec("two parts")
    operand = out.of(*out.shape[:-1]).as_(WHOLE[out.dtype])
    return Needs(operand, forms=["torch.view_as_real({0}.resolve_conj())"])


@_parts("torch.view_as_complex", "torch.view_as_complex({0})", dtypes=COMPLEX, dense=True, rank=(0, 4))
def view_as_complex(draw: Draw, out: Spec) -> Needs:
    """The pairs of a last dimension as complex numbers."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty tensors may have any strides")
    return Needs(Spec((*out.shape, 2), PART[out.dtype], exact=out.exact).dense())


@_parts("torch.conj", "torch.conj({0})", "{0}.conj()", dtypes=COMPLEX, dense=True, written=False)
def conj(draw: Draw, out: Spec) -> Needs:
    """Conjugated lazily, sharing memory."""
    return Needs(out.free(), values=_both_signs)


@operator(
    "torch.conj_physical",
    "torch.conj_physical({0})",
    "{0}.conj_physical()",
    "{0}.conj().resolve_conj()",
    "{0}.conj().clone()",
    dtypes=COMPLEX,
    exact=True,
    saves=False,
    inplace=["{0}.conj_physical_()"],
)
def conj_physical(draw: Draw, out: Spec) -> Needs:
    """Conjugated eagerly."""
    return Needs(out.free(), values=_both_signs)


def _away_from_zero(draw: Draw, out: Spec) -> Spec:
    """Bounded numbers of the complex dtype, which the caller moves to the right half plane."""
    return out.as_(WHOLE.get(out.dtype, out.dtype)).within(-2.0, 2.0)


@operator("torch.abs.complex", "torch.abs({0} + {away})", "({0} + {away}).abs()", dtypes=WIDE, name_hint="magnitude")
def magnitude(draw: Draw, out: Spec) -> Needs:
    """The magnitude, away from zero, where it is not differentiable."""
    return Needs(_away_from_zero(draw, out), values=Range(0, 8), away=draw.choice((3, 4.0)))


@operator("torch.angle.complex", "torch.angle({0} + {away})", "({0} + {away}).angle()", dtypes=WIDE, name_hint="phase")
def angle(draw: Draw, out: Spec) -> Needs:
    """The angle, in the right half plane, where it is continuous."""
    return Needs(_away_from_zero(draw, out), values=Range(-1.6, 1.6), away=draw.choice((3, 4.0)))


@operator("torch.sgn.complex", "torch.sgn({0} + {away})", "({0} + {away}).sgn()", dtypes=COMPLEX, name_hint="z")
def sgn(draw: Draw, out: Spec) -> Needs:
    """Divided by the magnitude, away from zero."""
    return Needs(_away_from_zero(draw, out), values=Range(-1.01, 1.01), away=draw.choice((3, 4.0)))


for _name, _most in (("sqrt", 3.0), ("log", 3.0), ("reciprocal", 1.01), ("rsqrt", 1.01)):

    @operator(
        f"torch.{_name}.complex",
        f"torch.{_name}({{0}} + {{away}})",
        f"({{0}} + {{away}}).{_name}()",
        dtypes=COMPLEX,
        name_hint="z",
    )
    def right_half(draw: Draw, out: Spec, _most: float = _most) -> Needs:
        """In the right half plane, away from zero and the branch cut."""
        return Needs(_away_from_zero(draw, out), values=Range(-_most, _most), away=draw.choice((3, 4.0)))


@operator("torch.div.complex", "{0} / ({1} + {away})", "torch.div({0}, {1} + {away})", dtypes=COMPLEX)
def div(draw: Draw, out: Spec) -> Needs:
    """Divided by numbers in the right half plane."""
    values = lambda x, y: Range(-2 * x.most, 2 * x.most)  # noqa: E731
    return Needs(out.free(), _away_from_zero(draw, out), values=values, away=draw.choice((3, 4.0)))


@operator(
    "torch.abs.squared", "({0} * {0}.conj()).real.clone()", "{0}.real ** 2 + {0}.imag ** 2", dtypes=WIDE, exact=True
)
def squared_magnitude(draw: Draw, out: Spec) -> Needs:
    """The squared magnitude."""
    return Needs(out.as_(WHOLE[out.dtype]), values=lambda x: Range(0, 2 * x.most**2, x.exact))


@operator("torch.isreal", "torch.isreal({0})", "{0}.isreal()", dtypes=["bool"], exact=True, name_hint="mask")
def isreal(draw: Draw, out: Spec) -> Needs:
    """Whether the imaginary part is zero, of exact numbers."""
    return Needs(out.as_(draw.choice(("complex64", "complex128", "float32"))).exactly(), values=Range(0, 1, True))


@operator(
    "torch.complex.arithmetic",
    "{0} + {1} * 1j",
    "{0} + 1j * {1}",
    "torch.add({0}, {1} * 1j)",
    dtypes=["complex64"],
    exact=True,
    saves=False,
    name_hint="z",
)
def of_parts(draw: Draw, out: Spec) -> Needs:
    """From real and imaginary part, by arithmetic with an imaginary number."""
    part = out.as_("float32")
    return Needs(part, part, values=lambda x, y: x.over(y))
