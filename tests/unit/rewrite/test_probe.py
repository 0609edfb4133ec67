"""The probe records without disturbing, and leaves alone what cannot be wrapped."""

import textwrap

import pytest
import torch

from eqfuzz.program.call import Call
from eqfuzz.program.formats import recognise
from eqfuzz.program.load import Loaded
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.facts.probe import RECORDER, Probe, instrument, take_facts
from eqfuzz.rewrite.source.syntax import Syntax

HARD = '''
"""Everything that must not be wrapped."""
import dataclasses
import torch
import torch.nn as nn

@dataclasses.dataclass
class Pair:
    a: torch.Tensor
    b: int = 1 + 1

COUNT = 0

def helper(x, *rest, scale: float = 2.0 * 1, **options):
    global COUNT
    COUNT += 1
    return x * scale + sum(rest) + options.get("bias", 0)

def numbers(n):
    for i in range(n):
        received = yield i
    return None

class Base(nn.Module):
    def forward(self, x):
        return x + 1

class Program(Base):
    def __init__(self):
        super().__init__()
        self.__hidden = 3

    @torch.no_grad()
    def decorated(self, x):
        return x * 2

    def forward(self, x, y):
        z = super().forward(x) * self.__hidden
        first, *others = z, y
        if 0 < x.shape[0] <= 10 and not x.isnan().any():
            z[0, 1:] += y[0, 1:]
        with torch.no_grad() as nothing:
            w = (n := x.shape[0]) + helper(x, 1, 2, bias=1).sum()
        total = 0
        for i, v in enumerate(t * 2 for t in x):
            total = total + v * i
            if i > 2:
                continue
        else:
            total += 1
        try:
            raise ValueError(f"{x.shape!r:>10} {total.sum().item():.2f}")
        except (ValueError, KeyError) as error:
            text = str(error) + "a" "b"
        key = lambda q, r=1: q + r
        d = {"k": z, **{"m": y}}
        del text
        chosen = [v ** 2 for v in (z, y) if v.dim() > 1]
        a = b = z if n > 1 else y
        assert a is b, "same"
        return Pair(a=d["k"] @ y.t(), b=key(n)), *others, chosen, list(numbers(3)), self.decorated(w)

def inputs(rng):
    yield rng.normal(4, 3), rng.normal(4, 3)
'''


def build(source: str):
    program = recognise(textwrap.dedent(source), "seed.py")
    return program, Loaded(program), Syntax(program.source)


def test_hard_constructs_run_the_same_and_keep_their_lines():
    program, loaded, syntax = build(HARD)
    calls = loaded.calls(0)
    probe = Probe(program, syntax)
    plain = loaded.instance()(*calls[0].copy().args)
    seen = probe.instance()(*calls[0].copy().args)
    assert torch.equal(plain[0].a, seen[0].a)
    assert plain[0].b == seen[0].b
    assert plain[3] == seen[3]
    assert all(torch.equal(p, q) for p, q in zip(plain[2], seen[2], strict=True))
    assert instrument(syntax).count("\n") == program.source.count("\n")
    facts = probe.facts()
    recorded = {syntax.text[slice(*e.span)] for e in syntax.expressions if facts.at(e.span)}
    assert {"x * scale", "helper(x, 1, 2, bias=1)", "v ** 2", "0 < x.shape[0] <= 10", "y.t()"} <= recorded


def test_code_outside_of_the_program_is_not_probed():
    _, _, syntax = build(HARD)
    texts = {syntax.text[slice(*e.span)] for e in syntax.expressions}
    assert "2.0 * 1" not in texts
    assert "1 + 1" not in texts
    assert "rng.normal(4, 3)" not in texts
    assert RECORDER not in syntax.text


def test_facts_of_a_loop_are_one_per_visit():
    program, loaded, syntax = build(
        """
        import torch
        def program(x):
            for i in range(1, 4):
                x = x * i
            return x
        def inputs(rng):
            yield rng.integers(1, 5, 2, 2)
            yield rng.integers(1, 5, 7)
        """
    )
    facts = take_facts(program, syntax, loaded.calls(0))
    by_text = {syntax.text[slice(*e.span)]: facts.at(e.span) for e in syntax.expressions}
    assert [f.value for f in by_text["i"]] == [1, 2, 3, 1, 2, 3]
    assert [f.shape for f in by_text["x * i"]] == [(2, 2)] * 3 + [(7,)] * 3


def test_facts_mark_tensors_that_are_written_to_later():
    program, loaded, syntax = build(
        """
        import torch
        def program(x):
            y = x + 1
            z = y.view(-1)
            w = x * 2
            z[0] = 5
            return y + w
        def inputs(rng): yield rng.normal(3, 3)
        """
    )
    facts = take_facts(program, syntax, loaded.calls(0))
    by_text = {syntax.text[slice(*e.span)]: facts.at(e.span)[0] for e in syntax.expressions}
    assert by_text["x + 1"].mutated
    assert by_text["y.view(-1)"].mutated
    assert not by_text["x * 2"].mutated


def test_facts_have_the_values_of_expressions():
    program, loaded, syntax = build(
        """
        import torch
        def program(x, k):
            a = x * k
            return torch.log(a) + x.shape[0]
        def inputs(rng): yield torch.tensor([-0.0, 1.0, float("inf")], requires_grad=True), 3
        """
    )
    facts = take_facts(program, syntax, loaded.calls(0))
    by_text = {syntax.text[slice(*e.span)]: facts.at(e.span)[0] for e in syntax.expressions}
    x = by_text["x"]
    assert x.has_inf
    assert x.has_negative_zero
    assert not x.has_nan
    assert (x.low, x.high) == (0.0, 1.0)
    assert x.needs_grad
    assert by_text["k"].value == 3
    assert by_text["x.shape[0]"].value == 3
    assert by_text["torch.log(a)"].has_inf


@pytest.mark.parametrize(
    "call", ["jvp(lambda t: t * y, (x,), (x,))[1]", "grad(lambda t: (t * y).sum())(x)", "vmap(lambda t: t * y)(x)"]
)
def test_plain_tensors_inside_transforms_do_not_stop_the_probe(call: str):
    source = f"import torch\ndef program(x, y):\n    return torch.func.{call}\n"
    program = Program("test", source, SeedFormat.EQFUZZ, "program", "program", "None")
    syntax = Syntax(source)
    facts = take_facts(program, syntax, [Call((torch.rand(3), torch.rand(3)), {})])
    for expression in syntax.expressions:
        if syntax.text_of(expression.node) == "x":
            assert all(fact.is_tensor for fact in facts.at(expression.span))
        if syntax.text_of(expression.node) == "t":
            assert not any(fact.is_tensor for fact in facts.at(expression.span))


def test_probe_keeps_an_overridden_class_attribute():
    source = textwrap.dedent("""
        class StandIn:
            def __init__(self, value):
                self.value = value

            @property
            def __class__(self):
                return type(self.value)

        def program(x):
            one = StandIn(0.5)
            return x * one.value + isinstance(one, float)

        def inputs(rng):
            yield (rng.normal(3),)
    """)
    program = recognise(source, "stand_in.py")
    facts = take_facts(program, Syntax(source), [Call((torch.ones(3),), {})])
    expression = "isinstance(one, float)"
    assert facts.at((source.index(expression), source.index(expression) + len(expression)))[0].value is True
