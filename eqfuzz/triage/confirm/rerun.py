"""One program of a finding judged again: what each configuration shows, whatever becomes of the process."""

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
    """``shown`` has the verdicts by configuration; a process that died told of the one that it was in, and no more.

    ``rederived`` is the program that was judged, as the child told it, where it was made again from its derivation.
    ``error`` says why eqfuzz could not judge it, where that is so.
    """

    shown: dict[str, Verdict]
    rederived: VariantRecord | None = None
    error: str = ""


def trial(pool: Pool, job: CompareJob) -> Rerun:
    """Run ``job``. Raises RunnerFailed."""
    shown: dict[str, Verdict] = {}
    stage: StageEntered | None = None
    rederived: VariantRecord | None = None
    error = ""
    for event in pool.stream(job):
        match event:
            case CellReport() if event.config:
                shown[event.config] = event.verdict
            case VariantRederived():
                rederived = event.variant
            case StageEntered():
                stage = event
            case ChildExit() if event.reason in DEATHS and stage is not None and stage.stage == "compile":
                words = death_in_words("compile", event.reason, event.detail)
                shown[stage.config] = Verdict(DEATHS[event.reason], words)
            case ChildExit() if event.reason == "error":
                error = event.detail
            case _:
                pass
    return Rerun(shown, rederived, error)
