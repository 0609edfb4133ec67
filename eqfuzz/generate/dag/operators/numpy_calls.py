"""Calls of NumPy between ``.numpy()`` and ``torch.from_numpy``, which torch.compile traces as tensor operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from eqfuzz.generate.dag.draw import Draw
from eqfuzz.generate.dag.operator import Needs, operator
from eqfuzz.generate.dag.spec import BOOL, BOOLEAN, SIGNED, WIDE, Dim, Range, Spec, Unfit

_PLAIN = (*WIDE, "int64", "int32")
_numpy = partial(operator, family="numpy", grad=False, saves=False)


def _arrays(*calls: str) -> list[str]:
    """The calls as spellings: ``{0}`` and the others become arrays, and what they give a tensor."""
    found = []
    for call in calls:
        for number in range(4):
            call = call.replace(f"{{{number}}}", f"{{{number}}}.numpy()")
        found += [f"torch.from_numpy({call})", f"torch.as_tensor({call})"]
    return found


def _numbers(*calls: str) -> list[str]:
    """The same for what NumPy gives as a number."""
    return [text for text in _arrays(*calls) if text.startswith("torch.as_tensor")]


def _solid(out: Spec) -> Spec:
    if out.numel == 0:
        raise Unfit("empty")
    return out.free()


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

    @_numpy(f"numpy.{_name}", *_arrays(f"np.{_name}({{0}})"), dtypes=WIDE, rank=(1, 5))
    def smooth(draw: Draw, out: Spec, _limits: tuple[float, ...] = _limits) -> Needs:
        """A function of each element, through NumPy."""
        low, high, least, most = _limits
        return Needs(out.free().within(low, high), values=Range(least, most))


for _name in ("absolute", "negative", "square", "sign", "positive"):
    _calls = [f"np.{_name}({{0}})"] + ["-{0}"] * (_name == "negative") + ["np.abs({0})"] * (_name == "absolute")

    @_numpy(f"numpy.{_name}", *_arrays(*_calls), dtypes=_PLAIN, rank=(1, 5), exact=True)
    def exact_unary(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """A function of each element that does not round, through NumPy."""
        given = out.free().exactly() if _name == "sign" else out.free()
        return Needs(given, values=lambda x: _of_unary(_name, x))


def _of_unary(name: str, x: Range) -> Range:
    if name == "square":
        return Range(0, x.most**2, x.exact, x.wild)
    if name == "sign":
        return Range(-1, 1, x.exact, x.wild)
    return Range(0 if name == "absolute" else -x.most, x.most, x.exact, x.wild)


for _name in ("floor", "ceil", "trunc", "rint", "round"):

    @_numpy(f"numpy.{_name}", *_arrays(f"np.{_name}({{0}})"), dtypes=WIDE, rank=(1, 5), exact=True)
    def rounded(draw: Draw, out: Spec) -> Needs:
        """Rounded, of exact values."""
        return Needs(out.free().exactly(), values=lambda x: Range(x.low - 1, x.high + 1, x.exact, x.wild))


for _name, _symbol in (("add", "+"), ("subtract", "-"), ("multiply", "*"), ("maximum", ""), ("minimum", "")):
    _calls = [f"np.{_name}({{0}}, {{1}})"] + [f"{{0}} {_symbol} {{1}}"] * bool(_symbol)

    @_numpy(f"numpy.{_name}", *_arrays(*_calls), dtypes=_PLAIN, rank=(1, 5), exact=True, weight=1.5)
    def arithmetic(draw: Draw, out: Spec, _symbol: str = _symbol) -> Needs:
        """Of two arrays, which broadcast as NumPy's do."""
        values = lambda x, y: x + y if _symbol == "+" else x - y if _symbol == "-" else x * y  # noqa: E731
        joined = lambda x, y: x.over(y)  # noqa: E731
        return Needs(out.free(), draw.broadcast(out).free(), values=values if _symbol else joined)


@_numpy(
    "numpy.divide", *_arrays("np.divide({0}, {1})", "{0} / {1}", "np.true_divide({0}, {1})"), dtypes=WIDE, rank=(1, 5)
)
def divide(draw: Draw, out: Spec) -> Needs:
    """The divisor keeps away from zero."""
    return Needs(out.free(), draw.broadcast(out).within(0.25, 64.0), values=lambda x, y: x * Range(-4, 4))


