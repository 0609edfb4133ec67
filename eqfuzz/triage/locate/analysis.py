"""Analysis of confirmed findings: other inputs, single operators, other backends, the faulty component."""

from __future__ import annotations

import dataclasses

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.configs.named import lacks
from eqfuzz.run.messages.finding_jobs import AuditJob, CompareJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.confirm.finding_cases import config_of, job_about, with_less_time
from eqfuzz.triage.confirm.rerun import trial
from eqfuzz.triage.findings.finding import DrawCount, Finding
from eqfuzz.triage.findings.stage import Ablation, backends_below, third_opinions
from eqfuzz.triage.locate.fault_locator import FaultLocator

FURTHER_DRAWS = 2
"""How many further draws of the inputs a finding is judged on."""


class FindingAnalyser:
    """Runs the analyses that a finding's checks request and that it lacks, each in a child."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._placing = FaultLocator(pool)

    def look(self, finding: Finding) -> Finding:
        """The finding with all results. Raises RunnerFailed."""
        checks = finding.environment.checks
        if "audit" in checks and not finding.suspects:
            finding = dataclasses.replace(finding, suspects=self.suspects(finding))
        if "draws" in checks and finding.draws is None and finding.verdict.kind is not VerdictKind.HANG:
            draws = DrawCount(shown=1 + self._further_draws(finding), judged=1 + FURTHER_DRAWS)
            finding = dataclasses.replace(finding, draws=draws)
        return self.locate(finding)

    def locate(self, finding: Finding) -> Finding:
        """The finding with its stage and its fingerprint. Raises RunnerFailed."""
        checks = finding.environment.checks
        if "stage" in checks and finding.threads > 1 and not finding.one_thread:
            finding = dataclasses.replace(finding, one_thread=self._with_one_thread(finding))
        if "stage" in checks and finding.ablation is None:
            finding = dataclasses.replace(finding, ablation=self._ablation(finding))
        if "place" in checks and not finding.fingerprint:
            finding = self._placing.place(finding)
        return finding

    def suspects(self, finding: Finding) -> tuple[str, ...]:
        """The operators that are wrong by themselves, in words; none where the audit did not complete."""
        inductors = finding.device == "cpu" and config_of(finding).backend == "inductor"
        if not finding.verdict.is_about_values or not inductors:
            return ()
        audited = self._pool.ask(job_about(AuditJob, finding)).answer
        if audited is None or audited.audit is None:
            return ()
        return tuple(suspect.in_words() for suspect in audited.audit.suspects)

    def _further_draws(self, finding: Finding) -> int:
        """On how many further draws of the inputs the finding reproduces, on the stock path."""
        job = _comparison(finding)
        jobs = [dataclasses.replace(job, seed=job.seed + further) for further in range(1, 1 + FURTHER_DRAWS)]
        verdicts = [trial(self._pool, drawn).shown.get(finding.config) for drawn in jobs]
        return sum(verdict is not None and verdict.kind is finding.verdict.kind for verdict in verdicts)

    def _with_one_thread(self, finding: Finding) -> str:
        """The kind of verdict that the finding's calls get with one thread."""
        config = config_of(finding).with_one_thread()
        verdicts = trial(self._pool, dataclasses.replace(_comparison(finding), configs=(config,))).shown
        return str(verdicts[config.name].kind) if config.name in verdicts else "not judged"

    def _ablation(self, finding: Finding) -> Ablation:
        """The verdicts of the backends below the finding's own on its calls, and of installed third opinions."""
        config = config_of(finding)
        others = [config.on(name) for name in third_opinions(config.backend)]
        configs = [config.on(name) for name in backends_below(config.backend)]
        configs += [other for other in others if not lacks(other)]
        job = dataclasses.replace(_comparison(finding), configs=tuple(configs))
        verdicts = trial(self._pool, job).shown if configs else {}
        return Ablation(str(finding.verdict.kind), config.backend, {k: str(v.kind) for k, v in verdicts.items()})


def _comparison(finding: Finding) -> CompareJob:
    return job_about(CompareJob, with_less_time(finding))
