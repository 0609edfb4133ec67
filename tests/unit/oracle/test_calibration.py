"""Calibration: faults are planted as named and counted once; tables survive JSON; other tools' oracles."""

import random

import pytest
import torch

from eqfuzz.oracle.calibration.baseline_oracles import OTHERS, own_checks
from eqfuzz.oracle.calibration.capability import compared, observed
from eqfuzz.oracle.calibration.faults import (
    ELEMENT_FAULTS,
    LEAST_ULPS,
    PROPERTY_FAULTS,
    SIGN_OF_ZERO,
    WHOLE_FAULTS,
    relative,
    ulps_apart,
)
from eqfuzz.oracle.calibration.recall import JUDGE, Count, Recall, RecallRow, measure
from eqfuzz.oracle.calibration.specimens import DTYPES, NoSpecimen, judge_with_references, make_specimen
from eqfuzz.oracle.compare.oracles import judge_compiled
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observation import CallObservation
from eqfuzz.oracle.reference.reference import LeafReference
from eqfuzz.program.formats import recognise

PROGRAM = recognise(
    """
import torch

def program(x, y):
    return (x @ y).sigmoid(), torch.where(x > 0, x, x * float("nan")), torch.relu(y)

def inputs(rng):
    yield rng.normal(6, 6), rng.normal(6, 6)
""",
    "three.py",
)
HALF_DIES = recognise(
    """
import torch

def program(x):
    if x.dtype is torch.float16:
        raise TypeError("no halves")
    return x.exp()

def inputs(rng):
    yield rng.normal(5)
""",
    "no-halves.py",
)


@pytest.fixture(scope="module")
def specimen():
    return make_specimen(PROGRAM, torch.float32, 0)


def elements_changed(before, after):
    changed = 0
    for (_, old), (_, new) in zip(before, after, strict=True):
        if isinstance(old, torch.Tensor):
            bits = [value.detach().contiguous().view(torch.int32) for value in (old, new)]
            changed += int((bits[0] != bits[1]).sum())
    return changed


@pytest.mark.parametrize("fault", [*ELEMENT_FAULTS, SIGN_OF_ZERO], ids=lambda fault: fault.name)
def test_element_fault_changes_one_element_only(specimen, fault):
    for draw in range(5):
        planted = fault.plant(specimen.eager, "outputs", torch.float32, random.Random(draw))
        assert planted is not None
        assert planted.leaf is not None
        before, after = specimen.eager.calls[0], planted.observation.calls[0]
        assert elements_changed(before.outputs, after.outputs) == 1
        assert elements_changed(before.inputs_after, after.inputs_after) == 0
        old, new = (call.outputs[planted.leaf[1]][1] for call in (before, after))
        assert (old.stride(), old.dtype, old.requires_grad) == (new.stride(), new.dtype, new.requires_grad)


def test_errors_that_eager_makes_itself_are_not_planted():
    cancelling = recognise(
        """
def program(x):
    z = x * 3.1
    return (z - z.mean(0)).sum(0), z


def inputs(rng):
    yield rng.normal(50, 3)
""",
        "cancelling.py",
    )
    specimen = make_specimen(cancelling, torch.float32, 0)
    for draw in range(20):
        planted = relative(1e-2).plant(
            specimen.eager, "outputs", torch.float32, random.Random(draw), specimen.eager, specimen.references[-1]
        )
        assert planted is not None
        assert planted.leaf == ("outputs", 1)
    leaves = {
        relative(1e-2).plant(specimen.eager, "outputs", torch.float32, random.Random(draw)).leaf for draw in range(20)
    }
    assert ("outputs", 0) in leaves


