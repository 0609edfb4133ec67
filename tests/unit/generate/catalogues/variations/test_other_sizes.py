"""Operands get other sizes."""

from __future__ import annotations

import torch

from eqfuzz.generate.catalogues import jobs
from eqfuzz.generate.catalogues.messages import SamplesWritten, WriteJob
from eqfuzz.generate.catalogues.variations.other_sizes import other_sizes
from eqfuzz.run.messages.job import ChildEvent
from eqfuzz.torch_internals.trees import tensors_in


def shapes(*args, **kwargs) -> list[list[tuple[int, ...]]]:
    return [[tuple(tensor.shape) for tensor in tensors_in(both)] for both in other_sizes(args, kwargs)]


def test_a_size_grows_wherever_it_occurs_then_alone_then_rows_do():
    assert shapes([torch.ones(2, 5), torch.ones(2, 5)], 1) == [
        [(3, 5), (3, 5)],
        [(2, 6), (2, 6)],
        [(3, 5), (2, 5)],
        [(2, 6), (2, 5)],
        [(2, 5), (3, 5)],
        [(2, 5), (2, 6)],
        [(2, 37), (2, 37)],
    ]
    assert shapes(torch.ones(4, 1), weight=None) == [[(5, 1)]]
    assert shapes(torch.ones(()), torch.ones(0, 1)) == []
    assert shapes(torch.ones(2, 3).to_sparse()) == [[(2, 3)], [(2, 3)], [(2, 3)]]


def test_values_begin_again_at_the_end_and_gradients_stay_required():
    (arguments, _), *_ = other_sizes((torch.arange(3.0).requires_grad_(), torch.arange(3)), {})
    assert arguments[0].tolist() == [0, 1, 2, 0]
    assert arguments[0].requires_grad
    assert arguments[0].is_leaf
    assert arguments[1].tolist() == [0, 1, 2, 0]


def test_calls_that_eager_accepts_are_written():
    events: list[ChildEvent] = []
    jobs.write_samples(WriteJob(catalogue="opinfo", operator="cat", dtype="float32"), events.append)
    (written,) = (event for event in events if isinstance(event, SamplesWritten))
    assert written.samples == len(written.results) + written.repeats + sum(written.left_out.values())
    assert not any("in eager" in reason for reason in written.left_out)
