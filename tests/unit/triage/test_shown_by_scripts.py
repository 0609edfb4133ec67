"""What the judge sees in a program, its script shows: the same programs through both, without a compiler."""

from __future__ import annotations

import pytest

from eqfuzz.judge.checks import CALLS
from eqfuzz.judge.sequence import INTEGERS, unguarded
from eqfuzz.judge.verdict import Evidence, Kind
from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from tests.unit.triage.scripts import about, judge, run


def test_what_is_done_before_a_call_leaves_torch_to_the_calls_before_it(tmp_path):
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
    assert judged.verdict.kind is Kind.WRONG_RESULT and judged.finding.verdict.evidence.call == 2, judged.verdict
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
def test_what_functions_hold_on_to_is_put_back_between_runs(tmp_path, extra, status):
    judged = judge(HELD.replace("EXTRA", extra))
    assert judged.verdict.is_finding == bool(status), judged.verdict
    ended = run(tmp_path, about(judged, Kind.WRONG_RESULT, Evidence(1, "output", (0,), 1, 2)).script)
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
    assert judged.verdict.kind is Kind.WRONG_RESULT, judged.verdict
    ended = run(tmp_path, judged.script)
    assert ended.status == 1 and "eager:    tensor([3, 4])" in ended.output, judged.script
