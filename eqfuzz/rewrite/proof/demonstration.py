"""A rule shown at work: really applied to its own example, on operands drawn for it."""

from __future__ import annotations

import dataclasses
import random
import warnings
from collections.abc import Iterator

import torch

from eqfuzz.program.call import Call
from eqfuzz.program.load import reseed
from eqfuzz.program.program import Program
from eqfuzz.rewrite.derivation import CannotRewrite, Variant, apply, original
from eqfuzz.rewrite.facts.probe import Probe
from eqfuzz.rewrite.proof.example import Example, examples_of
from eqfuzz.rewrite.proof.operand_sampler import draw
from eqfuzz.rewrite.proof.proof import describe_operands
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.site import NearMiss, find_sites

TRIES = 12
"""Operands drawn for each example until the rule makes something of it."""

_FEW = 24
"""Elements in all operands together that are pleasant to read."""


@dataclasses.dataclass(frozen=True)
class Demonstration:
    """The example, what the rule made of it, and the operands (in words) for which it did."""

    example: Program
    variant: Variant
    operands: str


def demonstrate(rule: Rule) -> Demonstration | str:
    """The first rewrite that comes about, or why none does. Runs the rule's example; the same every time."""
    reason = "no operands meet the preconditions"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, example in enumerate(examples_of(rule)):
            for values in _small_first(rule, number, example):
                result = _applied(rule, example, values)
                if not isinstance(result, str):
                    return Demonstration(example.program, result, describe_operands(values))
                reason = result
    return reason


def _small_first(rule: Rule, number: int, example: Example) -> Iterator[dict[str, object]]:
    drawn = (draw(example, random.Random(f"{rule.name} {number} {i}")) for i in range(TRIES))
    admitted = [values for values in drawn if values is not None]
    yield from sorted(admitted, key=lambda values: not 0 < _elements(values) <= _FEW)


def _elements(values: dict[str, object]) -> int:
    return sum(v.numel() for v in values.values() if isinstance(v, torch.Tensor))


def _applied(rule: Rule, example: Example, values: dict[str, object]) -> Variant | str:
    probe = Probe(example.program, example.syntax)
    call = Call((), values).copy()
    reseed()
    probe.instance()(**call.kwargs)
    reason = "it fits nowhere in its example"
    for place in find_sites(example.syntax, probe.facts(), [rule]):
        if isinstance(place, NearMiss):
            reason = place.reason
            continue
        try:
            return apply(original(example.program), [place])
        except CannotRewrite as error:
            reason = f"the rewritten program is not valid Python: {error}"
    return reason
