"""Operators that jump: exact where their operands are, elsewhere bounded by the results under legal rounding."""

import math

import pytest
import torch

from eqfuzz.oracle.compare.leaf_comparison import against_reference
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.program.call import Call

DIVISIONS = {
    "floor_divide": lambda a, b: a // b,
    "div floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "div trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "fmod": torch.fmod,
    "in place": lambda a, b: a.clone().floor_divide_(b),
}


def judge(function, args, change):
    """The difference between eager's result and a copy changed by ``change``."""
    eager = function(*args)
    compiled = eager.clone()
    change(compiled)
    ((_, leaf),) = reference(lambda: function, [Call(args, {})], samples=32).calls[0].outputs
    return against_reference(eager, compiled, leaf, "")


@pytest.fixture
def operands():
    rng = torch.Generator().manual_seed(0)
    return torch.rand(40, generator=rng) * 90 - 45, torch.rand(40, generator=rng) + 0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("function", DIVISIONS.values(), ids=list(DIVISIONS))
def test_a_division_of_exact_numbers_is_exact(function, dtype, operands):
    args = tuple(value.to(dtype) for value in operands)
    assert judge(function, args, lambda result: None) is None
    difference = judge(function, args, lambda result: result[3].add_(1))
    assert difference is not None
    assert difference.inconclusive == ""
    assert difference.allowed == 0
    assert difference.wrong == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_division_of_halves_may_jump_where_its_quotient_is_whole(dtype):
    args = (torch.tensor([6.0, 7.0, 9.0], dtype=dtype), torch.tensor([1.5, 3.5, 2.25], dtype=dtype))
    assert judge(torch.floor_divide, args, lambda result: result[0].sub_(1)) is None
    difference = judge(torch.floor_divide, args, lambda result: result[0].add_(1))
    assert difference is not None
    assert difference.inconclusive == ""
    assert difference.wrong == 1


def test_a_remainder_of_exact_numbers_does_not_jump(operands):
    size = operands[0].abs() * 1e-7  # as ``a - (a // b) * b`` rounds
    assert judge(torch.remainder, operands, lambda result: result.add_(size)) is None
    multiple = (torch.tensor([6.0, 7.5, -9.0]), torch.tensor([1.5, 2.5, 3.0]))
    difference = judge(torch.remainder, multiple, lambda result: result[1].copy_(torch.tensor(2.4999998)))
    assert difference is not None
    assert difference.inconclusive == ""
    assert difference.wrong == 1


@pytest.mark.parametrize("shape", [(5,), (8, 1)], ids=["fewer dimensions", "one column"])
def test_a_remainder_of_a_broadcast_operand_is_rounded_like_it(shape, operands):
    dividend, divisor = operands[0][: math.prod(shape)].reshape(shape), operands[1].reshape(8, 5)
    size = (dividend * torch.ones_like(divisor)).abs() * 1e-7
    assert judge(torch.remainder, (dividend, divisor), lambda result: result.add_(size)) is None


def nearly_whole(x):
    return ((x / 3) * 3).floor()


def test_jump_of_a_rounded_number_is_bounded_by_noisy_runs():
    x = (torch.arange(1.0, 41.0),)
    assert judge(nearly_whole, x, lambda result: result[3].copy_(torch.tensor(3.0))) is None
    for wrong in (2.0, 5.0, 8.0):
        difference = judge(nearly_whole, x, lambda result, wrong=wrong: result[3].copy_(torch.tensor(wrong)))
        assert difference is not None, wrong
        assert difference.inconclusive == "", wrong
        assert difference.wrong == 1, wrong


def test_values_computed_from_a_jump_have_a_normal_bound():
    difference = judge(lambda x: nearly_whole(x) * 0.3, (torch.arange(1.0, 41.0),), lambda result: result[3].sub_(0.3))
    assert difference is None


def test_quotient_too_large_for_its_dtype_is_rounded():
    large = (torch.tensor([3e9, 5.0, 7.0]), torch.tensor([0.3, 2.0, 2.0]))
    assert judge(lambda a, b: a // b, large, lambda result: result[0].mul_(1 + 2e-7)) is None


def test_leaf_written_to_after_its_jump_is_no_jump():
    def program(x):
        result = nearly_whole(x)
        result[0].mul_(0.7)
        return result

    assert judge(program, (torch.arange(1.0, 41.0),), lambda result: result[3].sub_(1)) is None


def test_an_integer_has_a_bessel_function_whose_phase_is_rounded():
    whole = (torch.tensor([5, 6, 7]),)
    assert judge(torch.special.bessel_y1, whole, lambda result: result.add_(3e-7)) is None
    assert judge(torch.special.bessel_y1, whole, lambda result: result.add_(3e-5)) is not None


def test_a_transposed_convolution_of_halves_adds_in_halves():
    rng = torch.Generator().manual_seed(0)
    operands = [torch.randn(2, 4, 4, 4, generator=rng).half(), torch.randn(4, 1, 3, 3, generator=rng).half()]

    def convolution(x, weight):
        return torch.nn.functional.conv_transpose2d(x, weight, groups=4)

    other = convolution(operands[0].to(memory_format=torch.channels_last), operands[1])
    assert judge(convolution, tuple(operands), lambda result: result.copy_(other)) is None
    assert judge(convolution, tuple(operands), lambda result: result[0].add_(0.1)) is not None
