"""Events built by hand: a whole small run, for the handlers' tests."""

from __future__ import annotations

from eqfuzz.events.event import Event
from eqfuzz.events.run import (
    CellJudged,
    FindingReported,
    InvalidReason,
    RuleTally,
    RunStarted,
    SeedDone,
    SeedInvalid,
    SeedRewritten,
    SeedStarted,
    Summary,
)
from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.program.program import Program, SeedFormat
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.finding_environment import FindingEnvironment

SOURCE = '''"""Brightness of an image after a gamma curve."""

import torch


def shade(image, amount):
    scaled = image * amount
    return scaled.clamp(min=0.0)


def program(image, amount):
    shaded = shade(image, amount)
    curve = shaded ** 0.5 + amount
    if curve.mean() > 0.5:
        curve = curve - 0.5
    return curve.sum(dim=-1), curve.amax()


def inputs(rng):
    yield rng.uniform(8, 16), 0.75
'''

POW = RewriteStep("operators/pow_half_is_sqrt", 13, "shaded ** 0.5", "torch.sqrt(shaded)")
LAMBDA = RewriteStep("functions/called_lambda", 8, "scaled.clamp(min=0.0)", "(lambda: scaled.clamp(min=0.0))()")
CLAMP = RewriteStep(
    "operators/clamp_min_is_where",
    8,
    "scaled.clamp(min=0.0)",
    "torch.where(scaled < 0.0, torch.zeros_like(scaled), scaled)",
)


def program(source: str = SOURCE, name: str = "seeds/handwritten/arithmetic/gamma_curve.py") -> Program:
    return Program(name, source, SeedFormat.EQFUZZ, "program", "program", "inputs(rng)")


def rewritten(*steps: RewriteStep, source: str = SOURCE) -> str:
    for step in steps:
        source = source.replace(step.before, step.after)
    return source


EVIDENCE = Evidence(
    call=0,
    path="output[0]",
    index=(3, 11),
    eager=4.25,
    compiled=float("nan"),
    reference=4.250000123,
    allowed=3.1e-6,
    wrong_elements=3,
    elements=1024,
    unstable_elements=5,
)


def finding(
    *steps: RewriteStep,
    kind: VerdictKind = VerdictKind.WRONG_RESULT,
    evidence: Evidence | None = EVIDENCE,
    message: str = "output[0] differs: compiled nan, reference 4.250000123",
    also: int = 0,
) -> Finding:
    cells = {"P": "runs", "C(P)": "agree" if steps else str(kind)}
    if steps:
        cells |= {"P'": "equals P (bitwise)", "C(P')": str(kind)}
    return Finding(
        id="1f2e3d4c5b" if steps else "00aa11bb22",
        original=program(),
        transformed=program(rewritten(*steps)),
        derivation=steps,
        verdict=Verdict(kind, message, evidence),
        device="cpu",
        config="inductor",
        settings={"name": "inductor"},
        cells=cells,
        also=also,
        environment=FindingEnvironment(torch="2.13.0", build="cpu", seed=0),
    )


def finding_event(finding: Finding, index: int = 0, is_known: bool = False) -> FindingReported:
    return FindingReported(index=index, finding=finding, folder=f"eqfuzz-out/findings/{finding.id}", known=is_known)


def started(seeds: int = 3) -> RunStarted:
    return RunStarted(
        seed=7,
        seeds=seeds,
        strategy="each",
        rules=49,
        devices=["cpu"],
        configs=["inductor"],
        jobs=2,
        runner="fast",
        out="eqfuzz-out",
        versions={"eqfuzz": "0.1.0", "torch": "2.13.0", "build": "cpu", "python": "3.11.9"},
    )


def cell(
    index: int, variant: int, kind: VerdictKind = VerdictKind.AGREE, evidence: Evidence | None = None
) -> CellJudged:
    rules = [POW.rule] if variant else []
    return CellJudged(
        index=index,
        seed=f"seed{index}.py",
        variant=variant,
        rules=rules,
        device="cpu",
        config="inductor",
        verdict=Verdict(kind, f"it is {kind}", evidence),
        seconds=0.5,
    )


def done(index: int) -> SeedDone:
    return SeedDone(
        index=index,
        seed=f"seed{index}.py",
        seconds=1.5,
        cpu_seconds=1.25,
        timings={"load": 0.1, "eager": 0.02, "compile": 1.25},
    )


AUTOGRAD = "raises in eager: RuntimeError: Unable to handle autograd's threading"


def invalid(groups: int) -> dict[str, object]:
    """What the summary of 22 seeds has of so many reasons, the first of 6 seeds, all others of one each."""
    first = InvalidReason(reason=AUTOGRAD, count=6, seeds=["a.py", "b.py"], place="a.py")
    others = [
        InvalidReason(reason=f"odd\x1b thing {n}", count=1, seeds=[f"s{n}.py"], place=f"s{n}.py:{n}")
        for n in range(1, groups)
    ]
    return {"seeds": 22, "invalid": 5 + groups, "invalid_reasons": [first, *others]}


def summary(**changed: object) -> Summary:
    fields: dict[str, object] = {
        "seed": 7,
        "seeds": 3,
        "invalid": 1,
        "sites": 31,
        "variants": 12,
        "cells": 14,
        "erased": 5,
        "verdicts": {"agree": 12, "invalid-seed": 1, "wrong-result": 2},
        "findings": 2,
        "rules": {
            "operators/add_function": RuleTally(variants=3, verdicts={"agree": 3}),
            POW.rule: RuleTally(variants=9, verdicts={"agree": 8, "wrong-result": 1}),
        },
        "errors": [],
        "interrupted": False,
        "out_of_time": False,
        "seconds": 61.5,
        "cpu_seconds": 100.25,
        "peak_mb": 640,
        "buckets": 1,
        "invalid_reasons": [
            InvalidReason(reason="no inputs: define `inputs(rng)`", count=1, seeds=["seed1.py"], place="seed1.py:3"),
        ],
    }
    return Summary(**{**fields, **changed})


def whole_run() -> list[Event]:
    """Three seeds, the second invalid, two findings; in an order that two jobs may produce."""
    return [
        started(),
        SeedStarted(index=0, seed="seed0.py"),
        SeedStarted(index=1, seed="seed1.py"),
        SeedInvalid(index=1, seed="seed1.py", reason="seed1.py:3: no inputs: define `inputs(rng)`"),
        done(1),
        SeedStarted(index=2, seed="seed2.py"),
        SeedRewritten(index=0, seed="seed0.py", sites=20, variants=8, cells=9),
        SeedRewritten(index=2, seed="seed2.py", sites=11, variants=4, cells=5),
        cell(2, 0),
        cell(0, 0),
        cell(0, 1, VerdictKind.WRONG_RESULT, EVIDENCE),
        finding_event(finding(POW), index=0),
        cell(2, 1, VerdictKind.FLAKY),
        finding_event(finding(), index=2),
        done(2),
        done(0),
        summary(),
    ]
