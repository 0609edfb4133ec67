"""Operators that create tensors."""

from __future__ import annotations

from functools import partial
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import EVERY, FLOATS, REAL, WIDE, Dim, Range, Spec, UnsatisfiableSpec, stays_exact

_LONGEST = 32
"""What a size that changes is at most."""

_constant = partial(operator, dtypes=EVERY, exact=True, saves=False)


def _constant_range(number: float, out: Spec) -> Range:
    """The range of a tensor filled with ``number``; imaginary parts are 0."""
    if out.is_complex:
        return Range(min(number, 0), max(number, 0), exact=True)
    return Range(number, number, exact=True)


def _most(n: int) -> int:
    return _LONGEST if isinstance(n, Dim) else n


def _dtype(draw: Draw, out: Spec) -> str:
    """The ``dtype`` argument, sometimes omitted where it is the default."""
    return "" if out.dtype == "float32" and draw.chance(0.6) else f", dtype=torch.{out.dtype}"


def _number(draw: Draw, out: Spec) -> tuple[Any, Range]:
    """A literal of the dtype of ``out``, and its range."""
    if out.dtype == "bool":
        return draw.chance(0.5), Range(0, 1, exact=True)
    number = draw.number(out.exactly(), 0 if out.dtype == "uint8" else -3, 3)
    return float(number) if out.is_float else number, _constant_range(number, out)


def _source(draw: Draw) -> Spec:
    """A small tensor whose values are not used."""
    return Spec(tuple(draw.size(4) for _ in range(draw.integer(0, 2))), draw.choice(("float32", "float64", "int64")))


for _name, _value in (("zeros", 0), ("ones", 1)):

    @_constant(f"torch.{_name}", name_hint=_name)
    def constant(draw: Draw, out: Spec, _name: str = _name, _value: int = _value) -> Needs:
        """A tensor filled with zeros or ones."""
        forms = [f"torch.{_name}({{size}}{{dtype}})", f"torch.{_name}(size={{size}}{{dtype}})"]
        if out.rank:
            forms.append(f"torch.{_name}({{listed}}{{dtype}})")
        listed = ", ".join(str(n) for n in out.shape)
        return Needs(
            values=_constant_range(_value, out), forms=forms, size=out.shape, listed=listed, dtype=_dtype(draw, out)
        )

    @_constant(f"torch.{_name}_like", name_hint=_name)
    def constant_like(draw: Draw, out: Spec, _name: str = _name, _value: int = _value) -> Needs:
        """Filled with zeros or ones, in the size of another tensor and its dtype or another."""
        if draw.chance(0.6):
            return Needs(out.free(), values=_constant_range(_value, out), forms=[f"torch.{_name}_like({{0}})"])
        operand = Spec(out.size, draw.choice(("float32", "int64", "bool", "float64")))
        forms = [f"torch.{_name}_like({{0}}, dtype=torch.{out.dtype})"]
        return Needs(operand, values=_constant_range(_value, out), forms=forms)

    @_constant(f"torch.Tensor.new_{_name}", name_hint=_name)
    def new_constant(draw: Draw, out: Spec, _name: str = _name, _value: int = _value) -> Needs:
        """Filled with zeros or ones, in the dtype of another tensor or another dtype."""
        if draw.chance(0.5):
            operand, dtype = Spec(_source(draw).size, out.dtype), ""
        else:
            operand, dtype = _source(draw), f", dtype=torch.{out.dtype}"
        return Needs(
            operand, values=_constant_range(_value, out), forms=[f"{{0}}.new_{_name}({{size}}{dtype})"], size=out.shape
        )


@_constant("torch.full", name_hint="full")
def full(draw: Draw, out: Spec) -> Needs:
    """A tensor filled with a number."""
    number, number_range = _number(draw, out)
    forms = [f"torch.full({{size}}, {word}{{value}}, dtype=torch.{{dtype}})" for word in ("", "fill_value=")]
    if out.dtype in ("float32", "int64", "bool"):
        forms.append("torch.full({size}, {value})")
    return Needs(values=number_range, forms=forms, size=out.shape, value=number, dtype=out.dtype)


@_constant(
    "torch.full_like", "torch.full_like({0}, {value})", "torch.full_like({0}, fill_value={value})", name_hint="full"
)
def full_like(draw: Draw, out: Spec) -> Needs:
    """Filled with a number, in the size of another tensor."""
    number, number_range = _number(draw, out)
    return Needs(out.free(), values=number_range, value=number)


@_constant("torch.Tensor.new_full", "{0}.new_full({size}, {value})", "{0}.new_full({size}, fill_value={value})")
def new_full(draw: Draw, out: Spec) -> Needs:
    """Filled with a number, in the dtype of another tensor."""
    number, number_range = _number(draw, out)
    return Needs(Spec(_source(draw).size, out.dtype), values=number_range, size=out.shape, value=number)


