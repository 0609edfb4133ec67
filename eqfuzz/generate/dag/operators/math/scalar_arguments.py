"""Tensor operators with computed Python numbers as arguments."""

from __future__ import annotations

from functools import partial

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, WIDE, Range, Spec, UnsatisfiableSpec, scalar
from eqfuzz.generate.dag.values.value_bounds import longest

_PLAIN = (*FLOATS, "int64", "int32")
_tensor = partial(operator, family="scalars", weight=2)


def _fitting(out: Spec) -> Spec:
    """A number that does not promote the dtype of ``out``, exact where ``out`` is."""
    if not out.is_float:
        return scalar("int64", -4, 4)
    return scalar("int64", -2, 3) if out.exact else scalar("float64", -2, 2)


_ARITHMETIC = (
    ("add", "{0} + {1}", "torch.add({0}, {1})", "{1} + {0}"),
    ("sub", "{0} - {1}", "{1} - {0}", "torch.rsub({0}, {1})"),
    ("mul", "{0} * {1}", "torch.mul({0}, {1})", "{1} * {0}"),
)
for _name, *_forms in _ARITHMETIC:

    @_tensor(f"torch.{_name}.Scalar", *_forms, dtypes=_PLAIN, exact=True)
    def with_number(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """A tensor and a number."""
        other = scalar("int64", -4, 4) if draw.chance(0.4) else _fitting(out)
        values = lambda x, s: x * s if _name == "mul" else (x - s).over(s - x, x + s)  # noqa: E731
        return Needs(out.free(), other, values=values)


@_tensor(
    "scalar: scaled",
    "{0} / (abs({1}) + 1)",
    "torch.div({0}, abs({1}) + 1)",
    "{0} * (1 / (1 + abs({1})))",
    "{0} * 2.0 / max({1}, 1)",
    "{0} * min(abs({1}), 2)",
    dtypes=FLOATS,
)
def scaled(draw: Draw, out: Spec) -> Needs:
    """A tensor scaled by an expression of a number."""
    return Needs(out.free(), _fitting(out), values=lambda x, s: x * Range(-2.1, 2.1))


@_tensor(
    "scalar: size arithmetic",
    "{0} * {0}.shape[{k}]",
    "{0} / {0}.shape[{k}]",
    "{0} - len({0})",
    "{0} * ({0}.numel() ** -0.5)",
    "{0} / math.sqrt({0}.size({k}))",
    "{0} * ({0}.shape[{k}] % 3)",
    "{0} + {0}.shape[{k}] // 2",
    "{0} * max({0}.shape[0] - 2, 1)",
    dtypes=WIDE,
    rank=(1, 4),
)
def size_arithmetic(draw: Draw, out: Spec) -> Needs:
    """Arithmetic of a tensor with its own sizes, which may change."""
    if out.numel == 0:
        raise UnsatisfiableSpec("divides by a size")
    most = float(max(20, *(int(n) for n in out.shape)))
    return Needs(out.free(), values=lambda x: (x * Range(-most, most)).over(x + Range(-most, most)), k=draw.axis(out))


@_tensor(
    "scalar: full",
    "torch.full({size}, {0}, dtype=torch.{dtype})",
    "torch.ones({size}, dtype=torch.{dtype}) * {0}",
    "torch.zeros({size}, dtype=torch.{dtype}).fill_({0})",
    "torch.zeros({size}, dtype=torch.{dtype}).add_({0})",
    "torch.tensor({0}, dtype=torch.{dtype}).repeat({size})",
    dtypes=_PLAIN,
    exact=True,
)
def full(draw: Draw, out: Spec) -> Needs:
    """A tensor filled with a number."""
    return Needs(_fitting(out), size=out.shape, dtype=out.dtype)


@_tensor(
    "scalar: full like",
    "torch.full_like({0}, {1})",
    "{0}.new_full({size}, {1})",
    "{0}.clone().fill_({1})",
    "torch.full_like({0}, {1}) + {0}",
    dtypes=_PLAIN,
    exact=True,
    grad=False,
)
def full_like(draw: Draw, out: Spec) -> Needs:
    """Filled with a number, in the size of another tensor."""
    return Needs(out.free(), _fitting(out), values=lambda x, s: s.over(x + s), size=out.shape)


@_tensor(
    "scalar: where",
    "torch.where({0}, {1}, {cast}({2}))",
    "torch.where({0}, {cast}({2}), {1})",
    "{1}.masked_fill({0}, {cast}({2}))",
    "torch.where(({1} > {2}) & {0}, {1}, {cast}({2}))",
    dtypes=("float32", "float64", "int64"),
    exact=True,
    name_hint="chosen",
)
def where(draw: Draw, out: Spec) -> Needs:
    """A number where a mask is true, converted so that it does not change the dtype."""
    cast = "float" if out.is_float else "int"
    return Needs(
        Spec(out.size, "bool"), out.exactly(), scalar("int64", -4, 4), values=lambda m, x, s: x.over(s), cast=cast
    )


@_tensor(
    "scalar: clamp",
    "torch.clamp({0}, max={1})",
    "{0}.clamp(min=-abs({1}) - 1, max=abs({1}) + 1)",
    "{0}.clamp_min({1})",
    "torch.clamp({0}, {1}, {1} + 2)",
    dtypes=_PLAIN,
    exact=True,
    name_hint="clipped",
)
def clamp(draw: Draw, out: Spec) -> Needs:
    """To computed bounds."""
    one = Range(-3, 3, exact=True)
    return Needs(out.free(), _fitting(out), values=lambda x, s: x.over(s + one, one - s))


@_tensor(
    "scalar: alpha",
    "torch.add({0}, {1}, alpha={2})",
    "torch.sub({0}, {1}, alpha={2})",
    "{0} + {1} * {2}",
    "torch.addcmul({0}, {1}, {1}, value={2})",
    dtypes=_PLAIN,
    exact=True,
)
def alpha(draw: Draw, out: Spec) -> Needs:
    """A sum with a scaled tensor."""
    values = lambda x, y, s: x + (y * s).over(-(y * s), y * y * s)  # noqa: E731
    return Needs(out.free(), out.within(-32, 32), _fitting(out), values=values)


@_tensor(
    "scalar: function",
    "F.leaky_relu({0}, abs({1}) * 0.1)",
    "F.elu({0}, alpha=abs({1}) * 0.1 + 0.5)",
    "torch.lerp({0}, {0}.tanh(), min(abs({1}), 1.0))",
    "F.hardtanh({0}, -abs({1}) - 1, abs({1}) + 1)",
    "torch.sin({0} * {1})",
    "({0} * {1}).tanh()",
    "{0} ** (int(abs({1})) % 2 + 1)",
    "F.softplus({0}, beta=abs({1}) + 0.5)",
    dtypes=WIDE,
)
def function(draw: Draw, out: Spec) -> Needs:
    """A function with a number as parameter."""
    values = lambda x, s: Range(-x.most * (s.most + 1) - 2, x.most**2 + x.most * (s.most + 1) + 4)  # noqa: E731
    return Needs(out.within(-8, 8), scalar("float64", -2, 2).exactly(), values=values)


@_tensor(
    "scalar: conditional",
    "({0} if {2} else {1}) + 1",
    "[{1}, {0}][{2}] * 2",
    "{0} * 2 if {2} else {0} - {1}",
    "(lambda a, b: a if {2} else b)({0}, {1}).neg()",
    dtypes=_PLAIN,
    exact=True,
)
def conditional(draw: Draw, out: Spec) -> Needs:
    """One of two tensors, selected by a boolean; always a new tensor, never an alias."""
    one = Range(1, 1, exact=True)
    values = lambda x, y, s: x.over(-x, -y, x + x, y + y, x - y, x + one, y + one)  # noqa: E731
    return Needs(out.free(), out.free(), scalar("bool", 0, 1), values=values)


@_tensor(
    "scalar: arange",
    "torch.arange({0}, {0} + {n})",
    "torch.arange({n}) * {0}",
    "{0} + torch.arange({n})",
    "torch.arange(0, {n}) // (abs({0}) + 1)",
    "torch.arange({n}).remainder(abs({0}) + 1)",
    dtypes=("int64",),
    rank=(1, 1),
    exact=True,
)
def arange(draw: Draw, out: Spec) -> Needs:
    """Counted from a number, or in steps of it."""
    n = out.shape[0]
    upto = Range(0, longest(n), exact=True)
    return Needs(scalar("int64", -4, 8), values=lambda s: (s + upto).over(s * upto, upto), n=n)


@_tensor(
    "scalar: moved",
    "torch.roll({0}, {1}, {dim})",
    "{0}.roll(shifts={1}, dims={dim})",
    "torch.cat([{0}.narrow({dim}, abs({1}) % {n}, 1)] * {n}, {dim})",
    "{0}.select({dim}, abs({1}) % {n}).unsqueeze({dim}).expand({size}).contiguous() * 1",
    "torch.stack([{0}, {0} + {0}])[{1} % 2].clone()",
    dtypes=_PLAIN,
    rank=(1, 4),
    exact=True,
)
def moved(draw: Draw, out: Spec) -> Needs:
    """Elements from a computed position."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    dim = draw.axis(out)
    params = {"dim": dim, "size": out.shape}
    return Needs(out.free(), scalar("int64", -4, 8), values=lambda x, s: x.over(x + x), n=out.shape[dim], **params)


@_tensor(
    "scalar: size from number",
    "{0} + torch.ones(abs({1}) % 4 + 1, dtype=torch.{dtype}).sum()",
    "{0} * torch.arange(abs({1}) % 5).sum().to(torch.{dtype})",
    "{0}.unsqueeze(0).expand(abs({1}) % 3 + 1, *{0}.shape).sum(0)",
    "torch.cat([{0}.reshape(-1)] * (abs({1}) % 3 + 1))[:{0}.numel()].reshape({size})",
    "sum([{0} for _ in range(abs({1}) % 3 + 1)])",
    "F.pad({0}.flatten(), (0, abs({1}) % 3))[:{0}.numel()].reshape({size}) * 2",
    dtypes=("float32", "float64", "int64"),
    rank=(1, 3),
    exact=True,
)
def size_from_number(draw: Draw, out: Spec) -> Needs:
    """A computed size, reduced or truncated to a known one."""
    upto = Range(0, 10, exact=True)
    values = lambda x, s: x.over(x + upto, x * upto)  # noqa: E731
    return Needs(out.free(), scalar("int64", -4, 8), values=values, dtype=out.dtype, size=out.shape)


@_tensor(
    "scalar: tensor",
    "torch.tensor({0}, dtype=torch.{dtype})",
    "torch.scalar_tensor({0}, dtype=torch.{dtype})",
    "torch.as_tensor({0}).to(torch.{dtype}) + 0",
    "torch.tensor([{0}, {1}], dtype=torch.{dtype}).sum()",
    "torch.stack([torch.tensor({0}), torch.tensor({1})]).amax().to(torch.{dtype})",
    dtypes=("float32", "float64", "int64"),
    rank=(0, 0),
    exact=True,
)
def tensor(draw: Draw, out: Spec) -> Needs:
    """A tensor of computed numbers."""
    return Needs(_fitting(out), _fitting(out), values=lambda x, y: x.over(y, x + y), dtype=out.dtype)


@_tensor(
    "scalar: from bool",
    "{0} * {1}",
    "{0} + int({1})",
    "{0} - int(not {1})",
    "{0} * (1 + {1})",
    dtypes=_PLAIN,
    exact=True,
)
def from_bool(draw: Draw, out: Spec) -> Needs:
    """A boolean as a number."""
    one = Range(1, 1, exact=True)
    values = lambda x, s: x.over(x + x, x + one, x - one, Range(0, 0, exact=True))  # noqa: E731
    return Needs(out.free(), scalar("bool", 0, 1), values=values)
