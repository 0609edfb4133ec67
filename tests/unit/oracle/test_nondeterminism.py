"""Operators whose result a GPU may choose."""

import pytest
import torch

from eqfuzz.oracle.audit.nondeterminism import left_open
from eqfuzz.program.call import Call

X, TIES = torch.arange(6.0).reshape(2, 3), torch.tensor([[1.0, 2.0, 1.0]])
TWICE, ONCE = torch.tensor([0, 2, 0]), torch.tensor([0, 2, 1])


def put(x, index, *, accumulate):
    y = x[0].clone()
    return y.index_put_((index,), torch.ones(3), accumulate=accumulate)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (lambda x: put(x, TWICE, accumulate=False), "index_put writes to one element more than once"),
        (lambda x: put(x, TWICE, accumulate=True), ""),
        (lambda x: put(x, ONCE, accumulate=False), ""),
        (lambda x: x.scatter(1, TWICE.expand(2, 3), x + 1), "scatter writes to one element more than once"),
        (lambda x: x.scatter(1, ONCE.expand(2, 3), x + 1), ""),
        (lambda x: x.scatter(1, TWICE.expand(2, 3), 7.0), ""),
        (lambda x: x.scatter_add(1, TWICE.expand(2, 3), x), ""),
        (lambda x: x.index_copy(1, TWICE, x), "index_copy writes to one element more than once"),
        (lambda x: x.index_copy(1, ONCE, x), ""),
        (lambda x: x.put(torch.tensor([1, 1]), torch.ones(2)), "put writes to one element more than once"),
        (lambda x: x.masked_fill(x > 2, 0.0), ""),
        (lambda x: x[x > 2].sum(), ""),
        (lambda x: TIES.sort().indices, "sort orders equal numbers"),
        (lambda x: TIES.sort(stable=True).indices, ""),
        (lambda x: x.sort(descending=True).indices, ""),
        (lambda x: TIES.topk(2).indices, "topk orders equal numbers"),
        (lambda x: torch.cat([x, x]).median(0).indices, "median orders equal numbers"),
        (lambda x: x.t().contiguous().median(0).indices, ""),
    ],
)
def test_unspecified_results_are_reported(program, reason):
    assert left_open(lambda: program, [Call((X,), {})]) == reason


def test_modules_and_later_calls_are_checked():
    class Model(torch.nn.Module):
        def forward(self, x):
            return x.sort().indices

    assert left_open(Model, [Call((X,), {}), Call((TIES,), {})]) == "sort orders equal numbers"
    assert left_open(Model, [Call((X,), {})]) == ""
