"""Cases about a finding: its program looked at once more, as the run called it."""

from __future__ import annotations

from typing import Any, Literal

from eqfuzz.oracle.compare.checks import DEFAULT_CHECKS
from eqfuzz.run.configs.named import Config
from eqfuzz.run.environment import Environment
from eqfuzz.run.jobs.case import Case
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.findings.finding import Finding


def config_of(finding: Finding) -> Config:
    """The configuration that shows it."""
    return Config(**finding.settings)


def pool_for(finding: Finding, environment: Environment, *, jobs: int = 1) -> Pool:
    """Processes that can run cases about it, within its own limits. Raises RunnerFailed."""
    limits = Limits(compile_s=finding.environment.get("compile_seconds", Limits().compile_s))
    return Pool(environment, limits, jobs=jobs, cuda=finding.device == "cuda")


def case_about(finding: Finding, job: Literal["describe", "audit", "compare", "bisect", "same"]) -> Case:
    """A case that looks at the finding's program on the calls up to the finding's, under its configuration."""
    made: dict[str, Any] = finding.environment
    evidence = finding.verdict.evidence
    limits = Limits()
    return Case(
        program=finding.original,
        seed=made.get("seed", 0),
        rules=(),
        strategy="none",
        depth=1,
        variants=0,
        devices=(finding.device,),
        configs=(config_of(finding),),
        load_seconds=limits.load_s,
        eager_seconds=limits.eager_s,
        compile_seconds=made.get("compile_seconds", limits.compile_s),
        checks=tuple(made.get("checks", DEFAULT_CHECKS)),
        steps=made.get("steps", 1),
        input_sets=made.get("input_sets", 0),
        rules_from=tuple(made.get("rules_from", ())),
        job=job,
        transformed=finding.transformed.source if finding.derivation else "",
        described=evidence.call + 1 if evidence is not None else 0,
    )