@_constant(
    "torch.Tensor.fill_",
    "torch.empty_like({0}).fill_({value})",
    "torch.fill({0}, {value})",
    inplace=["{0}.fill_({value})", "{0}[...] = {value}"],
)
def fill_(draw: Draw, out: Spec) -> Needs:
    """A tensor overwritten with a number."""
    number, number_range = _number(draw, out)
    return Needs(out.free(), values=number_range, value=number)


@_constant("torch.Tensor.zero_", "{0}.clone().zero_()", "torch.empty_like({0}).zero_()", inplace=["{0}.zero_()"])
def zero_(draw: Draw, out: Spec) -> Needs:
    """A tensor overwritten with zeros."""
    return Needs(out.free(), values=_constant_range(0, out))


@_constant("torch.empty.filled", "torch.empty({size}, dtype=torch.{dtype}).fill_({value})")
def empty_filled(draw: Draw, out: Spec) -> Needs:
    """Uninitialised memory, filled with a number."""
    number, number_range = _number(draw, out)
    return Needs(values=number_range, size=out.shape, value=number, dtype=out.dtype)


@_constant("torch.arange", dtypes=REAL, rank=(1, 1), name_hint="positions", weight=2)
def arange(draw: Draw, out: Spec) -> Needs:
    """Evenly spaced numbers from a start."""
    n = out.shape[0]
    dtype = f", dtype=torch.{out.dtype}"
    if out.dtype == "int64" and draw.chance(0.6):
        dtype = ""
    forms = ["torch.arange({end}{dtype})", "torch.arange(0, {end}{dtype})"]
    if not isinstance(n, Dim) and draw.chance(0.6):
        low = 0 if out.dtype == "uint8" else draw.integer(-4, 4)
        step = draw.choice((1, 2, 3, *((-1,) if low >= n else ()), *((0.5, 0.25) if out.is_float else ())))
        forms = ["torch.arange({start}, {end}, {step}{dtype})", "torch.arange({start}, {end}, step={step}{dtype})"]
        last = low + (n - 1) * step
        _fits(out, max(abs(low), abs(last)))
        end = low + n * step
        return Needs(
            values=Range(min(low, last), max(low, last), exact=True) if n else _constant_range(0, out),
            forms=forms,
            start=low,
            end=end,
            step=step,
            dtype=dtype,
        )
    _fits(out, _most(n))
    return Needs(values=Range(0, max(_most(n) - 1, 0), exact=True), forms=forms, end=n, dtype=dtype)


def _fits(out: Spec, most: float) -> None:
    if not stays_exact(Range(0, most, exact=True), out.dtype):
        raise UnsatisfiableSpec("too many numbers for the dtype")


@_constant("torch.arange.reshaped", dtypes=REAL, rank=(2, 5), name_hint="positions")
def arange_reshaped(draw: Draw, out: Spec) -> Needs:
    """Consecutive integers from zero, reshaped."""
    if not out.is_static:
        raise UnsatisfiableSpec("a number of elements that changes")
    _fits(out, out.numel)
    forms = ["torch.arange({count}, dtype=torch.{dtype}).reshape({size})"]
    forms += ["torch.arange({count}, dtype=torch.{dtype}).view({size})"]
    last = max(out.numel - 1, 0)
    return Needs(values=Range(0, last, exact=True), forms=forms, count=out.numel, size=out.shape, dtype=out.dtype)


@operator(
    "torch.linspace",
    "torch.linspace({low}, {high}, {count}{dtype})",
    "torch.linspace({low}, {high}, steps={count}{dtype})",
    dtypes=FLOATS,
    rank=(1, 1),
    saves=False,
)
def linspace(draw: Draw, out: Spec) -> Needs:
    """Evenly spaced numbers, both ends included."""
    low, high = draw.choice(((0.0, 1.0), (-1.0, 1.0), (-3, 3), (2, -2), (0.5, 4)))
    values = Range(min(low, high), max(low, high))
    return Needs(values=values, low=low, high=high, count=out.shape[0], dtype=_dtype(draw, out))


@operator("torch.logspace", dtypes=WIDE, rank=(1, 1), saves=False)
def logspace(draw: Draw, out: Spec) -> Needs:
    """Powers with evenly spaced exponents."""
    base = draw.choice((2, 10))
    low, high = (-3, 3) if base == 2 else (-1, 1)
    base_text = ", base=2" if base == 2 else ""
    forms = [f"torch.logspace({{low}}, {{high}}, {word}{{count}}{{base}}{{dtype}})" for word in ("", "steps=")]
    values = Range(0.05, 10.5)
    return Needs(
        values=values, forms=forms, low=low, high=high, count=out.shape[0], base=base_text, dtype=_dtype(draw, out)
    )


