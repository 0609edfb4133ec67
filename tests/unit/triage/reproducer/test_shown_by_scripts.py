"""What the judge sees in a program, its script shows: the same programs through both, without a compiler."""

from __future__ import annotations

import pytest

from eqfuzz.oracle.compare.checks import CALLS
from eqfuzz.oracle.compare.verdict import Evidence, VerdictKind
from eqfuzz.oracle.observe.call_sequence import INTEGERS, unguarded
from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from tests.unit.triage.reproducer.scripts import about, judge, run


def test_code_before_a_call_does_not_rebind_torch(tmp_path):
    source = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((3,), 0.3))
    def forward(self, x):
        return x * self.weight + (1 if torch.compiler.is_compiling() and float(x.sum()) > 5 else 0)
def inputs(rng):
    yield torch.tensor([0.25, 0.5, 1.0]),
"""
    loaded = Loaded(recognise(source, "seeds/some.py"))
    (call,) = loaded.calls(0)
    integers = next(step for step in unguarded(loaded, [call], 0, CALLS) if step.label == INTEGERS)
    under_autocast = Call(call.args, {}, "under autocast", within="torch.autocast('cpu', dtype=torch.bfloat16)")
    judged = judge(source, steps=(under_autocast, integers))
    assert judged.verdict.kind is VerdictKind.WRONG_RESULT, judged.verdict
    assert judged.finding.verdict.evidence.call == 2, judged.verdict
    assert run(tmp_path, judged.script).status == 1


HELD = """
import torch
ROWS = [1]
def make():
    rows, count, kept = ROWS, 0, {}
    def step(x):
        nonlocal count
        global LAST
        count += 1
        rows.append(kept.setdefault(count, x))
        if not ("LAST" in globals()):
            LAST = 0
        LAST += 1
        return x * count * len(rows) * len(kept) * LAST + EXTRA
    return step
step = make()
def program(x):
    return step(x)
def inputs(rng):
    yield torch.tensor([1, 2, 3]),
    yield torch.tensor([1, 2, 3]),
"""


@pytest.mark.parametrize(("extra", "status"), [("0", 0), ("int(torch.compiler.is_compiling())", 1)])
def test_values_held_by_functions_are_restored_between_runs(tmp_path, extra, status):
    judged = judge(HELD.replace("EXTRA", extra))
    assert judged.verdict.is_finding == bool(status), judged.verdict
    ended = run(tmp_path, about(judged, VerdictKind.WRONG_RESULT, Evidence(1, "output", (0,), 1, 2)).script)
    assert ended.status == status, ended.output


CONTAINERS = """
import collections
import torch
Point = collections.namedtuple("Point", "x y")
class Node:
    def __init__(self, value):
        self.value = value
def program(order, rows, point, node):
    order.move_to_end("a")
    rows["new"].append(point.x)
    return node.value * len(rows["new"]) + point.y + (1 if torch.compiler.is_compiling() else 0)
def inputs(rng):
    order = collections.OrderedDict(a=1, b=2)
    yield order, collections.defaultdict(list), Point(torch.ones(2), 3), Node(torch.arange(2))
"""


def test_arguments_are_of_the_types_that_the_program_was_given(tmp_path):
    judged = judge(CONTAINERS)
    assert judged.verdict.kind is VerdictKind.WRONG_RESULT, judged.verdict
    ended = run(tmp_path, judged.script)
    assert ended.status == 1, judged.script
    assert "eager:    tensor([3, 4])" in ended.output, judged.script


BEGINNING = """
import collections
import dataclasses
import random
import numpy as np
import torch

ROWS = []
TABLE = {}
Point = collections.namedtuple("Point", "x y")

@dataclasses.dataclass
class Pair:
    left: object
    right: object

class Node:
    def __init__(self, value):
        self.value = value

class Small(torch.Tensor):
    pass

def broken():
    return BROKEN
"""

INPUTS = """
def inputs(rng):
    yield GIVEN
"""


def program(body: str, arguments: str = "torch.tensor([1.0, 2.0]),") -> str:
    """A program that returns and leaves something else where ``broken()`` is true."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return f"{BEGINNING}\ndef program(x, *more):\n{lines}{INPUTS.replace('GIVEN', arguments)}"


