"""Globals of a program: observed, and put back for the next observation."""

import numpy as np
import torch

from eqfuzz.oracle.observe.observer import observe
from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.program.namespace import namespace_of, plain_globals

SOURCE = """
import torch

COUNT = 0
SEEN = []
CACHE = {"a": torch.zeros(2)}
TABLE = torch.arange(3.0)
TAIL = SEEN


def inputs(rng):
    return (torch.ones(2),)


def program(x):
    global COUNT, LAST
    COUNT += 1
    LAST = COUNT
    TAIL.append(COUNT)
    CACHE["a"] += x
    TABLE.mul_(2)
    return x * COUNT
"""


def loaded():
    return Loaded(recognise(SOURCE, "seed.py"))


def test_changed_globals_are_restored():
    subject = loaded()
    calls = [Call((torch.ones(2),), {})] * 2
    first, second = (observe(subject.instance, calls) for _ in range(2))
    for seen in (first, second):
        after = dict(seen.calls[1].globals_after)
        assert after["globals()['COUNT']"] == after["globals()['LAST']"] == 2
        assert after["globals()['SEEN'][1]"] == 2
        assert torch.equal(after["globals()['CACHE']['a']"], torch.full((2,), 2.0))
        assert torch.equal(after["globals()['TABLE']"], torch.arange(3.0) * 4)


def test_containers_stay_the_same_objects():
    subject = loaded()
    namespace = subject.module.__dict__
    before = namespace["SEEN"], namespace["CACHE"], namespace["TABLE"]
    subject.instance()(torch.ones(2))
    subject.instance()
    assert (namespace["SEEN"], namespace["CACHE"], namespace["TABLE"]) == before
    assert namespace["SEEN"] is namespace["TAIL"] is before[0]
    assert "LAST" not in namespace


def test_only_globals_that_hold_data_are_compared():
    values = plain_globals({"a": 1, "f": len, "m": np, "__x__": 2, "d": {"k": [torch.ones(1), None]}, "o": object()})
    assert set(values) == {"a", "d"}


def test_torchs_own_modules_have_no_namespace_of_a_program():
    assert namespace_of(torch.nn.Linear(1, 1)) == {} == namespace_of(torch.sin)
    assert "COUNT" in namespace_of(loaded().instance())


HOLDERS = """
import collections
import torch

ROWS = [1]
HISTORY = collections.deque([1, 2], maxlen=2)


class Counter:
    def __init__(self):
        self.total = 0


class Settings:
    calls = 0
    seen = []


COUNTER = Counter()


def make():
    rows, count = ROWS, 0
    weight = torch.ones(2)

    def step(x, *, cache={}):
        nonlocal count
        count += 1
        rows.append(count)
        HISTORY.append(count)
        COUNTER.total += 1
        Settings.calls += 1
        Settings.seen.append(x)
        cache[count] = x
        weight.add_(x)
        return x * count * len(rows) * weight * len(cache) * Settings.calls * COUNTER.total * sum(HISTORY)

    return step


step = make()


def program(x):
    return step(x)


def inputs(rng):
    return (torch.ones(2),)
"""


def test_values_of_functions_and_classes_are_restored():
    subject = Loaded(recognise(HOLDERS, "seed.py"))
    namespace = subject.module.__dict__
    objects = {name: namespace[name] for name in ("ROWS", "HISTORY", "COUNTER")}
    first, second = (observe(subject.instance, subject.calls(0) * 2).calls for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one.outputs[0][1], other.outputs[0][1])
    subject.instance()
    assert all(namespace[name] is value for name, value in objects.items())
    assert namespace["ROWS"] == [1]
    assert list(namespace["HISTORY"]) == [1, 2]
    assert namespace["COUNTER"].total == 0


def test_objects_and_deques_in_globals_are_plain():
    subject = Loaded(recognise(HOLDERS, "seed.py"))
    after = dict(observe(subject.instance, subject.calls(0)).calls[0].globals_after)
    assert after["globals()['COUNTER'].total"] == 1
    assert after["globals()['HISTORY'][1]"] == 1


GRADIENTS = """
import torch

TABLE = torch.zeros(2)
ROW = TABLE[:1]
GROWS = torch.zeros(2)
NOTED = torch.zeros(2)


def program(x):
    TABLE.add_(x)
    GROWS.resize_(3)
    NOTED.requires_grad_()
    return TABLE * 1


def inputs(rng):
    return (torch.ones(2, requires_grad=True),)
"""


def test_tensors_with_a_graph_or_another_size_are_restored():
    subject = Loaded(recognise(GRADIENTS, "seed.py"))
    namespace = subject.module.__dict__
    (call,) = subject.calls(0)
    subject.instance()(*call.args)
    assert namespace["TABLE"].requires_grad
    subject.instance()
    table, row, grows, noted = (namespace[name] for name in ("TABLE", "ROW", "GROWS", "NOTED"))
    assert not table.requires_grad
    assert torch.equal(table, torch.zeros(2))
    assert torch.equal(row, torch.zeros(1))
    assert grows.shape == (2,)
    assert not noted.requires_grad
