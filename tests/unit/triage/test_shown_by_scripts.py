"""What the judge sees in a program, its script shows: the same programs through both, without a compiler."""

from __future__ import annotations

import pytest
import torch

from eqfuzz.judge.checks import CALLS
from eqfuzz.judge.sequence import INTEGERS, unguarded
from eqfuzz.judge.verdict import Kind
from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from tests.unit.triage.scripts import judge, run


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
