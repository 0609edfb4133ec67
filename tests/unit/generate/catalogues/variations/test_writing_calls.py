"""Calls that write to an operand."""

from __future__ import annotations

import torch

from eqfuzz.generate.catalogues import jobs
from eqfuzz.generate.catalogues.messages import SamplesWritten, WriteJob
from eqfuzz.generate.catalogues.operator_sample import OperatorSample
from eqfuzz.generate.catalogues.variations.writing_calls import writing_calls
from eqfuzz.run.messages.job import ChildEvent


def test_call_is_in_place_on_a_copy_and_into_another_tensor():
    x, y = torch.ones(2, 3, requires_grad=True), torch.ones(3)
    in_place, on_copy, out = writing_calls(OperatorSample(torch.mul, "mul", (x, y), {}), torch.Tensor.mul_)
    assert not in_place.args[0].requires_grad
    assert on_copy.args[0] is x
    assert on_copy.function(*on_copy.args).requires_grad
    assert out.kwargs["out"].shape == (2, 3)
    assert x.equal(torch.ones(2, 3))


def test_flag_of_a_function_is_set_on_a_copy():
    x = torch.full((3,), -1.0, requires_grad=True)
    relu = OperatorSample(torch.nn.functional.relu, "nn.functional.relu", (x,), {})
    flagged, _ = writing_calls(relu, None)
    assert flagged.kwargs == {"inplace": True}
    assert flagged.function(*flagged.args, **flagged.kwargs).tolist() == [0, 0, 0]


def test_calls_that_eager_refuses_and_those_of_several_results_have_no_out():
    refused = OperatorSample(torch.mm, "mm", (torch.ones(2), torch.ones(2)), {})
    of_several = OperatorSample(torch.unbind, "unbind", (torch.ones(2),), {})
    assert list(writing_calls(refused, None)) == list(writing_calls(of_several, None)) == []


def test_they_are_written_as_a_user_would():
    events: list[ChildEvent] = []
    jobs.write_samples(WriteJob(catalogue="opinfo", operator="atan2", dtype="float32"), events.append)
    (written,) = (event for event in events if isinstance(event, SamplesWritten))
    writing = {result.expression: result for result in written.results if "atan2_(" in result.expression}
    assert "${x}.clone().atan2_(${y})" in writing
    assert any("out=${z}" in result.expression for result in written.results)
    assert not any(result.shares for name, result in writing.items() if "clone" not in name)
    assert "requires_grad_()" in writing["${x}.clone().atan2_(${y})"].inputs[0][1]