def test_runs_with_other_kernels_begin_with_the_same_parameters(monkeypatch):
    module = recognise(
        """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.linear(x)

def inputs(rng):
    yield rng.normal(4, 3)
""",
        "module.py",
    )
    first = observed(module, 0)
    monkeypatch.setattr(torch.nn.Linear, "reset_parameters", lambda self: torch.nn.init.constant_(self.weight, 0.5))
    same, other = observed(module, 0, first.state), observed(module, 0)
    verdicts, _ = compared(module, 0, {"first": first, "same": same})
    assert len(verdicts) == len(DTYPES)
    assert {verdict.kind for verdict in verdicts} == {VerdictKind.AGREE}
    verdicts, _ = compared(module, 0, {"first": first, "other": other})
    assert {verdict.kind for verdict in verdicts} == {VerdictKind.WRONG_RESULT}


WHOLE = recognise(
    """
import torch

def program(x):
    return (x * 9).floor(), x.argsort(0), x.exp(), x > 0, torch.zeros(3)

def inputs(rng):
    yield (rng.normal(5, 4),)
""",
    "whole.py",
)


@pytest.mark.parametrize("fault", WHOLE_FAULTS, ids=lambda fault: fault.name)
def test_whole_number_faults_are_whole_and_detected(fault):
    specimen = make_specimen(WHOLE, torch.float32, 0)
    places = set()
    for draw in range(12):
        planted = fault.plant(specimen.eager, "outputs", torch.float32, random.Random(draw))
        assert planted is not None
        assert planted.leaf is not None
        places.add(planted.leaf[1])
        old, new = (run.calls[0].outputs[planted.leaf[1]][1] for run in (specimen.eager, planted.observation))
        distance = (old.double() - new.double()).abs()
        assert distance.count_nonzero() == 1
        assert distance.max() in (1, 2, 3, 4)
        assert judge_with_references(specimen.eager, planted.observation, specimen.references).is_finding
    assert places == {0, 1}


@pytest.mark.parametrize("fault", PROPERTY_FAULTS, ids=lambda fault: fault.name)
def test_property_fault_keeps_the_values_of_outputs(specimen, fault):
    planted = fault.plant(specimen.eager, "outputs", torch.float32, random.Random(0))
    assert planted is not None
    before, after = specimen.eager.calls[0], planted.observation.calls[0]
    assert judge_compiled(specimen.eager, planted.observation, specimen.references[0]).is_finding
    if after.raised is None:
        for (_, old), (_, new) in zip(before.outputs, after.outputs, strict=True):
            assert torch.equal(old.nan_to_num(), new.to(old.dtype).nan_to_num())


def test_errors_below_two_ulps_are_not_planted():
    ones = recognise(
        "import torch\ndef program(x):\n    return x * 1\ndef inputs(rng):\n    yield rng.normal(9)\n", "p.py"
    )
    smallest = ELEMENT_FAULTS[4]
    for dtype, planted in ((torch.float32, True), (torch.float16, False), (torch.bfloat16, False)):
        eager = make_specimen(ones, dtype, 0).eager
        assert (smallest.plant(eager, "outputs", dtype, random.Random(0)) is not None) is planted


@pytest.mark.parametrize("dtype", DTYPES)
def test_ulps_are_counted_across_zero(dtype):
    tiny = torch.tensor(torch.finfo(dtype).smallest_normal, dtype=torch.float64)
    below = (tiny * torch.finfo(dtype).eps).to(dtype)
    assert int(ulps_apart(below, -below)) == 2
    assert int(ulps_apart(torch.tensor(0.0, dtype=dtype), torch.tensor(-0.0, dtype=dtype))) == 0
    one = torch.tensor(1.0, dtype=dtype)
    assert int(ulps_apart(one, one + torch.finfo(dtype).eps * LEAST_ULPS)) == LEAST_ULPS


def test_planted_faults_are_detected_that_other_oracles_miss():
    table = measure(PROGRAM, 0, 3, [torch.float32])
    row = table.rows[RecallRow("relative error 1e-3", "float32", "outputs")]
    assert row.planted == 3
    assert row.recall() == 1.0
    assert row.recall("TorchFuzz") == 0.0
    assert table.rows[RecallRow("wrong stride", "float32", "outputs")].recall("assert_close") == 0.0
    assert all(row.detected[JUDGE] == row.planted for name, row in table.rows.items() if name.fault == "zeroed")


