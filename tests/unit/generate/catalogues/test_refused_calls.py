"""Calls that eager refuses: what is written is refused for the same reason, and each reason is written once."""

import pytest
import torch

from eqfuzz.generate.catalogues import jobs
from eqfuzz.generate.catalogues.broken_contracts import broken_calls
from eqfuzz.generate.catalogues.messages import REFUSED, SamplesWritten, WriteRefusedJob
from eqfuzz.generate.catalogues.programs import programs_of
from eqfuzz.run.messages.job import ChildEvent


def refused(operator: str, **more: object) -> SamplesWritten:
    events: list[ChildEvent] = []
    jobs.write_refused(WriteRefusedJob(operator=operator, **more), events.append)  # type: ignore[arg-type]
    (answer,) = (event for event in events if isinstance(event, SamplesWritten))
    return answer


def test_every_argument_is_broken():
    index = torch.tensor([0, 2])
    words = {one.broken: one for one in broken_calls((torch.rand(3, 4), 1, index), {"mode": "mean"})}
    assert words["an integer that is too large"].args[2].tolist() == [0, 5]
    assert words["a number that is 99"].args[1] == 99
    assert words["an unknown word"].kwargs == {"mode": "unknown"}
    assert words["one more in the last dimension"].args[0].shape == (3, 5)
    assert index.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("operator", "reasons"),
    [
        ("gather", {"RuntimeError: index N is out of bounds for dimension N with size N"}),
        ("nn_functional_nll_loss", {"IndexError: Target N is out of bounds."}),
        ("bernoulli", {"RuntimeError: Expected p_in >= N && p_in <= N to be true, but got false"}),
    ],
)
def test_contracts_of_operators_are_broken(operator: str, reasons: set[str]):
    written = refused(operator)
    assert written.samples == len(written.results) + written.repeats + sum(written.left_out.values())
    raised = [result.refused for result in written.results]
    assert len(set(raised)) == len(raised)
    for reason in reasons:
        assert any(one.startswith(reason) for one in raised), raised


def test_call_that_ends_the_process_is_left_out():
    written = refused("gather", skip=(1, 2))
    assert written.left_out[jobs.FATAL] == 2


def test_each_program_has_one_call_and_says_that_it_is_refused():
    programs = programs_of([refused("gather")], seed=0)
    assert len(programs) > 3
    for program in programs:
        assert program.name.startswith(f"{REFUSED}/gather-")
        assert len(program.results) == 1
        namespace: dict[str, object] = {}
        exec(program.source, namespace)
        assert namespace["refuses"] is True
