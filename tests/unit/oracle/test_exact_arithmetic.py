"""Exactness by value: claimed only where no order of evaluation rounds."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.oracle.reference.exact_arithmetic import unit
from eqfuzz.program.call import Call


def exact(function, *args):
    """Whether every element of the only output is exact."""
    (leaf,) = [leaf for _, leaf in reference(lambda: function, [Call(args, {})]).calls[0].outputs]
    return leaf.bound is None or bool(leaf.exact.all())


def whole(*shape, dtype=torch.float32, largest=3):
    count = math.prod(shape)
    return ((torch.arange(count) * 5) % (2 * largest + 1) - largest).reshape(shape).to(dtype)


@given(st.integers(1, 2**30), st.integers(-60, 60))
def test_unit_is_the_lowest_bit(number, exponent):
    value = math.ldexp(number, exponent)
    lowest = math.ldexp(number & -number, exponent)
    assert unit(torch.tensor([value, 0.0, 2 * value], dtype=torch.float64)) == lowest


def test_unit_of_zeros_is_infinite_and_of_nan_is_zero():
    assert unit(torch.zeros(3)) == math.inf == unit(torch.empty(0))
    assert unit(torch.tensor([1.0, float("nan")])) == 0.0


X, Y = whole(6, 8), whole(6, 8).flip(0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x + y,
        lambda x, y: x - 2 * y,
        lambda x, y: 3 - x,
        lambda x, y: torch.sub(x, y, alpha=2),
        lambda x, y: x * y * 0.5,
        lambda x, y: x**2,
        lambda x, y: x.square().sum(),
        lambda x, y: x @ y.t(),
        lambda x, y: torch.addmm(x[:, :6], x, y.t(), beta=2, alpha=0.5),
        lambda x, y: torch.nn.functional.conv1d(x[None], y.t()[:, :, None]),
        lambda x, y: x.cumsum(1) / 4,
        lambda x, y: x.mean(1),
        lambda x, y: torch.zeros(8).index_add(0, torch.tensor([1, 1, 7]), x[0, :3]),
        lambda x, y: (x + y).relu().amax(0),
        lambda x, y: x.clone().add_(y).mul_(2),
    ],
)
def test_small_integers_are_exact(function):
    assert exact(function, X, Y)
    assert not exact(function, X + 0.1, Y * 1.7)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x / 3,
        lambda x: x[:, :7].mean(1),
        lambda x: x.exp(),
        lambda x: x * 0.1,
        lambda x: x**3,
        lambda x: x.softmax(0),
        lambda x: x.var(),
    ],
)
def test_rounding_operators_are_not_exact(function):
    assert not exact(function, X)


def test_sum_with_inexact_partial_sums_is_not_exact():
    """The result is exact, the intermediate 2^24 + 1 is not."""
    values = torch.tensor([2.0**24, 1.0, 1.0, -(2.0**24)])
    assert not exact(lambda x: x.sum(), values)
    assert exact(lambda x: x.sum(), torch.tensor([2.0**22, 1.0, 1.0, -(2.0**22)]))


def test_half_types_represent_fewer_integers():
    assert exact(lambda x: x.sum(), whole(8, 8, dtype=torch.bfloat16))
    assert not exact(lambda x: x.sum(), whole(40, 8, dtype=torch.bfloat16))
    assert exact(lambda x: x.sum(), whole(40, 8, dtype=torch.float16))
