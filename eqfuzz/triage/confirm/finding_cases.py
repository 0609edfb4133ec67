"""Cases about a finding: its program looked at once more, as the run called it."""

from __future__ import annotations

from typing import Literal

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
    limits = Limits(compile_s=finding.environment.compile_seconds)
    return Pool(environment, limits, jobs=jobs, cuda=finding.device == "cuda")


def case_about(finding: Finding, job: Literal["describe", "audit", "compare", "bisect", "same"]) -> Case:
    """A case that looks at the finding's program on the calls up to the finding's, under its configuration."""
    environment = finding.environment
    limits = Limits()
    return Case(
        program=finding.original,
        seed=environment.seed,
        rules=(),
        strategy="none",
        depth=1,
        variants=0,
        devices=(finding.device,),
        configs=(config_of(finding),),
        load_seconds=limits.load_s,
        eager_seconds=limits.eager_s,
        compile_seconds=environment.compile_seconds,
        checks=environment.checks,
        steps=environment.steps,
        input_sets=environment.input_sets,
        rules_from=environment.rules_from,
        job=job,
        transformed=finding.transformed.source if finding.derivation else "",
        described=finding.call + 1 if finding.verdict.evidence is not None else 0,
    )
