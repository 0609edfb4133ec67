"""Operators that change the dtype."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import BOOL, COMPLEX, EVERY, FLOATS, INTEGERS, REAL, Range, Spec

_METHODS = {
    "float32": "float",
    "float64": "double",
    "float16": "half",
    "bfloat16": "bfloat16",
    "int64": "long",
    "int32": "int",
    "int16": "short",
    "int8": "char",
    "uint8": "byte",
    "bool": "bool",
    "complex64": "cfloat",
    "complex128": "cdouble",
}

_ZERO = Range(0, 0, exact=True)

_cast = partial(operator, dtypes=EVERY, exact=True, saves=False)
_alias = partial(operator, dtypes=EVERY, exact=True, saves=False, view=True, dense=True)


def _first(x: Range, y: Range) -> Range:
    return x


def _other(draw: Draw, out: Spec) -> Spec:
    """A tensor of another dtype whose values the dtype of ``out`` represents; exact where fractions would be lost."""
    if out.dtype == "bool":
        return out.as_(draw.choice(("float32", "int64", "int32", "uint8", "float64"))).exactly()
    if out.is_complex:
        others = ("float32", "int64", "bool", "complex128" if out.dtype == "complex64" else "complex64")
        return out.as_(draw.choice(others))
    if out.is_float:
        wide = [d for d in FLOATS if d != out.dtype]
        return out.as_(draw.choice([*wide, *wide, "int64", "int32", "uint8", "bool"]))
    least = {"uint8": 0, "int8": -100}.get(out.dtype, -1000)
    operand = out.as_(draw.choice([d for d in (*FLOATS, *INTEGERS, "bool") if d != out.dtype])).exactly()
    return operand if operand.dtype == "bool" else operand.within(least, min(-least, 1000) or 200)


def _cast_range(out: Spec, x: Range) -> Range:
    """The range after the conversion: integers are truncated, and real numbers have no imaginary part."""
    return x if out.is_float else x.over(_ZERO)


@_cast(
    "torch.Tensor.to",
    "{0}.to(torch.{dtype})",
    "{0}.to(dtype=torch.{dtype})",
    "{0}.to(torch.{dtype}, copy=True)",
    "{0}.type(torch.{dtype})",
    name_hint="cast",
    weight=2,
)
def to(draw: Draw, out: Spec) -> Needs:
    """To another dtype; to integers and booleans only from exact values."""
    return Needs(_other(draw, out), values=partial(_cast_range, out), dtype=out.dtype)


for _dtype, _method in _METHODS.items():

    @_cast(f"torch.Tensor.{_method}", f"{{0}}.{_method}()", dtypes=[_dtype], name_hint="cast", weight=0.5)
    def to_method(draw: Draw, out: Spec) -> Needs:
        """To the dtype of the name."""
        return Needs(_other(draw, out), values=partial(_cast_range, out))


@_cast("torch.Tensor.type_as", "{0}.type_as({1})", "{0}.to({1}.dtype)", "{0}.to({1})", name_hint="cast")
def type_as(draw: Draw, out: Spec) -> Needs:
    """To the dtype of another tensor."""
    another = Spec(tuple(draw.size(4) for _ in range(draw.integer(0, 2))), out.dtype)
    return Needs(_other(draw, out), another, values=lambda x, y: _cast_range(out, x))


@_alias("torch.Tensor.to.same", "{0}.to({0}.dtype)", "{0}.to(torch.{dtype})", "{0}.{method}()", "{0}.type_as({0})")
def to_same(draw: Draw, out: Spec) -> Needs:
    """To the same dtype, which returns the tensor itself."""
    return Needs(out.free(), dtype=out.dtype, method=_METHODS[out.dtype])


@_cast("torch.Tensor.to.there_and_back", dtypes=FLOATS + INTEGERS, name_hint="cast")
def there_and_back(draw: Draw, out: Spec) -> Needs:
    """Through another dtype that represents the values, and back."""
    if out.is_float:
        among = ("float64", "complex128") if out.dtype == "float32" else ("float32", "float64", "complex128")
        among = ("complex64", "complex128") if out.dtype == "float64" else among
        operand = out.free() if out.dtype != "float64" else out.exactly()
    else:
        among = ("int64", "float64", "float32", "int16")
        operand = out.exactly().within(0 if out.dtype == "uint8" else -100, 100)
    between = draw.choice([dtype for dtype in among if dtype != out.dtype])
    back = ".real.clone()" if between in COMPLEX else ""
    forms = [f"{{0}}.to(torch.{between}){back}.to({{0}}.dtype)", f"{{0}}.to(torch.{between}){back}.to(torch.{{dtype}})"]
    return Needs(operand, forms=forms, dtype=out.dtype)


@_cast("torch.Tensor.to.narrow", dtypes=("float32", "float64"), grad=False, name_hint="rounded")
def rounded(draw: Draw, out: Spec) -> Needs:
    """Rounded to eight or sixteen bits and back, of exact values."""
    between = draw.choice(("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16"))
    forms = [f"{{0}}.to(torch.{between}).to(torch.{{dtype}})", f"{{0}}.to(torch.{between}).to({{0}}.dtype)"]
    return Needs(out.exactly().within(-8.0, 8.0), forms=forms, dtype=out.dtype)


@_cast("torch.Tensor.view.dtype", dtypes=("uint8", "int8", "bool"), grad=False, saves=True)
def bits(draw: Draw, out: Spec) -> Needs:
    """The same bits as another dtype of eight bits."""
    others = {"uint8": ("int8", "bool"), "int8": ("uint8", "bool"), "bool": ("uint8", "int8")}[out.dtype]
    dtype = draw.choice(others)
    operand = out.as_(dtype).exactly()
    operand = operand if dtype == "bool" else operand.within(0, 1 if out.dtype == "bool" else 100)
    forms = [f"{{0}}.view(torch.{out.dtype}).clone()", f"{{0}}.clone().view(torch.{out.dtype})"]
    return Needs(operand, forms=forms)


@_cast("torch.Tensor.view.float_bits", dtypes=("float32", "float64"), grad=False)
def float_bits(draw: Draw, out: Spec) -> Needs:
    """The bits of a float as an integer, with the sign bit cleared, as a float again."""
    whole, most = ("int32", "0x7FFFFFFF") if out.dtype == "float32" else ("int64", "0x7FFFFFFFFFFFFFFF")
    forms = [f"({{0}}.view(torch.{whole}) & {most}).view(torch.{{dtype}})"]
    return Needs(out.free(), values=lambda x: Range(0, x.most, x.exact, x.nonfinite), forms=forms, dtype=out.dtype)


@_cast("torch.Tensor.view.wider", dtypes=("int16", "int32"), rank=(1, 5), grad=False)
def wider_bits(draw: Draw, out: Spec) -> Needs:
    """Pairs of small integers read as one integer of twice the bits."""
    small, form = ("uint8", "torch.stack([{0}, torch.zeros_like({0})], dim=-1).view(torch.int16).squeeze(-1)")
    if out.dtype == "int32":
        small, form = ("int16", "torch.stack([{0}, torch.zeros_like({0})], dim=-1).view(torch.int32).squeeze(-1)")
    return Needs(out.as_(small).within(0, 100), forms=[form])


@_cast("torch.result_type", "{0}.to(torch.result_type({0}, {1}))", dtypes=("float32", "float64", "int64"))
def result_type(draw: Draw, out: Spec) -> Needs:
    """To the result dtype of a binary operator."""
    first = {"float32": "int64", "float64": "float32", "int64": "int32"}[out.dtype]
    other = Spec(tuple(draw.size(3) for _ in range(max(out.rank, 1))), out.dtype)
    return Needs(out.as_(first), other, values=_first)


@_cast("torch.promote_types", "{0}.to(torch.promote_types({0}.dtype, torch.{dtype}))", dtypes=REAL + COMPLEX)
def promote_types(draw: Draw, out: Spec) -> Needs:
    """To the promoted dtype of bool and another."""
    return Needs(out.as_("bool"), values=Range(0, 1, exact=True), dtype=out.dtype)


@_cast("torch.ne.zero", "{0} != 0", "{0}.ne(0)", "torch.ne({0}, 0)", dtypes=BOOL, name_hint="mask")
def not_zero(draw: Draw, out: Spec) -> Needs:
    """Exact numbers compared with zero."""
    return Needs(out.as_(draw.choice(("float32", "int64", "uint8", "complex64"))).exactly(), values=Range(0, 1, True))
