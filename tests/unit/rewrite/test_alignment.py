"""A copy of a view that begins off the 64-byte boundary is aligned, and matrix products round by alignment."""

import textwrap

import pytest

from eqfuzz.oracle.compare.eager_judge import judge_rewrite
from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.oracle.observe.observer import observe
from eqfuzz.oracle.reference.error_bound import reference
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.rewrite.derivation import apply, original
from eqfuzz.rewrite.facts.probe import take_facts
from eqfuzz.rewrite.rules.exactness import Exactness
from eqfuzz.rewrite.rules.library import shipped_rules
from eqfuzz.rewrite.rules.selection import select
from eqfuzz.rewrite.site import sites_of
from eqfuzz.rewrite.source.syntax import Syntax

ROWS = """
    import torch
    def program(x, w):
        row = x[{start}:{stop}]
        return row @ w
    def inputs(rng): yield rng.{draw}, rng.{weights}
"""


def variants(source: str):
    """The program, and its variants with a copy in the place of ``row``."""
    program = recognise(textwrap.dedent(source), "seed.py")
    loaded, syntax = Loaded(program), Syntax(program.source)
    calls = loaded.calls(0)
    sites = sites_of(syntax, take_facts(program, syntax, calls), select(shipped_rules(), "layout/cloned"))
    rewritten = [
        apply(original(program), [site]) for site in sites if site.before == "row" or site.before.startswith("x[")
    ]
    assert rewritten
    return loaded, calls, rewritten


def rows(start: int, stop: int, draw: str = "normal(8, 6)", weights: str = "normal(6, 40)") -> str:
    return ROWS.format(start=start, stop=stop, draw=draw, weights=weights)


@pytest.mark.parametrize("start", [1, 2, 3, 5])
def test_a_copy_of_a_view_off_the_boundary_may_round_differently_later(start):
    loaded, calls, rewritten = variants(rows(start, start + 3))
    plain = observe(loaded.instance, calls)
    bounds = reference(loaded.instance, calls, seed=0, samples=8)
    for variant in rewritten:
        assert variant.exactness is Exactness.ULP
        other = Loaded(variant.program)
        copied = observe(other.instance, calls)
        verdict = judge_rewrite(plain, copied, bounds, reference(other.instance, calls, seed=0, samples=8), "ulp")
        assert verdict.kind is VerdictKind.AGREE, verdict.message


def test_an_aligned_view_and_whole_numbers_stay_exact():
    _, _, aligned = variants(rows(0, 3))
    _, _, whole = variants(rows(1, 4, "integers(0, 9, 8, 6)", "integers(0, 9, 6, 40)"))
    assert {variant.exactness for variant in (*aligned, *whole)} == {Exactness.BITWISE}
