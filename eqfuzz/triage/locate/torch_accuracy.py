"""Results of PyTorch's own accuracy checks on a finding."""

from __future__ import annotations

from pathlib import Path

from eqfuzz.run.environment import Environment
from eqfuzz.run.messages.finding_jobs import AccuracyJob
from eqfuzz.triage.confirm.finding_cases import job_about, pool_for
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.folder import preload_in


def own_checks(finding: Finding, folder: Path, out: Path) -> dict[str, dict[str, bool]]:
    """Whether ``same`` and ``assert_close`` pass, by path; empty where the child did not complete.

    Raises RunnerFailed.
    """
    with pool_for(finding, Environment(out.resolve(), preload_in(folder))) as pool:
        checked = pool.ask(job_about(AccuracyJob, finding)).answer
    return checked.results if checked is not None else {}
