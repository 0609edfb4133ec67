"""Measures the compile depth of a rule: both sides of its examples are compiled up to the code and compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import torch

from eqfuzz.program.call import Call
from eqfuzz.rewrite.derivation import CannotRewrite, apply, original
from eqfuzz.rewrite.proof.equivalence import Values
from eqfuzz.rewrite.proof.example import Example, examples_of
from eqfuzz.rewrite.proof.proof import operands, sites_on, undisturbed
from eqfuzz.rewrite.rules.compile_depth import CompileStage
from eqfuzz.rewrite.rules.rule import Rule
from eqfuzz.rewrite.rules.user_rules import rules_for_children
from eqfuzz.run.coverage.compile_stages import NotCompiled, last_difference, stages
from eqfuzz.run.messages.job import Emit, JobTarget, StageEntered
from eqfuzz.run.messages.rule_jobs import CompileDepthJob, CompileDepthMeasured

DRAWS = 2
"""Sets of operands per example; the depth is the largest that any of them gives."""

EXAMPLES = 8
"""Maximal number of examples, spread over all that the rule has."""

SECONDS = 300.0
"""Wall limit of one measurement; most take less than one second."""

_ELEMENTS = 4
"""Inductor compiles smaller tensors in other ways."""


@dataclasses.dataclass(frozen=True)
class CompileDepthResult:
    """The compile depth of a rule, or why it could not be measured."""

    rule: Rule
    level: CompileStage | None
    reason: str = ""


def run_measurement(job: CompileDepthJob, emit: Emit) -> None:
    """Measure the rule and report ``CompileDepthMeasured``."""
    emit(StageEntered(stage="survival", seconds=SECONDS))
    result = measure(rules_for_children(job.rules_from)[job.rule])
    level = result.level.word if result.level is not None else None
    emit(CompileDepthMeasured(level=level, reason=result.reason))


def measure(rule: Rule) -> CompileDepthResult:
    """Compile both sides of the rule's examples up to the code, in this process; no kernel is built or run."""
    levels: list[CompileStage] = []
    reasons: list[str] = []
    examples = examples_of(rule)
    with undisturbed():
        for example in examples[:: max(1, len(examples) // EXAMPLES)][:EXAMPLES]:
            for values in _ordinary(example, rule.name):
                try:
                    levels += _levels(rule, example, values)
                except NotCompiled as error:
                    reasons.append(str(error))
    if levels:
        return CompileDepthResult(rule, max(levels))
    return CompileDepthResult(rule, None, reasons[0] if reasons else "no operands of ordinary size, or no site on them")


def _ordinary(example: Example, name: str) -> Iterator[Values]:
    """A few operands with several elements, without gradients."""
    count = 0
    for values in operands(example, name, 40):
        sizes = [v.numel() for v in values.values() if isinstance(v, torch.Tensor)]
        if sizes and min(sizes) >= _ELEMENTS:
            yield {name: v.detach() if isinstance(v, torch.Tensor) else v for name, v in values.items()}
            count += 1
        if count == DRAWS:
            return


def _levels(rule: Rule, example: Example, values: Values) -> Iterator[CompileStage]:
    sites, _ = sites_on(rule, example, values)
    if not sites:
        return
    call = Call((), values)
    left = stages(example.program, call)
    for site in sites[:2]:
        try:
            variant = apply(original(example.program), [site])
        except CannotRewrite:  # the proof reports it
            continue
        yield last_difference(left, stages(variant.program, call))


TARGET = JobTarget({CompileDepthJob: run_measurement})
