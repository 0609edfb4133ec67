"""Tensors read as another dtype: halves and bytes of their elements, pairs of them, complex numbers as real ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import COMPLEX, PART, WHOLE, WIDE, Dim, Range, Spec, UnsatisfiableSpec

_read = partial(operator, family="casts", exact=True, grad=False)

_WIDER = {
    "int32": (("float64", 2), ("int64", 2)),
    "int16": (("float32", 2), ("int32", 2), ("int64", 4), ("float64", 4)),
    "uint8": (("float32", 4), ("int16", 2), ("bfloat16", 2), ("float16", 2), ("int32", 4)),
}
"""The dtypes that are read as smaller ones, with how many of those an element has."""

_SMALLER = {
    "int64": (("int32", 2), ("uint8", 8), ("int16", 4)),
    "int32": (("int16", 2), ("uint8", 4)),
    "int16": (("uint8", 2),),
}
"""The dtypes that are read as larger ones, with how many make an element."""


_COPIED = "{0}.clone(memory_format=torch.contiguous_format)"
"""The last dimension of a copy has stride 1 also where it has size 1; its memory begins at an element of any dtype."""


def _parts(draw: Draw, out: Spec) -> Spec:
    """An operand whose elements are read as those of ``out``. Raises UnsatisfiableSpec."""
    dtype, count = draw.choice(_WIDER[out.dtype])
    n = out.shape[-1]
    if out.numel == 0 or isinstance(n, Dim) or n % count:
        raise UnsatisfiableSpec("no whole elements")
    return out.as_(dtype).of(*out.shape[:-1], n // count).exactly()


def _viewed(operand: Spec, forms: Sequence[str]) -> list[str]:
    """``forms``, with a copy where the memory of a contiguous operand need not be dense in its last dimension."""
    return [form if operand.shape[-1] > 1 else form.replace("{0}", _COPIED) for form in forms]


@_read("torch.Tensor.view.narrower", dtypes=("int32", "int16", "uint8"), rank=(1, 4))
def narrower_bits(draw: Draw, out: Spec) -> Needs:
    """The bits of exact numbers as integers of half their size, or as bytes."""
    operand = _parts(draw, out)
    forms = (
        "{0}.view(torch.{dtype}) & 127",
        "{0}.view(torch.{dtype}) % 10",
        "({0}.view(torch.{dtype}) >> 4) & 15",
        "torch.sign({0}.view(torch.{dtype}))",
        "{0}.view(torch.{dtype}).clamp(0, 100)",
        "({0} * 2).contiguous().view(torch.{dtype}).bitwise_and(63)",
    )
    least = 0 if out.dtype == "uint8" else -1
    values = Range(least, 127, exact=True)
    return Needs(operand.within(-8, 8).dense(), values=values, forms=_viewed(operand, forms), dtype=out.dtype)


@_read("torch.Tensor.view.narrower_slice", dtypes=("int32", "int16", "uint8"), rank=(1, 4))
def narrower_bits_of_slice(draw: Draw, out: Spec) -> Needs:
    """The bits of a slice, whose memory has gaps."""
    operand = _parts(draw, out)
    n = operand.shape[-1]
    whole = operand.of(*operand.shape[:-1], n + draw.integer(2, 3)).exactly()
    forms = [
        "{0}[..., 1:{end}].view(torch.{dtype}) & 127",
        "{0}[..., 1:{end}].view(torch.{dtype}) % 7",
        "{0}.narrow(-1, 1, {length}).view(torch.{dtype}) & 31",
    ]
    values = Range(0, 127, exact=True)
    return Needs(whole.dense(), values=values, forms=forms, dtype=out.dtype, end=n + 1, length=n)


@_read("torch.Tensor.view.half_bits", dtypes=("float16", "bfloat16"), rank=(1, 4))
def half_bits(draw: Draw, out: Spec) -> Needs:
    """The bits of a float of sixteen bits, with the sign bit cleared, as a float again."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    forms = [
        "({0}.view(torch.int16) & 0x7FFF).view({0}.dtype)",
        "{0}.view(torch.int16).bitwise_and(0x7FFF).view(torch.{dtype})",
    ]
    forms += _viewed(out, ["({0}.view(torch.uint8).view(torch.int16) & 0x7FFF).view(torch.{dtype})"])
    values = lambda x: Range(0, x.most, x.exact, x.nonfinite, bits=x.bits)  # noqa: E731
    return Needs(out.free().dense(), values=values, forms=forms, dtype=out.dtype)


