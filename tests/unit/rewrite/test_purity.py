"""What may be evaluated again, elsewhere or not at all."""

import libcst as cst
import pytest

from eqfuzz.rewrite.source.purity import is_pure


@pytest.mark.parametrize("text", ["torch.relu(x) + y.T", "x.mean(dim=1).shape[0]", "[len(x), abs(y)]"])
def test_library_calls_are_pure(text):
    assert is_pure(cst.parse_expression(text))


@pytest.mark.parametrize(
    "text", ["nn.Conv2d(3, 4, 1)", "nn.Sequential(*layers)", "torch.nn.Linear(2, 2)(x)", "x.add_(1)", "torch.rand(3)"]
)
def test_constructing_modules_drawing_and_writing_are_impure(text):
    assert not is_pure(cst.parse_expression(text))