@_numpy("numpy.power", *_arrays("np.power({0}, {k})", "{0} ** {k}"), dtypes=_PLAIN, rank=(1, 5))
def power(draw: Draw, out: Spec) -> Needs:
    """To a small whole power."""
    return Needs(out.free().within(-5, 5), values=Range(-125, 125), k=draw.integer(2, 3))


for _name in ("hypot", "arctan2", "logaddexp", "copysign"):

    @_numpy(f"numpy.{_name}", *_arrays(f"np.{_name}({{0}}, {{1}})"), dtypes=WIDE, rank=(1, 4))
    def smooth_binary(draw: Draw, out: Spec) -> Needs:
        """A function of two arrays, away from where it jumps."""
        return Needs(out.free().within(-32, 32), out.free().positive(), values=Range(-100, 100))


@_numpy(
    "numpy.where",
    *_arrays("np.where({0}, {1}, {2})", "np.where({0}, {1}, 0)", "np.where({0}, {2}, {1})"),
    dtypes=_PLAIN,
    rank=(1, 5),
    exact=True,
)
def where(draw: Draw, out: Spec) -> Needs:
    """One where the mask is true, the other elsewhere."""
    mask = draw.broadcast(out).as_("bool").free()
    zero = Range(0, 0, exact=True)
    return Needs(mask, out.free(), out.free(), values=lambda m, x, y: x.over(y, zero))


@_numpy("numpy.clip", *_arrays("np.clip({0}, {low}, {high})"), dtypes=_PLAIN, rank=(1, 5), exact=True)
def clip(draw: Draw, out: Spec) -> Needs:
    """To bounds that are numbers."""
    low, high = draw.choice(((-1, 1), (0, 3), (-4, 2)))
    return Needs(out.free(), values=lambda x: Range(low, high, x.exact, x.wild), low=low, high=high)


for _name, _symbol in (("greater", ">"), ("less_equal", "<="), ("equal", "=="), ("not_equal", "!=")):

    @_numpy(
        f"numpy.{_name}",
        *_arrays(f"np.{_name}({{0}}, {{1}})", f"{{0}} {_symbol} {{1}}"),
        dtypes=BOOL,
        rank=(1, 4),
        exact=True,
        noun="mask",
    )
    def compare(draw: Draw, out: Spec) -> Needs:
        """Of exact numbers."""
        given = out.as_(draw.choice(("float32", "int64"))).exactly()
        return Needs(given, draw.broadcast(given), values=BOOLEAN)


for _name in ("logical_and", "logical_or", "logical_xor"):

    @_numpy(f"numpy.{_name}", *_arrays(f"np.{_name}({{0}}, {{1}})"), dtypes=BOOL, rank=(1, 4), exact=True, noun="mask")
    def logical(draw: Draw, out: Spec) -> Needs:
        """Of truth values."""
        return Needs(out.free(), draw.broadcast(out).free(), values=BOOLEAN)


# Reductions and scans


def _reduced(draw: Draw, out: Spec) -> tuple[Spec, int, int]:
    """What is reduced, the axis and its size."""
    axis, n = draw.integer(0, out.rank), draw.size()
    return _solid(out).of(*out.shape[:axis], n, *out.shape[axis:]), axis, n


