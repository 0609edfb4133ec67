"""The job that exports the program of a seed, and its answer."""

from __future__ import annotations

import dataclasses
from typing import Literal

from eqfuzz.run.messages.job import ChildEvent, ProgramInvalid, Text
from eqfuzz.run.messages.seed_jobs import ProgramJob


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgramExported(ChildEvent):
    """A seed was exported, or why not: ``problem`` is one line, empty where it was."""

    event: Literal["exported"] = "exported"
    problem: Text = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportJob(ProgramJob[ProgramExported]):
    """Export a seed as its first call runs it, and save the program in ``file``."""

    EVENTS = (ProgramInvalid, ProgramExported)
    ANSWER = ProgramExported

    job: Literal["export"] = "export"
    file: str
