"""Rules about memory: where strides, offsets or random numbers tell them, they keep out."""

from __future__ import annotations

import pytest
import torch

from tests.rules.test_matching import HEADER, X, reasons_in, sites_in, variants


@pytest.mark.parametrize(
    "call", ["F.dropout(x, 0.5)", "torch.rand_like(x)", "x.clone().normal_()", "torch.bernoulli(x.sigmoid())"]
)
def test_random_numbers_come_in_the_order_of_memory(call: str) -> None:
    source = f"{HEADER}def program(x):\n    return {call}\n"
    assert sites_in(source, "layout/column_major", X) == []
    assert "random numbers" in " ".join(reasons_in(source, "layout/column_major", X))
    assert len(variants(source, "layout/cloned", X)) >= 1


def test_modules_that_draw_are_noticed() -> None:
    source = HEADER + "from torch.nn import Dropout\ndrop = Dropout(0.5)\n\n\ndef program(x):\n    return drop(x)\n"
    assert sites_in(source, "layout/column_major", X) == []


def test_the_order_of_memory_does_matter_there() -> None:
    torch.manual_seed(3)
    first = torch.nn.functional.dropout(X, 0.5)
    torch.manual_seed(3)
    second = torch.nn.functional.dropout(X.t().contiguous().t(), 0.5)
    assert not torch.equal(first, second)
