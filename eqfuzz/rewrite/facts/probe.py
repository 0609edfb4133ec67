"""The probe: the program with every expression recorded, run once in eager. Runs seed code."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch

from eqfuzz.program.call import Call
from eqfuzz.program.load import STATE_SEED, Loaded, reseed
from eqfuzz.program.program import Program
from eqfuzz.rewrite.facts.fact import Fact, fact_of
from eqfuzz.rewrite.source.syntax import Span, Syntax
from eqfuzz.torch_internals.tensors import version

RECORDER = "__eqfuzz_record__"
MAX_VISITS = 256
"""An expression that ran more often than this has no facts: its sites are passed over."""


class Facts:
    """What each expression of a program was seen to be: span → one fact per visit, over all input sets."""

    def __init__(self, visits: dict[Span, list[Fact]]) -> None:
        self._visits = visits

    def at(self, span: Span) -> Sequence[Fact]:
        """The facts in order of evaluation; empty when it never ran or ran too often."""
        visits = self._visits.get(span, [])
        return visits if len(visits) <= MAX_VISITS else ()

    def __len__(self) -> int:
        return len(self._visits)


def instrument(syntax: Syntax) -> str:
    """The source text with every expression wrapped in a call that records its value; same line numbers."""
    edits: list[tuple[int, int, int, str]] = []
    for number, expression in enumerate(syntax.expressions):
        start, end = expression.span
        edits.append((start, 1, -end, f"{RECORDER}({number}, "))
        edits.append((end, 0, -start, ")"))
    # At one offset: closings first, inner before outer; then openings, outer before inner.
    edits.sort(key=lambda e: (e[0], e[1], e[2]))
    pieces: list[str] = []
    position = 0
    for offset, _, _, text in edits:
        pieces += (syntax.text[position:offset], text)
        position = offset
    pieces.append(syntax.text[position:])
    return "".join(pieces)


class Probe:
    """A program loaded with every expression recorded; run ``instance()`` like any other and then ask ``facts()``."""

    def __init__(self, program: Program, syntax: Syntax) -> None:
        self._recorder = _Recorder(syntax)
        instrumented = dataclasses.replace(program, source=instrument(syntax))
        self._loaded = Loaded(instrumented, {RECORDER: self._recorder.record})

    def instance(self) -> Callable[..., Any]:
        """A fresh instrumented callable."""
        return self._loaded.instance()

    def facts(self) -> Facts:
        """What was seen in all calls so far; call it once, after the last."""
        self._recorder.settle()
        return Facts(self._recorder.visits)


def take_facts(program: Program, syntax: Syntax, calls: Sequence[Call]) -> Facts:
    """The facts of one eager run over ``calls``. Raises whatever the program raises."""
    probe = Probe(program, syntax)
    instance = probe.instance()
    for number, call in enumerate(calls):
        mine = call.copy()
        reseed(STATE_SEED + number)
        instance(*mine.args, **mine.kwargs)
    return probe.facts()


@dataclasses.dataclass
class _Recorder:
    """Facts are copied at once, since tensors change later; whether they did is known from the version counter."""

    syntax: Syntax

    def __post_init__(self) -> None:
        self.visits: dict[Span, list[Fact]] = {}
        self._watched: list[tuple[Span, int, torch.Tensor, int]] = []
        self._is_looking = False

    def record(self, number: int, value: Any) -> Any:
        if torch.compiler.is_compiling():
            return value  # torch.cond traces its branches in eager too; there are no values to see
        if self._is_looking:
            return value  # the value is an object whose own code answers, for its class say
        span = self.syntax.expressions[number].span
        visits = self.visits.setdefault(span, [])
        if len(visits) > MAX_VISITS:
            return value
        self._is_looking = True
        try:
            fact = fact_of(value)
        finally:
            self._is_looking = False
        if fact.is_tensor and not value.is_inference():
            self._watched.append((span, len(visits), value, version(value)))
        visits.append(fact)
        return value

    def settle(self) -> None:
        """After the last call: mark what was written to since it was seen."""
        for span, index, tensor, seen in self._watched:
            if version(tensor) != seen:
                visits = self.visits[span]
                visits[index] = dataclasses.replace(visits[index], mutated=True)
        self._watched.clear()