for _name in ("sum", "mean", "max", "min", "prod", "std", "var"):
    _made = WIDE if _name in ("mean", "std", "var", "prod") else (*WIDE, "int64")

    @_numpy(
        f"numpy.{_name}",
        *_arrays(f"np.{_name}({{0}}, axis={{axis}})", f"{{0}}.{_name}({{axis}})"),
        dtypes=_made,
        rank=(1, 4),
        exact=_name in ("sum", "max", "min"),
    )
    def reduction(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over one axis."""
        given, axis, n = _reduced(draw, out)
        given = given.within(-1.5, 1.5) if _name == "prod" else given
        return Needs(given, values=lambda x: _of_reduction(_name, x, n), axis=axis)

    @_numpy(
        f"numpy.{_name}.all",
        *_numbers(f"np.{_name}({{0}})", f"{{0}}.{_name}()"),
        dtypes=_made,
        rank=(0, 0),
        exact=_name in ("sum", "max", "min"),
    )
    def full_reduction(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Over everything, to a number that becomes a tensor again."""
        size = [draw.size(9) for _ in range(draw.integer(1, 2))]
        given = out.of(*size)
        given = given.within(-1.2, 1.2) if _name == "prod" else given
        return Needs(given, values=lambda x: _of_reduction(_name, x, given.numel))


def _of_reduction(name: str, x: Range, n: int) -> Range:
    if name == "sum":
        return x.times(n)
    if name == "prod":
        return Range(-1e5, 1e5, wild=x.wild)
    if name in ("std", "var"):
        return Range(0, (x.high - x.low) ** (1 if name == "std" else 2), wild=x.wild)
    return Range(x.low * 1.01 - 0.01, x.high * 1.01 + 0.01, wild=x.wild) if name == "mean" else x


@_numpy(
    "numpy.argmax",
    *_arrays("np.argmax({0}, axis={axis})", "np.argmin({0}, axis={axis})", "{0}.argmax(axis={axis})"),
    dtypes=("int64",),
    rank=(1, 3),
    exact=True,
    noun="index",
)
def argmax(draw: Draw, out: Spec) -> Needs:
    """The place of the greatest of distinct values."""
    given, axis, n = _reduced(draw, out.as_(draw.choice(("float32", "int64"))).exactly())
    asked = Spec(given.size, given.dtype, exact=True, distinct=True)
    return Needs(asked, values=Range(0, n - 1, exact=True), axis=axis)


@_numpy("numpy.any", *_arrays("np.any({0}, axis={axis})", "np.all({0}, {axis})"), dtypes=BOOL, rank=(1, 3), exact=True)
def any_(draw: Draw, out: Spec) -> Needs:
    """Whether any, or all, along an axis."""
    given, axis, _ = _reduced(draw, out)
    return Needs(given, values=BOOLEAN, axis=axis)


for _name in ("cumsum", "cumprod"):

    @_numpy(
        f"numpy.{_name}",
        *_arrays(f"np.{_name}({{0}}, axis={{axis}})"),
        dtypes=(*WIDE, "int64") if _name == "cumsum" else WIDE,
        rank=(1, 4),
        exact=_name == "cumsum",
    )
    def scan(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """Running totals along an axis."""
        axis = draw.axis(out)
        count = max(int(out.shape[axis]), 17)
        if _name == "cumsum":
            return Needs(out.free(), values=lambda x: x.times(count).over(x), axis=axis)
        return Needs(out.within(-1.1, 1.1), values=Range(-1e5, 1e5), axis=axis)


@_numpy("numpy.diff", *_arrays("np.diff({0}, axis={axis})"), dtypes=_PLAIN, rank=(1, 4), exact=True)
def diff(draw: Draw, out: Spec) -> Needs:
    """Differences of neighbours."""
    axis = draw.axis(out)
    size = tuple(n + 1 if i == axis else n for i, n in enumerate(out.shape))
    return Needs(out.of(*size), values=lambda x: x - x, axis=axis)


@_numpy("numpy.sort", *_arrays("np.sort({0}, axis={axis})"), dtypes=_PLAIN, rank=(1, 4), exact=True, noun="ordered")
def sort(draw: Draw, out: Spec) -> Needs:
    """In order along an axis."""
    return Needs(out.free().within(-1e6, 1e6), axis=draw.axis(out))


@_numpy(
    "numpy.argsort",
    *_arrays("np.argsort({0}, axis=0, kind='stable')", "np.argsort({0})"),
    dtypes=("int64",),
    rank=(1, 1),
    exact=True,
)
def argsort(draw: Draw, out: Spec) -> Needs:
    """The order of distinct values."""
    n = out.shape[0]
    given = Spec((n,), draw.choice(("float32", "int64")), exact=True, distinct=True)
    return Needs(given, values=Range(0, max(int(n), 17) - 1, exact=True))


@_numpy("numpy.linalg.norm", *_numbers("np.linalg.norm({0})"), dtypes=WIDE, rank=(0, 0), noun="length")
def norm(draw: Draw, out: Spec) -> Needs:
    """The length of a vector, or of a matrix as one."""
    given = out.of(*(draw.size(9) for _ in range(draw.integer(1, 2)))).within(-64, 64)
    return Needs(given, values=lambda x: Range(0, x.most * given.numel))


# Products


def _products(k: int) -> partial[Range]:
    return partial(_sum, k)


def _sum(k: int, x: Range, y: Range) -> Range:
    return (x * y).times(k)


@_numpy(
    "numpy.matmul",
    *_arrays(
        "np.matmul({0}, {1})", "{0} @ {1}", "np.dot({0}, {1})", "np.einsum('ik,kj->ij', {0}, {1})", "{0}.dot({1})"
    ),
    dtypes=(*WIDE, "int64"),
    rank=(2, 2),
    exact=True,
)
def matmul(draw: Draw, out: Spec) -> Needs:
    """Of matrices."""
    (m, n), k = _solid(out).shape, draw.size()
    return Needs(out.of(m, k), out.of(k, n), values=_products(k))


@_numpy(
    "numpy.dot",
    *_numbers("np.dot({0}, {1})", "np.inner({0}, {1})", "np.vdot({0}, {1})", "np.sum({0} * {1})"),
    dtypes=(*WIDE, "int64"),
    rank=(0, 0),
    exact=True,
)
def dot(draw: Draw, out: Spec) -> Needs:
    """Of vectors."""
    k = draw.size()
    return Needs(out.of(k), out.of(k), values=_products(k))


@_numpy(
    "numpy.outer",
    *_arrays("np.outer({0}, {1})", "{0}[:, None] * {1}[None, :]", "np.multiply.outer({0}, {1})"),
    dtypes=_PLAIN,
    rank=(2, 2),
    exact=True,
)
def outer(draw: Draw, out: Spec) -> Needs:
    """All products of two vectors."""
    m, n = out.shape
    return Needs(out.of(m), out.of(n), values=lambda x, y: x * y)


@_numpy("numpy.einsum", *_arrays("np.einsum('{from_}->{to}', {0}).copy()"), dtypes=_PLAIN, rank=(2, 4), exact=True)
def einsum(draw: Draw, out: Spec) -> Needs:
    """Axes in another order, one of them summed."""
    letters = "abcd"[: out.rank]
    order = draw.order(out.rank)
    n = draw.size(5)
    given = out.of(*(out.shape[i] for i in order), n)
    if out.dtype == "int32":
        raise Unfit("NumPy may widen it")
    return Needs(given, values=lambda x: x.times(n), from_="".join(letters[i] for i in order) + "k", to=letters)


@_numpy("numpy.trace", *_numbers("np.trace({0})", "np.diagonal({0}).sum()"), dtypes=WIDE, rank=(0, 0), exact=True)
def trace(draw: Draw, out: Spec) -> Needs:
    """The sum of a diagonal."""
    n = draw.size(9)
    return Needs(out.of(n, draw.size(9)), values=lambda x: x.times(n))


# Moving elements


def _moved(
    name: str, *calls: str, rank: tuple[int, int] = (1, 4), view: bool = False, dtypes: Iterable[str] = _PLAIN
) -> Callable[[Callable[[Draw, Spec], Needs]], Callable[[Draw, Spec], Needs]]:
    """Declare what moves elements of any dtype."""
    return _numpy(name, *_arrays(*calls), dtypes=(*dtypes, "bool"), rank=rank, exact=True, view=view)


@_moved("numpy.transpose", "np.transpose({0}, {order})", "{0}.transpose({order})", rank=(2, 4), view=True)
def transpose(draw: Draw, out: Spec) -> Needs:
    """Axes in another order: shares memory with what went in."""
    order = draw.order(out.rank)
    size = [0] * out.rank
    for place, axis in enumerate(order):
        size[axis] = out.shape[place]
    return Needs(out.of(*size), order=order)


@_moved("numpy.T", "{0}.T", "np.swapaxes({0}, 0, 1)", "np.moveaxis({0}, 0, 1)", rank=(2, 2), view=True)
def transposed(draw: Draw, out: Spec) -> Needs:
    """A matrix on its side."""
    return Needs(out.of(*reversed(out.shape)))


@_moved("numpy.reshape", "np.reshape({0}, {size})", "{0}.reshape({size})", "np.ravel({0}).reshape({size})", view=True)
def reshape(draw: Draw, out: Spec) -> Needs:
    """The same elements in another shape."""
    first, *rest = _solid(out).shape
    if rest:
        given = out.of(first * rest[0], *rest[1:])
    else:
        given = out.of(*draw.choice([(a, first // a) for a in (1, 2, 3) if first % a == 0]))
    return Needs(given, size=out.shape)


@_moved("numpy.expand_dims", "np.expand_dims({0}, {axis})", "{0}[{before}None]", view=True, rank=(2, 4))
def expand_dims(draw: Draw, out: Spec) -> Needs:
    """A new axis of size one."""
    ones = [i for i, n in enumerate(out.shape) if not isinstance(n, Dim) and n == 1]
    axis = draw.choice(ones)
    return Needs(out.of(*out.shape[:axis], *out.shape[axis + 1 :]), axis=axis, before=":, " * axis)


@_moved("numpy.squeeze", "np.squeeze({0}, axis={axis})", "{0}.squeeze({axis})", view=True, rank=(1, 3))
def squeeze(draw: Draw, out: Spec) -> Needs:
    """Without an axis of size one."""
    axis = draw.integer(0, out.rank)
    return Needs(out.of(*out.shape[:axis], 1, *out.shape[axis:]), axis=axis)


@_moved("numpy.flip", "np.flip({0}, {axis}).copy()", "np.flip({0}, axis={axis}).copy()")
def flip(draw: Draw, out: Spec) -> Needs:
    """Back to front."""
    return Needs(out.free(), axis=draw.axis(out))


@_moved("numpy.roll", "np.roll({0}, {shift}, axis={axis})")
def roll(draw: Draw, out: Spec) -> Needs:
    """Moved round along an axis."""
    return Needs(_solid(out), shift=draw.integer(-3, 3), axis=draw.axis(out))


@_moved("numpy.tile", "np.tile({0}, {k})", rank=(1, 3))
def tile(draw: Draw, out: Spec) -> Needs:
    """Repeated along the last axis."""
    k = draw.choice([k for k in (1, 2, 3) if out.shape[-1] % k == 0])
    return Needs(_solid(out).of(*out.shape[:-1], out.shape[-1] // k), k=k)


@_moved("numpy.repeat", "np.repeat({0}, {k}, axis={axis})", "{0}.repeat({k}, axis={axis})", rank=(1, 3))
def repeat(draw: Draw, out: Spec) -> Needs:
    """Each element several times."""
    axis = draw.axis(_solid(out))
    k = draw.choice([k for k in (1, 2, 3) if out.shape[axis] % k == 0])
    return Needs(out.of(*out.shape[:axis], out.shape[axis] // k, *out.shape[axis + 1 :]), k=k, axis=axis)


@_moved("numpy.concatenate", "np.concatenate([{0}, {1}], axis={axis})", "np.concatenate(({0}, {1}), {axis})")
def concatenate(draw: Draw, out: Spec) -> Needs:
    """Joined along an axis."""
    axis = draw.axis(out)
    parts = draw.split(out.shape[axis], 2)
    return Needs(*(out.of(*out.shape[:axis], n, *out.shape[axis + 1 :]) for n in parts), axis=axis)


@_moved("numpy.stack", "np.stack([{0}, {1}], axis={axis})", "np.stack(({0}, {1}), {axis})", rank=(2, 4))
def stack(draw: Draw, out: Spec) -> Needs:
    """Joined along a new axis."""
    axis = draw.choice([i for i, n in enumerate(out.shape) if not isinstance(n, Dim) and n == 2])
    part = out.of(*out.shape[:axis], *out.shape[axis + 1 :])
    return Needs(part, part, axis=axis)


@_moved("numpy.vstack", "np.vstack([{0}, {1}])", "np.vstack(({0}, {1}))", rank=(2, 3))
def vstack(draw: Draw, out: Spec) -> Needs:
    """One above the other."""
    a, b = draw.split(out.shape[0], 2)
    return Needs(out.of(a, *out.shape[1:]), out.of(b, *out.shape[1:]))


@_moved("numpy.slice", "{0}[{start}:]", "{0}[{start}:, ...]", "{0}[{start}:].copy()", view=True)
def slice_(draw: Draw, out: Spec) -> Needs:
    """A basic slice: shares memory with what went in."""
    start = draw.integer(1, 3)
    return Needs(out.of(out.shape[0] + start, *out.shape[1:]), start=start)


@_moved("numpy.take", "np.take({0}, {1}, axis=0)", "{0}[{1}]", "{0}.take({1}, axis=0)", rank=(1, 3))
def take(draw: Draw, out: Spec) -> Needs:
    """Rows by number."""
    rows = draw.integer(1, 8)
    where = Spec(out.shape[:1], "int64", exact=True, below=rows, total=True)
    return Needs(out.of(rows, *out.shape[1:]), where, values=lambda x, i: x)


@_moved("numpy.tril", "np.tril({0})", "np.triu({0}, {k})", rank=(2, 2), dtypes=("float32", "float64", "int64"))
def triangle(draw: Draw, out: Spec) -> Needs:
    """A triangle of a matrix, zeros elsewhere."""
    if out.dtype == "bool":
        raise Unfit("numbers only")
    return Needs(out.free(), values=lambda x: x.over(Range(0, 0, exact=True)), k=draw.integer(-1, 1))


# Constants and conversions


@_numpy(
    "numpy.linspace",
    "{0} + torch.from_numpy(np.linspace({low}, {high}, {n}, dtype=np.{dtype}))",
    "torch.from_numpy({0}.numpy() * np.linspace({low}, {high}, {n}).astype(np.{dtype}))",
    dtypes=WIDE,
    rank=(1, 3),
)
def linspace(draw: Draw, out: Spec) -> Needs:
    """An array of evenly spaced numbers joins in."""
    low, high = draw.choice(((0, 1), (-2, 2), (1, 5)))
    values = lambda x: (x + Range(-5, 5)).over(x * Range(-5, 5))  # noqa: E731
    return Needs(out.free(), values=values, low=low, high=high, n=out.shape[-1], dtype=out.dtype)


@_numpy(
    "numpy.arange",
    "{0} * torch.from_numpy(np.arange({n}).astype(np.{dtype}))",
    "torch.from_numpy({0}.numpy() - np.arange({n}, dtype=np.{dtype}))",
    "torch.from_numpy(np.ones({n}, dtype=np.{dtype}) + np.arange({n}, dtype=np.{dtype}) * {0}.numpy())",
    dtypes=(*WIDE, "int64"),
    rank=(1, 3),
    exact=True,
)
def arange(draw: Draw, out: Spec) -> Needs:
    """An array of whole numbers joins in."""
    most = max(int(out.shape[-1]), 17)
    upto = Range(0, most, exact=True)
    values = lambda x: (x - upto).over(x * upto, x * upto + Range(1, 1, exact=True), x)  # noqa: E731
    return Needs(out.free(), values=values, n=out.shape[-1], dtype=out.dtype)


@_numpy(
    "numpy.astype",
    *_arrays("{0}.astype(np.{dtype})", "np.asarray({0}, dtype=np.{dtype})"),
    dtypes=_PLAIN,
    exact=True,
    rank=(1, 5),
)
def astype(draw: Draw, out: Spec) -> Needs:
    """Of another dtype, of exact values."""
    source = draw.choice([d for d in (*WIDE, *SIGNED) if d != out.dtype])
    given = out.as_(source).exactly().within(-100, 100)
    return Needs(given, values=lambda x: Range(x.low - 1, x.high + 1, exact=True), dtype=out.dtype)


@_numpy(
    "numpy.zeros",
    "torch.from_numpy(np.zeros_like({0}.numpy())) + {0}",
    "torch.from_numpy(np.full({size}, 2, dtype=np.{dtype}) * {0}.numpy())",
    "torch.from_numpy(np.ones({size}, dtype=np.{dtype})) * {0}",
    dtypes=_PLAIN,
    rank=(1, 4),
    exact=True,
)
def zeros(draw: Draw, out: Spec) -> Needs:
    """Arrays of one value join in."""
    return Needs(out.free(), values=lambda x: x.over(x + x), size=out.shape, dtype=out.dtype)


@_numpy(
    "numpy.meshgrid",
    "torch.from_numpy(np.meshgrid({0}.numpy(), {1}.numpy(), indexing='ij')[0] - {1}.numpy())",
    "torch.from_numpy(np.add(*np.meshgrid({0}.numpy(), {1}.numpy(), indexing='ij')))",
    dtypes=_PLAIN,
    rank=(2, 2),
    exact=True,
)
def meshgrid(draw: Draw, out: Spec) -> Needs:
    """Two vectors spread over a grid."""
    m, n = _solid(out).shape
    return Needs(out.of(m), out.of(n), values=lambda x, y: (x + y).over(x - y))


@_numpy(
    "numpy.sum.item",
    "{0} * float(np.sum({1}.numpy()))",
    "{0} + float({1}.numpy().max())",
    "{0} - np.min({1}.numpy()).item()",
    dtypes=WIDE,
    rank=(0, 4),
    exact=True,
)
def number_from_numpy(draw: Draw, out: Spec) -> Needs:
    """A Python number that NumPy computed: Dynamo breaks the graph, or keeps a symbol."""
    n = draw.size(9)
    values = lambda x, y: (x * y.times(n)).over(x + y, x - y)  # noqa: E731
    return Needs(out.free(), out.of(n).within(-9, 9), values=values)
