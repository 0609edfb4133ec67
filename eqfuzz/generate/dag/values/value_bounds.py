"""Bounds of what expressions of several steps compute."""

from __future__ import annotations

from collections.abc import Callable

from eqfuzz.generate.dag.values.spec import Range, Spec, solid


def bounded(most: float, least: float | None = None) -> Callable[..., Range]:
    """Values up to ``most`` (from ``least``, or from its negative), NaN where NaN goes in."""
    low = -most if least is None else least
    return lambda *ranges: Range(low, most, wild=any(r.wild for r in ranges))


def longest(size: int) -> int:
    """At least so many, whatever a changing size becomes."""
    return max(int(size), 17)


def root(size: int) -> float:
    """A bound of normalised values over so many."""
    return longest(size) ** 0.5 + 1


def moderate(spec: Spec) -> Spec:
    """Small values of that size. Raises Unfit where there are no elements."""
    return solid(spec).within(-8.0, 8.0)


def sum_of_products(k: int) -> Callable[..., Range]:
    """The range of a product over ``k``, with what further tensors add."""

    def values(x: Range, w: Range, *more: Range) -> Range:
        total = (x * w).times(k)
        for one in more:
            total = total + one
        return total

    return values