@_read(
    "torch.Tensor.view.exponent",
    "({0}.view(torch.{whole}) >> {shift}) & {mask}",
    "({0}.abs().view(torch.{whole}) >> {shift})",
    "torch.bitwise_right_shift({0}.view(torch.{whole}), {shift}) & {mask}",
    dtypes=("int32", "int64", "int16"),
    rank=(0, 4),
    name_hint="exponent",
)
def exponent(draw: Draw, out: Spec) -> Needs:
    """The exponent in the bits of exact numbers."""
    source, shift, mask = {
        "int32": ("float32", 23, 255),
        "int64": ("float64", 52, 2047),
        "int16": draw.choice((("bfloat16", 7, 255), ("float16", 10, 31))),
    }[out.dtype]
    operand = out.as_(source).exactly()
    return Needs(operand, values=Range(0, mask, exact=True), whole=out.dtype, shift=shift, mask=mask)


@_read(
    "torch.Tensor.view.pairs",
    f"{_COPIED}.view(torch.{{dtype}}) % 1000",
    f"{_COPIED}.view(torch.{{dtype}}) & 1023",
    f"torch.remainder({_COPIED}.view(torch.{{dtype}}), 77)",
    dtypes=("int64", "int32", "int16"),
    rank=(1, 4),
)
def pairs(draw: Draw, out: Spec) -> Needs:
    """Integers read together as integers of a larger size."""
    dtype, count = draw.choice(_SMALLER[out.dtype])
    n = out.shape[-1]
    if isinstance(n, Dim) or out.numel == 0:
        raise UnsatisfiableSpec("calculates with a size that changes")
    operand = out.as_(dtype).of(*out.shape[:-1], n * count).within(0, 100)
    return Needs(operand, values=Range(0, 1023, exact=True), dtype=out.dtype)


@operator(
    "torch.Tensor.view.complex_as_real",
    f"{_COPIED}.resolve_conj().view(torch.{{dtype}})",
    "torch.view_as_real({0}.resolve_conj()).flatten(-2)",
    "torch.view_as_real({0}.resolve_conj()).reshape({size})",
    "torch.stack([{0}.real, {0}.imag], -1).flatten(-2)",
    dtypes=WIDE,
    rank=(1, 4),
    family="casts",
    exact=True,
    saves=False,
)
def complex_as_real(draw: Draw, out: Spec) -> Needs:
    """Complex numbers as twice as many real ones."""
    n = out.shape[-1]
    if isinstance(n, Dim) or n % 2 or out.numel == 0:
        raise UnsatisfiableSpec("no pairs")
    operand = out.as_(WHOLE[out.dtype]).of(*out.shape[:-1], n // 2)
    return Needs(operand.within(-64, 64), values=lambda x: x.over(-x), dtype=out.dtype, size=out.shape)


@operator(
    "torch.Tensor.view.real_as_complex",
    f"{_COPIED}.view(torch.{{dtype}})",
    f"torch.view_as_complex({_COPIED}.reshape({{size}}))",
    f"torch.view_as_complex({_COPIED}.unflatten(-1, (-1, 2)))",
    "torch.complex({0}[..., ::2], {0}[..., 1::2])",
    dtypes=COMPLEX,
    rank=(1, 4),
    family="casts",
    exact=True,
    saves=False,
    name_hint="z",
)
def real_as_complex(draw: Draw, out: Spec) -> Needs:
    """Pairs of neighbours as complex numbers."""
    n = out.shape[-1]
    if isinstance(n, Dim) or not out.is_static or out.numel == 0:
        raise UnsatisfiableSpec("calculates with a size that changes")
    operand = out.as_(PART[out.dtype]).of(*out.shape[:-1], n * 2)
    return Needs(operand, dtype=out.dtype, size=(*out.shape, 2))
