"""The number of threads of a cell: set while it is judged, for eager too."""

from __future__ import annotations

import textwrap

import pytest
import torch

from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.rewrite.derivation import original
from eqfuzz.run.jobs import several_threads as module
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.several_threads import EAGER_RUNS, observed_again, several_threads


def subject_of(body: str) -> LoadedVariant:
    source = f"import torch\ndef program(x):\n{textwrap.indent(body, '    ')}\n"
    program = recognise(f"{source}def inputs(rng):\n    yield rng.normal(3)\n", "seed.py")
    loaded = Loaded(program)
    calls = loaded.calls(0)
    return LoadedVariant(0, original(program), loaded, calls, observe(loaded.instance, calls))


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_the_number_of_threads_is_restored():
    with several_threads(3):
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == 1
    with pytest.raises(KeyError), several_threads(2):
        raise KeyError
    assert torch.get_num_threads() == 1


def test_eager_is_observed_with_the_present_number_of_threads():
    subject = subject_of("return x * torch.get_num_threads()")
    with several_threads(2):
        again, refusal, doubt = observed_again(subject)
    assert (refusal, doubt) == ("", "")
    assert again.calls == subject.calls
    (_, one), (_, two) = subject.eager.calls[0].outputs[0], again.eager.calls[0].outputs[0]
    assert torch.equal(two, one * 2)
    assert not again.has_reference(1)


def test_eager_runs_that_differ_are_doubted(monkeypatch):
    subject = subject_of("return x")
    other = subject_of("return x + 1e-6").eager
    runs = [subject.eager] * (EAGER_RUNS - 2) + [other]
    monkeypatch.setattr(module, "observe", lambda *_: runs.pop(0))
    with several_threads(2):
        assert observed_again(subject)[1:] == ("", "eager gives something else each time with 2 threads")
    assert runs == []


def test_eager_that_raises_is_a_refusal():
    subject = subject_of("assert torch.get_num_threads() == 1, 'too many'\nreturn x")
    with several_threads(2):
        _, refusal, _ = observed_again(subject)
    assert refusal.startswith("eager raises with 2 threads: AssertionError: too many")
