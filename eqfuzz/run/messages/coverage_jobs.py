"""The job that traces the lines of torch which a seed and its variants run, and its answer."""

from __future__ import annotations

import dataclasses
from typing import Literal

from eqfuzz.run.messages.job import ChildEvent, Count, Job, JobScope, ProgramInvalid
from eqfuzz.run.messages.seed_jobs import CellReport, LinesTraced, ProgramRewritten, RunJob


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramTraced(ChildEvent):
    """The program and its ``variants`` that equal it were traced to their end."""

    event: Literal["traced"] = "traced"
    variants: Count


@dataclasses.dataclass(frozen=True, kw_only=True)
class TraceJob(Job[ProgramTraced]):
    """Trace the programs of ``run`` in eager and compiled, under its first configuration.

    Lines are reported after each part, so that those of a program that dies later are not lost.
    """

    EVENTS = (ProgramInvalid, ProgramRewritten, CellReport, LinesTraced, ProgramTraced)
    ANSWER = ProgramTraced

    job: Literal["trace"] = "trace"
    run: RunJob

    @property
    def is_untrusted(self) -> bool:
        return self.run.is_untrusted

    @property
    def scope(self) -> JobScope:
        return self.run.scope
