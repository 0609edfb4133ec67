"""Call sequences: which calls each step makes."""

import random

import pytest
import torch

from eqfuzz.oracle.compare.checks import CALLS
from eqfuzz.oracle.observe.call_sequence import AFTERWARDS, AGAIN, INTEGERS, STEPS, StepTarget, guarded, unguarded
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded

SOURCE = """
import torch

SCALE = 2.0


def inputs(rng):
    x = rng.normal(4, 6, requires_grad=True)
    yield {"x": x, "y": rng.normal(4, 6, requires_grad=True), "k": 3, "flag": True}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = 0.5
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x, y, k, flag):
        z = self.drop(x) * self.gain + (y if flag else -y)
        return z[:, :k] * SCALE
"""


@pytest.fixture
def loaded():
    return Loaded(recognise(SOURCE, "seed.py"))


def labels(calls):
    return [call.label for call in calls]


def test_steps_without_guards_keep_shapes_and_types(loaded):
    calls = loaded.calls(0)
    steps = unguarded(loaded, calls, 0, CALLS)
    assert labels(steps) == [AGAIN, "new values", INTEGERS]
    for step in steps:
        assert step.kwargs["x"].shape == (4, 6)
        assert step.kwargs["x"].requires_grad
        assert step.kwargs["k"] == 3
    assert torch.equal(steps[0].kwargs["x"], calls[0].kwargs["x"])
    assert not torch.equal(steps[1].kwargs["x"], calls[0].kwargs["x"])
    whole = steps[2].kwargs["x"].detach()
    assert torch.equal(whole, whole.round())
    assert whole.abs().max() == 3


def test_checks_choose_the_steps(loaded):
    assert labels(unguarded(loaded, loaded.calls(0), 0, ["repeat"])) == [AGAIN]


def test_guarded_steps_run_in_eager_and_end_with_the_first_inputs(loaded):
    calls = loaded.calls(0)
    steps = guarded(loaded, calls, 3, random.Random(5))
    assert len(steps) == 4
    assert steps[-1].label == AFTERWARDS
    assert len(set(labels(steps))) == 4
    assert labels(steps) == labels(guarded(loaded, calls, 3, random.Random(5)))
    assert all(call.raised is None for call in observe(loaded.instance, [*calls, *steps]).calls)
    assert guarded(loaded, calls, 0, random.Random(5)) == []


def test_with_enough_steps_everything_changeable_is_changed(loaded):
    all_labels = labels(guarded(loaded, loaded.calls(0), 40, random.Random(5)))
    changed = {
        "kwargs['k']: 3 becomes 4",
        "kwargs['k']: 3 becomes 2",
        "kwargs['flag']: True becomes False",
        "SCALE is 3.25",
        "SCALE is -2.0",
        "model.gain is 1.0",
    }
    assert changed <= set(all_labels)
    assert all_labels.index("kwargs['k']: 3 becomes 4") < all_labels.index("kwargs['k']: 3 becomes 2")
    assert all_labels.index("kwargs['flag']: True becomes False") < all_labels.index("kwargs['k']: 3 becomes 2")
    assert len(set(all_labels)) == len(all_labels)
    few = labels(guarded(loaded, loaded.calls(0), 4, random.Random(5)))
    assert all_labels[:4] == few[:4]


def first(name, loaded, seed=0):
    subject = StepTarget(loaded.instance(), loaded.module.__dict__)
    return next(STEPS[name][1](loaded.calls(0)[0], subject, random.Random(seed)), None)


def test_sizes_change_together(loaded):
    for seed in range(6):
        step = first("other-sizes", loaded, seed)
        assert step.kwargs["x"].shape == step.kwargs["y"].shape != (4, 6)


def test_strides_change_and_values_do_not(loaded):
    step, (call,) = first("other-strides", loaded), loaded.calls(0)
    assert torch.equal(step.kwargs["x"], call.kwargs["x"])
    assert step.kwargs["x"].stride() == (1, 4)
    assert step.kwargs["x"].storage_offset() == 3


