"""Globals of a program: observed, and put back for the next observation."""

import numpy as np
import torch

from eqfuzz.judge.observe import observe
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


def test_what_the_program_changes_is_seen_and_put_back():
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
    assert namespace["SEEN"] is namespace["TAIL"] is before[0] and "LAST" not in namespace


def test_only_data_counts():
    found = plain_globals({"a": 1, "f": len, "m": np, "__x__": 2, "d": {"k": [torch.ones(1), None]}, "o": object()})
    assert set(found) == {"a", "d"}


def test_torchs_own_modules_have_no_namespace_of_a_program():
    assert namespace_of(torch.nn.Linear(1, 1)) == {} == namespace_of(torch.sin)
    assert "COUNT" in namespace_of(loaded().instance())