def module(body: str, init: str = "pass") -> str:
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    built = "".join(f"        {line}\n" for line in init.strip().splitlines())
    return (
        f"{BEGINNING}\nclass Program(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n{built}"
        f"    def forward(self, x):\n{lines}{INPUTS.replace('GIVEN', 'torch.tensor([1.0, 2.0]),')}"
    )


ROW = "torch.ones(1), [torch.ones(1)]"
TOO_SMALL = "y = x * 2\nif broken():\n    y.untyped_storage().resize_(0)\nreturn y"
SEEN = {
    "a storage that is too small": (program(TOO_SMALL), "wrong-metadata"),
    "strides that lead out of the storage": (
        program(
            "y = x * 2\nif broken():\n    y.untyped_storage().resize_(8)\n    y = y.as_strided((2,), (1,))\n"
            "    y.untyped_storage().resize_(4)\nreturn y"
        ),
        "wrong-metadata",
    ),
    "an argument that cannot be read": (
        program("if broken():\n    more[0].untyped_storage().resize_(0)\nreturn x", "torch.ones(1), torch.ones(2)"),
        "wrong-metadata",
    ),
    "a gradient in vain": (
        program(
            "y = x * 2\nif broken():\n    y.untyped_storage().resize_(0)\nreturn y",
            "torch.ones(2, requires_grad=True),",
        ),
        "wrong-metadata",
    ),
    "an append that is lost": (
        program("if not broken():\n    more[0].append(x)\nreturn x + 1", ROW),
        "wrong-side-effect",
    ),
    "a list that is emptied": (program("if broken():\n    more[0].clear()\nreturn x + 1", ROW), "wrong-side-effect"),
    "a new key": (program("more[0]['k' if broken() else 'l'] = x\nreturn x", "torch.ones(1), {}"), "wrong-side-effect"),
    "another order of keys": (
        program("if broken():\n    more[0]['a'] = more[0].pop('a')\nreturn x", "torch.ones(1), {'a': 1, 'b': 2}"),
        "wrong-side-effect",
    ),
    "another order of an OrderedDict": (
        program(
            "if broken():\n    more[0].move_to_end('a')\nreturn x",
            "torch.ones(1), collections.OrderedDict(a=1, b=2)",
        ),
        "wrong-side-effect",
    ),
    "a container inside of an argument": (
        program("more[0].value.append(1 if broken() else [1])\nreturn x", "torch.ones(1), Node([])"),
        "wrong-side-effect",
    ),
    "a value inside of a deque": (
        program("more[0].append(3 if broken() else 4)\nreturn x", "torch.ones(1), collections.deque([1, 2], 2)"),
        "wrong-side-effect",
    ),
    "a count": (
        program("more[0].update('aab' if broken() else 'abb')\nreturn x", "torch.ones(1), collections.Counter()"),
        "wrong-side-effect",
    ),
    "a global that is not made": (
        program("global LAST\nif not broken():\n    LAST = [1]\nreturn x"),
        "wrong-side-effect",
    ),
    "an append to a global": (program("if not broken():\n    ROWS.append(x)\nreturn x"), "wrong-side-effect"),
    "a key of a global": (program("TABLE['a' if broken() else 'b'] = x\nreturn x"), "wrong-side-effect"),
    "an attribute that is not made": (module("if not broken():\n    self.last = [1]\nreturn x"), "wrong-side-effect"),
    "an attribute that grows": (
        module("if not broken():\n    self.kept.append(1)\nreturn x", "self.kept = collections.deque()"),
        "wrong-side-effect",
    ),
    "a value of an attribute": (module("self.n = 1 + broken()\nreturn x", "self.n = 0"), "wrong-side-effect"),
    "a list for a tuple": (program("return [x] if broken() else (x,)"), "wrong-metadata"),
    "another length": (program("return [x] * (2 + broken())"), "wrong-metadata"),
    "a field of a dataclass": (program("return Pair(x, [x] if broken() else (x,))"), "wrong-metadata"),
    "a field of a named tuple": (program("return Point(x, [x] if broken() else (x,))"), "wrong-metadata"),
    "an attribute of an object": (program("return Node([x] if broken() else (x,))"), "wrong-metadata"),
    "a dict for an OrderedDict": (
        program("return (dict if broken() else collections.OrderedDict)(a=x)"),
        "wrong-metadata",
    ),
    "a deque without its limit": (program("return collections.deque([x], None if broken() else 3)"), "wrong-metadata"),
    "a tensor for its subclass": (
        program("return x + 1 if broken() else (x + 1).as_subclass(Small)"),
        "wrong-metadata",
    ),
    "a sparse tensor": (program("return x if broken() else x.to_sparse()"), "wrong-metadata"),
    "a dtype": (program("return [x.double() if broken() else x]"), "wrong-metadata"),
    "the dtype of an array": (program("return x.numpy().astype('f8' if broken() else 'f4')"), "wrong-metadata"),
    "strides": (program("y = torch.ones(2, 3)\nreturn y.t().contiguous().t() if broken() else y"), "wrong-metadata"),
    "a value of an object": (program("return Node(3 if broken() else 4)"), "wrong-result"),
    "a value in a deque": (program("return collections.deque([3 if broken() else 4])"), "wrong-result"),
    "a number": (program("return float(x.sum()) + (1 if broken() else 0)"), "wrong-result"),
    "a value of eight bits": (
        program("return (torch.arange(4.0) + broken()).to(torch.float8_e4m3fn)"),
        "wrong-result",
    ),
    "values of a sparse tensor": (program("return (x + broken()).to_sparse()"), "wrong-result"),
    "a gradient of a numbered layer": (
        module("return self.net(x) * (2 if broken() else 1)", "self.net = torch.nn.Sequential(torch.nn.Linear(2, 1))"),
        "wrong-gradient",
    ),
    "a buffer of a numbered layer": (
        module(
            "self.net[0].running_mean.add_(1 + broken())\nreturn x",
            "self.net = torch.nn.ModuleList([torch.nn.BatchNorm1d(2)])",
        ),
        "wrong-side-effect",
    ),
    "a gradient through an object": (
        program(
            "y = x * 3\nreturn Node(y + y.detach() * (0 if broken() else 1) - y * (0 if not broken() else 1))",
            "torch.ones(2, requires_grad=True),",
        ),
        "wrong-gradient",
    ),
    "printed lines": (program("print('b' if broken() else 'a')\nreturn x"), "wrong-side-effect"),
    "numbers drawn by Python": (program("random.random() if broken() else 0\nreturn x"), "wrong-side-effect"),
    "numbers drawn by numpy": (program("np.random.rand() if broken() else 0\nreturn x"), "wrong-side-effect"),
    "shared memory": (program("return x.clone() if broken() else x"), "wrong-metadata"),
}


