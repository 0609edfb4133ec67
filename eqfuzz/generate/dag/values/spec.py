"""What a value is to be: its size, its dtype and the values that it may hold; nothing here needs torch."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NoReturn

FLOATS = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
PART = {"complex64": "float32", "complex128": "float64"}
"""What the two parts of a complex number are."""
WHOLE = {part: whole for whole, part in PART.items()}
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
SIGNED = ("int64", "int32", "int16", "int8")
BOOL = ("bool",)
REAL = FLOATS + INTEGERS
NUMBERS = REAL + COMPLEX
EVERY = NUMBERS + BOOL
WIDE = ("float32", "float64")
"""The floats that nearly every operator takes."""

DIM_LEAST, DIM_MOST = 3, 16
"""Between these lie all sizes that change, in every input set."""

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
    """An operator cannot make what is asked of it; the builder takes another."""


class Dim(int):
    """A size that differs between input sets, with the name that it has in the program.

    Its number is that of the first set. Arithmetic would bake that number in: `UnsatisfiableSpec`. It equals no number,
    and only the dimension of its name.
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
        raise UnsatisfiableSpec("calculates with a size that changes")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse  # type: ignore[assignment]
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __truediv__ = __rtruediv__ = _refuse  # type: ignore[assignment]
    __pow__ = __rpow__ = __neg__ = _refuse  # type: ignore[assignment]


@dataclasses.dataclass(frozen=True, slots=True)
class Range:
    """Where the values of a tensor lie, as far as is known.

    ``low`` and ``high`` bound every finite value; of complex numbers, each part. ``exact``: they were made without
    rounding, from numbers of few bits, so that any order of operations gives the same; ``bits`` of these stand behind
    the point. ``wild``: NaN and infinities may be among them. ``distinct``: no two are equal.
    """

    low: float
    high: float
    exact: bool = False
    wild: bool = False
    distinct: bool = False
    bits: int = 0

    @property
    def most(self) -> float:
        """The largest magnitude."""
        return max(abs(self.low), abs(self.high))

    def within(self, low: float, high: float) -> bool:
        return low <= self.low and self.high <= high and not self.wild

    def over(self, *others: Range) -> Range:
        """The smallest that holds this and all others."""
        every = (self, *others)
        return Range(
            min(r.low for r in every),
            max(r.high for r in every),
            all(r.exact for r in every),
            any(r.wild for r in every),
            bits=max(r.bits for r in every),
        )

    def with_(self, low: float, high: float, *, exact: bool | None = None) -> Range:
        """Other bounds, as wild as this."""
        return Range(low, high, self.exact if exact is None else exact, self.wild, bits=self.bits)

    def inexact(self) -> Range:
        return dataclasses.replace(self, exact=False, distinct=False)

    def __add__(self, other: Range) -> Range:
        exact, wild = self.exact and other.exact, self.wild or other.wild
        return Range(self.low + other.low, self.high + other.high, exact, wild, bits=max(self.bits, other.bits))

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low, self.exact, self.wild, bits=self.bits)

    def __sub__(self, other: Range) -> Range:
        return self + -other

    def __mul__(self, other: Range) -> Range:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        exact, wild = self.exact and other.exact, self.wild or other.wild
        return Range(min(ends), max(ends), exact, wild, bits=self.bits + other.bits)

    def times(self, count: int) -> Range:
        """The sum of up to ``count`` such values."""
        count = most(count)
        return self.with_(min(0.0, self.low * count), max(0.0, self.high * count))


def most(n: int) -> int:
    """The largest number of a size, in all input sets."""
    return max(DIM_MOST, int(n)) if isinstance(n, Dim) else n


def least(n: int) -> int:
    """The smallest number of a size, in all input sets."""
    return min(DIM_LEAST, int(n)) if isinstance(n, Dim) else n


def constant(number: float) -> Range:
    """A number that is written in the program."""
    bits = next((b for b in range(4) if number * 2**b == int(number * 2**b)), None)
    return Range(number, number, exact=bits is not None, bits=bits or 0)


BOOLEAN = Range(0, 1, exact=True)


def largest(dtype: str) -> float:
    """The magnitude up to which values of ``dtype`` are let grow."""
    return _LARGEST[dtype]


def stays_exact(range_: Range, dtype: str) -> bool:
    """Whether such values, and sums and products on the way to them, have no more bits than ``dtype`` holds."""
    return range_.exact and range_.most * 2.0**range_.bits <= _WHOLE.get(dtype, _LARGEST[dtype])


@dataclasses.dataclass(frozen=True, slots=True)
class Spec:
    """A value that is asked for.

    ``size`` is None for a Python scalar, whose ``dtype`` is "float64", "int64" or "bool". ``low`` and ``high`` bound
    its values. ``exact``: made without rounding. ``distinct``: no two are equal. ``below``: whole numbers from 0 on,
    smaller than this size. ``total``: neither NaN nor infinite. ``contiguous``: as its method says.
    """

    size: tuple[int, ...] | None
    dtype: str
    low: float = -math.inf
    high: float = math.inf
    exact: bool = False
    distinct: bool = False
    below: int | None = None
    total: bool = False
    contiguous: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of a tensor. Raises Unfit for a scalar."""
        if self.size is None:
            raise UnsatisfiableSpec("a scalar has no size")
        return self.size

    @property
    def numel(self) -> int:
        """Elements, at the sizes of the first input set."""
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
        """Any values, of this dtype and another size; exact if these are."""
        return Spec(tuple(size), self.dtype, exact=self.exact)

    def as_(self, dtype: str) -> Spec:
        """Any values of this size and another dtype."""
        return Spec(self.size, dtype, exact=self.exact)

    def within(self, low: float, high: float) -> Spec:
        """The same, with finite values in these bounds."""
        return dataclasses.replace(self, low=max(low, self.low), high=min(high, self.high), total=True)

    def positive(self) -> Spec:
        return self.within(0.05, 64.0)

    def dense(self) -> Spec:
        """The same, contiguous."""
        return dataclasses.replace(self, contiguous=True)

    def free(self) -> Spec:
        """The same with any values, exact ones if these have to be."""
        return Spec(self.size, self.dtype, exact=self.exact)

    def exactly(self) -> Spec:
        """The same, made without rounding."""
        return dataclasses.replace(self, exact=True)

    def holds(self, range_: Range) -> bool:
        """Whether values in ``range_`` are what is asked for; ``below`` is not looked at."""
        if (self.exact and not range_.exact) or (self.distinct and not range_.distinct):
            return False
        return (not range_.wild or not self.total) and self.low <= range_.low and range_.high <= self.high

    def __str__(self) -> str:
        if self.size is None:
            return self.dtype
        return f"[{', '.join(str(n) for n in self.size)}] {self.dtype}"


def index(size: Sequence[int], below: int) -> Spec:
    """Whole numbers that index a dimension of size ``below``. Raises Unfit where that is empty."""
    if below == 0:
        raise UnsatisfiableSpec("nothing can be indexed")
    return Spec(tuple(size), "int64", exact=True, below=below, total=True)


def scalar(dtype: str = "float64", low: float = -math.inf, high: float = math.inf) -> Spec:
    """A Python number."""
    return Spec(None, dtype, low, high)


def solid(spec: Spec) -> Spec:
    """Any values of that size, exact ones if these have to be. Raises Unfit where there are no elements."""
    if spec.numel == 0:
        raise UnsatisfiableSpec("empty")
    return spec.free()
