"""Reruns of one program of a finding: a verdict for each configuration, also if the process dies."""

from __future__ import annotations

import dataclasses

from eqfuzz.oracle.compare.verdict import Verdict
from eqfuzz.run.messages.finding_jobs import CompareJob, VariantRederived
from eqfuzz.run.messages.job import ChildExit, StageEntered
from eqfuzz.run.messages.seed_jobs import CellReport, VariantRecord
from eqfuzz.run.processes.exit_reasons import DEATHS, death_in_words
from eqfuzz.run.processes.pool import Pool


@dataclasses.dataclass(frozen=True)
class Rerun:
    """``shown`` has the verdicts by configuration; a process that died has one for the configuration it ran at last.

    ``rederived`` is the judged program, where the child derived it again. ``error`` is why no verdict exists, or empty.
    """

    shown: dict[str, Verdict]
    rederived: VariantRecord | None = None
    error: str = ""


def trial(pool: Pool, job: CompareJob) -> Rerun:
    """Run ``job``. Raises RunnerFailed."""
    verdicts: dict[str, Verdict] = {}
    stage: StageEntered | None = None
    rederived: VariantRecord | None = None
    error = ""
    for event in pool.stream(job):
        match event:
            case CellReport() if event.config:
                verdicts[event.config] = event.verdict
            case VariantRederived():
                rederived = event.variant
            case StageEntered():
                stage = event
            case ChildExit() if event.reason in DEATHS and stage is not None and stage.stage == "compile":
                words = death_in_words("compile", event.reason, event.detail)
                verdicts[stage.config] = Verdict(DEATHS[event.reason], words)
            case ChildExit() if event.reason == "error":
                error = event.detail
            case _:
                pass
    return Rerun(verdicts, rederived, error)
