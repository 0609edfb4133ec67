"""Specs of values: size, dtype and bounds; and ranges, the intervals of computed values. Does not import torch."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NoReturn

FLOATS = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
PART = {"complex64": "float32", "complex128": "float64"}
"""The dtype of the real and the imaginary part."""
WHOLE = {part: whole for whole, part in PART.items()}
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
SIGNED = ("int64", "int32", "int16", "int8")
BOOL = ("bool",)
REAL = FLOATS + INTEGERS
NUMBERS = REAL + COMPLEX
EVERY = NUMBERS + BOOL
WIDE = ("float32", "float64")
"""The float dtypes that nearly every operator supports."""

DIM_LEAST, DIM_MOST = 3, 16
"""Bounds of the changing sizes in every input set."""

_LARGEST = {
    "float16": 2.0**9,
    "bfloat16": 2.0**12,
    "complex64": 2.0**12,
    "complex128": 2.0**12,
    "float32": 2.0**14,
    "float64": 2.0**14,
    "int8": 2.0**7 - 1,
    "uint8": 2.0**8 - 1,
    "int16": 2.0**15 - 1,
    "int32": 2.0**30,
    "int64": 2.0**40,
    "bool": 1.0,
}
_WHOLE = {"float16": 2.0**10, "bfloat16": 2.0**7, "float32": 2.0**22, "float64": 2.0**40}


class UnsatisfiableSpec(Exception):
    """An operator cannot make a value that meets a spec; the builder tries another."""


class Dim(int):
    """A size that differs between input sets, with the name that it has in the program.

    Its integer value is that of the first input set. Arithmetic raises UnsatisfiableSpec, since the result would hold
    for that set only. A Dim is equal to no integer, and only to the Dim of the same name.
    """

    name: str

    def __new__(cls, size: int, name: str) -> Dim:
        dim = super().__new__(cls, size)
        dim.name = name
        return dim

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and self.name == other.name

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(int(self))

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)

    def _refuse(self, *_: Any) -> NoReturn:
        raise UnsatisfiableSpec("arithmetic with a size that changes")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse  # type: ignore[assignment]
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __truediv__ = __rtruediv__ = _refuse  # type: ignore[assignment]
    __pow__ = __rpow__ = __neg__ = _refuse  # type: ignore[assignment]


@dataclasses.dataclass(frozen=True, slots=True)
class Range:
    """The interval of the values of a tensor, and what is known about them.

    ``low`` and ``high`` bound every finite value; of complex numbers, each part. ``exact``: computed without rounding
    from numbers of few bits, so that every order of operations gives the same result; they have at most ``bits``
    fractional bits. ``nonfinite``: NaN and infinities may occur. ``distinct``: no two are equal. ``among``: each is one
    of these; empty where that is not known.
    """

    low: float
    high: float
    exact: bool = False
    nonfinite: bool = False
    distinct: bool = False
    bits: int = 0
    among: tuple[float, ...] = ()

    @property
    def most(self) -> float:
        """The largest magnitude."""
        return max(abs(self.low), abs(self.high))

    def within(self, low: float, high: float) -> bool:
        return low <= self.low and self.high <= high and not self.nonfinite

    def over(self, *others: Range) -> Range:
        """The smallest range that contains this and all others."""
        every = (self, *others)
        return Range(
            min(r.low for r in every),
            max(r.high for r in every),
            all(r.exact for r in every),
            any(r.nonfinite for r in every),
            bits=max(r.bits for r in every),
        )

    def with_(self, low: float, high: float, *, exact: bool | None = None) -> Range:
        """The same with other bounds, and ``exact`` where that is given."""
        return Range(low, high, self.exact if exact is None else exact, self.nonfinite, bits=self.bits)

    def inexact(self) -> Range:
        return dataclasses.replace(self, exact=False, distinct=False, among=())

    def __add__(self, other: Range) -> Range:
        exact, nonfinite = self.exact and other.exact, self.nonfinite or other.nonfinite
        return Range(self.low + other.low, self.high + other.high, exact, nonfinite, bits=max(self.bits, other.bits))

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low, self.exact, self.nonfinite, bits=self.bits)

    def __sub__(self, other: Range) -> Range:
        return self + -other

    def __mul__(self, other: Range) -> Range:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        exact, nonfinite = self.exact and other.exact, self.nonfinite or other.nonfinite
        return Range(min(ends), max(ends), exact, nonfinite, bits=self.bits + other.bits)

    def times(self, count: int) -> Range:
        """The range of sums of up to ``count`` such values."""
        count = most(count)
        return self.with_(min(0.0, self.low * count), max(0.0, self.high * count))


def most(n: int) -> int:
    """The largest value of a size in all input sets."""
    return max(DIM_MOST, int(n)) if isinstance(n, Dim) else n


def least(n: int) -> int:
    """The smallest value of a size in all input sets."""
    return min(DIM_LEAST, int(n)) if isinstance(n, Dim) else n


def constant(number: float) -> Range:
    """The range of a literal."""
    bits = next((b for b in range(4) if number * 2**b == int(number * 2**b)), None)
    return Range(number, number, exact=bits is not None, bits=bits or 0)


BOOLEAN = Range(0, 1, exact=True)


def largest(dtype: str) -> float:
    """The largest magnitude that values of ``dtype`` may have."""
    return _LARGEST[dtype]


def stays_exact(range_: Range, dtype: str) -> bool:
    """Whether such values, and the sums and products that lead to them, are exact in ``dtype``."""
    return range_.exact and range_.most * 2.0**range_.bits <= _WHOLE.get(dtype, _LARGEST[dtype])


@dataclasses.dataclass(frozen=True, slots=True)
class Spec:
    """The requirements of a value.

    ``size`` is None for a Python scalar, whose ``dtype`` is "float64", "int64" or "bool". ``low`` and ``high`` bound
    its values. ``exact``: computed without rounding. ``distinct``: no two are equal. ``below``: indices of a dimension
    of this size, that is integers from 0 to ``below - 1``. ``finite``: neither NaN nor infinite. ``contiguous``: as the
    method of that name. ``among``: drawn from these values.
    """

    size: tuple[int, ...] | None
    dtype: str
    low: float = -math.inf
    high: float = math.inf
    exact: bool = False
    distinct: bool = False
    below: int | None = None
    finite: bool = False
    contiguous: bool = False
    among: tuple[float, ...] = ()

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of a tensor. Raises UnsatisfiableSpec for a scalar."""
        if self.size is None:
            raise UnsatisfiableSpec("a scalar has no size")
        return self.size

    @property
    def numel(self) -> int:
        """The number of elements in the first input set."""
        return math.prod(int(n) for n in self.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def is_complex(self) -> bool:
        return self.dtype in COMPLEX

    @property
    def is_static(self) -> bool:
        return not any(isinstance(n, Dim) for n in self.shape)

    def of(self, *size: int) -> Spec:
        """Any values of this dtype and another size; exact if this is."""
        return Spec(tuple(size), self.dtype, exact=self.exact)

    def as_(self, dtype: str) -> Spec:
        """Any values of this size and another dtype; exact if this is."""
        return Spec(self.size, dtype, exact=self.exact)

    def within(self, low: float, high: float) -> Spec:
        """The same, with finite values within these bounds too."""
        return dataclasses.replace(self, low=max(low, self.low), high=min(high, self.high), finite=True)

    def positive(self) -> Spec:
        return self.within(0.05, 64.0)

    def dense(self) -> Spec:
        """The same, contiguous."""
        return dataclasses.replace(self, contiguous=True)

    def free(self) -> Spec:
        """Any values of this size and dtype; exact if this is."""
        return Spec(self.size, self.dtype, exact=self.exact)

    def exactly(self) -> Spec:
        """The same, computed without rounding."""
        return dataclasses.replace(self, exact=True)

    def holds(self, range_: Range) -> bool:
        """Whether values in ``range_`` meet this spec, ``below`` aside."""
        if (self.exact and not range_.exact) or (self.distinct and not range_.distinct):
            return False
        if self.among and self.among != range_.among:
            return False
        return (not range_.nonfinite or not self.finite) and self.low <= range_.low and range_.high <= self.high

    def __str__(self) -> str:
        if self.size is None:
            return self.dtype
        return f"[{', '.join(str(n) for n in self.size)}] {self.dtype}"


def index(size: Sequence[int], below: int) -> Spec:
    """Indices of a dimension of size ``below``. Raises UnsatisfiableSpec for size 0."""
    if below == 0:
        raise UnsatisfiableSpec("an empty dimension has no indices")
    return Spec(tuple(size), "int64", exact=True, below=below, finite=True)


def scalar(dtype: str = "float64", low: float = -math.inf, high: float = math.inf) -> Spec:
    """A Python number."""
    return Spec(None, dtype, low, high)


def nonempty(spec: Spec) -> Spec:
    """`Spec.free` of ``spec``. Raises UnsatisfiableSpec where it has no elements."""
    if spec.numel == 0:
        raise UnsatisfiableSpec("empty")
    return spec.free()