def test_every_missed_fault_has_a_reason():
    table = measure(PROGRAM, 0, 2, [torch.bfloat16])
    for count in table.rows.values():
        assert count.detected[JUDGE] + sum(count.missed.values()) == count.planted


def test_program_that_does_not_run_in_a_dtype_is_listed():
    with pytest.raises(NoSpecimen, match="no halves"):
        make_specimen(HALF_DIES, torch.float16, 0)
    table = measure(HALF_DIES, 0, 1, [torch.float32, torch.float16])
    assert dict(table.programs) == {"float32": 1}
    assert "no-halves.py in float16" in table.left_out[0]


def test_tables_are_added_and_survive_json():
    table = measure(HALF_DIES, 0, 1, [torch.float32])
    total = Recall.from_json(table.to_json())
    assert total == table
    total.add(table)
    assert all(total.rows[row].planted == 2 * count.planted for row, count in table.rows.items())
    assert Count().recall() == 1.0


def test_other_oracles_raise_alarms_at_their_thresholds():
    values = torch.linspace(1, 2, 20)
    changed = {error: values * torch.where(torch.arange(20) == 3, 1 + error, 1.0) for error in (1e-5, 5e-3, 0.02, 0.9)}
    alarms = {
        error: {name for name, alarm in OTHERS.items() if alarm(values, other, values.double())}
        for error, other in changed.items()
    }
    assert alarms[1e-5] == {"assert_close"}
    assert alarms[5e-3] == {"assert_close", "same, fp64"}
    assert alarms[0.02] == {"assert_close", "same, fp64", "NNSmith", "PolyJuice"}
    assert alarms[0.9] == {"assert_close", "same, fp64", "NNSmith", "PolyJuice", "WhiteFox"}
    assert OTHERS["TorchFuzz"](values, values + 1, values)
    assert not any(alarm(values, values.clone(), values.double()) for alarm in OTHERS.values())


def test_checks_of_pytorch_are_reported_by_path():
    eager = CallObservation(
        outputs=[("output[0]", torch.ones(20)), ("output[1]", torch.arange(3)), ("output[2]", 3), ("output[3]", "a")],
        gradients=[("gradient of args[0]", torch.ones(2))],
    )
    off = torch.ones(20)
    off[3] += 5e-4
    compiled = CallObservation(
        outputs=[("output[0]", off), ("output[1]", torch.tensor([0, 1, 3])), ("output[2]", 4), ("output[3]", "a")],
        gradients=[("gradient of args[0]", torch.ones(3))],
    )
    float64_run = CallObservation(outputs=[("output[0]", LeafReference(off.double()))])
    assert own_checks(eager, compiled, None) == {
        "output[0]": {"same": False, "assert_close": False},
        "output[1]": {"same": False, "assert_close": False},
    }
    # ``same`` accepts a compiled value that is nearer to the float64 run than eager; assert_close does not.
    assert own_checks(eager, compiled, float64_run)["output[0]"] == {"same": True, "assert_close": False}
    assert set(own_checks(eager, eager, None)["output[1]"].values()) == {True}


@pytest.mark.parametrize("other", [torch.ones(20, dtype=torch.float64), torch.ones(20, 1), torch.ones(20).to_sparse()])
def test_checks_of_pytorch_skip_tensors_of_different_metadata(other):
    before, after = (CallObservation(outputs=[("output", tensor)]) for tensor in (torch.ones(20), other))
    assert own_checks(before, after, None) == {}


def test_checks_of_pytorch_accept_equal_nan():
    call = CallObservation(outputs=[("output", torch.tensor([1.0, float("nan"), float("inf")]))])
    assert own_checks(call, call, None) == {"output": {"same": True, "assert_close": True}}
