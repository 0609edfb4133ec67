"""Python floats extracted from rounded tensors, which carry their values under other roundings."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from eqfuzz.oracle.thresholds import THRESHOLDS


class TrackedFloat(float):
    """A float with its value in every row of the shadow (row 0 clean).

    Arithmetic keeps the rows. A comparison or a conversion to int whose result rounding could change calls
    ``on_data_dependence`` with a reason. Functions of ``math`` return plain floats, which are not tracked.
    """

    rows: tuple[float, ...]
    on_data_dependence: Callable[[str], None]

    def __new__(
        cls, value: float = 0.0, rows: Sequence[float] = (), on_data_dependence: Callable[[str], None] | None = None
    ) -> TrackedFloat:
        self = super().__new__(cls, value)
        self.rows = tuple(rows) or (value,)
        self.on_data_dependence = on_data_dependence or (lambda reason: None)
        return self

    __hash__ = float.__hash__

    def __bool__(self) -> bool:
        return self != 0.0

    def __neg__(self) -> TrackedFloat:
        return TrackedFloat(-float(self), [-row for row in self.rows], self.on_data_dependence)

    def __abs__(self) -> TrackedFloat:
        return TrackedFloat(abs(float(self)), [abs(row) for row in self.rows], self.on_data_dependence)

    def __int__(self) -> int:
        return self._whole(int)

    __trunc__ = __int__

    def __floor__(self) -> int:
        return self._whole(lambda value: int(value // 1))

    def __ceil__(self) -> int:
        return self._whole(lambda value: -int(-value // 1))

    def __round__(self, ndigits: Any = None) -> Any:
        return self._whole(lambda value: round(value, ndigits))

    def _whole(self, convert: Callable[[float], Any]) -> Any:
        real = convert(float(self))
        low, high = self._edges(0.0)
        if convert(low) != real or convert(high) != real:
            self.on_data_dependence(f"rounding could change the whole number that {float(self):.9g} is converted to")
        return real

    def _edges(self, other: float) -> tuple[float, float]:
        """The least and greatest value that rounding of both numbers explains, for a comparison with ``other``."""
        rows = getattr(other, "rows", None)
        deviation = max((abs(row - self.rows[0]) for row in self.rows), default=0.0)
        if rows is not None:
            deviation += max((abs(row - rows[0]) for row in rows), default=0.0)
        reach = THRESHOLDS.kink_reach * deviation
        return float(self) - reach, float(self) + reach


def _arithmetic(name: str, *, reflected: bool = False) -> Callable[[TrackedFloat, Any], Any]:
    apply = getattr(operator, name)

    def method(self: TrackedFloat, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        others = other.rows if isinstance(other, TrackedFloat) else (float(other),) * len(self.rows)
        pairs = zip(others, self.rows, strict=False) if reflected else zip(self.rows, others, strict=False)
        real = (float(other), float(self)) if reflected else (float(self), float(other))
        value = apply(*real)
        try:
            rows = [apply(left, right) for left, right in pairs]
        except ArithmeticError:
            # A division by zero in a noisy row, for example.
            self.on_data_dependence(f"Python arithmetic on {float(self):.9g} raises under another rounding")
            return value
        if isinstance(value, complex):
            return value
        return TrackedFloat(value, rows, self.on_data_dependence)

    return method


def _comparison(name: str) -> Callable[[TrackedFloat, Any], Any]:
    apply = getattr(operator, name)

    def method(self: TrackedFloat, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        real = apply(float(self), float(other))
        low, high = self._edges(other)
        if low <= float(other) <= high and low != high:
            self.on_data_dependence(
                f"rounding could change the Python comparison of {float(self):.9g} with {float(other):.9g}"
            )
        return real

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(TrackedFloat, f"__{_name}__", _arithmetic(_name))
    setattr(TrackedFloat, f"__r{_name}__", _arithmetic(_name, reflected=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(TrackedFloat, f"__{_name}__", _comparison(_name))
