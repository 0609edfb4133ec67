"""The catalogues beside OpInfo: what is written does in eager what the sample does, and builds modules once."""

import re

import pytest
import torch

from eqfuzz.generate.catalogues import jobs
from eqfuzz.generate.catalogues.messages import CatalogueListed, ListJob, SamplesWritten, WriteJob
from eqfuzz.generate.catalogues.programs import programs_of
from eqfuzz.program.formats import recognise
from eqfuzz.program.inputs import Rng
from eqfuzz.run.messages.job import ChildEvent


def listed(catalogue: str) -> dict[str, tuple[str, ...]]:
    events: list[ChildEvent] = []
    jobs.list_operators(ListJob(catalogue=catalogue), events.append)
    (answer,) = (event for event in events if isinstance(event, CatalogueListed))
    return {entry.name: entry.dtypes for entry in answer.operators}


def read(catalogue: str, entry: str, dtype: str = "float32") -> SamplesWritten:
    events: list[ChildEvent] = []
    jobs.write_samples(WriteJob(catalogue=catalogue, operator=entry, dtype=dtype), events.append)
    (answer,) = (event for event in events if isinstance(event, SamplesWritten))
    assert answer.samples == len(answer.results) + answer.repeats + sum(answer.left_out.values())
    return answer


def program(written: SamplesWritten) -> tuple[str, object, tuple[object, ...]]:
    """The text of the first program, what it defines, and its inputs."""
    source = programs_of([written], seed=0)[0].source
    recognise(source, "seed.py")
    namespace: dict = {}
    exec(compile(source, "<program>", "exec"), namespace)
    target = namespace["Program"]() if "Program" in namespace else namespace["program"]
    return source, target, next(iter(namespace["inputs"](Rng(0))))


@pytest.mark.parametrize(
    ("catalogue", "entry", "dtype"),
    [("modules", "LSTM", "float64"), ("optimizers", "AdamW", "float32"), ("numpy", "np_linalg_norm", "complex64")],
)
def test_entries_have_dtypes(catalogue, entry, dtype):
    assert dtype in listed(catalogue)[entry]


def test_modules_are_built_once_in_training_and_evaluation():
    written = read("modules", "BatchNorm1d", "float64")
    source, module, inputs = program(written)
    assert isinstance(module, torch.nn.Module)
    assert len(written.results) > 4
    training = re.findall(r"self\.batchnorm1d_\d+ = nn\.BatchNorm1d\(.*\)\.to\(torch\.float64\)(\.eval\(\))?\n", source)
    assert set(training) == {"", ".eval()"}
    results = module(*inputs)
    assert len(results) == len(training)
    assert {result.dtype for result in results} == {torch.float64}


def test_module_whose_constructor_has_tensors_and_functions_is_written():
    source, _, _ = program(read("modules", "NLLLoss"))
    assert "weight=torch.tensor([" in source
    assert "torch.nn.functional.relu" not in source
    source, _, _ = program(read("modules", "TransformerEncoderLayer"))
    assert "nn.TransformerEncoderLayer(" in source


def test_parameters_do_not_count_as_random_numbers_that_a_program_draws():
    assert not any(result.draws for result in read("modules", "Linear").results)


def test_optimizer_steps_with_each_option_and_implementation():
    written = read("optimizers", "SGD")
    _, module, inputs = program(written)
    weights = module(*inputs)
    modules = {result.module for result in written.results}
    assert {"Stepping(torch.optim.SGD)", "Stepping(torch.optim.SGD, fused=True)"} <= modules
    start = torch.linspace(-1, 1, 12).reshape(3, 4)
    assert all(not torch.equal(weight, start) for weight in weights)


def test_functions_of_numpy_are_called_as_numpy_accepts_them():
    written = read("numpy", "np_cumsum", "int64")
    calls = {result.expression for result in written.results}
    assert "np.cumsum(${x}.numpy(), axis=1)" in calls
    assert not any(call.startswith("np.cumsum(${x}.numpy(), ${y}.numpy())") for call in calls)
    source, function, inputs = program(written)
    assert "import numpy as np\n" in source
    assert len(function(*inputs)) == len(written.results)
