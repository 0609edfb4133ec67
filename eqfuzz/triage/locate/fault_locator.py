"""Fault localisation: the faulty component of a finding, and with it the fingerprint for its bucket."""

from __future__ import annotations

import dataclasses

from eqfuzz.oracle.compare.verdict import VerdictKind
from eqfuzz.run.messages.finding_jobs import BisectJob
from eqfuzz.run.processes.pool import Pool
from eqfuzz.triage.confirm.finding_cases import job_about, with_less_time, with_seconds
from eqfuzz.triage.findings.finding import Finding
from eqfuzz.triage.findings.fingerprint import fingerprint, guarded_by
from eqfuzz.triage.findings.stage import STAGES, Blame
from eqfuzz.triage.locate.guard_probe import unguarded
from eqfuzz.triage.reduce.finding_reducer import FindingReducer, NotReduced

BISECTED = (STAGES["aot_eager_decomp_partition"], STAGES["inductor"])
"""Stages with parts that torch's bisector can switch off."""

DEADLY = (VerdictKind.PROCESS_CRASH, VerdictKind.HANG, VerdictKind.OUT_OF_MEMORY)
REDUCING_SECONDS = 120.0
NAMING_SECONDS = 3.0
"""For each try to reduce a program that hangs in Dynamo, alone: a program that ends needs a tenth of them."""


class FaultLocator:
    """Determines what a fingerprint needs, the cheapest first."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def place(self, finding: Finding) -> Finding:
        """The finding with its fingerprint, and with its ``blame`` where torch's bisector ran.

        An exception needs no bisection. Where torch's bisector has no exact result, the reduced program gives the
        fingerprint; the finding itself is not reduced. Raises RunnerFailed.
        """
        finding = self.blamed(finding)
        raises = finding.verdict.raises
        if not raises and finding.verdict.kind not in DEADLY:
            finding = dataclasses.replace(finding, unguarded=unguarded(finding, self._pool))
        is_localised = raises or finding.exact_blame is not None or guarded_by(finding) or finding.reduced is not None
        return dataclasses.replace(
            finding, fingerprint=fingerprint(finding if is_localised else self._smaller(finding))
        )

    def blamed(self, finding: Finding) -> Finding:
        """The finding with its ``blame``, where it has none and torch's bisector applies. Raises RunnerFailed."""
        cannot_be_asked = finding.verdict.raises or finding.verdict.kind in DEADLY
        if finding.blame is not None or finding.stage not in BISECTED or cannot_be_asked:
            return finding
        return dataclasses.replace(finding, blame=self._bisected(finding))

    def _bisected(self, finding: Finding) -> Blame | None:
        bisected = self._pool.ask(job_about(BisectJob, finding)).answer
        return Blame.of(bisected.result) if bisected is not None and bisected.result is not None else None

    def _smaller(self, finding: Finding) -> Finding:
        """The finding reduced within ``REDUCING_SECONDS``, or a part of them; unchanged where it is not shown."""
        seconds = REDUCING_SECONDS
        if finding.verdict.kind is VerdictKind.HANG:  # each try that succeeds takes the whole limit
            in_dynamo = finding.stage == STAGES["eager"]
            finding = with_seconds(finding, NAMING_SECONDS) if in_dynamo else with_less_time(finding)
            seconds /= 4 if in_dynamo else 2
        reducing = FindingReducer(finding, self._pool, seconds=seconds)
        try:
            return reducing.smallest()
        except NotReduced:
            return finding
