"""When a cell needs a reference: not where another run explains its numbers, and always before a claim."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch

from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.thresholds import THRESHOLDS
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.rewrite.derivation import original
from eqfuzz.run.jobs import session
from eqfuzz.run.jobs.cell_judge import CellJudge, _compare_compiled
from eqfuzz.run.jobs.loaded_program import LoadedVariant
from eqfuzz.run.jobs.stage_timer import StageTimer
from eqfuzz.run.messages.seed_jobs import RunJob

SOURCE = "import torch\ndef program(x): return x.sum()\ndef inputs(rng): yield (rng.normal(500),)\n"

FIRST = THRESHOLDS.samples[0]


def subject(number: int = 0) -> LoadedVariant:
    program = recognise(SOURCE, "seed.py")
    loaded = Loaded(program)
    calls = loaded.calls(0)
    return LoadedVariant(number, original(program), loaded, calls, observe(loaded.instance, calls))


def judge_of(start: LoadedVariant) -> CellJudge:
    job = RunJob(program=start.variant.program, rules=(), depth=1, variants=0, configs=())
    return CellJudge(job, StageTimer(lambda event: None), start)


def verdict(judge: CellJudge, one: LoadedVariant, change: Any) -> VerdictKind:
    """The verdict on a compiled run that gives the result of ``change(x)``."""
    compiled = observe(lambda: change, one.calls)
    compare = partial(_compare_compiled, one.eager, compiled, DEFAULT_CHECKS)
    judged, explained = judge._verdict_on_cell(compare, one, one.eager, compiled)
    judge.explained.update(explained)
    return judged.kind


def rounded(x: torch.Tensor) -> torch.Tensor:
    """Another order of the same sum."""
    total = torch.zeros(())
    for number in x:
        total = total + number
    return total


def wrong(x: torch.Tensor) -> torch.Tensor:
    return x.sum() * 1.01


def test_equal_numbers_need_no_reference():
    start = subject()
    assert verdict(judge_of(start), start, lambda x: x.sum()) is VerdictKind.AGREE
    assert not start.has_reference(1)


def test_numbers_of_another_cell_that_agrees_need_no_reference():
    start, other = subject(), subject(1)
    judge = judge_of(start)
    assert not torch.equal(rounded(*start.calls[0].args), start.eager.calls[0].outputs[0][1])
    assert verdict(judge, start, rounded) is VerdictKind.AGREE
    assert start.has_reference(FIRST)
    assert verdict(judge, other, rounded) is VerdictKind.AGREE
    assert not other.has_reference(1)


def test_numbers_that_are_wrong_explain_no_others():
    start, other = subject(), subject(1)
    judge = judge_of(start)
    assert verdict(judge, start, wrong) is VerdictKind.WRONG_RESULT
    assert verdict(judge, other, wrong) is VerdictKind.WRONG_RESULT
    assert judge.explained == set()


def test_variants_inherit_explanations_but_no_claims():
    start, agreeing, differing = subject(), subject(1), subject(2)
    judge = judge_of(start)
    judge.measure_start()
    assert start.has_reference(FIRST)
    assert verdict(judge, agreeing, rounded) is VerdictKind.AGREE
    assert not agreeing.has_reference(1)
    assert verdict(judge, differing, wrong) is VerdictKind.WRONG_RESULT
    assert differing.has_reference(THRESHOLDS.samples[-1])


def test_a_variant_with_other_numbers_in_eager_inherits_nothing():
    start, variant = subject(), subject(1)
    variant.eager = observe(lambda: rounded, variant.calls)
    judge = judge_of(start)
    judge.measure_start()
    assert judge._reference_of_start(variant) is None


@pytest.mark.parametrize(("numbers", "further"), [(1, 0), (2, 1), (5, 4)])
def test_calls_whose_values_exceed_the_memory_are_left_out(monkeypatch, numbers: int, further: int):
    monkeypatch.setattr(session, "_MOST_NUMBERS", numbers)
    eager = observe(lambda: torch.sum, subject().calls[:1])
    monkeypatch.setattr(session, "numbers_in", lambda call: 1)
    assert session._further_calls(eager) == further
    assert session.is_large(eager) == (further == 0)
