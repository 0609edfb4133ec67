"""The reducer's loop ends when no smaller candidate fails, runs nothing twice and resumes after an interrupt."""

import ast
import json
import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from planted import Finder, visible_fault

from eqfuzz.program.formats import read_program, recognise
from eqfuzz.program.program import Program
from eqfuzz.triage.reduce.passes import PASSES
from eqfuzz.triage.reduce.reducer import ReductionStep, digest, reduce_program
from eqfuzz.triage.reduce.size import size
from eqfuzz.triage.reduce.source_tree import SourceTree

SEEDS = Path(__file__).parents[4] / "seeds"
SOURCE = '''\
"""A chain and some company."""

import torch

SCALE = 2.5


def helper(t):
    return t * SCALE


def program(x, y):
    a = torch.relu(x) + helper(y)
    b = torch.amin(a * 3, dim=0)
    if y.sum() > 0:
        b = b + 1
    c = {"b": b.get("key"), "sum": a.sum()}
    return a, b, c


def inputs(rng):
    yield rng.normal(4, 7), rng.normal(7)
    yield rng.normal(2, 3), rng.normal(3)
'''


class Counting:
    """Shows it where the text still holds some word; keeps what it was asked."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.asked: list[str] = []

    def __call__(self, batch: Sequence[Program]) -> Program | None:
        for program in batch:
            self.asked.append(digest(program))
            if self.word in program.source:
                return program
        return None


@pytest.mark.parametrize("width", [1, 3])
def test_failing_code_is_left(width):
    queries = Counting(".get(")
    small = reduce_program(recognise(SOURCE, "example"), queries, width=width)
    assert ".get(" in small.source
    assert size(small).statements <= 5
    assert len(queries.asked) == len(set(queries.asked))


def test_no_pass_has_a_smaller_candidate_at_the_end():
    small = reduce_program(recognise(SOURCE, "example"), Counting("amin"))
    left = [c for p in PASSES for c in p(small) if "amin" in c.source]
    assert not left


def test_reduction_is_deterministic():
    first, second = (Counting("amin") for _ in range(2))
    original = recognise(SOURCE, "example")
    assert reduce_program(original, first) == reduce_program(original, second)
    assert first.asked == second.asked


def test_interrupted_reduction_resumes():
    original = recognise(SOURCE, "example")
    whole = Counting("amin")
    wanted = reduce_program(original, whole)
    answers: dict[str, bool] = {}
    first = Counting("amin")
    reduce_program(original, first, answers=answers, stop=lambda: len(first.asked) >= 7)
    answers = json.loads(json.dumps(answers))
    second = Counting("amin")
    assert reduce_program(original, second, answers=answers) == wanted
    assert not set(first.asked) & set(second.asked)
    assert len(first.asked) + len(second.asked) == len(whole.asked)


def test_reduction_stops_on_request():
    queries = Counting("amin")
    original = recognise(SOURCE, "example")
    assert reduce_program(original, queries, stop=lambda: True) == original
    assert not queries.asked


def test_steps_are_reported():
    steps: list[ReductionStep] = []
    original = recognise(SOURCE, "example")
    small = reduce_program(original, Counting("amin"), report=steps.append)
    assert steps[0].before == size(original)
    assert steps[-1].tries <= len(steps)
    assert all(later.before == earlier.after for earlier, later in pairwise(steps))
    assert steps[-1].program == small


def test_program_without_failing_candidates_is_unchanged():
    original = recognise(SOURCE, "example")
    left = reduce_program(original, lambda _: None, passes=PASSES[:6])
    assert ast.dump(ast.parse(left.source)) == ast.dump(ast.parse(original.source))


def _reduced(path: Path) -> tuple[int, int] | None:
    """Tries, and statements of the entry, for a fault planted in one function that the seed calls."""
    program = read_program(path)
    fault = visible_fault(program)
    if fault is None:
        return None
    finder = Finder(fault)
    entry = SourceTree(reduce_program(program, finder)).entry
    assert entry is not None
    return len(finder.asked), sum(isinstance(n, ast.stmt) for n in ast.walk(entry)) - 1


@pytest.mark.parametrize("name", ["arithmetic_with_scalars", "views_and_rearrangements", "state_of_python"])
def test_catalogue_is_reduced_to_the_planted_fault(name):
    result = _reduced(SEEDS / "handwritten" / "catalogues" / f"{name}.py")
    assert result is not None
    assert result[0] <= 60
    assert result[1] <= 3


@pytest.mark.long
def test_planted_faults_take_few_tries():
    measured = [_reduced(p) for p in sorted((SEEDS / "handwritten").rglob("*.py"))]
    tries, statements = zip(*(m for m in measured if m is not None), strict=True)
    print("tries", sorted(tries), "statements", sorted(statements))
    assert statistics.median(statements) <= 2
    assert statistics.median(tries) <= 40
    assert statistics.quantiles(tries, n=10)[-1] <= 120
