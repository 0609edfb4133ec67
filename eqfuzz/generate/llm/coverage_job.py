"""The job that validates a generated program, and measures which parts of the compiler it reaches."""

from __future__ import annotations

import dataclasses
from typing import Literal

from eqfuzz.generate.llm.white_box import CompilerPart
from eqfuzz.run.messages.job import ChildEvent, Job, JobScope, Name
from eqfuzz.run.messages.seed_jobs import RunJob


@dataclasses.dataclass(frozen=True, kw_only=True)
class PartsReached(ChildEvent):
    """The names of those watched parts that compiling the program has reached."""

    event: Literal["reached"] = "reached"
    parts: tuple[Name, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoverageJob(Job[PartsReached]):
    """``run`` the program; if it is valid, compile it and watch these parts."""

    TARGET = "eqfuzz.generate.llm.target_coverage:TARGET"
    EVENTS = (*RunJob.EVENTS, PartsReached)
    ANSWER = PartsReached

    job: Literal["coverage"] = "coverage"
    run: RunJob
    watched: tuple[CompilerPart, ...] = ()

    @property
    def is_untrusted(self) -> bool:
        return self.run.is_untrusted

    @property
    def scope(self) -> JobScope:
        return self.run.scope
