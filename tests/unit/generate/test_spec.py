"""Changing sizes, specs, and interval arithmetic."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.generate.dag.values.spec import Dim, Range, Spec, UnsatisfiableSpec, index

N = Dim(5, "n")


@pytest.mark.parametrize(
    "calculation",
    [
        lambda: N + 1,
        lambda: 1 + N,
        lambda: N * 2,
        lambda: 2 * N,
        lambda: N - 1,
        lambda: N // 2,
        lambda: N % 2,
        lambda: math.prod((3, N)),
        lambda: sum((3, N)),
    ],
)
def test_arithmetic_with_a_changing_size_raises(calculation):
    with pytest.raises(UnsatisfiableSpec):
        calculation()


def test_changing_size_is_compared_by_name():
    assert f"{N}" == "n"
    assert str((N, 3)) == "(n, 3)"
    assert N != 5
    assert Dim(7, "n") == N
    assert Dim(5, "m") != N
    assert N > 4
    assert int(N) == 5


def test_spec_describes_itself():
    spec = Spec((N, 3), "float32")
    assert str(spec) == "[n, 3] float32"
    assert spec.numel == 15
    assert not spec.is_static
    assert spec.within(0, 1).free() == spec
    assert spec.as_("int64").dtype == "int64"
    with pytest.raises(UnsatisfiableSpec):
        index((2,), 0)


@pytest.mark.parametrize(
    ("spec", "range_", "held"),
    [
        (Spec((2,), "float32"), Range(-1e9, 1e9), True),
        (Spec((2,), "float32").within(0, 1), Range(0.2, 0.8), True),
        (Spec((2,), "float32").within(0, 1), Range(0.2, 1.8), False),
        (Spec((2,), "float32").within(0, 1), Range(0.2, 0.8, nonfinite=True), False),
        (Spec((2,), "float32"), Range(0.2, 0.8, nonfinite=True), True),
        (Spec((2,), "float32").exactly(), Range(0, 1), False),
        (Spec((2,), "float32").exactly(), Range(0, 1, exact=True), True),
    ],
)
def test_spec_holds_ranges_within_it(spec, range_, held):
    assert spec.holds(range_) is held


_NUMBERS = st.floats(-100, 100)


@given(_NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS, st.floats(0, 1), st.floats(0, 1))
def test_ranges_contain_sums_and_products(a, b, c, d, s, t):
    first, second = Range(min(a, b), max(a, b)), Range(min(c, d), max(c, d))
    x = first.low + s * (first.high - first.low)
    y = second.low + t * (second.high - second.low)
    for got, range_ in ((x + y, first + second), (x - y, first - second), (x * y, first * second), (-x, -first)):
        assert range_.low - 1e-6 <= got <= range_.high + 1e-6
    assert first.times(3).low <= 3 * x + 1e-6
    assert 3 * x - 1e-6 <= first.times(3).high
    assert first.over(second).low <= min(x, y)
    assert max(x, y) <= first.over(second).high
