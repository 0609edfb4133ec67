"""Jobs about a finding: its program is run again, called as it was."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.configs.named import Config
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.messages.finding_jobs import VariantJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.findings.finding import Finding

J = TypeVar("J", bound=VariantJob[Any])


def config_of(finding: Finding) -> Config:
    """The configuration of the finding."""
    return Config(**finding.settings)


def pool_for(finding: Finding, environment: Environment, *, jobs: int = 1) -> Pool:
    """Processes that run jobs about the finding, with its own time limits. Raises RunnerFailed."""
    limits = Limits(compile_s=finding.environment.compile_seconds)
    return Pool(environment, limits, jobs=jobs, cuda=finding.device == "cuda")


def with_less_time(finding: Finding) -> Finding:
    """For analyses: a hang gets less time to compile, since most programs that they run hang too."""
    if finding.verdict.kind is not VerdictKind.HANG:
        return finding
    return with_seconds(finding, Limits(compile_s=finding.environment.compile_seconds).after_hang().compile_s)


def with_seconds(finding: Finding, compile_seconds: float) -> Finding:
    """The finding with at most so many seconds to compile."""
    seconds = min(compile_seconds, finding.environment.compile_seconds)
    environment = finding.environment.model_copy(update={"compile_seconds": seconds})
    return dataclasses.replace(finding, environment=environment)


def job_about(kind: type[J], finding: Finding) -> J:
    """A job of this ``kind`` for the finding's program, on the calls up to the failing one, under its configuration."""
    environment = finding.environment
    return kind(
        program=finding.original,
        seed=environment.seed,
        limits=Limits(compile_s=environment.compile_seconds),
        checks=environment.checks,
        steps=environment.steps,
        input_sets=environment.input_sets,
        rules_from=environment.rules_from,
        device=finding.device,
        configs=(config_of(finding),),
        transformed=finding.transformed.source if finding.derivation else "",
        calls=finding.call + 1 if finding.verdict.evidence is not None else 0,
    )
