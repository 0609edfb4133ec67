"""Ranges of the results of operators."""

from __future__ import annotations

from collections.abc import Callable

from eqfuzz.generate.dag.values.spec import Range, Spec, nonempty


def bounded(most: float, least: float | None = None) -> Callable[..., Range]:
    """A range function: from ``least`` (default: ``-most``) to ``most``, not finite where an input is not."""
    low = -most if least is None else least
    return lambda *ranges: Range(low, most, nonfinite=any(r.nonfinite for r in ranges))


def longest(size: int) -> int:
    """An upper bound of ``size`` in all input sets, at least 17."""
    return max(int(size), 17)


def root(size: int) -> float:
    """A bound of values that are normalised over ``size`` elements."""
    return longest(size) ** 0.5 + 1


def moderate(spec: Spec) -> Spec:
    """``spec`` with values from -8 to 8. Raises UnsatisfiableSpec where it has no elements."""
    return nonempty(spec).within(-8.0, 8.0)


def sum_of_products(k: int) -> Callable[..., Range]:
    """A range function of sums of ``k`` products of the first two inputs, plus the further inputs."""

    def values(x: Range, w: Range, *more: Range) -> Range:
        total = (x * w).times(k)
        for one in more:
            total = total + one
        return total

    return values
