"""Optional arguments that OpInfo leaves at their defaults are varied."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from eqfuzz.generate.catalogues import jobs
from eqfuzz.generate.catalogues.messages import SamplesWritten, WriteJob
from eqfuzz.generate.catalogues.variations.other_arguments import optional_arguments, other_arguments
from eqfuzz.run.messages.job import ChildEvent


def kinds(function, path="", positional=1) -> dict[str, str]:
    return {one.name: one.kind for one in optional_arguments(function, path, positional)}


def test_arguments_of_python_functions_have_kinds():
    of_embedding = kinds(F.embedding, positional=2)
    assert of_embedding["padding_idx"] == "int"
    assert of_embedding["max_norm"] == "float"
    assert of_embedding["scale_grad_by_freq"] == "bool"
    assert kinds(F.cross_entropy, positional=2)["weight"] == "tensor"
    assert "_stacklevel" not in kinds(F.softmax)
    assert not {"size_average", "reduce"} & kinds(F.cross_entropy).keys()


def test_arguments_of_builtin_functions_are_those_of_the_schemas():
    assert kinds(torch.cumsum, positional=2) == {"dtype": "dtype"}
    assert kinds(torch.argmax)["keepdim"] == "bool"


def test_wrapper_passes_on_the_keywords_of_its_operator():
    def wrapper(weight, index, **kwargs):
        return F.embedding(index, weight, **kwargs)

    assert kinds(wrapper, "nn.functional.embedding", 2)["padding_idx"] == "int"


def test_values_that_a_call_has_are_left_out():
    operands = torch.randn(3, 4), torch.tensor([0, 1, 2])
    calls = [kwargs for _, kwargs in other_arguments(F.nll_loss, "", operands, {"reduction": "sum"})]
    assert {call["reduction"] for call in calls if "reduction" in call} == {"none", "sum"}
    assert {tuple(call["weight"].shape) for call in calls if "weight" in call} == {(3, 4), (4,)}


def test_each_argument_is_left_out_once():
    operand = torch.randn(3, 4)
    calls = list(other_arguments(torch.roll, "", (operand, 2, 1), {"out": None}))
    assert [(len(args), list(kwargs)) for args, kwargs in calls][-2:] == [(3, []), (2, ["out"])]


def test_guesses_that_eager_refuses_are_not_counted():
    events: list[ChildEvent] = []
    jobs.write_samples(WriteJob(catalogue="opinfo", operator="nn_functional_embedding", dtype="float32"), events.append)
    (written,) = (event for event in events if isinstance(event, SamplesWritten))
    assert any("padding_idx=0" in result.expression for result in written.results)
    assert written.samples == len(written.results) + written.repeats + sum(written.left_out.values())
    assert not any("in eager" in reason for reason in written.left_out)
