"""Functions of each element of arrays, through NumPy."""

from __future__ import annotations

from eqfuzz.generate.dag.catalogue.operator import Needs
from eqfuzz.generate.dag.operators.numpy.numpy_calls import PLAIN, arrays, numpy_call
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import BOOL, BOOLEAN, WIDE, Range, Spec

_SMOOTH = {
    "sin": (-180, 180, -1, 1),
    "cos": (-180, 180, -1, 1),
    "tanh": (-180, 180, -1, 1),
    "exp": (-6, 6, 0, 404),
    "expm1": (-6, 6, -1, 404),
    "log": (0.05, 64, -3, 4.2),
    "log1p": (-0.5, 64, -0.7, 4.2),
    "log2": (0.05, 64, -4.4, 6.1),
    "sqrt": (0.01, 64, 0, 8.1),
    "arctan": (-180, 180, -1.6, 1.6),
    "sinh": (-5, 5, -75, 75),
    "arcsinh": (-180, 180, -6, 6),
    "reciprocal": (0.2, 64, 0, 5.1),
    "exp2": (-6, 6, 0, 65),
    "deg2rad": (-180, 180, -3.2, 3.2),
}
for _name, _limits in _SMOOTH.items():

    @numpy_call(f"numpy.{_name}", *arrays(f"np.{_name}({{0}})"), dtypes=WIDE, rank=(1, 5))
    def smooth(draw: Draw, out: Spec, _limits: tuple[float, ...] = _limits) -> Needs:
        """A function of each element, through NumPy."""
        low, high, least, most = _limits
        return Needs(out.free().within(low, high), values=Range(least, most))


for _name in ("absolute", "negative", "square", "sign", "positive"):
    _calls = [f"np.{_name}({{0}})"] + ["-{0}"] * (_name == "negative") + ["np.abs({0})"] * (_name == "absolute")

    @numpy_call(f"numpy.{_name}", *arrays(*_calls), dtypes=PLAIN, rank=(1, 5), exact=True)
    def exact_unary(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """A function of each element that does not round, through NumPy."""
        operand = out.free().exactly() if _name == "sign" else out.free()
        return Needs(operand, values=lambda x: _of_unary(_name, x))


def _of_unary(name: str, x: Range) -> Range:
    if name == "square":
        return Range(0, x.most**2, x.exact, x.nonfinite)
    if name == "sign":
        return Range(-1, 1, x.exact, x.nonfinite)
    return Range(0 if name == "absolute" else -x.most, x.most, x.exact, x.nonfinite)


for _name in ("floor", "ceil", "trunc", "rint", "round"):

    @numpy_call(f"numpy.{_name}", *arrays(f"np.{_name}({{0}})"), dtypes=WIDE, rank=(1, 5), exact=True)
    def rounded(draw: Draw, out: Spec) -> Needs:
        """Rounded, of exact values."""
        return Needs(out.free().exactly(), values=lambda x: Range(x.low - 1, x.high + 1, x.exact, x.nonfinite))


for _name, _symbol in (("add", "+"), ("subtract", "-"), ("multiply", "*"), ("maximum", ""), ("minimum", "")):
    _calls = [f"np.{_name}({{0}}, {{1}})"] + [f"{{0}} {_symbol} {{1}}"] * bool(_symbol)

    @numpy_call(f"numpy.{_name}", *arrays(*_calls), dtypes=PLAIN, rank=(1, 5), exact=True, weight=1.5)
    def arithmetic(draw: Draw, out: Spec, _symbol: str = _symbol) -> Needs:
        """Of two arrays, with NumPy's broadcasting."""
        values = lambda x, y: x + y if _symbol == "+" else x - y if _symbol == "-" else x * y  # noqa: E731
        joined = lambda x, y: x.over(y)  # noqa: E731
        return Needs(out.free(), draw.broadcast(out).free(), values=values if _symbol else joined)


@numpy_call(
    "numpy.divide", *arrays("np.divide({0}, {1})", "{0} / {1}", "np.true_divide({0}, {1})"), dtypes=WIDE, rank=(1, 5)
)
def divide(draw: Draw, out: Spec) -> Needs:
    """The divisor is bounded away from zero."""
    return Needs(out.free(), draw.broadcast(out).within(0.25, 64.0), values=lambda x, y: x * Range(-4, 4))


@numpy_call("numpy.power", *arrays("np.power({0}, {k})", "{0} ** {k}"), dtypes=PLAIN, rank=(1, 5))
def power(draw: Draw, out: Spec) -> Needs:
    """To a small integer power."""
    return Needs(out.free().within(-5, 5), values=Range(-125, 125), k=draw.integer(2, 3))


for _name in ("hypot", "arctan2", "logaddexp", "copysign"):

    @numpy_call(f"numpy.{_name}", *arrays(f"np.{_name}({{0}}, {{1}})"), dtypes=WIDE, rank=(1, 4))
    def smooth_binary(draw: Draw, out: Spec) -> Needs:
        """A function of two arrays, where it is continuous."""
        return Needs(out.free().within(-32, 32), out.free().positive(), values=Range(-100, 100))


@numpy_call(
    "numpy.where",
    *arrays("np.where({0}, {1}, {2})", "np.where({0}, {1}, 0)", "np.where({0}, {2}, {1})"),
    dtypes=PLAIN,
    rank=(1, 5),
    exact=True,
)
def where(draw: Draw, out: Spec) -> Needs:
    """The elements of one tensor where the mask is true, of the other elsewhere."""
    mask = draw.broadcast(out).as_("bool").free()
    zero = Range(0, 0, exact=True)
    return Needs(mask, out.free(), out.free(), values=lambda m, x, y: x.over(y, zero))


@numpy_call("numpy.clip", *arrays("np.clip({0}, {low}, {high})"), dtypes=PLAIN, rank=(1, 5), exact=True)
def clip(draw: Draw, out: Spec) -> Needs:
    """To constant bounds."""
    low, high = draw.choice(((-1, 1), (0, 3), (-4, 2)))
    return Needs(out.free(), values=lambda x: Range(low, high, x.exact, x.nonfinite), low=low, high=high)


for _name, _symbol in (("greater", ">"), ("less_equal", "<="), ("equal", "=="), ("not_equal", "!=")):

    @numpy_call(
        f"numpy.{_name}",
        *arrays(f"np.{_name}({{0}}, {{1}})", f"{{0}} {_symbol} {{1}}"),
        dtypes=BOOL,
        rank=(1, 4),
        exact=True,
        name_hint="mask",
    )
    def compare(draw: Draw, out: Spec) -> Needs:
        """Of exact numbers."""
        operand = out.as_(draw.choice(("float32", "int64"))).exactly()
        return Needs(operand, draw.broadcast(operand), values=BOOLEAN)


for _name in ("logical_and", "logical_or", "logical_xor"):

    @numpy_call(
        f"numpy.{_name}", *arrays(f"np.{_name}({{0}}, {{1}})"), dtypes=BOOL, rank=(1, 4), exact=True, name_hint="mask"
    )
    def logical(draw: Draw, out: Spec) -> Needs:
        """Of booleans."""
        return Needs(out.free(), draw.broadcast(out).free(), values=BOOLEAN)
