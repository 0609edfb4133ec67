"""Operands of OpInfo's samples as code: shape, dtype, layout and domain stay."""

import random

import pytest
import torch

from eqfuzz.generate.catalogues.sample_tensor import SampleTensor
from eqfuzz.generate.catalogues.text import HELPERS
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.program.inputs import Rng

SPD = torch.eye(3) * 4 + 1


def evaluated(code: str) -> torch.Tensor:
    scope = {"torch": torch, "nn": torch.nn, "rng": Rng(0)}
    for source in HELPERS.values():
        exec(source, scope)
    return eval(code, scope)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(3, 4),
        torch.randn(2, 3, 4, 5, dtype=torch.float64, requires_grad=True),
        torch.randn(3, 4, dtype=torch.complex64),
        torch.rand(3, 4, dtype=torch.bfloat16),
        torch.randint(-9, 9, (3, 4), dtype=torch.int8),
        torch.rand(3, 4) > 0.5,
        torch.randn(()),
        torch.empty(0, 3),
    ],
    ids=lambda tensor: f"{tensor.dtype}{list(tensor.shape)}",
)
@pytest.mark.parametrize("number", range(12))
def test_shape_dtype_and_gradient_stay_in_every_layout(tensor: torch.Tensor, number: int):
    draw = Draw(random.Random(number))
    code, view = SampleTensor(tensor, tensor.dtype).drawn(
        draw, ("as it is", "integers", "special", "negative")[number % 4]
    )
    drawn = evaluated(code)
    assert drawn.is_leaf
    assert (drawn.dtype, drawn.requires_grad) == (tensor.dtype, tensor.requires_grad)
    assert evaluated(f"({code}){view}").shape == tensor.shape


def test_negative_values_are_all_negative_where_sample_has_both_signs():
    code, _ = SampleTensor(torch.tensor([-2.0, 0.5, 3.0, 1.0]), torch.float32).drawn(Draw(random.Random(1)), "negative")
    assert bool((evaluated(code) < 0).all())
    code, _ = SampleTensor(torch.tensor([0.25, 0.5, 3.0]), torch.float32).drawn(Draw(random.Random(1)), "negative")
    assert bool((evaluated(code) > 0).all())


def test_layouts_differ_from_draw_to_draw():
    operand = SampleTensor(torch.randn(2, 3, 4, 5), torch.float32)
    drawn = [operand.drawn(Draw(random.Random(n)), "as it is") for n in range(60)]
    assert len({evaluated(code).stride() for code, view in drawn if not view}) >= 5
    assert len({view for _, view in drawn}) >= 8


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(3, 4).t(),
        torch.randn(3, 1).expand(3, 4),
        torch.randn(2, 3, 4).permute(2, 0, 1),
    ],
    ids=["transposed", "expanded", "permuted"],
)
def test_strides_of_the_sample_stay(tensor: torch.Tensor):
    assert evaluated(SampleTensor(tensor, torch.float32).plain()).stride() == tensor.stride()


@pytest.mark.parametrize(
    ("tensor", "code"),
    [
        (torch.arange(16), "rng.permutation(16)"),
        (torch.tensor([3, 0, 2]), "torch.tensor([3, 0, 2], dtype=torch.int64)"),
        (torch.zeros(4, 5), "torch.full((4, 5), 0.0, dtype=torch.float32)"),
        (SPD, "positive_definite(rng.normal(3, 3))"),
        (SPD - 9 * torch.eye(3), "symmetric(rng.normal(3, 3))"),
        (torch.ones(3, 3).tril() * torch.arange(1.0, 4.0), "rng.normal(3, 3).tril()"),
        (torch.tensor([[0.3, 0.2, 0.5]]), "rng.normal(1, 3).softmax(-1)"),
        (torch.tensor([-3.0, 1.0, 2.0, 7.0]), "rng.normal(4).sort(-1).values"),
    ],
    ids=["permutation", "indices", "constant", "positive definite", "symmetric", "triangular", "shares", "sorted"],
)
def test_what_elements_have_in_common_stays(tensor: torch.Tensor, code: str):
    assert SampleTensor(tensor, torch.float32).plain() == code


def test_bounds_of_positive_values_stay():
    drawn = evaluated(SampleTensor(torch.rand(50) * 0.5 + 1.2, torch.float32).plain())
    assert float(drawn.min()) > 1.1
    assert float(drawn.max()) < 1.8


def test_indices_stay_within_their_bounds():
    drawn = evaluated(SampleTensor(torch.randint(0, 7, (5, 9)), torch.float32).plain())
    assert int(drawn.min()) >= 0
    assert int(drawn.max()) < 7


def test_divisors_are_not_zero():
    divisors = torch.tensor([-3, 2, 5, -1, 7, 1, -2, 4, 3, -9], dtype=torch.int8)
    drawn = evaluated(SampleTensor(divisors.repeat(9), torch.int8).plain())
    assert bool((drawn != 0).all())


def test_values_are_written_out_for_small_tensors_only():
    small = SampleTensor(torch.tensor([0.123456, float("inf")]), torch.float32)
    assert small.with_its_values(3) == 'torch.tensor([0.123, float("inf")], dtype=torch.float32)'
    assert SampleTensor(torch.randn(100), torch.float32).with_its_values(3) == ""
