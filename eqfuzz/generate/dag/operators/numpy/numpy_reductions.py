"""Reductions, scans, orders and products of arrays, through NumPy."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.numpy.numpy_calls import PLAIN, arrays, numbers, numpy_call
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import BOOL, BOOLEAN, WIDE, Range, Spec, UnsatisfiableSpec, nonempty
from eqfuzz.generate.dag.values.value_bounds import longest, sum_of_products


def _reduced(draw: Draw, out: Spec) -> tuple[Spec, int, int]:
    """The input, the reduced axis and its size. Raises UnsatisfiableSpec."""
    axis, n = draw.integer(0, out.rank), draw.size()
    return nonempty(out).of(*out.shape[:axis], n, *out.shape[axis:]), axis, n


for _name in ("sum", "mean", "max", "min", "prod", "std", "var"):
    _dtypes = WIDE if _name in ("mean", "std", "var", "prod") else (*WIDE, "int64")

    @numpy_call(
        f"numpy.{_name}",
        *arrays(f"np.{_name}({{0}}, axis={{axis}})", f"{{0}}.{_name}({{axis}})"),
        dtypes=_dtypes,
        rank=(1, 4),
        exact=_name in ("sum", "max", "min"),
    )
    def reduction(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over one axis."""
        operand, axis, n = _reduced(draw, out)
        operand = operand.within(-1.5, 1.5) if _name == "prod" else operand
        return Needs(operand, values=lambda x: _of_reduction(_name, x, n), axis=axis)

    @numpy_call(
        f"numpy.{_name}.all",
        *numbers(f"np.{_name}({{0}})", f"{{0}}.{_name}()"),
        dtypes=_dtypes,
        rank=(0, 0),
        exact=_name in ("sum", "max", "min"),
    )
    def full_reduction(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over all elements, to a number that becomes a tensor again."""
        size = [draw.size(9) for _ in range(draw.integer(1, 2))]
        operand = out.of(*size)
        operand = operand.within(-1.2, 1.2) if _name == "prod" else operand
        return Needs(operand, values=lambda x: _of_reduction(_name, x, operand.numel))


def _of_reduction(name: str, x: Range, n: int) -> Range:
    if name == "sum":
        return x.times(n)
    if name == "prod":
        return Range(-1e5, 1e5, nonfinite=x.nonfinite)
    if name in ("std", "var"):
        return Range(0, (x.high - x.low) ** (1 if name == "std" else 2), nonfinite=x.nonfinite)
    return Range(x.low * 1.01 - 0.01, x.high * 1.01 + 0.01, nonfinite=x.nonfinite) if name == "mean" else x


@numpy_call(
    "numpy.argmax",
    *arrays("np.argmax({0}, axis={axis})", "np.argmin({0}, axis={axis})", "{0}.argmax(axis={axis})"),
    dtypes=("int64",),
    rank=(1, 3),
    exact=True,
    name_hint="index",
)
def argmax(draw: Draw, out: Spec) -> Needs:
    """The index of an extreme among distinct values."""
    operand, axis, n = _reduced(draw, out.as_(draw.choice(("float32", "int64"))).exactly())
    distinct = Spec(operand.size, operand.dtype, exact=True, distinct=True)
    return Needs(distinct, values=Range(0, n - 1, exact=True), axis=axis)


@numpy_call(
    "numpy.any", *arrays("np.any({0}, axis={axis})", "np.all({0}, {axis})"), dtypes=BOOL, rank=(1, 3), exact=True
)
def any_(draw: Draw, out: Spec) -> Needs:
    """Any or all along an axis."""
    operand, axis, _ = _reduced(draw, out)
    return Needs(operand, values=BOOLEAN, axis=axis)


for _name in ("cumsum", "cumprod"):

    @numpy_call(
        f"numpy.{_name}",
        *arrays(f"np.{_name}({{0}}, axis={{axis}})"),
        dtypes=(*WIDE, "int64") if _name == "cumsum" else WIDE,
        rank=(1, 4),
        exact=_name == "cumsum",
    )
    def scan(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Running totals along an axis."""
        axis = draw.axis(out)
        count = longest(out.shape[axis])
        if _name == "cumsum":
            return Needs(out.free(), values=lambda x: x.times(count).over(x), axis=axis)
        return Needs(out.within(-1.1, 1.1), values=Range(-1e5, 1e5), axis=axis)


@numpy_call("numpy.diff", *arrays("np.diff({0}, axis={axis})"), dtypes=PLAIN, rank=(1, 4), exact=True)
def diff(draw: Draw, out: Spec) -> Needs:
    """Differences of neighbours."""
    axis = draw.axis(out)
    size = tuple(n + 1 if i == axis else n for i, n in enumerate(out.shape))
    return Needs(out.of(*size), values=lambda x: x - x, axis=axis)


@numpy_call(
    "numpy.sort", *arrays("np.sort({0}, axis={axis})"), dtypes=PLAIN, rank=(1, 4), exact=True, name_hint="ordered"
)
def sort(draw: Draw, out: Spec) -> Needs:
    """Sorted along an axis."""
    return Needs(out.free().within(-1e6, 1e6), axis=draw.axis(out))


@numpy_call(
    "numpy.argsort",
    *arrays("np.argsort({0}, axis=0, kind='stable')", "np.argsort({0})"),
    dtypes=("int64",),
    rank=(1, 1),
    exact=True,
)
def argsort(draw: Draw, out: Spec) -> Needs:
    """The order of distinct values."""
    n = out.shape[0]
    operand = Spec((n,), draw.choice(("float32", "int64")), exact=True, distinct=True)
    return Needs(operand, values=Range(0, longest(n) - 1, exact=True))


@numpy_call("numpy.linalg.norm", *numbers("np.linalg.norm({0})"), dtypes=WIDE, rank=(0, 0), name_hint="length")
def norm(draw: Draw, out: Spec) -> Needs:
    """The norm of a vector or of a flattened matrix."""
    operand = out.of(*(draw.size(9) for _ in range(draw.integer(1, 2)))).within(-64, 64)
    return Needs(operand, values=lambda x: Range(0, x.most * operand.numel))


@numpy_call(
    "numpy.matmul",
    *arrays("np.matmul({0}, {1})", "{0} @ {1}", "np.dot({0}, {1})", "np.einsum('ik,kj->ij', {0}, {1})", "{0}.dot({1})"),
    dtypes=(*WIDE, "int64"),
    rank=(2, 2),
    exact=True,
)
def matmul(draw: Draw, out: Spec) -> Needs:
    """Of matrices."""
    (m, n), k = nonempty(out).shape, draw.size()
    return Needs(out.of(m, k), out.of(k, n), values=sum_of_products(k))


@numpy_call(
    "numpy.dot",
    *numbers("np.dot({0}, {1})", "np.inner({0}, {1})", "np.vdot({0}, {1})", "np.sum({0} * {1})"),
    dtypes=(*WIDE, "int64"),
    rank=(0, 0),
    exact=True,
)
def dot(draw: Draw, out: Spec) -> Needs:
    """Of vectors."""
    k = draw.size()
    return Needs(out.of(k), out.of(k), values=sum_of_products(k))


@numpy_call(
    "numpy.outer",
    *arrays("np.outer({0}, {1})", "{0}[:, None] * {1}[None, :]", "np.multiply.outer({0}, {1})"),
    dtypes=PLAIN,
    rank=(2, 2),
    exact=True,
)
def outer(draw: Draw, out: Spec) -> Needs:
    """The outer product of two vectors."""
    m, n = out.shape
    return Needs(out.of(m), out.of(n), values=lambda x, y: x * y)


@numpy_call("numpy.einsum", *arrays("np.einsum('{from_}->{to}', {0}).copy()"), dtypes=PLAIN, rank=(2, 4), exact=True)
def einsum(draw: Draw, out: Spec) -> Needs:
    """Axes permuted, and one of them summed."""
    letters = "abcd"[: out.rank]
    order = draw.order(out.rank)
    n = draw.size(5)
    operand = out.of(*(out.shape[i] for i in order), n)
    if out.dtype == "int32":
        raise UnsatisfiableSpec("NumPy may widen it")
    return Needs(operand, values=lambda x: x.times(n), from_="".join(letters[i] for i in order) + "k", to=letters)


@numpy_call("numpy.trace", *numbers("np.trace({0})", "np.diagonal({0}).sum()"), dtypes=WIDE, rank=(0, 0), exact=True)
def trace(draw: Draw, out: Spec) -> Needs:
    """The sum of a diagonal."""
    n = draw.size(9)
    return Needs(out.of(n, draw.size(9)), values=lambda x: x.times(n))
