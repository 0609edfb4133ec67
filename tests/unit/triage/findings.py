"""A finding to test with."""

import dataclasses
from typing import Any

from eqfuzz.oracle.compare.verdict import Evidence, Verdict, VerdictKind
from eqfuzz.program.formats import recognise
from eqfuzz.rewrite.rewrite_step import RewriteStep
from eqfuzz.triage.findings.finding import Finding, finding_id
from eqfuzz.triage.findings.finding_environment import FindingEnvironment
from eqfuzz.triage.findings.stage import Ablation

SOURCE = "def program(x):\n    return x + 1\n\n\ndef inputs(rng):\n    yield rng.normal(3)\n"


def finding_of(
    kind: VerdictKind = VerdictKind.WRONG_RESULT, rules: tuple[str, ...] = (), source: str = SOURCE, **changed: Any
) -> Finding:
    """``changed`` are fields of the finding, and ``message`` and ``evidence`` of its verdict."""
    program = recognise(source, "seeds/some.py")
    evidence = changed.pop("evidence", Evidence(0, "output", (1, 2), 1.0, 2.0, 1.0, 1e-6))
    verdict = Verdict(kind, changed.pop("message", "it differs"), evidence)
    verdicts = {"eager": "agree", "aot_eager": str(kind), "aot_eager_decomp_partition": str(kind)}
    finding = Finding(
        id=finding_id(program, program, verdict, "cpu", {"rules": rules}, "plain"),
        original=program,
        transformed=program,
        derivation=tuple(RewriteStep(rule, 2, "x + 1", "1 + x") for rule in rules),
        verdict=verdict,
        device="cpu",
        config="inductor",
        settings={},
        cells={"P": "runs", "C(P)": "agree", "P'": "equals P (bitwise)", "C(P')": str(kind)}
        if rules
        else {"P": "runs", "C(P)": str(kind)},
        also=0,
        environment=FindingEnvironment(),
        ablation=Ablation(str(kind), "inductor", verdicts),
    )
    return dataclasses.replace(finding, **changed)
