"""The reducer's loop: it ends where nothing smaller shows it, asks nothing twice and goes on where it stopped."""

import ast
import json
import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from planted import Finder, guilty

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
def test_what_is_left_is_what_shows_it(width):
    asked = Counting(".get(")
    small = reduce_program(recognise(SOURCE, "example"), asked, width=width)
    assert ".get(" in small.source
    assert size(small).statements <= 5
    assert len(asked.asked) == len(set(asked.asked))


def test_no_pass_has_a_smaller_one_at_the_end():
    small = reduce_program(recognise(SOURCE, "example"), Counting("amin"))
    left = [c for p in PASSES for c in p(small) if "amin" in c.source]
    assert not left


def test_the_same_question_gives_the_same_program():
    first, second = (Counting("amin") for _ in range(2))
    given = recognise(SOURCE, "example")
    assert reduce_program(given, first) == reduce_program(given, second)
    assert first.asked == second.asked


def test_it_goes_on_where_it_stopped():
    given = recognise(SOURCE, "example")
    whole = Counting("amin")
    wanted = reduce_program(given, whole)
    answers: dict[str, bool] = {}
    first = Counting("amin")
    reduce_program(given, first, answers=answers, stop=lambda: len(first.asked) >= 7)
    answers = json.loads(json.dumps(answers))
    second = Counting("amin")
    assert reduce_program(given, second, answers=answers) == wanted
    assert not set(first.asked) & set(second.asked)
    assert len(first.asked) + len(second.asked) == len(whole.asked)


def test_it_stops_when_told():
    asked = Counting("amin")
    given = recognise(SOURCE, "example")
    assert reduce_program(given, asked, stop=lambda: True) == given
    assert not asked.asked


def test_it_tells_how_far_it_is():
    told: list[ReductionStep] = []
    given = recognise(SOURCE, "example")
    small = reduce_program(given, Counting("amin"), report=told.append)
    assert told[0].before == size(given)
    assert told[-1].tries <= len(told)
    assert all(later.before == earlier.after for earlier, later in pairwise(told))
    assert told[-1].program == small


def test_where_nothing_smaller_shows_it_the_program_is_given_back():
    given = recognise(SOURCE, "example")
    left = reduce_program(given, lambda _: None, passes=PASSES[:6])
    assert ast.dump(ast.parse(left.source)) == ast.dump(ast.parse(given.source))


def _reduced(path: Path) -> tuple[int, int] | None:
    """Tries, and statements of the entry, for a fault planted in one function that the seed calls."""
    program = read_program(path)
    fault = guilty(program)
    if fault is None:
        return None
    finder = Finder(fault)
    entry = SourceTree(reduce_program(program, finder)).entry
    assert entry is not None
    return len(finder.asked), sum(isinstance(n, ast.stmt) for n in ast.walk(entry)) - 1


@pytest.mark.parametrize("name", ["arithmetic_with_scalars", "views_and_rearrangements", "state_of_python"])
def test_a_planted_fault_is_left_alone_in_a_catalogue(name):
    found = _reduced(SEEDS / "handwritten" / "catalogues" / f"{name}.py")
    assert found is not None
    assert found[0] <= 60
    assert found[1] <= 3


@pytest.mark.long
def test_planted_faults_take_few_tries():
    measured = [_reduced(p) for p in sorted((SEEDS / "handwritten").rglob("*.py"))]
    tries, statements = zip(*(m for m in measured if m is not None), strict=True)
    print("tries", sorted(tries), "statements", sorted(statements))
    assert statistics.median(statements) <= 2
    assert statistics.median(tries) <= 40
    assert statistics.quantiles(tries, n=10)[-1] <= 120
