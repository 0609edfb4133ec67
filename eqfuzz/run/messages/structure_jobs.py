"""The job that reads the structure of a seed, and its answer."""

from __future__ import annotations

import dataclasses
from typing import Literal

from eqfuzz.program.pools.structure import ProgramStructure
from eqfuzz.run.messages.job import ChildEvent, ProgramInvalid
from eqfuzz.run.messages.seed_jobs import ProgramJob


@dataclasses.dataclass(frozen=True, kw_only=True)
class StructureRead(ChildEvent):
    """The structure of a seed."""

    event: Literal["structure"] = "structure"
    structure: ProgramStructure


@dataclasses.dataclass(frozen=True, kw_only=True)
class StructureJob(ProgramJob[StructureRead]):
    """Run a seed's first call in eager, and read its structure."""

    EVENTS = (ProgramInvalid, StructureRead)
    ANSWER = StructureRead

    job: Literal["structure"] = "structure"
