"""The place of a finding in the compiler, and with it the fingerprint that it is bucketed by."""

from __future__ import annotations

import dataclasses

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.messages.finding_jobs import BisectJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.confirm.finding_cases import job_about
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.fingerprint import fingerprint, guarded_by
from eqfuzz.triage.findings.stage import STAGES, Blame
from eqfuzz.triage.locate.guard_probe import unguarded
from eqfuzz.triage.reduce.finding_reducer import FindingReducer, NotReduced

BISECTED = (STAGES["aot_eager_decomp_partition"], STAGES["inductor"])
"""Stages of which torch's bisector can switch off parts."""

DEADLY = (VerdictKind.PROCESS_CRASH, VerdictKind.HANG, VerdictKind.OUT_OF_MEMORY)
REDUCING_SECONDS = 120.0


class FaultLocator:
    """Finds out as much as a fingerprint needs, and no more: what costs least first."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def place(self, finding: Finding) -> Finding:
        """The finding with its fingerprint, and with its ``blame`` where torch's bisector was asked.

        An exception tells where it comes from by itself. What torch's bisector cannot place is known by what is left of
        the program once it is reduced; the finding itself stays as it is. Raises RunnerFailed.
        """
        finding = self.blamed(finding)
        raises = finding.verdict.raises
        if not raises and finding.verdict.kind not in DEADLY:
            finding = dataclasses.replace(finding, unguarded=unguarded(finding, self._pool))
        known = raises or finding.exact_blame is not None or guarded_by(finding) or finding.reduced is not None
        return dataclasses.replace(finding, fingerprint=fingerprint(finding if known else self._smaller(finding)))

    def blamed(self, finding: Finding) -> Finding:
        """With what torch's bisector says, where it is not known yet and that can be asked. Raises RunnerFailed."""
        cannot_be_asked = finding.verdict.raises or finding.verdict.kind in DEADLY
        if finding.blame is not None or finding.stage not in BISECTED or cannot_be_asked:
            return finding
        return dataclasses.replace(finding, blame=self._bisected(finding))

    def _bisected(self, finding: Finding) -> Blame | None:
        bisected = self._pool.ask(job_about(BisectJob, finding)).answer
        return Blame.of(bisected.found) if bisected is not None and bisected.found is not None else None

    def _smaller(self, finding: Finding) -> Finding:
        """As small as it gets within the time; itself where it does not show again."""
        reducing = FindingReducer(finding, self._pool, seconds=REDUCING_SECONDS)
        try:
            return reducing.smallest()
        except NotReduced:
            return finding