def test_containers_lose_and_gain_items():
    call = Call(({"scale": 2}, 1), {"rows": [1, 2]})
    subject = StepTarget(None, {})
    (keys,) = STEPS["other-keys"][1](call, subject, random.Random(0))
    assert keys.args == ({}, 1)
    assert call.args[0] == {"scale": 2}
    assert keys.label == "args[0] without 'scale'"
    longer, shorter = STEPS["other-length"][1](call, subject, random.Random(0))
    assert (longer.kwargs["rows"], shorter.kwargs["rows"]) == ([1, 2, 2], [1])


def test_rare_changes_come_first(loaded):
    calls = loaded.calls(0)
    firsts = [labels(guarded(loaded, calls, 1, random.Random(seed)))[0] for seed in range(12)]
    rare = ("SCALE is", "model.", "kwargs[", "under no_grad")
    assert sum(label.startswith(rare) for label in firsts) > 9


def test_each_kind_of_change_has_its_step(loaded):
    assert first("other-scalar", loaded).label in {"kwargs['k']: 3 becomes 4", "kwargs['flag']: True becomes False"}
    assert first("other-attribute", loaded).before.startswith("model.gain = ")
    assert first("other-global", loaded).before.startswith("globals()['SCALE'] = ")
    assert first("other-mode", loaded).before == "model.train(False)"
    assert first("without-gradients", loaded).within == "torch.no_grad()"
    assert first("other-dtype", loaded).kwargs["y"].dtype is torch.float64


def test_changed_attributes_globals_and_modes_take_effect(loaded):
    plain = observe(loaded.instance, [first("other-mode", loaded)]).calls[0].outputs[0][1]
    for name in ("other-attribute", "other-global"):
        step = first(name, loaded)
        changed = observe(loaded.instance, [first("other-mode", loaded), step]).calls[1].outputs[0][1]
        assert not torch.equal(changed, plain), name
    silent = observe(loaded.instance, [first("without-gradients", loaded)]).calls[0]
    assert not silent.gradients
    assert not silent.outputs[0][1].requires_grad


TWO = """
import torch


def inputs(rng):
    return rng.normal(4), rng.normal(4)


def program(x, y):
    x.add_(1)
    return x + y
"""


def test_two_arguments_overlap_or_become_one():
    loaded = Loaded(recognise(TWO, "seed.py"))
    (call,) = loaded.calls(0)
    subject = StepTarget(loaded.instance(), loaded.module.__dict__)
    (overlapping,) = STEPS["overlapping-arguments"][1](call, subject, random.Random(0))
    (same,) = STEPS["identical-arguments"][1](call, subject, random.Random(0))
    for step in (overlapping, overlapping.copy()):
        x, y = step.args
        assert torch.equal(x, call.args[0])
        assert torch.equal(y[2:], call.args[1][2:])
        x[2:] = 7
        assert torch.equal(y[:2], torch.full((2,), 7.0))
    copied = same.copy()
    assert same.args[0] is same.args[1]
    assert copied.args[0] is copied.args[1] is not same.args[0]


@pytest.mark.parametrize(
    ("count", "labels"),
    [(1, ("args[0] and args[1] overlap",)), (2, ("args[1] is args[0]", "args[0] and args[1] overlap"))],
)
def test_programs_that_write_to_an_argument_get_aliased_arguments_first(count, labels):
    loaded = Loaded(recognise(TWO, "seed.py"))
    for seed in range(12):
        steps = guarded(loaded, loaded.calls(0), count, random.Random(seed))
        assert tuple(step.label for step in steps[:count]) == labels


IN_HALF = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))

    def forward(self, i):
        return self.weight[i] * 2


def inputs(rng):
    yield (rng.integers(0, 4, 3),)
"""


def test_autocast_applies_to_float32_parameters():
    loaded = Loaded(recognise(IN_HALF, "seed.py"))
    subject = StepTarget(loaded.instance(), loaded.module.__dict__)
    (step,) = STEPS["under-autocast"][1](loaded.calls(0)[0], subject, random.Random(0))
    assert step.label == "under autocast"