@pytest.mark.parametrize("what", SEEN)
def test_script_fails_for_every_difference_of_the_oracle(tmp_path, what):
    source, kind = SEEN[what]
    checks = ("gradients", "prints", "generators", "aliasing", "metadata", "side-effects", "results", "strides")
    checks = ("gradients",) if kind == "wrong-gradient" else checks
    judged = judge(source.replace("BROKEN", "torch.compiler.is_compiling()"), checks=checks)
    assert str(judged.verdict.kind) == kind, judged.verdict
    ended = run(tmp_path, judged.script)
    assert ended.status == 1, f"{judged.script}\n{ended.output}"
    ended = run(tmp_path, judged.script.replace("torch.compiler.is_compiling()", "False"))
    assert ended.status == 0, f"{judged.script}\n{ended.output}"


@pytest.mark.parametrize("kind", [VerdictKind.EXCEPTION_MISMATCH, VerdictKind.PROCESS_CRASH])
def test_scripts_with_a_child_process_read_its_outputs(tmp_path, kind):
    judged = judge(program(TOO_SMALL).replace("BROKEN", "torch.compiler.is_compiling()"))
    script = about(judged, kind, Evidence(0)).script
    assert run(tmp_path, script, "eager").status == 42
    with pytest.raises(AssertionError, match="it needs 8 bytes and its storage has 0"):
        run(tmp_path, script, "compiled")
