"""One tensor is two operands."""

from __future__ import annotations

import torch

from eqfuzz.generate.catalogues.variations.operand_twice import operand_twice

X, Y, INDEX = torch.ones(2), torch.zeros(3), torch.tensor([0])


def test_first_tensor_replaces_next_of_its_dtype():
    ((args, kwargs),) = operand_twice(([X, INDEX],), {"other": Y, "more": Y})
    assert args[0][0] is X
    assert args[0][1] is INDEX
    assert kwargs["other"] is X
    assert kwargs["more"] is X


def test_calls_without_two_such_tensors_stay_as_they_are():
    assert list(operand_twice((X, INDEX), {})) == []
    assert list(operand_twice((X, X), {})) == []
    assert list(operand_twice((2,), {})) == []
