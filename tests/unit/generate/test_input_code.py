"""Code of inputs and clamps: its values meet the spec."""

import dataclasses
import random

import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eqfuzz.generate.dag.values.clamping import clamp
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.input_code import LAYOUTS, PROFILES, drawn_input
from eqfuzz.generate.dag.values.spec import COMPLEX, EVERY, FLOATS, INTEGERS, Range, Spec, UnsatisfiableSpec, index
from eqfuzz.program.inputs import Rng

SIZES = st.lists(st.sampled_from([0, 1, 2, 3, 5, 8]), max_size=5).map(tuple)


def specs():
    plain = st.builds(Spec, SIZES, st.sampled_from(EVERY), exact=st.booleans(), finite=st.booleans())
    bounded = st.builds(
        lambda spec, low, width: spec.within(low, low + width), plain, st.sampled_from([-8, 0, 0.05, 1]), st.just(4.0)
    )
    return st.one_of(plain, bounded)


def evaluated(text):
    return eval(text, {"rng": Rng(3), "torch": torch})


def assert_meets(tensor, spec, range_):
    assert tuple(tensor.shape) == spec.size
    assert tensor.dtype == getattr(torch, spec.dtype)
    values = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    values = values.double().flatten()
    finite = values[values.isfinite()]
    assert range_.nonfinite or len(finite) == len(values)
    rounded = torch.finfo(tensor.dtype).eps if tensor.dtype.is_floating_point or tensor.dtype.is_complex else 0.0
    slack = 0.05 + max(rounded, 1e-6) * abs(range_.high)
    assert not len(finite) or (finite.min() >= range_.low - slack and finite.max() <= range_.high + slack)
    if range_.exact and spec.dtype != "bool":
        assert bool((finite * 4 == (finite * 4).round()).all())
    if range_.distinct:
        assert len(values.unique()) == len(values)


@settings(deadline=None, max_examples=400)
@given(specs(), st.integers(0, 10**6))
def test_inputs_meet_their_spec(spec, seed):
    try:
        drawn = drawn_input(Draw(random.Random(seed)), spec, PROFILES, LAYOUTS)
    except UnsatisfiableSpec:
        assume(False)
    tensor = evaluated(drawn.text)
    assert spec.holds(drawn.range) or spec.dtype in ("bool", *COMPLEX)
    assert_meets(tensor, spec, drawn.range)
    assert not drawn.contiguous or tensor.is_contiguous()


@given(st.integers(0, 1000), st.integers(1, 9))
def test_indices_are_below_their_size(seed, below):
    drawn = drawn_input(Draw(random.Random(seed)), index((3, 2), below), PROFILES, LAYOUTS)
    assert evaluated(drawn.text).min() >= 0
    assert evaluated(drawn.text).max() < below


@given(st.integers(0, 1000), st.sampled_from(("float32", "bfloat16", "int64", "int8")))
def test_distinct_values_are_distinct(seed, dtype):
    size = (3, 4) if dtype == "int8" else (12, 17)
    spec = dataclasses.replace(Spec(size, dtype), distinct=True)
    drawn = drawn_input(Draw(random.Random(seed)), spec, PROFILES, LAYOUTS)
    assert_meets(evaluated(drawn.text), spec, drawn.range)


_BOUNDS = [(-8.0, 8.0), (-1.0, 1.0), (0.05, 64.0), (0.0, 1.0), (1.05, 64.0), (-float("inf"), 3.0), (2.0, float("inf"))]


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(_BOUNDS),
    st.sampled_from(("float32", "float64")),
    st.sampled_from([(-6.0, 6.0, False), (-180.0, 180.0, False), (0.0, 1.0, False), (-1e30, 1e30, True)]),
    st.integers(0, 10**6),
)
def test_floats_are_clamped_into_bounds(bounds, dtype, value_range, seed):
    low, high, nonfinite = value_range
    spec = Spec((64,), dtype, *bounds, finite=True)
    clamped = clamp(Draw(random.Random(seed)), Range(low, high, nonfinite=nonfinite), dtype, spec)
    x = Rng(seed).special(64) if nonfinite else Rng(seed).uniform(64, low=low, high=high)
    result = eval(clamped.text.replace("{0}", "x"), {"x": x.to(getattr(torch, dtype)), "torch": torch, "F": F})
    assert result.isfinite().all()
    slack = 1e-3 + 1e-6 * abs(result).max()
    assert result.min() >= clamped.range.low - slack
    assert result.max() <= clamped.range.high + slack
    assert spec.low - 1e-3 <= clamped.range.low
    assert clamped.range.high <= spec.high + 1e-3


@pytest.mark.parametrize("bounds", [(0.05, 64.0), (-0.95, 0.95), (0.0, 1.0), (0.25, 4.0)])
def test_clamps_are_exact_only_with_exact_bounds(bounds):
    spec = Spec((3,), "float32", *bounds, finite=True)
    clamps = [clamp(Draw(random.Random(seed)), Range(-4, 4, exact=True), "float32", spec) for seed in range(20)]
    few_bits = all(bound * 8 == int(bound * 8) for bound in bounds)
    assert any(one.range.exact for one in clamps) is few_bits


@given(st.sampled_from(INTEGERS), st.sampled_from([(0, 3), (1, 9), (-5, 5), (0, 31)]), st.integers(0, 10**6))
def test_integers_are_clamped_into_bounds(dtype, bounds, seed):
    assume(dtype != "uint8" or bounds[0] >= 0)
    spec = Spec((64,), dtype, *bounds, exact=True, finite=True)
    clamped = clamp(Draw(random.Random(seed)), Range(-100, 100, exact=True), dtype, spec)
    x = Rng(seed).integers(0 if dtype == "uint8" else -100, 101, 64).to(getattr(torch, dtype))
    result = eval(clamped.text.replace("{0}", "x"), {"x": x, "torch": torch})
    assert result.dtype == x.dtype
    assert bounds[0] <= result.min()
    assert result.max() <= bounds[1]


def test_rounded_values_cannot_be_made_exact():
    with pytest.raises(UnsatisfiableSpec):
        clamp(Draw(random.Random(0)), Range(0, 1), "float32", Spec((2,), "float32").exactly())


def test_dtype_groups_cover_every_dtype():
    assert {*FLOATS, *COMPLEX, *INTEGERS, "bool"} == set(EVERY)