@_constant("torch.eye", rank=(2, 2), name_hint="identity")
def eye(draw: Draw, out: Spec) -> Needs:
    """Ones along the diagonal."""
    rows, columns = out.shape
    forms = ["torch.eye({rows}, {columns}{dtype})", "torch.eye({rows}, m={columns}{dtype})"]
    if rows == columns:
        forms = ["torch.eye({rows}{dtype})"]
    return Needs(values=Range(0, 1, exact=True), forms=forms, rows=rows, columns=columns, dtype=_dtype(draw, out))


for _name in ("tril", "triu"):

    @_constant(f"torch.{_name}_indices", dtypes=("int64", "int32"), rank=(1, 2), name_hint="places")
    def triangle(draw: Draw, out: Spec, _name: str = _name) -> Needs:
        """The indices of the elements below or above a diagonal: rows and columns, or one of them."""
        n = out.shape[-1]
        if isinstance(n, Dim) or not 1 <= n <= 36 or (out.rank == 2 and out.shape[0] != 2):
            raise UnsatisfiableSpec("not places")
        below = [
            (r, c, k)
            for r in range(1, 9)
            for c in range(1, 9)
            for k in (-1, 0, 1)
            if sum((j - i <= k) if _name == "tril" else (j - i >= k) for i in range(r) for j in range(c)) == n
        ]
        rows, columns, offset = draw.choice(below)
        text = f"torch.{_name}_indices({rows}, {columns}" + (f", offset={offset}" if offset else "")
        text += ")" if out.dtype == "int64" else f", dtype=torch.{out.dtype})"
        if out.rank == 1:
            text += f"[{draw.integer(0, 1)}]"
        return Needs(values=Range(0, max(rows, columns) - 1, exact=True), forms=[text])


@_constant("torch.tensor", rank=(0, 3), name_hint="table")
def tensor(draw: Draw, out: Spec) -> Needs:
    """A tensor of literals."""
    if not out.is_static or out.numel > 16 or (out.numel == 0 and out.rank > 1):
        raise UnsatisfiableSpec("too many numbers")
    numbers = [_number(draw, out) for _ in range(out.numel)]
    values = numbers[0][1].over(*(number_range for _, number_range in numbers)) if numbers else _constant_range(0, out)

    def nested(size: tuple[int, ...], flat: list[Any]) -> Any:
        if not size:
            return flat[0]
        each = len(flat) // max(size[0], 1)
        return [nested(size[1:], flat[i * each : (i + 1) * each]) for i in range(size[0])]

    forms = ["torch.tensor({data}, dtype=torch.{dtype})", "torch.as_tensor({data}, dtype=torch.{dtype})"]
    if out.numel and out.dtype in ("float32", "int64", "bool"):
        forms.append("torch.tensor({data})")
    if out.rank and draw.chance(0.2):
        forms = ["{0}.new_tensor({data}, dtype=torch.{dtype})"]
    data = nested(out.shape, [number for number, _ in numbers])
    inputs = [_source(draw)] if forms[0].startswith("{0}") else []
    return Needs(*inputs, values=values, forms=forms, data=data, dtype=out.dtype)


@_constant("torch.scalar_tensor", "torch.scalar_tensor({value}, dtype=torch.{dtype})", rank=(0, 0))
def scalar_tensor(draw: Draw, out: Spec) -> Needs:
    """A tensor of one number, without dimensions."""
    number, number_range = _number(draw, out)
    return Needs(values=number_range, value=number, dtype=out.dtype)


_WINDOWS = {
    "torch.hann_window": "torch.hann_window({n}{periodic}{dtype})",
    "torch.hamming_window": "torch.hamming_window({n}{periodic}{dtype})",
    "torch.blackman_window": "torch.blackman_window({n}{periodic}{dtype})",
    "torch.bartlett_window": "torch.bartlett_window({n}{periodic}{dtype})",
    "torch.kaiser_window": "torch.kaiser_window({n}, {is_periodic}, 6.0{dtype})",
    "torch.signal.windows.cosine": "torch.signal.windows.cosine({n}{sym}{dtype})",
    "torch.signal.windows.exponential": "torch.signal.windows.exponential({n}, tau=2.0{sym}{dtype})",
    "torch.signal.windows.gaussian": "torch.signal.windows.gaussian({n}, std=1.5{sym}{dtype})",
    "torch.signal.windows.nuttall": "torch.signal.windows.nuttall({n}{sym}{dtype})",
}

for _name, _text in _WINDOWS.items():

    @operator(_name, _text, dtypes=WIDE, rank=(1, 1), saves=False, name_hint="window")
    def window(draw: Draw, out: Spec) -> Needs:
        """A window function."""
        n = out.shape[0]
        periodic, sym = draw.choice((("", ""), ("", ""), (", periodic=False", ", sym=False")))
        return Needs(
            values=Range(-0.01, 1.01), n=n, periodic=periodic, sym=sym, is_periodic=not sym, dtype=_dtype(draw, out)
        )
